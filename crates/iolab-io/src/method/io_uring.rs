//! io_uring: up to `--queue-depth` reads under way at a time, in registered buffers, of a
//! registered file, by the one thread that submits them. Blocks are consumed as they arrive, or,
//! where the consumer needs the file's order, in that order.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

use super::access::open_with;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{self, Reader, Sink};
use super::{Method, io_uring_write};
use crate::sys::ring::{Piece, Ring, RingError};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method(
        "io_uring",
        "io_uring: several requests under way, buffers and file registered",
    )
    .with(&[Capability::Read, Capability::Write, Capability::Direct, Capability::Locks])
    .ignoring(&[Factor::BufferOffset])
    .needing("io_uring, and memory that may be locked"),
    read: Some(read_loop::entry::<Uring>()),
    write: Some(io_uring_write::ENTRY),
};

/// Larger blocks are refused, as by every method that has a buffer.
const GREATEST_BLOCK_BYTES: u64 = 1 << 30;

impl From<RingError> for Stop {
    fn from(error: RingError) -> Stop {
        Stop { cause: error.to_string(), errno: Some(error.errno().raw_os_error()) }
    }
}

struct Uring {
    ring: Ring,
    file: OwnedFd,
    step_bytes: u64,
    /// What each slot is at.
    slots: Vec<Slot>,
}

/// A request under way, or its result where it waits for its turn.
#[derive(Clone, Copy, Debug, Default)]
struct Slot {
    block: u64,
    began: u64,
    arrived: Option<Result<u32, Errno>>,
}

impl Reader for Uring {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Uring, Stop> {
        if partition.step_bytes > GREATEST_BLOCK_BYTES {
            return Err(Stop::new("a block over 1 GiB is not read in one call; use a smaller one"));
        }
        let file = open_with(job.path, job.access, partition.step_bytes)?;
        let depth = job.access.depth.max(1);
        let ring = Ring::new(depth, partition.step_bytes as usize, &[file.as_fd()])?;
        let slots = vec![Slot::default(); depth as usize];
        Ok(Uring { ring, file, step_bytes: partition.step_bytes, slots })
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (partition, mut moved) = (range.partition, range.unmoved());
        let mut steps = range.blocks();
        for (slot, block) in (0..self.ring.slots()).zip(&mut steps) {
            self.start(partition, slot, block, to)?;
        }
        // The slot whose block is next in the file, where that matters.
        let mut head = 0;
        while self.ring.in_flight() > 0 {
            self.ring.submit(1)?;
            while let Some(done) = self.ring.take() {
                let slot = done.slot.unwrap_or_default();
                to.watch.end(self.slots[slot as usize].began);
                if F::ORDERED {
                    self.slots[slot as usize].arrived = Some(done.result);
                    continue;
                }
                moved.bytes += self.hand_on(partition, slot, done.result, to)?;
                if let Some(block) = steps.next() {
                    self.start(partition, slot, block, to)?;
                }
            }
            while let Some(result) = self.slots[head as usize].arrived.take() {
                moved.bytes += self.hand_on(partition, head, result, to)?;
                if let Some(block) = steps.next() {
                    self.start(partition, head, block, to)?;
                }
                head = (head + 1) % self.ring.slots();
            }
        }
        Ok(moved)
    }
}

impl Uring {
    #[inline(always)]
    fn start<F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        slot: u32,
        block: u64,
        to: &Sink<F, W>,
    ) -> Result<(), Stop> {
        let began = to.watch.begin();
        self.slots[slot as usize] = Slot { block, began, arrived: None };
        // All of the buffer is offered even at the end of the file: direct I/O wants whole units.
        let bytes = self.step_bytes as u32;
        let piece = Piece { slot, from: 0, bytes, file: 0, at: partition.offset(block) };
        self.ring.read(piece, 0)?;
        Ok(self.ring.hand_over()?)
    }

    /// Bytes handed to the consumer.
    #[inline(always)]
    fn hand_on<F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        slot: u32,
        result: Result<u32, Errno>,
        to: &mut Sink<F, W>,
    ) -> Result<u64, Stop> {
        let block = self.slots[slot as usize].block;
        let at = partition.offset(block);
        let n = match result {
            Ok(n) if u64::from(n) == self.step_bytes => n as usize,
            first => self.rest(slot, at, partition.block_bytes(block), first)?,
        };
        to.fold.block(at, &self.ring.slot(slot)[..n]);
        Ok(n as u64)
    }

    /// What follows a read that did not fill its slot.
    #[cold]
    #[inline(never)]
    fn rest(
        &mut self,
        slot: u32,
        at: u64,
        want: u64,
        first: Result<u32, Errno>,
    ) -> Result<usize, Stop> {
        let file = &self.file;
        let again = |rest: &mut [u8], at| rustix::io::pread(file, rest, at);
        // A read that would have to wait where it must not (EAGAIN) is made anew, like one that a
        // signal broke off.
        let first = match first {
            Err(Errno::AGAIN) => Err(Errno::INTR),
            other => other.map(|n| n as usize),
        };
        complete(first, self.ring.slot_mut(slot), at, want, again)
    }
}
