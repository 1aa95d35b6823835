//! What is done: one file each.

mod ladder;
mod read;
mod syscall;

use serde::{Deserialize, Serialize};

use crate::catalog::{Part, WorkloadInfo};

/// Every workload.
pub const WORKLOADS: &[WorkloadInfo] = &[read::INFO, syscall::INFO];

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
