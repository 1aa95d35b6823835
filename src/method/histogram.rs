//! How often each byte value occurs, at a speed that does not depend on the data.

use super::consume::{Fold, Partial};

/// Tables that counts are spread over. One table makes equal neighbours wait for each other (a
/// load must see the store before it, about five cycles); eight keep them apart.
const TABLES: usize = 8;
/// Bytes after which 32-bit counters are emptied into 64-bit ones.
const SPILL_BYTES: u64 = 1 << 31;

/// A byte histogram.
#[derive(Debug)]
pub struct Histogram {
    tables: Box<[[u32; 256]; TABLES]>,
    /// In `tables` since they were last emptied.
    pending: u64,
    total: Box<[u64; 256]>,
    passes: u64,
}

impl Default for Histogram {
    fn default() -> Histogram {
        Histogram {
            tables: Box::new([[0; 256]; TABLES]),
            pending: 0,
            total: Box::new([0; 256]),
            passes: 0,
        }
    }
}

impl Histogram {
    #[cold]
    fn spill(&mut self) {
        for table in &mut *self.tables {
            for (total, count) in self.total.iter_mut().zip(table) {
                *total += u64::from(std::mem::take(count));
            }
        }
        self.pending = 0;
    }

    #[inline(always)]
    fn count(&mut self, bytes: &[u8]) {
        let tables = &mut *self.tables;
        let (words, tail) = bytes.as_chunks::<8>();
        for word in words {
            let word = u64::from_le_bytes(*word);
            tables[0][(word & 0xff) as usize] += 1;
            tables[1][(word >> 8 & 0xff) as usize] += 1;
            tables[2][(word >> 16 & 0xff) as usize] += 1;
            tables[3][(word >> 24 & 0xff) as usize] += 1;
            tables[4][(word >> 32 & 0xff) as usize] += 1;
            tables[5][(word >> 40 & 0xff) as usize] += 1;
            tables[6][(word >> 48 & 0xff) as usize] += 1;
            tables[7][(word >> 56) as usize] += 1;
        }
        for byte in tail {
            tables[0][usize::from(*byte)] += 1;
        }
    }
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
