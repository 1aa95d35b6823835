//! A trace: threads, files, handles and calls.

use crate::call::{Call, CallKind};

/// What a file is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum FileKind {
    /// Not seen: a name that was only asked for.
    #[default]
    Unknown = 0,
    /// A file with bytes.
    Regular = 1,
    /// A directory.
    Directory = 2,
    /// A character device, a terminal.
    Character = 3,
    /// A block device.
    Block = 4,
    /// A pipe.
    Pipe = 5,
    /// A socket.
    Socket = 6,
    /// A file that the kernel makes up: /proc, /sys.
    Virtual = 7,
    /// A handle without a file: eventfd, epoll, io_uring.
    Anonymous = 8,
    /// A symbolic link.
    Link = 9,
}

impl FileKind {
    /// Every kind, in the order of its number.
    pub const ALL: [FileKind; 10] = [
        FileKind::Unknown,
        FileKind::Regular,
        FileKind::Directory,
        FileKind::Character,
        FileKind::Block,
        FileKind::Pipe,
        FileKind::Socket,
        FileKind::Virtual,
        FileKind::Anonymous,
        FileKind::Link,
    ];

    /// Its name in tables.
    pub const fn word(self) -> &'static str {
        match self {
            FileKind::Unknown => "unknown",
            FileKind::Regular => "file",
            FileKind::Directory => "directory",
            FileKind::Character => "character device",
            FileKind::Block => "block device",
            FileKind::Pipe => "pipe",
            FileKind::Socket => "socket",
            FileKind::Virtual => "kernel file",
            FileKind::Anonymous => "handle of the kernel",
            FileKind::Link => "link",
        }
    }

    /// Whether a file system has it: what a call on it takes is file I/O. A pipe, a terminal and a
    /// socket wait for somebody else.
    pub const fn is_of_file_system(self) -> bool {
        matches!(self, FileKind::Unknown | FileKind::Regular | FileKind::Directory | FileKind::Link)
    }
}

/// A name of a file, and what is known of what it names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct File {
    /// Its absolute name as bytes, without `.` and `..`; relative where the directory is not known;
    /// for what has no name what strace calls it. Never a path to be opened, but where the person at the
    /// command line lets a replay read it.
    pub name: Vec<u8>,
    /// What it is.
    pub kind: FileKind,
    /// Its size in bytes before the program changed it, where it was seen or follows.
    pub size_bytes: Option<u64>,
    /// Whether it was there before the program began, where it was seen or follows.
    pub existed: Option<bool>,
}

/// One opening of a file: its offset is shared by all descriptors of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Index of [`Trace::files`].
    pub file: u32,
    /// Whether the program's own call opened it; else it was inherited or its opening was not seen.
    pub opened: bool,
}

/// A thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Thread {
    /// The kernel's number.
    pub number: u32,
    /// Its process: the index of that process's first thread.
    pub process: u32,
    /// The call that started it: index of [`Trace::calls`], or [`crate::NONE`].
    pub started_by: u32,
}

/// How the program ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Ending {
    /// It is not known: a log made elsewhere, or one that was cut.
    #[default]
    Unknown,
    /// By itself, with this status.
    Exited(u8),
    /// By this signal.
    Killed(u8),
}

/// A run of the command that was not traced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Run {
    /// From its start to its end.
    pub wall_ns: u64,
    /// Processor time of the program's own code, of all processes that it waited for.
    pub user_ns: u64,
    /// Processor time of the kernel for it.
    pub system_ns: u64,
}

/// What the tracer cost here, measured before the program was recorded: calls that take next to
/// nothing, with the tracer and without in turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TracerCost {
    /// What it adds to the time of a call, by its own clock: the median of the turns, without what
    /// [`TracerCost::tail_ns`] says.
    pub ns: u64,
    /// At least: the second least of seven turns.
    pub low_ns: u64,
    /// At most: the second greatest of seven turns.
    pub high_ns: u64,
    /// What few calls that waited long for the tracer add to each on average.
    pub tail_ns: u64,
    /// What such a call takes without the tracer.
    pub untraced_ns: u64,
    /// What the tracer adds to the program for each call, beside its own clock too.
    pub wall_ns: u64,
}

/// Where in the program's memory a read put its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadMemory {
    /// Index of [`Trace::calls`].
    pub call: u32,
    /// Whole pages of 4 KiB that nothing had touched before.
    pub new_pages: u32,
    /// How many bytes into such a page its buffer begins.
    pub buffer_offset: u16,
}

impl ReadMemory {
    /// Pages as it counts them; those of another size are multiples of it.
    pub const PAGE_BYTES: u64 = 4096;
}

/// What a program did with files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Trace {
    /// The command, word by word; empty where it is not known.
    pub command: Vec<Vec<u8>>,
    /// What made it: `strace 6.1, x86_64`.
    pub tracer: String,
    /// When it began, in seconds since 1970; 0 where it is not known.
    pub started_s: u64,
    /// From the first call to the last, under the tracer.
    pub wall_ns: u64,
    /// The same command without the tracer, where it was asked for.
    pub runs: Vec<Run>,
    /// How the first process ended.
    pub ending: Ending,
    /// Calls that were seen and are not about files.
    pub other_calls: u64,
    /// Lines of the log that were not understood.
    pub skipped_lines: u64,
    /// Whether the log ends before the program did.
    pub is_cut: bool,
    /// Names.
    pub files: Vec<File>,
    /// Openings.
    pub handles: Vec<Handle>,
    /// Threads, in the order in which they began.
    pub threads: Vec<Thread>,
    /// Calls, in the order in which they came back.
    pub calls: Vec<Call>,
    /// What the tracer cost, where that was measured.
    pub tracer_cost: Option<TracerCost>,
    /// The directory in which the program was started; empty where it is not known.
    pub directory: Vec<u8>,
    /// Where in memory reads went, as far as that is known, by their calls. One that is not there went where
    /// the last of its thread did, into pages that were in use.
    pub read_memory: Vec<ReadMemory>,
}

impl Trace {
    /// The file of this index, unless it is [`crate::NONE`].
    pub fn file(&self, index: u32) -> Option<&File> {
        self.files.get(index as usize)
    }

    /// Whether a call is file I/O: not to a terminal, a pipe or a socket, not about processes, and no
    /// ring of io_uring. A name that leads to no file was looked up in a file system.
    pub fn is_of_files(&self, call: &Call) -> bool {
        let of_files = !call.kind.is_of_processes() && call.kind != CallKind::Ring;
        of_files && self.file(call.file).is_none_or(|file| file.kind.is_of_file_system())
    }

    /// How many such calls there are.
    pub fn file_calls(&self) -> usize {
        self.calls.iter().filter(|call| self.is_of_files(call)).count()
    }

    /// The file of a handle.
    pub fn file_of_handle(&self, index: u32) -> Option<u32> {
        self.handles.get(index as usize).map(|handle| handle.file)
    }

    /// The middle one of the runs without the tracer by wall time.
    pub fn middle_run(&self) -> Option<Run> {
        let mut runs = self.runs.clone();
        runs.sort_by_key(|run| run.wall_ns);
        runs.get(runs.len() / 2).copied()
    }
}
