//! Map, fault in on touch, unmap: all three are timed.
//!
//! A mapping has no block. The operation is a window of 1 MiB in sequential order and one page in
//! any other. A whole pass is one mapping of the thread's range; a bounded trial maps only what
//! it visits where that is contiguous. With `--consume none` one byte of each page is touched,
//! for a mapping that nobody touches brings no byte in.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::mm::Advice;

use super::access::open_with;
use super::consume::Fold;
use super::latency::Watch;
use super::mapping::window_or_page;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::read_loop::{self, Reader, Sink};
use super::{Method, mmap_write};
use crate::sys::map::Mapping;
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method("mmap", "map the file, touch or fill it, unmap it")
        .with(&[Capability::Read, Capability::Write, Capability::Surveyed])
        .ignoring(&[Factor::Block, Factor::QueueDepth, Factor::BufferOffset]),
    read: Some(read_loop::entry::<Mmap>().in_steps(window_or_page)),
    write: Some(mmap_write::ENTRY),
};

/// Opens a file that is to be mapped: a mapping is the page cache, whatever O_DIRECT says.
pub(super) fn open_to_map(job: &ReadJob<'_>) -> Result<OwnedFd, Stop> {
    if job.access.direct {
        return Err(Stop::new("a mapping cannot bypass the page cache; leave out --direct"));
    }
    open_with(job.path, job.access, 1)
}

struct Mmap(OwnedFd);

impl Reader for Mmap {
    fn open(job: &ReadJob<'_>, _: &Partition) -> Result<Mmap, Stop> {
        open_to_map(job).map(Mmap)
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        touch(&self.0, range.partition, range.mapped(), range.blocks(), to, Bring::OnTouch)
    }
}

/// How the pages of a mapping come in.
#[derive(Clone, Copy, Debug)]
pub(super) enum Bring {
    /// By faults.
    OnTouch,
    /// All of them within mmap(2).
    Populate,
    /// By faults or at once, as madvise(2) was told.
    Advise(Advice),
}

/// Maps the blocks `mapped` of a partition, hands the blocks of `steps` to the consumer, unmaps.
pub(super) fn touch<F: Fold, W: Watch>(
    file: &OwnedFd,
    partition: &Partition,
    mapped: Range<u64>,
    steps: impl Iterator<Item = u64>,
    to: &mut Sink<F, W>,
    bring: Bring,
) -> Result<Moved, Stop> {
    if mapped.is_empty() {
        return Ok(Moved::default());
    }
    let (start, last) = (partition.offset(mapped.start), mapped.end - 1);
    let bytes = partition.offset(last) + partition.block_bytes(last) - start;
    let populate = matches!(bring, Bring::Populate);
    let mapping = Mapping::new(file.as_fd(), start, bytes as usize, populate)?;
    if let Bring::Advise(advice) = bring {
        mapping.advise(advice)?;
    }
    let all = mapping.bytes();
    let page_bytes = crate::sys::page::page_bytes() as usize;
    let mut moved = Moved::default();
    for block in steps {
        let at = partition.offset(block);
        let from = (at - start) as usize;
        let bytes = &all[from..from + partition.block_bytes(block) as usize];
        // Touching is what brings the bytes in, so an operation holds the consumer's work too.
        let began = to.watch.begin();
        if F::TOUCHES {
            to.fold.block(at, bytes);
        } else {
            for byte in bytes.iter().step_by(page_bytes) {
                std::hint::black_box(*byte);
            }
        }
        to.watch.end(began);
        moved += Moved { bytes: bytes.len() as u64, operations: 1 };
    }
    mapping.unmap()?;
    Ok(moved)
}

/// The same for what brings every mapped page in at once: where a bounded trial visits scattered
/// pages, each is mapped by itself, for else the trial would not be bounded.
pub(super) fn touch_at_once<O: AccessOrder, F: Fold, W: Watch>(
    file: &OwnedFd,
    range: OrderedBlocks<'_, O>,
    to: &mut Sink<F, W>,
    bring: Bring,
) -> Result<Moved, Stop> {
    let OrderedBlocks { partition, steps, .. } = &range;
    if O::CONTIGUOUS || *steps == (0..partition.count) {
        return touch(file, partition, steps.clone(), range.blocks(), to, bring);
    }
    let mut moved = Moved::default();
    for block in range.blocks() {
        let one = block..block + 1;
        moved += touch(file, partition, one.clone(), one, to, bring)?;
    }
    Ok(moved)
}
