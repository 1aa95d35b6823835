//! In which order the blocks of a range are visited. Every order visits each block exactly once a
//! pass, needs no memory, and can start at any operation.

use std::ops::Range;

use iolab_model::catalog::Pattern;

/// An order over `count` blocks. The hot loop is generic over it, so it is chosen once a trial.
pub trait AccessOrder: Copy + Send + 'static {
    /// Whether each step follows the one before it in the file.
    const CONTIGUOUS: bool = false;
    /// Block indices for the operations of `block_range`, which lies within `0..count`.
    fn steps(self, block_range: Range<u64>) -> impl Iterator<Item = u64>;
}

/// First to last.
#[derive(Clone, Copy, Debug)]
pub struct Forward;

impl AccessOrder for Forward {
    const CONTIGUOUS: bool = true;
    #[inline(always)]
    fn steps(self, block_range: Range<u64>) -> impl Iterator<Item = u64> {
        block_range
    }
}

/// Any other order. One type for all of them: which of them it is costs a branch a block that is
/// always foretold, and a loop of its own for each would double what the compiler has to build.
#[derive(Clone, Copy, Debug)]
pub enum Scattered {
    /// Block after block the same way apart.
    Jumping(Jumping),
    /// A seeded permutation.
    Shuffled(Shuffled),
}

impl Scattered {
    /// The order of a pattern over `count` blocks.
    pub fn new(pattern: Pattern, count: u64, seed: u64) -> Scattered {
        let stride = match pattern {
            Pattern::Random => return Scattered::Shuffled(Shuffled::new(count, seed)),
            Pattern::Sequential => 1,
            Pattern::Reverse => BACK,
            Pattern::Stride(stride) => stride.min(count).max(1),
        };
        Scattered::Jumping(Jumping { count, stride })
    }
}

impl AccessOrder for Scattered {
    #[inline(always)]
    fn steps(self, block_range: Range<u64>) -> impl Iterator<Item = u64> {
        let mut next = match self {
            Scattered::Jumping(jumping) if !block_range.is_empty() => {
                jumping.block(block_range.start)
            }
            _ => 0,
        };
        block_range.map(move |step| match self {
            Scattered::Jumping(jumping) => {
                let block = next;
                next = jumping.after(block);
                block
            }
            Scattered::Shuffled(shuffled) => shuffled.block(step),
        })
    }
}

/// Last to first, or every n-th: 0, n, 2n, …, 1, n+1, …
#[derive(Clone, Copy, Debug)]
pub struct Jumping {
    /// Blocks in a pass.
    count: u64,
    /// Blocks from one step to the next, 1 to `count`; [`BACK`] for one block back.
    stride: u64,
}

/// One block back, in arithmetic that wraps.
const BACK: u64 = u64::MAX;

impl Jumping {
    /// The block of one operation: the first `count % stride` of the ways through the file are one
    /// block longer than the rest.
    fn block(self, operation: u64) -> u64 {
        if self.stride == BACK {
            return self.count - 1 - operation;
        }
        let (short, longer) = (self.count / self.stride, self.count % self.stride);
        let in_longer = longer * (short + 1);
        let (way, at) = if operation < in_longer {
            (operation / (short + 1), operation % (short + 1))
        } else {
            let rest = operation - in_longer;
            (longer + rest / short.max(1), rest % short.max(1))
        };
        way + at * self.stride
    }

    /// The block that follows; what follows the last one of a pass is never asked for.
    #[inline(always)]
    fn after(self, block: u64) -> u64 {
        let next = block.wrapping_add(self.stride);
        if next < self.count { next } else { block % self.stride + 1 }
    }
}

/// A seeded permutation of `0..count`: a bijection on the next power of two, walked until it
/// lands inside (cycle walking, Black & Rogaway 2002). Under two rounds a step on average.
#[derive(Clone, Copy, Debug)]
pub struct Shuffled {
    count: u64,
    mask: u64,
    shift: u32,
    add: u64,
}

impl Shuffled {
    /// The permutation of this seed.
    fn new(count: u64, seed: u64) -> Shuffled {
        let bits = (64 - count.saturating_sub(1).leading_zeros()).max(1);
        let mask = u64::MAX >> (64 - bits);
        Shuffled { count, mask, shift: bits.div_ceil(2), add: seed }
    }

