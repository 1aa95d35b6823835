//! A method to copy. Replace the names, describe it, write `open` and `block_range`, add one line to the
//! list in `mod.rs`. It compiles and is tested, so that it stays true; it is in no list.

use std::ops::Range;

use rustix::fd::OwnedFd;

use super::access::{Access, open_with};
use super::buffer::Buffer;
use super::consume::Fold;
use super::latency::Watch;
use super::order::AccessOrder;
use super::partition::{Moved, Partition, ReadJob, Stop, complete};
use super::read_loop::{self, Reader, Sink};
use super::{Method, ReadEntry, the_block};
use iolab_model::catalog::{Capability, Factor, Part, PartKind};

/// What lists, help and the plan say of it. The name is what people type.
pub const METHOD: Method = Method {
    part: Part {
        id: "skeleton",
        kind: PartKind::Method,
        // One line, no full stop.
        summary: "a method to copy",
        // A workload asks for one of these, never for a method by name.
        capabilities: &[Capability::Read, Capability::Direct],
        // Factors that make no difference to it; their levels are collapsed.
        ignores: &[Factor::QueueDepth],
        // What the kernel or the person must bring, in words.
        needs: "",
        // True where nobody wants it unasked.
        by_name_only: false,
    },
    read: Some(ReadEntry {
        // Bytes of one operation: the block, unless the method has an operation of its own.
        step_bytes: the_block,
        // False where the bytes handed on are not the file's.
        real: true,
        // One generic function; the loop for order and consumer is chosen inside, once a trial.
        run: read_loop::read::<Skeleton>,
    }),
    write: None,
};

/// What one thread needs during a trial.
struct Skeleton {
    file: OwnedFd,
    buffer: Buffer,
}

impl Reader for Skeleton {
    /// Outside the timed window: open, allocate, touch. Called by the thread that will read.
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Skeleton, Stop> {
        Ok(Skeleton {
            file: open_with(job.path, job.access, partition.step_bytes)?,
            buffer: Buffer::new(partition.step_bytes)?,
        })
    }

    /// Inside the timed window: the operations of `block_range`, each block handed to `to.fold` once and
    /// each operation told to `to.watch`. No allocation, formatting, atomics or clock here; errors leave by `?` at no cost.
    fn block_range<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        partition: &Partition,
        order: O,
        block_range: Range<u64>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop> {
        let (file, buffer) = (&self.file, self.buffer.as_mut());
        let mut moved = Moved { bytes: 0, operations: block_range.end - block_range.start };
        for block in order.steps(block_range) {
            let at = partition.offset(block);
            let began = to.watch.begin();
            // Whatever is not a full block (the tail, a short read, EINTR) goes the cold way.
            let n = match rustix::io::pread(file, &mut *buffer, at) {
                Ok(n) if n == buffer.len() => n,
                first => {
                    let again = |rest: &mut [u8], at| rustix::io::pread(file, rest, at);
                    complete(first, buffer, at, partition.block_bytes(block), again)?
                }
            };
            to.watch.end(began);
            to.fold.block(at, &buffer[..n]);
            moved.bytes += n as u64;
        }
        Ok(moved)
    }
}

#[test]
fn the_skeleton_reads() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("f");
    std::fs::write(&path, b"123456789").unwrap();
    let layout =
        super::Layout::new(9, 4, 1, iolab_model::catalog::Pattern::Sequential, 0).passes(1);
    let job = ReadJob {
        path: &path,
        layout,
        consume: iolab_model::catalog::Consume::Crc32c,
        access: Access::default(),
        latency: false,
    };
    let entry = METHOD.read.unwrap();
    let outcome = (entry.run)(&job, &mut super::NoWindow).unwrap();
    assert_eq!((outcome.bytes, outcome.operations), (9, 3));
    assert_eq!(outcome.partial.unwrap().digest().unwrap().1, "e3069283");
}
