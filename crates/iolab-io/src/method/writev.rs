//! `pwritev(2)`: one call gathers several buffers. A block is gathered from up to eight of them,
//! each of whole pages, so that a block of a page is one buffer.

use std::io::IoSlice;

use rustix::fd::BorrowedFd;
use rustix::io::Errno;

use super::write_call::{Plain, WriteCall};
use super::{Method, write_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("writev", "pwritev(2): one call, up to eight buffers of whole pages")
        .with(&[Capability::Write, Capability::Direct])
        .ignoring(&[Factor::QueueDepth])
        .by_name_only(),
    read: None,
    write: Some(write_loop::entry::<Plain<Writev>>()),
};

/// Buffers of one call.
const PIECES: usize = 8;
const PAGE_BYTES: usize = 4096;

struct Writev {
    piece_bytes: usize,
}

impl WriteCall for Writev {
    fn new(step_bytes: u64) -> Writev {
        let piece_bytes = (step_bytes as usize).div_ceil(PIECES).next_multiple_of(PAGE_BYTES);
        Writev { piece_bytes }
    }

    #[inline(always)]
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Result<usize, Errno> {
        let mut rest = bytes.chunks(self.piece_bytes);
        let vector: [IoSlice<'_>; PIECES] =
            std::array::from_fn(|_| IoSlice::new(rest.next().unwrap_or_default()));
        let pieces = bytes.len().div_ceil(self.piece_bytes).max(1);
        rustix::io::pwritev(file, &vector[..pieces], at)
    }
}
