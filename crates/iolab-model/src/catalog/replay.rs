//! How a recorded program is done again.

use super::axis_word::{axis_words, words};

/// The level of every axis of a replay that leaves the program as it is.
pub const RECORDED: &str = "recorded";

words! {
    /// How bytes move in a replay.
    ReplayMethod, "method of a replay":
    /// By the recorded calls.
    Recorded "recorded",
    /// By pread and pwrite.
    Pread "pread",
    /// What is only read comes out of mappings.
    Mmap "mmap",
}

words! {
    /// When data are made durable in a replay.
    ReplaySync, "sync of a replay":
    /// Where the program did so.
    Recorded "recorded",
    /// Never.
    None "none",
    /// Each file that was, once at the end.
    End "end",
}

axis_words!(ReplayMethod of Method, ReplaySync of Sync);
