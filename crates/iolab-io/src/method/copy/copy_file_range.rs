//! `copy_file_range(2)`: the kernel copies, or the file system clones where it can.

use rustix::fd::OwnedFd;
use rustix::io::Errno;

use super::copy_loop::{Ends, copy};
use super::whole::{ChunkCall, Chunked, chunk};
use super::whole_file::{WHOLE_BYTES, WholeFile, until_moved};
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method(
        "copy_file_range",
        "copy: copy_file_range(2), in the kernel; a file system that can clones instead",
    )
    .with(&[Capability::Copy, Capability::Surveyed])
    .ignoring(&[Factor::Block, Factor::QueueDepth]),
    copy: CopyEntry {
        step_bytes: chunk,
        route: CopyRoute::InKernel,
        run: copy::<Chunked<CopyFileRange>>,
    },
    files: Some(FilesEntry {
        part: files_part(
            "copy_file_range",
            "of files: one call a file, inside of the kernel",
            &[Factor::Block],
        ),
        make: |_| Ok(Box::new(CopyFileRange)),
    }),
};

struct CopyFileRange;

impl ChunkCall for CopyFileRange {
    #[inline(always)]
    fn copy(ends: &Ends, at: u64, n: usize) -> Result<usize, Errno> {
        let (mut from, mut to) = (at, at);
        rustix::fs::copy_file_range(&ends.source, Some(&mut from), &ends.target, Some(&mut to), n)
    }
}

impl WholeFile for CopyFileRange {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<u64, Errno> {
        until_moved(size, || rustix::fs::copy_file_range(from, None, to, None, WHOLE_BYTES))
    }
}
