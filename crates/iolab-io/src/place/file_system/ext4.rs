//! ext4: extents, delayed allocation, a journal of metadata.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "ext4",
    summary: "extents, delayed allocation, journal",
    mkfs: Tool { command: "mkfs.ext4", package: "e2fsprogs" },
    arguments: &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"],
    least_bytes: 2 << 20,
    most_bytes: 1 << 60,
    block_bytes: 4096,
    module: "ext4",
    note: "",
};
