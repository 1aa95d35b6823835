//! `splice(2)` through a pipe to `/dev/null`: references to pages of the cache are moved, no byte
//! is. The pipe is made as large as a block where it may be; a larger block takes several rounds.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_setpipe_size, pipe_with, splice};

use super::Method;
use super::access::open_with;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop, became_shorter};
use super::read_loop::{self, Reader, Sink};
use super::sendfile::open_null;
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method(
        "splice",
        "splice(2) to /dev/null: no byte is touched, never compared with one that is",
    )
    .with(&[Capability::Read, Capability::Unconsumed])
    .ignoring(&[Factor::QueueDepth, Factor::BufferOffset])
    .by_name_only(),
    read: Some(read_loop::entry::<Splice>().without_bytes()),
    write: None,
};

/// The size that a pipe has by itself, and the greatest that anyone may give it by default
/// (pipe(7), `/proc/sys/fs/pipe-max-size`).
const PIPE_BYTES: u64 = 64 << 10;
const GREATEST_PIPE_BYTES: u64 = 1 << 20;

struct Splice {
    file: OwnedFd,
    null: OwnedFd,
    from_pipe: OwnedFd,
    to_pipe: OwnedFd,
}

impl Reader for Splice {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Splice, Stop> {
        let (from_pipe, to_pipe) = pipe_with(PipeFlags::CLOEXEC)?;
        if partition.step_bytes > PIPE_BYTES {
            // A pipe that stays small costs more calls; it is no reason to give up.
            let wanted = partition.step_bytes.min(GREATEST_PIPE_BYTES) as usize;
            let _ = fcntl_setpipe_size(&to_pipe, wanted);
        }
        Ok(Splice {
            file: open_with(job.path, job.access, partition.step_bytes)?,
            null: open_null()?,
            from_pipe,
            to_pipe,
        })
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (partition, mut moved) = (range.partition, range.unmoved());
        for block in range.blocks() {
            let began = to.watch.begin();
            self.block(partition.offset(block), partition.block_bytes(block))?;
            to.watch.end(began);
            moved.bytes += partition.block_bytes(block);
        }
        Ok(moved)
    }
}

impl Splice {
    #[inline(always)]
    fn block(&self, mut at: u64, mut left: u64) -> Result<(), Stop> {
        const FLAGS: SpliceFlags = SpliceFlags::MOVE;
        while left > 0 {
            let (file, pipe) = (&self.file, &self.to_pipe);
            let mut piped = match splice(file, Some(&mut at), pipe, None, left as usize, FLAGS) {
                Ok(0) => return Err(became_shorter(at)),
                Ok(n) => n,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(Stop::from(errno).at_byte(at)),
            };
            left -= piped as u64;
            while piped > 0 {
                match splice(&self.from_pipe, None, &self.null, None, piped, FLAGS) {
                    Ok(0) => return Err(Stop::new("/dev/null took nothing from a full pipe")),
                    Ok(n) => piped -= n,
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno.into()),
                }
            }
        }
        Ok(())
    }
}
