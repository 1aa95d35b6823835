//! Factors × levels → cells → seeded rounds, and what they will cost. Pure: what it must know of
//! the machine comes in as [`Facts`].

mod at_ranks;
mod axes;
mod cells;
#[cfg(test)]
mod command_tests;
mod contender;
mod cost;
#[cfg(test)]
mod default_tests;
mod draft;
mod error;
#[cfg(test)]
mod host_tests;
mod instance;
mod make;
mod misfit;
mod needs;
mod paths;
mod question;
#[cfg(test)]
mod tests;

pub use at_ranks::{RankFacts, make};
pub use cells::level_text;
pub use error::PlanError;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::catalog::{CacheState, Factor, Level, Levels, Sync};
use crate::spec::Protocol;
use crate::tree::{RecordedFiles, TreeOrder, space_of_files};

/// What the plan must know of the machine that the files are on; told by the agent there.
// Messages are compared in tests; of the one rule among the facts it is enough whether it is there.
#[allow(unpredictable_function_pointer_comparisons)]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Facts {
    /// The person's files by path: size in bytes, or a line that names the file, why it cannot be
    /// used and what to do.
    #[serde(with = "paths")]
    pub files: BTreeMap<PathBuf, Result<u64, String>>,
    /// Bytes free to this person in the directory, reserve taken off.
    pub free_bytes: u64,
    /// Inodes free to this person.
    pub free_inodes: u64,
    /// The greatest size that a file of this process may have (RLIMIT_FSIZE); absent: no limit.
    pub greatest_file_bytes: Option<u64>,
    /// Memory that can be used without swapping.
    pub available_memory_bytes: u64,
    /// Last-level cache of one processor.
    pub last_level_cache_bytes: u64,
    /// Page size.
    pub page_bytes: u64,
    /// The least memory limit that a trial fits into.
    pub least_limit_bytes: u64,
    /// What this process may lock in memory (RLIMIT_MEMLOCK); absent: no limit.
    pub greatest_locked_bytes: Option<u64>,
    /// The multiple that direct I/O moves here; absent: not known.
    pub direct_alignment_bytes: Option<u64>,
    /// Processors this process may use.
    pub processors: u32,
    /// Part id (a method, an operation, a cache state, a place) → why it cannot be had here, and the remedy.
    pub unavailable: BTreeMap<String, String>,
    /// Why a workload (by its id) cannot be done with some levels together, and what to do instead.
    /// It is the same everywhere, and so not told by anybody.
    #[serde(skip)]
    pub impossible: Option<fn(&str, &Levels) -> Option<String>>,
    /// The person's trees by path: what is in them, or why they cannot be used and what to do.
    #[serde(with = "paths")]
    pub trees: BTreeMap<PathBuf, Result<TreeFacts, String>>,
    /// The person's traces by path: what is in them, or why they cannot be used and what to do.
    #[serde(default, with = "paths")]
    pub traces: BTreeMap<PathBuf, Result<TraceFacts, String>>,
    /// Every place that was named, as written.
    pub places: BTreeMap<String, PlaceNeeds>,
    /// The size of every image where none is written.
    #[serde(default)]
    pub image_bytes: u64,
    /// Whether this user may drop the page cache of the whole machine.
    #[serde(default)]
    pub may_drop_caches: bool,
    /// Where several machines are compared: what is known of each by its name, and all else is what
    /// all of them have.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub hosts: BTreeMap<String, Facts>,
    /// At the ranks of an MPI job: which of them has least of what.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranks: Option<RankFacts>,
}

impl Facts {
    /// What is known of the machine that a cell runs on.
    pub(crate) fn on(&self, host: Option<&str>) -> &Facts {
        host.and_then(|host| self.hosts.get(host)).unwrap_or(self)
    }
}

/// What is in a tree of the person's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TreeFacts {
    /// Files that can be read.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// What is left out, in words.
    pub note: Option<String>,
}

/// What is in a trace of the person's.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TraceFacts {
    /// The files that a replay of it begins with.
    pub files: RecordedFiles,
    /// Their bytes.
    pub bytes: u64,
    /// What of it cannot be replayed, in words.
    pub note: Option<String>,
}

