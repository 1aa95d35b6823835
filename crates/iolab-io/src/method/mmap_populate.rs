//! Map with `MAP_POPULATE`, touch, unmap: the pages come in inside mmap(2), all at once.
//! Operations are those of `mmap`.

use std::ops::Range;

use rustix::fd::OwnedFd;

use super::consume::Fold;
use super::drive::{self, Reader, Sink};
use super::lane::{Lane, Moved, ReadJob, Stop};
use super::latency::Watch;
use super::mmap::{Bring, open_to_map, touch_at_once, window_or_page};
use super::order::Order;
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
    read: Some(ReadEntry { step_bytes: window_or_page, real: true, run: drive::read::<Populate> }),
    write: None,
};

struct Populate(OwnedFd);

impl Reader for Populate {
    fn open(job: &ReadJob<'_>, _: &Lane) -> Result<Populate, Stop> {
        open_to_map(job).map(Populate)
    }

    fn leg<O: Order, F: Fold, W: Watch>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        touch_at_once(&self.0, lane, order, leg, to, Bring::Populate)
    }
}
