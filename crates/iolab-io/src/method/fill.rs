//! What written bytes look like, made before the clock starts.
//!
//! The content of a file is one pool of bytes over and over: the byte at offset o is byte
//! `o % period` of the pool, so any block can be written from memory that is there already, and
//! any range can be checked afterwards.

use super::partition::Stop;
use iolab_model::catalog::Fill;

/// Fills a buffer whose first byte lies at a multiple of 4 KiB of the pool.
pub fn fill(look: Fill, seed: u64, buffer: &mut [u8]) {
    let mut random = Random(seed);
    match look {
        Fill::Zero => buffer.fill(0),
        Fill::Random => random.fill(buffer),
        Fill::Text => {
            random.fill(buffer);
            // 95 characters from 256 values: the first 66 are a little more frequent.
            buffer.iter_mut().for_each(|byte| *byte = b' ' + *byte % 95);
        }
        Fill::Compressible(percent) => {
            let zeros = CHUNK_BYTES * usize::from(percent.min(100)) / 100;
            for chunk in buffer.chunks_mut(CHUNK_BYTES) {
                let (head, tail) = chunk.split_at_mut((CHUNK_BYTES - zeros).min(chunk.len()));
                random.fill(head);
                tail.fill(0);
            }
        }
    }
}

/// Zeros of a compressible fill come in every chunk of this size: smaller than what any file
/// system compresses at a time.
const CHUNK_BYTES: usize = 4096;

/// SplitMix64 (Steele, Lea & Flood 2014).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn fill(&mut self, buffer: &mut [u8]) {
        let (words, tail) = buffer.as_chunks_mut::<8>();
        words.iter_mut().for_each(|word| *word = self.next().to_le_bytes());
        let last = self.next().to_le_bytes();
        tail.copy_from_slice(&last[..tail.len()]);
    }
}

/// The pool holds about this much: more than a block as a rule, so that neighbouring blocks
/// differ, and little enough to be made for each trial.
const POOL_BYTES: u64 = 1 << 20;
/// A write(2) moves at most 2 GiB − 4 KiB in one call.
const LIMIT_BYTES: u64 = 1 << 30;

/// The bytes that a trial writes, aligned to 4 KiB and touched.
#[derive(Debug)]
pub struct Pool {
    memory: Vec<u8>,
    start: usize,
    block_bytes: usize,
    mask: u64,
}

impl Pool {
    /// For a file of `file_bytes` in blocks of this size (> 0).
    pub fn new(fill: Fill, seed: u64, block_bytes: u64, file_bytes: u64) -> Result<Pool, Stop> {
        if block_bytes == 0 || block_bytes > LIMIT_BYTES {
            let cause = format!("a block of {block_bytes} bytes; use 1 byte to 1 GiB");
            return Err(Stop::new(cause));
        }
        let most = (POOL_BYTES / block_bytes).max(1);
        // A power of two, so that the block of an index is found by a mask.
        let wanted = file_bytes.div_ceil(block_bytes).max(1).next_power_of_two();
        let blocks = wanted.min(1 << most.ilog2());
        let bytes = (blocks * block_bytes) as usize;
        let mut memory = vec![0; bytes + 4095];
        let start = memory.as_ptr().align_offset(4096).min(4095);
        self::fill(fill, seed, &mut memory[start..start + bytes]);
        if fill == Fill::Zero {
            // Zeroed memory that was never written is one page of the kernel's: touch it.
            memory.iter_mut().step_by(4096).for_each(|byte| {
                *std::hint::black_box(byte) = 0;
            });
        }
        Ok(Pool { memory, start, block_bytes: block_bytes as usize, mask: blocks - 1 })
    }

    /// The block of the file with this index.
    #[inline(always)]
    pub fn block(&self, index: u64) -> &[u8] {
        let at = self.start + (index & self.mask) as usize * self.block_bytes;
        &self.memory[at..at + self.block_bytes]
    }

    /// How many blocks there are: a power of two.
    pub fn blocks(&self) -> u64 {
        self.mask + 1
    }

    /// All of it, aligned to 4 KiB; the file repeats it.
    pub fn bytes(&self) -> &[u8] {
        let bytes = (self.mask as usize + 1) * self.block_bytes;
        &self.memory[self.start..self.start + bytes]
    }

    /// Whether these are the bytes that a file holds from offset `at` on.
    pub fn matches(&self, at: u64, bytes: &[u8]) -> bool {
        let period = self.bytes();
        let mut from = (at % period.len() as u64) as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let n = rest.len().min(period.len() - from);
            if rest[..n] != period[from..from + n] {
                return false;
            }
            (rest, from) = (&rest[n..], 0);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::{Fill, Pool};
    use proptest::prelude::*;

    #[test]
    fn each_fill_is_what_it_says() {
        let made = |fill: Fill, seed| {
            let mut buffer = vec![0xee; 64 << 10];
            super::fill(fill, seed, &mut buffer);
            buffer
        };
        assert!(made(Fill::Text, 1).iter().all(|byte| (32..127).contains(byte)));
        assert!(made(Fill::Zero, 1).iter().all(|byte| *byte == 0));
        let zeros = |bytes: &[u8]| bytes.iter().filter(|byte| **byte == 0).count() as f64;
        let random = made(Fill::Random, 1);
        assert!(zeros(&random) < 400.0, "about 256 are expected");
        assert_ne!(random, made(Fill::Random, 2));
        for chunk in made(Fill::Compressible(70), 1).chunks(4096) {
            let share = zeros(chunk) / 4096.0;
            assert!((0.69..0.72).contains(&share), "{share}");
        }
    }

    #[test]
    fn neighbouring_blocks_differ_and_the_pool_is_aligned() {
        let pool = Pool::new(Fill::Random, 7, 4096, 1 << 30).unwrap();
        assert_ne!(pool.block(0), pool.block(1));
        assert_eq!(pool.block(0), pool.block(256));
        assert_eq!(pool.bytes().as_ptr().align_offset(4096), 0);
        assert_eq!((pool.bytes().len(), pool.blocks()), (1 << 20, 256));
        assert_eq!(Pool::new(Fill::Random, 7, 16 << 20, 1 << 30).unwrap().bytes().len(), 16 << 20);
        assert!(Pool::new(Fill::Zero, 7, 2 << 30, 1 << 30).unwrap_err().cause.contains("1 GiB"));
        assert!(Pool::new(Fill::Zero, 7, 0, 1).is_err());
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn a_file_of_blocks_is_recognised_and_a_changed_byte_is_not(
            block in 1_u64..9000, from in 0_u64..50_000, bytes in 1_usize..20_000, wrong: u16,
        ) {
            let pool = Pool::new(Fill::Random, 3, block, from + bytes as u64).unwrap();
            let last = (from + bytes as u64).div_ceil(block);
            let file: Vec<u8> =
                (0..last).flat_map(|index| pool.block(index).iter().copied()).collect();
            let mut part = file[from as usize..from as usize + bytes].to_vec();
            prop_assert!(pool.matches(from, &part));
            let at = usize::from(wrong) % bytes;
            part[at] ^= 1;
            prop_assert!(!pool.matches(from, &part));
        }
    }
}
