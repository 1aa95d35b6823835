//! What was shown about a cell, in a word.

/// What was shown about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Best,
    Tied,
    ClearlySlower,
    Slower,
    Undecided,
    Eliminated,
    /// It shares the source's extents: no copy, and no rival of copies.
    Cloned,
    None,
}

impl Mark {
    pub(super) fn word(self) -> &'static str {
        match self {
            Mark::Best => "best",
            Mark::Tied => "tied",
            Mark::ClearlySlower => "slower",
            Mark::Slower => "barely slower",
            Mark::Undecided => "undecided",
            Mark::Eliminated => "left out",
            Mark::Cloned => "cloned",
            Mark::None => "",
        }
    }
}
