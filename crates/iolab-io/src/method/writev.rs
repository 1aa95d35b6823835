//! `pwritev(2)`: one call gathers several buffers. A block is gathered from up to eight of them,
//! each of whole pages, so that a block of a page is one buffer.

use std::io::IoSlice;
use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;

use super::fill::Pool;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use super::write_rest::complete;
use super::{Method, WriteEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "writev",
        kind: PartKind::Method,
        summary: "pwritev(2): one call, up to eight buffers of whole pages",
        capabilities: &[Capability::Write, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: true,
    },
    read: None,
    write: Some(WriteEntry {
        step_bytes: the_block,
        real: true,
        lacks: &[],
        run: write_loop::write::<Writev>,
    }),
};

/// Buffers of one call.
const PIECES: usize = 8;
const PAGE_BYTES: usize = 4096;

struct Writev(OwnedFd);

impl Writer for Writev {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Partition) -> Result<Writev, Stop> {
        Ok(Writev(job.open(OFlags::WRONLY)?))
    }

    fn block_range<O: AccessOrder, F: Follow>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        let file = self.0.as_fd();
        let first = partition.first_block();
        let piece_bytes =
            (partition.step_bytes as usize).div_ceil(PIECES).next_multiple_of(PAGE_BYTES);
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = follow.before();
            let bytes = &pool.block(first + block)[..partition.block_bytes(block) as usize];
            let mut rest = bytes.chunks(piece_bytes);
            let vector: [IoSlice<'_>; PIECES] =
                std::array::from_fn(|_| IoSlice::new(rest.next().unwrap_or_default()));
            let pieces = bytes.len().div_ceil(piece_bytes).max(1);
            match rustix::io::pwritev(file, &vector[..pieces], at) {
                Ok(n) if n == bytes.len() => {}
                other => complete(file, other, bytes, at)?,
            }
            follow.after(file, began)?;
            moved.bytes += bytes.len() as u64;
        }
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (Some(self.0), ())
    }
}
