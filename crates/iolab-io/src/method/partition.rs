//! How the work of a trial is cut: partitions (one a thread, disjoint ranges that begin on a block),
//! and in each partition the block_ranges of its passes.

use iolab_model::catalog::{Consume, Pattern};
use std::ops::{AddAssign, Range};
use std::path::Path;

use rustix::io::Errno;

use super::access::Access;
use super::order::visit;
pub use super::stop::Stop;

/// One thread's part of the file. Operation k visits one block of `step_bytes`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Partition {
    /// Where it begins in the file.
    pub first_byte: u64,
    /// Where it ends.
    pub end_byte: u64,
    /// Bytes of an operation; only the last block of the file may be shorter.
    pub step_bytes: u64,
    /// Blocks, the last shorter one included.
    pub count: u64,
    /// How often the block_ranges are done.
    pub passes: u64,
    /// Operations of a pass, in order; more than one where a bounded trial wraps.
    pub block_ranges: Vec<Range<u64>>,
    /// From one block to the next, in blocks: more than 1 where those between them are of others.
    pub apart: u64,
}

impl Partition {
    /// Finds the index within the file of a block of this partition. Divides once: take it before the clock
    /// starts.
    #[inline(always)]
    pub fn indices(&self) -> impl Fn(u64) -> u64 + use<> {
        let (first, apart) = (self.first_byte / self.step_bytes, self.apart);
        move |block| first + block * apart
    }

    /// Where a block begins in the file.
    #[inline(always)]
    pub fn offset(&self, block: u64) -> u64 {
        self.first_byte + block * (self.step_bytes * self.apart)
    }

    /// Bytes of a block.
    #[inline(always)]
    pub fn block_bytes(&self, block: u64) -> u64 {
        self.step_bytes.min(self.end_byte - self.offset(block))
    }

    /// Bytes of all its blocks.
    pub fn bytes(&self) -> u64 {
        match self.count.checked_sub(1) {
            None => 0,
            Some(last) => last * self.step_bytes + self.block_bytes(last),
        }
    }
}

/// How a file is visited.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layout {
    /// One a thread.
    pub partitions: Vec<Partition>,
    /// In which order each partition is visited.
    pub pattern: Pattern,
    /// Of the random order.
    pub seed: u64,
    /// Whether the rest of the file is of others.
    pub shared: bool,
}

impl Layout {
    /// Cuts a file of `file_bytes` into blocks of `step_bytes` (> 0) and those among `threads`
    /// (> 0) partitions; no work yet.
    pub fn new(
        file_bytes: u64,
        step_bytes: u64,
        threads: u64,
        pattern: Pattern,
        seed: u64,
    ) -> Layout {
        let blocks = file_bytes.div_ceil(step_bytes);
        let cut = |partition: u64| {
            (u128::from(blocks) * u128::from(partition) / u128::from(threads)) as u64
        };
        let partitions = (0..threads)
            .map(|partition| {
                let (first, end) = (cut(partition), cut(partition + 1));
                Partition {
                    first_byte: first * step_bytes,
                    end_byte: end.saturating_mul(step_bytes).min(file_bytes),
                    step_bytes,
                    count: end - first,
                    passes: 0,
                    block_ranges: Vec::new(),
                    apart: 1,
                }
            })
            .collect();
        Layout { partitions, pattern, seed, shared: false }
    }

    /// Whether blocks are visited as they lie in the file, with none of others between them.
    pub fn is_in_file_order(&self) -> bool {
        let apart = |partition: &Partition| partition.apart > 1;
        self.pattern == Pattern::Sequential && !self.partitions.iter().any(apart)
    }

    /// Whole passes.
    #[must_use]
    pub fn passes(mut self, passes: u64) -> Layout {
        for partition in &mut self.partitions {
            partition.passes = passes;
            partition.block_ranges = std::iter::once(0..partition.count).collect();
        }
        self
    }

