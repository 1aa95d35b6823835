//! The rounds themselves.

use super::asking::Asked;
use super::budget::{UNCOUNTED_ROUNDS, usable_beside_trees_ns};
use super::calibrate::{FAILURES, SHORTEST_LIMIT_NS, given_up, insist, primed_instances, runnable};
use super::observations::{ConditionLog, RoundLog, Seen, Unit};
use super::remaking::Remaking;
use super::schedule::{shuffle, stream};
use super::unproven::{UNPROVEN, never_proven};
use super::work::Work;
use super::{
    Amount, Dose, Event, Executor, ExecutorError, Observer, Outcome, Policy, StopSignal, Stopped,
    TrialOrder, TwinTrial,
};
use iolab_agent::Extent;
use iolab_model::catalog::Code;
use iolab_model::plan::Plan;
use iolab_model::result::{Fault, Measurement, Phase, Sample, Warning};
use iolab_stats::median;

/// A trial may take this many times what was expected before it is killed: cold reads vary tenfold.
const PATIENCE: f64 = 20.0;
/// Rounds that do not count are broken off where they take this many times the budget: a command on
/// a large tree took 49 s of 10 s, and told nothing.
const OVERSPENT: f64 = 1.5;
/// Samples of a cell for which room is made at a time.
const GROWTH: usize = 16;

/// How many samples back a proof is looked for that says the same.
const RECENT: usize = 4;
/// What ends a run against its will.
pub(super) enum Halt {
    /// The executor cannot go on.
    Executor(Fault),
    /// An observer cannot.
    Observer(Fault),
}

/// What is known of one cell's trials.
#[derive(Clone, Debug, Default)]
pub(super) struct Arm {
    pub(super) failures: u32,
    pub(super) unproven: u32,
    /// Trials begun in this process.
    trials: u64,
    /// What its last trials cost in all, newest last.
    costs_ns: Vec<f64>,
}

/// One trial of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Visit {
    /// Of which cell.
    pub(super) cell: usize,
    /// Whether it is the second one of the twin.
    pub(super) twin: bool,
    /// Whether it is made for the sake of the instance alone, and nothing is kept of it.
    pub(super) aside: bool,
}

/// Trials that the next one's cost is foretold from: one hiccup among them must not end a run.
const REMEMBERED: usize = 5;

impl Arm {
    pub(super) fn took(&mut self, cost_ns: f64) {
        if self.costs_ns.len() == REMEMBERED {
            self.costs_ns.remove(0);
        }
        self.costs_ns.push(cost_ns);
    }

    /// What the next trial will cost: the median of the last.
    pub(super) fn cost_ns(&self) -> f64 {
        median(&self.costs_ns).unwrap_or(0.0)
    }
}

/// A run under way.
pub(super) struct Driver<'a, 'o> {
    pub(super) plan: &'a Plan,
    pub(super) policy: &'a Policy<'a>,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) observers: &'a mut [&'o mut dyn Observer],
    pub(super) stop: &'a dyn Fn() -> StopSignal,
    pub(super) out: Outcome,
    /// By cell.
    pub(super) arms: Vec<Arm>,
    /// By condition.
    pub(super) tracks: Vec<ConditionLog>,
    /// By condition: parts of a pass done so far. All bounded cells of an answer do the same one in
    /// a round, so that none has an easier part of the file.
    pub(super) parts_done: Vec<u64>,
    /// By cell: visited in every fourth round only.
    pub(super) seldom: Vec<bool>,
    /// By condition: resolved, its time goes to the rest.
    pub(super) retired: Vec<bool>,
    /// By cell: what the run is for waits no more for it.
    pub(super) settled: Vec<bool>,
    /// When it is asked again which those are.
    pub(super) asked: Asked,
    /// Time spent before this process.
    pub(super) spent_ns: u64,
    /// What it took to make the trees of files.
    pub(super) trees_made_ns: f64,
    /// Whether it was seen from rounds that were played whether the budget reaches.
    pub(super) foretold: bool,
    pub(super) remaking: Remaking,
    /// The next round.
    pub(super) round: u32,
    /// The first round of this process.
    pub(super) first_round: u32,
    pub(super) rounds_in_epoch: u32,
    /// The cell that ran last, with nothing in between.
    pub(super) previous: Option<usize>,
}

