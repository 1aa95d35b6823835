//! XFS: B-trees, delayed allocation, a log of metadata.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "xfs",
    summary: "B-trees, delayed allocation, log",
    mkfs: Tool { command: "mkfs.xfs", package: "xfsprogs" },
    arguments: &["-q", "-f", "-K"],
    least_bytes: 300 << 20,
    most_bytes: 1 << 60,
    block_bytes: 4096,
    module: "xfs",
    note: "",
};
