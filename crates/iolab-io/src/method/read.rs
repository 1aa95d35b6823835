//! `read(2)` at the file position. In an order that is not sequential every read follows an
//! `lseek(2)`, as a program would have to do it.

use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};

use super::access::open_with;
use super::buffer::Buffer;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{self, Reader, Sink};
use super::{Method, ReadEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "read",
        kind: PartKind::Method,
        summary: "read(2) at the file position",
        capabilities: &[Capability::Read, Capability::Direct, Capability::Surveyed],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: read_loop::read::<Read> }),
    write: None,
};

struct Read {
    file: OwnedFd,
    buffer: Buffer,
}

impl Reader for Read {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Read, Stop> {
        Ok(Read {
            file: open_with(job.path, job.access, partition.step_bytes)?,
            buffer: Buffer::new(partition.step_bytes)?,
        })
    }

    fn block_range<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer) = (&self.file, self.buffer.as_mut());
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        if O::CONTIGUOUS && !block_range.is_empty() {
            seek(file, SeekFrom::Start(partition.offset(block_range.start)))?;
        }
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = to.watch.begin();
            if !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(at))?;
            }
            let n = match rustix::io::read(file, &mut *buffer) {
                Ok(n) if n == buffer.len() => n,
                first => {
                    let again = |rest: &mut [u8], _| rustix::io::read(file, rest);
                    complete(first, buffer, at, partition.block_bytes(block), again)?
                }
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}
