//! Cells that are far behind: measured less often, given up only where they would
//! cost the others their answer. Nothing here names a winner; exclusion alone does.

use super::evidence::fewest_rounds;
use super::watch::Watch;

/// A hopeless cell is measured in every so many-th round.
pub const QUARTER: usize = 4;
/// Steady rounds that make one.
const ROUNDS: usize = 4;
/// All of its times are over the leader's worst by this factor.
const FACTOR: f64 = 1.5;
/// Rounds that the others are to have.
const WANTED: f64 = 20.0;

/// The cells that are hopeless now: at least four steady rounds, each over 1.5× the leader's worst,
/// and not excluded. A lost trial is over everything; a leader that lost one makes nobody hopeless.
pub fn hopeless(watch: &Watch) -> Vec<usize> {
    let Some(leader) = watch.leader() else { return Vec::new() };
    let Some((_, worst)) = range(&watch.y[leader]) else { return Vec::new() };
    let behind = |cell: &usize| {
        let line = &watch.exclusion.lines[*cell];
        let best = range(&watch.y[*cell]).map_or(f64::NEG_INFINITY, |(best, _)| best);
        !line.excluded && !line.dropped && worst.is_finite() && best > worst + FACTOR.ln()
    };
    (0..watch.y.len()).filter(behind).collect()
}

/// Least and greatest of at least four trials.
fn range(y: &[f64]) -> Option<(f64, f64)> {
    let seen = || y.iter().copied().filter(|y| !y.is_nan());
    let enough = seen().count() >= ROUNDS;
    enough.then(|| (seen().fold(f64::INFINITY, f64::min), seen().fold(f64::NEG_INFINITY, f64::max)))
}

/// Whether a hopeless cell is measured in this steady round (from 0). Known before the round, so no
/// claim is biased by it.
pub fn due(round: usize) -> bool {
    round.is_multiple_of(QUARTER)
}

/// Rounds that a cell which is always slower is measured in until it is settled, of so many cells:
/// E(n, n) ≥ 2k/α.
pub fn rounds_to_settle(cells: usize, alpha: f64) -> u32 {
    fewest_rounds((2.0 * cells as f64 / alpha).ln())
}

/// What a run has left. All in seconds, preparation of trials included.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pace {
    /// Steady rounds done.
    pub done: usize,
    /// Time left for rounds.
    pub left: f64,
    /// One round of all cells that are not hopeless.
    pub round: f64,
}

/// The hopeless cells (with the seconds of one trial) to drop: the dearest first, and only where
/// without them the others reach 20 rounds and with them they do not.
pub fn given_up(pace: &Pace, hopeless: &[(usize, f64)]) -> Vec<usize> {
    let reaches = |extra: f64| {
        let round = (pace.round + extra / QUARTER as f64).max(f64::MIN_POSITIVE);
        pace.done as f64 + (pace.left / round).floor() >= WANTED
    };
    let mut extra: f64 = hopeless.iter().map(|(_, seconds)| seconds).sum();
    if !reaches(0.0) {
        return Vec::new();
    }
    let mut dearest = hopeless.to_vec();
    dearest.sort_by(|a, b| b.1.total_cmp(&a.1));
    let mut dropped = Vec::new();
    for (cell, seconds) in dearest {
        if reaches(extra) {
            break;
        }
        extra -= seconds;
        dropped.push(cell);
    }
    dropped
}

impl Watch {
    /// The cell not excluded with the smallest median.
    pub fn leader(&self) -> Option<usize> {
        let open = self.exclusion.lines.iter().enumerate();
        let open = open.filter(|(_, line)| !line.excluded && line.compared());
        open.min_by(|a, b| a.1.median().total_cmp(&b.1.median())).map(|(cell, _)| cell)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, due, given_up, hopeless};
    use crate::claims::{Trial, Watch};

    fn watched(rounds: usize, y: &[f64]) -> Watch {
        let mut watch = Watch::new(y.len(), 0.05, 1);
        let round: Vec<Trial> = y.iter().map(|y| Trial::Took(*y)).collect();
        for _ in 0..rounds {
            watch.push(&round, true);
        }
        watch
    }

    #[test]
    fn four_rounds_far_behind_and_not_yet_excluded() {
        assert!(hopeless(&watched(3, &[0.0, 0.3, 0.9])).is_empty());
        assert_eq!(hopeless(&watched(4, &[0.0, 0.3, 0.9])), [2]);
        assert!(hopeless(&watched(20, &[0.0, 0.3, 0.9])).is_empty());
        let mut watch = watched(4, &[0.0, 0.3, 0.9]);
        watch.push(&[Trial::Lost, Trial::Took(0.3), Trial::Took(0.9)], true);
        assert!(hopeless(&watch).is_empty());
        assert_eq!((0..9).filter(|round| due(*round)).collect::<Vec<_>>(), [0, 4, 8]);
    }

    #[test]
    fn given_up_only_where_that_saves_the_others() {
        let pace = Pace { done: 4, left: 20.0, round: 1.0 };
        assert_eq!(given_up(&pace, &[(1, 0.4), (2, 0.4)]), [] as [usize; 0]);
        assert_eq!(given_up(&pace, &[(1, 0.4), (2, 40.0)]), [2]);
        let short = Pace { left: 5.0, ..pace };
        assert_eq!(given_up(&short, &[(2, 40.0)]), [] as [usize; 0]);
    }
}
