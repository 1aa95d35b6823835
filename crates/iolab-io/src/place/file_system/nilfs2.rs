//! NILFS2: log-structured, every write a checkpoint.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "nilfs2",
    summary: "log-structured, continuous snapshots",
    mkfs: Tool { command: "mkfs.nilfs2", package: "nilfs-tools" },
    arguments: &["-q", "-f", "-K"],
    least_bytes: 134 << 20,
    most_bytes: 1 << 60,
    block_bytes: 4096,
    module: "nilfs2",
    note: "the garbage collector of nilfs2 (nilfs_cleanerd) does not run",
};
