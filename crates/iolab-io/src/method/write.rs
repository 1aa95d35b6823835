//! `write(2)` at the file position. In an order that is not sequential every write follows an
//! `lseek(2)`, as a program would have to do it.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, SeekFrom, seek};

use super::fill::Pool;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use super::write_rest::complete_in_place;
use super::{Method, WriteEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "write",
        kind: PartKind::Method,
        summary: "write(2) at the file position",
        capabilities: &[Capability::Write, Capability::Direct, Capability::Surveyed],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: None,
    write: Some(WriteEntry {
        step_bytes: the_block,
        real: true,
        lacks: &[],
        run: write_loop::write::<Write>,
    }),
};

struct Write(OwnedFd);

impl Writer for Write {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Partition) -> Result<Write, Stop> {
        Ok(Write(job.open(OFlags::WRONLY)?))
    }

    fn block_range<O: AccessOrder, F: Follow>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        let file = self.0.as_fd();
        let first = partition.first_block();
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        if O::CONTIGUOUS && !block_range.is_empty() {
            seek(file, SeekFrom::Start(partition.offset(block_range.start)))?;
        }
        for block in order.steps(block_range) {
            let began = follow.before();
            if !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(partition.offset(block)))?;
            }
            let bytes = &pool.block(first + block)[..partition.block_bytes(block) as usize];
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
