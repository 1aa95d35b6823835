//! The one way in which a file is brought into the page cache.

use rustix::fd::AsFd;
use rustix::io::{Errno, pread};

/// The primer's block. Folio sizes, and so the speed of warm reads, depend on how pages were
/// brought in: every file is primed in the same way.
const PRIME_BYTES: usize = 128 * 1024;

/// Reads a file once from start to end in calls of 128 KiB; the bytes that were read.
///
/// # Errors
/// What a read said.
pub fn read_through(file: impl AsFd) -> Result<u64, Errno> {
    read_from(file, 0)
}

/// The same from an offset on. Returns where the file ends.
///
/// # Errors
/// What a read answers.
pub fn read_from(file: impl AsFd, mut offset: u64) -> Result<u64, Errno> {
    let mut buffer = vec![0; PRIME_BYTES];
    loop {
        match pread(&file, &mut buffer, offset) {
            Ok(0) => return Ok(offset),
            Ok(count) => offset += count as u64,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(errno),
        }
    }
}
