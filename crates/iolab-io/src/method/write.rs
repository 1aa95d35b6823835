//! `write(2)` at the file position. In an order that is not sequential every write follows an
//! `lseek(2)`, as a program would have to do it.

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::write_call::{Plain, WriteCall};
use super::{Method, write_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("write", "write(2) at the file position")
        .with(&[Capability::Write, Capability::Direct, Capability::Surveyed])
        .ignoring(&[Factor::QueueDepth]),
    read: None,
    write: Some(write_loop::entry::<Plain<Write>>()),
};

struct Write;

impl WriteCall for Write {
    const AT_POSITION: bool = true;

    fn new(_: u64) -> Write {
        Write
    }

    #[inline(always)]
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8], _: u64) -> Result<usize, Errno> {
        rustix::io::write(file, bytes)
    }
}
