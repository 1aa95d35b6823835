//! When a run asks what it is for.

use std::time::Duration;

/// Asking may take this share of the time of the rounds between two questions: one of so many.
const ASKING_SHARE: u32 = 20;

/// When the aim is asked again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// After this many steady rounds.
    pub(super) next: u32,
}

impl Asked {
    /// So that asking, which took so long, is a small part of the rounds until then.
    pub(super) fn after(steady: u32, took: Duration, round_ns: f64) -> Asked {
        let rounds = took.as_nanos() as f64 * f64::from(ASKING_SHARE) / round_ns.max(1.0);
        Asked { next: steady + (rounds.ceil() as u32).max(1) }
    }
}