    #[inline(always)]
    fn block(self, step: u64) -> u64 {
        let mut block = self.mix(step);
        while block >= self.count {
            block = self.mix(block);
        }
        block
    }

    /// Each step is a bijection on the masked bits: odd multiplier, addition, xor-shift.
    #[inline(always)]
    fn mix(self, x: u64) -> u64 {
        let x = x.wrapping_add(self.add).wrapping_mul(0x9e37_79b9_7f4a_7c15) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_mul(0xd6e8_feb8_6659_fd93) & self.mask;
        let x = (x ^ (x >> self.shift)).wrapping_add(self.add >> 32);
        let x = x.wrapping_mul(0xca5a_8263_9512_1157) & self.mask;
        x ^ (x >> self.shift)
    }
}

/// Any order behind one type, for those who need no speed: who checks a digest.
pub fn visit(
    pattern: Pattern,
    count: u64,
    seed: u64,
    block_range: Range<u64>,
    mut each: impl FnMut(u64),
) {
    Scattered::new(pattern, count, seed).steps(block_range).for_each(&mut each);
}

#[cfg(test)]
mod tests {
    use super::{Pattern, visit};
    use proptest::prelude::*;

    fn blocks(pattern: Pattern, count: u64, block_range: std::ops::Range<u64>) -> Vec<u64> {
        let mut seen = Vec::new();
        visit(pattern, count, 42, block_range, |block| seen.push(block));
        seen
    }

    const ALL: [Pattern; 6] = [
        Pattern::Sequential,
        Pattern::Random,
        Pattern::Reverse,
        Pattern::Stride(1),
        Pattern::Stride(7),
        Pattern::Stride(u64::MAX / 2),
    ];

    #[test]
    fn every_block_is_visited_exactly_once_in_a_pass() {
        for pattern in ALL {
            for count in (0..70).chain([127, 128, 129, 1000, 4096, 5000]) {
                let mut seen = blocks(pattern, count, 0..count);
                seen.sort_unstable();
                assert!(seen.into_iter().eq(0..count), "{pattern} of {count}");
            }
        }
    }

    #[test]
    fn the_known_orders() {
        assert_eq!(blocks(Pattern::Reverse, 4, 0..4), [3, 2, 1, 0]);
        assert_eq!(blocks(Pattern::Stride(3), 8, 0..8), [0, 3, 6, 1, 4, 7, 2, 5]);
        assert_eq!(blocks(Pattern::Stride(9), 4, 0..4), [0, 1, 2, 3]);
    }

    #[test]
    fn random_is_not_local_and_follows_its_seed() {
        let order = |seed| {
            let mut blocks = Vec::new();
            visit(Pattern::Random, 100_000, seed, 0..100_000, |block| blocks.push(block));
            blocks
        };
        let one = order(1);
        let near = one.windows(2).filter(|w| w[0].abs_diff(w[1]) < 100).count();
        assert!(near < 1000, "{near} of 100000 steps are short; chance gives 200");
        let same = one.iter().zip(order(2)).filter(|(a, b)| **a == *b).count();
        assert!(same < 50, "{same} blocks keep their place under another seed");
    }

    proptest! {
        #[test]
        fn a_pass_in_legs_is_the_pass(count in 1_u64..3000, cut in 0_u64..3000, pick in 0..6_usize) {
            let cut = cut.min(count);
            let mut block_ranges = blocks(ALL[pick], count, 0..cut);
            block_ranges.extend(blocks(ALL[pick], count, cut..count));
            prop_assert_eq!(block_ranges, blocks(ALL[pick], count, 0..count));
        }

        #[test]
        fn patterns_parse_back(stride in 1_u64..) {
            let pattern = Pattern::Stride(stride);
            prop_assert_eq!(pattern.to_string().parse(), Ok(pattern));
        }
    }

    #[test]
    fn bad_patterns_are_refused_with_the_choices() {
        for text in ["", "Random", "stride", "stride:", "stride:0", "stride:-1", "stride:x"] {
            assert!(text.parse::<Pattern>().unwrap_err().choices.contains("stride:N"), "{text}");
        }
    }
}
