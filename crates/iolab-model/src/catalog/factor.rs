//! The axes of an experiment. Adding one is one row in [`Factor::ALL`] and in [`Factor::info`].

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// An axis of the experiment. The order is the order of columns everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Factor {
    /// The machine that it runs on, where several are compared.
    Host,
    /// Where the files are: a directory, a file system in an image, an overlay.
    Place,
    /// Where the source of a copy is, where that is another place.
    SourcePlace,
    /// A file of the person's.
    File,
    /// A trace of the person's: what a program did with files.
    Trace,
    /// The size of a file that iolab makes, in bytes.
    FileSize,
    /// How the sizes of many files are spread.
    Sizes,
    /// How many files.
    Files,
    /// How files are spread over directories.
    Layout,
    /// What is done to a file or descriptor: a rung of the ladder, a metadata call.
    Operation,
    /// How the bytes move or the call is made.
    Method,
    /// A command of the person's that runs as a cell.
    Contender,
    /// Bytes per call.
    Block,
    /// Threads that do the work.
    Threads,
    /// Ranks of an MPI job that work; the others wait.
    Ranks,
    /// Whether each rank works on a file or tree of its own, or all on one.
    Share,
    /// How many ranks on the one lies whose part a rank reads.
    Shift,
    /// Threads that only sleep beside the work (a second thread makes descriptor look-ups atomic).
    IdleThreads,
    /// In which order the blocks are visited.
    Pattern,
    /// What is done with the bytes that were read.
    Consume,
    /// The state of the page cache before the trial.
    Cache,
    /// A memory limit, in bytes.
    Memory,
    /// When data is made durable.
    Sync,
    /// Whether the page cache is bypassed.
    Direct,
    /// Requests in flight.
    QueueDepth,
    /// How far into a page of memory the buffer begins.
    BufferOffset,
    /// What the kernel is told of the order of reads, hence how much it reads ahead.
    Readahead,
    /// What written bytes look like.
    Fill,
    /// What is written to: a new file, one that is overwritten.
    Target,
    /// Until when a write is timed.
    Until,
    /// What becomes of the holes of a sparse file.
    Sparse,
    /// Calls in a row on one file.
    Repeats,
    /// First touch, second, steady.
    Pass,
    /// Whether each operation is timed by itself.
    Latency,
    /// Whether reading a file may write its access time.
    Atime,
    /// Whether workers share a table of open files.
    Descriptors,
    /// What passes between the calls of a recorded program.
    Think,
    /// Whether the files of a replay hold what the recorded ones do.
    WithData,
}

/// Whether a factor is chosen for a given job or defines the job.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// A person may choose it for the same job: its levels are compared.
    Question,
    /// It changes the job: levels are compared only at equal value of it.
    Condition,
}

/// What a level of the factor is, hence how it is written and read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A number of bytes: `64Ki`.
    Bytes,
    /// A plain number: `4`.
    Count,
    /// One of a list of words: `cold`.
    Word,
    /// A path, any bytes.
    Path,
}

impl Factor {
    /// Every factor, in column order.
    pub const ALL: [Factor; 38] = [
        Factor::Host,
        Factor::Place,
        Factor::SourcePlace,
        Factor::File,
        Factor::Trace,
        Factor::FileSize,
        Factor::Sizes,
        Factor::Files,
        Factor::Layout,
        Factor::Operation,
        Factor::Method,
        Factor::Contender,
        Factor::Block,
        Factor::Threads,
        Factor::Ranks,
        Factor::Share,
        Factor::Shift,
        Factor::IdleThreads,
        Factor::Pattern,
        Factor::Consume,
        Factor::Cache,
        Factor::Memory,
        Factor::Sync,
        Factor::Direct,
        Factor::QueueDepth,
        Factor::BufferOffset,
        Factor::Readahead,
        Factor::Fill,
        Factor::Target,
        Factor::Until,
        Factor::Sparse,
        Factor::Repeats,
        Factor::Pass,
        Factor::Latency,
        Factor::Atime,
        Factor::Descriptors,
        Factor::Think,
        Factor::WithData,
    ];

