//! A method to copy. Replace the names, describe it, write `new` and `read`, add one line to the
//! list in `mod.rs`. It compiles and is tested, so that it stays true; it is in no list.
//!
//! It is one of those that read a block by one call into one buffer. A method of another kind (a
//! mapping, several requests under way) implements [`read_loop::Reader`] itself, as `mmap.rs` does.

use rustix::fd::OwnedFd;
use rustix::io::{Errno, pread};

use super::partition::ReadJob;
use super::read_call::{Buffered, ReadCall};
use super::{Access, Method, read_loop};
use iolab_model::catalog::{Capability, Factor, Part};

/// What lists, help and the plan say of it. The name is what people type.
pub const METHOD: Method = Method {
    // The name, and one line without a full stop.
    part: Part::method("skeleton", "a method to copy")
        // A workload asks for one of these, never for a method by name.
        .with(&[Capability::Read, Capability::Direct])
        // Factors that make no difference to it; their levels are collapsed.
        .ignoring(&[Factor::QueueDepth])
        // What the kernel or the person must bring, in words.
        .needing("")
        // Only where nobody wants it unasked.
        .by_name_only(),
    // One generic function; the loop for order and consumer is chosen inside, once a trial. An operation
    // is a block (`in_steps` where it is something else), the bytes are the file's (else `without_bytes`).
    read: Some(read_loop::entry::<Buffered<Skeleton>>()),
    write: None,
};

/// What the call needs beside a descriptor and a buffer: here nothing.
struct Skeleton;

impl ReadCall for Skeleton {
    /// Outside the timed window, by the thread that will read.
    fn new(_: u64) -> Skeleton {
        Skeleton
    }

    /// Inside the timed window: one call. No allocation, formatting, atomics or clock here; what is
    /// not a full block goes a cold way of its own.
    #[inline(always)]
    fn read(&self, file: &OwnedFd, buffer: &mut [u8], at: u64) -> Result<usize, Errno> {
        pread(file, buffer, at)
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
