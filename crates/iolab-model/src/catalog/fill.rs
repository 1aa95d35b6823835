//! What written bytes look like.

use std::fmt;
use std::str::FromStr;

use super::axis_word::{UnknownWord, axis_words};

/// As written: `random`, `text`, `zero`, `compressible:50`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Fill {
    /// Random bytes that nothing can compress.
    #[default]
    Random,
    /// Random printable characters (ASCII 32 to 126).
    Text,
    /// Zeros.
    Zero,
    /// Of every 4 KiB this many per cent are zeros, the rest random.
    Compressible(u8),
}

const RANDOM: &str = "random";
const TEXT: &str = "text";
const ZERO: &str = "zero";
const COMPRESSIBLE: &str = "compressible:";

axis_words!(Fill of Fill);

impl Fill {
    /// The words of the axis.
    pub const WORDS: &[&str] = &[RANDOM, TEXT, ZERO, "compressible:N"];
    /// The words for many files.
    pub const OF_FILES: &[&str] = &[RANDOM, ZERO, TEXT];
    /// That of who names none.
    pub const USUAL: &str = RANDOM;
}

impl FromStr for Fill {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Fill, UnknownWord> {
        let percent = || text.strip_prefix(COMPRESSIBLE)?.parse().ok().filter(|n| *n <= 100);
        Ok(match text {
            RANDOM => Fill::Random,
            TEXT => Fill::Text,
            ZERO => Fill::Zero,
            _ => Fill::Compressible(percent().ok_or_else(|| {
                let choices = "random, text, zero or compressible:N with N per cent, up to 100";
                UnknownWord::new("fill", text, choices)
            })?),
        })
    }
}

impl fmt::Display for Fill {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Fill::Random => f.pad(RANDOM),
            Fill::Text => f.pad(TEXT),
            Fill::Zero => f.pad(ZERO),
            Fill::Compressible(percent) => write!(f, "{COMPRESSIBLE}{percent}"),
        }
    }
}
