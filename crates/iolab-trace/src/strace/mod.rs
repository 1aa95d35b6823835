//! Logs of strace, read as they come: whatever is in them, the memory that they take has its limit.

mod applied;
mod apply;
mod descriptors;
mod errors;
mod flags;
mod known;
mod line;
mod mapped;
mod memory;
mod moving;
mod named;
mod names;
mod reader;
mod state;
#[cfg(test)]
mod tests;
mod words;

pub use known::CALLS;
pub use memory::learn_memory;
pub use reader::{looks_like_log, parse};

/// The calls of which a log tells what memory reads go to, for [`learn_memory`].
pub const CALLS_OF_MEMORY: &[&str] = &[
    "read", "pread64", "readv", "preadv", "preadv2", "brk", "munmap", "madvise", "execve",
    "execveat", "clone", "clone3", "vfork",
];

/// Those of them that must stand there raw (`-e raw=…`): as numbers, the addresses of buffers among them.
pub const RAW_CALLS: &[&str] = &["read", "pread64"];

/// What memory is given to. Beyond it reading ends with an error that names the line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Calls about files: 64 bytes each.
    pub calls: u64,
    /// Bytes of names, 64 more for each.
    pub name_bytes: u64,
    /// Descriptors that are open at a time, in all processes.
    pub descriptors: u64,
    /// Threads, ever.
    pub threads: u64,
    /// Bytes of a line; a longer one is passed over and counted.
    pub line_bytes: u64,
    /// Bytes of calls that were begun and have not come back, of all threads.
    pub begun_bytes: u64,
}

impl Default for Limits {
    /// About a gigabyte at most.
    fn default() -> Limits {
        Limits {
            calls: 10_000_000,
            name_bytes: 128 << 20,
            descriptors: 1 << 20,
            threads: 1 << 20,
            line_bytes: 1 << 20,
            begun_bytes: 32 << 20,
        }
    }
}
