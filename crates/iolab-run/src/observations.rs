//! Samples → the observations that statistics work on. The same code serves the end of each round
//! and a record read back, so that both conclude alike.

use std::cell::OnceCell;
use std::collections::BTreeMap;

use super::clone_class::clones_among_copies;
use super::schedule::{below, stream};
use super::work::unit_ns;
use super::{CellOutcome, ExclusionReason, TwinTrial};
use iolab_model::catalog::Code;
use iolab_model::plan::{Cell, Plan};
use iolab_model::result::{Phase, Sample};
use iolab_stats::claims::{Claims, Trial, Watch};
use iolab_stats::{Observations, Rules, trial};

/// One trial of a finished round: of which cell, whether it was the second one of the twin, and its
/// time per unit of work.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen {
    pub(super) cell: usize,
    pub(super) twin: bool,
    pub(super) unit: Unit,
}

/// What a trial says of its cell's time.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) enum Unit {
    /// ns per byte or operation.
    Took(f64),
    /// It failed, or was killed for taking too long: slower than all that finished.
    Lost,
    /// Its proof did not hold, or it did another part of the file than the rest: it says nothing.
    Unproven,
}

impl Unit {
    pub(super) fn of(cell: &Cell, sample: &Sample) -> Unit {
        let flagged = |code| sample.measurement.flags.contains(&code);
        match unit_ns(cell, sample) {
            Some(_) if flagged(Code::Bounded) && flagged(Code::UnequalWork) => Unit::Unproven,
            Some(ns) => Unit::Took(ns),
            None if sample.fault.is_some() => Unit::Lost,
            None => Unit::Unproven,
        }
    }

    /// As the observations have it: +∞ lost, NaN nothing.
    fn y(self) -> f64 {
        match self {
            Unit::Took(ns) => ns.ln(),
            Unit::Lost => f64::INFINITY,
            Unit::Unproven => f64::NAN,
        }
    }
}

/// One round that may choose opponents (warm-up) or counts (steady).
#[derive(Clone, Debug, Default)]
pub(super) struct RoundLog {
    pub(super) round: u32,
    pub(super) epoch: u32,
    pub(super) steady: bool,
    /// The cell that ran just before the first trial, nothing in between.
    pub(super) previous: Option<usize>,
    /// In the order they ran.
    pub(super) trials: Vec<Seen>,
}

impl RoundLog {
    /// y of a cell's own trial of this round.
    fn y(&self, cell: usize) -> f64 {
        self.own(cell).map_or(f64::NAN, |at| self.trials[at].unit.y())
    }

    fn own(&self, cell: usize) -> Option<usize> {
        self.trials.iter().position(|t| t.cell == cell && !t.twin)
    }

    /// The cell that was measured twice, and ln(one label / the other); NaN where a trial is lost.
    /// A coin says which of the two trials bears which label.
    pub(super) fn control(&self, seed: u64) -> Option<(usize, f64)> {
        let second = self.trials.iter().find(|t| t.twin)?;
        let first = &self.trials[self.own(second.cell)?];
        let heads = below(&mut stream(seed, "label", u64::from(self.round)), 2) == 1;
        let d = second.unit.y() - first.unit.y();
        Some((second.cell, if heads { d } else { -d }))
    }
}

/// The observations of the cells of one answer, growing by rounds, and the claims they allow.
#[derive(Clone, Debug)]
pub(super) struct ConditionLog {
    cells: Vec<usize>,
    /// Which of them did another job.
    apart: Vec<bool>,
    pub(super) rules: Rules,
    seed: u64,
    pub(super) seen: Observations,
    /// ln ratio of the twin in rounds that drew a cell of this answer.
    pub(super) control: Vec<f64>,
    pub(super) watch: Watch,
    /// The claims of what there is with all that can bias them, once asked for.
    pub(super) doubted: OnceCell<Claims>,
    epoch: Option<u32>,
}

impl ConditionLog {
    pub(super) fn new(cells: Vec<usize>, rules: &Rules, seed: u64) -> ConditionLog {
        let k = cells.len();
        let seen = Observations {
            y: vec![Vec::new(); k],
            position: vec![Vec::new(); k],
            before: vec![Vec::new(); k],
            ..Observations::default()
        };
        let watch = Watch::new(k, rules.alpha, rules.unit_rounds);
        ConditionLog {
            apart: vec![false; k],
            rules: rules.clone(),
            cells,
            seed,
            seen,
            control: Vec::new(),
            watch,
            doubted: OnceCell::new(),
            epoch: None,
        }
    }

