//! Samples → the observations that statistics work on. The same code serves the end of each round
//! and a record read back, so that both conclude alike.

use std::collections::BTreeMap;

use super::clone_class::clones_among_copies;
use super::work::unit_ns;
use super::{CellOutcome, ExclusionReason};
use iolab_model::plan::Plan;
use iolab_model::result::{Phase, Sample};
use iolab_stats::Observations;

/// One trial of a finished round: which arm (a cell's index, or the number of cells for the twin)
/// and its time per unit of work, where it counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) arm: usize,
    pub(super) unit_ns: Option<f64>,
}

/// One steady round.
#[derive(Clone, Debug, Default)]
pub(super) struct RoundLog {
    pub(super) round: u32,
    pub(super) epoch: u32,
    /// The arm that ran just before the first, nothing in between.
    pub(super) previous: Option<usize>,
    /// In the order they ran.
    pub(super) trials: Vec<Seen>,
}

/// The observations of some arms, growing by rounds.
#[derive(Clone, Debug)]
pub(super) struct ConditionLog {
    arms: Vec<usize>,
    pub(super) seen: Observations,
}

impl ConditionLog {
    pub(super) fn new(arms: Vec<usize>) -> ConditionLog {
        let k = arms.len();
        let seen = Observations {
            y: vec![Vec::new(); k],
            position: vec![Vec::new(); k],
            before: vec![Vec::new(); k],
            ..Observations::default()
        };
        ConditionLog { arms, seen }
    }

    /// Appends a round; `left` tells after which round a arm was left out. A round in which none
    /// of these arms ran is not theirs.
    pub(super) fn append(&mut self, log: &RoundLog, left: impl Fn(usize) -> Option<u32>) {
        if !concerns(log, &self.arms) {
            return;
        }
        self.seen.epoch.push(log.epoch);
        for (at, arm) in self.arms.iter().enumerate() {
            if left(*arm).is_some_and(|round| round < log.round) {
                continue;
            }
            let position = log.trials.iter().position(|t| t.arm == *arm);
            let before = match position {
                Some(0) => log.previous,
                Some(p) => Some(log.trials[p - 1].arm),
                None => None,
            };
            let y = position.and_then(|p| log.trials[p].unit_ns).map_or(f64::NAN, f64::ln);
            self.seen.y[at].push(y);
            self.seen.position[at].push(position.map(|p| p as u32));
            self.seen.before[at].push(before.map(|b| b as u32));
        }
    }

    /// Takes a arm out of every comparison, from the first round on: it did another job.
    pub(super) fn set_apart(&mut self, arm: usize) {
        if let Some(at) = self.arms.iter().position(|s| *s == arm) {
            self.seen.y[at].fill(f64::NAN);
        }
        self.drop_arm(arm);
    }

    /// Marks a arm that was left out without proof.
    pub(super) fn drop_arm(&mut self, arm: usize) {
        if let Some(at) = self.arms.iter().position(|s| *s == arm)
            && !self.seen.dropped.contains(&at)
        {
            self.seen.dropped.push(at);
        }
    }
}

/// The steady rounds of a run, from its samples, oldest first.
pub(super) fn logs(plan: &Plan, cells: &[CellOutcome], twin: &[Sample]) -> Vec<RoundLog> {
    let arms = cells.iter().map(|c| &c.samples[..]).chain([twin]).enumerate();
    let mut rounds: BTreeMap<u32, Vec<(u32, usize, &Sample)>> = BTreeMap::new();
    for (arm, samples) in arms {
        for sample in samples {
            rounds.entry(sample.round).or_default().push((sample.position, arm, sample));
        }
    }
    let mut logs = Vec::new();
    let mut last: Option<(u32, u32, usize)> = None;
    for (round, mut trials) in rounds {
        trials.sort_unstable_by_key(|(position, arm, _)| (*position, *arm));
        let Some((_, _, first)) = trials.first() else { continue };
        let epoch = first.epoch;
        let previous = last.filter(|(r, e, _)| *r + 1 == round && *e == epoch).map(|l| l.2);
        last = trials.last().map(|(_, arm, _)| (round, epoch, *arm));
        if first.phase == Phase::Steady {
            let trials = trials
                .iter()
                .filter_map(|(_, arm, sample)| {
                    let cell = plan.cells.get(*arm).or(plan.cells.get(plan.baseline?))?;
                    Some(Seen { arm: *arm, unit_ns: unit_ns(cell, sample) })
                })
                .collect();
            logs.push(RoundLog { round, epoch, previous, trials });
        }
    }
    logs
}

