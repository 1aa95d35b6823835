//! A tree of the person's: which files can be read in it.

use std::ffi::CStr;
use std::num::NonZero;
use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, openat};
use rustix::io::Errno;

use super::errors::fault;
use super::walk::{Part, walk};
use iolab_model::catalog::{count_text, path_to_text};
use iolab_model::result::Fault;

/// What was found in a tree. Names lie in one block of memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Found {
    pub(super) names: Vec<u8>,
    pub(super) directories: Vec<FoundDirectory>,
    pub(super) files: Vec<FoundFile>,
    /// What was found and is left out.
    pub left_out: LeftOut,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundDirectory {
    pub(super) parent: u32,
    pub(super) name: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FoundFile {
    pub(super) name: u64,
    pub(super) size: u64,
    pub(super) directory: u32,
}

/// What a tree holds beside files that can be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LeftOut {
    /// Symbolic links: not followed.
    pub links: u64,
    /// FIFOs.
    pub fifos: u64,
    /// Sockets.
    pub sockets: u64,
    /// Devices.
    pub devices: u64,
    /// Files and directories that may not be read.
    pub unreadable: u64,
    /// Directories on which another file system is mounted.
    pub mounts: u64,
    /// Of the files that are read, names that share their bytes with another name.
    pub hard_links: u64,
}

impl LeftOut {
    fn add(&mut self, more: &LeftOut) {
        self.links += more.links;
        self.fifos += more.fifos;
        self.sockets += more.sockets;
        self.devices += more.devices;
        self.unreadable += more.unreadable;
        self.mounts += more.mounts;
        self.hard_links += more.hard_links;
    }

    /// In words; nothing where nothing is left out.
    pub fn words(&self) -> Option<String> {
        let all = [
            (self.links, "symbolic links"),
            (self.fifos, "FIFOs"),
            (self.sockets, "sockets"),
            (self.devices, "devices"),
            (self.unreadable, "that may not be read"),
            (self.mounts, "other file systems"),
        ];
        let some = all.iter().filter(|(count, _)| *count > 0);
        let mut words: Vec<String> =
            some.map(|(count, what)| format!("{} {what}", count_text(*count))).collect();
        if !words.is_empty() {
            words = vec![format!("left out: {}", words.join(", "))];
        }
        if self.hard_links > 0 {
            let count = count_text(self.hard_links);
            words.push(format!("{count} files have several names, each of which is visited"));
        }
        (!words.is_empty()).then(|| words.join("; "))
    }
}

impl Found {
    /// The name that lies at this place.
    pub(super) fn name(&self, at: u64) -> &CStr {
        let rest = self.names.get(at as usize..).unwrap_or_default();
        CStr::from_bytes_until_nul(rest).unwrap_or(c"")
    }
}

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
    Found::of(parts).map_err(failed)
}

impl Found {
    /// Puts the parts of a tree together, level by level from the root on: a directory gets a
    /// greater number than the one that it lies in, whoever looked through it first.
    fn of(mut parts: Vec<Part>) -> Result<Found, Errno> {
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
}
