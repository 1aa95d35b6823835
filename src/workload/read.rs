//! The workload `read`: bytes of one file, brought to the program and consumed.

use crate::catalog::{Capability, Factor, FactorUse, Part, PartKind, WorkloadInfo};

/// How `read` describes itself.
pub const INFO: WorkloadInfo = WorkloadInfo {
    part: Part {
        id: "read",
        kind: PartKind::Workload,
        summary: "read a file: method × block × pattern × threads, every byte consumed",
        capabilities: &[],
        ignores: &[],
        needs: "",
        by_name_only: false,
    },
    factors: &[
        FactorUse { factor: Factor::File, default: "", words: &[] },
        FactorUse { factor: Factor::FileSize, default: "", words: &[] },
        FactorUse { factor: Factor::Method, default: "", words: &[] },
        FactorUse { factor: Factor::Block, default: "4Ki,16Ki,64Ki,256Ki,1Mi", words: &[] },
        FactorUse { factor: Factor::Threads, default: "1", words: &[] },
        FactorUse {
            factor: Factor::Pattern,
            default: "sequential",
            // `stride:N` stands for any whole number of blocks from 2 on.
            words: &["sequential", "random", "reverse", "stride:N"],
        },
        FactorUse {
            factor: Factor::Consume,
            default: "xor",
            words: &["none", "xor", "histogram", "crc32c"],
        },
        FactorUse { factor: Factor::Cache, default: "warm", words: &["cold", "warm", "any"] },
    ],
    capability: Capability::Read,
    sweep: false,
};
