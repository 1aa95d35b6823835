//! How often each byte value occurs, at a speed that hardly depends on the data.
//!
//! One table is slow in two ways. Equal neighbours wait for each other: a load must see the store
//! before it, about five cycles (0.5 GB/s on constant bytes). And a processor commits about one
//! store a cycle. So counts are spread over tables of which each is used once in eight bytes, and
//! six bytes in sixteen are counted in pairs, one store for two. More pairs would be faster on
//! random bytes and slower on constant ones.

use std::hint::black_box;

use super::consume::{Fold, Partial};

const TABLES: usize = 8;
/// Bytes after which 32-bit counters are emptied into 64-bit ones.
const SPILL_BYTES: u64 = 1 << 31;
const PAIRS: usize = 1 << 16;

/// A byte histogram.
#[derive(Debug)]
pub struct Histogram {
    tables: Box<[[u32; 256]; TABLES]>,
    /// Low bytes of the counts of byte pairs: small enough to stay near the processor.
    pairs: Box<[u8; PAIRS]>,
    /// How often each of them ran over.
    carries: Box<[u32; PAIRS]>,
    /// Bytes counted since the tables were last emptied.
    pending: u64,
    total: Box<[u64; 256]>,
    passes: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            tables: Box::new([[0; 256]; TABLES]),
            pairs: touched(),
            carries: touched(),
            pending: 0,
            total: Box::new([0; 256]),
            passes: 0,
        }
    }
}

/// Zeros whose pages are there: memory fresh from the kernel would fault within the timed window.
fn touched<T: Copy + Default + From<u8>, const N: usize>() -> Box<[T; N]> {
    let mut table = black_box(vec![T::from(1); N]);
    table.fill(T::default());
    // The length is N, so the other arm is never taken.
    table.into_boxed_slice().try_into().unwrap_or_else(|_| Box::new([T::default(); N]))
}

impl Histogram {
    #[cold]
    fn spill(&mut self) {
        for table in &mut *self.tables {
            for (total, count) in self.total.iter_mut().zip(table) {
                *total += u64::from(std::mem::take(count));
            }
        }
        for (pair, (low, carry)) in self.pairs.iter_mut().zip(&mut *self.carries).enumerate() {
            let count = u64::from(std::mem::take(low)) + (u64::from(std::mem::take(carry)) << 8);
            self.total[pair & 0xff] += count;
            self.total[pair >> 8] += count;
        }
        self.pending = 0;
    }

    #[inline(always)]
    fn count(&mut self, bytes: &[u8]) {
        let (tables, pairs, carries) = (&mut *self.tables, &mut *self.pairs, &mut *self.carries);
        let mut one = |table: usize, word: u64, at: u32| {
            tables[table][usize::from((word >> (8 * at)) as u8)] += 1;
        };
        let mut two = |word: u64, at: u32| {
            let pair = usize::from((word >> (8 * at)) as u16);
            pairs[pair] = pairs[pair].wrapping_add(1);
            if pairs[pair] == 0 {
                carry(carries, pair);
            }
        };
        let (rows, tail) = bytes.as_chunks::<16>();
        for row in rows {
            let row = u128::from_le_bytes(*row);
            let (low, high) = (row as u64, (row >> 64) as u64);
            one(0, low, 0);
            one(1, low, 1);
            one(2, low, 2);
            one(3, low, 3);
            one(4, low, 4);
            one(5, low, 5);
            two(low, 6);
            one(6, high, 0);
            one(7, high, 1);
            one(2, high, 2);
            one(3, high, 3);
            two(high, 4);
            two(high, 6);
        }
        for byte in tail {
            tables[0][usize::from(*byte)] += 1;
        }
    }
}

#[cold]
#[inline(never)]
fn carry(carries: &mut [u32; PAIRS], pair: usize) {
    carries[pair] += 1;
}

impl Fold for Histogram {
    #[inline(always)]
    fn block(&mut self, _: u64, bytes: &[u8]) {
        for part in bytes.chunks(SPILL_BYTES as usize) {
            self.pending += part.len() as u64;
            if self.pending > SPILL_BYTES {
                self.spill();
                self.pending = part.len() as u64;
            }
            self.count(part);
        }
    }

    /// Passes add up; alike passes divide evenly.
    #[inline(always)]
    fn end_pass(&mut self) {
        self.passes += 1;
    }

    fn finish(mut self) -> Option<Partial> {
        self.spill();
        let passes = self.passes.max(1);
        if self.total.iter().any(|count| count % passes != 0) {
            return None;
        }
        self.total.iter_mut().for_each(|count| *count /= passes);
        Some(Partial::Histogram(self.total))
    }
}

#[cfg(test)]
mod tests {
    use super::Histogram;
    use crate::method::Partial;
    use crate::method::consume::Fold;

    /// Pair counters of one byte run over every 256 times.
    #[test]
    fn equal_bytes_are_counted_beyond_every_counter_that_runs_over() {
        for length in [255_usize, 4096, 70_001, 1_000_000] {
            let mut histogram = Histogram::default();
            histogram.block(0, &vec![0xa5; length]);
            histogram.block(0, b"\xa5\xa5\x01");
            histogram.end_pass();
            let Some(Partial::Histogram(counts)) = histogram.finish() else { panic!("no counts") };
            assert_eq!((counts[0xa5], counts[1]), (length as u64 + 2, 1));
            assert_eq!(counts.iter().sum::<u64>(), length as u64 + 3);
        }
    }
}
