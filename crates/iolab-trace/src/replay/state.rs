//! Where the calls of a trace have got to: what its files are by then, and which are open.

use std::collections::HashMap;

use super::disk::{Disk, NodeKind};
use super::left_out::{Coverage, Reason};
use super::locks::Locks;
use super::names::Names;
use super::step::Act;
use crate::call::OpenFlags;
use crate::trace::Trace;

/// An open file.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opened {
    pub(super) inode: u32,
    pub(super) offset: u64,
    pub(super) flags: OpenFlags,
    /// Whether it was opened past the page cache, so that it can be again.
    pub(super) was_direct: bool,
    /// Copies of its descriptor that are still to be closed.
    pub(super) copies: u32,
}

/// A file that is open before the program begins: what it inherited.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Inherited {
    /// Where it is kept.
    pub slot: u32,
    /// Its name.
    pub path: u32,
    /// Where its offset is.
    pub offset: u64,
    /// Whether it is written to.
    pub writes: bool,
}

/// The calls that can be made again, and what they need.
#[derive(Debug)]
pub(super) struct Sifter<'a> {
    pub(super) trace: &'a Trace,
    pub(super) names: Names,
    pub(super) disk: Disk,
    /// The files as they were before the first call.
    pub(super) first: Disk,
    pub(super) handles: Vec<Option<Opened>>,
    pub(super) inherited: Vec<Inherited>,
    /// Names that were counted in a directory, by its inode, and where the count of a handle is.
    pub(super) listed: HashMap<u32, u64>,
    pub(super) listing: HashMap<u32, u64>,
    pub(super) locks: Locks,
    pub(super) acts: Vec<Act>,
    pub(super) coverage: Coverage,
}

/// Why a call cannot be made again; else it is among the acts.
pub(super) type Judged = Result<(), Reason>;

impl Sifter<'_> {
    /// The open file of a handle; one that was inherited is opened now.
    pub(super) fn opened(&mut self, handle: u32, at: Option<u64>) -> Result<Opened, Reason> {
        let known = self.handles.get(handle as usize).ok_or(Reason::Unopened)?;
        if let Some(opened) = known {
            return Ok(*opened);
        }
        let handle_is = self.trace.handles[handle as usize];
        if handle_is.opened {
            return Err(Reason::Unopened);
        }
        // It was open all the time: what it is, the first state says.
        let inode = self.first.find(self.name(handle_is.file)?).map_err(|_| Reason::Unopened)?;
        let is_link = self.first.inode(inode).kind == NodeKind::Link;
        if is_link || self.inherited.iter().any(|one| one.slot == handle) {
            return Err(Reason::Unopened);
        }
        let (path, offset) = (handle_is.file, at.unwrap_or(0));
        let opened = Opened { inode, offset, flags: OpenFlags(0), was_direct: false, copies: 0 };
        self.inherited.push(Inherited { slot: handle, path, offset, writes: false });
        self.handles[handle as usize] = Some(opened);
        Ok(opened)
    }

    /// The name of a file.
    pub(super) fn name(&self, file: u32) -> Result<&[u32], Reason> {
        let named = self.names.components.get(file as usize).and_then(Option::as_deref);
        let kind = self.trace.file(file).map(|file| file.kind);
        named.filter(|_| kind.is_some_and(|kind| kind.is_of_file_system())).ok_or(Reason::Name)
    }
}
