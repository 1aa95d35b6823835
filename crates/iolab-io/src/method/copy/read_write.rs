//! The loop that every program had first: `read(2)` into a buffer, `write(2)` from it.

use rustix::fd::OwnedFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::copy_loop::{CopyJob, CopyRange, Ends, Mover, copy, write_rest};
use super::whole_file::WholeFile;
use super::{CopyEntry, CopyMethod, FilesEntry, files_part};
use crate::method::buffer::Buffer;
use crate::method::partition::{Moved, Stop, complete};
use crate::method::sync::Barrier;
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::CopyRoute;

/// How it describes itself.
pub const METHOD: CopyMethod = CopyMethod {
    part: Part::method("read-write", "copy: read(2) into a buffer, write(2) from it")
        .with(&[Capability::Copy, Capability::Surveyed])
        .ignoring(&[Factor::QueueDepth]),
    copy: CopyEntry {
        step_bytes: |block| block,
        route: CopyRoute::UserSpace,
        run: copy::<ReadWrite>,
    },
    files: Some(FilesEntry {
        part: files_part("read-write", "of files: through a buffer of a block", &[]),
        make: |block| Ok(Box::new(ReadWrite(Buffer::new(block)?))),
    }),
};

struct ReadWrite(Buffer);

impl Mover for ReadWrite {
    fn open(job: &CopyJob<'_>) -> Result<ReadWrite, Stop> {
        Ok(ReadWrite(Buffer::new(job.block_bytes)?))
    }

    fn range<B: Barrier>(&mut self, mut on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let (Ends { source, target }, buffer) = (on.ends, self.0.as_mut());
        let range = on.bytes.clone();
        seek(source, SeekFrom::Start(range.start))?;
        seek(target, SeekFrom::Start(range.start))?;
        let mut moved = Moved::default();
        let mut at = range.start;
        while at < range.end {
            let want = (buffer.len() as u64).min(range.end - at) as usize;
            let block = &mut buffer[..want];
            match rustix::io::read(source, &mut *block) {
                Ok(n) if n == want => {}
                first => {
                    let again = |rest: &mut [u8], _| rustix::io::read(source, rest);
                    complete(first, block, at, want as u64, again)?;
                }
            }
            match rustix::io::write(target, block) {
                Ok(n) if n == want => {}
                first => write_rest(first, block, |rest| rustix::io::write(target, rest))?,
            }
            on.after_block()?;
            at += want as u64;
            moved += Moved { bytes: want as u64, operations: 1 };
        }
        Ok(moved)
    }
}

impl WholeFile for ReadWrite {
    fn all(&mut self, from: &OwnedFd, to: &OwnedFd, _: u64) -> Result<u64, Errno> {
        let buffer = self.0.as_mut();
        let mut moved = 0;
        loop {
            let count = match rustix::io::read(from, &mut *buffer) {
                Ok(count) => count,
                Err(Errno::INTR) => continue,
                Err(errno) => return Err(errno),
            };
            let mut rest = &buffer[..count];
            while !rest.is_empty() {
                match rustix::io::write(to, rest) {
                    Ok(0) => return Err(Errno::IO),
                    Ok(written) => rest = &rest[written..],
                    Err(Errno::INTR) => {}
                    Err(errno) => return Err(errno),
                }
            }
            moved += count as u64;
            // A regular file gives less than it is asked for at its end alone.
            if count < buffer.len() {
                return Ok(moved);
            }
        }
    }
}