    /// This many operations from this one on, wrapping. Operation k is the (k / partitions)-th of partition
    /// k mod partitions, so that a trial which goes on where another stopped does so in every partition.
    #[must_use]
    pub fn part(mut self, first: u64, operations: u64) -> Layout {
        let partitions = self.partitions.len() as u64;
        for (at, partition) in (0..).zip(&mut self.partitions) {
            let before = |k: u64| k.saturating_sub(at).div_ceil(partitions);
            partition.passes = 1;
            partition.block_ranges =
                wrapped(partition.count, before(first), before(first.saturating_add(operations)));
        }
        self
    }

    /// The different bytes visited, at least (a shorter last block may be among them); `None` for
    /// all of the file.
    pub fn visited_bytes(&self) -> Option<u64> {
        let whole = |partition: &Partition| {
            partition.block_ranges.iter().map(|l| l.end - l.start).sum::<u64>() >= partition.count
        };
        if !self.shared && self.partitions.iter().all(whole) {
            return None;
        }
        let bytes = |partition: &Partition| {
            let steps = partition
                .block_ranges
                .iter()
                .map(|block_range| block_range.end - block_range.start)
                .sum::<u64>();
            let whole_bytes = partition.bytes();
            let lacking = (partition.count * partition.step_bytes).saturating_sub(whole_bytes);
            (steps.min(partition.count) * partition.step_bytes)
                .saturating_sub(lacking)
                .min(whole_bytes)
        };
        Some(self.partitions.iter().map(bytes).sum())
    }

    /// The byte ranges of one pass in the order they are visited, partition after partition: one range a
    /// block_range in sequential order, else one a block.
    pub fn each_range(&self, mut each: impl FnMut(Range<u64>)) {
        for partition in &self.partitions {
            for block_range in
                partition.block_ranges.iter().filter(|block_range| !block_range.is_empty())
            {
                if self.is_in_file_order() {
                    let last = block_range.end - 1;
                    each(
                        partition.offset(block_range.start)
                            ..partition.offset(last) + partition.block_bytes(last),
                    );
                } else {
                    visit(self.pattern, partition.count, self.seed, block_range.clone(), |block| {
                        each(
                            partition.offset(block)
                                ..partition.offset(block) + partition.block_bytes(block),
                        );
                    });
                }
            }
        }
    }
}

/// The operations `from..to` of an endless repetition of `0..count`, as block_ranges within it.
fn wrapped(count: u64, from: u64, to: u64) -> Vec<Range<u64>> {
    let mut block_ranges = Vec::new();
    let mut left = to - from;
    let mut at = from.checked_rem(count).unwrap_or(0);
    while left > 0 && count > 0 {
        let block_range = left.min(count - at);
        block_ranges.push(at..at + block_range);
        left -= block_range;
        at = 0;
    }
    block_ranges
}

/// A file to read and how.
#[derive(Clone, Debug)]
pub struct ReadJob<'a> {
    /// The file; opened anew by every thread of every trial, because the state of read-ahead
    /// lives in the open file.
    pub path: &'a Path,
    /// What is read by whom.
    pub layout: Layout,
    /// What is done with it.
    pub consume: Consume,
    /// How it is brought in.
    pub access: Access,
    /// Whether each operation is timed by itself.
    pub latency: bool,
}

/// Bytes and operations done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moved {
    /// Bytes.
    pub bytes: u64,
    /// Calls or loop steps; a read that had to be repeated counts once.
    pub operations: u64,
}

impl AddAssign for Moved {
    fn add_assign(&mut self, more: Moved) {
        self.bytes += more.bytes;
        self.operations += more.operations;
    }
}

/// What follows a read that did not fill the buffer: the end of the file as expected, an
/// interruption, or a short read that is continued. `want`: bytes that the block has.
#[cold]
#[inline(never)]
pub fn complete(
    first: Result<usize, Errno>,
    buffer: &mut [u8],
    at: u64,
    want: u64,
    mut read_at: impl FnMut(&mut [u8], u64) -> Result<usize, Errno>,
) -> Result<usize, Stop> {
    let want = want as usize;
    let mut filled = 0;
    let mut result = first;
    loop {
        match result {
            Ok(0) if filled < want => return Err(became_shorter(at + filled as u64)),
            Ok(n) => filled += n,
            Err(Errno::INTR) => {}
            Err(errno) => return Err(Stop::from(errno).at_byte(at + filled as u64)),
        }
        if filled >= want {
            // A file that grew meanwhile gives more than it had; the rest is not ours.
            return Ok(want);
        }
        result = read_at(&mut buffer[filled..], at + filled as u64);
    }
}