/// An experiment ready to run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// In words.
    pub title: String,
    /// `read`, `syscall`, …
    pub workload: String,
    /// The directory to work under.
    pub directory: PathBuf,
    /// Every axis with the levels taken, given or by default.
    pub factors: BTreeMap<Factor, Vec<Level>>,
    /// The factors whose levels are compared.
    pub ask: Vec<Factor>,
    /// How to measure, every choice made.
    pub protocol: Protocol,
    /// Whether cells proven clearly slower are left out.
    pub eliminate: bool,
    /// Every cell, skipped ones too.
    pub cells: Vec<Cell>,
    /// One answer each.
    pub conditions: Vec<Condition>,
    /// File instances that the cells work on.
    pub instances: Vec<Instance>,
    /// The cell that runs twice a round; absent where no cell can run.
    pub baseline: Option<usize>,
    /// What it will cost.
    pub cost: Cost,
    /// What the space, the memory or a limit there did not allow, and what is done instead: one line
    /// each, told before the start.
    pub changed: Vec<String>,
    /// What was collapsed and what else is to be known, for the person: one line each.
    pub notes: Vec<String>,
    /// Whether each pass leaves a new file as large as the one it works on.
    pub copies: bool,
    /// Size of a page where it runs, in bytes.
    pub page_bytes: u64,
    /// The size of every image of the places; 0 where there is none.
    pub image_bytes: u64,
}

impl Plan {
    /// All that is to be known of it: what was changed, and the notes.
    pub fn remarks(&self) -> impl Iterator<Item = &String> {
        self.changed.iter().chain(&self.notes)
    }

    /// The commands of the person's that are started, whole, each once.
    pub fn commands(&self) -> BTreeSet<&str> {
        let cells = self.cells.iter().filter(|cell| cell.skip.is_none());
        cells.filter_map(|cell| cell.levels.text(Factor::Contender)).collect()
    }

    /// Whether what is in the files that traces name is copied.
    pub fn copies_data(&self) -> bool {
        let cells = self.cells.iter().filter(|cell| cell.skip.is_none());
        cells.map(|cell| &cell.levels).any(|levels| levels.is_on(Factor::WithData))
    }

    /// Skips the cells that are not wanted, for this reason. What they would have cost stays in
    /// the forecast.
    pub fn keep(&mut self, wanted: impl Fn(&Cell) -> bool, reason: &str) {
        for cell in &mut self.cells {
            if cell.skip.is_none() && !wanted(cell) {
                cell.skip = Some(reason.to_owned());
            }
        }
        let runs = |cell: usize| self.cells[cell].skip.is_none();
        for condition in &mut self.conditions {
            condition.cells.retain(|cell| runs(*cell));
        }
        if self.baseline.is_some_and(|cell| !runs(cell)) {
            let left: Vec<usize> = (0..self.cells.len()).filter(|cell| runs(*cell)).collect();
            self.baseline = left.get(left.len() / 2).copied();
        }
    }
}

/// One combination of levels.
#[derive(Clone, Debug, PartialEq)]
pub struct Cell {
    /// Name within the run, of the levels that vary: `pread/64Ki`.
    pub id: String,
    /// Every level that applies to it.
    pub levels: Levels,
    /// Index of its answer.
    pub condition: usize,
    /// Index of its file instance; absent where it needs no file.
    pub instance: Option<usize>,
    /// Why it cannot be measured here, and the remedy.
    pub skip: Option<String>,
}

impl Cell {
    /// Whether its trials begin without cached pages, so that each reads its file once.
    pub fn starts_cold(&self) -> bool {
        self.levels.word().is_some_and(CacheState::is_cold)
    }

    /// Whether its trials write a file: a second pass would find another file than the first.
    pub fn writes(&self) -> bool {
        self.levels.get(Factor::Target).is_some()
    }

    /// Whether each operation waits for the device.
    pub fn syncs_each_operation(&self) -> bool {
        self.levels.word().is_some_and(Sync::waits_within)
    }
}

