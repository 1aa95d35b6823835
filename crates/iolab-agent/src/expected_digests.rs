//! What the digest of a trial should be: sums per chunk of the file, made when first needed, so
//! that any range costs at most two chunks of work.

use std::collections::HashMap;
use std::ops::Range;

use iolab_io::method::consume::{CrcStream, CrcSum, Fold, Nothing, Xor};
use iolab_io::method::{Histogram, Partial};
use iolab_io::workload::Visit;
use iolab_model::catalog::Consume;
use iolab_model::result::Fault;

/// Bytes of a file from an offset on, all of them.
pub type Source<'a> = dyn FnMut(u64, &mut [u8]) -> Result<(), Fault> + 'a;

/// Chunks are at least this long, and there are at most [`MOST_CHUNKS`]: the agent stays small,
/// for every trial forks it.
const LEAST_CHUNK_BYTES: u64 = 1 << 20;
const MOST_CHUNKS: u64 = 8192;
/// Scattered parts up to this size are always checked, larger ones every [`CHECK_EVERY`] times.
const CHECK_ALWAYS_BYTES: u64 = 16 << 20;
const CHECK_EVERY: u32 = 8;
/// Bytes asked of a source at a time.
const READ_BYTES: usize = 256 << 10;

/// The sums of one file.
#[derive(Debug)]
pub struct ExpectedDigests {
    bytes: u64,
    chunk_bytes: u64,
    chunks: HashMap<(Consume, u64), Partial>,
    whole: HashMap<Consume, Partial>,
    /// Sums of block CRCs by block.
    blocks: HashMap<u64, Partial>,
    scattered: u32,
}

impl ExpectedDigests {
    /// For a file of this size.
    pub fn new(bytes: u64) -> ExpectedDigests {
        let chunk_bytes = LEAST_CHUNK_BYTES.max(bytes.div_ceil(MOST_CHUNKS).next_power_of_two());
        ExpectedDigests {
            bytes,
            chunk_bytes,
            chunks: HashMap::new(),
            whole: HashMap::new(),
            blocks: HashMap::new(),
            scattered: 0,
        }
    }

    /// What the visit should leave; `None` where it is not worth checking this time.
    pub fn expected(
        &mut self,
        visit: &Visit,
        source: &mut Source<'_>,
    ) -> Result<Option<Partial>, Fault> {
        let (layout, consume) = (&visit.layout, visit.consume);
        if consume == Consume::None {
            return Ok(Some(Partial::None));
        }
        let sequential = layout.is_in_file_order();
        let in_order = !layout.shared
            && layout.partitions.iter().all(|partition| {
                partition.block_ranges.len() == 1
                    && partition.block_ranges[0] == (0..partition.count)
            });
        match (in_order, sequential, consume) {
            (true, false, Consume::Crc32c) => {
                let block = layout.partitions.first().map_or(1, |partition| partition.step_bytes);
                self.sum_of_blocks(block, source).map(Some)
            }
            (true, ..) => self.all(consume, source).map(Some),
            (false, true, _) => {
                let mut block_ranges = Vec::new();
                layout.each_range(|range| block_ranges.push(range));
                self.joined(consume, block_ranges, source).map(Some)
            }
            (false, false, _) => self.blocks_of(visit, source),
        }
    }

    fn all(&mut self, consume: Consume, source: &mut Source<'_>) -> Result<Partial, Fault> {
        if let Some(known) = self.whole.get(&consume) {
            return Ok(known.clone());
        }
        let all = self.joined(consume, std::iter::once(0..self.bytes), source)?;
        self.whole.insert(consume, all.clone());
        Ok(all)
    }

    fn joined(
        &mut self,
        consume: Consume,
        ranges: impl IntoIterator<Item = Range<u64>>,
        source: &mut Source<'_>,
    ) -> Result<Partial, Fault> {
        let mut sum = fold(consume, std::iter::empty(), source)?;
        for range in ranges {
            sum = sum.followed_by(self.range(consume, range, source)?);
        }
        Ok(sum)
    }

    /// A range: its whole chunks from the ledger, its ends made anew.
    fn range(
        &mut self,
        consume: Consume,
        range: Range<u64>,
        source: &mut Source<'_>,
    ) -> Result<Partial, Fault> {
        let mut sum = fold(consume, std::iter::empty(), source)?;
        let mut at = range.start;
        while at < range.end {
            let chunk = at / self.chunk_bytes;
            let (start, next) = (chunk * self.chunk_bytes, (chunk + 1) * self.chunk_bytes);
            let end = next.min(self.bytes);
            let part = if at == start && end <= range.end {
                self.chunk(consume, chunk, start..end, source)?
            } else {
                fold(consume, std::iter::once(at..end.min(range.end)), source)?
            };
            sum = sum.followed_by(part);
            at = end.min(range.end);
        }
        Ok(sum)
    }

    fn chunk(
        &mut self,
        consume: Consume,
        chunk: u64,
        range: Range<u64>,
        source: &mut Source<'_>,
    ) -> Result<Partial, Fault> {
        if let Some(known) = self.chunks.get(&(consume, chunk)) {
            return Ok(known.clone());
        }
        let sum = fold(consume, std::iter::once(range), source)?;
        self.chunks.insert((consume, chunk), sum.clone());
        Ok(sum)
    }

    fn sum_of_blocks(&mut self, block: u64, source: &mut Source<'_>) -> Result<Partial, Fault> {
        if let Some(known) = self.blocks.get(&block) {
            return Ok(known.clone());
        }
        // As many whole blocks at a time as fit a read of the source.
        let (end, some) = (self.bytes, block.max(READ_BYTES as u64 / block * block));
        let ranges = (0..end.div_ceil(some)).map(|b| b * some..((b + 1) * some).min(end));
        let sum = each_block(block, ranges, source)?;
        self.blocks.insert(block, sum.clone());
        Ok(sum)
    }

