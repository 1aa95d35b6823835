//! `read(2)` at the file position. In an order that is not sequential every read follows an
//! `lseek(2)`, as a program would have to do it.

use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};

use super::access::open_job;
use super::buffer::Buffer;
use super::consume::Fold;
use super::drive::{self, Reader, Sink};
use super::lane::{Lane, Moved, ReadJob, Stop, complete};
use super::latency::Watch;
use super::order::Order;
use super::{Method, ReadEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "read",
        kind: PartKind::Method,
        summary: "read(2) at the file position",
        capabilities: &[Capability::Read, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: drive::read::<Read> }),
    write: None,
};

struct Read {
    file: OwnedFd,
    buffer: Buffer,
}

impl Reader for Read {
    fn open(job: &ReadJob<'_>, lane: &Lane) -> Result<Read, Stop> {
        Ok(Read { file: open_job(job, lane.step_bytes)?, buffer: Buffer::new(lane.step_bytes)? })
    }

    fn leg<O: Order, F: Fold, W: Watch>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer) = (&self.file, self.buffer.as_mut());
        let mut moved = Moved { bytes: 0, operations: leg.end - leg.start };
        if O::CONTIGUOUS && !leg.is_empty() {
            seek(file, SeekFrom::Start(lane.offset(leg.start)))?;
        }
        for block in order.steps(leg) {
            let at = lane.offset(block);
            let began = to.watch.begin();
            if !O::CONTIGUOUS {
                seek(file, SeekFrom::Start(at))?;
            }
            let n = match rustix::io::read(file, &mut *buffer) {
                Ok(n) if n == buffer.len() => n,
                first => {
                    let again = |rest: &mut [u8], _| rustix::io::read(file, rest);
                    complete(first, buffer, at, lane.block_bytes(block), again)?
                }
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}
