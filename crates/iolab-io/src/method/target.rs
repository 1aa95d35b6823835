//! What is written to, and until when it is timed.

use std::fmt;
use std::path::Path;
use std::str::FromStr;

use rustix::fd::OwnedFd;
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::fill::Pool;
use super::partition::{Layout, Stop};
use super::sync::Sync;

/// What the file is before the first write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// Empty and just made: writing allocates its blocks.
    New,
    /// Written before, its blocks allocated and its pages cached: nothing is allocated.
    Overwrite,
    /// Allocated by `fallocate(2)` to its full size: writing converts unwritten extents.
    Preallocated,
    /// Has bytes already and is opened with `O_APPEND`.
    Append,
}

/// Until when a write is timed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Until {
    /// The last write call has returned.
    Return,
    /// The file is closed.
    Close,
    /// Its data would survive a loss of power.
    Durable,
    /// So would its name.
    Namespace,
}

macro_rules! words {
    ($kind:ident, $what:literal, $($variant:ident $word:literal),*) => {
        impl $kind {
            /// The words of the axis.
            pub const WORDS: &'static [&'static str] = &[$($word),*];
        }
        impl FromStr for $kind {
            type Err = String;
            fn from_str(text: &str) -> Result<$kind, String> {
                match text {
                    $($word => Ok($kind::$variant),)*
                    _ => Err(format!(
                        "unknown {} {text:?}: use {}", $what, $kind::WORDS.join(", ")
                    )),
                }
            }
        }
        impl fmt::Display for $kind {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(match self { $($kind::$variant => $word),* })
            }
        }
    };
}

words!(Target, "target", New "new", Overwrite "overwrite", Preallocated "preallocated",
    Append "append");
words!(Until, "end of the time", Return "return", Close "close", Durable "durable",
    Namespace "namespace");

/// A file to write and how. It exists already.
#[derive(Debug)]
pub struct WriteJob<'a> {
    /// The file; opened by every thread of its own.
    pub path: &'a Path,
    /// What is written by whom.
    pub layout: Layout,
    /// The bytes.
    pub pool: &'a Pool,
    /// When data are made durable.
    pub sync: Sync,
    /// What the file is.
    pub target: Target,
    /// Whether the page cache is bypassed.
    pub direct: bool,
    /// Requests under way at a time, where the method can have more than one.
    pub depth: u32,
    /// Whether each block is timed by itself.
    pub latency: bool,
    /// The file's size when all is written.
    pub end_bytes: u64,
    /// Until when it is timed.
    pub until: Until,
}

impl WriteJob<'_> {
    /// Opens the file as this job writes it.
    pub fn open(&self, access: OFlags) -> Result<OwnedFd, Stop> {
        let append = if self.target == Target::Append { OFlags::APPEND } else { OFlags::empty() };
        let direct = if self.direct { OFlags::DIRECT } else { OFlags::empty() };
        let flags = access | append | direct | self.sync.open_flags();
        let flags = flags | OFlags::CLOEXEC | OFlags::NOCTTY;
        let opened = rustix::fs::open(self.path, flags, Mode::empty());
        match opened {
            Err(Errno::INVAL) if self.direct => {
                let cause = "O_DIRECT is refused by this file system; leave out --direct on, or \
                             name a directory on a disk";
                Err(Stop { cause: cause.into(), errno: Some(Errno::INVAL.raw_os_error()) })
            }
            opened => Ok(opened?),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Target, Until};

    #[test]
    fn words_parse_and_print_back() {
        for word in Target::WORDS {
            assert_eq!(word.parse::<Target>().unwrap().to_string(), *word);
        }
        for word in Until::WORDS {
            assert_eq!(word.parse::<Until>().unwrap().to_string(), *word);
        }
        assert!("old".parse::<Target>().unwrap_err().contains("preallocated"));
        assert!(Until::Return < Until::Namespace);
    }
}
