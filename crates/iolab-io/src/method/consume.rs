//! What is done with the bytes: folds that touch every one and leave a digest.

use crate::sys::fold::{Xor32, xor32};
use iolab_model::catalog::{Consume, fnv1a};

/// What a pass leaves behind. Partials of disjoint ranges add up, in file order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partial {
    /// Of [`Consume::None`].
    None,
    /// The words' XOR.
    Xor(u32),
    /// How often each byte value was seen.
    Histogram(Box<[u64; 256]>),
    /// CRC of a stream of this many bytes.
    CrcStream(u32, u64),
    /// Sum of the CRCs of blocks.
    CrcSum(u64),
}

impl Partial {
    /// This one followed by another. Partials of different kinds never meet.
    #[must_use]
    pub fn followed_by(self, next: Partial) -> Partial {
        match (self, next) {
            (Partial::Xor(a), Partial::Xor(b)) => Partial::Xor(a ^ b),
            (Partial::Histogram(mut a), Partial::Histogram(b)) => {
                for (sum, more) in a.iter_mut().zip(*b) {
                    *sum += more;
                }
                Partial::Histogram(a)
            }
            (Partial::CrcStream(a, n), Partial::CrcStream(b, m)) => {
                Partial::CrcStream(crc32c::crc32c_combine(a, b, m as usize), n + m)
            }
            (Partial::CrcSum(a), Partial::CrcSum(b)) => Partial::CrcSum(a.wrapping_add(b)),
            (a, _) => a,
        }
    }

    /// The digest's kind and its text in hexadecimal; nothing where no byte was looked at.
    pub fn digest(&self) -> Option<(&'static str, String)> {
        match self {
            Partial::None => None,
            Partial::Xor(word) => Some((Consume::Xor.word(), format!("{word:08x}"))),
            Partial::Histogram(counts) => {
                Some((Consume::Histogram.word(), format!("{:016x}", short(counts))))
            }
            Partial::CrcStream(crc, _) => Some((Consume::Crc32c.word(), format!("{crc:08x}"))),
            Partial::CrcSum(sum) => Some(("crc32c-sum", format!("{sum:016x}"))),
        }
    }
}

/// Over the counts as little-endian words: a histogram's name.
fn short(counts: &[u64; 256]) -> u64 {
    fnv1a(counts.iter().flat_map(|count| count.to_le_bytes()))
}

/// A consumer. The hot loop is generic over it, so it is chosen once a trial.
pub trait Fold: Send {
    /// False where the bytes are not looked at.
    const TOUCHES: bool = true;
    /// True where blocks must come in the order of the file.
    const ORDERED: bool = false;
    /// Takes a block that starts at byte `at` of the file.
    fn block(&mut self, at: u64, bytes: &[u8]);
    /// Ends a pass. Passes over the same range must be alike.
    fn end_pass(&mut self);
    /// What one pass left, or nothing where two passes differed.
    fn finish(self) -> Option<Partial>;
}

/// Looks at nothing.
#[derive(Debug, Default)]
pub struct Nothing;

impl Fold for Nothing {
    const TOUCHES: bool = false;
    #[inline(always)]
    fn block(&mut self, _: u64, bytes: &[u8]) {
        std::hint::black_box(bytes.as_ptr());
    }
    fn end_pass(&mut self) {}
    fn finish(self) -> Option<Partial> {
        Some(Partial::None)
    }
}

/// A value per pass that must not change from pass to pass.
#[derive(Debug, Default)]
struct Steady<T> {
    first: Option<T>,
    differs: bool,
}

impl<T: PartialEq + Default> Steady<T> {
    #[inline(always)]
    fn pass(&mut self, value: T) {
        match &self.first {
            None => self.first = Some(value),
            Some(first) => self.differs |= *first != value,
        }
    }

    fn finish(self) -> Option<T> {
        (!self.differs).then(|| self.first.unwrap_or_default())
    }
}

/// XOR of words by file position: a block's own XOR, turned by where the block starts in a word.
#[derive(Debug)]
pub struct Xor {
    fold: Xor32,
    word: u32,
    passes: Steady<u32>,
}

impl Default for Xor {
    fn default() -> Xor {
        Xor { fold: xor32(), word: 0, passes: Steady::default() }
    }
}

impl Fold for Xor {
    #[inline(always)]
    fn block(&mut self, at: u64, bytes: &[u8]) {
        self.word ^= (self.fold)(bytes).rotate_left(8 * (at & 3) as u32);
    }
    fn end_pass(&mut self) {
        self.passes.pass(std::mem::take(&mut self.word));
    }
    fn finish(self) -> Option<Partial> {
        self.passes.finish().map(Partial::Xor)
    }
}

