//! The loop without I/O: the same steps over a buffer that stays where it is. With a consumer it
//! is the consumer's own speed in the caches, the ceiling of every reading method.

use std::hint::black_box;

use rustix::fd::OwnedFd;

use super::Method;
use super::buffer::Buffer;
use super::consume::Fold;
use super::fill::Pool;
use super::latency::Watch;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::read_loop::{self, Reader, Sink};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("null", "the loop without I/O: the floor of iolab itself")
        .with(&[Capability::Read, Capability::Write])
        .ignoring(&[
            Factor::Atime,
            Factor::BufferOffset,
            Factor::Cache,
            Factor::Direct,
            Factor::QueueDepth,
            Factor::Readahead,
        ])
        .by_name_only(),
    read: Some(read_loop::entry::<Null>().without_bytes()),
    write: Some(write_loop::entry::<NullWrite>().without_bytes()),
};

struct Null(Buffer);

impl Reader for Null {
    fn open(_: &ReadJob<'_>, partition: &Partition) -> Result<Null, Stop> {
        Ok(Null(Buffer::new(partition.step_bytes)?))
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let buffer = self.0.as_mut();
        let (partition, mut moved) = (range.partition, range.unmoved());
        for block in range.blocks() {
            let n = partition.block_bytes(black_box(block));
            let began = to.watch.begin();
            let bytes = &black_box(&*buffer)[..n as usize];
            to.watch.end(began);
            to.fold.block(partition.offset(block), bytes);
            moved.bytes += n;
        }
        Ok(moved)
    }
}

struct NullWrite;

impl Writer for NullWrite {
    type Rest = ();

    fn open(_: &WriteJob<'_>, _: &Partition) -> Result<NullWrite, Stop> {
        Ok(NullWrite)
    }

    fn write_blocks<O: AccessOrder, F: Follow>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        pool: &Pool,
        _: &mut F,
    ) -> Result<Moved, Stop> {
        let (partition, mut moved) = (range.partition, range.unmoved());
        let in_file = partition.indices();
        for block in range.blocks() {
            let n = partition.block_bytes(black_box(block));
            black_box(&pool.block(in_file(block))[..n as usize]);
            moved.bytes += n;
        }
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (None, ())
    }
}
