//! How it is done: one file each. A new method is its own file (copy `skeleton.rs`) and one line
//! in the list below; conformance tests then run it by themselves.

mod access;
mod buffer;
pub mod consume;
pub mod copy;
mod fill;
mod histogram;
mod io_uring;
mod io_uring_write;
pub mod latency;
mod mapping;
mod measured_window;
mod mmap;
mod mmap_advice;
mod mmap_populate;
mod mmap_write;
mod null;
pub mod order;
mod ordered_blocks;
mod partition;
mod pread;
mod preadv2;
mod pwrite;
mod read;
mod read_call;
mod read_loop;
mod readv;
mod sendfile;
#[cfg(test)]
mod skeleton;
mod splice;
mod start_barrier;
mod stop;
pub mod sync;
mod target;
mod worker_threads;
mod write;
mod write_call;
mod write_loop;
mod write_rest;
mod writev;

pub use access::{Access, open_flags, open_for_reading};
pub use buffer::Buffer;
pub use consume::Partial;
pub use fill::{Pool, fill};
pub use histogram::Histogram;
pub use latency::{Latencies, Unwatched, Watch, Watched};
pub use measured_window::{MeasuredWindow, NoWindow};
pub use partition::{Layout, Partition, ReadJob, Stop};
pub use read_loop::Outcome;
pub use start_barrier::StartBarrier;
pub use target::WriteJob;
pub use worker_threads::run as run_threads;
pub use write_loop::{Times, Written, fault as write_fault};

use iolab_model::catalog::{AxisWord, Levels, Part, Pattern, Sync, Target};
use iolab_model::result::Fault;

/// A method: what it says of itself and what it can do. A field is empty where it cannot.
#[derive(Debug)]
pub struct Method {
    /// Its description.
    pub part: Part,
    /// How it reads a file.
    pub read: Option<ReadEntry>,
    /// How it writes a file.
    pub write: Option<WriteEntry>,
}

/// How a method reads a file.
#[derive(Debug)]
pub struct ReadEntry {
    /// Bytes of one operation, given the block asked for and the pattern: the block itself, but
    /// for methods that have none.
    pub step_bytes: fn(block: u64, pattern: Pattern) -> u64,
    /// Whether what it hands on are the file's bytes (`null` has none).
    pub real: bool,
    /// Reads; the loop inside is chosen once.
    pub run: fn(&ReadJob, &mut dyn MeasuredWindow) -> Result<Outcome, Fault>,
}

impl ReadEntry {
    /// With operations that are not the block.
    pub(super) const fn in_steps(self, step_bytes: fn(u64, Pattern) -> u64) -> ReadEntry {
        ReadEntry { step_bytes, ..self }
    }

    /// What it hands on are not the file's bytes.
    pub(super) const fn without_bytes(self) -> ReadEntry {
        ReadEntry { real: false, ..self }
    }
}

/// A level that a method cannot write with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lack {
    /// A way to make data durable.
    Sync(Sync),
    /// A kind of file.
    Target(Target),
}

impl Lack {
    /// Whether these levels ask for it.
    pub fn is_asked(self, levels: &Levels) -> bool {
        match self {
            Lack::Sync(sync) => levels.word() == Some(sync),
            Lack::Target(target) => levels.word() == Some(target),
        }
    }
}

impl std::fmt::Display for Lack {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Lack::Sync(sync) => write!(f, "{} {sync}", Sync::FACTOR),
            Lack::Target(target) => write!(f, "{} {target}", Target::FACTOR),
        }
    }
}

/// How a method writes a file.
#[derive(Debug)]
pub struct WriteEntry {
    /// Bytes of one operation, as for reading.
    pub step_bytes: fn(block: u64, pattern: Pattern) -> u64,
    /// Whether there is a file with the bytes afterwards (`null` leaves none).
    pub real: bool,
    /// Levels that it cannot be combined with, each with the reason and what to do instead.
    pub lacks: &'static [(Lack, &'static str)],
    /// Writes; the loop inside is chosen once.
    pub run: fn(&WriteJob<'_>, &mut dyn MeasuredWindow) -> Result<Written, Fault>,
}

impl WriteEntry {
    /// With operations that are not the block.
    pub(super) const fn in_steps(self, step_bytes: fn(u64, Pattern) -> u64) -> WriteEntry {
        WriteEntry { step_bytes, ..self }
    }

    /// It leaves no file with the bytes.
    pub(super) const fn without_bytes(self) -> WriteEntry {
        WriteEntry { real: false, ..self }
    }

    /// Levels that it cannot be combined with.
    pub(super) const fn lacking(self, lacks: &'static [(Lack, &'static str)]) -> WriteEntry {
        WriteEntry { lacks, ..self }
    }
}

/// The list.
const ALL: [&Method; 18] = [
    &read::METHOD,
    &pread::METHOD,
    &write::METHOD,
    &pwrite::METHOD,
    &writev::METHOD,
    &mmap::METHOD,
    &mmap_populate::METHOD,
    &io_uring::METHOD,
    &readv::METHOD,
    &preadv2::METHOD,
    &preadv2::DONTCACHE,
    &mmap_advice::SEQUENTIAL,
    &mmap_advice::RANDOM,
    &mmap_advice::WILLNEED,
    &mmap_advice::POPULATE_READ,
    &splice::METHOD,
    &sendfile::METHOD,
    &null::METHOD,
];

/// Every method's description.
pub const METHODS: &[Part] = &each_of!(ALL.part);

/// The method of this name.
pub fn find(id: &str) -> Option<&'static Method> {
    ALL.into_iter().find(|method| method.part.id == id)
}

/// Whether a block is a step: what [`ReadEntry::step_bytes`] is for most.
fn the_block(block: u64, _: Pattern) -> u64 {
    block
}
