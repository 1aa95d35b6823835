//! Map with `MAP_POPULATE`, touch, unmap: the pages come in inside mmap(2), all at once.
//! Operations are those of `mmap`.

use std::ops::Range;

use rustix::fd::OwnedFd;

use super::consume::Fold;
use super::latency::Watch;
use super::mapping::window_or_page;
use super::mmap::{Bring, open_to_map, touch_at_once};
use super::order::AccessOrder;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::read_loop::{self, Reader, Sink};
use super::{Method, ReadEntry};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "mmap-populate",
        kind: PartKind::Method,
        summary: "map with MAP_POPULATE: faults are taken inside mmap",
        capabilities: &[Capability::Read],
        ignores: &[Factor::Block, Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: Some(ReadEntry {
        step_bytes: window_or_page,
        real: true,
        run: read_loop::read::<Populate>,
    }),
    write: None,
};

struct Populate(OwnedFd);

impl Reader for Populate {
    fn open(job: &ReadJob<'_>, _: &Partition) -> Result<Populate, Stop> {
        open_to_map(job).map(Populate)
    }

    fn block_range<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        touch_at_once(&self.0, partition, order, block_range, to, Bring::Populate)
    }
}
