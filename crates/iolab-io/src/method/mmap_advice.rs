//! Map, tell the kernel by `madvise(2)` how the mapping will be used, touch, unmap. Operations are
//! those of `mmap`; the advice differs from method to method.
//!
//! `mmap-sequential`: more read-ahead, pages behind are dropped sooner (MADV_SEQUENTIAL).
//! `mmap-random`: no read-ahead at a fault (MADV_RANDOM). `mmap-willneed`: read-ahead of the whole
//! range begins at once, and faults map what is there (MADV_WILLNEED). `mmap-populate-read`: every
//! page is brought in and mapped before the call returns (MADV_POPULATE_READ, Linux 5.14), as
//! MAP_POPULATE does, but with an error where a page cannot be had.

use std::marker::PhantomData;

use rustix::fd::OwnedFd;
use rustix::mm::Advice;

use super::Method;
use super::consume::Fold;
use super::latency::Watch;
use super::mapping::window_or_page;
use super::mmap::{Bring, open_to_map, touch, touch_at_once};
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::read_loop::{self, Reader, Sink};
use iolab_model::catalog::{Capability, Factor, Part};

/// A word for madvise(2).
trait Word: 'static {
    const ADVICE: Advice;
    /// Whether it brings in all that is mapped, touched or not.
    const AT_ONCE: bool;
}

const fn method<W: Word>(id: &'static str, summary: &'static str, needs: &'static str) -> Method {
    Method {
        part: Part::method(id, summary)
            .with(&[Capability::Read])
            .ignoring(&[Factor::Block, Factor::QueueDepth, Factor::BufferOffset])
            .needing(needs)
            .by_name_only(),
        read: Some(read_loop::entry::<Advised<W>>().in_steps(window_or_page)),
        write: None,
    }
}

/// How `mmap-sequential` describes itself.
pub const SEQUENTIAL: Method =
    method::<Sequential>("mmap-sequential", "map, MADV_SEQUENTIAL, touch", "");
/// How `mmap-random` describes itself.
pub const RANDOM: Method = method::<Random>("mmap-random", "map, MADV_RANDOM, touch", "");
/// How `mmap-willneed` describes itself.
pub const WILLNEED: Method = method::<Willneed>("mmap-willneed", "map, MADV_WILLNEED, touch", "");
/// How `mmap-populate-read` describes itself.
pub const POPULATE_READ: Method = method::<PopulateRead>(
    "mmap-populate-read",
    "map, MADV_POPULATE_READ, touch: faults are taken inside madvise",
    "Linux 5.14",
);

struct Sequential;
impl Word for Sequential {
    const ADVICE: Advice = Advice::Sequential;
    const AT_ONCE: bool = false;
}

struct Random;
impl Word for Random {
    const ADVICE: Advice = Advice::Random;
    const AT_ONCE: bool = false;
}

struct Willneed;
impl Word for Willneed {
    const ADVICE: Advice = Advice::WillNeed;
    const AT_ONCE: bool = true;
}

struct PopulateRead;
impl Word for PopulateRead {
    const ADVICE: Advice = Advice::LinuxPopulateRead;
    const AT_ONCE: bool = true;
}

struct Advised<A>(OwnedFd, PhantomData<A>);

impl<A: Word> Reader for Advised<A> {
    fn open(job: &ReadJob<'_>, _: &Partition) -> Result<Advised<A>, Stop> {
        Ok(Advised(open_to_map(job)?, PhantomData))
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let bring = Bring::Advise(A::ADVICE);
        if A::AT_ONCE {
            return touch_at_once(&self.0, range, to, bring);
        }
        touch(&self.0, range.partition, range.mapped(), range.blocks(), to, bring)
    }
}
