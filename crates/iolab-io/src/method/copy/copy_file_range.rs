//! `copy_file_range(2)`: the kernel copies, or the file system clones where it can.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

use super::copy_loop::{CopyJob, Ends, Mover, copy};
use super::whole::{chunk, chunks};
use super::whole_file::{WHOLE_BYTES, WholeFile, until_moved};
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;
use iolab_model::catalog::{Capability, Factor, Part, PartKind};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part {
        id: "copy_file_range",
        kind: PartKind::Method,
        summary: "copy: copy_file_range(2), in the kernel; a file system that can clones instead",
        capabilities: &[Capability::Copy, Capability::Surveyed],
        ignores: &[Factor::Block, Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    copy: CopyEntry { step_bytes: chunk, route: CopyRoute::InKernel, run: copy::<CopyFileRange> },
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

impl Mover for CopyFileRange {
    fn open(_: &CopyJob<'_>) -> Result<CopyFileRange, Stop> {
        Ok(CopyFileRange)
    }

    fn range<B: Barrier>(
        &mut self,
        ends: &Ends,
        range: Range<u64>,
        barrier: &mut B,
    ) -> Result<Moved, Stop> {
        let after = || barrier.after_block(ends.target.as_fd());
        chunks(range, after, |at, n| {
            let (mut from, mut to) = (at, at);
            let (source, target) = (&ends.source, &ends.target);
            rustix::fs::copy_file_range(source, Some(&mut from), target, Some(&mut to), n)
        })
    }
}

impl WholeFile for CopyFileRange {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<u64, Errno> {
        until_moved(size, || rustix::fs::copy_file_range(from, None, to, None, WHOLE_BYTES))
    }
}
