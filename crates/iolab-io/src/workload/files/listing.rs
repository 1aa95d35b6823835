//! The files of a tree one after the other: of one that is made, computed; of the person's, as
//! they were found.

use std::ffi::CStr;
use std::ops::Range;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{Mode, OFlags, ResolveFlags, openat, openat2};
use rustix::io::Errno;

use super::found::Found;
use crate::sys::name::until_nul;
use iolab_model::tree::{Name, Tree};

/// Every file and directory of a tree, by number. Directory 0 is the root; a directory has a
/// greater number than the one that it lies in; files of one directory follow each other.
#[derive(Clone, Debug)]
pub enum Listing {
    /// Made by iolab.
    Made(Tree),
    /// The person's.
    Found(Found),
}

/// One file.
#[derive(Clone, Copy, Debug)]
pub struct File<'a> {
    /// Its number in the tree.
    pub number: u64,
    /// Its directory.
    pub directory: u64,
    /// Its name there.
    pub name: &'a CStr,
    /// Its size, or what it was when it was found.
    pub size: u64,
}

impl Listing {
    /// Files.
    pub fn files(&self) -> u64 {
        match self {
            Listing::Made(tree) => tree.files,
            Listing::Found(found) => found.files.len() as u64,
        }
    }

    /// The number in the name of the first file.
    fn first(&self) -> u64 {
        match self {
            Listing::Made(tree) => tree.first,
            Listing::Found(_) => 0,
        }
    }

    /// Whether a file that iolab made is one of this tree, and not of another in the same directory.
    pub fn has_name(&self, name: &CStr) -> bool {
        let number =
            name.to_str().ok().and_then(|name| name.strip_prefix('f')?.parse::<u64>().ok());
        number.is_some_and(|n| (self.first()..self.first() + self.files()).contains(&n))
    }

    /// All files, as the ranges that some functions take.
    pub fn whole(&self) -> Vec<Range<u64>> {
        std::iter::once(0..self.files()).collect()
    }

    /// Bytes of all files.
    pub fn bytes(&self) -> u64 {
        match self {
            Listing::Made(tree) => tree.bytes(),
            Listing::Found(found) => found.files.iter().map(|file| file.size).sum(),
        }
    }

    /// Bytes of one file.
    pub fn size(&self, file: u64) -> u64 {
        match self {
            Listing::Made(tree) => tree.size(file),
            Listing::Found(found) => found.files.get(file as usize).map_or(0, |file| file.size),
        }
    }

    /// Directories below the root.
    pub fn directories(&self) -> u64 {
        match self {
            Listing::Made(tree) => tree.directories(),
            Listing::Found(found) => found.directories.len() as u64 - 1,
        }
    }

    /// The directory that one (not the root) lies in.
    pub fn parent(&self, directory: u64) -> u64 {
        match self {
            Listing::Made(tree) => tree.parent(directory),
            Listing::Found(found) => {
                found.directories.get(directory as usize).map_or(0, |d| u64::from(d.parent))
            }
        }
    }

    /// The name of a directory (not the root), handed to `with`.
    pub fn with_directory_name<T>(&self, directory: u64, with: impl FnOnce(&CStr) -> T) -> T {
        match self {
            Listing::Made(_) => with(as_c_str(&Name::new(b'd', directory))),
            Listing::Found(found) => {
                let at = found.directories.get(directory as usize).map_or(0, |d| d.name);
                with(found.name(at))
            }
        }
    }

