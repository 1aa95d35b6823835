//! The files that metadata calls are made on: equal in size, each with the same attributes, made
//! once and brought back to that state after every trial.

use std::fmt::Write;
use std::io;
use std::path::{Path, PathBuf};

use rustix::fd::OwnedFd;
use rustix::fs::{
    AtFlags, FileType, Mode, OFlags, Timespec, Timestamps, XattrFlags, fchmod, fchown, fsetxattr,
    futimens, openat, renameat, statat, unlinkat,
};
use rustix::io::Errno;
use rustix::process::{Uid, geteuid};

use crate::sys::remove::remove_tree;
use crate::workload::held_trees::{self, Load};
use crate::workload::spread_directories::make_apart;

/// Modes that calls alternate between, the first that of a file at rest.
pub(super) const MODES: [u32; 2] = [0o600, 0o640];
/// Times, likewise, in seconds since 1970.
pub(super) const TIMES: [i64; 2] = [1_000_000_000, 1_000_000_001];
/// Values of the extended attribute, likewise.
pub(super) const VALUES: [&[u8]; 2] = [b"at rest", b"changed"];
/// Its name.
pub(super) const ATTRIBUTE: &std::ffi::CStr = c"user.iolab";
/// Bytes at the beginning of a file, likewise; a file without bytes has none at rest.
pub(super) const BYTES: [u8; 2] = [0x5a, 0xa5];

/// Content is written in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;

/// A tree: `files/f0000000`, … below its root.
#[derive(Clone, Debug)]
pub struct Tree {
    /// The directory that it lies in, made by [`Tree::make`].
    pub root: PathBuf,
    /// How many files.
    pub files: u64,
    /// The size of each.
    pub bytes: u64,
    /// Seed of what they hold.
    pub seed: u64,
    /// Whether each has an extended attribute.
    pub attributes: bool,
    /// Where other ranks of a job have theirs in the same directories: whose these are.
    pub among: Option<Among>,
}

/// One of several ranks with files in the same directories.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Among {
    /// Its number.
    pub rank: u64,
    /// How many have files there, all as many.
    pub ranks: u64,
}

/// Owners to alternate between: this user, and one that it is not.
pub(super) fn owners() -> [Uid; 2] {
    let own = geteuid();
    [own, Uid::from_raw(if own.as_raw() == 65534 { 65533 } else { 65534 })]
}

pub(super) fn times(turn: usize) -> Timestamps {
    let time = Timespec { tv_sec: TIMES[turn], tv_nsec: 0 };
    Timestamps { last_access: time, last_modification: time }
}

impl Tree {
    /// The name of a file; `kind` is `f` for the files themselves. No two ranks have the same.
    pub(super) fn name(&self, kind: char, index: usize) -> String {
        let number = self.among.map_or(0, |among| among.rank * self.files) + index as u64;
        let mut name = String::with_capacity(16);
        let _ = write!(name, "{kind}{number:07}");
        name
    }

    /// Entries of the directory that holds the files: those of all.
    pub(super) fn entries(&self) -> u64 {
        self.files.saturating_mul(self.among.map_or(1, |among| among.ranks))
    }

    /// Makes the directories for files that several ranks then make, by [`Tree::fill`].
    ///
    /// # Errors
    /// They cannot be made.
    pub fn begin(&self) -> io::Result<()> {
        std::fs::create_dir(&self.root)?;
        make_apart(&self.directory())
    }

    /// Makes it in a directory that is not there yet. `wanted` says whether to go on.
    ///
    /// # Errors
    /// The first file that cannot be made: no space, no inodes.
    pub fn make(&self, wanted: &dyn Fn() -> bool) -> io::Result<()> {
        self.begin()?;
        self.fill(wanted)
    }

    /// Makes the files anew, in a directory that replaces the old one.
    pub(super) fn replant(&self) -> io::Result<()> {
        remove_tree(&self.directory())?;
        make_apart(&self.directory())?;
        self.fill(&|| true)
    }

