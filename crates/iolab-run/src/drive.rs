//! From a plan to an outcome: makes the files, calibrates, runs the rounds, and hands over what
//! there is however it ends.

use super::answer_rules::rules_of;
use super::asking::Asked;
use super::budget::cost_of_round_ns;
use super::calibrate::{Calibrator, insist, runnable};
use super::observations::{ConditionLog, logs};
use super::remaking::Remaking;
use super::rounds::{Arm, Driver, Halt};
use super::schedule::{shuffle, stream};
use super::{
    DriveError, Event, ExclusionReason, Executor, ExecutorError, History, Observer, Outcome,
    Policy, StopSignal, Stopped,
};
use iolab_model::catalog::Code;
use iolab_model::plan::Plan;

/// Drives a plan to its end. `stop` is asked between trials. With a history the run goes on where
/// that one stopped, after one more warm-up round.
pub fn drive(
    plan: &Plan,
    executor: &mut dyn Executor,
    observers: &mut [&mut dyn Observer],
    history: Option<History>,
    stop: &dyn Fn() -> StopSignal,
) -> Result<Outcome, DriveError> {
    drive_by(&Policy::default(), plan, executor, observers, history, stop)
}

/// [`drive`] with other choices than the protocol's, for its proof.
pub fn drive_by(
    policy: &Policy<'_>,
    plan: &Plan,
    executor: &mut dyn Executor,
    observers: &mut [&mut dyn Observer],
    history: Option<History>,
    stop: &dyn Fn() -> StopSignal,
) -> Result<Outcome, DriveError> {
    if runnable(plan, history.as_ref()).is_empty() {
        let reason = plan.cells.iter().find_map(|c| c.skip.clone());
        let reason = reason.unwrap_or_else(|| "the plan has no cell".to_owned());
        return Err(DriveError::NothingToMeasure(reason));
    }
    let mut driver = new(policy, plan, executor, observers, history.as_ref(), stop);
    let ended = driver.run(history.as_ref());
    let (stopped, halt) = match ended {
        Ok(stopped) => (stopped, None),
        Err(halt) => (Stopped::Failed, Some(halt)),
    };
    driver.out.stopped = stopped;
    driver.out.elapsed_ns = driver.elapsed_ns() as u64;
    let told = driver.tell_finished();
    let outcome = Box::new(driver.out);
    match halt.or(told.err()) {
        None => Ok(*outcome),
        Some(Halt::Executor(fault)) => Err(DriveError::Executor { fault, outcome }),
        Some(Halt::Observer(fault)) => Err(DriveError::Observer { fault, outcome }),
    }
}

fn new<'a, 'o>(
    policy: &'a Policy<'a>,
    plan: &'a Plan,
    executor: &'a mut dyn Executor,
    observers: &'a mut [&'o mut dyn Observer],
    history: Option<&History>,
    stop: &'a dyn Fn() -> StopSignal,
) -> Driver<'a, 'o> {
    let mut out = Outcome::default();
    if let Some(history) = history {
        out.cells.clone_from(&history.cells);
        out.twin.clone_from(&history.twin);
    }
    out.cells.resize_with(plan.cells.len(), Default::default);
    let samples = || {
        let twins = out.twin.iter().map(|trial| &trial.sample);
        out.cells.iter().flat_map(|c| &c.samples).chain(twins)
    };
    let first_round = samples().map(|s| s.round + 1).max().unwrap_or(0);
    out.epochs = samples().map(|s| s.epoch + 1).max().unwrap_or(0);
    Driver {
        plan,
        policy,
        executor,
        observers,
        stop,
        arms: vec![Arm::default(); plan.cells.len()],
        tracks: Vec::new(),
        parts_done: vec![u64::from(first_round); plan.conditions.len()],
        seldom: vec![false; plan.cells.len()],
        retired: vec![false; plan.conditions.len()],
        settled: vec![false; plan.cells.len()],
        asked: Asked::default(),
        spent_ns: history.map_or(0, |h| h.elapsed_ns),
        trees_made_ns: 0.0,
        foretold: false,
        remaking: Remaking::default(),
        round: first_round,
        first_round,
        rounds_in_epoch: 0,
        previous: None,
        out,
    }
}

