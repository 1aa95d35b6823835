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
    /// By requests in a ring, one at a time.
    IoUring "io_uring",
    /// Past the page cache where offset and length are aligned.
    Direct "direct",
}

words! {
    /// When data are made durable in a replay.
    ReplaySync, "sync of a replay":
    /// Where the program did so.
    Recorded "recorded",
    /// Never.
    None "none",
    /// Each file that is written to, before it is closed for the last time.
    Close "close",
    /// Each file that was, once at the end.
    End "end",
}

words! {
    /// What the kernel is told of the order of reads in a replay.
    ReplayReadahead, "read-ahead advice of a replay":
    /// What the program told it.
    Recorded "recorded",
    /// Nothing.
    Normal "normal",
    /// That each file is read from its beginning to its end.
    Sequential "sequential",
    /// That each file is read here and there.
    Random "random",
}

words! {
    /// What passes between the calls of a replay.
    ReplayThink, "think time of a replay":
    /// Nothing: each call follows the one before it.
    None "none",
    /// As much time as the program spent in its own code.
    Recorded "recorded",
    /// The same, through memory, and the calls alone are counted.
    Uncounted "uncounted",
}

axis_words!(
    ReplayMethod of Method, ReplaySync of Sync, ReplayReadahead of Readahead, ReplayThink of Think,
);
