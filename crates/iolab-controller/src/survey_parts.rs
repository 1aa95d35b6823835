//! The runs that a survey of a directory is made of.

use iolab_agent::catalog;
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Factor, FileOperation, Level, NamedCall, Sync, WorkloadId,
};
use iolab_model::result::Topic;

/// A kibibyte.
pub const KIB: u64 = 1 << 10;
/// A mebibyte.
pub const MIB: u64 = 1 << 20;

type Axes = Vec<(Factor, Vec<Level>)>;

/// One run of the survey.
pub struct SurveyPart {
    /// What it is about.
    pub topic: Topic,
    /// The same, in words.
    pub title: &'static str,
    /// Of which workload.
    pub workload: WorkloadId,
    /// Share of the budget; all together leave a little for making files and starting agents.
    pub share: f64,
    /// The axes that it names, with files of at most this size.
    pub levels: fn(greatest_bytes: u64) -> Axes,
}

/// In the order in which they are run.
pub const PARTS: [SurveyPart; 9] = [
    SurveyPart {
        topic: Topic::Calls,
        title: "what a system call costs",
        workload: WorkloadId::Syscall,
        share: 0.08,
        levels: |_| {
            use NamedCall::{Chmod, Fstat, Lseek, OpenClose, Read, Write};
            vec![axis(&[Lseek, Read, Write, Fstat, OpenClose, Chmod])]
        },
    },
    SurveyPart {
        topic: Topic::Metadata,
        title: "what metadata calls cost",
        workload: WorkloadId::Meta,
        share: 0.07,
        levels: |_| {
            use NamedCall::{Create, Readdir, Rename, Stat, Unlink};
            vec![axis(&[Create, Stat, Rename, Readdir, Unlink]), (Factor::Files, numbers(&[200]))]
        },
    },
    SurveyPart {
        topic: Topic::Warm,
        title: "block sizes, cached",
        workload: WorkloadId::Read,
        share: 0.14,
        levels: |greatest| {
            let blocks = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB];
            read(plainly(Capability::Read), &blocks, CacheState::Warm, &[greatest.min(256 * MIB)])
        },
    },
    SurveyPart {
        topic: Topic::Mapping,
        title: "read against mmap by file size",
        workload: WorkloadId::Read,
        share: 0.14,
        levels: |greatest| {
            let sizes = [16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB];
            let sizes: Vec<u64> = sizes.into_iter().filter(|bytes| *bytes <= greatest).collect();
            read(methods(Capability::Read), &[64 * KIB], CacheState::Warm, &sizes)
        },
    },
    SurveyPart {
        topic: Topic::Cold,
        title: "block sizes, from the device",
        workload: WorkloadId::Read,
        share: 0.16,
        levels: |greatest| {
            read(
                plainly(Capability::Read),
                &[4 * KIB, 64 * KIB, MIB],
                CacheState::Cold,
                &[greatest.min(128 * MIB)],
            )
        },
    },
    SurveyPart {
        topic: Topic::Durable,
        title: "block sizes, until the data are durable",
        workload: WorkloadId::Write,
        share: 0.12,
        levels: |greatest| {
            vec![
                (Factor::Method, plainly(Capability::Write)),
                (Factor::Block, numbers(&[4 * KIB, 64 * KIB, MIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Synced,
        title: "what it costs to have each block safe",
        workload: WorkloadId::Write,
        share: 0.07,
        levels: |greatest| {
            vec![
                (Factor::Method, plainly(Capability::Write)),
                (Factor::Block, numbers(&[4 * KIB])),
                axis(&[Sync::Fsync, Sync::Dsync]),
                (Factor::FileSize, numbers(&[greatest.min(MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Small,
        title: "small files",
        workload: WorkloadId::Files,
        share: 0.05,
        levels: |_| {
            vec![
                axis(&[FileOperation::Read]),
                (Factor::Files, numbers(&[300])),
                (Factor::FileSize, numbers(&[16 * KIB])),
                (Factor::Threads, numbers(&[1, 2])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Copying,
        title: "ways to copy",
        workload: WorkloadId::Copy,
        share: 0.12,
        levels: |greatest| {
            vec![
                (Factor::Method, methods(Capability::Copy)),
                (Factor::Block, numbers(&[4 * KIB, 128 * KIB, MIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
];

/// Levels of the axis that their type stands for.
fn axis<W: AxisWord>(words: &[W]) -> (Factor, Vec<Level>) {
    (W::FACTOR, words.iter().map(|word| word.level()).collect())
}

/// Methods that stand for their kind.
fn methods(capability: Capability) -> Vec<Level> {
    catalog::surveyed(capability).map(Level::word).collect()
}

/// The loop that people write first.
fn plainly(capability: Capability) -> Vec<Level> {
    vec![Level::word(catalog::plain(capability))]
}

fn numbers(values: &[u64]) -> Vec<Level> {
    values.iter().copied().map(Level::Number).collect()
}

fn read(methods: Vec<Level>, blocks: &[u64], cache: CacheState, sizes: &[u64]) -> Axes {
    vec![
        (Factor::Method, methods),
        (Factor::Block, numbers(blocks)),
        axis(&[cache]),
        (Factor::FileSize, numbers(sizes)),
    ]
}
