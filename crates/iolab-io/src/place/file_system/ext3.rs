//! ext3: ext2 with a journal, still without extents. Served by ext4's driver.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "ext3",
    summary: "a journal, no extents; served by ext4's driver",
    mkfs: Tool { command: "mkfs.ext3", package: "e2fsprogs" },
    arguments: &["-q", "-F", "-E", "lazy_itable_init=0,lazy_journal_init=0,nodiscard"],
    least_bytes: 2 << 20,
    most_bytes: 16 << 40,
    block_bytes: 4096,
    module: "ext4",
    note: "",
};
