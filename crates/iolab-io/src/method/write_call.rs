//! Methods that write a block by one call: what they have in common is the loop, and what differs is
//! the call.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{OFlags, SeekFrom, seek};
use rustix::io::Errno;

use super::fill::Pool;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::Writer;
use super::write_rest::{complete, complete_in_place};

/// A call that writes a block.
pub trait WriteCall: Sized + Send + 'static {
    /// Whether it writes at the file position, which must then be moved wherever the next block does
    /// not follow the last one.
    const AT_POSITION: bool = false;

    /// Outside the timed window: what it needs for blocks of this size.
    fn new(step_bytes: u64) -> Self;

    /// Inside of it. Always inlined.
    fn write(&self, file: BorrowedFd<'_>, bytes: &[u8], at: u64) -> Result<usize, Errno>;
}

/// What one thread needs during a trial.
pub struct Plain<C> {
    call: C,
    file: OwnedFd,
}

impl<C: WriteCall> Writer for Plain<C> {
    type Rest = ();

    fn open(job: &WriteJob<'_>, partition: &Partition) -> Result<Self, Stop> {
        Ok(Plain { call: C::new(partition.step_bytes), file: job.open(OFlags::WRONLY)? })
    }

    fn write_blocks<O: AccessOrder, F: Follow>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        let (file, partition) = (self.file.as_fd(), range.partition);
        let in_file = partition.indices();
        let mut moved = range.unmoved();
        if C::AT_POSITION {
            range.seek_to_first(file)?;
        }
        for block in range.blocks() {
            let at = partition.offset(block);
            let began = follow.before();
            if C::AT_POSITION && !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(at))?;
            }
            let bytes = &pool.block(in_file(block))[..partition.block_bytes(block) as usize];
            match self.call.write(file, bytes, at) {
                Ok(n) if n == bytes.len() => {}
                other if C::AT_POSITION => complete_in_place(file, other, bytes)?,
                other => complete(file, other, bytes, at)?,
            }
            follow.after(file, began)?;
            moved.bytes += bytes.len() as u64;
        }
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (Some(self.file), ())
    }
}
