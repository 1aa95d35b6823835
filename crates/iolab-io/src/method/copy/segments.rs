//! The data of a sparse file, without its holes.

use rustix::fs::{SeekFrom, ftruncate, seek};
use rustix::io::Errno;

use super::copy_loop::{Ends, Mover};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;

/// Copies the data of the source only, and ends with the source's size. A file system that knows
/// no holes tells of one stretch of data.
pub fn segments<M: Mover, B: Barrier>(
    mover: &mut M,
    ends: &Ends,
    bytes: u64,
    barrier: &mut B,
) -> Result<Moved, Stop> {
    let mut moved = Moved::default();
    let mut at = 0;
    while at < bytes {
        let start = match seek(&ends.source, SeekFrom::Data(at)) {
            Ok(start) => start.min(bytes),
            // Nothing but a hole from here on.
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        let end = match seek(&ends.source, SeekFrom::Hole(start)) {
            Ok(end) => end.min(bytes),
            Err(Errno::NXIO) => break,
            Err(errno) => return Err(errno.into()),
        };
        if end > start {
            moved += mover.range(ends, start..end, barrier)?;
        }
        at = end.max(at + 1);
    }
    ftruncate(&ends.target, bytes)?;
    Ok(moved)
}
