//! Calls of one sort, added up.

use std::ops::Deref;

use crate::call::{Call, Result};

/// A call, and what it took beyond the tracer's part.
#[derive(Clone, Copy, Debug)]
pub(super) struct Timed {
    pub(super) call: Call,
    pub(super) file_ns: u64,
}

impl Deref for Timed {
    type Target = Call;

    fn deref(&self) -> &Call {
        &self.call
    }
}

/// Calls of one sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) bytes: u64,
    /// Beyond what the tracer took of it.
    pub(super) file_ns: u64,
}

impl Sum {
    pub(super) fn add(&mut self, call: &Timed) {
        self.calls += 1;
        self.failed += u64::from(matches!(call.outcome(), Result::Failed(_)));
        self.bytes = self.bytes.saturating_add(call.moved_bytes());
        self.file_ns = self.file_ns.saturating_add(call.file_ns);
    }

    pub(super) fn add_all(&mut self, other: &Sum) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.file_ns = self.file_ns.saturating_add(other.file_ns);
    }
}

/// From the first call to the end of the last.
#[derive(Clone, Copy, Debug)]
pub(super) struct During {
    pub(super) first_ns: u64,
    pub(super) last_ns: u64,
}

impl Default for During {
    fn default() -> During {
        During { first_ns: u64::MAX, last_ns: 0 }
    }
}

impl During {
    pub(super) fn add(&mut self, call: &Call) {
        self.first_ns = self.first_ns.min(call.at_ns);
        self.last_ns = self.last_ns.max(call.at_ns.saturating_add(call.took_ns));
    }
}