/// What a place takes and gives.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaceNeeds {
    /// Space that its images take in the directory under test.
    pub disk_bytes: u64,
    /// Bytes of files that it holds for sure; absent: as many as the directory.
    pub holds_bytes: Option<u64>,
    /// Whether iolab mounts it, so that it can be remounted.
    pub remounts: bool,
    /// Whether its files are read through the page cache whatever is asked for: then O_DIRECT
    /// bypasses nothing.
    pub always_cached: bool,
    /// Whether the first change of a file's attributes copies its data, in each trial anew.
    #[serde(default)]
    pub copies_up: bool,
    /// What it needs that an ordinary person may not have; empty where nothing.
    pub privilege: String,
}

/// Cells that are compared with each other.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The levels they share.
    pub levels: Levels,
    /// Indices of cells that can run.
    pub cells: Vec<usize>,
    /// Whether its cells use different file instances, so that placement does not cancel and
    /// must be drawn anew each round.
    pub own_instances: bool,
}

/// A file that cells work on.
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Index, also its name in the protocol.
    pub id: usize,
    /// The person's file; absent: iolab makes one.
    pub path: Option<PathBuf>,
    /// Size in bytes; of a tree, that of each file.
    pub bytes: u64,
    /// So many files in a tree; absent: the one file.
    pub files: Option<u64>,
    /// On which machine, where several are compared.
    pub host: Option<String>,
    /// Where: a place id, absent for the plain directory.
    pub place: Option<String>,
    /// The seed of its content.
    pub seed: u64,
    /// What trials do with it.
    pub used: FileUse,
    /// Places that its copies go to beside its own.
    pub targets: Vec<String>,
    /// Every second MiB of it is a hole.
    pub sparse: bool,
    /// Where it is a tree of files: which.
    pub tree: Option<TreeOrder>,
    /// Its files carry an extended attribute: those alone that a call on one is made on, for a copy of
    /// the file's metadata copies it too.
    pub attributes: bool,
    /// Where the ranks of a job make it together: how.
    pub shared: Option<SharedBy>,
}

/// A file or tree of several ranks: each makes its part, and all see the whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SharedBy {
    /// How many ranks have a part, each as large as the file or tree is said to be.
    pub ranks: u64,
    /// Of a file: parts lie block by block in turn, with blocks of so many bytes. Absent: one after
    /// the other.
    pub block_bytes: Option<u64>,
}

fn space_of(tree: Option<&TreeOrder>, files: Option<u64>, bytes: u64) -> u64 {
    match (tree, files) {
        (Some(tree), _) => tree.space_bytes(bytes),
        (None, Some(files)) => space_of_files(files.saturating_mul(2), bytes, 4),
        (None, None) => bytes,
    }
}

/// What trials do with a file of the plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FileUse {
    /// They read it; it stays as it is.
    #[default]
    Read,
    /// They write over it.
    Overwrite,
    /// They write files of their own and remove them, one at a time: of this one only the place,
    /// the size and the seed are used, and no byte of it is written.
    Absent,
}

impl Instance {
    /// Bytes of all its files.
    pub fn total_bytes(&self) -> u64 {
        self.bytes.saturating_mul(self.files.unwrap_or(1))
    }

    /// The size of the file itself, where it is one: of one that ranks share, all of it.
    pub fn file_bytes(&self) -> u64 {
        self.bytes.saturating_mul(self.shared.map_or(1, |shared| shared.ranks))
    }

    /// Space that all its files take. A trial on many files makes as many names again.
    pub fn space_bytes(&self) -> u64 {
        space_of(self.tree.as_ref(), self.files, self.bytes)
    }

    /// Inodes that are made for it: the files of a tree, its directories, and as many names again
    /// for a trial.
    pub fn inodes(&self) -> u64 {
        self.files.map_or(1, |files| files.saturating_mul(2).saturating_add(4))
    }
}

/// What a plan costs, before it starts.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Cost {
    /// Expected time, all in.
    pub time_ns: u64,
    /// Bytes written in all.
    pub bytes_written: u64,
    /// Greatest space taken at a time.
    pub space_bytes: u64,
    /// Steady rounds that are expected to fit, on a slow machine.
    pub rounds: u32,
    /// The same on a fast one.
    pub rounds_at_best: u32,
    /// What it needs that an ordinary person may not have.
    pub privileges: Vec<String>,
}
