//! What the runs of a survey are about.

/// What a run of the survey was about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Topic {
    /// Block sizes on a cached file.
    Warm,
    /// Block sizes on an evicted file.
    Cold,
    /// read against mmap by file size.
    Mapping,
    /// The floor of system calls.
    Calls,
    /// Block sizes until the data are durable.
    Durable,
    /// Each block made durable before the next.
    Synced,
    /// Ways to copy a file.
    Copying,
    /// Metadata calls on many files.
    Metadata,
    /// Many small files with one worker and with more.
    Small,
}
