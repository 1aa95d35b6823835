//! `preadv(2)`: one call fills several buffers. A block is scattered over up to eight of them, each
//! of whole pages, so that a block of a page is one buffer.

use std::io::IoSliceMut;

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::read_call::{Buffered, ReadCall};
use super::{Method, read_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("readv", "preadv(2): one call, up to eight buffers of whole pages")
        .with(&[Capability::Read, Capability::Direct])
        .ignoring(&[Factor::QueueDepth])
        .by_name_only(),
    read: Some(read_loop::entry::<Buffered<Readv>>()),
    write: None,
};

/// Buffers of one call.
const PIECES: usize = 8;
const PAGE_BYTES: usize = 4096;

struct Readv {
    pieces: usize,
    piece_bytes: usize,
}

impl ReadCall for Readv {
    fn new(step_bytes: u64) -> Readv {
        let piece_bytes = (step_bytes as usize).div_ceil(PIECES).next_multiple_of(PAGE_BYTES);
        Readv { pieces: (step_bytes as usize).div_ceil(piece_bytes), piece_bytes }
    }

    #[inline(always)]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<usize, Errno> {
        let mut rest = buffer.chunks_mut(self.piece_bytes);
        let mut vector: [IoSliceMut<'_>; PIECES] =
            std::array::from_fn(|_| IoSliceMut::new(rest.next().unwrap_or_default()));
        rustix::io::preadv(file, &mut vector[..self.pieces], at)
    }
}
