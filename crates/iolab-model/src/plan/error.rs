//! Why an experiment cannot become a plan.

use std::path::PathBuf;

use crate::catalog::{bytes_text, host_text};
use crate::spec::SpecError;

/// Why an experiment cannot become a plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PlanError {
    /// It is not written as the workload wants it.
    #[error("{0}")]
    Spec(#[from] SpecError),
    /// Every cell is skipped.
    #[error("nothing can be measured: {}", reasons.join("; "))]
    Nothing {
        /// Each with its remedy.
        reasons: Vec<String>,
        /// True where the machine is too small for it, false where it was asked wrongly.
        too_small: bool,
    },
    /// More cells than rounds could ever be made of.
    #[error(
        "{cells} cells are more than a run can measure ({most}); name fewer levels, or make several runs"
    )]
    TooManyCells {
        /// Cells asked for.
        cells: usize,
        /// Cells that a run can have.
        most: usize,
    },
    /// The files do not fit into the directory.
    #[error(
        "no space in {}: the files need {} and {} is free (a reserve taken off); free some, {}",
        directory.display(), bytes_text(*needed), bytes_text(*free),
        match copies_theirs {
            true => "or cd to a directory that has room: copies are made where you are",
            false => "give a smaller --file-size, or name another directory",
        }
    )]
    NoSpace {
        /// Where.
        directory: PathBuf,
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are free.
        free: u64,
        /// Whether a tree of the person's is to be copied there.
        copies_theirs: bool,
    },
    /// This process may not write a file so large.
    #[error(
        "a file of {} may not be written: the limit of this shell is {}; raise it with ulimit -f, or give a smaller --file-size",
        bytes_text(*needed), bytes_text(*limit)
    )]
    FileLimit {
        /// Bytes that are needed.
        needed: u64,
        /// RLIMIT_FSIZE.
        limit: u64,
    },
    /// There are not enough inodes for the files.
    #[error("no inodes in {}: {needed} are needed and {free} are free; remove files, or name another directory", directory.display())]
    NoInodes {
        /// Where.
        directory: PathBuf,
        /// Inodes that are needed.
        needed: u64,
        /// Inodes that are free.
        free: u64,
    },
    /// The same, of one of several machines.
    #[error("on {}: {error}", host_text(host))]
    On {
        /// Its name.
        host: String,
        /// What is wrong there.
        error: Box<PlanError>,
    },
    /// The same, of the rank of an MPI job that has least of what is lacking.
    #[error("{which}: {error}")]
    AtRank {
        /// Which it is, and what it shares with others.
        which: String,
        /// What is wrong there.
        error: Box<PlanError>,
    },
    /// All warm files together do not fit into memory, though each would.
    #[error(
        "the files cannot be warm together: they need {} and {} of memory is available; measure fewer at a time, or take --cache cold or --cache any",
        bytes_text(*needed), bytes_text(*available)
    )]
    NoMemory {
        /// Bytes that are needed.
        needed: u64,
        /// Bytes that are available.
        available: u64,
    },
}

impl PlanError {
    /// True where the machine refuses (exit status 20), false where the request is wrong (2).
    pub fn is_refusal(&self) -> bool {
        match self {
            PlanError::Spec(_) | PlanError::TooManyCells { .. } => false,
            PlanError::Nothing { too_small, .. } => *too_small,
            PlanError::On { error, .. } | PlanError::AtRank { error, .. } => error.is_refusal(),
            PlanError::NoSpace { .. }
            | PlanError::NoInodes { .. }
            | PlanError::FileLimit { .. }
            | PlanError::NoMemory { .. } => true,
        }
    }
}
