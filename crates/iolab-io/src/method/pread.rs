//! `pread(2)` at an offset: the file position is neither used nor locked.

use std::ops::Range;

use rustix::fd::OwnedFd;

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
        id: "pread",
        kind: PartKind::Method,
        summary: "pread(2) at an offset; the file position is not used",
        capabilities: &[Capability::Read, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: drive::read::<Pread> }),
    write: None,
};

struct Pread {
    file: OwnedFd,
    buffer: Buffer,
}

impl Reader for Pread {
    fn open(job: &ReadJob<'_>, lane: &Lane) -> Result<Pread, Stop> {
        Ok(Pread { file: open_job(job, lane.step_bytes)?, buffer: Buffer::new(lane.step_bytes)? })
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
        for block in order.steps(leg) {
            let at = lane.offset(block);
            let began = to.watch.begin();
            let n = match rustix::io::pread(file, &mut *buffer, at) {
                Ok(n) if n == buffer.len() => n,
                first => {
                    let again = |rest: &mut [u8], at| rustix::io::pread(file, rest, at);
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