/// Whether one of these arms ran in a round.
fn concerns(log: &RoundLog, arms: &[usize]) -> bool {
    log.trials.iter().any(|t| arms.contains(&t.arm))
}

/// The rounds that the observations of some arms are from, in their order.
pub(super) fn rounds_of(arms: &[usize], logs: &[RoundLog]) -> Vec<u32> {
    logs.iter().filter(|log| concerns(log, arms)).map(|log| log.round).collect()
}

/// After which round a arm was left out.
pub(super) fn left_round(cells: &[CellOutcome], arm: usize) -> Option<u32> {
    cells.get(arm)?.left.as_ref().map(|l| l.round)
}

/// The observations of some arms from the samples of a whole run.
pub(super) fn observations(
    arms: Vec<usize>,
    cells: &[CellOutcome],
    logs: &[RoundLog],
) -> Observations {
    let clones = clones_among_copies(&arms, cells);
    let mut track = ConditionLog::new(arms);
    for log in logs {
        track.append(log, |arm| left_round(cells, arm));
    }
    for (arm, cell) in cells.iter().enumerate() {
        if cell.left.as_ref().is_some_and(|l| l.why != ExclusionReason::Proven) {
            track.drop_arm(arm);
        }
    }
    clones.into_iter().for_each(|arm| track.set_apart(arm));
    track.seen
}

#[cfg(test)]
mod tests {
    use super::{logs, observations};
    use crate::{CellOutcome, ExclusionReason, Left};
    use iolab_model::result::{Measurement, Phase, Sample};
    use iolab_test::virtual_machine::{PlanShape, plan};

    fn sample(round: u32, position: u32, wall_ns: u64) -> Sample {
        let measurement = Measurement { wall_ns, operations: 1, ..Measurement::default() };
        let phase = if round < 3 { Phase::Warmup } else { Phase::Steady };
        Sample { round, position, phase, epoch: round / 4, measurement, fault: None }
    }

    #[test]
    fn rounds_come_back_with_positions_neighbours_and_gaps() {
        let mut a = CellOutcome::default();
        let mut b = CellOutcome::default();
        a.samples = vec![sample(2, 0, 9), sample(3, 1, 1), sample(4, 0, 2), sample(5, 1, 3)];
        b.samples = vec![sample(2, 1, 9), sample(3, 0, 4), sample(4, 1, 0)];
        b.left = Some(Left { round: 4, why: ExclusionReason::Screened, reason: String::new() });
        let twin = vec![sample(3, 2, 7), sample(5, 0, 7)];
        let cells = [a, b];
        let plan = plan(&PlanShape::new(2, 1));
        let seen = observations(vec![0, 1], &cells, &logs(&plan, &cells, &twin));
        assert_eq!(seen.epoch, [0, 1, 1]);
        assert_eq!(seen.y[0], [0.0, 2f64.ln(), 3f64.ln()]);
        assert_eq!(seen.y[1][0], 4f64.ln());
        // A trial without time does not count; after it was left out the series ends.
        assert!(seen.y[1][1].is_nan() && seen.y[1].len() == 2);
        assert_eq!(seen.position[0], [Some(1), Some(0), Some(1)]);
        // Round 3 follows round 2 in one epoch; round 4 starts a new one; the twin is arm 2.
        assert_eq!(seen.before[1], [Some(1), Some(0)]);
        assert_eq!(seen.before[0], [Some(1), None, Some(2)]);
        assert_eq!(seen.dropped, [1]);
    }
}
