//! Map with `MAP_POPULATE`, touch, unmap: the pages come in inside mmap(2), all at once.
//! Operations are those of `mmap`.

use rustix::fd::OwnedFd;

use super::Method;
use super::consume::Fold;
use super::latency::Watch;
use super::mapping::window_or_page;
use super::mmap::{Bring, open_to_map, touch_at_once};
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::read_loop::{self, Reader, Sink};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("mmap-populate", "map with MAP_POPULATE: faults are taken inside mmap")
        .with(&[Capability::Read])
        .ignoring(&[Factor::Block, Factor::QueueDepth, Factor::BufferOffset]),
    read: Some(read_loop::entry::<Populate>().in_steps(window_or_page)),
    write: None,
};

struct Populate(OwnedFd);

impl Reader for Populate {
    fn open(job: &ReadJob<'_>, _: &Partition) -> Result<Populate, Stop> {
        open_to_map(job).map(Populate)
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        touch_at_once(&self.0, range, to, Bring::Populate)
    }
}
