//! Nonsense from sense: pieces cut out, doubled, swapped and broken, numbers made extreme, nests made
//! deep, all from a seed.

use rand_core::{Rng, SeedableRng};
use rand_pcg::Pcg64;

/// Numbers at which readers break.
const NUMBERS: [&str; 12] = [
    "0",
    "-1",
    "1e999",
    "-0.0",
    "NaN",
    "18446744073709551615",
    "18446744073709551616",
    "9223372036854775807",
    "340282366920938463463374607431768211456",
    "1e-320",
    "4294967295",
    "0x",
];
/// Words that mean something to some reader.
const WORDS: [&str; 16] = [
    "null",
    "true",
    "\u{0}",
    "\u{1b}[31m",
    "\u{202e}",
    "'''",
    "\"\"\"",
    "\\u0000",
    "../../",
    "x2",
    "..",
    ":",
    "KiB",
    "=1+1",
    "\r\n",
    "</script>",
];
/// Openings of nests.
const NESTS: [&str; 6] = ["[", "{\"a\":", "a = [", "(", "overlay:lower=", "{a = "];
/// No reader is asked for more.
const MOST_BYTES: usize = 256 << 10;

/// Draws nonsense.
#[derive(Debug)]
pub struct Mutator(Pcg64);

impl Mutator {
    /// From a seed: the same each time.
    pub fn new(seed: u64) -> Mutator {
        Mutator(Pcg64::seed_from_u64(seed))
    }

    fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.0.next_u64() % end as u64) as usize }
    }

    fn range(&mut self, bytes: &[u8]) -> (usize, usize) {
        let from = self.below(bytes.len() + 1);
        let most = [4, 40, 400][self.below(3)];
        (from, (from + self.below(most)).min(bytes.len()))
    }

    /// One of the texts with a few of its pieces changed.
    pub fn next(&mut self, corpus: &[Vec<u8>]) -> Vec<u8> {
        let at = self.below(corpus.len());
        let mut bytes = corpus.get(at).cloned().unwrap_or_default();
        for _ in 0..=self.below(4) {
            self.change(&mut bytes, corpus);
        }
        bytes.truncate(MOST_BYTES);
        bytes
    }

    fn change(&mut self, bytes: &mut Vec<u8>, corpus: &[Vec<u8>]) {
        let (from, to) = self.range(bytes);
        match self.below(8) {
            0 => drop(bytes.drain(from..to)),
            1 => {
                let piece = bytes[from..to].to_vec();
                let times = [1, 2, 300][self.below(3)];
                bytes.splice(from..from, piece.repeat(times));
            }
            2 => {
                let other = corpus[self.below(corpus.len())].clone();
                let (a, b) = self.range(&other);
                bytes.splice(from..to, other[a..b].iter().copied());
            }
            3 => {
                for byte in &mut bytes[from..to] {
                    *byte ^= 1 << self.below(8);
                }
            }
            4 => self.number(bytes, from),
            5 => {
                let word = WORDS[self.below(WORDS.len())];
                bytes.splice(from..to, word.bytes());
            }
            6 => {
                let nest = NESTS[self.below(NESTS.len())];
                let times = [3, 200, 5000][self.below(3)];
                bytes.splice(from..from, nest.repeat(times).into_bytes());
            }
            _ => bytes.truncate(from),
        }
    }

    /// The next number in the text becomes an extreme one.
    fn number(&mut self, bytes: &mut Vec<u8>, from: usize) {
        let Some(start) = (from..bytes.len()).find(|at| bytes[*at].is_ascii_digit()) else {
            return;
        };
        let digits = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        let number = NUMBERS[self.below(NUMBERS.len())];
        bytes.splice(start..start + digits, number.bytes());
    }
}
