//! BFS: SCO's boot file system; 512-byte blocks, flat, contiguous files.

use super::FileSystem;
use crate::place::tool::Tool;

/// What it is and how it is made.
pub static KIND: FileSystem = FileSystem {
    id: "bfs",
    summary: "flat, at most 512 files, names of 14 bytes, contiguous",
    mkfs: Tool { command: "mkfs.bfs", package: "util-linux" },
    arguments: &["-N", "512"],
    least_bytes: 1 << 20,
    most_bytes: 4 << 30,
    block_bytes: 512,
    module: "bfs",
    note: "a file that is not the last one moves when it grows; no more than 512 files; fsync may fail with EINVAL",
};
