//! Map with `MAP_POPULATE`, touch, unmap: the pages come in inside mmap(2), all at once.
//! Operations are those of `mmap`. Where a bounded trial visits scattered pages, each is mapped by
//! itself: populating the whole range would not be bounded.

use std::ops::Range;

use rustix::fd::OwnedFd;

use super::consume::Fold;
use super::drive::{self, Reader};
use super::lane::{Lane, Moved, ReadJob, Stop, open_for_reading};
use super::mmap::{touch, window_or_page};
use super::order::Order;
use super::{Method, ReadEntry};
use crate::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "mmap-populate",
        kind: PartKind::Method,
        summary: "map with MAP_POPULATE: faults are taken inside mmap",
        capabilities: &[Capability::Read],
        ignores: &[Factor::Block],
        needs: "",
        by_name_only: false,
    },
    read: Some(ReadEntry { step_bytes: window_or_page, real: true, run: drive::read::<Populate> }),
    write: None,
};

struct Populate(OwnedFd);

impl Reader for Populate {
    fn open(job: &ReadJob<'_>, _: &Lane) -> Result<Populate, Stop> {
        Ok(Populate(open_for_reading(job.path)?))
    }

    fn leg<O: Order, F: Fold>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        fold: &mut F,
    ) -> Result<Moved, Stop> {
        if O::CONTIGUOUS || leg == (0..lane.count) {
            return touch(&self.0, lane, leg.clone(), order.steps(leg), fold, true);
        }
        let mut moved = Moved::default();
        for block in order.steps(leg) {
            let one = block..block + 1;
            moved += touch(&self.0, lane, one.clone(), one, fold, true)?;
        }
        Ok(moved)
    }
}
