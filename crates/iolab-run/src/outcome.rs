//! What a run leaves behind, however it ended.

use iolab_model::result::{ExclusionReason, Fault, Sample, Warning};

use super::ClockFacts;

/// What the person wants of a run that is under way.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum StopSignal {
    /// Go on.
    #[default]
    None,
    /// End when this round has ended (first Ctrl-C).
    AtRoundEnd,
    /// End before the next trial (second Ctrl-C).
    Now,
}

/// Why a run ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Stopped {
    /// Every answer is resolved.
    Resolved,
    /// The next round would have passed the budget.
    Budget,
    /// The number of rounds asked for, or the greatest that is ever done.
    Rounds,
    /// The person ended it.
    #[default]
    Interrupted,
    /// No cell is left to measure.
    NothingLeft,
    /// The executor or an observer failed.
    Failed,
}

impl Stopped {
    /// In words.
    pub const fn text(self) -> &'static str {
        match self {
            Stopped::Resolved => "every question was answered",
            Stopped::Budget => "the next round would have passed the budget",
            Stopped::Rounds => "the number of rounds was reached",
            Stopped::Interrupted => "interrupted",
            Stopped::NothingLeft => "no cell was left to measure",
            Stopped::Failed => "the run failed",
        }
    }

    /// Whether the run ended by itself.
    pub const fn complete(self) -> bool {
        !matches!(self, Stopped::Interrupted | Stopped::Failed)
    }
}

/// What became of one cell.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct CellOutcome {
    /// Every trial, failed ones too, in the order of rounds.
    pub samples: Vec<Sample>,
    /// Why and when it was left out; absent where it was measured to the end.
    pub left: Option<Left>,
}

/// A cell left out of later rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Left {
    /// After this round (0 also for cells that failed in calibration).
    pub round: u32,
    /// How.
    pub why: ExclusionReason,
    /// In words.
    pub reason: String,
}

/// What was fixed before the rounds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Calibration {
    /// The clock.
    pub clock: ClockFacts,
    /// Shortest honest trial.
    pub trial_min_ns: f64,
    /// Longest trial that is not a single operation.
    pub trial_max_ns: f64,
    /// How much each cell does in a trial; absent where it cannot be measured.
    pub doses: Vec<Option<Dose>>,
    /// Rounds to each renewal of the file instances; 0: nothing to renew.
    pub epoch_rounds: u32,
    /// What one renewal costs.
    pub renew_ns: u64,
    /// What one round costs, renewal aside.
    pub round_ns: u64,
    /// Rounds that an answer needs, uncounted ones too.
    pub needed_rounds: f64,
    /// Whether pilots were cut short: a longer budget gives them more.
    pub hurried: bool,
    /// Budget that would buy the fewest rounds, where this one does not: by the pilots, and once
    /// there were some rounds, by what these took.
    pub needed_ns: Option<u64>,
}

/// How much one cell does in a trial, frozen after calibration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Dose {
    /// Passes, or operations of a part of one.
    pub amount: Amount,
    /// Other cells of its answer do another number of passes.
    pub unequal: bool,
    /// Expected time of the timed window.
    pub wall_ns: f64,
    /// Expected time of the whole trial.
    pub trial_ns: f64,
    /// A cold trial too short for the clock.
    pub timer_limited: bool,
}

/// The amount of work of a trial.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// Whole passes.
    Passes(u64),
    /// This many operations, going on where the last trial stopped.
    Operations(u64),
}

/// The second trial of the cell that a round measured twice.
#[derive(Clone, Debug, PartialEq)]
pub struct TwinTrial {
    /// Which cell, as an index of the plan.
    pub cell: usize,
    /// Its second trial.
    pub sample: Sample,
}

/// What a run leaves behind.
#[derive(Clone, Debug, Default)]
pub struct Outcome {
    /// By index of the plan's cells.
    pub cells: Vec<CellOutcome>,
    /// The second trials of cells drawn at random, one a round.
    pub twin: Vec<TwinTrial>,
    /// What was fixed before the rounds.
    pub calibration: Calibration,
    /// Renewals of the file instances.
    pub epochs: u32,
    /// Steady rounds that were finished.
    pub steady_rounds: u32,
    /// Why it ended.
    pub stopped: Stopped,
    /// Time it took, calibration included.
    pub elapsed_ns: u64,
    /// What the last round cost, renewal aside.
    pub last_round_ns: u64,
    /// What holds for the whole run.
    pub warnings: Vec<Warning>,
}

impl Outcome {
    /// Whether the run ended by itself.
    pub fn complete(&self) -> bool {
        self.stopped.complete()
    }
}

/// What is known of a run that is to be resumed. Every vector is by index of the plan's cells.
#[derive(Clone, Debug, Default)]
pub struct History {
    /// Samples of each cell.
    pub cells: Vec<CellOutcome>,
    /// The second trials of the twin.
    pub twin: Vec<TwinTrial>,
    /// Rounds to each renewal (`ProtocolRecord::epoch_rounds`).
    pub epoch_rounds: u32,
    /// Time already spent, which the budget covers too.
    pub elapsed_ns: u64,
}

/// Why a run could not go on. What was measured until then comes with it.
#[derive(Debug, thiserror::Error)]
pub enum DriveError {
    /// Every cell of the plan is skipped.
    #[error("nothing can be measured here: {0}")]
    NothingToMeasure(String),
    /// The machine failed, not just a trial.
    #[error("{fault}")]
    Executor {
        /// What failed.
        fault: Fault,
        /// What there is.
        outcome: Box<Outcome>,
    },
    /// An observer failed: the record could not be written.
    #[error("{fault}")]
    Observer {
        /// What failed.
        fault: Fault,
        /// What there is.
        outcome: Box<Outcome>,
    },
}

impl DriveError {
    /// What was measured before the run failed.
    pub fn outcome(&self) -> Option<&Outcome> {
        match self {
            DriveError::NothingToMeasure(_) => None,
            DriveError::Executor { outcome, .. } | DriveError::Observer { outcome, .. } => {
                Some(outcome)
            }
        }
    }
}
