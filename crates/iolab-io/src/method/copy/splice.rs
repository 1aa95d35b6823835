//! `splice(2)` from the source into a pipe and from the pipe into the target. A block is what one
//! call asks for; the pipe is made as large as the block where the kernel allows it.

use rustix::fd::OwnedFd;
use rustix::io::Errno;
use rustix::pipe::{PipeFlags, SpliceFlags, fcntl_getpipe_size, fcntl_setpipe_size, pipe_with};

use super::copy_loop::{CopyJob, CopyRange, Ends, Mover, became_shorter, copy, refused};
use super::{CopyEntry, CopyMethod};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method(
        "splice",
        "copy: splice(2) into a pipe as large as the block, and out of it; in the kernel",
    )
    .with(&[Capability::Copy])
    .ignoring(&[Factor::QueueDepth]),
    copy: CopyEntry { step_bytes: |block| block, route: CopyRoute::InKernel, run: copy::<Splice> },
    files: None,
};

/// No pipe is asked to be larger: /proc/sys/fs/pipe-max-size is 1 MiB unless it was raised.
const LARGEST_PIPE_BYTES: u64 = 1 << 20;

struct Splice {
    block_bytes: u64,
    pipe_bytes: u64,
    /// To read from.
    out: OwnedFd,
    /// To write to.
    into: OwnedFd,
}

impl Mover for Splice {
    fn open(job: &CopyJob<'_>) -> Result<Splice, Stop> {
        let (out, into) = pipe_with(PipeFlags::CLOEXEC)?;
        let wanted = job.block_bytes.clamp(4096, LARGEST_PIPE_BYTES);
        // EPERM above the person's share: what the pipe has is stated in the result.
        let _ = fcntl_setpipe_size(&into, wanted as usize);
        let pipe_bytes = fcntl_getpipe_size(&into)? as u64;
        Ok(Splice { block_bytes: job.block_bytes, pipe_bytes, out, into })
    }

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let (ends, range, flags) = (on.ends, on.bytes.clone(), SpliceFlags::MOVE);
        let mut moved = Moved::default();
        let (mut from, mut to) = (range.start, range.start);
        while to < range.end {
            let end = range.end.min(to + self.block_bytes);
            moved += Moved { bytes: end - to, operations: 1 };
            while to < end {
                let want = (end - to).min(self.pipe_bytes) as usize;
                let source = &ends.source;
                let filled = loop {
                    match rustix::pipe::splice(
                        source,
                        Some(&mut from),
                        &self.into,
                        None,
                        want,
                        flags,
                    ) {
                        Ok(0) => return Err(became_shorter(range.end)),
                        Err(Errno::INTR) => {}
                        other => break other.map_err(refused)?,
                    }
                };
                self.drain(ends, &mut to, filled)?;
            }
            on.after_block()?;
        }
        Ok(moved)
    }

    fn pipe_bytes(&self) -> Option<u64> {
        Some(self.pipe_bytes)
    }
}

impl Splice {
    /// All that is in the pipe goes into the target.
    #[inline(always)]
    fn drain(&self, ends: &Ends, to: &mut u64, filled: usize) -> Result<(), Stop> {
        let mut left = filled;
        while left > 0 {
            let (target, flags) = (&ends.target, SpliceFlags::MOVE);
            match rustix::pipe::splice(&self.out, None, target, Some(to), left, flags) {
                Ok(0) => return Err(Stop::new("the target takes no more bytes")),
                Ok(n) => left -= n,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(refused(errno)),
            }
        }
        Ok(())
    }
}
