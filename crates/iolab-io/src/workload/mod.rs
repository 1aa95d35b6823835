//! What is done: one file each. A new workload is its own file (or folder), named here twice: as a
//! module and in the list.

pub mod contender;
mod copy;
pub mod files;
mod held_inodes;
mod held_trees;
mod ladder;
pub mod meta;
mod piece_choice;
mod portion;
mod read;
pub mod replay;
mod spread_directories;
mod syscall;
mod write;

use std::path::Path;

use serde::{Deserialize, Serialize};

pub use portion::{Portion, shift_of};

use crate::method::{Layout, MeasuredWindow};
use iolab_model::catalog::{Consume, Factor, Levels, Part, WorkloadInfo};
use iolab_model::result::{Fault, Measurement};

/// A workload: what it says of itself and what it does.
#[derive(Debug)]
pub struct Workload {
    /// Its description.
    pub info: WorkloadInfo,
    /// Measures one trial, in the process that calls. `window` is told when time begins and ends.
    pub run: fn(&Trial<'_>, &mut dyn MeasuredWindow) -> Result<Measurement, Fault>,
    /// Which bytes of its file the trial consumes and how, so that its digest can be checked;
    /// nothing where there is none.
    pub visits: fn(&Trial<'_>) -> Result<Option<Visit>, Fault>,
    /// What is done outside of the timed window.
    pub around: SetupTeardown,
    /// Why it cannot be done with these levels together, and what to do instead.
    pub impossible: fn(&Levels) -> Option<String>,
}

/// What a workload does outside of the timed window, in the agent itself: never in the process
/// that is measured, whose caches and counters are to be its own.
#[derive(Clone, Copy, Debug)]
pub struct SetupTeardown {
    /// Makes what the trial needs in its scratch directory; the cache state is reached afterwards.
    pub prepare: fn(&Trial<'_>) -> Result<(), Fault>,
    /// Whether the trial did what it says; puts flags and proofs into the measurement.
    pub verify: fn(&Trial<'_>, &mut Measurement) -> Result<(), Fault>,
    /// Whether how long it took tells of what the file system had to do for others, so that it is to be
    /// done again. Asked before it is cleared away.
    pub is_spoilt: fn(&Trial<'_>) -> Result<bool, Fault>,
    /// Removes what the trial made: always called once `prepare` was, however the trial ended.
    pub clear: fn(&Trial<'_>) -> Result<(), Fault>,
    /// Of a trial that the ranks of a job share: makes what all of them find. Called at the first
    /// rank, before any of them prepares.
    pub lay: fn(&Trial<'_>) -> Result<(), Fault>,
    /// Removes that, when all of them have cleared up.
    pub lift: fn(&Trial<'_>) -> Result<(), Fault>,
}

impl SetupTeardown {
    /// For a workload that leaves nothing behind.
    pub const NOTHING: SetupTeardown = SetupTeardown {
        prepare: |_| Ok(()),
        verify: |_, _| Ok(()),
        is_spoilt: |_| Ok(false),
        clear: |_| Ok(()),
        lay: |_| Ok(()),
        lift: |_| Ok(()),
    };
}

/// Every workload: the list.
const ALL: &[&Workload] = &[
    &read::WORKLOAD,
    &write::WORKLOAD,
    &copy::WORKLOAD,
    &files::WORKLOAD,
    &syscall::WORKLOAD,
    &meta::WORKLOAD,
    &replay::WORKLOAD,
];

/// Every workload's description.
pub const WORKLOADS: &[WorkloadInfo] = &each_of!(ALL.info);

/// The workload of this name.
pub fn find(id: &str) -> Option<&'static Workload> {
    ALL.iter().copied().find(|workload| workload.info.part.id == id)
}

/// Why a workload cannot be done with these levels together, and what to do instead.
pub fn impossible(id: &str, levels: &Levels) -> Option<String> {
    if levels.get(Factor::Contender).is_some() {
        return contender::impossible(id, levels);
    }
    find(id).and_then(|workload| (workload.impossible)(levels))
}

/// The rungs of the workload `syscall`.
pub const fn operations() -> &'static [Part] {
    ladder::OPERATIONS
}

/// How much one trial does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Extent {
    /// Whole passes over the data (for a call: that many calls).
    Passes(u64),
    /// Part of a pass: this many operations from this one on, wrapping at the end.
    Part {
        /// Index of the first operation within a pass.
        first_operation: u64,
        /// How many operations.
        operations: u64,
    },
}

/// One trial, with everything it needs at hand.
#[derive(Clone, Copy, Debug)]
pub struct Trial<'a> {
    /// The cell's levels.
    pub levels: &'a Levels,
    /// How much.
    pub extent: Extent,
    /// The file that it works on, where it needs one.
    pub subject: Option<Subject<'a>>,
    /// A directory of iolab's own, for files that the workload makes itself.
    pub scratch: &'a Path,
}

/// The file that a trial works on.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// Where.
    pub path: &'a Path,
    /// Its size.
    pub bytes: u64,
    /// Decides the random order: trials of one file share it.
    pub seed: u64,
    /// Where it is a tree of files, what is in it; `path` is then its root.
    pub tree: Option<&'a files::Listing>,
    /// Where it is the files of a trace: which.
    pub replay: Option<&'a replay::Scene>,
    /// Which rank of a job works on it; the first one where it is none.
    pub rank: u64,
    /// How many ranks have a part of it; one where it is no other's.
    pub parts: u64,
}

impl<'a> Subject<'a> {
    /// A file, or a directory that nothing is listed of.
    pub const fn file(path: &'a Path, bytes: u64, seed: u64) -> Subject<'a> {
        Subject { path, bytes, seed, tree: None, replay: None, rank: 0, parts: 1 }
    }

    /// A tree of files below `path`.
    pub const fn tree(path: &'a Path, bytes: u64, seed: u64, tree: &'a files::Listing) -> Self {
        Subject { path, bytes, seed, tree: Some(tree), replay: None, rank: 0, parts: 1 }
    }

    /// The same at this rank of a job.
    #[must_use]
    pub const fn at_rank(self, rank: u64) -> Subject<'a> {
        Subject { rank, ..self }
    }

    /// The same, of so many ranks.
    #[must_use]
    pub const fn of_ranks(self, parts: u64) -> Subject<'a> {
        Subject { parts, ..self }
    }
}

/// What a trial consumes.
#[derive(Clone, Debug, PartialEq)]
pub struct Visit {
    /// Which bytes in which order.
    pub layout: Layout,
    /// How.
    pub consume: Consume,
    /// Whether the bytes are the file's.
    pub real: bool,
    /// Bytes that the device may deliver beside those of the file: tables of a file system that is
    /// written to.
    pub aside_bytes: u64,
}