    fn blocks_of(
        &mut self,
        visit: &Visit,
        source: &mut Source<'_>,
    ) -> Result<Option<Partial>, Fault> {
        let mut ranges = Vec::new();
        let operations: u64 = visit.layout.partitions.iter().map(operations).sum();
        let step = visit.layout.partitions.first().map_or(1, |partition| partition.step_bytes);
        if operations.saturating_mul(step) > CHECK_ALWAYS_BYTES {
            self.scattered += 1;
            if self.scattered % CHECK_EVERY != 1 {
                return Ok(None);
            }
        }
        visit.layout.each_range(|range| ranges.push(range));
        match visit.consume {
            Consume::Crc32c => each_block(step, ranges.into_iter(), source),
            other => fold(other, ranges.into_iter(), source),
        }
        .map(Some)
    }
}

fn operations(partition: &iolab_io::method::Partition) -> u64 {
    partition.block_ranges.iter().map(|block_range| block_range.end - block_range.start).sum()
}

/// Folds these ranges of the source, one after another.
fn fold(
    consume: Consume,
    ranges: impl Iterator<Item = Range<u64>>,
    source: &mut Source<'_>,
) -> Result<Partial, Fault> {
    match consume {
        Consume::None => each(Nothing, ranges, source),
        Consume::Xor => each(Xor::default(), ranges, source),
        Consume::Histogram => each(Histogram::default(), ranges, source),
        Consume::Crc32c => each(CrcStream::default(), ranges, source),
    }
}

fn each<F: Fold>(
    mut fold: F,
    ranges: impl Iterator<Item = Range<u64>>,
    source: &mut Source<'_>,
) -> Result<Partial, Fault> {
    let mut buffer = Vec::new();
    for range in ranges {
        let mut at = range.start;
        while at < range.end {
            let n = (READ_BYTES as u64).min(range.end - at) as usize;
            buffer.resize(buffer.len().max(n), 0);
            source(at, &mut buffer[..n])?;
            fold.block(at, &buffer[..n]);
            at += n as u64;
        }
    }
    fold.end_pass();
    Ok(fold.finish().unwrap_or(Partial::None))
}

/// Blocks of `block` bytes, each hashed by itself; a range may hold several, the last one shorter.
fn each_block(
    block: u64,
    ranges: impl Iterator<Item = Range<u64>>,
    source: &mut Source<'_>,
) -> Result<Partial, Fault> {
    let (mut fold, mut buffer) = (CrcSum::default(), Vec::new());
    for range in ranges {
        let n = (range.end - range.start) as usize;
        buffer.resize(buffer.len().max(n), 0);
        source(range.start, &mut buffer[..n])?;
        buffer[..n].chunks(block as usize).for_each(|bytes| fold.block(range.start, bytes));
    }
    fold.end_pass();
    Ok(fold.finish().unwrap_or(Partial::None))
}

#[cfg(test)]
mod tests {
    use super::ExpectedDigests;
    use crate::content::Content;
    use iolab_io::method::Layout;
    use iolab_io::workload::Visit;
    use iolab_model::catalog::{Consume, Pattern};
    use proptest::prelude::*;

    const ALL: [Consume; 3] = [Consume::Xor, Consume::Histogram, Consume::Crc32c];

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(40))]
        /// A bounded visit's sum, put together from chunks, is that of its bytes one by one.
        #[test]
        fn parts_agree_with_the_bytes(
            bytes in 1_u64..5_000_000, step in 1000_u64..700_000, threads in 1_u64..4,
            first in 0_u64..2000, operations in 1_u64..300, pick in 0..3_usize,
        ) {
            let layout = Layout::new(bytes, step, threads, Pattern::Sequential, 1)
                .part(first, operations.min(bytes.div_ceil(step) * 2));
            let visit = Visit { layout, consume: ALL[pick], real: true, aside_bytes: 0 };
            let mut ledger = ExpectedDigests::new(bytes);
            let mut source = |at, buffer: &mut [u8]| {
                Content::Random.fill(3, at, buffer);
                Ok(())
            };
            let expected = ledger.expected(&visit, &mut source).unwrap().unwrap();
            let mut ranges = Vec::new();
            visit.layout.each_range(|range| ranges.push(range));
            let plain = super::fold(visit.consume, ranges.into_iter(), &mut source).unwrap();
            prop_assert_eq!(expected, plain);
        }
    }

    #[test]
    fn a_source_is_asked_once_for_what_is_known() {
        let layout = Layout::new(3 << 20, 4096, 2, Pattern::Random, 1).passes(1);
        let mut asked = 0_u64;
        let mut ledger = ExpectedDigests::new(3 << 20);
        for consume in ALL {
            for _ in 0..3 {
                let visit = Visit { layout: layout.clone(), consume, real: true, aside_bytes: 0 };
                let mut source = |_, buffer: &mut [u8]| {
                    asked += buffer.len() as u64;
                    Ok(())
                };
                ledger.expected(&visit, &mut source).unwrap();
            }
        }
        assert_eq!(asked, 3 * (3 << 20));
    }

    #[test]
    fn a_large_scattered_part_is_checked_now_and_then() {
        let layout = Layout::new(1 << 30, 1 << 20, 1, Pattern::Reverse, 1).part(0, 100);
        let visit = Visit { layout, consume: Consume::Xor, real: true, aside_bytes: 0 };
        let mut ledger = ExpectedDigests::new(1 << 30);
        let checked = (0..16)
            .filter(|_| ledger.expected(&visit, &mut |_, _| Ok(())).unwrap().is_some())
            .count();
        assert_eq!(checked, 2);
    }
}
