//! The workload `files`: many files read, written, copied, created, looked at or removed by
//! several workers.
//!
//! An operation is one file. *read* opens it, reads to its end and closes it; *write* makes a new
//! file (`O_EXCL`) with its bytes; *create* the same without bytes; *copy* makes a new file with
//! another's bytes; *stat* is `fstatat`, *remove* `unlinkat`. Directories are made beforehand.
//! Every worker has a thread, the directory it is in, and names relative to it; the table of
//! descriptors is one for all, as in any program with threads, or each worker's own.

mod assign_files;
mod build;
mod bytes;
mod errors;
mod found;
mod intact;
mod listing;
mod operation;
mod scan;
mod settings;
mod setup_teardown;
mod step_timer;
mod task;
#[cfg(test)]
mod tests;
mod verify;
mod walk;
mod worker_threads;

pub use assign_files::segments;
pub use build::{MAKE_BLOCK, clear, make_directories, make_directories_apart, make_files};
pub use found::{Found, LeftOut};
pub use intact::is_intact;
pub use listing::{Cursor, File, Listing, Opener};
pub use operation::OPERATIONS;
pub use scan::scan;

use iolab_model::catalog::{
    Atime, CacheState, Capability, Consume, Descriptors, Factor, FactorUse, FileOperation, Fill,
    Levels, Part, Share, Shift, Switch, Sync, WorkloadId, WorkloadInfo,
};
use iolab_model::result::{Fault, Measurement};
use iolab_model::tree::SHAPES;

use self::settings::Settings;
use super::{SetupTeardown, Trial, Workload};
use crate::method::MeasuredWindow;

/// The workload.
pub const WORKLOAD: Workload = Workload {
    info: INFO,
    run,
    visits: |_| Ok(None),
    around: SetupTeardown {
        prepare: setup_teardown::prepare,
        verify: setup_teardown::verify,
        is_spoilt: setup_teardown::is_spoilt,
        clear: setup_teardown::clear,
        lay: setup_teardown::lay,
        lift: setup_teardown::lift,
    },
    impossible,
};

const INFO: WorkloadInfo = WorkloadInfo {
    part: Part::workload(
        WorkloadId::Files.word(),
        "many files: read, write, copy, create, stat or remove them with several workers",
    ),
    factors: &[
        FactorUse::new(Factor::File, ""),
        FactorUse::new(Factor::Operation, FileOperation::Read.word()),
        FactorUse::new(Factor::Files, "1000"),
        FactorUse::new(Factor::FileSize, "64Ki"),
        FactorUse::new(Factor::Sizes, ""),
        FactorUse::new(Factor::Layout, "sharded").among(&SHAPES),
        FactorUse::new(Factor::Host, ""),
        FactorUse::new(Factor::Place, ""),
        FactorUse::new(Factor::Method, "copy_file_range,read-write,sendfile").giving_way(),
        FactorUse::new(Factor::Contender, ""),
        FactorUse::new(Factor::Block, "128Ki"),
        FactorUse::new(Factor::Threads, "1,2,4").giving_way(),
        FactorUse::new(Factor::Ranks, ""),
        FactorUse::new(Factor::Share, "").among(Share::OF_TREE),
        FactorUse::new(Factor::Shift, "").among(Shift::WORDS),
        FactorUse::new(Factor::Consume, Consume::Xor.word())
            .among(&[Consume::None.word(), Consume::Xor.word()]),
        FactorUse::new(Factor::Cache, CacheState::Warm.word()).among(CacheState::WORDS),
        FactorUse::new(Factor::Sync, Sync::OF_FILES[0]).among(Sync::OF_FILES),
        FactorUse::new(Factor::Fill, Fill::USUAL).among(Fill::OF_FILES),
        FactorUse::new(Factor::Latency, Switch::Off.word()).among(Switch::WORDS),
        // No levels where none are asked for: runs that were recorded before stay comparable.
        FactorUse::new(Factor::Atime, "").among(Atime::WORDS),
        FactorUse::new(Factor::Descriptors, "").among(Descriptors::WORDS),
    ],
    capability: Capability::Files,
    sweep: false,
    examples: EXAMPLES,
};

const EXAMPLES: &[(&str, &str)] = &[
    ("files read photos --threads 1..8:x2", "how many workers read this tree fastest"),
    (
        "files copy photos --method copy_file_range,read-write",
        "which way copies it fastest; the copy is made here and removed",
    ),
    (
        "files write --files 1000 --sizes lognormal:64Ki:1.5 --sync none,each",
        "what it costs to make each file durable",
    ),
    (
        "files create,stat,remove --files 10000 --sizes empty --layout shared,sharded",
        "does one large directory cost more than many",
    ),
    (
        "files read,stat /scratch/me --cache warm --shift auto --mpi",
        "under mpirun: each rank on files that one on another machine made",
    ),
];

/// Whether a trial looks at files and reads no data of theirs.
pub fn looks_only(levels: &Levels) -> bool {
    levels.word() == Some(FileOperation::Stat)
}

/// Why these levels make no trial together, and what to do instead.
pub(super) fn impossible(levels: &Levels) -> Option<String> {
    let cold = levels.word() == Some(CacheState::Cold);
    (cold && looks_only(levels)).then(|| {
        "stat reads no data, and --cache cold empties data alone: take --cache remount with a \
         --place, which empties names and attributes too, or --cache warm"
            .into()
    })
}

fn run(trial: &Trial<'_>, window: &mut dyn MeasuredWindow) -> Result<Measurement, Fault> {
    let settings = Settings::of(trial)?;
    operation::run(&settings, window)
}
