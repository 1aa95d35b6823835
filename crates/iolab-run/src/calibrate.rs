//! Before the rounds: the clock, the files, how fast each cell is, hence how much it does in a
//! trial, how often instances are renewed and whether the budget reaches at all.

use super::budget::{
    CALIBRATION_SHARE, FEWEST_STEADY, UNCOUNTED_ROUNDS, budget_for, cost_of_round_ns, fewest_units,
    round_ns, rounds_that_fit, usable_beside_trees_ns,
};
use super::renewal::Renewal;
use super::schedule::{shuffle, stream};
use super::trial_length::{TrialLength, shortened};
use super::trial_size::{Pilot, doses, trial_max_ns, trial_min_ns};
use super::work::is_renewed;
use super::{
    Amount, Calibration, ClockFacts, Dose, ExclusionReason, Executor, ExecutorError, History, Left,
};
use iolab_model::catalog::Code;
use iolab_model::plan::Plan;
use iolab_model::result::Fault;

/// A cell whose pilot fails so often in a row is left out.
pub(super) const FAILURES: u32 = 3;
/// No trial is killed sooner than this.
pub(super) const SHORTEST_LIMIT_NS: f64 = 2e9;

/// Works through the calibration of one plan.
pub(super) struct Calibrator<'a> {
    pub(super) plan: &'a Plan,
    pub(super) executor: &'a mut dyn Executor,
    pub(super) interrupted: &'a dyn Fn() -> bool,
    pub(super) clock: ClockFacts,
    /// When pilots must come to an end.
    pub(super) until_ns: f64,
    pub(super) renew_ns: f64,
    renewals: u64,
    shared_ranges: bool,
    /// What it took to make the trees of files: to remove them takes as long.
    trees_made_ns: f64,
}

