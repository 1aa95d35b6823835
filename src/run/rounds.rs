//! The rounds themselves.

use super::budget::{FEWEST_STEADY, UNCOUNTED_ROUNDS, pairs_of, usable_ns};
use super::calibrate::{FAILURES, SHORTEST_LIMIT_NS, given_up, primed_instances, runnable};
use super::observe::{RoundLog, Seen, Track, left_round};
use super::schedule::{seed_for, shuffle, stream};
use super::work::{Work, wants_priming};
use super::{
    Amount, Dose, Event, Executor, ExecutorError, Left, LeftWhy, Observer, Outcome, Policy,
    StopSignal, Stopped, TrialOrder,
};
use crate::agent::Extent;
use crate::catalog::{Code, ratio_text};
use crate::plan::{Condition, Plan};
use crate::result::{AnswerKind, Fault, Measurement, Phase, Sample, Warning};
use crate::stats::{Reason, Rules, eliminations};

/// A trial may take this many times what was expected before it is killed: cold reads vary tenfold.
const PATIENCE: f64 = 20.0;
/// A cell whose trials lack their proof so often in a row is left out.
const UNPROVEN: u32 = 10;

/// What ends a run against its will.
pub(super) enum Halt {
    /// The executor cannot go on.
    Executor(Fault),
    /// An observer cannot.
    Observer(Fault),
}

/// What is known of one slot: a cell, or the twin (the last one).
#[derive(Clone, Debug, Default)]
pub(super) struct Slot {
    /// Where the next part of a pass begins.
    pub(super) cursor: u64,
    pub(super) failures: u32,
    pub(super) unproven: u32,
    /// What its last trial cost in all.
    pub(super) cost_ns: f64,
}

/// A run under way.
pub(super) struct Driver<'a, 'o> {
    pub(super) plan: &'a Plan,
    pub(super) policy: &'a Policy<'a>,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) observers: &'a mut [&'o mut dyn Observer],
    pub(super) stop: &'a dyn Fn() -> StopSignal,
    pub(super) out: Outcome,
    pub(super) slots: Vec<Slot>,
    /// One for each condition, then the twin's.
    pub(super) tracks: Vec<Track>,
    /// By condition: resolved, its time goes to the rest.
    pub(super) retired: Vec<bool>,
    /// Time spent before this process.
    pub(super) spent_ns: u64,
    /// The next round.
    pub(super) round: u32,
    /// The first round of this process.
    pub(super) first_round: u32,
    pub(super) rounds_in_epoch: u32,
    /// The slot that ran last, with nothing in between.
    pub(super) previous: Option<usize>,
    pub(super) twin_lost: bool,
}

