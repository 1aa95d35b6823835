//! Why something was not measured, and whose matter that is.

use std::io;

use iolab_agent::{Objection, SurveyError};
use iolab_model::catalog::path_to_text;
use iolab_model::plan::PlanError;
use iolab_model::result::Fault;
use iolab_model::spec::SpecError;
use iolab_record::history::RecordError;
use iolab_run::DriveError;

/// Whose matter an error is: what becomes of it depends on that alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Blame {
    /// It was asked wrongly.
    Request,
    /// It may not or cannot be done: not safe, or no space.
    Refusal,
    /// Runs that do not belong together.
    Incomparable,
    /// Something that should not happen.
    Defect,
}

/// Why something was not measured: one line with the fix.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// There is no such workload.
    #[error("there is no workload {0}")]
    NoWorkload(String),
    /// It is not written as the workload wants it.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// It cannot be done where the agent is.
    #[error(transparent)]
    Objected(#[from] Objection),
    /// It cannot become a plan.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// It cannot run where it was asked to.
    #[error("{0}")]
    NoLocation(String),
    /// A path that is none.
    #[error("'{}': {error}; name a file or a directory", path_to_text(path))]
    NoPath {
        /// As written.
        path: std::path::PathBuf,
        /// The system's word.
        error: io::Error,
    },
    /// The history cannot be read or written.
    #[error(transparent)]
    Record(#[from] RecordError),
    /// The directory of the history cannot be made.
    #[error("cannot make the history {name}: {error}; name another file with --store PATH")]
    NoHistory {
        /// Its file.
        name: String,
        /// The system's word.
        error: io::Error,
    },
    /// The person cannot be heard.
    #[error("{0}")]
    Deaf(io::Error),
    /// The agent, the machine or the record failed.
    #[error("{}{}", .0, remedy(.0))]
    Fault(#[from] Fault),
    /// Every cell of the plan is skipped.
    #[error("nothing can be measured here: {0}")]
    NothingToMeasure(String),
    /// There is too little room for what is always measured.
    #[error("{0}: too little space for a survey; free some or name another directory")]
    NoRoom(String),
    /// A run cannot be gone on with.
    #[error(
        "the cells of run {0} are not those that its command makes today (a file, the space or iolab has changed); measure anew"
    )]
    OtherCells(u64),
    /// A run cannot be gone on with, for it would go on somewhere else.
    #[error(
        "run {run} cannot go on here, for this is not what it measured: {}; measure anew",
        .differs.join("; ")
    )]
    OtherGround {
        /// Its number.
        run: u64,
        /// `kernel.release: then → now`, one each.
        differs: Vec<String>,
    },
    /// A run of another history cannot be gone on with.
    #[error(
        "run {0} was imported: what it was made of is not here, and its command is not yours; measure anew"
    )]
    Imported(u64),
    /// The same, of what stands there in a file.
    #[error("{place}: {error}")]
    At {
        /// `bench.toml, line 4`.
        place: String,
        /// What is wrong there.
        error: Box<Error>,
    },
}

impl Error {
    /// The same, of what stands there in a file.
    #[must_use]
    pub fn at(self, place: &str) -> Error {
        Error::At { place: place.to_owned(), error: Box::new(self) }
    }

    /// Whose matter it is.
    pub fn blame(&self) -> Blame {
        match self {
            Error::NoWorkload(_)
            | Error::Spec(_)
            | Error::NoLocation(_)
            | Error::NoPath { .. }
            | Error::NothingToMeasure(_) => Blame::Request,
            Error::Objected(objection) if !objection.refused => Blame::Request,
            Error::Plan(error) if !error.is_refusal() => Blame::Request,
            Error::Objected(_) | Error::Plan(_) | Error::NoHistory { .. } | Error::NoRoom(_) => {
                Blame::Refusal
            }
            Error::Record(error) => blame_of_record(error),
            Error::Fault(fault) => blame_of_fault(fault),
            Error::OtherCells(_) | Error::OtherGround { .. } | Error::Imported(_) => {
                Blame::Incomparable
            }
            Error::Deaf(_) => Blame::Defect,
            Error::At { error, .. } => error.blame(),
        }
    }
}

fn blame_of_record(error: &RecordError) -> Blame {
    match error {
        RecordError::NoRun { .. } | RecordError::NoName { .. } | RecordError::NameTaken { .. } => {
            Blame::Request
        }
        RecordError::Kept { .. } => Blame::Defect,
        _ => Blame::Refusal,
    }
}

const ENOSPC: i32 = 28;
const EFBIG: i32 = 27;
const EROFS: i32 = 30;
const EDQUOT: i32 = 122;

/// No space is a refusal, whoever met it.
fn blame_of_fault(fault: &Fault) -> Blame {
    match fault.errno {
        Some(EFBIG | ENOSPC | EROFS | EDQUOT) => Blame::Refusal,
        _ => Blame::Defect,
    }
}

fn remedy(fault: &Fault) -> &'static str {
    match fault.errno {
        Some(EFBIG) => "; raise the limit with ulimit -f",
        _ => "",
    }
}

impl From<SurveyError> for Error {
    fn from(error: SurveyError) -> Error {
        match error {
            SurveyError::Objected(objection) => Error::Objected(objection),
            SurveyError::Fault(fault) => Error::Fault(fault),
        }
    }
}

impl From<DriveError> for Error {
    fn from(error: DriveError) -> Error {
        match error {
            DriveError::NothingToMeasure(why) => Error::NothingToMeasure(why),
            DriveError::Executor { fault, .. } | DriveError::Observer { fault, .. } => {
                Error::Fault(fault)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Blame, Error};
    use iolab_model::result::Fault;

    #[test]
    fn a_full_disk_is_a_refusal_and_a_lost_agent_a_defect() {
        let full = Error::Fault(Fault::new("write", "no space").errno(Some(28)));
        assert_eq!(full.blame(), Blame::Refusal);
        assert_eq!(full.at("mine.toml, line 4").blame(), Blame::Refusal);
        assert_eq!(Error::Fault(Fault::new("ask", "it ended")).blame(), Blame::Defect);
        let large = Error::Fault(Fault::new("write", "too large").errno(Some(27)));
        assert_eq!(large.to_string(), "write: too large; raise the limit with ulimit -f");
    }
}
