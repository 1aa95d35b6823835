//! io_uring: up to `--queue-depth` writes under way at a time, out of registered buffers, to a
//! registered file, by the one thread that submits them. The buffers hold what is written before
//! the clock starts. An fsync that follows a block follows its completion.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;
use rustix::io::Errno;

use super::fill::Pool;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use super::write_rest::complete;
use super::{Lack, WriteEntry};
use crate::sys::ring::{Piece, Ring};
use iolab_model::catalog::Target;

/// How `io_uring` writes.
pub const ENTRY: WriteEntry = write_loop::entry::<UringWrite>().lacking(&[(
    Lack::Target(Target::Append),
    "requests that are under way together have no order; take another --target",
)]);

struct UringWrite {
    ring: Ring,
    file: OwnedFd,
    /// Blocks in a slot, as a power of two.
    slot_bits: u32,
    /// Blocks of the pool, less one.
    mask: u64,
    /// What each token is at.
    requests: Vec<Request>,
    free: Vec<u32>,
}

#[derive(Clone, Copy, Debug, Default)]
struct Request {
    block: u64,
    began: u64,
}

impl Writer for UringWrite {
    type Rest = Ring;

    fn open(job: &WriteJob<'_>, partition: &Partition) -> Result<UringWrite, Stop> {
        let file = job.open(OFlags::WRONLY)?;
        let (depth, blocks) = (job.depth.max(1), job.pool.blocks());
        let slot_bits = blocks.div_ceil(u64::from(depth)).next_power_of_two().ilog2();
        let step_bytes = partition.step_bytes as usize;
        let mut ring = Ring::new(depth, step_bytes << slot_bits, &[file.as_fd()])?;
        for block in 0..blocks {
            let (slot, from) = place(block, slot_bits, step_bytes);
            ring.slot_mut(slot)[from..from + step_bytes].copy_from_slice(job.pool.block(block));
        }
        let requests = vec![Request::default(); depth as usize];
        let free = (0..depth).collect();
        Ok(UringWrite { ring, file, slot_bits, mask: blocks - 1, requests, free })
    }

    fn write_blocks<O: AccessOrder, F: Follow>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        let (partition, mut moved) = (range.partition, range.unmoved());
        let mut steps = range.blocks();
        loop {
            while let Some(token) = self.free.pop() {
                let Some(block) = steps.next() else {
                    self.free.push(token);
                    break;
                };
                self.start(partition, token, block, follow.before())?;
            }
            if self.ring.in_flight() == 0 {
                return Ok(moved);
            }
            self.ring.submit(1)?;
            while let Some(done) = self.ring.take() {
                let Request { block, began } = self.requests[done.token as usize];
                let bytes = partition.block_bytes(block);
                if done.result != Ok(bytes as u32) {
                    self.rest(partition, block, pool, done.result)?;
                }
                follow.after(self.file.as_fd(), began)?;
                moved.bytes += bytes;
                self.free.push(done.token);
            }
        }
    }

    fn into_parts(self) -> (Option<OwnedFd>, Ring) {
        (Some(self.file), self.ring)
    }
}

/// The slot of a block of the pool and where in it the block begins.
#[inline(always)]
fn place(block: u64, slot_bits: u32, step_bytes: usize) -> (u32, usize) {
    let within = block & ((1 << slot_bits) - 1);
    ((block >> slot_bits) as u32, within as usize * step_bytes)
}

impl UringWrite {
    #[inline(always)]
    fn start(
        &mut self,
        partition: &Partition,
        token: u32,
        block: u64,
        began: u64,
    ) -> Result<(), Stop> {
        self.requests[token as usize] = Request { block, began };
        let in_pool = partition.indices()(block) & self.mask;
        let (slot, from) = place(in_pool, self.slot_bits, partition.step_bytes as usize);
        let bytes = partition.block_bytes(block) as u32;
        let piece = Piece { slot, from: from as u32, bytes, file: 0, at: partition.offset(block) };
        self.ring.write(piece, token)?;
        Ok(self.ring.hand_over()?)
    }

    /// What follows a write that did not take all of its block.
    #[cold]
    #[inline(never)]
    fn rest(
        &self,
        partition: &Partition,
        block: u64,
        pool: &Pool,
        first: Result<u32, Errno>,
    ) -> Result<(), Stop> {
        let bytes = pool.block(partition.indices()(block));
        let bytes = &bytes[..partition.block_bytes(block) as usize];
        // A write that would have to wait where it must not (EAGAIN) is made anew, like one that
        // a signal broke off.
        let first = match first {
            Err(Errno::AGAIN) => Err(Errno::INTR),
            other => other.map(|n| n as usize),
        };
        complete(self.file.as_fd(), first, bytes, partition.offset(block))
    }
}
