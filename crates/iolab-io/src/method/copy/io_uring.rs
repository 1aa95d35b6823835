//! io_uring: up to `--queue-depth` blocks under way at a time, each a read and a write that begins
//! by itself when the read has ended. Buffers and files are registered; one thread submits.

use rustix::fd::AsFd;
use rustix::io::Errno;

use super::copy_loop::{CopyJob, CopyRange, Ends, Mover, copy, refused, write_rest};
use super::{CopyEntry, CopyMethod};
use crate::method::access::open_for_reading;
use crate::method::partition::{Moved, Stop, complete};
use crate::method::sync::Barrier;
use crate::sys::ring::{Piece, Ring};
use iolab_model::catalog::{Capability, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method(
        "io_uring",
        "copy: io_uring, several reads under way, each with a write linked to it",
    )
    .with(&[Capability::Copy, Capability::Locks])
    .needing("io_uring, and memory that may be locked"),
    copy: CopyEntry { step_bytes: |block| block, route: CopyRoute::UserSpace, run: copy::<Uring> },
    files: None,
};

/// Larger blocks are refused, as by every method that has a buffer.
const GREATEST_BLOCK_BYTES: u64 = 1 << 30;
/// Which of a pair has ended.
const READ: u32 = 0;
const WRITE: u32 = 1;

struct Uring {
    ring: Ring,
    block_bytes: u64,
    /// What each slot is at.
    slots: Vec<Slot>,
}

/// A block under way.
#[derive(Clone, Copy, Debug)]
struct Slot {
    at: u64,
    bytes: u32,
    read: Result<u32, Errno>,
}

impl Mover for Uring {
    fn open(job: &CopyJob<'_>) -> Result<Uring, Stop> {
        if job.block_bytes > GREATEST_BLOCK_BYTES {
            return Err(Stop::new("a block over 1 GiB is not read in one call; use a smaller one"));
        }
        let depth = job.queue_depth.max(1);
        // Both places are taken by the source until the target is there.
        let source = open_for_reading(job.source)?;
        let files = [source.as_fd(), source.as_fd()];
        let ring = Ring::new(depth, job.block_bytes as usize, &files)?;
        let slots = vec![Slot { at: 0, bytes: 0, read: Ok(0) }; depth as usize];
        Ok(Uring { ring, block_bytes: job.block_bytes, slots })
    }

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let (ends, range) = (on.ends, on.bytes.clone());
        self.ring.set_files(&[ends.source.as_fd(), ends.target.as_fd()]).map_err(refused)?;
        let mut moved = Moved::default();
        let mut next = range.start;
        for slot in 0..self.ring.slots() {
            self.start(slot, &mut next, range.end)?;
        }
        while self.ring.in_flight() > 0 {
            self.ring.submit(1)?;
            while let Some(done) = self.ring.take() {
                let slot = done.slot.unwrap_or_default();
                if done.token == READ {
                    self.slots[slot as usize].read = done.result;
                    continue;
                }
                let bytes = self.slots[slot as usize].bytes;
                if done.result != Ok(bytes) {
                    self.rest(slot, ends, done.result)?;
                }
                on.after_block()?;
                moved += Moved { bytes: u64::from(bytes), operations: 1 };
                self.start(slot, &mut next, range.end)?;
            }
        }
        Ok(moved)
    }
}

impl Uring {
    /// Queues the next block, where there is one.
    #[inline(always)]
    fn start(&mut self, slot: u32, next: &mut u64, end: u64) -> Result<(), Stop> {
        let (at, bytes) = (*next, self.block_bytes.min(end - *next) as u32);
        if bytes == 0 {
            return Ok(());
        }
        *next += u64::from(bytes);
        self.slots[slot as usize] = Slot { at, bytes, read: Ok(0) };
        let from = Piece { slot, from: 0, bytes, file: 0, at };
        Ok(self.ring.read_then_write((from, READ), (Piece { file: 1, ..from }, WRITE))?)
    }

    /// What follows a pair of which one was short or failed: the write of a short read is
    /// cancelled. Both are ended by plain calls.
    #[cold]
    #[inline(never)]
    fn rest(&mut self, slot: u32, ends: &Ends, wrote: Result<u32, Errno>) -> Result<(), Stop> {
        let Slot { at, bytes, read } = self.slots[slot as usize];
        // One that would have to wait where it must not is made anew, like one that was broken off.
        let plain = |result: Result<u32, Errno>| match result {
            Err(Errno::AGAIN | Errno::CANCELED) => Err(Errno::INTR),
            other => other.map(|n| n as usize),
        };
        let buffer = &mut self.ring.slot_mut(slot)[..bytes as usize];
        let again = |rest: &mut [u8], at| rustix::io::pread(&ends.source, rest, at);
        complete(plain(read), buffer, at, u64::from(bytes), again)?;
        let all = buffer.len();
        write_rest(plain(wrote), buffer, |rest| {
            rustix::io::pwrite(&ends.target, rest, at + (all - rest.len()) as u64)
        })
    }
}
