//! Drives a plan round by round: calibration, rounds in random order, stop rule, elimination,
//! budget. It knows no file and no screen: work is done by an [`Executor`], what happens is told
//! to an [`Observer`].

mod agent_executor;
mod aimed;
mod answer_rules;
mod answer_text;
mod asking;
mod budget;
mod calibrate;
mod clone_class;
mod conclude;
mod document;
mod drive;
mod estimate;
mod foretold;
mod interim;
mod name;
mod observations;
mod outcome;
mod pilot;
mod policy;
mod remaking;
mod renewal;
mod rounds;
mod schedule;
mod trial_length;
mod trial_size;
mod unproven;
mod visits;
mod work;

pub use agent_executor::RemoteExecutor;
pub use budget::FEWEST_STEADY;
pub use conclude::{Conclusion, conclude, twin};
pub use document::{document, experiment, so_far};
pub use drive::{drive, drive_by};
pub use estimate::fill_estimates;
pub use iolab_model::result::ExclusionReason;
pub use outcome::{
    Amount, Calibration, CellOutcome, Dose, DriveError, History, Left, Outcome, StopSignal,
    Stopped, TwinTrial,
};
pub use policy::{Aim, Judge, Policy};
pub use schedule::{below, seed_for, shuffle, stream};
pub use work::{WINDOW_BYTES, Work};

use iolab_agent::Extent;
use iolab_model::plan::{Cell, Instance, Plan};
use iolab_model::result::{Fault, Measurement, Sample, Twin, Warning};

/// The clock that trials are timed with.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ClockFacts {
    /// q: smallest non-zero step seen at least 100 times.
    pub resolution_ns: f64,
    /// o: median cost of an empty pair of reads.
    pub pair_cost_ns: f64,
}

/// One trial, as the driver asks for it.
#[derive(Clone, Copy, Debug)]
pub struct TrialOrder<'a> {
    /// Which cell.
    pub cell: &'a Cell,
    /// How much.
    pub extent: Extent,
    /// After this long the trial is killed and counts as failed.
    pub limit_ns: u64,
    /// Round, from 0 (calibration: `None`).
    pub round: Option<u32>,
}

/// What ends a whole run.
#[derive(Debug, thiserror::Error)]
pub enum ExecutorError {
    /// This trial alone is lost.
    #[error("{0}")]
    Trial(Fault),
    /// Nothing more can be measured.
    #[error("{0}")]
    Fatal(Fault),
}

/// Who does the work: the agent on the real machine, a seeded fake in tests.
pub trait Executor {
    /// The clock, measured anew.
    fn clock(&mut self) -> Result<ClockFacts, ExecutorError>;
    /// Time since the executor was made, by the clock that the budget is counted on.
    fn elapsed_ns(&mut self) -> u64;
    /// Makes (or opens and digests) a file instance.
    fn make(&mut self, instance: &Instance) -> Result<(), ExecutorError>;
    /// Evicts all instances, then primes them in this order.
    fn renew(&mut self, order: &[usize]) -> Result<(), ExecutorError>;
    /// Takes down the places and makes them again with all that was made, the instances in this order.
    /// Nothing where there are no places.
    fn remake(&mut self, _order: &[usize]) -> Result<(), ExecutorError> {
        Ok(())
    }
    /// One trial.
    fn trial(&mut self, order: &TrialOrder<'_>) -> Result<Measurement, ExecutorError>;
}

/// What happens during a run, in order. While a trial is timed nothing is told.
#[derive(Debug)]
pub enum Event<'a> {
    /// Before anything.
    Started(&'a Plan),
    /// A file instance is being made.
    Making(&'a Instance),
    /// Repetitions are frozen; what one round will take.
    Calibrated {
        /// The clock.
        clock: ClockFacts,
        /// One round.
        round_ns: u64,
        /// Rounds that fit the budget.
        rounds: u32,
    },
    /// A trial ended. `cell` is an index of the plan.
    Trial {
        /// Which cell.
        cell: usize,
        /// True for the second arm of the baseline.
        twin: bool,
        /// The sample.
        sample: &'a Sample,
    },
    /// A cell is left out from now on.
    Eliminated {
        /// Which cell.
        cell: usize,
        /// In which round.
        round: u32,
        /// Why.
        why: ExclusionReason,
        /// The same in words.
        reason: String,
    },
    /// A round ended.
    Round {
        /// Its number.
        round: u32,
        /// Time so far.
        elapsed_ns: u64,
        /// Time until the end, as now expected.
        remaining_ns: u64,
    },
    /// Something to keep in mind.
    Warning(&'a Warning),
    /// The end, whatever the reason.
    Finished {
        /// In words.
        stopped: &'a str,
        /// Whether it ended by itself.
        complete: bool,
        /// The baseline against itself.
        twin: Option<&'a Twin>,
    },
}

/// Who listens: the progress line, the record. A failing observer ends the run.
pub trait Observer {
    /// Called between trials.
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault>;
}