    /// The name as written on the command line, role, kind and one-line summary.
    pub const fn info(self) -> (&'static str, Role, Kind, &'static str) {
        use Kind::{Bytes, Count, Path, Word};
        use Role::{Condition, Question};
        match self {
            Factor::Host => ("host", Question, Word, "the machine that it runs on, with --on"),
            Factor::Place => (
                "place",
                Question,
                Word,
                "where the files are; mount options follow a colon: ext4:noatime,data=writeback",
            ),
            Factor::SourcePlace => {
                ("source-place", Condition, Word, "where the source is, if not in the same place")
            }
            Factor::File => ("file", Condition, Path, "a file of yours, never written to"),
            Factor::Trace => {
                ("trace", Condition, Path, "what a program did with files (iolab record)")
            }
            Factor::FileSize => ("file-size", Condition, Bytes, "size of the file that is made"),
            Factor::Sizes => ("sizes", Condition, Word, "how the sizes of files are spread"),
            Factor::Files => ("files", Condition, Count, "how many files"),
            Factor::Layout => ("layout", Question, Word, "how files lie in directories"),
            Factor::Operation => ("operation", Condition, Word, "the call that is made"),
            Factor::Method => ("method", Question, Word, "how the bytes move"),
            Factor::Contender => ("contender", Question, Word, "a command that runs as a cell"),
            Factor::Block => ("block", Question, Bytes, "bytes per call"),
            Factor::Threads => ("threads", Question, Count, "threads that do the work"),
            Factor::Ranks => ("ranks", Question, Count, "ranks that work, with --mpi; else all"),
            Factor::Share => ("share", Question, Word, "all ranks on one file, or each on its own"),
            Factor::Shift => ("shift", Condition, Count, "read what the rank N further on wrote"),
            Factor::IdleThreads => ("idle-threads", Question, Count, "threads asleep beside it"),
            Factor::Pattern => ("pattern", Condition, Word, "order in which blocks are visited"),
            Factor::Consume => ("consume", Condition, Word, "what is done with the bytes"),
            Factor::Cache => ("cache", Condition, Word, "page cache before each trial"),
            Factor::Memory => {
                ("memory", Condition, Bytes, "memory limit of the trial, or file to memory: 4x")
            }
            Factor::Sync => ("sync", Condition, Word, "when data is made durable"),
            Factor::Direct => ("direct", Question, Word, "bypass the page cache"),
            Factor::QueueDepth => ("queue-depth", Question, Count, "requests in flight"),
            Factor::BufferOffset => {
                ("buffer-offset", Question, Bytes, "bytes from a page to the buffer")
            }
            Factor::Readahead => ("readahead", Question, Word, "advice on read-ahead"),
            Factor::Fill => ("fill", Condition, Word, "what written bytes look like"),
            Factor::Target => ("target", Condition, Word, "what the file is before it is written"),
            Factor::Until => ("until", Condition, Word, "the moment up to which it is timed"),
            Factor::Sparse => ("sparse", Condition, Word, "holes of a sparse file"),
            Factor::Repeats => ("repeats", Condition, Count, "calls in a row on one file"),
            Factor::Pass => ("pass", Condition, Word, "first touch, second, steady, or the whole"),
            Factor::Latency => ("latency", Condition, Word, "time each operation by itself"),
            Factor::Atime => (
                "atime",
                Question,
                Word,
                "access time of files that are read; left, where nothing is said",
            ),
            Factor::Descriptors => (
                "descriptors",
                Question,
                Word,
                "one table of open files, or one a worker; shared, where nothing is said",
            ),
            Factor::Think => (
                "think",
                Condition,
                Word,
                "time of the program's own between its calls; none, where nothing is said",
            ),
            Factor::WithData => ("with-data", Condition, Word, "copy what the recorded files hold"),
        }
    }

    /// The name as written on the command line and in results.
    pub const fn name(self) -> &'static str {
        self.info().0
    }

    /// Question or condition.
    pub const fn role(self) -> Role {
        self.info().1
    }

    /// What a level of it is.
    pub const fn kind(self) -> Kind {
        self.info().2
    }
}

impl fmt::Display for Factor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Factor {
    type Err = ();
    fn from_str(text: &str) -> Result<Self, ()> {
        Factor::ALL.into_iter().find(|f| f.name() == text).ok_or(())
    }
}

#[cfg(test)]
mod tests {
    use super::Factor;

    #[test]
    fn names_are_unique_and_parse_back() {
        for factor in Factor::ALL {
            assert_eq!(factor.name().parse(), Ok(factor));
            let json = serde_json::to_string(&factor).unwrap();
            assert_eq!(json, format!("\"{}\"", factor.name()));
        }
    }
}