    /// Takes the files away, for others to be made by [`Tree::make_again`].
    ///
    /// # Errors
    /// What is left.
    pub fn set_aside(&self) -> io::Result<()> {
        if self.among.is_some() {
            return self.uproot();
        }
        match held_trees::keep(&self.directory(), self.load())? {
            true => Ok(()),
            false => remove_tree(&self.directory()),
        }
    }

    /// Makes the files again, somewhere else than those that were set aside.
    ///
    /// # Errors
    /// The first file that cannot be made: no space, no inodes.
    pub fn make_again(&self) -> io::Result<()> {
        if self.among.is_some() {
            return self.fill(&|| true);
        }
        held_trees::make(&self.directory(), self.load())?;
        self.fill(&|| true)
    }

    /// Removes its files from a directory that others have theirs in, which stays.
    fn uproot(&self) -> io::Result<()> {
        let files = open_directory(&self.directory())?;
        for index in 0..self.files as usize {
            match unlinkat(&files, self.name('f', index), AtFlags::empty()) {
                Err(Errno::NOENT) => {}
                other => other?,
            }
        }
        Ok(())
    }

    fn load(&self) -> Load {
        Load { files: self.files, bytes: self.files.saturating_mul(self.bytes), removes: false }
    }

    /// Makes its files in the directory that is there.
    ///
    /// # Errors
    /// The first one that cannot be made.
    pub fn fill(&self, wanted: &dyn Fn() -> bool) -> io::Result<()> {
        let files = open_directory(&self.directory())?;
        let mut piece = Vec::new();
        for index in 0..self.files as usize {
            // Asked now and then: it is a system call.
            if index % 64 == 0 && !wanted() {
                return Err(io::Error::other("the controller has gone"));
            }
            self.write(&files, index, &mut piece)?;
        }
        // Written back here and not beside the first trials; and a full disk shows here.
        Ok(rustix::fs::syncfs(&files)?)
    }

    /// The directory that holds the files.
    pub fn directory(&self) -> PathBuf {
        self.root.join("files")
    }

    fn write(&self, files: &OwnedFd, index: usize, piece: &mut Vec<u8>) -> io::Result<()> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(MODES[0]);
        let file = std::fs::File::from(openat(files, self.name('f', index), flags, mode)?);
        let mut at = 0;
        while at < self.bytes {
            let length = (self.bytes - at).min(PIECE_BYTES as u64) as usize;
            piece.resize(length, 0);
            content(self.seed ^ (index as u64) << 32 ^ at, piece);
            if at == 0 {
                piece[0] = BYTES[0];
            }
            std::os::unix::fs::FileExt::write_all_at(&file, piece, at)?;
            at += length as u64;
        }
        if self.attributes {
            match fsetxattr(&file, ATTRIBUTE, VALUES[0], XattrFlags::empty()) {
                // The calls that need it are refused in words.
                Err(Errno::OPNOTSUPP | Errno::PERM | Errno::NOSYS) => {}
                other => other?,
            }
        }
        // The umask may have taken bits away.
        fchmod(&file, mode)?;
        Ok(futimens(&file, &times(0))?)
    }

    /// Brings one file back to its state at rest.
    pub(super) fn repair(&self, files: &OwnedFd, index: usize) -> io::Result<()> {
        let own = self.name('f', index);
        let about = match statat(files, &*own, AtFlags::SYMLINK_NOFOLLOW) {
            Err(Errno::NOENT) => return self.write(files, index, &mut Vec::new()),
            about => about?,
        };
        if FileType::from_raw_mode(about.st_mode) != FileType::RegularFile {
            return Err(io::Error::other(format!("{own} is no regular file any more")));
        }
        let file = openat(files, &*own, OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
        let resting = about.st_mtime == TIMES[0];
        if about.st_uid != owners()[0].as_raw() {
            fchown(&file, Some(owners()[0]), None)?;
        }
        if about.st_mode & 0o7777 != MODES[0] {
            fchmod(&file, Mode::from_raw_mode(MODES[0]))?;
        }
        if about.st_size as u64 != self.bytes {
            rustix::fs::ftruncate(&file, self.bytes)?;
        }
        let mut first = [0];
        if rustix::io::pread(&file, &mut first, 0)? == 1 && first[0] != BYTES[0] {
            rustix::io::pwrite(&file, &BYTES[..1], 0)?;
        }
        let mut value = [0; 16];
        if let Ok(length) = rustix::fs::fgetxattr(&file, ATTRIBUTE, &mut value)
            && &value[..length] != VALUES[0]
        {
            fsetxattr(&file, ATTRIBUTE, VALUES[0], XattrFlags::empty())?;
        }
        if !resting {
            futimens(&file, &times(0))?;
        }
        Ok(())
    }

    /// Takes a file that a rename has moved back to its name, where it is not there already.
    pub(super) fn bring_back(
        &self,
        from: (&OwnedFd, &str),
        files: &OwnedFd,
        index: usize,
    ) -> io::Result<()> {
        match renameat(from.0, from.1, files, self.name('f', index)) {
            Err(Errno::NOENT) => Ok(()),
            other => Ok(other?),
        }
    }

    /// Removes it with all that is in it.
    ///
    /// # Errors
    /// What is left.
    pub fn remove(&self) -> io::Result<()> {
        remove_tree(&self.root)
    }
}

