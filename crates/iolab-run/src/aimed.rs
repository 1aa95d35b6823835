//! A run that is for something else than its own answers: who still runs, and when it ends.

use std::time::{Duration, Instant};

use super::rounds::Driver;

/// Steady rounds of every cell, wanted or not: its figure stands in a table. No claim is decided by
/// fewer than seven.
const ROUNDS_OF_EVERY_CELL: u32 = 6;
/// The aim may take this share of the time of the rounds between two questions.
const ASKING_SHARE: u32 = 20;

/// When the aim is asked again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Asked {
    /// After this many steady rounds.
    next: u32,
}

impl Asked {
    /// So that asking, which took so long, is a small part of the rounds until then.
    fn after(steady: u32, took: Duration, round_ns: f64) -> Asked {
        let rounds = took.as_nanos() as f64 * f64::from(ASKING_SHARE) / round_ns.max(1.0);
        Asked { next: steady + (rounds.ceil() as u32).max(1) }
    }
}

impl Driver<'_, '_> {
    /// True where the run has what it is for. Cells that it waits for no more leave for good: what
    /// decided them holds at every moment. An instance whose other cells stay is visited as often as
    /// before, by the rule of visits.
    pub(super) fn reached_aim(&mut self) -> bool {
        let steady = self.out.steady_rounds;
        let Some(aim) = self.policy.aim.as_ref() else { return false };
        if steady < ROUNDS_OF_EVERY_CELL || steady < self.asked.next || !self.has_instances() {
            return false;
        }
        let began = Instant::now();
        let wanted = aim(&self.out);
        self.asked = Asked::after(steady, began.elapsed(), self.trials_ns());
        if !wanted.contains(&true) {
            return true;
        }
        for (settled, wanted) in self.settled.iter_mut().zip(wanted) {
            *settled |= !wanted;
        }
        self.active().is_empty()
    }

    /// As many renewals of the files as an answer wants, where they are renewed.
    fn has_instances(&self) -> bool {
        let renewed = self.out.calibration.epoch_rounds > 0;
        !renewed || self.out.epochs as usize >= self.policy.fewest_instances
    }
}
