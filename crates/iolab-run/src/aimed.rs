//! A run that is for something else than its own answers: who still runs, and when it ends.

use std::time::Instant;

use super::asking::Asked;
use super::rounds::Driver;

/// Steady rounds of every cell, wanted or not: its figure stands in a table. No claim is decided by
/// fewer than seven.
const ROUNDS_OF_EVERY_CELL: u32 = 6;
/// Instances of the files before anything leaves: five, as an answer has them, would be most of a run
/// in which each renewal costs several rounds.
const FEWEST_INSTANCES: u32 = 2;

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

    /// Nothing is decided by one placement of the files alone, where they are renewed.
    fn has_instances(&self) -> bool {
        let renewed = self.out.calibration.epoch_rounds > 0;
        !renewed || self.out.epochs >= FEWEST_INSTANCES
    }
}