/// CRC-32C of the bytes in the order they come.
#[derive(Debug, Default)]
pub struct CrcStream {
    crc: u32,
    bytes: u64,
    passes: Steady<(u32, u64)>,
}

impl Fold for CrcStream {
    const ORDERED: bool = true;
    #[inline(always)]
    fn block(&mut self, _: u64, bytes: &[u8]) {
        self.crc = crc32c::crc32c_append(self.crc, bytes);
        self.bytes += bytes.len() as u64;
    }
    fn end_pass(&mut self) {
        self.passes.pass((std::mem::take(&mut self.crc), std::mem::take(&mut self.bytes)));
    }
    fn finish(self) -> Option<Partial> {
        self.passes.finish().map(|(crc, bytes)| Partial::CrcStream(crc, bytes))
    }
}

/// The sum of blocks' CRCs, for orders in which no stream exists.
#[derive(Debug, Default)]
pub struct CrcSum {
    sum: u64,
    passes: Steady<u64>,
}

impl Fold for CrcSum {
    #[inline(always)]
    fn block(&mut self, _: u64, bytes: &[u8]) {
        self.sum = self.sum.wrapping_add(u64::from(crc32c::crc32c(bytes)));
    }
    fn end_pass(&mut self) {
        self.passes.pass(std::mem::take(&mut self.sum));
    }
    fn finish(self) -> Option<Partial> {
        self.passes.finish().map(Partial::CrcSum)
    }
}

#[cfg(test)]
mod tests {
    use super::{CrcStream, CrcSum, Fold, Partial, Xor};
    use crate::method::histogram::Histogram;
    use proptest::prelude::*;

    fn in_blocks<F: Fold + Default>(bytes: &[u8], block: usize, passes: u32) -> Option<Partial> {
        let mut fold = F::default();
        for _ in 0..passes {
            for (at, chunk) in bytes.chunks(block).enumerate() {
                fold.block((at * block) as u64, chunk);
            }
            fold.end_pass();
        }
        fold.finish()
    }

    proptest! {
        #[test]
        fn digests_do_not_depend_on_the_block(
            bytes in proptest::collection::vec(any::<u8>(), 0..2000),
            block in 1_usize..700,
            passes in 1_u32..4,
        ) {
            let xor = bytes.iter().enumerate()
                .fold(0, |acc, (i, b)| acc ^ (u32::from(*b) << (8 * (i % 4))));
            prop_assert_eq!(in_blocks::<Xor>(&bytes, block, passes), Some(Partial::Xor(xor)));
            let crc = Partial::CrcStream(crc32c::crc32c(&bytes), bytes.len() as u64);
            prop_assert_eq!(in_blocks::<CrcStream>(&bytes, block, passes), Some(crc));
            let mut counts = Box::new([0; 256]);
            for byte in &bytes { counts[usize::from(*byte)] += 1; }
            let counts = Partial::Histogram(counts);
            prop_assert_eq!(in_blocks::<Histogram>(&bytes, block, passes), Some(counts));
        }

        #[test]
        fn ranges_add_up(bytes in proptest::collection::vec(any::<u8>(), 0..900), cut in 0_usize..900) {
            let cut = cut.min(bytes.len());
            let part = |range: std::ops::Range<usize>| {
                let mut fold = CrcStream::default();
                fold.block(range.start as u64, &bytes[range]);
                fold.end_pass();
                fold.finish().unwrap()
            };
            let sum = part(0..cut).followed_by(part(cut..bytes.len()));
            prop_assert_eq!(sum, part(0..bytes.len()));
        }
    }

    #[test]
    fn crc32c_has_the_known_values() {
        // RFC 3720, B.4; and the check value of the CRC catalogue.
        let crc = |bytes: &[u8]| in_blocks::<CrcStream>(bytes, 5, 1).unwrap().digest().unwrap().1;
        assert_eq!(crc(&[0; 32]), "8a9136aa");
        assert_eq!(crc(&[0xff; 32]), "62a8ab43");
        assert_eq!(crc(b"123456789"), "e3069283");
        assert_eq!(crc(&(0..32).collect::<Vec<u8>>()), "46dd794e");
    }

    #[test]
    fn passes_that_differ_leave_no_digest() {
        fn differs<F: Fold + Default>() -> bool {
            let mut fold = F::default();
            fold.block(0, b"one pass");
            fold.end_pass();
            fold.block(0, b"two pass");
            fold.end_pass();
            fold.finish().is_none()
        }
        assert!(differs::<Xor>() && differs::<CrcStream>() && differs::<CrcSum>());
        assert!(differs::<Histogram>());
    }
}
