//! What a program did with files. A log of strace becomes a [`Trace`]: threads, files and calls whose
//! offsets are explicit. A trace is kept in a small file ([`write()`], [`read()`]; docs/trace-format.md)
//! and told in sentences ([`Profile`]).
//!
//! No content of any file is in it. What others wrote is not trusted: every number is checked, and
//! every growth has its limit ([`Limits`]).

mod call;
mod control;
mod error;
pub mod export;
mod format;
mod profile;
pub mod replay;
mod strace;
mod trace;

pub use call::{Call, CallKind, NONE, OpenFlags, Result, UNKNOWN_RESULT};
pub use control::{ASKS_FOR_ATTRIBUTE, Control, Lock};
pub use error::TraceError;
pub use format::{MAGIC, VERSION, read, write};
pub use profile::{FileRow, Finding, FindingKind, KindRow, Pattern, Profile, SizeRow, Turn, Whole};
pub use strace::{CALLS, CALLS_OF_MEMORY, Limits, RAW_CALLS, learn_memory, looks_like_log, parse};
pub use trace::{Ending, File, FileKind, Handle, ReadMemory, Run, Thread, Trace, TracerCost};
