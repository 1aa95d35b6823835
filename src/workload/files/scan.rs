//! A tree of the person's: which files can be read in it. Nothing is opened but directories, no
//! link is followed, and no other file system is entered.

use std::ffi::CStr;
use std::os::fd::{AsFd, OwnedFd};
use std::path::Path;

use rustix::fs::{
    Access, AtFlags, CWD, Dir, FileType, Mode, OFlags, Stat, accessat, fstat, openat, statat,
};
use rustix::io::Errno;

use super::errors::fault;
use super::listing::{Listing, Opener};
use crate::catalog::{count_text, path_to_text};
use crate::result::Fault;

/// What was found in a tree. Names lie in one block of memory.
#[derive(Clone, Debug, Default)]
pub struct Found {
    pub(super) names: Vec<u8>,
    pub(super) directories: Vec<FoundDirectory>,
    pub(super) files: Vec<FoundFile>,
    /// What was found and is left out.
    pub left_out: LeftOut,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct FoundDirectory {
    pub(super) parent: u32,
    pub(super) name: u64,
}

#[derive(Clone, Copy, Debug)]
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

    fn keep(&mut self, name: &CStr) -> u64 {
        let at = self.names.len() as u64;
        self.names.extend_from_slice(name.to_bytes_with_nul());
        at
    }
}

/// Looks through the directory at `root` (a link there is followed: the person named it).
///
/// # Errors
/// The root is no directory that can be read, or the tree has more than 2³² directories.
pub fn scan(root: &Path) -> Result<Found, Fault> {
    let doing = || format!("look through {}", path_to_text(root));
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let opened = openat(CWD, root, flags, Mode::empty());
    let directory = opened.map_err(|errno| fault(doing(), errno, ""))?;
    let device = fstat(&directory).map_err(|errno| fault(doing(), errno, ""))?.st_dev;
    let top = FoundDirectory { parent: 0, name: 0 };
    let found = Found { names: vec![0], directories: vec![top], ..Found::default() };
    let everything = rustix::process::geteuid().is_root();
    let mut scanner =
        Scanner { listing: Listing::Found(found), device, everything, opener: Opener::default() };
    scanner.all(&directory).map_err(|errno| fault(doing(), errno, ""))?;
    match scanner.listing {
        Listing::Found(found) => Ok(found),
        Listing::Made(_) => Ok(Found::default()),
    }
}

struct Scanner {
    listing: Listing,
    device: u64,
    /// The superuser may read whatever the mode says.
    everything: bool,
    opener: Opener,
}

impl Scanner {
    fn found(&mut self) -> &mut Found {
        if !matches!(self.listing, Listing::Found(_)) {
            self.listing = Listing::Found(Found::default());
        }
        match &mut self.listing {
            Listing::Found(found) => found,
            Listing::Made(_) => unreachable!("it was set above"),
        }
    }

    fn all(&mut self, root: &OwnedFd) -> Result<(), Errno> {
        let mut number = 0;
        while number < self.found().directories.len() {
            match self.opener.open(&self.listing, root.as_fd(), number as u64) {
                Ok(directory) => self.one(&directory, number as u32)?,
                Err(errno) if number == 0 => return Err(errno),
                Err(_) => self.found().left_out.unreadable += 1,
            }
            number += 1;
        }
        Ok(())
    }

    fn one(&mut self, directory: &OwnedFd, number: u32) -> Result<(), Errno> {
        let Ok(entries) = Dir::read_from(directory) else {
            self.found().left_out.unreadable += 1;
            return Ok(());
        };
        for entry in entries {
            // What cannot be read of a directory is left out like a directory.
            let Ok(entry) = entry else {
                self.found().left_out.unreadable += 1;
                return Ok(());
            };
            let name = entry.file_name();
            if name != c"." && name != c".." && !is_scratch(name) {
                self.entry(directory, number, name)?;
            }
        }
        Ok(())
    }

    fn entry(&mut self, directory: &OwnedFd, number: u32, name: &CStr) -> Result<(), Errno> {
        let Ok(about) = statat(directory, name, AtFlags::SYMLINK_NOFOLLOW) else {
            // It vanished, or the directory may be read but not searched.
            self.found().left_out.unreadable += 1;
            return Ok(());
        };
        let (device, everything) = (self.device, self.everything);
        let readable =
            || everything || accessat(directory, name, Access::READ_OK, AtFlags::EACCESS).is_ok();
        let found = self.found();
        match FileType::from_raw_mode(about.st_mode) {
            FileType::RegularFile if !readable() => found.left_out.unreadable += 1,
            FileType::RegularFile => found.file(number, name, &about),
            FileType::Directory if about.st_dev != device => found.left_out.mounts += 1,
            FileType::Directory => {
                u32::try_from(found.directories.len()).map_err(|_| Errno::OVERFLOW)?;
                let name = found.keep(name);
                found.directories.push(FoundDirectory { parent: number, name });
            }
            FileType::Symlink => found.left_out.links += 1,
            FileType::Fifo => found.left_out.fifos += 1,
            FileType::Socket => found.left_out.sockets += 1,
            _ => found.left_out.devices += 1,
        }
        Ok(())
    }
}

impl Found {
    fn file(&mut self, directory: u32, name: &CStr, about: &Stat) {
        self.left_out.hard_links += u64::from(about.st_nlink > 1);
        let name = self.keep(name);
        self.files.push(FoundFile { name, size: about.st_size as u64, directory });
    }
}

/// A scratch directory of iolab's own: `.iolab-` and 16 hexadecimal digits.
fn is_scratch(name: &CStr) -> bool {
    let digits = name.to_bytes().strip_prefix(b".iolab-");
    digits.is_some_and(|rest| rest.len() == 16 && rest.iter().all(u8::is_ascii_hexdigit))
}
