//! What a method is asked for at a time: blocks of one partition, in an order.

use std::ops::Range;

use rustix::fd::AsFd;
use rustix::fs::{SeekFrom, seek};
use rustix::io::Errno;

use super::order::AccessOrder;
use super::partition::{Moved, Partition};

/// Blocks of one partition that are next to each other in the order of a pass. All of it is settled
/// before the clock starts; inside of the timed window it is only read.
#[derive(Clone, Debug)]
pub struct OrderedBlocks<'a, O> {
    /// Whose blocks.
    pub partition: &'a Partition,
    /// In which order a pass visits them.
    pub order: O,
    /// Which operations of the pass.
    pub steps: Range<u64>,
}

impl<O: AccessOrder> OrderedBlocks<'_, O> {
    /// The blocks, in the order they are visited in.
    #[inline(always)]
    pub fn blocks(&self) -> impl Iterator<Item = u64> + use<O> {
        self.order.steps(self.steps.clone())
    }

    /// Its operations, with no byte moved yet.
    #[inline(always)]
    pub fn unmoved(&self) -> Moved {
        Moved { bytes: 0, operations: self.steps.end - self.steps.start }
    }

    /// Moves the file position to the first block, where each of the others follows the one before
    /// it in the file.
    #[inline(always)]
    pub fn seek_to_first(&self, file: impl AsFd) -> Result<(), Errno> {
        if O::CONTIGUOUS && !self.steps.is_empty() {
            seek(file, SeekFrom::Start(self.partition.offset(self.steps.start)))?;
        }
        Ok(())
    }

    /// The blocks that a mapping must hold: those that are visited where they lie side by side, else
    /// all of the partition.
    pub fn mapped(&self) -> Range<u64> {
        if O::CONTIGUOUS { self.steps.clone() } else { 0..self.partition.count }
    }
}
