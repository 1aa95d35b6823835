//! The data of a sparse file, without its holes.

use std::ops::Range;

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, ftruncate, seek};
use rustix::io::Errno;

use crate::method::partition::{Moved, Stop};

/// Copies the data of the source only, range by range with `copy`, and ends with the source's size. A file system that knows
/// no holes tells of one stretch of data.
pub fn segments(
    source: &OwnedFd,
    target: &OwnedFd,
    bytes: u64,
    mut copy: impl FnMut(Range<u64>) -> Result<Moved, Stop>,
) -> Result<Moved, Stop> {
    let mut moved = Moved::default();
    let mut at = 0;
    while at < bytes {
        let start = match seek(source, SeekFrom::Data(at)) {
            Ok(start) => start.min(bytes),
            // Nothing but a hole from here on.
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        let end = match seek(source, SeekFrom::Hole(start)) {
            Ok(end) => end.min(bytes),
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        if end > start {
            moved += copy(start..end)?;
        }
        at = end.max(at + 1);
    }
    ftruncate(target, bytes)?;
    Ok(moved)
}
