//! `preadv2(2)`: a read at an offset with flags of its own. `preadv2` has none;
//! `preadv2-dontcache` drops from the page cache what it brought in (`RWF_DONTCACHE`, Linux 6.14),
//! and is refused with EOPNOTSUPP where the file system has no such thing.

use std::io::IoSliceMut;
use std::marker::PhantomData;

use rustix::fd::OwnedFd;
use rustix::io::{Errno, ReadWriteFlags, preadv2};

use super::read_call::{Buffered, ReadCall};
use super::{Method, read_loop};
use crate::sys::uncached::RWF_DONTCACHE;
use iolab_model::catalog::{Capability, Factor, Part};

/// How `preadv2` describes itself.
pub const METHOD: Method = Method {
    part: Part::method("preadv2", "preadv2(2) at an offset, one buffer, no flags")
        .with(&[Capability::Read, Capability::Direct])
        .ignoring(&[Factor::QueueDepth])
        .by_name_only(),
    read: Some(read_loop::entry::<Buffered<Preadv2<NoFlags>>>()),
    write: None,
};

/// How `preadv2-dontcache` describes itself.
pub const DONTCACHE: Method = Method {
    part: Part::method(
        "preadv2-dontcache",
        "preadv2(2) with RWF_DONTCACHE: what it brings in does not stay cached",
    )
    .with(&[Capability::Read])
    .ignoring(&[Factor::QueueDepth])
    .needing("Linux 6.14 and a file system that knows it")
    .by_name_only(),
    read: Some(read_loop::entry::<Buffered<Preadv2<Dropped>>>()),
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

struct Preadv2<G>(PhantomData<G>);

impl<G: Flags> ReadCall for Preadv2<G> {
    fn new(_: u64) -> Preadv2<G> {
        Preadv2(PhantomData)
    }

    #[inline(always)]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<usize, Errno> {
        preadv2(file, &mut [IoSliceMut::new(buffer)], at, G::FLAGS)
    }
}