    /// Appends a round. One in which none of these cells ran is not theirs.
    pub(super) fn append(&mut self, log: &RoundLog) {
        if !concerns(log, &self.cells) {
            return;
        }
        self.doubted.take();
        if self.epoch.replace(log.epoch).is_some_and(|last| last != log.epoch) {
            self.watch.renew();
        }
        let of = |(cell, apart): (&usize, &bool)| if *apart { f64::NAN } else { log.y(*cell) };
        let y: Vec<f64> = self.cells.iter().zip(&self.apart).map(of).collect();
        let trials: Vec<Trial> = y.iter().map(|y| trial(*y)).collect();
        self.watch.push(&trials, log.steady);
        if !log.steady {
            self.seen.warmup.push(y);
            return;
        }
        self.seen.epoch.push(log.epoch);
        for (at, cell) in self.cells.iter().enumerate() {
            let position = log.own(*cell);
            let before = match position {
                Some(0) => log.previous,
                Some(p) => Some(log.trials[p - 1].cell),
                None => None,
            };
            self.seen.y[at].push(y[at]);
            self.seen.position[at].push(position.map(|p| p as u32));
            self.seen.before[at].push(before.map(|b| b as u32));
        }
        if let Some((_, d)) = log.control(self.seed).filter(|(cell, _)| self.cells.contains(cell)) {
            self.control.push(d);
        }
    }

    /// Takes a cell out of every comparison from the first round on: it did another job, so nobody
    /// is held against what it took.
    pub(super) fn set_apart(&mut self, cell: usize) {
        let Some(at) = self.cells.iter().position(|s| *s == cell) else { return };
        if std::mem::replace(&mut self.apart[at], true) {
            return;
        }
        self.doubted.take();
        self.seen.y[at].fill(f64::NAN);
        self.seen.warmup.iter_mut().for_each(|round| round[at] = f64::NAN);
        self.give_up(cell);
        self.watch = self.seen.watch(&self.rules);
    }

    /// A cell that was given up without proof is not compared from here on.
    pub(super) fn give_up(&mut self, cell: usize) {
        if let Some(at) = self.cells.iter().position(|s| *s == cell)
            && !self.seen.dropped.contains(&at)
        {
            self.seen.dropped.push(at);
            self.doubted.take();
            self.watch.give_up(at);
        }
    }
}

/// The rounds of a run that claims are made from, from its samples, oldest first.
pub(super) fn logs(plan: &Plan, cells: &[CellOutcome], twin: &[TwinTrial]) -> Vec<RoundLog> {
    let own = cells.iter().enumerate();
    let own = own.flat_map(|(cell, c)| c.samples.iter().map(move |s| (cell, false, s)));
    let all = own.chain(twin.iter().map(|t| (t.cell, true, &t.sample)));
    let mut rounds: BTreeMap<u32, Vec<(u32, usize, bool, &Sample)>> = BTreeMap::new();
    for (cell, twin, sample) in all {
        rounds.entry(sample.round).or_default().push((sample.position, cell, twin, sample));
    }
    let mut logs = Vec::new();
    let mut last: Option<(u32, u32, usize)> = None;
    for (round, mut trials) in rounds {
        trials.sort_unstable_by_key(|(position, cell, twin, _)| (*position, *cell, *twin));
        let Some((.., first)) = trials.first() else { continue };
        let epoch = first.epoch;
        let previous = last.filter(|(r, e, _)| *r + 1 == round && *e == epoch).map(|l| l.2);
        last = trials.last().map(|(_, cell, ..)| (round, epoch, *cell));
        if first.phase == Phase::First {
            continue;
        }
        let steady = first.phase == Phase::Steady;
        let trials = trials
            .iter()
            .filter_map(|(_, cell, twin, sample)| {
                let unit = Unit::of(plan.cells.get(*cell)?, sample);
                Some(Seen { cell: *cell, twin: *twin, unit })
            })
            .collect();
        logs.push(RoundLog { round, epoch, steady, previous, trials });
    }
    logs
}

/// Whether one of these cells ran in a round.
fn concerns(log: &RoundLog, cells: &[usize]) -> bool {
    log.trials.iter().any(|t| cells.contains(&t.cell))
}

/// The steady rounds that the observations of some cells are from, in their order.
pub(super) fn rounds_of(cells: &[usize], logs: &[RoundLog]) -> Vec<u32> {
    let theirs = logs.iter().filter(|log| log.steady && concerns(log, cells));
    theirs.map(|log| log.round).collect()
}

/// The log of one answer from the samples of a whole run.
pub(super) fn condition_log(
    arms: Vec<usize>,
    cells: &[CellOutcome],
    logs: &[RoundLog],
    rules: &Rules,
    seed: u64,
) -> ConditionLog {
    let clones = clones_among_copies(&arms, cells);
    let mut log = ConditionLog::new(arms, rules, seed);
    logs.iter().for_each(|round| log.append(round));
    for (cell, outcome) in cells.iter().enumerate() {
        if outcome.left.as_ref().is_some_and(|l| l.why != ExclusionReason::Proven) {
            log.give_up(cell);
        }
    }
    clones.into_iter().for_each(|cell| log.set_apart(cell));
    log
}

