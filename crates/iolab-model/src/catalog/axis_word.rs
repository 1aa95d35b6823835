//! Levels that are words of a closed list: one type an axis, read once, so that no other file
//! compares texts. The type owns its words; `FromStr` names them all where one is not known.

use std::fmt;
use std::str::FromStr;

use super::factor::Factor;
use super::level::{Level, Levels};

/// A text that is none of the words of a list.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown {what} {word:?}: use {choices}")]
pub struct UnknownWord {
    /// What the words of the list are.
    pub what: &'static str,
    /// What was written.
    pub word: String,
    /// What may be written instead.
    pub choices: String,
}

impl UnknownWord {
    pub(crate) fn new(what: &'static str, word: &str, choices: impl Into<String>) -> UnknownWord {
        UnknownWord { what, word: word.to_owned(), choices: choices.into() }
    }
}

/// A type that stands for the levels of one axis.
pub trait AxisWord: Copy + fmt::Display + FromStr<Err = UnknownWord> {
    /// The axis.
    const FACTOR: Factor;

    /// As a level.
    fn level(self) -> Level {
        Level::Word(self.to_string())
    }
}

impl Levels {
    /// The level of the axis that the type stands for; nothing where the axis does not apply, and
    /// where a record has a word that this iolab does not know.
    pub fn word<W: AxisWord>(&self) -> Option<W> {
        self.text(W::FACTOR)?.parse().ok()
    }

    /// The same, for what must be done as it is asked: an axis that does not apply is `default`.
    ///
    /// # Errors
    /// A word that is not known, with those that are.
    pub fn word_or<W: AxisWord>(&self, default: W) -> Result<W, UnknownWord> {
        self.text(W::FACTOR).map_or(Ok(default), str::parse)
    }

    /// Whether an axis of [`Switch`] is on.
    pub fn is_on(&self, factor: Factor) -> bool {
        self.text(factor) == Some(Switch::On.word())
    }

    /// Sets the level of the axis that the type stands for.
    pub fn set_word<W: AxisWord>(&mut self, word: W) {
        self.set(W::FACTOR, word.level());
    }
}

