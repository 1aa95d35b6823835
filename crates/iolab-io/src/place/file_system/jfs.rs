//! JFS: extents and a journal of metadata, from OS/2 and AIX.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "jfs",
    summary: "extents, a journal, from AIX",
    mkfs: Tool { command: "mkfs.jfs", package: "jfsutils" },
    arguments: &["-q"],
    least_bytes: 16 << 20,
    most_bytes: 1 << 50,
    block_bytes: 4096,
    module: "jfs",
    note: "",
};
