//! Why a log or a trace cannot be read: what was met, where, and what to do.

use std::io;

/// What reading or writing a log or a trace met.
#[derive(Debug, thiserror::Error)]
pub enum TraceError {
    /// The bytes could not be read or written.
    #[error("{0}")]
    Io(#[from] io::Error),
    /// No line of it is one of strace.
    #[error(
        "line {line} is none of an strace log, and no other line is: '{text}'; make one with \
         strace -f -ttt -T -yy -s 0 -o FILE COMMAND"
    )]
    NotALog {
        /// The first line that was not understood, from 1.
        line: u64,
        /// Its beginning.
        text: String,
    },
    /// There is nothing in it.
    #[error("it is empty: no call was recorded")]
    Empty,
    /// Calls without a time have no order beside other threads' and cost nothing.
    #[error(
        "line {line} has no time; make the log with strace -f -ttt -T -yy -s 0 -o FILE COMMAND"
    )]
    NoTime {
        /// The line, from 1.
        line: u64,
    },
    /// More of something than memory is given to.
    #[error("line {line}: more than {limit} {what}; record a shorter part of the program")]
    TooMany {
        /// The line, from 1; of a trace the call, from 1.
        line: u64,
        /// What there is too much of.
        what: &'static str,
        /// The most.
        limit: u64,
    },
    /// The file does not begin as a trace does.
    #[error("it is no trace of iolab; iolab record makes one, iolab import takes a log of strace")]
    NotATrace,
    /// A later iolab wrote it.
    #[error(
        "it has version {found} of the format, and this iolab knows {known}: take a newer iolab"
    )]
    Newer {
        /// The version of the file.
        found: u64,
        /// The latest that is known here.
        known: u64,
    },
    /// It is not what it says.
    #[error("it is damaged at byte {at_byte}: {why}; record again, or take a good copy")]
    Damaged {
        /// Where it was found, from the start of the file.
        at_byte: u64,
        /// What is wrong there.
        why: &'static str,
    },
}
