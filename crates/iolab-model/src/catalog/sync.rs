//! When written data are made durable.

use std::fmt;
use std::str::FromStr;

use super::axis_word::{UnknownWord, axis_words};

/// As written: `none`, `end`, `fsync`, `fdatasync`, `dsync`, `sync`, `every:16`; of many files also `each`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Sync {
    /// Never; what `close(2)` leaves to the kernel.
    None,
    /// One `fsync(2)` after the last block, before the file is closed; of many files, one sync of
    /// all of them.
    End,
    /// `fsync(2)` after each block.
    Fsync,
    /// `fdatasync(2)` after each block: its data, and what is needed to read them.
    Fdatasync,
    /// `O_DSYNC`: a write returns when its data, and what is needed to read them, are durable.
    Dsync,
    /// `O_SYNC`: the same with all metadata.
    Sync,
    /// `fsync(2)` after every n-th block.
    Every(u64),
    /// `fsync(2)` of each of many files, before it is closed. Of one file that is its end.
    Each,
}

const NONE: &str = "none";
const END: &str = "end";
const FSYNC: &str = "fsync";
const FDATASYNC: &str = "fdatasync";
const DSYNC: &str = "dsync";
const SYNC: &str = "sync";
const EVERY: &str = "every:";
const EACH: &str = "each";

axis_words!(Sync of Sync);

impl Sync {
    /// The words for one file.
    pub const WORDS: &[&str] = &[NONE, END, FSYNC, FDATASYNC, DSYNC, SYNC, "every:N"];
    /// The words for many files.
    pub const OF_FILES: &[&str] = &[NONE, EACH, END];

    /// Whether everything is durable once the last write (with the fsync that follows it) has
    /// returned.
    pub const fn durable_on_return(self) -> bool {
        matches!(self, Sync::Fsync | Sync::Fdatasync | Sync::Dsync | Sync::Sync)
    }

    /// Whether operations wait for the device before the last.
    pub const fn waits_within(self) -> bool {
        !matches!(self, Sync::None | Sync::End)
    }

    /// Syncs that writing so many blocks costs, the one at the end included.
    pub fn count(self, blocks: u64) -> u64 {
        match self {
            Sync::None | Sync::End | Sync::Each => 1,
            Sync::Fsync | Sync::Fdatasync | Sync::Dsync | Sync::Sync => blocks,
            Sync::Every(n) => blocks.div_ceil(n.max(1)),
        }
    }
}

impl FromStr for Sync {
    type Err = UnknownWord;
    fn from_str(text: &str) -> Result<Sync, UnknownWord> {
        let blocks = || text.strip_prefix(EVERY)?.parse().ok().filter(|blocks| *blocks > 0);
        Ok(match text {
            NONE => Sync::None,
            END => Sync::End,
            FSYNC => Sync::Fsync,
            FDATASYNC => Sync::Fdatasync,
            DSYNC => Sync::Dsync,
            SYNC => Sync::Sync,
            EACH => Sync::Each,
            _ => Sync::Every(blocks().ok_or_else(|| {
                let choices = "none, end, fsync, fdatasync, dsync, sync or every:N with N blocks, 1 or \
                               more; of many files none, each or end";
                UnknownWord::new("sync", text, choices)
            })?),
        })
    }
}

impl fmt::Display for Sync {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sync::None => f.pad(NONE),
            Sync::End => f.pad(END),
            Sync::Fsync => f.pad(FSYNC),
            Sync::Fdatasync => f.pad(FDATASYNC),
            Sync::Dsync => f.pad(DSYNC),
            Sync::Sync => f.pad(SYNC),
            Sync::Each => f.pad(EACH),
            Sync::Every(blocks) => write!(f, "{EVERY}{blocks}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Sync;

    #[test]
    fn a_sync_after_no_block_is_none() {
        assert_eq!("every:16".parse(), Ok(Sync::Every(16)));
        for wrong in ["every:0", "every:", "every:x", "Fsync", ""] {
            assert!(wrong.parse::<Sync>().unwrap_err().choices.contains("every:N"), "{wrong}");
        }
        assert_eq!((Sync::Every(3).count(7), Sync::End.count(7), Sync::Fsync.count(7)), (3, 1, 7));
    }
}