/// A closed list of words: the type, its words in the order in which people meet them, and both
/// ways between them.
macro_rules! words {
    (
        $(#[$about:meta])*
        $name:ident, $what:literal:
        $($(#[doc = $means:literal])* $variant:ident $word:literal,)+
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name {
            $($(#[doc = $means])* $variant,)+
        }

        impl $name {
            /// What they mean, in the same order.
            pub const MEANINGS: &[&str] = &[$(concat!($($means),*)),+];
            /// Every one, in the order in which people meet them.
            pub const ALL: &[$name] = &[$($name::$variant),+];
            /// Their words, in the same order.
            pub const WORDS: &[&str] = &[$($word),+];

            /// Its word, on the command line and in results.
            pub const fn word(self) -> &'static str {
                match self {
                    $($name::$variant => $word,)+
                }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.word())
            }
        }

        impl std::str::FromStr for $name {
            type Err = $crate::catalog::UnknownWord;
            fn from_str(text: &str) -> Result<$name, Self::Err> {
                $name::ALL.iter().copied().find(|one| one.word() == text).ok_or_else(|| {
                    $crate::catalog::UnknownWord::new($what, text, $name::WORDS.join(", "))
                })
            }
        }
    };
}
pub(super) use words;

/// Says of which axis a type has the words.
macro_rules! axis_words {
    ($($name:ident of $factor:ident),+ $(,)?) => {
        $(impl $crate::catalog::AxisWord for $name {
            const FACTOR: $crate::catalog::Factor = $crate::catalog::Factor::$factor;
        })+
    };
}
pub(super) use axis_words;

words! {
    /// The levels of an axis that is on or off: `direct`, `latency`.
    Switch, "switch":
    /// It is not.
    Off "off",
    /// It is.
    On "on",
}

words! {
    /// What a file is before it is written.
    Target, "target":
    /// It does not exist.
    New "new",
    /// It is there, with its bytes, and is written over.
    Overwrite "overwrite",
    /// Its blocks are allocated and hold nothing.
    Preallocated "preallocated",
    /// Has bytes already and is opened with `O_APPEND`.
    Append "append",
}

words! {
    /// Until when a write is timed.
    Until, "end of the time":
    /// The last write call has returned.
    Return "return",
    /// The file is closed.
    Close "close",
    /// Its data would survive a loss of power.
    Durable "durable",
    /// So would its name.
    Namespace "namespace",
}

words! {
    /// What is done with the bytes that were read.
    Consume, "consumer":
    /// Nothing.
    None "none",
    /// XOR of the file's little-endian 4-byte words, the same for every block size.
    Xor "xor",
    /// How often each byte value occurs.
    Histogram "histogram",
    /// CRC-32C (RFC 3720) of the file, or, in an order that is not sequential, the sum of the
    /// CRCs of its blocks.
    Crc32c "crc32c",
}

words! {
    /// Advice for the read-ahead of one open file, by `posix_fadvise(2)`. Nothing outside this
    /// descriptor changes, and nobody needs a privilege for it.
    Readahead, "read-ahead":
    /// As the device has it (`/sys/block/DEVICE/queue/read_ahead_kb`).
    Normal "normal",
    /// Twice as much (`POSIX_FADV_SEQUENTIAL`, mm/fadvise.c).
    Sequential "sequential",
    /// None (`POSIX_FADV_RANDOM`).
    Random "random",
}

words! {
    /// What becomes of the holes of a sparse file that is copied.
    Sparse, "level of sparse":
    /// They stay holes.
    Keep "keep",
    /// They become zeros that are stored.
    Fill "fill",
}

words! {
    /// Whether reading a file may write to its inode.
    Atime, "handling of access times":
    /// Opened with `O_NOATIME` (open(2)), where that is permitted: nothing of the file is written.
    Left "left",
    /// Opened without it, as most programs do: the mount decides when the time is written (`relatime`
    /// looks at it at each read and writes it once a day or after a change).
    Kept "kept",
}

words! {
    /// Whose the table of open files is that workers look descriptors up in.
    Descriptors, "table of descriptors":
    /// All threads share one, as they do unless a program asks otherwise: each look-up is atomic.
    Shared "shared",
    /// Each worker has a table of its own (`unshare(CLONE_FILES)`, unshare(2)).
    Own "own",
}

words! {
    /// What the ranks of an MPI job work on.
    Share, "level of share":
    /// Each rank on a file, or a tree of files, of its own.
    Own "own",
    /// All on one file, each on a piece of it that follows the last one's.
    Segmented "segmented",
    /// All on one file, block by block in turn.
    Strided "strided",
    /// All in the same directories, each on files of its own.
    One "one",
}

impl Share {
    /// The words for one file.
    pub const OF_FILE: &[&str] =
        &[Share::Own.word(), Share::Segmented.word(), Share::Strided.word()];
    /// The words for many files.
    pub const OF_TREE: &[&str] = &[Share::Own.word(), Share::One.word()];
}

/// Whether the ranks of a job work on one file, or in the same directories.
pub fn is_shared(levels: &Levels) -> bool {
    levels.word().is_some_and(|share: Share| share != Share::Own)
}

words! {
    /// Levels of the shift of ranks beside numbers.
    Shift, "shift":
    /// To the first rank of another machine.
    Auto "auto",
    /// A rank reads its own part.
    Off "off",
}

axis_words!(
    Target of Target, Until of Until, Consume of Consume, Readahead of Readahead, Sparse of Sparse,
    Atime of Atime, Descriptors of Descriptors, Share of Share, Shift of Shift,
);

#[cfg(test)]
mod tests {
    use super::{
        Atime, AxisWord, Consume, Descriptors, Readahead, Share, Shift, Sparse, Switch, Target,
        Until,
    };
    use crate::catalog::{CacheState, Factor, FileOperation, Fill, Levels, Pattern, Sync, Touch};

    fn read_back<W: AxisWord + std::fmt::Debug + PartialEq>(words: &[&str]) {
        for word in words.iter().map(|word| word.replace(":N", ":3")) {
            let parsed: W = word.parse().unwrap();
            assert_eq!(parsed.to_string(), word);
            let levels = Levels::new().with(W::FACTOR, parsed.level());
            assert_eq!(levels.word(), Some(parsed));
        }
        assert!("no such word".parse::<W>().unwrap_err().choices.contains(words[0]));
    }

    #[test]
    fn every_word_is_read_back_and_an_unknown_one_names_them() {
        read_back::<CacheState>(CacheState::WORDS);
        read_back::<Sync>(Sync::WORDS);
        read_back::<Sync>(Sync::OF_FILES);
        read_back::<Touch>(Touch::WORDS);
        read_back::<Pattern>(Pattern::WORDS);
        read_back::<FileOperation>(FileOperation::WORDS);
        read_back::<Fill>(Fill::WORDS);
        read_back::<Target>(Target::WORDS);
        read_back::<Until>(Until::WORDS);
        read_back::<Consume>(Consume::WORDS);
        read_back::<Readahead>(Readahead::WORDS);
        read_back::<Sparse>(Sparse::WORDS);
        read_back::<Atime>(Atime::WORDS);
        read_back::<Descriptors>(Descriptors::WORDS);
        read_back::<Share>(Share::WORDS);
        read_back::<Shift>(Shift::WORDS);
        assert!(Until::Return < Until::Namespace);
    }

    #[test]
    fn a_word_of_a_newer_record_is_no_level_and_no_trial() {
        let mut levels = Levels::new();
        assert_eq!(levels.word_or(Sync::None), Ok(Sync::None));
        levels.set(Factor::Sync, super::Level::word("sometimes"));
        assert_eq!(levels.word::<Sync>(), None);
        assert!(levels.word_or(Sync::None).is_err());
        levels.set(Factor::Direct, super::Level::word(Switch::On.word()));
        assert!(levels.is_on(Factor::Direct) && !levels.is_on(Factor::Latency));
    }
}
