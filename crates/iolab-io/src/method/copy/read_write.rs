//! The loop that every program had first: `read(2)` into a buffer, `write(2)` from it.

use std::ops::Range;

use rustix::fd::AsFd;
use rustix::fs::{SeekFrom, seek};

use super::copy_loop::{CopyJob, Ends, Mover, copy, refused, write_rest};
use super::{CopyEntry, CopyMethod};
use crate::method::buffer::Buffer;
use crate::method::partition::{Moved, Stop, complete};
use crate::method::sync::Barrier;
use iolab_model::catalog::{Capability, Factor, Part, PartKind};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part {
        id: "read-write",
        kind: PartKind::Method,
        summary: "copy: read(2) into a buffer, write(2) from it",
        capabilities: &[Capability::Copy],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    copy: CopyEntry {
        step_bytes: |block| block,
        route: CopyRoute::UserSpace,
        run: copy::<ReadWrite>,
    },
};

struct ReadWrite(Buffer);

impl Mover for ReadWrite {
    fn open(job: &CopyJob<'_>) -> Result<ReadWrite, Stop> {
        Ok(ReadWrite(Buffer::new(job.block_bytes)?))
    }

    fn range<B: Barrier>(
        &mut self,
        ends: &Ends,
        range: Range<u64>,
        barrier: &mut B,
    ) -> Result<Moved, Stop> {
        let (source, target, buffer) = (&ends.source, &ends.target, self.0.as_mut());
        seek(source, SeekFrom::Start(range.start))?;
        seek(target, SeekFrom::Start(range.start))?;
        let mut moved = Moved::default();
        let mut at = range.start;
        while at < range.end {
            let want = (buffer.len() as u64).min(range.end - at) as usize;
            let block = &mut buffer[..want];
            match rustix::io::read(source, &mut *block) {
                Ok(n) if n == want => {}
                first => {
                    let again = |rest: &mut [u8], _| rustix::io::read(source, rest);
                    complete(first, block, at, want as u64, again)?;
                }
            }
            match rustix::io::write(target, block) {
                Ok(n) if n == want => {}
                first => write_rest(first, block, |rest| rustix::io::write(target, rest))?,
            }
            barrier.after_block(target.as_fd()).map_err(refused)?;
            at += want as u64;
            moved += Moved { bytes: want as u64, operations: 1 };
        }
        Ok(moved)
    }
}