/// The file ended before it should.
#[cold]
pub(super) fn became_shorter(at: u64) -> Stop {
    Stop::new(format!("the file became shorter during the run: it now ends before byte {at}"))
}

#[cfg(test)]
mod tests {
    use super::{Errno, Layout, complete, wrapped};
    use iolab_model::catalog::Pattern;
    use proptest::prelude::*;

    #[test]
    fn short_reads_and_interruptions_are_continued() {
        let file: Vec<u8> = (0..100).collect();
        let mut script = [Err(Errno::INTR), Ok(7), Err(Errno::INTR), Ok(1), Ok(92)].into_iter();
        let mut source = |buffer: &mut [u8], at: u64| {
            let n = script.next().unwrap()?;
            buffer[..n].copy_from_slice(&file[at as usize - 1000..][..n]);
            Ok(n)
        };
        let mut buffer = vec![0xff; 128];
        let first = source(&mut buffer, 1000);
        assert_eq!(complete(first, &mut buffer, 1000, 100, source), Ok(100));
        assert_eq!(buffer[..100], file);
    }

    #[test]
    fn the_end_of_the_file_is_no_short_read_but_a_lost_tail_is_a_fault() {
        let never = |_: &mut [u8], _: u64| panic!("no further call");
        assert_eq!(complete(Ok(10), &mut [0; 64], 0, 10, never), Ok(10));
        let gone = complete(Ok(4), &mut [0; 64], 96, 10, |_, _| Ok(0)).unwrap_err();
        assert!(gone.cause.contains("shorter") && gone.cause.contains("100"), "{gone:?}");
        let failed = complete(Err(Errno::IO), &mut [0; 64], 0, 10, never).unwrap_err();
        assert_eq!(failed.errno, Some(Errno::IO.raw_os_error()));
    }

    proptest! {
        #[test]
        fn lanes_cover_the_file_once(bytes in 0_u64..5000, step in 1_u64..300, threads in 1_u64..9) {
            let layout = Layout::new(bytes, step, threads, Pattern::Sequential, 0).passes(1);
            let mut at = 0;
            layout.each_range(|range| { assert_eq!(range.start, at); at = range.end; });
            prop_assert_eq!(at, bytes);
            prop_assert!(layout.partitions.iter().all(|partition| partition.first_byte % step == 0 || partition.count == 0));
        }

        /// Bounded trials that follow each other visit every block, as often as one another ±1.
        #[test]
        fn parts_go_on_where_the_last_stopped(
            blocks in 1_u64..200, threads in 1_u64..5, part in 1_u64..60, pick in 0..3_usize,
        ) {
            let pattern = [Pattern::Sequential, Pattern::Random, Pattern::Stride(3)][pick];
            let mut seen = vec![0; blocks as usize];
            let mut first = 0;
            while first < blocks {
                let operations = part.min(blocks - first);
                let layout = Layout::new(blocks, 1, threads, pattern, 9).part(first, operations);
                let mut ranges = 0;
                layout.each_range(|range| for at in range { seen[at as usize] += 1; ranges += 1; });
                prop_assert!(ranges <= operations);
                first += operations;
            }
            let missed = seen.iter().filter(|n| **n == 0).count() as u64;
            // Lanes differ by one block; the shorter ones wrap before the longer ones end.
            prop_assert!(missed < threads, "{seen:?}");
            prop_assert!(seen.iter().all(|n| *n <= 2));
        }
    }

    #[test]
    fn a_leg_wraps_at_the_end() {
        assert_eq!(wrapped(10, 8, 13), [8..10, 0..3]);
        assert_eq!(wrapped(10, 20, 25), vec![0..5]);
        assert_eq!(wrapped(3, 1, 9), [1..3, 0..3, 0..3]);
        assert!(wrapped(0, 0, 5).is_empty());
    }
}