impl Driver<'_, '_> {
    /// Rounds until something ends them.
    pub(super) fn rounds(&mut self) -> Result<Stopped, Halt> {
        loop {
            if (self.stop)() != StopSignal::None {
                return Ok(Stopped::Interrupted);
            }
            if self.active().is_empty() {
                return Ok(Stopped::NothingLeft);
            }
            if self.round > self.first_round
                && self.elapsed_ns() + self.next_round_ns() > self.usable_ns()
            {
                return Ok(Stopped::Budget);
            }
            let Some(log) = self.play()? else {
                let asked = (self.stop)() != StopSignal::None;
                return Ok(if asked { Stopped::Interrupted } else { Stopped::Budget });
            };
            let resolved = self.conclude_round(&log)?;
            let steady = self.out.steady_rounds;
            let enough = self.plan.protocol.rounds.unwrap_or(self.policy.greatest_rounds);
            self.tell_round(enough)?;
            self.round += 1;
            self.foretell()?;
            if steady >= enough {
                return Ok(Stopped::Rounds);
            }
            if resolved {
                return Ok(Stopped::Resolved);
            }
        }
    }

    pub(super) fn elapsed_ns(&mut self) -> f64 {
        (self.executor.elapsed_ns() + self.spent_ns) as f64
    }

    /// Whether so much time went into rounds that count for nothing that none will ever count.
    fn is_spent(&mut self) -> bool {
        self.phase() != Phase::Steady && self.elapsed_ns() > OVERSPENT * self.usable_ns()
    }

    pub(super) fn usable_ns(&self) -> f64 {
        let budget_ns = self.plan.protocol.budget_ns.saturating_sub(self.spent_ns);
        let budget_ns = budget_ns.saturating_add(self.policy.extra_ns);
        self.spent_ns as f64 + usable_beside_trees_ns(budget_ns, self.trees_made_ns)
    }

    fn dose(&self, cell: usize) -> Option<Dose> {
        self.out.calibration.doses.get(cell).copied().flatten()
    }

    pub(super) fn is_active(&self, cell: usize) -> bool {
        let condition = self.plan.cells[cell].condition;
        self.out.cells[cell].left.is_none()
            && self.dose(cell).is_some()
            && !self.settled[cell]
            && !self.retired.get(condition).copied().unwrap_or(false)
    }

    /// Cells that still run.
    pub(super) fn active(&self) -> Vec<usize> {
        runnable(self.plan, None).into_iter().filter(|c| self.is_active(*c)).collect()
    }

    /// What the next round will cost: each arm as its last trials, some more for good measure.
    fn next_round_ns(&self) -> f64 {
        let renewal = if self.renewal_due() { self.out.calibration.renew_ns as f64 } else { 0.0 };
        1.05 * (self.trials_ns() + renewal)
    }

    /// A round's trials, each as its arm's last ones.
    pub(super) fn trials_ns(&self) -> f64 {
        self.visits().iter().map(|visit| self.arms[visit.cell].cost_ns()).sum()
    }

    pub(super) fn phase(&self) -> Phase {
        match self.round {
            0 => Phase::First,
            round if round < UNCOUNTED_ROUNDS => Phase::Warmup,
            // A resumed run warms up once more.
            round if round == self.first_round => Phase::Warmup,
            _ => Phase::Steady,
        }
    }