pub(super) fn open_directory(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Words that no file system compresses (the output function of SplitMix64, counted).
fn content(seed: u64, piece: &mut [u8]) {
    let word = |i: u64| {
        let z = seed.wrapping_add(i.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
        let z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    for (i, bytes) in piece.chunks_mut(8).enumerate() {
        let word = word(i as u64).to_le_bytes();
        bytes.copy_from_slice(&word[..bytes.len()]);
    }
}

#[cfg(test)]
mod tests {
    use super::Tree;

    /// Every file once carried an attribute, which a copy of its metadata copied too: a third of what
    /// `chmod` on an overlay with metacopy took.
    #[test]
    fn a_file_has_an_attribute_only_where_a_call_is_made_on_one() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        for (name, attributes) in [("plain", false), ("marked", true)] {
            let root = directory.path().join(name);
            let tree = Tree { root, files: 2, bytes: 1, seed: 3, attributes, among: None };
            tree.make(&|| true).unwrap();
            let file = tree.directory().join("f0000001");
            let mut names = [0; 64];
            let length = rustix::fs::listxattr(&file, &mut names[..]).unwrap();
            let found = String::from_utf8_lossy(&names[..length]);
            assert_eq!(found.contains("user."), attributes, "{found}");
        }
    }

    /// Two ranks made files of the same names, and the second found those of the first.
    #[test]
    fn ranks_have_files_in_one_directory_and_remove_their_own_alone() {
        let directory = tempfile::tempdir_in("/dev/shm").unwrap();
        let root = directory.path().join("together");
        let of = |rank| {
            let among = Some(super::Among { rank, ranks: 3 });
            Tree { root: root.clone(), files: 4, bytes: 1, seed: 3, attributes: false, among }
        };
        of(0).begin().unwrap();
        let there = || std::fs::read_dir(of(0).directory()).unwrap().count() as u64;
        for rank in 0..3 {
            of(rank).fill(&|| true).unwrap();
        }
        assert_eq!(there(), of(1).entries());
        of(1).set_aside().unwrap();
        assert_eq!(there(), 8);
        assert!(!of(1).directory().join("f0000004").exists(), "its first");
        of(1).make_again().unwrap();
        assert_eq!(there(), 12);
        assert!(of(2).fill(&|| true).is_err(), "no file is replaced");
    }
}
