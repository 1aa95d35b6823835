//! `preadv(2)`: one call fills several buffers. A block is scattered over up to eight of them, each
//! of whole pages, so that a block of a page is one buffer.

use std::io::IoSliceMut;
use std::ops::Range;

use rustix::fd::OwnedFd;

use super::access::open_with;
use super::buffer::Buffer;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{self, Reader, Sink};
use super::{Method, ReadEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "readv",
        kind: PartKind::Method,
        summary: "preadv(2): one call, up to eight buffers of whole pages",
        capabilities: &[Capability::Read, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: true,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: read_loop::read::<Readv> }),
    write: None,
};

/// Buffers of one call.
const PIECES: usize = 8;
const PAGE_BYTES: usize = 4096;

struct Readv {
    file: OwnedFd,
    buffer: Buffer,
    piece_bytes: usize,
}

impl Reader for Readv {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Readv, Stop> {
        let buffer = Buffer::new(partition.step_bytes)?;
        let piece_bytes =
            (partition.step_bytes as usize).div_ceil(PIECES).next_multiple_of(PAGE_BYTES);
        Ok(Readv {
            file: open_with(job.path, job.access, partition.step_bytes)?,
            buffer,
            piece_bytes,
        })
    }

    fn block_range<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer) = (&self.file, self.buffer.as_mut());
        let pieces = buffer.len().div_ceil(self.piece_bytes);
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = to.watch.begin();
            let mut rest = buffer.chunks_mut(self.piece_bytes);
            let mut vector: [IoSliceMut<'_>; PIECES] =
                std::array::from_fn(|_| IoSliceMut::new(rest.next().unwrap_or_default()));
            let n = match rustix::io::preadv(file, &mut vector[..pieces], at) {
                Ok(n) if n == buffer.len() => n,
                first => {
                    let again = |rest: &mut [u8], at| rustix::io::pread(file, rest, at);
                    complete(first, buffer, at, partition.block_bytes(block), again)?
                }
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}
