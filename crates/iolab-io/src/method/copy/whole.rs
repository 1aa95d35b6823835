//! What calls that take a whole file have in common: they are asked for one chunk at a time.

use std::marker::PhantomData;
use std::ops::Range;

use rustix::fd::AsFd;
use rustix::io::Errno;

use super::copy_loop::{CopyJob, CopyRange, Ends, Mover, became_shorter, refused};
use crate::method::partition::{Moved, Stop};
use crate::method::sync::Barrier;

/// Bytes that are asked of one call. Large enough that a call's own cost is nothing, small enough
/// that a trial on a large file can be bounded.
pub const CHUNK_BYTES: u64 = 64 << 20;

/// The step of a method that has no block.
pub fn chunk(_: u64) -> u64 {
    CHUNK_BYTES
}

/// A call that copies as much as it is asked for.
pub trait ChunkCall: Sized {
    /// What must be so before the first call: nothing, unless it moves the target's position.
    fn begin(_: &Ends, _: u64) -> Result<(), Errno> {
        Ok(())
    }

    /// Asks for `n` bytes from `at` on. Always inlined.
    fn copy(ends: &Ends, at: u64, n: usize) -> Result<usize, Errno>;
}

/// Copies by such a call.
pub struct Chunked<C>(PhantomData<C>);

impl<C: ChunkCall> Mover for Chunked<C> {
    fn open(_: &CopyJob<'_>) -> Result<Self, Stop> {
        Ok(Chunked(PhantomData))
    }

    fn range<B: Barrier>(&mut self, on: CopyRange<'_, B>) -> Result<Moved, Stop> {
        let CopyRange { ends, bytes, barrier } = on;
        C::begin(ends, bytes.start)?;
        let after = || barrier.after_block(ends.target.as_fd());
        chunks(bytes, after, |at, n| C::copy(ends, at, n))
    }
}

/// Asks `call` (offset, bytes) for the range chunk by chunk until all is there, and `after` follows
/// each. Short counts and interruptions go on.
fn chunks(
    range: Range<u64>,
    mut after: impl FnMut() -> Result<(), Errno>,
    mut call: impl FnMut(u64, usize) -> Result<usize, Errno>,
) -> Result<Moved, Stop> {
    let mut moved = Moved::default();
    let mut at = range.start;
    while at < range.end {
        let end = range.end.min(at + CHUNK_BYTES);
        moved += Moved { bytes: end - at, operations: 1 };
        while at < end {
            match call(at, (end - at) as usize) {
                Ok(0) => return Err(became_shorter(range.end)),
                Ok(n) => at += n as u64,
                Err(Errno::INTR) => {}
                Err(errno) => return Err(refused(errno)),
            }
        }
        after().map_err(refused)?;
    }
    Ok(moved)
}

#[cfg(test)]
mod tests {
    use super::{CHUNK_BYTES, Errno, chunks};

    #[test]
    fn short_counts_and_interruptions_go_on_and_an_early_end_is_a_fault() {
        let mut script = [Ok(5), Err(Errno::INTR), Ok(7)].into_iter();
        let mut asked = Vec::new();
        let moved = chunks(
            100..112,
            || Ok(()),
            |at, n| {
                asked.push((at, n));
                script.next().unwrap()
            },
        );
        assert_eq!(moved.map(|m| (m.bytes, m.operations)), Ok((12, 1)));
        assert_eq!(asked, [(100, 12), (105, 7), (105, 7)]);
        let gone = chunks(0..10, || Ok(()), |at, _| Ok(if at == 0 { 4 } else { 0 })).unwrap_err();
        assert!(gone.cause.contains("shorter"), "{gone:?}");
        let mut synced = 0;
        let moved = chunks(
            0..2 * CHUNK_BYTES + 1,
            || {
                synced += 1;
                Ok(())
            },
            |_, n| Ok(n),
        )
        .unwrap();
        assert_eq!(synced, 3);
        assert_eq!((moved.bytes, moved.operations), (2 * CHUNK_BYTES + 1, 3));
        assert_eq!(chunks(4..4, || Ok(()), |_, _| panic!("nothing to do")).unwrap().operations, 0);
    }
}
