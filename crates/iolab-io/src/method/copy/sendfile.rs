//! `sendfile(2)` to a file: the kernel splices page by page through a pipe of its own.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{SeekFrom, seek};
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
        id: "sendfile",
        kind: PartKind::Method,
        summary: "copy: sendfile(2), in the kernel",
        capabilities: &[Capability::Copy, Capability::Surveyed],
        ignores: &[Factor::Block, Factor::QueueDepth],
        needs: "",
        by_name_only: false,
    },
    copy: CopyEntry { step_bytes: chunk, route: CopyRoute::InKernel, run: copy::<Sendfile> },
    files: Some(FilesEntry {
        part: files_part(
            "sendfile",
            "of files: one call a file, inside of the kernel",
            &[Factor::Block],
        ),
        make: |_| Ok(Box::new(Sendfile)),
    }),
};

struct Sendfile;

impl Mover for Sendfile {
    fn open(_: &CopyJob<'_>) -> Result<Sendfile, Stop> {
        Ok(Sendfile)
    }

    fn range<B: Barrier>(
        &mut self,
        ends: &Ends,
        range: Range<u64>,
        barrier: &mut B,
    ) -> Result<Moved, Stop> {
        // The target's position is its own; the call advances it.
        seek(&ends.target, SeekFrom::Start(range.start))?;
        let after = || barrier.after_block(ends.target.as_fd());
        chunks(range, after, |at, n| {
            let mut from = at;
            rustix::fs::sendfile(&ends.target, &ends.source, Some(&mut from), n)
        })
    }
}

impl WholeFile for Sendfile {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<u64, Errno> {
        until_moved(size, || rustix::fs::sendfile(to, from, None, WHOLE_BYTES))
    }
}
