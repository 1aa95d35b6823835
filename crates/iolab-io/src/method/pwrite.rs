//! `pwrite(2)` at an offset: the file position is neither used nor locked. On a file that is
//! appended to, Linux ignores the offset (pwrite(2), BUGS).

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::OFlags;

use super::fill::Pool;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use super::write_rest::complete;
use super::{Method, WriteEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "pwrite",
        kind: PartKind::Method,
        summary: "pwrite(2) at an offset; the file position is not used",
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
        run: write_loop::write::<Pwrite>,
    }),
};

struct Pwrite(OwnedFd);

impl Writer for Pwrite {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Partition) -> Result<Pwrite, Stop> {
        Ok(Pwrite(job.open(OFlags::WRONLY)?))
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
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = follow.before();
            let bytes = &pool.block(first + block)[..partition.block_bytes(block) as usize];
            match rustix::io::pwrite(file, bytes, at) {
                Ok(n) if n == bytes.len() => {}
                other => complete(file, other, bytes, at)?,
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
