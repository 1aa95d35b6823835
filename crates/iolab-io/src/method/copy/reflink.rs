//! `FICLONE`: the target shares the source's extents. No byte is moved, so it is a class of its
//! own: it is compared with other clones only.

use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;

use super::copy_loop::{CopyJob, CopyRange, Ends, Holes, Mover, copy, refused};
use super::whole::{CHUNK_BYTES, chunk};
use super::whole_file::WholeFile;
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;
use crate::sys::clone::clone_range;
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method(
        "reflink",
        "copy: FICLONE, the target shares the source's extents; never ranked with copies",
    )
    .with(&[Capability::Copy, Capability::Surveyed])
    .ignoring(&[Factor::Block, Factor::QueueDepth])
    .needing("a file system that clones, such as btrfs or XFS"),
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

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let (Ends { source, target }, bytes) = (on.ends, on.bytes.end - on.bytes.start);
        if on.bytes == (0..self.bytes) {
            rustix::fs::ioctl_ficlone(target, source).map_err(refused)?;
        } else if bytes > 0 {
            clone_range(source.as_fd(), target.as_fd(), on.bytes.clone()).map_err(refused)?;
        }
        on.after_block()?;
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
