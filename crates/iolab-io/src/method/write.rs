//! `write(2)` at the file position. In an order that is not sequential every write follows an
//! `lseek(2)`, as a program would have to do it.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, SeekFrom, seek};

use super::fill::Pool;
use super::lane::{Lane, Moved, Stop};
use super::order::Order;
use super::sync::Follow;
use super::target::WriteJob;
use super::write_drive::{self, Writer, complete_in_place};
use super::{Method, WriteEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "write",
        kind: PartKind::Method,
        summary: "write(2) at the file position",
        capabilities: &[Capability::Write, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: None,
    write: Some(WriteEntry {
        step_bytes: the_block,
        real: true,
        lacks: &[],
        run: write_drive::write::<Write>,
    }),
};

struct Write(OwnedFd);

impl Writer for Write {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Lane) -> Result<Write, Stop> {
        Ok(Write(job.open(OFlags::WRONLY)?))
    }

    fn leg<O: Order, F: Follow>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        let file = self.0.as_fd();
        let first = lane.first_block();
        let mut moved = Moved { bytes: 0, operations: leg.end - leg.start };
        if O::CONTIGUOUS && !leg.is_empty() {
            seek(file, SeekFrom::Start(lane.offset(leg.start)))?;
        }
        for block in order.steps(leg) {
            let began = follow.before();
            if !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(lane.offset(block)))?;
            }
            let bytes = &pool.block(first + block)[..lane.block_bytes(block) as usize];
            match rustix::io::write(file, bytes) {
                Ok(n) if n == bytes.len() => {}
                other => complete_in_place(file, other, bytes)?,
            }
            follow.after(file, began)?;
            moved.bytes += bytes.len() as u64;
        }
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (Some(self.0), ())
    }
}