    /// A new epoch begins with the process, with the first steady round and every E rounds.
    fn renewal_due(&self) -> bool {
        let every = self.out.calibration.epoch_rounds;
        let first = self.round == self.first_round;
        let steady = self.phase() == Phase::Steady && self.out.steady_rounds == 0;
        every > 0 && (first || (self.policy.renew && (steady || self.rounds_in_epoch >= every)))
    }

    fn renew(&mut self) -> Result<(), Halt> {
        let mut order = primed_instances(self.plan, |cell| self.is_active(cell));
        if order.is_empty() {
            return Ok(());
        }
        let seed = self.plan.protocol.seed;
        shuffle(&mut order, &mut stream(seed, "renewal", u64::from(self.round)));
        let before = self.executor.elapsed_ns();
        insist(|| self.executor.renew(&order)).map_err(Halt::Executor)?;
        self.out.calibration.renew_ns = self.executor.elapsed_ns() - before;
        self.out.epochs += 1;
        self.rounds_in_epoch = 0;
        self.previous = None;
        Ok(())
    }

    /// One round; nothing where it was broken off.
    fn play(&mut self) -> Result<Option<RoundLog>, Halt> {
        let due = self.renewal_due();
        if due || self.out.calibration.epoch_rounds == 0 {
            self.remake_where_due()?;
        }
        if due {
            self.renew()?;
        }
        self.rounds_in_epoch += 1;
        let mut order = self.visits();
        if self.policy.shuffle {
            let seed = self.plan.protocol.seed;
            shuffle(&mut order, &mut stream(seed, "order", u64::from(self.round)));
        }
        let mut log = RoundLog {
            round: self.round,
            epoch: self.out.epochs.saturating_sub(1),
            steady: self.phase() == Phase::Steady,
            previous: self.previous,
            trials: Vec::with_capacity(order.len()),
        };
        for visit in order {
            if (self.stop)() == StopSignal::Now || self.is_spent() {
                return Ok(None);
            }
            // It may have been given up earlier in this round.
            let cell = visit.cell;
            if self.out.cells[cell].left.is_some() {
                continue;
            }
            let Some(sample) = self.trial(cell, log.trials.len() as u32, log.epoch)? else {
                return Ok(None);
            };
            self.previous = Some(cell);
            if visit.aside {
                continue;
            }
            let unit = Unit::of(&self.plan.cells[cell], &sample);
            log.trials.push(Seen { cell, twin: visit.twin, unit });
            self.keep(visit, sample)?;
        }
        self.parts_done.iter_mut().for_each(|parts| *parts += 1);
        Ok(Some(log))
    }

    /// One trial; nothing where the person ended the run during it.
    fn trial(&mut self, cell: usize, position: u32, epoch: u32) -> Result<Option<Sample>, Halt> {
        let plan = self.plan;
        let Some(dose) = self.dose(cell) else { return Ok(None) };
        let extent = self.extent(cell, &dose);
        let limit_ns = (PATIENCE * dose.trial_ns).max(SHORTEST_LIMIT_NS) as u64;
        let round = Some(self.round);
        let order = TrialOrder { cell: &plan.cells[cell], extent, limit_ns, round };
        let before = self.executor.elapsed_ns();
        let (measurement, fault) = match self.executor.trial(&order) {
            Ok(mut measurement) => {
                flag(&mut measurement, &dose);
                (measurement, None)
            }
            Err(ExecutorError::Fatal(fault)) => return Err(Halt::Executor(fault)),
            Err(ExecutorError::Trial(fault)) => {
                if (self.stop)() == StopSignal::Now {
                    return Ok(None);
                }
                (
                    Measurement { flags: vec![Code::TrialFailed], ..Measurement::default() },
                    Some(fault),
                )
            }
        };
        let cost_ns = (self.executor.elapsed_ns() - before) as f64;
        self.arms[cell].took(cost_ns);
        self.arms[cell].trials += 1;
        let phase = self.phase();
        Ok(Some(Sample { round: self.round, position, phase, epoch, measurement, fault }))
    }

