//! The small tools around a measurement: make a file, digest it, compare two files or two
//! trees, run a command under strace.

mod checksum;
mod compare;
mod intact;
mod make;
pub mod record;
pub mod short_calls;
mod sweep;
mod time;
mod walk;

pub use checksum::{Digests, checksum};
pub use compare::{Allocation, Difference, allocation, compare_files};
pub use intact::Intact;
pub use make::{FileOrder, Interrupted, make_file};
pub use time::{Kind, Model, timed};
pub use walk::{Walk, compare_trees};

use std::io;
use std::path::Path;

use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;

/// A fault about one file.
fn fault(doing: &str, path: &Path, error: &io::Error) -> Fault {
    Fault::of(format!("{doing} {}", path_to_text(path)), error)
}

fn refusal(doing: &str, path: &Path, cause: impl Into<String>) -> Fault {
    Fault::new(format!("{doing} {}", path_to_text(path)), cause)
}
