//! `read(2)` at the file position. In an order that is not sequential every read follows an
//! `lseek(2)`, as a program would have to do it.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::read_call::{Buffered, ReadCall};
use super::{Method, read_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("read", "read(2) at the file position")
        .with(&[Capability::Read, Capability::Direct, Capability::Surveyed])
        .ignoring(&[Factor::QueueDepth]),
    read: Some(read_loop::entry::<Buffered<Read>>()),
    write: None,
};

struct Read;

impl ReadCall for Read {
    const AT_POSITION: bool = true;

    fn new(_: u64) -> Read {
        Read
    }

    #[inline(always)]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], _: u64) -> Result<usize, Errno> {
        rustix::io::read(file, buffer)
    }
}
