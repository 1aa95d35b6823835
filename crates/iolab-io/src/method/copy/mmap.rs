//! The source mapped and written from the map, and both mapped and copied in memory. Mapping and
//! unmapping are timed. Pages of a source that became shorter raise SIGBUS in a copy in memory,
//! which ends the forked trial, and EFAULT in write(2).

use std::ops::Range;

use rustix::fd::AsFd;
use rustix::fs::{SeekFrom, ftruncate, seek};
use rustix::io::Errno;

use super::copy_loop::{CopyJob, CopyRange, Ends, Mover, copy, write_rest};
use super::whole::{CHUNK_BYTES, chunk};
use super::{CopyEntry, CopyMethod};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;
use crate::sys::map::Mapping;
use crate::sys::shared_map::SharedMapping;
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method("mmap", "copy: the source is mapped, and written from the map")
        .with(&[Capability::Copy])
        .ignoring(&[Factor::Block, Factor::QueueDepth]),
    copy: CopyEntry { step_bytes: chunk, route: CopyRoute::UserSpace, run: copy::<FromMap> },
    files: None,
};

/// How the other one describes itself.
pub const BOTH: CopyMethod = CopyMethod {
    part: Part::method(
        "mmap-both",
        "copy: source and target are mapped, and the bytes copied in memory",
    )
    .with(&[Capability::Copy])
    .ignoring(&[Factor::Block, Factor::QueueDepth]),
    copy: CopyEntry { step_bytes: chunk, route: CopyRoute::UserSpace, run: copy::<BothMapped> },
    files: None,
};

/// Calls `each` with every chunk of the range that is not empty, and the page that it begins in.
fn each_chunk(
    range: Range<u64>,
    mut each: impl FnMut(u64, Range<u64>) -> Result<(), Stop>,
) -> Result<Moved, Stop> {
    let page_bytes = crate::sys::page::page_bytes();
    let mut moved = Moved::default();
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + CHUNK_BYTES);
        each(at - at % page_bytes, at..end)?;
        moved += Moved { bytes: end - at, operations: 1 };
        at = end;
    }
    Ok(moved)
}

struct FromMap;

impl Mover for FromMap {
    fn open(_: &CopyJob<'_>) -> Result<FromMap, Stop> {
        Ok(FromMap)
    }

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let Ends { source, target } = on.ends;
        seek(target, SeekFrom::Start(on.bytes.start))?;
        each_chunk(on.bytes.clone(), |first, part| {
            let bytes = (part.end - first) as usize;
            let mapping = Mapping::new(source.as_fd(), first, bytes, false)?;
            let block = &mapping.bytes()[(part.start - first) as usize..];
            let written = match rustix::io::write(target, block) {
                Ok(n) if n == block.len() => Ok(()),
                first => write_rest(first, block, |rest| rustix::io::write(target, rest)),
            };
            written.map_err(|stop| match stop.errno {
                // The page is no longer in the file, or its device did not deliver it.
                Some(errno) if errno == Errno::FAULT.raw_os_error() => no_page(part.end),
                _ => stop,
            })?;
            mapping.unmap()?;
            on.after_block()
        })
    }
}

/// A page of the source that cannot be had.
#[cold]
fn no_page(at: u64) -> Stop {
    Stop::new(format!(
        "a page of the source before byte {at} cannot be read: it became shorter while it was \
         copied, or its device failed"
    ))
}

struct BothMapped;

impl Mover for BothMapped {
    const WRITES_BY_CALL: bool = false;

    fn open(_: &CopyJob<'_>) -> Result<BothMapped, Stop> {
        Ok(BothMapped)
    }

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let (ends, range) = (on.ends, on.bytes.clone());
        // A page beyond the end of a file cannot be written to.
        let size = rustix::fs::fstat(&ends.target)?.st_size as u64;
        if size < range.end {
            ftruncate(&ends.target, range.end)?;
        }
        each_chunk(range, |first, part| {
            let (bytes, skip) = ((part.end - first) as usize, (part.start - first) as usize);
            let source = Mapping::new(ends.source.as_fd(), first, bytes, false)?;
            let mut target = SharedMapping::new(ends.target.as_fd(), first, bytes)?;
            target.write(skip, &source.bytes()[skip..]);
            target.unmap()?;
            source.unmap()?;
            on.after_block()
        })
    }
}
