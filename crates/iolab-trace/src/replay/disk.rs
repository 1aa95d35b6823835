//! A file system in the mind: which names there are and how large files are, call by call. What it
//! foretells of a call that a trace says otherwise is not replayed.

use std::collections::BTreeMap;

use crate::call::NONE;

/// What is there under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NodeKind {
    /// A file with bytes.
    File,
    /// A directory.
    Directory,
    /// A symbolic link, which leads nowhere.
    Link,
}

/// What a file is, whatever its names.
#[derive(Clone, Debug)]
pub(super) struct Inode {
    pub(super) kind: NodeKind,
    pub(super) size: u64,
    /// The greatest size of its written bytes.
    pub(super) peak: u64,
    /// Whether some of its bytes were never written.
    pub(super) has_holes: bool,
    pub(super) entries: BTreeMap<u32, u32>,
    /// The last name that it got: index of the trace's files, or [`NONE`].
    pub(super) path: u32,
}

impl Inode {
    pub(super) fn new(kind: NodeKind, size: u64, path: u32) -> Inode {
        Inode { kind, size, peak: size, has_holes: false, entries: BTreeMap::new(), path }
    }
}

/// All of them; number 0 is the root.
#[derive(Clone, Debug)]
pub(super) struct Disk {
    pub(super) inodes: Vec<Inode>,
}

/// Why a call fails here, as an error's number.
pub(super) const ENOENT: i64 = 2;
pub(super) const EEXIST: i64 = 17;
pub(super) const ENOTDIR: i64 = 20;
pub(super) const EISDIR: i64 = 21;
pub(super) const EINVAL: i64 = 22;
pub(super) const ENOTEMPTY: i64 = 39;
pub(super) const ENODATA: i64 = 61;
/// The file system has no such call.
pub(super) const EOPNOTSUPP: i64 = 95;

/// What a call on names does here: nothing of note, or an error's number.
pub(super) type Done<T = ()> = Result<T, i64>;

impl Disk {
    pub(super) fn new() -> Disk {
        Disk { inodes: vec![Inode::new(NodeKind::Directory, 0, NONE)] }
    }

    pub(super) fn inode(&self, number: u32) -> &Inode {
        &self.inodes[number as usize]
    }

    /// Whether there is such a file ([`NONE`]: there is not) and it is of this kind.
    pub(super) fn is(&self, number: u32, kind: NodeKind) -> bool {
        number != NONE && self.inode(number).kind == kind
    }

    pub(super) fn inode_mut(&mut self, number: u32) -> &mut Inode {
        &mut self.inodes[number as usize]
    }

    /// The inode under a name.
    pub(super) fn find(&self, name: &[u32]) -> Done<u32> {
        let mut at = 0;
        for part in name {
            let inode = self.inode(at);
            if inode.kind != NodeKind::Directory {
                return Err(ENOTDIR);
            }
            at = *inode.entries.get(part).ok_or(ENOENT)?;
        }
        Ok(at)
    }

    /// The directory that a name is in, and its last component.
    fn place<'n>(&self, name: &'n [u32]) -> Done<(u32, &'n u32)> {
        let (last, above) = name.split_last().ok_or(EEXIST)?;
        let directory = self.find(above)?;
        match self.inode(directory).kind {
            NodeKind::Directory => Ok((directory, last)),
            _ => Err(ENOTDIR),
        }
    }

    /// A new inode under a name that is free.
    pub(super) fn make(&mut self, name: &[u32], inode: Inode) -> Done<u32> {
        let (directory, last) = self.place(name)?;
        if self.inode(directory).entries.contains_key(last) {
            return Err(EEXIST);
        }
        let number = self.inodes.len() as u32;
        self.inodes.push(inode);
        self.inode_mut(directory).entries.insert(*last, number);
        Ok(number)
    }

    /// The same with all directories above it, where nothing stands in the way.
    pub(super) fn make_with_parents(&mut self, name: &[u32], inode: Inode) -> Done<u32> {
        for length in 1..name.len() {
            if self.find(&name[..length]) == Err(ENOENT) {
                self.make(&name[..length], Inode::new(NodeKind::Directory, 0, NONE))?;
            }
        }
        self.make(name, inode)
    }

    pub(super) fn unlink(&mut self, name: &[u32]) -> Done<u32> {
        let inode = self.find(name)?;
        if self.inode(inode).kind == NodeKind::Directory {
            return Err(EISDIR);
        }
        self.forget(name)?;
        Ok(inode)
    }

    pub(super) fn remove_directory(&mut self, name: &[u32]) -> Done<u32> {
        let inode = self.find(name)?;
        match self.inode(inode) {
            inode if inode.kind != NodeKind::Directory => return Err(ENOTDIR),
            inode if !inode.entries.is_empty() => return Err(ENOTEMPTY),
            _ => self.forget(name)?,
        }
        Ok(inode)
    }

    fn forget(&mut self, name: &[u32]) -> Done {
        let (directory, last) = self.place(name)?;
        let number = self.inode_mut(directory).entries.remove(last).ok_or(ENOENT)?;
        self.inode_mut(number).path = NONE;
        Ok(())
    }

    pub(super) fn link(&mut self, from: &[u32], to: &[u32]) -> Done<u32> {
        let inode = self.find(from)?;
        if self.inode(inode).kind == NodeKind::Directory {
            return Err(EISDIR);
        }
        let (directory, last) = self.place(to)?;
        if self.inode(directory).entries.contains_key(last) {
            return Err(EEXIST);
        }
        self.inode_mut(directory).entries.insert(*last, inode);
        Ok(inode)
    }

    /// `path`: the index of the new name.
    pub(super) fn rename(&mut self, from: &[u32], to: &[u32], path: u32) -> Done<u32> {
        let inode = self.find(from)?;
        // Into itself.
        if to.starts_with(from) {
            return Err(EINVAL);
        }
        let moves_directory = self.inode(inode).kind == NodeKind::Directory;
        self.place(to)?;
        if let Ok(there) = self.find(to) {
            match (moves_directory, self.inode(there)) {
                (true, there) if there.kind != NodeKind::Directory => return Err(ENOTDIR),
                (true, there) if !there.entries.is_empty() => return Err(ENOTEMPTY),
                (false, there) if there.kind == NodeKind::Directory => return Err(EISDIR),
                _ => self.forget(to)?,
            }
        }
        self.forget(from)?;
        let (directory, last) = self.place(to)?;
        self.inode_mut(directory).entries.insert(*last, inode);
        self.inode_mut(inode).path = path;
        Ok(inode)
    }

    /// Bytes up to here are written; whether the size changes.
    pub(super) fn written(&mut self, inode: u32, offset: u64, end: u64) -> bool {
        let inode = self.inode_mut(inode);
        inode.has_holes |= offset > inode.size;
        let grows = end > inode.size;
        inode.size = inode.size.max(end);
        inode.peak = inode.peak.max(end);
        grows
    }

    pub(super) fn resized(&mut self, inode: u32, size: u64) {
        let inode = self.inode_mut(inode);
        inode.has_holes |= size > inode.size;
        if size == 0 {
            inode.has_holes = false;
        }
        inode.size = size;
    }
}
