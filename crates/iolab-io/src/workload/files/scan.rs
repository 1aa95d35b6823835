//! A tree of the person's: which files can be read in it.

use std::num::NonZero;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::errors::fault;
use super::found::{Found, FoundDirectory, FoundFile};
use super::walk::{Part, walk};
use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;

/// Looks through the directory at `root` (a link there is followed: the person named it), with as
/// many threads as there are processors. What is found does not depend on how many they are.
///
/// # Errors
/// The root is no directory that can be read, or the tree has more than 2³² directories.
pub fn scan(root: &Path) -> Result<Found, Fault> {
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    scan_with(root, threads.min(MOST_THREADS))
}

/// Beyond these the directories of one file system are in each other's way.
const MOST_THREADS: usize = 8;

pub(super) fn scan_with(root: &Path, threads: usize) -> Result<Found, Fault> {
    let failed = |errno| fault(format!("look through {}", path_to_text(root)), errno, "");
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = openat(CWD, root, flags, Mode::empty()).map_err(failed)?;
    let parts = walk(&root, threads).map_err(failed)?;
    together(parts).map_err(failed)
}

/// Puts the parts of a tree together, level by level from the root on: a directory gets a
/// greater number than the one that it lies in, whoever looked through it first.
fn together(mut parts: Vec<Part>) -> Result<Found, Errno> {
    let top = FoundDirectory { parent: 0, name: 0 };
    let mut found = Found { names: vec![0], directories: vec![top], ..Found::default() };
    let mut order = vec![0];
    let mut number = 0;
    while let Some(part) = order.get(number).and_then(|at: &usize| parts.get_mut(*at)) {
        let part = std::mem::take(part);
        let directory = u32::try_from(number).map_err(|_| Errno::OVERFLOW)?;
        let before = found.names.len() as u64;
        found.names.extend_from_slice(&part.names);
        let files = part.files.iter();
        found.files.extend(files.map(|(name, size)| FoundFile {
            name: before + name,
            size: *size,
            directory,
        }));
        for (name, at) in part.directories {
            found.directories.push(FoundDirectory { parent: directory, name: before + name });
            order.push(at);
        }
        found.left_out.add(&part.left_out);
        number += 1;
    }
    Ok(found)
}
