//! Where a program's file time goes, and the sentences that a reviewer would write.

mod extents;
mod findings;
mod gather;
mod pattern;
mod sentence;
#[cfg(test)]
mod tests;

use serde::Serialize;

use crate::call::{Call, CallKind};
use crate::trace::Trace;

pub use pattern::Pattern;

/// Times and counts of the whole program.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Whole {
    /// From the first call to the last under the tracer.
    pub traced_wall_ns: u64,
    /// Without the tracer: the median of the runs, where there were any.
    pub wall_ns: Option<u64>,
    /// How many runs that is the median of.
    pub runs: usize,
    /// What the tracer adds to a call: the median of calls that cost next to nothing.
    pub tracer_ns_per_call: u64,
    /// What calls on files took beyond that; nothing where the log has no times of calls.
    pub file_ns: Option<u64>,
    /// The share of `wall_ns` (or, without runs, of the traced time without the tracer's).
    pub file_share: Option<f64>,
    /// How many times as fast the program could be, were file calls free and never made; nothing where
    /// next to nothing else is left.
    pub gain_at_most: Option<f64>,
    /// Whether that is a bound: of one thread whose own time is known. Else it is as rough as `file_ns`.
    pub gain_is_bound: bool,
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
}

/// One file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FileRow {
    /// Its name; what is no UTF-8 is replaced.
    pub name: String,
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
}

/// What a reviewer would write.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Finding {
    /// What it is about.
    pub kind: FindingKind,
    /// Calls that it is about.
    pub calls: u64,
    /// What they took beyond the tracer's cost.
    pub file_ns: u64,
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
    /// The dearest first.
    pub findings: Vec<Finding>,
}

impl Profile {
    /// Looks through a trace.
    pub fn of(trace: &Trace) -> Profile {
        let tracer_ns = tracer_ns(&trace.calls);
        let gathered = gather::gather(trace, tracer_ns);
        let whole = gathered.whole(trace);
        Profile {
            command: command(trace),
            findings: findings::findings(trace, &gathered),
            files: gathered.file_rows(trace),
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

/// Fewer cheap calls than these say nothing of the tracer.
const LEAST_CHEAP_CALLS: usize = 8;

/// What the tracer adds to a call. A call that only looks at a descriptor takes a fraction of a
/// microsecond, stopping a process twice takes many: the median of such calls is the tracer's.
fn tracer_ns(calls: &[Call]) -> u64 {
    let cheap = |call: &&Call| {
        let kinds = [CallKind::Seek, CallKind::StatHandle, CallKind::Duplicate, CallKind::Other];
        call.result >= 0 && kinds.contains(&call.kind)
    };
    let mut cheap: Vec<u64> = calls.iter().filter(cheap).map(|call| call.took_ns).collect();
    if cheap.len() < LEAST_CHEAP_CALLS {
        return calls.iter().map(|call| call.took_ns).filter(|ns| *ns > 0).min().unwrap_or(0);
    }
    let middle = cheap.len() / 2;
    *cheap.select_nth_unstable(middle).1
}
