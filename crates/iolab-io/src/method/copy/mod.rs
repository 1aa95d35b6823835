//! How a file is copied: one file each. A new way is its own file and one line in the list below;
//! `tests/copy_methods.rs` then runs it by itself.

mod copy_file_range;
mod copy_loop;
mod io_uring;
mod mmap;
mod read_write;
mod reflink;
mod segments;
mod sendfile;
mod splice;
mod whole;
mod whole_file;

pub use copy_loop::{Copied, CopyJob, Holes, Work};
pub use whole::CHUNK_BYTES;
pub use whole_file::{MakeWholeFile, WholeFile};

use super::measured_window::MeasuredWindow;
use iolab_model::catalog::{Capability, Factor, Part};
use iolab_model::result::{CopyRoute, Fault};

/// A way to copy: what it says of itself, and how it does it.
#[derive(Debug)]
pub struct CopyMethod {
    /// Its description.
    pub part: Part,
    /// How.
    pub copy: CopyEntry,
    /// The same for many small files, where it can.
    pub files: Option<FilesEntry>,
}

/// How many files are copied, each as a whole.
#[derive(Debug)]
pub struct FilesEntry {
    /// Its description; the id is that of the method.
    pub part: Part,
    /// Makes the copier of one worker.
    pub make: MakeWholeFile,
}

const fn files_part(id: &'static str, summary: &'static str, ignores: &'static [Factor]) -> Part {
    Part::method(id, summary).with(&[Capability::Files]).ignoring(ignores)
}

/// How a file is copied.
#[derive(Debug)]
pub struct CopyEntry {
    /// Bytes of one operation, given the block asked for.
    pub step_bytes: fn(block: u64) -> u64,
    /// Which way the bytes go where the file system does nothing of its own accord.
    pub route: CopyRoute,
    /// Copies; the loop inside is chosen once.
    pub run: fn(&CopyJob<'_>, &mut dyn MeasuredWindow) -> Result<Copied, Fault>,
}

/// The list.
const ALL: [&CopyMethod; 8] = [
    &read_write::METHOD,
    &copy_file_range::METHOD,
    &sendfile::METHOD,
    &splice::METHOD,
    &mmap::METHOD,
    &mmap::BOTH,
    &io_uring::METHOD,
    &reflink::METHOD,
];

/// Every method's description.
pub const METHODS: &[Part] = &each_of!(ALL.part);

/// Every description of a method that copies many files.
pub fn files_methods() -> impl Iterator<Item = &'static Part> {
    ALL.into_iter().filter_map(|method| method.files.as_ref()).map(|files| &files.part)
}

/// The method of this name.
pub fn find(id: &str) -> Option<&'static CopyMethod> {
    ALL.into_iter().find(|method| method.part.id == id)
}
