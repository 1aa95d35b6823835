//! The workload `syscall`: the price of one call, rung by rung.

use crate::catalog::{Capability, Factor, FactorUse, Part, PartKind, WorkloadInfo};

/// How `syscall` describes itself.
pub const INFO: WorkloadInfo = WorkloadInfo {
    part: Part {
        id: "syscall",
        kind: PartKind::Workload,
        summary: "the price of one call: clock, getppid, lseek, read, … chmod",
        capabilities: &[],
        ignores: &[],
        needs: "",
        by_name_only: false,
    },
    factors: &[
        FactorUse { factor: Factor::Operation, default: "", words: &[] },
        FactorUse { factor: Factor::Block, default: "1", words: &[] },
        FactorUse { factor: Factor::IdleThreads, default: "0", words: &[] },
    ],
    capability: Capability::Call,
    sweep: true,
};
