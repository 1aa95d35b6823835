//! Methods that read a block by one call into one buffer: what they have in common is the loop, and
//! what differs is the call.

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::{Errno, pread, read};

use super::access::open_with;
use super::buffer::Buffer;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{Reader, Sink};

/// A call that reads a block.
pub trait ReadCall: Sized + 'static {
    /// Whether it reads at the file position, which must then be moved wherever the next block does
    /// not follow the last one.
    const AT_POSITION: bool = false;

    /// Outside the timed window: what it needs for blocks of this size.
    fn new(step_bytes: u64) -> Self;

    /// Inside of it. `buffer` is a whole block, even at the end of the file: direct I/O wants whole
    /// units. Always inlined.
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<usize, Errno>;
}

/// What one thread needs during a trial.
pub struct Buffered<C> {
    call: C,
    file: OwnedFd,
    buffer: Buffer,
}

impl<C: ReadCall> Reader for Buffered<C> {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Self, Stop> {
        Ok(Buffered {
            call: C::new(partition.step_bytes),
            file: open_with(job.path, job.access, partition.step_bytes)?,
            buffer: Buffer::into_page(partition.step_bytes, job.access.buffer_offset)?,
        })
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer, partition) = (&self.file, self.buffer.as_mut(), range.partition);
        let mut moved = range.unmoved();
        if C::AT_POSITION {
            range.seek_to_first(file)?;
        }
        for block in range.blocks() {
            let at = partition.offset(block);
            let began = to.watch.begin();
            if C::AT_POSITION && !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(at))?;
            }
            // Whatever is not a full block (the tail, a short read, EINTR) goes the cold way.
            let n = match self.call.read(file, buffer, at) {
                Ok(n) if n == buffer.len() => n,
                first => complete(first, buffer, at, partition.block_bytes(block), |rest, at| {
                    if C::AT_POSITION { read(file, rest) } else { pread(file, rest, at) }
                })?,
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}
