//! Kinds of methods, as far as a reader compares one kind with another.

use super::factor::Factor;
use super::level::Levels;

/// What becomes of the bytes when a method is done with them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MethodClass {
    /// Calls move them to memory of the program, or past it.
    Calls,
    /// The file is mapped: the first touch of a page brings it in.
    Maps,
    /// None moves: files share their blocks. No copy, and no rival of copies.
    Clones,
    /// Nothing is done, so that what is left is our own cost.
    Nothing,
}

/// How the names of methods that map begin.
const MAPS: &str = "mmap";
/// The method that clones.
const CLONES: &str = "reflink";
/// The method that does nothing.
const NOTHING: &str = "null";

impl MethodClass {
    /// That of a method by its name in results.
    pub fn of(method: &str) -> MethodClass {
        match method {
            CLONES => MethodClass::Clones,
            NOTHING => MethodClass::Nothing,
            _ if method.starts_with(MAPS) => MethodClass::Maps,
            _ => MethodClass::Calls,
        }
    }

    /// That of a cell; nothing where no method applies.
    pub fn of_cell(levels: &Levels) -> Option<MethodClass> {
        levels.text(Factor::Method).map(MethodClass::of)
    }
}
