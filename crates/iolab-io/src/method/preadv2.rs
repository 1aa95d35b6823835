//! `preadv2(2)`: a read at an offset with flags of its own. `preadv2` has none;
//! `preadv2-dontcache` drops from the page cache what it brought in (`RWF_DONTCACHE`, Linux 6.14),
//! and is refused with EOPNOTSUPP where the file system has no such thing.

use std::io::IoSliceMut;
use std::marker::PhantomData;
use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::io::{ReadWriteFlags, preadv2};

use super::access::open_with;
use super::buffer::Buffer;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{self, Reader, Sink};
use super::{Method, ReadEntry, the_block};
use crate::sys::uncached::RWF_DONTCACHE;
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// How `preadv2` describes itself.
pub const METHOD: Method = Method {
    part: Part {
        id: "preadv2",
        kind: PartKind::Method,
        summary: "preadv2(2) at an offset, one buffer, no flags",
        capabilities: &[Capability::Read, Capability::Direct],
        ignores: &[Factor::QueueDepth],
        needs: "",
        by_name_only: true,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: read_loop::read::<Plain> }),
    write: None,
};

/// How `preadv2-dontcache` describes itself.
pub const DONTCACHE: Method = Method {
    part: Part {
        id: "preadv2-dontcache",
        kind: PartKind::Method,
        summary: "preadv2(2) with RWF_DONTCACHE: what it brings in does not stay cached",
        capabilities: &[Capability::Read],
        ignores: &[Factor::QueueDepth],
        needs: "Linux 6.14 and a file system that knows it",
        by_name_only: true,
    },
    read: Some(ReadEntry { step_bytes: the_block, real: true, run: read_loop::read::<DontCache> }),
    write: None,
};

trait Flags: 'static {
    const FLAGS: ReadWriteFlags;
}

struct NoFlags;
impl Flags for NoFlags {
    const FLAGS: ReadWriteFlags = ReadWriteFlags::empty();
}

struct Dropped;
impl Flags for Dropped {
    const FLAGS: ReadWriteFlags = RWF_DONTCACHE;
}

type Plain = Preadv2<NoFlags>;
type DontCache = Preadv2<Dropped>;

struct Preadv2<G> {
    file: OwnedFd,
    buffer: Buffer,
    flags: PhantomData<G>,
}

impl<G: Flags> Reader for Preadv2<G> {
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Preadv2<G>, Stop> {
        let file = open_with(job.path, job.access, partition.step_bytes)?;
        Ok(Preadv2 { file, buffer: Buffer::new(partition.step_bytes)?, flags: PhantomData })
    }

    fn block_range<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer) = (&self.file, self.buffer.as_mut());
        let read =
            |bytes: &mut [u8], at| preadv2(file, &mut [IoSliceMut::new(bytes)], at, G::FLAGS);
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = to.watch.begin();
            let n = match read(&mut *buffer, at) {
                Ok(n) if n == buffer.len() => n,
                first => complete(first, buffer, at, partition.block_bytes(block), read)?,
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}