impl<'a> Calibrator<'a> {
    pub(super) fn new(
        plan: &'a Plan,
        executor: &'a mut dyn Executor,
        interrupted: &'a dyn Fn() -> bool,
        shared_ranges: bool,
        trees_made_ns: f64,
    ) -> Result<Calibrator<'a>, Fault> {
        let clock = asked_clock(executor)?;
        Ok(Calibrator {
            plan,
            executor,
            interrupted,
            clock,
            until_ns: 0.0,
            renew_ns: 0.0,
            renewals: 0,
            shared_ranges,
            trees_made_ns,
        })
    }

    /// All of it, once the files are there. What failed is left out: index and why.
    pub(super) fn run(
        mut self,
        history: Option<&History>,
    ) -> Result<(Calibration, Vec<(usize, Left)>), Fault> {
        let spent = history.map_or(0, |h| h.elapsed_ns) as f64;
        let budget = self.plan.protocol.budget_ns as f64;
        self.renew_ns = self.renew()?;
        self.until_ns = self.executor.elapsed_ns() as f64 + CALIBRATION_SHARE * (budget - spent);
        let mut lost = Vec::new();
        let mut pilots = vec![None; self.plan.cells.len()];
        let mut order = runnable(self.plan, history);
        shuffle(&mut order, &mut stream(self.plan.protocol.seed, "pilot", 0));
        for cell in order {
            if (self.interrupted)() {
                break;
            }
            if self.keeps_doses(self.plan.cells[cell].condition, history) {
                continue;
            }
            match self.pilot(cell)? {
                Ok(pilot) => pilots[cell] = Some(pilot),
                Err(fault) if refused(&fault) => {
                    let (why, reason) = (ExclusionReason::Refused, fault.cause);
                    lost.push((cell, Left { round: 0, why, reason }));
                }
                Err(fault) => lost.push((cell, given_up(0, &fault))),
            }
        }
        Ok((self.settle(&pilots, history, spent)?, lost))
    }

    /// From pilots to doses, epoch and what the budget buys. Where the budget does not reach the
    /// fewest rounds, trials are shortened towards T_min; a file is never shrunk.
    fn settle(
        &mut self,
        pilots: &[Option<Pilot>],
        history: Option<&History>,
        spent_ns: f64,
    ) -> Result<Calibration, Fault> {
        let protocol = &self.plan.protocol;
        let rounds = UNCOUNTED_ROUNDS + protocol.rounds.unwrap_or(FEWEST_STEADY);
        let arms = runnable(self.plan, history).len() + 1;
        let least = trial_min_ns(&self.clock, 1);
        let units =
            fewest_units(protocol.alpha, self.plan.conditions.iter().map(|c| c.cells.len()));
        let fixed_epoch = history.map(|h| h.epoch_rounds).filter(|e| *e > 0);
        let own_ns = self.executor.elapsed_ns() as f64;
        let gone_ns = own_ns + spent_ns;
        let own_budget_ns = protocol.budget_ns.saturating_sub(spent_ns as u64);
        let left_ns = usable_beside_trees_ns(own_budget_ns, self.trees_made_ns) - own_ns;
        let longest = trial_max_ns(left_ns, rounds, arms).max(least);
        let fit = shortened(longest, least, |longest_ns| {
            let doses = self.doses(pilots, longest_ns, history);
            let round_ns = round_ns(&doses, self.plan.baseline.is_some());
            let epoch = fixed_epoch.unwrap_or_else(|| self.epoch(round_ns, left_ns, units));
            let needed = self.needed_rounds(units, epoch);
            let reaches = rounds_that_fit(left_ns, round_ns, self.renew_ns, epoch) >= needed;
            let cost_ns = cost_of_round_ns(round_ns, self.renew_ns, epoch);
            TrialLength { longest_ns, doses, round_ns, cost_ns, epoch, needed, reaches }
        });
        let hurried = self.hurried();
        let needed_ns = 1.05 * (gone_ns + fit.needed * fit.cost_ns);
        let needed_ns = budget_for(needed_ns, self.trees_made_ns, hurried);
        Ok(Calibration {
            clock: self.clock,
            trial_min_ns: least,
            trial_max_ns: fit.longest_ns,
            doses: fit.doses,
            epoch_rounds: fit.epoch,
            renew_ns: self.renew_ns as u64,
            round_ns: fit.round_ns as u64,
            needed_rounds: fit.needed,
            needed_ns: (!fit.reaches).then_some(needed_ns as u64),
            hurried,
        })
    }

    /// Doses with this longest trial; a resumed run keeps those it had.
    fn doses(
        &self,
        pilots: &[Option<Pilot>],
        longest_ns: f64,
        history: Option<&History>,
    ) -> Vec<Option<Dose>> {
        let mut all: Vec<Option<Dose>> = vec![None; pilots.len()];
        for condition in &self.plan.conditions {
            let cells: Vec<usize> =
                condition.cells.iter().copied().filter(|c| pilots[*c].is_some()).collect();
            let known: Vec<Pilot> = cells.iter().filter_map(|c| pilots[*c]).collect();
            let shared = if self.shared_ranges { known.len() } else { 1 };
            let each = known.chunks(shared.max(1));
            let doses = each.flat_map(|known| doses(known, &self.clock, longest_ns));
            for (cell, dose) in cells.iter().zip(doses) {
                all[*cell] = Some(dose);
            }
        }
        for (cell, before) in history.iter().flat_map(|h| &h.cells).enumerate() {
            let condition = self.plan.cells[cell].condition;
            if before.left.is_none() && self.keeps_doses(condition, history) {
                all[cell] = known_dose(&before.samples);
            }
        }
        all
    }

    /// Whether an answer goes on with the doses of an earlier part of the run: only where all of its
    /// cells have one, for old and new ones together would be unequal.
    fn keeps_doses(&self, condition: usize, history: Option<&History>) -> bool {
        let Some(history) = history else { return false };
        let mut cells = self.plan.conditions[condition].cells.iter();
        cells.all(|cell| {
            let before = history.cells.get(*cell);
            let skipped = self.plan.cells[*cell].skip.is_some();
            let gone = skipped || before.is_some_and(|before| before.left.is_some());
            gone || before.is_some_and(|before| known_dose(&before.samples).is_some())
        })
    }

    /// Rounds that a verdict needs, uncounted ones too.
    fn needed_rounds(&self, units: u32, epoch: u32) -> f64 {
        let each = if self.own_instances() { epoch.max(1) } else { 1 };
        let steady = self.plan.protocol.rounds.unwrap_or(units.saturating_mul(each));
        f64::from(UNCOUNTED_ROUNDS) + f64::from(steady)
    }

    fn own_instances(&self) -> bool {
        self.plan.conditions.iter().any(|c| {
            c.own_instances
                && c.cells.iter().any(|cell| is_renewed(self.plan, &self.plan.cells[*cell]))
        })
    }

    /// E; 0 where no instance is primed.
    fn epoch(&self, round_ns: f64, left_ns: f64, fewest_units: u32) -> u32 {
        if primed_instances(self.plan, |_| true).is_empty() {
            return 0;
        }
        let (renew_ns, own) = (self.renew_ns, self.own_instances());
        let rounds = self.plan.protocol.rounds;
        Renewal { renew_ns, round_ns, left_ns, own, fewest_units, rounds }.epoch_rounds()
    }

    /// Evicts all instances and primes those that warm cells use; the time it took.
    fn renew(&mut self) -> Result<f64, Fault> {
        let mut order = primed_instances(self.plan, |_| true);
        shuffle(&mut order, &mut stream(self.plan.protocol.seed, "pilot-renewal", self.renewals));
        self.renewals += 1;
        if order.is_empty() {
            return Ok(0.0);
        }
        let before = self.executor.elapsed_ns();
        insist(|| self.executor.renew(&order))?;
        Ok((self.executor.elapsed_ns() - before) as f64)
    }
}