    /// What a cell does in this round: whole passes, or the part of one that all do.
    fn extent(&self, cell: usize, dose: &Dose) -> Extent {
        let trials = self.arms[cell].trials;
        match dose.amount {
            Amount::Passes(passes) => Extent::Passes(passes),
            Amount::Operations(operations) => {
                let cell = &self.plan.cells[cell];
                let all = Work::of(self.plan, cell).operations_per_pass;
                let parts = match self.policy.shared_ranges {
                    true => self.parts_done[cell.condition],
                    false => trials,
                };
                let first_operation =
                    (u128::from(parts) * u128::from(operations) % u128::from(all)) as u64;
                Extent::Part { first_operation, operations }
            }
        }
    }

    /// Tells of a sample, keeps it, and gives up what only fails.
    fn keep(&mut self, visit: Visit, sample: Sample) -> Result<(), Halt> {
        let Visit { cell, twin, .. } = visit;
        self.tell(&Event::Trial { cell, twin, sample: &sample })?;
        let state = &mut self.arms[cell];
        state.failures = if sample.fault.is_some() { state.failures + 1 } else { 0 };
        state.unproven = if sample.counts() { 0 } else { state.unproven + 1 };
        let failed = state.failures >= FAILURES;
        let unproven = state.unproven >= UNPROVEN;
        let why = match (failed, unproven, &sample.fault) {
            (true, _, Some(fault)) => Some(given_up(self.round, fault)),
            (_, true, _) => Some(never_proven(self.round, &sample)),
            _ => None,
        };
        match twin {
            true => self.out.twin.push(TwinTrial { cell, sample }),
            false => {
                let samples = &mut self.out.cells[cell].samples;
                // A thousand cells that each doubled their room would hold half of it in vain.
                if samples.len() == samples.capacity() {
                    samples.reserve_exact(GROWTH);
                }
                let mut sample = sample;
                share_proof(&mut sample, samples);
                samples.push(sample);
            }
        }
        why.map_or(Ok(()), |left| self.leave(cell, left))
    }

    pub(super) fn tell(&mut self, event: &Event<'_>) -> Result<(), Halt> {
        self.observers.iter_mut().try_for_each(|o| o.on(event)).map_err(Halt::Observer)
    }

    pub(super) fn warn(&mut self, code: Code, text: String) -> Result<(), Halt> {
        let warning = Warning { code, text };
        self.tell(&Event::Warning(&warning))?;
        self.out.warnings.push(warning);
        Ok(())
    }

    fn tell_round(&mut self, enough: u32) -> Result<(), Halt> {
        let elapsed_ns = self.elapsed_ns();
        let rounds_left = f64::from(enough.saturating_sub(self.out.steady_rounds));
        let budget_left = (self.usable_ns() - elapsed_ns).max(0.0);
        let remaining = budget_left.min(rounds_left * self.next_round_ns());
        let round = self.round;
        self.tell(&Event::Round {
            round,
            elapsed_ns: elapsed_ns as u64,
            remaining_ns: remaining as u64,
        })
    }
}

/// Most proofs of a cell say the same: they are kept once.
fn share_proof(sample: &mut Sample, earlier: &[Sample]) {
    let proof = &mut sample.measurement.proof;
    let known = earlier.iter().rev().take(RECENT).map(|s| &s.measurement.proof);
    if let Some(same) = known.into_iter().find(|known| *known == proof) {
        *proof = same.clone();
    }
}

/// Marks what is remarkable about how a trial was asked for.
fn flag(measurement: &mut Measurement, dose: &Dose) {
    let flags = [
        (Code::UnequalWork, dose.unequal),
        (Code::Bounded, matches!(dose.amount, Amount::Operations(_))),
        (Code::TimerLimited, dose.timer_limited),
    ];
    let seen = measurement.flags.clone();
    let new = flags.iter().filter(|(code, set)| *set && !seen.contains(code));
    measurement.flags.extend(new.map(|(code, _)| *code));
}
