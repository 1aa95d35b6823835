//! The loop without I/O: the same steps over a buffer that stays where it is. With a consumer it
//! is the consumer's own speed in the caches, the ceiling of every reading method.

use std::hint::black_box;
use std::ops::Range;

use rustix::fd::OwnedFd;

use super::buffer::Buffer;
use super::consume::Fold;
use super::drive::{self, Reader, Sink};
use super::fill::Pool;
use super::lane::{Lane, Moved, ReadJob, Stop};
use super::latency::Watch;
use super::order::Order;
use super::sync::Follow;
use super::target::WriteJob;
use super::write_drive::{self, Writer};
use super::{Method, ReadEntry, WriteEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "null",
        kind: PartKind::Method,
        summary: "the loop without I/O: the floor of iolab itself",
        capabilities: &[Capability::Read, Capability::Write],
        ignores: &[Factor::Cache, Factor::Direct, Factor::QueueDepth, Factor::Readahead],
        needs: "",
        by_name_only: true,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: false, run: drive::read::<Null> }),
    write: Some(WriteEntry {
        step_bytes: the_block,
        real: false,
        lacks: &[],
        run: write_drive::write::<NullWrite>,
    }),
};

struct Null(Buffer);

impl Reader for Null {
    fn open(_: &ReadJob<'_>, lane: &Lane) -> Result<Null, Stop> {
        Ok(Null(Buffer::new(lane.step_bytes)?))
    }

    fn leg<O: Order, F: Fold, W: Watch>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let buffer = self.0.as_mut();
        let mut moved = Moved { bytes: 0, operations: leg.end - leg.start };
        for block in order.steps(leg) {
            let n = lane.block_bytes(black_box(block));
            let began = to.watch.begin();
            let bytes = &black_box(&*buffer)[..n as usize];
            to.watch.end(began);
            to.fold.block(lane.offset(block), bytes);
            moved.bytes += n;
        }
        Ok(moved)
    }
}

struct NullWrite;

impl Writer for NullWrite {
    type Rest = ();

    fn open(_: &WriteJob<'_>, _: &Lane) -> Result<NullWrite, Stop> {
        Ok(NullWrite)
    }

    fn leg<O: Order, F: Follow>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        pool: &Pool,
        _: &mut F,
    ) -> Result<Moved, Stop> {
        let first = lane.first_block();
        let mut moved = Moved { bytes: 0, operations: leg.end - leg.start };
        for block in order.steps(leg) {
            let n = lane.block_bytes(black_box(block));
            black_box(&pool.block(first + block)[..n as usize]);
            moved.bytes += n;
        }
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (None, ())
    }
}