/// The rules of one answer.
pub(super) fn rules_of(plan: &Plan, index: usize, epoch_rounds: u32) -> Rules {
    let condition = &plan.conditions[index];
    let primed = condition.cells.iter().any(|c| wants_priming(&plan.cells[*c]));
    Rules {
        alpha: plan.protocol.alpha,
        delta: plan.protocol.delta,
        pairs: pairs_of(condition.cells.len()),
        fixed: plan.protocol.rounds.is_some(),
        by_epoch: condition.own_instances && primed && epoch_rounds > 1,
        seed: seed_for(plan.protocol.seed, "statistics", index as u64),
    }
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
            let Some(log) = self.play()? else { return Ok(Stopped::Interrupted) };
            let resolved = self.conclude_round(&log)?;
            let steady = self.out.steady_rounds;
            let enough = self.plan.protocol.rounds.unwrap_or(self.policy.greatest_rounds);
            self.tell_round(enough)?;
            self.round += 1;
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

    fn usable_ns(&self) -> f64 {
        usable_ns(self.plan.protocol.budget_ns)
    }

    fn twin(&self) -> usize {
        self.plan.cells.len()
    }

    /// The cell that a slot runs.
    fn cell_of(&self, slot: usize) -> usize {
        if slot == self.twin() { self.plan.baseline.unwrap_or(0) } else { slot }
    }

    fn dose(&self, slot: usize) -> Option<Dose> {
        self.out.calibration.doses.get(self.cell_of(slot)).copied().flatten()
    }

    fn is_active(&self, cell: usize) -> bool {
        let condition = self.plan.cells[cell].condition;
        self.out.cells[cell].left.is_none()
            && self.dose(cell).is_some()
            && !self.retired.get(condition).copied().unwrap_or(false)
    }

    /// Slots that still run, the twin last.
    fn active(&self) -> Vec<usize> {
        let mut slots: Vec<usize> =
            runnable(self.plan, None).into_iter().filter(|c| self.is_active(*c)).collect();
        if !self.twin_lost && self.plan.baseline.is_some_and(|b| slots.contains(&b)) {
            slots.push(self.twin());
        }
        slots
    }

    /// What the next round will cost: each slot as its last trial, some more for good measure.
    fn next_round_ns(&self) -> f64 {
        let trials: f64 = self.active().iter().map(|s| self.slots[*s].cost_ns).sum();
        let renewal = if self.renewal_due() { self.out.calibration.renew_ns as f64 } else { 0.0 };
        1.05 * (trials + renewal)
    }

    fn phase(&self) -> Phase {
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
        self.executor.renew(&order).map_err(|error| Halt::Executor(fault_of(error)))?;
        self.out.calibration.renew_ns = self.executor.elapsed_ns() - before;
        self.out.epochs += 1;
        self.rounds_in_epoch = 0;
        self.previous = None;
        Ok(())
    }

    /// One round; nothing where it was broken off.
    fn play(&mut self) -> Result<Option<RoundLog>, Halt> {
        if self.renewal_due() {
            self.renew()?;
        }
        self.rounds_in_epoch += 1;
        let mut order = self.active();
        if self.policy.shuffle {
            let seed = self.plan.protocol.seed;
            shuffle(&mut order, &mut stream(seed, "order", u64::from(self.round)));
        }
        let mut log = RoundLog {
            round: self.round,
            epoch: self.out.epochs.saturating_sub(1),
            previous: self.previous,
            trials: Vec::with_capacity(order.len()),
        };
        for slot in order {
            if (self.stop)() == StopSignal::Now {
                return Ok(None);
            }
            // It may have been given up earlier in this round (the baseline for its twin).
            let cell = self.cell_of(slot);
            if self.out.cells[cell].left.is_some() || (slot == self.twin() && self.twin_lost) {
                continue;
            }
            let Some(sample) = self.trial(slot, log.trials.len() as u32, log.epoch)? else {
                return Ok(None);
            };
            log.trials.push(Seen { slot, unit_ns: sample.unit_ns() });
            self.keep(slot, sample)?;
            self.previous = Some(slot);
        }
        Ok(Some(log))
    }

    /// One trial; nothing where the person ended the run during it.
    fn trial(&mut self, slot: usize, position: u32, epoch: u32) -> Result<Option<Sample>, Halt> {
        let plan = self.plan;
        let cell = &plan.cells[self.cell_of(slot)];
        let Some(dose) = self.dose(slot) else { return Ok(None) };
        let extent = self.extent(slot, &dose);
        let limit_ns = (PATIENCE * dose.trial_ns).max(SHORTEST_LIMIT_NS) as u64;
        let order = TrialOrder { cell, extent, limit_ns, round: Some(self.round) };
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
        self.slots[slot].cost_ns = (self.executor.elapsed_ns() - before) as f64;
        let phase = self.phase();
        Ok(Some(Sample { round: self.round, position, phase, epoch, measurement, fault }))
    }

    /// What a slot does next; a part of a pass goes on where the last one stopped.
    fn extent(&mut self, slot: usize, dose: &Dose) -> Extent {
        match dose.amount {
            Amount::Passes(passes) => Extent::Passes(passes),
            Amount::Operations(operations) => {
                let all = Work::of(self.plan, &self.plan.cells[self.cell_of(slot)]);
                let first_operation = self.slots[slot].cursor;
                self.slots[slot].cursor = (first_operation + operations) % all.operations_per_pass;
                Extent::Part { first_operation, operations }
            }
        }
    }

    /// Tells of a sample, keeps it, and gives up what only fails.
    fn keep(&mut self, slot: usize, sample: Sample) -> Result<(), Halt> {
        let cell = self.cell_of(slot);
        let twin = slot == self.twin();
        self.tell(&Event::Trial { cell, twin, sample: &sample })?;
        let state = &mut self.slots[slot];
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
            true => self.out.twin.push(sample),
            false => self.out.cells[cell].samples.push(sample),
        }
        match (why, twin) {
            (None, _) => Ok(()),
            (Some(_), true) => {
                self.twin_lost = true;
                Ok(())
            }
            (Some(left), false) => self.leave(cell, left),
        }
    }

    pub(super) fn leave(&mut self, cell: usize, left: Left) -> Result<(), Halt> {
        let (round, reason) = (left.round, left.reason.clone());
        if left.why != LeftWhy::Proven {
            self.tracks.iter_mut().for_each(|t| t.drop_slot(cell));
        }
        self.out.cells[cell].left = Some(left);
        self.tell(&Event::Eliminated { cell, round, reason })
    }

    /// Takes a finished round into account; true where every answer is resolved.
    fn conclude_round(&mut self, log: &RoundLog) -> Result<bool, Halt> {
        if self.phase() != Phase::Steady {
            return Ok(false);
        }
        self.out.steady_rounds += 1;
        let cells = &self.out.cells;
        for track in &mut self.tracks {
            track.append(log, |slot| left_round(cells, slot));
        }
        let mut open = false;
        for index in 0..self.plan.conditions.len() {
            open |= !self.retired[index] && !self.resolved(index)?;
        }
        Ok(!open && self.plan.protocol.rounds.is_none())
    }

    /// Looks at one answer: who leaves, and whether it is resolved.
    fn resolved(&mut self, index: usize) -> Result<bool, Halt> {
        let condition = &self.plan.conditions[index];
        if !condition.cells.iter().any(|c| self.is_active(*c)) {
            return Ok(true);
        }
        let rules = rules_of(self.plan, index, self.out.calibration.epoch_rounds);
        let seen = &self.tracks[index].seen;
        let n = seen.rounds() as u32;
        if rules.fixed || !self.policy.looks_after(n, rules.pairs) {
            return Ok(false);
        }
        let standing = (self.policy.judge)(seen, &rules);
        let leaving = match self.plan.eliminate {
            true => eliminations(seen, &rules, &standing),
            false => Vec::new(),
        };
        let instances = seen.epoch.chunk_by(|a, b| a == b).count();
        let renewed = self.out.calibration.epoch_rounds > 0;
        let enough = n >= self.policy.fewest_rounds.max(FEWEST_STEADY)
            && (!renewed || instances >= self.policy.fewest_instances);
        for (at, reason) in leaving {
            let cell = condition.cells[at];
            // The twin needs its other arm.
            if self.plan.baseline != Some(cell) {
                let leader = standing.leader.map(|l| condition.cells[l]);
                self.leave(cell, self.out_of_race(leader, reason))?;
            }
        }
        let resolved = standing.kind != AnswerKind::Undecided && enough;
        self.retired[index] = resolved && self.plan.eliminate;
        Ok(resolved)
    }

    fn out_of_race(&self, leader: Option<usize>, reason: Reason) -> Left {
        let leader = leader.map_or("the best", |l| self.plan.cells[l].id.as_str());
        let round = self.round;
        let (why, reason) = match reason {
            Reason::Proven { ratio_low } => (
                LeftWhy::Proven,
                format!(
                    "proven slower at round {round}: at least {} the time of another cell",
                    ratio_text(ratio_low)
                ),
            ),
            Reason::Screened => (
                LeftWhy::Screened,
                format!(
                    "screened out at round {round}: its best trial took over 1.5× the worst of \
                     {leader} (a shortcut outside the guarantee)"
                ),
            ),
        };
        Left { round, why, reason }
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

/// Marks what is remarkable about how a trial was asked for.
fn flag(measurement: &mut Measurement, dose: &Dose) {
    let flags = [
        (Code::UnequalWork, dose.unequal),
        (Code::Bounded, matches!(dose.amount, Amount::Operations(_))),
        (Code::TimerLimited, dose.timer_limited),
    ];
    for (code, set) in flags {
        if set && !measurement.flags.contains(&code) {
            measurement.flags.push(code);
        }
    }
}

fn never_proven(round: u32, sample: &Sample) -> Left {
    let cache = sample.measurement.proof.cache.as_ref();
    let cause = match (&sample.fault, cache.and_then(|c| c.reason.as_deref())) {
        (Some(fault), _) => fault.to_string(),
        (None, Some(reason)) => format!("cache state not proven: {reason}"),
        (None, None) if sample.measurement.wall_ns == 0 => "no time was measured".to_owned(),
        (None, None) => "its proof did not hold".to_owned(),
    };
    let reason = format!("{UNPROVEN} trials in a row did not count: {cause}");
    Left { round, why: LeftWhy::Failed, reason }
}

pub(super) fn fault_of(error: ExecutorError) -> Fault {
    match error {
        ExecutorError::Trial(fault) | ExecutorError::Fatal(fault) => fault,
    }
}

/// The cells of a condition that a track follows.
pub(super) fn slots_of(condition: &Condition) -> Vec<usize> {
    condition.cells.clone()
}
