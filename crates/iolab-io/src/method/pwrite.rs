//! `pwrite(2)` at an offset: the file position is neither used nor locked. On a file that is
//! appended to, Linux ignores the offset (pwrite(2), BUGS).

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::write_call::{Plain, WriteCall};
use super::{Method, write_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("pwrite", "pwrite(2) at an offset; the file position is not used")
        .with(&[Capability::Write, Capability::Direct])
        .ignoring(&[Factor::QueueDepth]),
    read: None,
    write: Some(write_loop::entry::<Plain<Pwrite>>()),
};

struct Pwrite;

impl WriteCall for Pwrite {
    fn new(_: u64) -> Pwrite {
        Pwrite
    }

    #[inline(always)]
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Result<usize, Errno> {
        rustix::io::pwrite(file, bytes, at)
    }
}
