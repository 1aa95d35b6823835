//! Writing through a mapping: a new file is brought to its size, mapped, copied into, unmapped; all
//! of it is timed. Like a mapping that is read it has no block: the operation is a window of 1 MiB
//! in sequential order and a page in any other.

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{OFlags, ftruncate};

use super::fill::Pool;
use super::mapping::window_or_page;
use super::order::AccessOrder;
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, Stop};
use super::sync::Follow;
use super::target::WriteJob;
use super::write_loop::{self, Writer};
use super::{Lack, WriteEntry};
use crate::sys::shared_map::SharedMapping;
use iolab_model::catalog::{Sync, Target};

const NO_FLAG: &str = "what is stored through a mapping does not pass write(2), so the flag \
                       promises nothing for it; take --sync end";

/// How `mmap` writes.
pub const ENTRY: WriteEntry = write_loop::entry::<MmapWrite>().in_steps(window_or_page).lacking(&[
    (Lack::Sync(Sync::Dsync), NO_FLAG),
    (Lack::Sync(Sync::Sync), NO_FLAG),
    (Lack::Target(Target::Append), "a mapping does not grow; take another --target"),
]);

struct MmapWrite {
    file: OwnedFd,
    /// The size that the file must be brought to first.
    grow_to: Option<u64>,
}

impl Writer for MmapWrite {
    type Rest = ();

    fn open(job: &WriteJob<'_>, _: &Partition) -> Result<MmapWrite, Stop> {
        let file = job.open(OFlags::RDWR)?;
        let grow_to = (job.target == Target::New).then_some(job.end_bytes);
        Ok(MmapWrite { file, grow_to })
    }

    fn write_blocks<O: AccessOrder, F: Follow>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop> {
        // Every thread says the same size, so that none takes bytes from another.
        if let Some(bytes) = self.grow_to.take() {
            ftruncate(&self.file, bytes)?;
        }
        if range.steps.is_empty() {
            return Ok(Moved::default());
        }
        let (partition, mapped, mut moved) = (range.partition, range.mapped(), range.unmoved());
        let (start, last) = (partition.offset(mapped.start), mapped.end - 1);
        let bytes = partition.offset(last) + partition.block_bytes(last) - start;
        let mut mapping = SharedMapping::new(self.file.as_fd(), start, bytes as usize)?;
        let in_file = partition.indices();
        for block in range.blocks() {
            let bytes = &pool.block(in_file(block))[..partition.block_bytes(block) as usize];
            let began = follow.before();
            mapping.write((partition.offset(block) - start) as usize, bytes);
            follow.after(self.file.as_fd(), began)?;
            moved.bytes += bytes.len() as u64;
        }
        mapping.unmap()?;
        Ok(moved)
    }

    fn into_parts(self) -> (Option<OwnedFd>, ()) {
        (Some(self.file), ())
    }
}
