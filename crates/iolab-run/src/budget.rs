//! What the budget buys. Pure.

use super::Dose;
use iolab_stats::claims;

/// Round 0 and two warm-up rounds.
pub(super) const UNCOUNTED_ROUNDS: u32 = 3;
/// Steady rounds that a run is planned for, and that an answer has before it stops of itself.
pub const FEWEST_STEADY: u32 = 20;
/// At most this share of the budget goes to calibration.
pub(super) const CALIBRATION_SHARE: f64 = 0.1;
/// Kept back for what follows the last round.
const RESERVE_SHARE: f64 = 0.02;

/// No more than this, however long it took to make the files: the rounds are what was asked for.
const MOST_RESERVE_SHARE: f64 = 0.25;

/// The time that may be used in all; trees of files must be removed after it, which takes up to as long
/// as to make them did.
pub(super) fn usable_beside_trees_ns(budget_ns: u64, trees_made_ns: f64) -> f64 {
    let budget_ns = budget_ns as f64;
    let least = budget_ns * RESERVE_SHARE;
    budget_ns - trees_made_ns.clamp(least, budget_ns * MOST_RESERVE_SHARE)
}

/// The budget with which so much is left for what is done before rounds and in them, beside what is kept
/// back. Pilots that were cut short take their share of a longer budget too: `hurried`.
pub(super) fn budget_for(needed_ns: f64, trees_made_ns: f64, hurried: bool) -> f64 {
    let share = if hurried { 1.0 - CALIBRATION_SHARE } else { 1.0 };
    let beside_trees = (needed_ns + trees_made_ns) / share;
    let at_most = needed_ns / (share - MOST_RESERVE_SHARE);
    (needed_ns / (share - RESERVE_SHARE)).max(beside_trees.min(at_most))
}

/// Units with which every cell of every answer could be bounded, and no fewer than an answer stops
/// after.
pub(super) fn fewest_units(alpha: f64, cells_per_answer: impl Iterator<Item = usize>) -> u32 {
    units_to_bound(alpha, cells_per_answer.max().unwrap_or(1)).max(FEWEST_STEADY)
}

/// Units in which every cell of an answer can be bounded, where all of them agree.
pub(super) fn units_to_bound(alpha: f64, cells: usize) -> u32 {
    let rivals = cells.max(2) as f64 - 1.0;
    claims::fewest_rounds((2.0 * rivals / alpha).ln())
}

/// M = k(k − 1)/2, at least 1.
pub(super) fn pairs_of(cells: usize) -> f64 {
    let k = cells as f64;
    (k * (k - 1.0) / 2.0).max(1.0)
}

/// One round: every cell once, and one drawn at random twice.
pub(super) fn round_ns(doses: &[Option<Dose>], twin: bool) -> f64 {
    let all: f64 = doses.iter().flatten().map(|d| d.trial_ns).sum();
    let cells = doses.iter().flatten().count().max(1) as f64;
    if twin { all * (1.0 + 1.0 / cells) } else { all }
}

/// What a round costs with its share of renewals.
pub(super) fn cost_of_round_ns(round_ns: f64, renew_ns: f64, epoch: u32) -> f64 {
    let renewal = if epoch == 0 { 0.0 } else { renew_ns / f64::from(epoch) };
    (round_ns + renewal).max(1.0)
}

/// Rounds in all that fit into `left_ns`.
pub(super) fn rounds_that_fit(left_ns: f64, round_ns: f64, renew_ns: f64, epoch: u32) -> f64 {
    (left_ns / cost_of_round_ns(round_ns, renew_ns, epoch)).max(0.0)
}

#[cfg(test)]
mod tests {
    use super::{CALIBRATION_SHARE, budget_for, usable_beside_trees_ns};

    /// "Telling all apart takes 23 s" was said, and of 23 s a quarter was kept back to remove the files
    /// and a tenth went to pilots: no answer after 8 rounds.
    #[test]
    fn the_budget_that_is_told_has_room_for_all_that_it_pays_for() {
        for (needed, trees) in [(1000.0, 0.0), (1000.0, 15.0), (1000.0, 200.0), (1000.0, 9000.0)] {
            for hurried in [false, true] {
                let budget = budget_for(needed, trees, hurried);
                let pilots = if hurried { CALIBRATION_SHARE * budget } else { 0.0 };
                let left = usable_beside_trees_ns(budget.ceil() as u64, trees) - pilots;
                assert!((needed - 1.0..needed * 1.001 + 2.0).contains(&left), "{left}: {trees}");
            }
        }
    }

    /// Rounds ended in time, and then their files were removed for half as long again.
    #[test]
    fn time_is_kept_to_remove_what_took_long_to_make() {
        assert_eq!(usable_beside_trees_ns(1000, 0.0), 980.0);
        assert_eq!(usable_beside_trees_ns(1000, 100.0), 900.0);
        assert_eq!(usable_beside_trees_ns(1000, 900.0), 750.0);
        assert_eq!(usable_beside_trees_ns(0, 900.0), 0.0);
    }
}