/// Tries again what failed for once: an agent that died and was replaced loses the one request.
pub(super) fn insist(mut ask: impl FnMut() -> Result<(), ExecutorError>) -> Result<(), Fault> {
    let mut failures = 0;
    loop {
        match ask() {
            Ok(()) => return Ok(()),
            Err(ExecutorError::Fatal(fault)) => return Err(fault),
            Err(ExecutorError::Trial(fault)) => {
                failures += 1;
                if failures >= FAILURES {
                    return Err(fault);
                }
            }
        }
    }
}

fn asked_clock(executor: &mut dyn Executor) -> Result<ClockFacts, Fault> {
    let mut clock = ClockFacts::default();
    insist(|| executor.clock().map(|facts| clock = facts))?;
    Ok(clock)
}

/// Whether the kernel says that it has no such thing: not a failure, but something that cannot be
/// had here.
fn refused(fault: &Fault) -> bool {
    const ENOSYS: i32 = 38;
    const EXDEV: i32 = 18;
    const EOPNOTSUPP: i32 = 95;
    matches!(fault.errno, Some(EXDEV | ENOSYS | EOPNOTSUPP))
}

/// A cell that was given up.
pub(super) fn given_up(round: u32, fault: &Fault) -> Left {
    let reason = format!("{FAILURES} trials in a row failed: {fault}");
    Left { round, why: ExclusionReason::Failed, reason }
}

/// Cells that can run and were not left out before.
pub(super) fn runnable(plan: &Plan, history: Option<&History>) -> Vec<usize> {
    let left = |c: usize| {
        history.and_then(|h| h.cells.get(c)).is_some_and(|outcome| outcome.left.is_some())
    };
    let cells = plan.conditions.iter().flat_map(|c| c.cells.iter().copied());
    let mut cells: Vec<usize> =
        cells.filter(|c| plan.cells[*c].skip.is_none() && !left(*c)).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Instances that are renewed, of the cells that `active` keeps.
pub(super) fn primed_instances(plan: &Plan, active: impl Fn(usize) -> bool) -> Vec<usize> {
    let mut instances: Vec<usize> = runnable(plan, None)
        .into_iter()
        .filter(|c| active(*c) && is_renewed(plan, &plan.cells[*c]))
        .filter_map(|c| plan.cells[c].instance)
        .collect();
    instances.sort_unstable();
    instances.dedup();
    instances
}

/// The dose that earlier samples of this run were measured with.
fn known_dose(samples: &[iolab_model::result::Sample]) -> Option<Dose> {
    let last = samples.iter().rev().find(|s| s.fault.is_none() && s.measurement.wall_ns > 0)?;
    let seen = &last.measurement;
    let has = |code| seen.flags.contains(&code);
    let amount = match has(Code::Bounded) {
        true => Amount::Operations(seen.operations),
        false => Amount::Passes(seen.repetitions.max(1)),
    };
    let wall_ns = seen.wall_ns as f64;
    Some(Dose {
        amount,
        unequal: has(Code::UnequalWork),
        wall_ns,
        // What a trial costs beside its window is not recorded; the rounds will show it.
        trial_ns: wall_ns * 1.2,
        timer_limited: has(Code::TimerLimited),
    })
}
