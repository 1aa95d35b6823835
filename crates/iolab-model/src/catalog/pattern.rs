//! The orders in which the blocks of a file are visited.

use std::fmt;
use std::str::FromStr;

use super::axis_word::{UnknownWord, axis_words};

/// A pattern as written: `sequential`, `random`, `reverse`, `stride:8`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pattern {
    /// First to last.
    Sequential,
    /// A permutation fixed by the seed of the trial.
    Random,
    /// Last to first.
    Reverse,
    /// Every n-th block from the first, then every n-th from the second, and so on.
    Stride(u64),
}

const SEQUENTIAL: &str = "sequential";
const RANDOM: &str = "random";
const REVERSE: &str = "reverse";
const STRIDE: &str = "stride:";

axis_words!(Pattern of Pattern);

impl Pattern {
    /// The words of the axis; `stride:N` stands for any whole number of blocks.
    pub const WORDS: &[&str] = &[SEQUENTIAL, RANDOM, REVERSE, "stride:N"];
    /// That of who names none.
    pub const USUAL: &str = SEQUENTIAL;
}

impl FromStr for Pattern {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Self, UnknownWord> {
        let blocks = || text.strip_prefix(STRIDE)?.parse().ok().filter(|blocks| *blocks > 0);
        Ok(match text {
            SEQUENTIAL => Pattern::Sequential,
            RANDOM => Pattern::Random,
            REVERSE => Pattern::Reverse,
            _ => Pattern::Stride(blocks().ok_or_else(|| {
                let choices = "sequential, random, reverse or stride:N with N blocks, 1 or more";
                UnknownWord::new("pattern", text, choices)
            })?),
        })
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Pattern::Sequential => f.pad(SEQUENTIAL),
            Pattern::Random => f.pad(RANDOM),
            Pattern::Reverse => f.pad(REVERSE),
            Pattern::Stride(blocks) => write!(f, "{STRIDE}{blocks}"),
        }
    }
}
