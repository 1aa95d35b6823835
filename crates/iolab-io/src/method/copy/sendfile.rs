//! `sendfile(2)` to a file: the kernel splices page by page through a pipe of its own.

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::copy_loop::{Ends, copy};
use super::whole::{ChunkCall, Chunked, chunk};
use super::whole_file::{WHOLE_BYTES, WholeFile, until_moved};
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method("sendfile", "copy: sendfile(2), in the kernel")
        .with(&[Capability::Copy, Capability::Surveyed])
        .ignoring(&[Factor::Block, Factor::QueueDepth]),
    copy: CopyEntry {
        step_bytes: chunk,
        route: CopyRoute::InKernel,
        run: copy::<Chunked<Sendfile>>,
    },
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

impl ChunkCall for Sendfile {
    /// The target's position is its own; the call advances it.
    fn begin(ends: &Ends, at: u64) -> Result<(), Errno> {
        seek(&ends.target, SeekFrom::Start(at)).map(drop)
    }

    #[inline(always)]
    fn copy(ends: &Ends, at: u64, n: usize) -> Result<usize, Errno> {
        let mut from = at;
        rustix::fs::sendfile(&ends.target, &ends.source, Some(&mut from), n)
    }
}

impl WholeFile for Sendfile {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, size: u64) -> Result<u64, Errno> {
        until_moved(size, || rustix::fs::sendfile(to, from, None, WHOLE_BYTES))
    }
}
