//! A small workload to test with, so that tests of the pure rooms do not change with the catalog.

use super::Vocabulary;
use crate::catalog::{Capability, Factor, FactorUse, Part, PartKind, WorkloadInfo};

const fn part(id: &'static str, kind: PartKind, capability: &'static [Capability]) -> Part {
    Part::new(kind, id, "").with(capability)
}

const fn axis(factor: Factor, default: &'static str, words: &'static [&'static str]) -> FactorUse {
    FactorUse { words, ..FactorUse::new(factor, default) }
}

/// Like `read`.
pub const READ: WorkloadInfo = WorkloadInfo {
    part: part("read", PartKind::Workload, &[]),
    factors: &[
        axis(Factor::Host, "", &[]),
        axis(Factor::File, "", &[]),
        axis(Factor::FileSize, "", &[]),
        axis(Factor::Method, "", &[]),
        axis(Factor::Contender, "", &[]),
        axis(Factor::Block, "4Ki,64Ki,1Mi", &[]),
        axis(Factor::Threads, "1", &[]),
        axis(Factor::Pattern, "sequential", &["sequential", "random", "stride:N"]),
        axis(Factor::Cache, "warm", &["cold", "warm", "any"]),
        axis(Factor::Memory, "", &[]),
    ],
    capability: Capability::Read,
    sweep: false,
    examples: &[],
};

/// Like `syscall`.
pub const CALL: WorkloadInfo = WorkloadInfo {
    part: part("syscall", PartKind::Workload, &[]),
    factors: &[
        axis(Factor::Operation, "", &[]),
        axis(Factor::Block, "1", &[]),
        axis(Factor::IdleThreads, "0", &[]),
    ],
    capability: Capability::Call,
    sweep: true,
    examples: &[],
};

/// Methods and operations.
pub const PARTS: &[&Part] = &[
    &part("read", PartKind::Method, &[Capability::Read]),
    &part("pread", PartKind::Method, &[Capability::Read]),
    &Part { ignores: &[Factor::Block], ..part("mmap", PartKind::Method, &[Capability::Read]) },
    &Part {
        ignores: &[Factor::Cache],
        by_name_only: true,
        ..part("null", PartKind::Method, &[Capability::Read])
    },
    &part("sendfile", PartKind::Method, &[Capability::Copy]),
    &Part { ignores: &[Factor::Block], ..part("lseek", PartKind::Operation, &[Capability::Call]) },
    &part("read", PartKind::Operation, &[Capability::Call]),
];

/// The workload that is like `read`, with all parts.
pub fn vocabulary() -> Vocabulary<'static> {
    Vocabulary { info: &READ, parts: PARTS }
}