    /// The files of a range, in order.
    pub fn cursor(&self, range: Range<u64>) -> Cursor<'_> {
        let name = Name::new(b'f', self.first() + range.start);
        Cursor { listing: self, next: range.start, end: range.end, name, directory: 0, until: 0 }
    }

    /// A file's path below the root, for messages.
    pub fn path(&self, file: u64) -> std::path::PathBuf {
        use std::os::unix::ffi::OsStrExt;
        let mut path = Vec::new();
        let mut cursor = self.cursor(file..file + 1);
        if let Some(file) = cursor.advance::<false>() {
            self.directory_path(file.directory, &mut path, &mut Vec::new(), usize::MAX);
            path.extend_from_slice(file.name.to_bytes());
        }
        std::path::PathBuf::from(std::ffi::OsStr::from_bytes(&path))
    }

    /// Appends the names from the root (or from the last of `chain` that fits into `limit` bytes)
    /// down to a directory, each with a slash; what does not fit yet stays in `chain`.
    fn directory_path(
        &self,
        directory: u64,
        path: &mut Vec<u8>,
        chain: &mut Vec<u64>,
        limit: usize,
    ) {
        if chain.is_empty() {
            let mut at = directory;
            while at != 0 {
                chain.push(at);
                at = self.parent(at);
            }
        }
        while let Some(at) = chain.last() {
            let fits = self.with_directory_name(*at, |name| {
                let fits = path.len() + name.count_bytes() + 1 < limit;
                if fits {
                    path.extend_from_slice(name.to_bytes());
                    path.push(b'/');
                }
                fits
            });
            if !fits {
                return;
            }
            chain.pop();
        }
    }
}

#[inline(always)]
fn as_c_str(name: &Name) -> &CStr {
    until_nul(name.with_nul()).unwrap_or(c"")
}

/// Files one after the other.
#[derive(Debug)]
pub struct Cursor<'a> {
    listing: &'a Listing,
    next: u64,
    end: u64,
    name: Name,
    directory: u64,
    /// The first file that lies elsewhere.
    until: u64,
}

impl Cursor<'_> {
    /// The next file; its size is 0 unless it is asked for, since drawing it takes time.
    #[inline(always)]
    pub fn advance<const SIZES: bool>(&mut self) -> Option<File<'_>> {
        if self.next >= self.end {
            return None;
        }
        let number = self.next;
        self.next += 1;
        match self.listing {
            Listing::Made(tree) => {
                if number >= self.until {
                    self.directory = tree.directory(number);
                    self.until = tree.end_of(self.directory);
                    self.name = Name::new(b'f', tree.first + number);
                } else {
                    self.name.increment();
                }
                let size = if SIZES { tree.size(number) } else { 0 };
                let (directory, name) = (self.directory, as_c_str(&self.name));
                Some(File { number, directory, name, size })
            }
            Listing::Found(found) => {
                let file = found.files.get(number as usize)?;
                let (directory, name) = (u64::from(file.directory), found.name(file.name));
                Some(File { number, directory, name, size: file.size })
            }
        }
    }
}

/// Opens directories of a tree by number, without ever leaving it: no link is followed, and no
/// path is too long.
#[derive(Debug, Default)]
pub struct Opener {
    path: Vec<u8>,
    chain: Vec<u64>,
}

/// Of PATH_MAX (4096) what a path of directories may take.
pub(super) const PATH_LIMIT: usize = 4000;

impl Opener {
    /// Opens a directory below `root`.
    pub fn open(
        &mut self,
        listing: &Listing,
        root: BorrowedFd<'_>,
        directory: u64,
    ) -> Result<OwnedFd, Errno> {
        let Opener { path, chain } = self;
        path.clear();
        chain.clear();
        if directory == 0 {
            return open_below(root, c".");
        }
        listing.directory_path(directory, path, chain, PATH_LIMIT);
        let mut opened = open_path(root, path)?;
        while !chain.is_empty() {
            path.clear();
            let before = chain.len();
            listing.directory_path(directory, path, chain, PATH_LIMIT);
            if chain.len() == before {
                return Err(Errno::NAMETOOLONG);
            }
            opened = open_path(opened.as_fd(), path)?;
        }
        Ok(opened)
    }
}

/// The slash at the end becomes the end of the C string.
pub(super) fn open_path(root: BorrowedFd<'_>, path: &mut [u8]) -> Result<OwnedFd, Errno> {
    if let Some(last) = path.last_mut() {
        *last = 0;
    }
    open_below(root, CStr::from_bytes_with_nul(path).map_err(|_| Errno::INVAL)?)
}

pub(super) fn open_below(root: BorrowedFd<'_>, path: &CStr) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    match openat2(root, path, flags, Mode::empty(), resolve) {
        // A kernel before 5.6, or a filter that does not know the call: links in between are then
        // followed, the last one is not.
        Err(Errno::NOSYS | Errno::PERM) => openat(root, path, flags, Mode::empty()),
        other => other,
    }
}
