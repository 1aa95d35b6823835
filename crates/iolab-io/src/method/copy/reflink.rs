//! `FICLONE`: the target shares the source's extents. No byte is moved, so it is a class of its
//! own: it is compared with other clones only.

use std::ops::Range;

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

use super::copy_loop::{CopyJob, Ends, Holes, Mover, copy, refused};
use super::whole::{CHUNK_BYTES, chunk};
use super::whole_file::WholeFile;
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;
use crate::sys::clone::clone_range;
use iolab_model::catalog::{Capability, Factor, Part, PartKind};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part {
        id: "reflink",
        kind: PartKind::Method,
        summary: "copy: FICLONE, the target shares the source's extents; never ranked with copies",
        capabilities: &[Capability::Copy, Capability::Surveyed],
        ignores: &[Factor::Block, Factor::QueueDepth],
        needs: "a file system that clones, such as btrfs or XFS",
        by_name_only: false,
    },
    copy: CopyEntry { step_bytes: chunk, route: CopyRoute::Cloned, run: copy::<Reflink> },
    files: Some(FilesEntry {
        part: Part {
            needs: "a file system that clones (btrfs, xfs, bcachefs)",
            by_name_only: true,
            ..files_part(
                "reflink",
                "of files: share the blocks (FICLONE), no byte moves",
                &[Factor::Block],
            )
        },
        make: |_| Ok(Box::new(CloneFile)),
    }),
};

struct Reflink {
    bytes: u64,
}

impl Mover for Reflink {
    fn open(job: &CopyJob<'_>) -> Result<Reflink, Stop> {
        match job.holes {
            Holes::Fill => {
                Err(Stop::new("a clone keeps the holes of its source; take another way"))
            }
            Holes::Keep | Holes::AsItComes => Ok(Reflink { bytes: job.bytes }),
        }
    }

    fn range<B: Barrier>(
        &mut self,
        ends: &Ends,
        range: Range<u64>,
        barrier: &mut B,
    ) -> Result<Moved, Stop> {
        let bytes = range.end - range.start;
        if range == (0..self.bytes) {
            rustix::fs::ioctl_ficlone(&ends.target, &ends.source).map_err(refused)?;
        } else if bytes > 0 {
            clone_range(ends.source.as_fd(), ends.target.as_fd(), range).map_err(refused)?;
        }
        barrier.after_block(ends.target.as_fd()).map_err(refused)?;
        Ok(Moved { bytes, operations: bytes.div_ceil(CHUNK_BYTES) })
    }
}

struct CloneFile;

impl WholeFile for CloneFile {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, _: u64) -> Result<u64, Errno> {
        rustix::fs::ioctl_ficlone(to, from)?;
        Ok(rustix::fs::fstat(from)?.st_size as u64)
    }
}
