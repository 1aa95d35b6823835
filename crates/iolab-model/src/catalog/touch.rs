//! Which calls of a file's life a metadata trial times.

use super::axis_word::{axis_words, words};

words! {
    /// The calls on each file of a tree that are timed. The first may be dearer than all that
    /// follow (a copy-up, an attribute that is read), so that they are never mixed.
    Touch, "touch":
    /// One call on each file, the first that it sees.
    First "first",
    /// One call on each file, the second.
    Second "second",
    /// Calls on files that have seen at least two.
    Steady "steady",
    /// Several calls on each file in a row, the first among them.
    Whole "whole",
}

axis_words!(Touch of Pass);

impl Touch {
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
