//! Where a program's file time goes, and the sentences that a reviewer would write.

mod cost;
mod extents;
mod findings;
mod gather;
mod groups;
mod judge;
mod origin;
mod pattern;
mod sentence;
mod sum;
#[cfg(test)]
mod tests;
mod times;

use serde::Serialize;

use crate::trace::Trace;

pub use cost::Turn;
pub use pattern::Pattern;
pub(crate) use times::part_of_each;

/// Times and counts of the whole program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Whole {
    /// From the first call to the last under the tracer.
    pub traced_wall_ns: u64,
    /// Without the tracer: the median of the runs, where there were any.
    pub wall_ns: Option<u64>,
    /// How many runs that is the median of.
    pub runs: usize,
    /// What the tracer adds to a call, by calls that cost next to nothing.
    pub tracer_ns_per_call: u64,
    /// At least.
    pub tracer_low_ns_per_call: u64,
    /// At most.
    pub tracer_high_ns_per_call: u64,
    /// Whether that was measured before the recording; else it is seen in the program's own calls alone.
    pub tracer_is_calibrated: bool,
    /// What calls on files took beyond that; nothing where the log has no times of calls.
    pub file_ns: Option<u64>,
    /// At least, as far as the tracer's cost is known.
    pub file_low_ns: Option<u64>,
    /// At most.
    pub file_high_ns: Option<u64>,
    /// What shares are of: `wall_ns`, or, without runs, the traced time without the tracer's.
    pub share_of_ns: u64,
    /// The share of that.
    pub file_share: Option<f64>,
    /// At least.
    pub file_low_share: Option<f64>,
    /// At most.
    pub file_high_share: Option<f64>,
    /// How many times as fast the program could be, were file calls free: by `file_share`; nothing where
    /// next to nothing else is left.
    pub gain: Option<f64>,
    /// The same by `file_high_share`.
    pub gain_at_most: Option<f64>,
    /// Calls on files.
    pub calls: u64,
    /// Files whose calls are counted.
    pub files: usize,
    /// Bytes that reads brought, copies within the kernel included.
    pub read_bytes: u64,
    /// Calls that read.
    pub reads: u64,
    /// Bytes that writes took, copies within the kernel included.
    pub written_bytes: u64,
    /// Calls that write.
    pub writes: u64,
    /// Calls on pipes, sockets and terminals, which wait for others: not counted above.
    pub elsewhere_calls: u64,
    /// Calls of io_uring: what they did cannot be seen.
    pub ring_calls: u64,
    /// Threads of all processes.
    pub threads: usize,
    /// The last part of the name of the program that made most calls, where it was seen to start.
    pub program: String,
    /// Its threads, of all processes of that program.
    pub program_threads: usize,
}

/// One file.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct FileRow {
    /// Its name; what is no UTF-8 is replaced.
    pub name: String,
    /// Whether it belongs to the start of a program: its loader, interpreter or wrapper.
    pub of_start: bool,
    /// What it is.
    pub kind: &'static str,
    /// Before the program changed it.
    pub size_bytes: Option<u64>,
    /// Of all calls on it, beyond the tracer's cost.
    pub file_ns: u64,
    /// Calls on it.
    pub calls: u64,
    /// Bytes read from it.
    pub read_bytes: u64,
    /// Calls that read from it.
    pub reads: u64,
    /// Bytes written to it.
    pub written_bytes: u64,
    /// Calls that write to it.
    pub writes: u64,
    /// Bytes that were read more than once, each time after the first.
    pub read_again_bytes: u64,
    /// How it is gone through; nothing for a file of which no two blocks are moved.
    pub pattern: Option<Pattern>,
    /// The share of blocks that begin and end on 4 KiB.
    pub aligned_share: Option<f64>,
    /// Reads of less than 4 KiB, those that met the end of the file left out.
    pub small_reads: u64,
    /// Writes of less than 4 KiB.
    pub small_writes: u64,
    /// Calls that waited until it was durable.
    pub syncs: u64,
    /// How often it was opened.
    pub opens: u64,
    /// How often it was looked up by its name alone.
    pub looked_up: u64,
    /// When the first call on it began, from the first call of the program on, under the tracer.
    pub first_ns: u64,
    /// When the last call on it had ended, likewise.
    pub last_ns: u64,
}

/// One kind of call.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct KindRow {
    /// Its name.
    pub kind: &'static str,
    /// Calls.
    pub calls: u64,
    /// Those that failed.
    pub failed: u64,
    /// Beyond the tracer's cost.
    pub file_ns: u64,
}

/// Calls that move so many bytes.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SizeRow {
    /// `read` or `write`.
    pub direction: &'static str,
    /// At least so many bytes were asked for: a power of two.
    pub from_bytes: u64,
    /// Calls.
    pub calls: u64,
    /// Bytes that they moved.
    pub bytes: u64,
}

/// What a sentence is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FindingKind {
    /// Many calls of few bytes.
    SmallCalls,
    /// Waiting until something is durable.
    Syncs,
    /// Bytes read more than once.
    ReadAgain,
    /// Blocks here and there.
    RandomAccess,
    /// Opened and never used.
    NeverUsed,
    /// Names that are not there.
    NotFound,
    /// The same name asked about over and over.
    AskedAgain,
    /// The same file opened over and over.
    OpenedAgain,
    /// Bytes that pass through the program on their way from one file to another.
    CopiedByHand,
    /// What cannot be seen.
    Unseen,
    /// What it takes to start programs: loaders, interpreters, wrappers and their search paths.
    Start,
}

/// What a reviewer would write.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// Calls that it is about.
    pub calls: u64,
    /// Files that it is about.
    pub files: usize,
    /// What they took beyond the tracer's cost.
    pub file_ns: u64,
    /// Whether it is about the start of programs, which [`FindingKind::Start`] sums up.
    pub of_start: bool,
    /// The sentence.
    pub sentence: String,
}

/// All of it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Profile {
    /// The command as one line.
    pub command: String,
    /// Times and counts.
    pub whole: Whole,
    /// The dearest first.
    pub files: Vec<FileRow>,
    /// The dearest first.
    pub kinds: Vec<KindRow>,
    /// By direction and size.
    pub sizes: Vec<SizeRow>,
    /// Those about the program's own files first, the dearest of them before others.
    pub findings: Vec<Finding>,
}

impl Profile {
    /// Looks through a trace.
    pub fn of(trace: &Trace) -> Profile {
        let gathered = gather::gather(trace);
        let origins = origin::Origins::of(trace);
        let whole = gathered.whole(trace, &origins);
        Profile {
            command: command(trace),
            findings: findings::findings(trace, &gathered, &origins, whole.share_of_ns),
            files: gathered.file_rows(trace, &origins),
            kinds: gathered.kind_rows(),
            sizes: gathered.size_rows(),
            whole,
        }
    }
}

fn command(trace: &Trace) -> String {
    let words = trace.command.iter().map(|word| {
        let word = String::from_utf8_lossy(word).escape_debug().to_string();
        if word.is_empty() || word.contains(char::is_whitespace) {
            format!("'{word}'")
        } else {
            word
        }
    });
    words.collect::<Vec<_>>().join(" ")
}
