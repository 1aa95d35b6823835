//! Calls of one sort, added up.

use super::cost::{Cost, Timed};
use crate::call::Result;

/// Calls of one sort.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sum {
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) bytes: u64,
    /// By the tracer's clock.
    pub(super) took_ns: u64,
    /// What of it those took that waited, beyond others.
    pub(super) tail_ns: u64,
}

impl Sum {
    pub(super) fn add(&mut self, call: &Timed) {
        self.calls += 1;
        self.failed += u64::from(matches!(call.outcome(), Result::Failed(_)));
        self.bytes = self.bytes.saturating_add(call.moved_bytes());
        self.took_ns = self.took_ns.saturating_add(call.took_ns);
        self.tail_ns = self.tail_ns.saturating_add(call.tail_ns);
    }

    pub(super) fn add_all(&mut self, other: &Sum) {
        self.calls += other.calls;
        self.failed += other.failed;
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.took_ns = self.took_ns.saturating_add(other.took_ns);
        self.tail_ns = self.tail_ns.saturating_add(other.tail_ns);
    }

    /// Beyond what the tracer took of it.
    pub(super) fn file_ns(&self, cost: Cost) -> u64 {
        let usual = self.usual_ns(cost.tracer_ns) as f64;
        ((usual + self.waited_ns(cost) as f64 * cost.tail_scale) * cost.scale) as u64
    }

    /// Without what calls that waited took beyond others, where the tracer takes so much of each.
    pub(super) fn usual_ns(&self, tracer_ns: u64) -> u64 {
        let usual = self.took_ns.saturating_sub(self.tail_ns);
        usual.saturating_sub(tracer_ns.saturating_mul(self.calls))
    }

    /// What calls waited, beyond what those of the tracer do.
    pub(super) fn waited_ns(&self, cost: Cost) -> u64 {
        self.tail_ns.saturating_sub(cost.tail_ns.saturating_mul(self.calls))
    }

    /// At least and at most, as the tracer's cost is known, of a program that has so much time for it and
    /// waits so long.
    pub(super) fn range_ns(&self, cost: Cost, most_ns: u64, waits_ns: u64) -> (u64, u64) {
        let middle = self.file_ns(cost);
        let low = self.usual_ns(cost.high_ns);
        let high = self.usual_ns(cost.low_ns).saturating_add(self.tail_ns.min(waits_ns));
        (low.min(middle), high.min(most_ns).max(middle))
    }
}
