//! The content of files that iolab makes: any byte is a function of the seed and its offset, so
//! any range can be made again to check a digest.

use serde::{Deserialize, Serialize};

/// What a made file holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Content {
    /// Random bytes that no file system can compress.
    #[default]
    Random,
    /// Zeros that are written.
    Zero,
    /// A hole: zeros that are not written.
    Sparse,
    /// Random bytes that trials write over: nothing is known of them afterwards.
    Overwritten,
    /// Random bytes, and every second stretch of `ISLAND_BYTES` a hole.
    Islands,
}

/// Larger than a block of any file system, so that a hole is one.
pub const ISLAND_BYTES: u64 = 1 << 20;

impl Content {
    /// The bytes from offset `at` on.
    pub fn fill(self, seed: u64, at: u64, buffer: &mut [u8]) {
        match self {
            Content::Random | Content::Overwritten => random(seed, at, buffer),
            Content::Zero | Content::Sparse => buffer.fill(0),
            Content::Islands => {
                random(seed, at, buffer);
                for (at, byte) in (at..).zip(buffer) {
                    if (at / ISLAND_BYTES) % 2 == 1 {
                        *byte = 0;
                    }
                }
            }
        }
    }

    /// Whether these bytes are a hole, which is not written.
    pub fn is_hole(self, at: u64) -> bool {
        match self {
            Content::Random | Content::Zero | Content::Overwritten => false,
            Content::Sparse => true,
            Content::Islands => (at / ISLAND_BYTES) % 2 == 1,
        }
    }
}

/// Word `i` of the file: the step and the 64×64→128-bit product of wyrand (Wang Yi, 2019; it
/// passes BigCrush and PractRand), counted instead of stepped.
#[inline(always)]
fn word(seed: u64, i: u64) -> u64 {
    let s = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0xa076_1d64_78bd_642f));
    let product = u128::from(s) * u128::from(s ^ 0xe703_7ed1_a0b4_28db);
    (product >> 64) as u64 ^ product as u64
}

/// Neighbouring seeds must not give shifted files: they are spread first (SplitMix64's finaliser).
fn spread(seed: u64) -> u64 {
    let x = (seed ^ (seed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

fn random(seed: u64, at: u64, buffer: &mut [u8]) {
    let seed = spread(seed);
    let skip = (at % 8) as usize;
    let head = if skip == 0 { 0 } else { (8 - skip).min(buffer.len()) };
    let (first, rest) = buffer.split_at_mut(head);
    first.copy_from_slice(&word(seed, at / 8).to_le_bytes()[skip..skip + head] as &[u8]);
    let mut i = at.div_ceil(8);
    let (words, tail) = rest.as_chunks_mut::<8>();
    for bytes in words {
        *bytes = word(seed, i).to_le_bytes();
        i += 1;
    }
    tail.copy_from_slice(&word(seed, i).to_le_bytes()[..tail.len()]);
}

#[cfg(test)]
mod tests {
    use super::Content;
    use proptest::prelude::*;

    fn bytes(content: Content, seed: u64, at: u64, n: usize) -> Vec<u8> {
        let mut buffer = vec![0xee; n];
        content.fill(seed, at, &mut buffer);
        buffer
    }

    proptest! {
        #[test]
        fn any_range_is_that_part_of_the_whole(seed: u64, at in 0_usize..300, n in 0_usize..300) {
            let whole = bytes(Content::Random, seed, 0, 600);
            prop_assert_eq!(&bytes(Content::Random, seed, at as u64, n), &whole[at..at + n]);
        }
    }

    #[test]
    fn bytes_are_random_enough_not_to_compress() {
        let sample = bytes(Content::Random, 1, 1 << 40, 1 << 20);
        let mut counts = [0_f64; 256];
        sample.iter().for_each(|b| counts[usize::from(*b)] += 1.0);
        let mean = sample.len() as f64 / 256.0;
        let chi: f64 = counts.iter().map(|c| (c - mean) * (c - mean) / mean).sum();
        // 255 degrees of freedom: 160 and 370 are five standard deviations off.
        assert!((160.0..370.0).contains(&chi), "{chi}");
        // Bits agree with their neighbour's half of the time.
        let same: u32 = sample.windows(2).map(|w| (!(w[0] ^ w[1])).count_ones()).sum();
        let share = f64::from(same) / (8.0 * sample.len() as f64);
        assert!((share - 0.5).abs() < 0.002, "{share}");
        assert_ne!(sample[..64], bytes(Content::Random, 2, 1 << 40, 64));
        assert_eq!(bytes(Content::Sparse, 1, 5, 3), [0; 3]);
    }
}
