//! btrfs: copy-on-write, checksums, compression on demand.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "btrfs",
    summary: "copy-on-write, checksums, clones",
    mkfs: Tool { command: "mkfs.btrfs", package: "btrfs-progs" },
    arguments: &["-q", "-f", "-K"],
    least_bytes: 109 << 20,
    most_bytes: 1 << 60,
    block_bytes: 4096,
    module: "btrfs",
    note: "",
};