impl Driver<'_, '_> {
    fn run(&mut self, history: Option<&History>) -> Result<Stopped, Halt> {
        let plan = self.plan;
        self.tell(&Event::Started(plan))?;
        if !self.calibrate(history)? {
            return Ok(Stopped::Interrupted);
        }
        self.restore();
        self.look_back();
        let calibration = &self.out.calibration;
        let clock = calibration.clock;
        let (renew_ns, epoch) = (calibration.renew_ns as f64, calibration.epoch_rounds);
        let round_ns = cost_of_round_ns(calibration.round_ns as f64, renew_ns, epoch);
        let left_ns = (self.usable_ns() - self.elapsed_ns()).max(0.0);
        let rounds = plan.protocol.rounds.unwrap_or((left_ns / round_ns) as u32);
        let rounds = rounds.min(self.policy.greatest_rounds);
        let round_ns = round_ns as u64;
        self.tell(&Event::Calibrated { clock, round_ns, rounds })?;
        // Of a run that is gone on with, what is wanted is known before its next round.
        let stopped = match self.reached_aim() {
            true => Stopped::Resolved,
            false => self.rounds()?,
        };
        if !self.foretold && self.out.calibration.needed_ns.is_some() {
            self.tell_short(rounds)?;
        }
        if stopped == Stopped::Resolved {
            // The forecast was too dark.
            self.out.warnings.retain(|warning| warning.code != Code::InsufficientBudget);
        }
        Ok(stopped)
    }

    /// Makes the files and calibrates; false where the person ended it.
    fn calibrate(&mut self, history: Option<&History>) -> Result<bool, Halt> {
        let (plan, stop) = (self.plan, self.stop);
        let interrupted = || stop() != StopSignal::None;
        let mut wanted: Vec<usize> =
            runnable(plan, history).iter().filter_map(|c| plan.cells[*c].instance).collect();
        wanted.sort_unstable();
        wanted.dedup();
        let making_ns = self.elapsed_ns();
        for instance in wanted {
            if interrupted() {
                return Ok(false);
            }
            self.tell(&Event::Making(&plan.instances[instance]))?;
            let began_ns = self.elapsed_ns();
            let instance = &plan.instances[instance];
            insist(|| self.executor.make(instance)).map_err(Halt::Executor)?;
            if instance.path.is_none() && (instance.tree.is_some() || instance.files.is_some()) {
                self.trees_made_ns += self.elapsed_ns() - began_ns;
            }
        }
        let made_ns = self.elapsed_ns() - making_ns;
        self.remaking = Remaking::of(plan, made_ns, self.out.steady_rounds);
        let (shared, trees_ns) = (self.policy.shared_ranges, self.trees_made_ns);
        let (calibration, lost) =
            Calibrator::new(plan, self.executor, &interrupted, shared, trees_ns)
                .and_then(|calibrator| calibrator.run(history))
                .map_err(Halt::Executor)?;
        self.out.calibration = calibration;
        for (cell, left) in lost {
            self.leave(cell, left)?;
        }
        Ok(!interrupted())
    }

    /// Makes the places anew between two rounds, where all instances are renewed or none is.
    pub(super) fn remake_where_due(&mut self) -> Result<(), Halt> {
        let steady = self.out.steady_rounds;
        if !self.remaking.is_due(steady, self.usable_ns()) {
            return Ok(());
        }
        let mut order: Vec<usize> = self.plan.instances.iter().map(|i| i.id).collect();
        let seed = self.plan.protocol.seed;
        shuffle(&mut order, &mut stream(seed, "remaking", u64::from(self.round)));
        let before = self.executor.elapsed_ns();
        self.executor.remake(&order).map_err(|error| match error {
            ExecutorError::Fatal(fault) | ExecutorError::Trial(fault) => Halt::Executor(fault),
        })?;
        self.remaking.took((self.executor.elapsed_ns() - before) as f64, steady);
        self.previous = None;
        Ok(())
    }

    /// What each cell's next trial will cost.
    fn restore(&mut self) {
        for (arm, dose) in self.arms.iter_mut().zip(&self.out.calibration.doses) {
            if let Some(dose) = dose {
                arm.took(dose.trial_ns);
            }
        }
    }

    /// The logs of the answers, with the rounds of a run that is gone on with. After calibration,
    /// which says how many rounds are a unit.
    fn look_back(&mut self) {
        let plan = self.plan;
        let epoch = self.out.calibration.epoch_rounds;
        let seed = plan.protocol.seed;
        self.tracks = (0..plan.conditions.len())
            .map(|index| {
                let cells = plan.conditions[index].cells.clone();
                ConditionLog::new(cells, &rules_of(plan, index, epoch), seed)
            })
            .collect();
        for log in logs(plan, &self.out.cells, &self.out.twin) {
            self.tracks.iter_mut().for_each(|track| track.append(&log));
            self.out.steady_rounds += u32::from(log.steady);
        }
        for (cell, outcome) in self.out.cells.iter().enumerate() {
            if outcome.left.as_ref().is_some_and(|l| l.why != ExclusionReason::Proven) {
                self.tracks.iter_mut().for_each(|track| track.give_up(cell));
            }
        }
    }

    fn tell_finished(&mut self) -> Result<(), Halt> {
        let twin = super::conclude::twin(self.plan, &self.out);
        let stopped = self.out.stopped;
        let event = Event::Finished {
            stopped: stopped.text(),
            complete: stopped.complete(),
            twin: twin.as_ref(),
        };
        self.tell(&event)
    }
}
