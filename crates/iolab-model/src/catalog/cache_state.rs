//! The states of the page cache that a trial can start from.

use super::axis_word::{axis_words, words};

words! {
    /// The state of the page cache before a trial.
    CacheState, "cache state":
    /// Nothing of the file is in the page cache; the device must deliver it.
    Cold "cold",
    /// All of the file is in the page cache and clean.
    Warm "warm",
    /// As it happens to be.
    Any "any",
    /// As after a mount, on a --place that iolab mounts: no names and attributes cached either.
    Remount "remount",
}

axis_words!(CacheState of Cache);

impl CacheState {
    /// Whether the device must deliver the data.
    pub const fn is_cold(self) -> bool {
        matches!(self, CacheState::Cold | CacheState::Remount)
    }

    /// What must be true of the pages of a file: a remount leaves none of them.
    #[must_use]
    pub const fn of_pages(self) -> CacheState {
        match self {
            CacheState::Remount => CacheState::Cold,
            state => state,
        }
    }
}
