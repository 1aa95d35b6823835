//! Why a file could not be imported. Each text names the file and the fix; nothing was changed.

use std::io;

/// Why a file could not be imported.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// The system said no.
    #[error("cannot read {file}: {source}")]
    Read {
        /// The file.
        file: String,
        /// The system's word.
        source: io::Error,
    },
    /// Larger than any run.
    #[error("{file} has more than 2 GiB: that is no run")]
    TooLarge {
        /// The file.
        file: String,
    },
    /// Not JSON, or cut off.
    #[error("{file} is not whole JSON: {cause}; write it again, or copy it again")]
    NotJson {
        /// The file.
        file: String,
        /// Where and why.
        cause: String,
    },
    /// What fio is to do, and not what it measured.
    #[error(
        "{file} is a job of fio, not its output: fio --output-format=json --output=out.json {file}, \
         then iolab import out.json"
    )]
    FioJob {
        /// The file.
        file: String,
    },
    /// JSON of something else.
    #[error("{file} is JSON, but no run of {}", super::formats_text())]
    Unknown {
        /// The file.
        file: String,
    },
    /// Written by a later iolab.
    #[error("{file} is a run in the format {found}, this iolab knows {known}: update iolab")]
    Newer {
        /// The file.
        file: String,
        /// Its format.
        found: String,
        /// Ours.
        known: &'static str,
    },
    /// A part of it is not what the format says.
    #[error("{file} cannot be used: {what}")]
    Bad {
        /// The file.
        file: String,
        /// What is wrong.
        what: String,
    },
    /// Nothing was measured in it.
    #[error("{file} has no measurement in it: {why}")]
    Empty {
        /// The file.
        file: String,
        /// What there is instead.
        why: String,
    },
    /// It has several runs where one is needed.
    #[error("{file} has several runs in it: import it (`iolab import {file}`) and name one")]
    Several {
        /// The file.
        file: String,
    },
}
