//! `pread(2)` at an offset: the file position is neither used nor locked.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::read_call::{Buffered, ReadCall};
use super::{Method, read_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("pread", "pread(2) at an offset; the file position is not used")
        .with(&[Capability::Read, Capability::Direct])
        .ignoring(&[Factor::QueueDepth]),
    read: Some(read_loop::entry::<Buffered<Pread>>()),
    write: None,
};

struct Pread;

impl ReadCall for Pread {
    fn new(_: u64) -> Pread {
        Pread
    }

    #[inline(always)]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<usize, Errno> {
        rustix::io::pread(file, buffer, at)
    }
}
