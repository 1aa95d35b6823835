//! The runs that a survey of a directory is made of.

use iolab_model::catalog::{Factor, Level};
use iolab_model::result::Topic;

/// A kibibyte.
pub const KIB: u64 = 1 << 10;
/// A mebibyte.
pub const MIB: u64 = 1 << 20;

/// One run of the survey.
pub struct SurveyPart {
    /// What it is about.
    pub topic: Topic,
    /// The same, in words.
    pub title: &'static str,
    /// Of which workload.
    pub workload: &'static str,
    /// Share of the budget; together a little less than all of it, for files are made and
    /// agents started too.
    pub share: f64,
    /// The axes that it names, with files of at most this size.
    pub levels: fn(greatest_bytes: u64) -> Vec<(Factor, Vec<Level>)>,
}

/// In the order in which they are run.
pub const PARTS: [SurveyPart; 9] = [
    SurveyPart {
        topic: Topic::Calls,
        title: "what a system call costs",
        workload: "syscall",
        share: 0.08,
        levels: |_| {
            let calls = ["lseek", "read", "write", "fstat", "open-close", "chmod"];
            vec![(Factor::Operation, words(&calls))]
        },
    },
    SurveyPart {
        topic: Topic::Metadata,
        title: "what metadata calls cost",
        workload: "meta",
        share: 0.07,
        levels: |_| {
            let calls = ["create", "stat", "rename", "readdir", "unlink"];
            vec![(Factor::Operation, words(&calls)), (Factor::Files, numbers(&[200]))]
        },
    },
    SurveyPart {
        topic: Topic::Warm,
        title: "block sizes, cached",
        workload: "read",
        share: 0.14,
        levels: |greatest| {
            let blocks = [4 * KIB, 16 * KIB, 64 * KIB, 256 * KIB, MIB];
            read(&["read"], &blocks, "warm", &[greatest.min(256 * MIB)])
        },
    },
    SurveyPart {
        topic: Topic::Mapping,
        title: "read against mmap by file size",
        workload: "read",
        share: 0.14,
        levels: |greatest| {
            let sizes = [16 * KIB, 256 * KIB, 4 * MIB, 64 * MIB];
            let sizes: Vec<u64> = sizes.into_iter().filter(|bytes| *bytes <= greatest).collect();
            read(&["read", "mmap"], &[64 * KIB], "warm", &sizes)
        },
    },
    SurveyPart {
        topic: Topic::Cold,
        title: "block sizes, from the device",
        workload: "read",
        share: 0.16,
        levels: |greatest| {
            read(&["read"], &[4 * KIB, 64 * KIB, MIB], "cold", &[greatest.min(128 * MIB)])
        },
    },
    SurveyPart {
        topic: Topic::Durable,
        title: "block sizes, until the data are durable",
        workload: "write",
        share: 0.12,
        levels: |greatest| {
            vec![
                (Factor::Method, words(&["write"])),
                (Factor::Block, numbers(&[4 * KIB, 64 * KIB, MIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Synced,
        title: "what it costs to have each block safe",
        workload: "write",
        share: 0.07,
        levels: |greatest| {
            vec![
                (Factor::Method, words(&["write"])),
                (Factor::Block, numbers(&[4 * KIB])),
                (Factor::Sync, words(&["fsync", "dsync"])),
                (Factor::FileSize, numbers(&[greatest.min(MIB)])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Small,
        title: "small files",
        workload: "files",
        share: 0.05,
        levels: |_| {
            vec![
                (Factor::Operation, words(&["read"])),
                (Factor::Files, numbers(&[300])),
                (Factor::FileSize, numbers(&[16 * KIB])),
                (Factor::Threads, numbers(&[1, 2])),
            ]
        },
    },
    SurveyPart {
        topic: Topic::Copying,
        title: "ways to copy",
        workload: "copy",
        share: 0.12,
        levels: |greatest| {
            let methods = ["read-write", "copy_file_range", "sendfile", "reflink"];
            vec![
                (Factor::Method, words(&methods)),
                (Factor::Block, numbers(&[4 * KIB, 128 * KIB])),
                (Factor::FileSize, numbers(&[greatest.min(32 * MIB)])),
            ]
        },
    },
];

fn words(texts: &[&str]) -> Vec<Level> {
    texts.iter().copied().map(Level::word).collect()
}

fn numbers(values: &[u64]) -> Vec<Level> {
    values.iter().copied().map(Level::Number).collect()
}

fn read(methods: &[&str], blocks: &[u64], cache: &str, sizes: &[u64]) -> Vec<(Factor, Vec<Level>)> {
    vec![
        (Factor::Method, words(methods)),
        (Factor::Block, numbers(blocks)),
        (Factor::Cache, words(&[cache])),
        (Factor::FileSize, numbers(sizes)),
    ]
}