#[cfg(test)]
mod tests {
    use super::{ConditionLog, RoundLog, condition_log, logs};
    use crate::answer_rules::rules_of;
    use crate::{CellOutcome, ExclusionReason, Left, TwinTrial};
    use iolab_model::result::{Fault, Measurement, Phase, Sample};
    use iolab_test::virtual_machine::{PlanShape, plan};

    fn sample(round: u32, position: u32, wall_ns: u64) -> Sample {
        let measurement = Measurement { wall_ns, operations: 1, ..Measurement::default() };
        let phase = match round {
            0 => Phase::First,
            1 | 2 => Phase::Warmup,
            _ => Phase::Steady,
        };
        Sample { round, position, phase, epoch: round / 4, measurement, fault: None }
    }

    fn lost(round: u32, position: u32) -> Sample {
        let fault = Fault { doing: "trial".into(), cause: "x".into(), errno: None, signal: None };
        Sample { fault: Some(fault), ..sample(round, position, 0) }
    }

    fn log(cells: &[CellOutcome], twin: &[TwinTrial]) -> (ConditionLog, Vec<RoundLog>) {
        let plan = plan(&PlanShape::new(cells.len(), 1));
        let logs = logs(&plan, cells, twin);
        let all = (0..cells.len()).collect();
        (condition_log(all, cells, &logs, &rules_of(&plan, 0, 1), 1), logs)
    }

    #[test]
    fn rounds_come_back_with_positions_neighbours_and_gaps() {
        let mut a = CellOutcome::default();
        let mut b = CellOutcome::default();
        a.samples = vec![sample(2, 0, 9), sample(3, 1, 1), sample(4, 0, 2), sample(5, 1, 3)];
        b.samples = vec![sample(2, 1, 8), sample(3, 0, 4), sample(4, 1, 0)];
        b.left = Some(Left { round: 4, why: ExclusionReason::Screened, reason: String::new() });
        let twin = |cell, sample| TwinTrial { cell, sample };
        let twin = [twin(1, sample(3, 2, 7)), twin(0, sample(5, 0, 7))];
        let (log, _) = log(&[a, b], &twin);
        let seen = &log.seen;
        assert_eq!(
            (&seen.epoch[..], &seen.warmup[..]),
            (&[0, 1, 1][..], &[vec![9f64.ln(), 8f64.ln()]][..])
        );
        assert_eq!(seen.y[0], [0.0, 2f64.ln(), 3f64.ln()]);
        assert_eq!(seen.y[1][0], 4f64.ln());
        // A trial without time does not count, nor does one that was not.
        assert!(seen.y[1][1].is_nan() && seen.y[1][2].is_nan());
        assert_eq!(seen.position[0], [Some(1), Some(0), Some(1)]);
        // Round 3 follows round 2 in one epoch; round 4 starts a new one; in round 5 the cell's
        // second trial ran before its first.
        assert_eq!(seen.before[1], [Some(1), Some(0), None]);
        assert_eq!(seen.before[0], [Some(1), None, Some(0)]);
        assert_eq!(seen.dropped, [1]);
        let control: Vec<f64> = log.control.iter().map(|d| d.abs()).collect();
        assert_eq!(control, [(7f64.ln() - 4f64.ln()).abs(), (7f64.ln() - 3f64.ln()).abs()]);
    }

    /// A trial that failed once vanished, and so a cell that failed wherever it was slow looked fast.
    #[test]
    fn a_failed_trial_is_lost_and_one_without_proof_says_nothing() {
        let mut a = CellOutcome::default();
        let mut b = CellOutcome::default();
        a.samples = vec![lost(3, 0), sample(4, 0, 2)];
        b.samples = vec![sample(3, 1, 4), sample(4, 1, 0)];
        let (log, _) = log(&[a, b], &[]);
        assert_eq!(log.seen.y[0], [f64::INFINITY, 2f64.ln()]);
        assert!(log.seen.y[1][0] == 4f64.ln() && log.seen.y[1][1].is_nan());
    }

    /// What the end of each round says and what a record read back says is one thing.
    #[test]
    fn the_labels_of_the_twin_are_a_coin_of_the_seed() {
        let a = CellOutcome {
            samples: (3..203).map(|round| sample(round, 0, 10)).collect(),
            left: None,
        };
        let twin: Vec<TwinTrial> =
            (3..203).map(|round| TwinTrial { cell: 0, sample: sample(round, 1, 20) }).collect();
        let (log, logs) = log(&[a, CellOutcome::default()], &twin);
        let above = log.control.iter().filter(|d| **d > 0.0).count();
        assert!((70..130).contains(&above), "{above} of 200");
        assert!(logs.iter().zip(&log.control).all(|(l, d)| l.control(1).unwrap() == (0, *d)));
    }
}
