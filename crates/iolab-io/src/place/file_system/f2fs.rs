//! F2FS: a log-structured file system for flash.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "f2fs",
    summary: "log-structured, for flash",
    mkfs: Tool { command: "mkfs.f2fs", package: "f2fs-tools" },
    arguments: &["-q", "-f", "-t", "0"],
    least_bytes: 64 << 20,
    most_bytes: 16 << 40,
    block_bytes: 4096,
    module: "f2fs",
    note: "",
};
