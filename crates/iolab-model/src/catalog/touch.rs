//! Which calls of a file's life a metadata trial times.

use super::factor::Factor;
use super::level::Levels;

/// The calls on each file of a tree that are timed. The first may be dearer than all that follow
/// (a copy-up, an attribute that is read), so that they are never mixed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Touch {
    /// One call on each file, the first that it sees.
    First,
    /// One call on each file, the second.
    Second,
    /// Calls on files that have seen at least two.
    Steady,
    /// Several calls on each file in a row, the first among them.
    Whole,
}

impl Touch {
    /// The words, in the order in which people meet them.
    pub const WORDS: [&str; 4] = ["first", "second", "steady", "whole"];

    /// By its word.
    pub fn new(word: &str) -> Option<Touch> {
        Some(match word {
            "first" => Touch::First,
            "second" => Touch::Second,
            "steady" => Touch::Steady,
            "whole" => Touch::Whole,
            _ => return None,
        })
    }

    /// That of a cell or a trial; nothing where its workload counts no touches.
    pub fn of(levels: &Levels) -> Option<Touch> {
        levels.text(Factor::Pass).and_then(Touch::new)
    }

    /// Its word.
    pub const fn word(self) -> &'static str {
        match self {
            Touch::First => Touch::WORDS[0],
            Touch::Second => Touch::WORDS[1],
            Touch::Steady => Touch::WORDS[2],
            Touch::Whole => Touch::WORDS[3],
        }
    }

    /// Calls that each file has seen before the clock starts.
    pub const fn before(self) -> u64 {
        match self {
            Touch::First | Touch::Whole => 0,
            Touch::Second => 1,
            Touch::Steady => 2,
        }
    }

    /// Whether each file is called upon once, however many repeats are asked for.
    pub const fn is_one_call(self) -> bool {
        matches!(self, Touch::First | Touch::Second)
    }

    /// Whether a trial uses its files up: another needs fresh ones.
    pub const fn uses_up(self) -> bool {
        !matches!(self, Touch::Steady)
    }
}

#[cfg(test)]
mod tests {
    use super::Touch;

    #[test]
    fn words_are_read_back() {
        for word in Touch::WORDS {
            assert_eq!(Touch::new(word).map(Touch::word), Some(word));
        }
        assert_eq!(Touch::new("third"), None);
    }
}
