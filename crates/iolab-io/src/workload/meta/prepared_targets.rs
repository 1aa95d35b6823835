//! What calls work on, opened and named before the clock starts.

use std::ffi::CString;
use std::io;

use rustix::fd::OwnedFd;

use super::tree::{Tree, open_directory};

/// Beside the files, for one trial: where names are made, and where files are moved to.
pub(super) const WORK: &str = "work";
pub(super) const OTHER: &str = "other";
/// What a symbolic link points to; it need not exist.
pub(super) const POINTS_TO: &str = "../files/f0000000";

/// Directories and names.
#[derive(Debug)]
pub struct PreparedTargets {
    /// The directory of the files.
    pub(super) files: OwnedFd,
    /// The directory that new names are made in.
    pub(super) work: OwnedFd,
    /// The directory that files are moved to.
    pub(super) other: OwnedFd,
    /// Names of the files, by index.
    pub(super) names: Vec<CString>,
    /// Names that they take within their directory, by index.
    pub(super) aliases: Vec<CString>,
    /// The size of each file.
    pub(super) bytes: u64,
    /// Files in their directory, those of others among them.
    pub(super) entries: u64,
}

impl PreparedTargets {
    /// Opens the directories; names are made by [`PreparedTargets::named`].
    pub(super) fn open(tree: &Tree) -> io::Result<PreparedTargets> {
        Ok(PreparedTargets {
            files: open_directory(&tree.directory())?,
            work: open_directory(&tree.root.join(WORK))?,
            other: open_directory(&tree.root.join(OTHER))?,
            names: Vec::new(),
            aliases: Vec::new(),
            bytes: tree.bytes,
            entries: tree.entries(),
        })
    }

    /// With the names of all files, and, where asked for, those that they are renamed to.
    pub(super) fn named(self, tree: &Tree, aliases: bool) -> io::Result<PreparedTargets> {
        let all = |kind: char| -> io::Result<Vec<CString>> {
            (0..tree.files as usize)
                .map(|index| Ok(CString::new(tree.name(kind, index))?))
                .collect()
        };
        let aliases = if aliases { all('g')? } else { Vec::new() };
        Ok(PreparedTargets { names: all('f')?, aliases, ..self })
    }
}
