//! Writing through a mapping: a new file is brought to its size, mapped, copied into, unmapped; all
//! of it is timed. Like a mapping that is read it has no block: the operation is a window of 1 MiB
//! in sequential order and a page in any other.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, ftruncate};

use super::WriteEntry;
use super::fill::Pool;
use super::lane::{Lane, Moved, Stop};
use super::mmap::window_or_page;
use super::order::Order;
use super::sync::Follow;
use super::target::{Target, WriteJob};
use super::write_drive::{self, Writer};
use crate::sys::shared_map::SharedMapping;
use iolab_model::catalog::Factor;

const NO_FLAG: &str = "what is stored through a mapping does not pass write(2), so the flag \
                       promises nothing for it; take --sync end or --sync fsync";

/// How `mmap` writes.
pub const ENTRY: WriteEntry = WriteEntry {
    step_bytes: window_or_page,
    real: true,
    lacks: &[
        (Factor::Sync, "dsync", NO_FLAG),
        (Factor::Sync, "sync", NO_FLAG),
        (Factor::Target, "append", "a mapping does not grow; take another --target"),
    ],
    run: write_drive::write::<MmapWrite>,
};

struct MmapWrite {
    file: OwnedFd,
    /// The size that the file must be brought to first.
    grow_to: Option<u64>,
}

impl Writer for MmapWrite {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Lane) -> Result<MmapWrite, Stop> {
        let file = job.open(OFlags::RDWR)?;
        let grow_to = (job.target == Target::New).then_some(job.end_bytes);
        Ok(MmapWrite { file, grow_to })
    }

    fn leg<O: Order, F: Follow>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        // Every thread says the same size, so that none takes bytes from another.
        if let Some(bytes) = self.grow_to.take() {
            ftruncate(&self.file, bytes)?;
        }
        let mapped = if O::CONTIGUOUS { leg.clone() } else { 0..lane.count };
        if leg.is_empty() {
            return Ok(Moved::default());
        }
        let (start, last) = (lane.offset(mapped.start), mapped.end - 1);
        let bytes = lane.offset(last) + lane.block_bytes(last) - start;
        let mut mapping = SharedMapping::new(self.file.as_fd(), start, bytes as usize)?;
        let first = lane.first_block();
        let mut moved = Moved { bytes: 0, operations: leg.end - leg.start };
        for block in order.steps(leg) {
            let bytes = &pool.block(first + block)[..lane.block_bytes(block) as usize];
            let began = follow.before();
            mapping.write((lane.offset(block) - start) as usize, bytes);
            follow.after(self.file.as_fd(), began)?;
            moved.bytes += bytes.len() as u64;
        }
        mapping.unmap()?;
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (Some(self.file), ())
    }
}
