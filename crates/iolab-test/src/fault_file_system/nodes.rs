//! What lies in the file system: files, directories and links, in memory.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use fuser::{FileAttr, FileType, INodeNo};

/// What a node is.
#[derive(Clone, Debug)]
pub(super) enum Kind {
    File(Vec<u8>),
    Directory(BTreeMap<OsString, u64>),
    Link(OsString),
}

/// A file, a directory or a link.
#[derive(Clone, Debug)]
pub(super) struct Node {
    pub(super) kind: Kind,
    pub(super) mode: u16,
    pub(super) owner: (u32, u32),
    pub(super) links: u32,
    pub(super) times: (SystemTime, SystemTime),
}

/// All of them by number. One without a name is kept: it may be open.
#[derive(Debug)]
pub(super) struct Nodes {
    all: BTreeMap<u64, Node>,
    next: u64,
    ticks: u64,
}

const ROOT: u64 = 1;

impl Default for Nodes {
    fn default() -> Nodes {
        let mut nodes = Nodes { all: BTreeMap::new(), next: ROOT, ticks: 0 };
        nodes.add(Kind::Directory(BTreeMap::new()), 0o777, (0, 0));
        nodes
    }
}

impl Nodes {
    fn add(&mut self, kind: Kind, mode: u16, owner: (u32, u32)) -> u64 {
        let (number, now) = (self.next, self.now());
        self.next += 1;
        self.all.insert(number, Node { kind, mode, owner, links: 1, times: (now, now) });
        number
    }

    /// Each change has a time of its own, which no clock gives.
    pub(super) fn now(&mut self) -> SystemTime {
        self.ticks += 1;
        UNIX_EPOCH + Duration::from_secs(1_000_000_000) + Duration::from_micros(self.ticks)
    }

    pub(super) fn get(&self, number: u64) -> Result<&Node, i32> {
        self.all.get(&number).ok_or(libc::ESTALE)
    }

    pub(super) fn get_mut(&mut self, number: u64) -> Result<&mut Node, i32> {
        self.all.get_mut(&number).ok_or(libc::ESTALE)
    }

    pub(super) fn names_in(&mut self, number: u64) -> Result<&mut BTreeMap<OsString, u64>, i32> {
        match &mut self.get_mut(number)?.kind {
            Kind::Directory(names) => Ok(names),
            _ => Err(libc::ENOTDIR),
        }
    }

    pub(super) fn bytes_of(&mut self, number: u64) -> Result<&mut Vec<u8>, i32> {
        match &mut self.get_mut(number)?.kind {
            Kind::File(bytes) => Ok(bytes),
            _ => Err(libc::EISDIR),
        }
    }

    pub(super) fn find(&mut self, parent: u64, name: &OsStr) -> Result<u64, i32> {
        self.names_in(parent)?.get(name).copied().ok_or(libc::ENOENT)
    }

    pub(super) fn make(
        &mut self,
        (parent, name): (u64, &OsStr),
        kind: Kind,
        mode: u32,
        owner: (u32, u32),
    ) -> Result<u64, i32> {
        if self.names_in(parent)?.contains_key(name) {
            return Err(libc::EEXIST);
        }
        let number = self.add(kind, (mode & 0o7777) as u16, owner);
        self.enter(parent, name, number)?;
        Ok(number)
    }

    pub(super) fn enter(&mut self, parent: u64, name: &OsStr, number: u64) -> Result<(), i32> {
        let now = self.now();
        self.names_in(parent)?.insert(name.to_owned(), number);
        self.get_mut(parent)?.times = (now, now);
        Ok(())
    }

    /// Takes a name away.
    pub(super) fn remove(&mut self, parent: u64, name: &OsStr, is_dir: bool) -> Result<(), i32> {
        let number = self.find(parent, name)?;
        match (&self.get(number)?.kind, is_dir) {
            (Kind::Directory(names), true) if !names.is_empty() => return Err(libc::ENOTEMPTY),
            (Kind::Directory(_), false) => return Err(libc::EISDIR),
            (Kind::File(_) | Kind::Link(_), true) => return Err(libc::ENOTDIR),
            _ => {}
        }
        self.names_in(parent)?.remove(name);
        let now = self.now();
        self.get_mut(parent)?.times = (now, now);
        self.get_mut(number)?.links -= 1;
        Ok(())
    }

    pub(super) fn rename(
        &mut self,
        (parent, name): (u64, &OsStr),
        (to, new): (u64, &OsStr),
        replace: bool,
    ) -> Result<(), i32> {
        let number = self.find(parent, name)?;
        if self.find(to, new).is_ok() {
            if !replace {
                return Err(libc::EEXIST);
            }
            let is_dir = matches!(self.get(number)?.kind, Kind::Directory(_));
            self.remove(to, new, is_dir)?;
        }
        self.names_in(parent)?.remove(name);
        self.enter(to, new, number)
    }

    /// What `stat` says.
    pub(super) fn about(&self, number: u64) -> Result<FileAttr, i32> {
        let node = self.get(number)?;
        let (kind, size) = match &node.kind {
            Kind::File(bytes) => (FileType::RegularFile, bytes.len() as u64),
            Kind::Directory(_) => (FileType::Directory, 4096),
            Kind::Link(to) => (FileType::Symlink, to.len() as u64),
        };
        let (mtime, ctime) = node.times;
        Ok(FileAttr {
            ino: INodeNo(number),
            size,
            blocks: size.div_ceil(512),
            atime: mtime,
            mtime,
            ctime,
            crtime: ctime,
            kind,
            perm: node.mode,
            nlink: node.links,
            uid: node.owner.0,
            gid: node.owner.1,
            rdev: 0,
            blksize: 4096,
            flags: 0,
        })
    }

    /// The names of everything, without their directories.
    pub(super) fn names(&self) -> Vec<String> {
        let directories = self.all.values().filter_map(|node| match &node.kind {
            Kind::Directory(names) if node.links > 0 => Some(names),
            _ => None,
        });
        let names = directories.flat_map(|names| names.keys());
        names.map(|name| name.to_string_lossy().into_owned()).collect()
    }
}
