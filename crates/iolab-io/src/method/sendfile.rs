//! `sendfile(2)` to `/dev/null`: the kernel looks the pages up and lets go of them. No byte is
//! copied or looked at, so it says what a look-up costs and is no speed that a program can have.

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags, sendfile};
use rustix::io::Errno;

use super::Method;
use super::access::open_with;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop, became_shorter};
use super::read_loop::{self, Reader, Sink};
use iolab_model::catalog::{Capability, Factor, Part};

/// How it describes itself.
pub const METHOD: Method = Method {
    part: Part::method(
        "sendfile",
        "sendfile(2) to /dev/null: no byte is touched, never compared with one that is",
    )
    .with(&[Capability::Read, Capability::Unconsumed])
    .ignoring(&[Factor::QueueDepth, Factor::BufferOffset])
    .by_name_only(),
    read: Some(read_loop::entry::<Sendfile>().without_bytes()),
    write: None,
};

/// Where the pages go.
pub(super) fn open_null() -> Result<OwnedFd, Errno> {
    rustix::fs::open("/dev/null", OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())
}

struct Sendfile {
    file: OwnedFd,
    null: OwnedFd,
}

impl Reader for Sendfile {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Sendfile, Stop> {
        Ok(Sendfile {
            file: open_with(job.path, job.access, partition.step_bytes)?,
            null: open_null()?,
        })
    }

    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (partition, mut moved) = (range.partition, range.unmoved());
        for block in range.blocks() {
            let (mut at, mut left) = (partition.offset(block), partition.block_bytes(block));
            let began = to.watch.begin();
            while left > 0 {
                match sendfile(&self.null, &self.file, Some(&mut at), left as usize) {
                    Ok(0) => return Err(became_shorter(at)),
                    Ok(n) => left -= n as u64,
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(Stop::from(errno).at_byte(at)),
                }
            }
            to.watch.end(began);
            moved.bytes += partition.block_bytes(block);
        }
        Ok(moved)
    }
}
