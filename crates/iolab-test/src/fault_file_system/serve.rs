//! The answers to the kernel (fuse(4)).

use std::ffi::OsStr;
use std::path::Path;
use std::time::{Duration, SystemTime};

use fuser::{
    BsdFileFlags, Errno, FileHandle, FileType, Filesystem, FopenFlags, Generation, INodeNo,
    LockOwner, OpenFlags, RenameFlags, ReplyAttr, ReplyCreate, ReplyData, ReplyDirectory,
    ReplyEmpty, ReplyEntry, ReplyOpen, ReplyStatfs, ReplyWrite, Request, TimeOrNow, WriteFlags,
};

use super::nodes::Kind;
use super::{Control, DataFault, State};

/// Nothing is remembered by the kernel: sizes change behind its back.
const TTL: Duration = Duration::ZERO;
/// 4 GiB in blocks of 4 KiB, and a million inodes.
const BLOCKS: u64 = 1 << 20;

/// An answer that is owed; dropped, it is `EIO`.
#[derive(Debug)]
pub(super) enum Held {
    Read(#[allow(dead_code)] ReplyData),
    Write(#[allow(dead_code)] ReplyWrite),
}

/// The file system as the kernel sees it.
#[derive(Debug)]
pub(super) struct Server {
    control: Control,
}

impl Server {
    pub(super) fn new(control: Control) -> Server {
        Server { control }
    }

    fn entry(&self, reply: ReplyEntry, find: impl FnOnce(&mut State) -> Result<u64, i32>) {
        let mut state = self.control.state();
        match find(&mut state).and_then(|number| state.nodes.about(number)) {
            Ok(about) => reply.entry(&TTL, &about, Generation(0)),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn done(&self, reply: ReplyEmpty, act: impl FnOnce(&mut State) -> Result<(), i32>) {
        match act(&mut self.control.state()) {
            Ok(()) => reply.ok(),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }
}

impl State {
    fn flags(&self) -> FopenFlags {
        if self.cached { FopenFlags::empty() } else { FopenFlags::FOPEN_DIRECT_IO }
    }

    /// Whether a call on these bytes fails, by what was set.
    fn interrupts(&mut self) -> Option<i32> {
        self.calls += 1;
        let every_third = self.calls % 3 == 1;
        (self.fault == DataFault::Interrupted && every_third).then_some(libc::EINTR)
    }

    fn read(&mut self, number: u64, at: u64, size: usize) -> Result<Vec<u8>, i32> {
        if let Some(errno) = self.interrupts() {
            return Err(errno);
        }
        let fault = self.fault;
        let bytes = self.nodes.bytes_of(number)?;
        let (mut end, from) = ((at + size as u64).min(bytes.len() as u64), at);
        match fault {
            DataFault::ReadError { errno, at } if (from..end).contains(&at) => return Err(errno),
            DataFault::ShortReads(most) => end = end.min(from + most as u64),
            DataFault::Ends(last) => end = end.min(last),
            _ => {}
        }
        let mut given = bytes[from.min(end) as usize..end as usize].to_vec();
        if let DataFault::WrongRead(wrong) = fault
            && (from..end).contains(&wrong)
            && *self.wrong_in.get_or_insert(number) == number
        {
            given[(wrong - from) as usize] ^= 0x10;
        }
        self.counted.read_bytes += given.len() as u64;
        Ok(given)
    }

    fn write(&mut self, number: u64, at: u64, data: &[u8]) -> Result<u32, i32> {
        if let Some(errno) = self.interrupts() {
            return Err(errno);
        }
        let mut taken = data.to_vec();
        match self.fault {
            DataFault::WriteError { errno, at: bad }
                if (at..at + data.len() as u64).contains(&bad) =>
            {
                return Err(errno);
            }
            DataFault::ShortWrites(most) => taken.truncate(most),
            DataFault::WrongWrite(wrong) if (at..at + data.len() as u64).contains(&wrong) => {
                taken[(wrong - at) as usize] ^= 0x10;
            }
            _ => {}
        }
        let (now, end) = (self.nodes.now(), at as usize + taken.len());
        let bytes = self.nodes.bytes_of(number)?;
        bytes.resize(bytes.len().max(end), 0);
        bytes[at as usize..end].copy_from_slice(&taken);
        self.nodes.get_mut(number)?.times = (now, now);
        self.counted.written_bytes += taken.len() as u64;
        Ok(taken.len() as u32)
    }

    fn sync(&self) -> Result<(), i32> {
        match self.fault {
            DataFault::SyncError(errno) => Err(errno),
            _ => Ok(()),
        }
    }

    /// Whether this call is the one that hangs.
    pub(super) fn hangs(&mut self) -> bool {
        let first = self.fault == DataFault::Hangs && self.held.is_empty();
        if self.fault == DataFault::Slow {
            std::thread::sleep(Duration::from_millis(1));
        }
        first
    }
}

impl Filesystem for Server {
    fn lookup(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |state| state.nodes.find(parent.0, name));
    }

    fn getattr(&self, _: &Request, ino: INodeNo, _: Option<FileHandle>, reply: ReplyAttr) {
        let state = self.control.state();
        match state.nodes.about(ino.0) {
            Ok(mut about) => {
                if let (DataFault::Ends(last), FileType::RegularFile) = (state.fault, about.kind) {
                    about.size = about.size.min(last);
                }
                reply.attr(&TTL, &about);
            }
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn setattr(
        &self,
        _: &Request,
        ino: INodeNo,
        mode: Option<u32>,
        uid: Option<u32>,
        gid: Option<u32>,
        size: Option<u64>,
        _: Option<TimeOrNow>,
        mtime: Option<TimeOrNow>,
        _: Option<SystemTime>,
        _: Option<FileHandle>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<SystemTime>,
        _: Option<BsdFileFlags>,
        reply: ReplyAttr,
    ) {
        let mut state = self.control.state();
        let change = |state: &mut State| {
            let now = state.nodes.now();
            if let Some(size) = size {
                state.nodes.bytes_of(ino.0)?.resize(size as usize, 0);
                state.nodes.get_mut(ino.0)?.times = (now, now);
            }
            let node = state.nodes.get_mut(ino.0)?;
            node.mode = mode.map_or(node.mode, |mode| (mode & 0o7777) as u16);
            node.owner = (uid.unwrap_or(node.owner.0), gid.unwrap_or(node.owner.1));
            node.times = match mtime {
                Some(TimeOrNow::SpecificTime(time)) => (time, now),
                Some(TimeOrNow::Now) => (now, now),
                None => (node.times.0, now),
            };
            state.nodes.about(ino.0)
        };
        match change(&mut state) {
            Ok(about) => reply.attr(&TTL, &about),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn readlink(&self, _: &Request, ino: INodeNo, reply: ReplyData) {
        match self.control.state().nodes.get(ino.0).map(|node| &node.kind) {
            Ok(Kind::Link(to)) => reply.data(to.as_encoded_bytes()),
            _ => reply.error(Errno::EINVAL),
        }
    }

    fn mkdir(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        reply: ReplyEntry,
    ) {
        let kind = Kind::Directory(std::collections::BTreeMap::new());
        let owner = (request.uid(), request.gid());
        self.entry(reply, |state| state.nodes.make((parent.0, name), kind, mode, owner));
    }

    fn symlink(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        target: &Path,
        reply: ReplyEntry,
    ) {
        let kind = Kind::Link(target.into());
        let owner = (request.uid(), request.gid());
        self.entry(reply, |state| state.nodes.make((parent.0, name), kind, 0o777, owner));
    }

    fn link(&self, _: &Request, ino: INodeNo, to: INodeNo, name: &OsStr, reply: ReplyEntry) {
        self.entry(reply, |state| {
            if state.nodes.find(to.0, name).is_ok() {
                return Err(libc::EEXIST);
            }
            state.nodes.enter(to.0, name, ino.0)?;
            state.nodes.get_mut(ino.0)?.links += 1;
            Ok(ino.0)
        });
    }

    fn unlink(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |state| state.nodes.remove(parent.0, name, false));
    }

    fn rmdir(&self, _: &Request, parent: INodeNo, name: &OsStr, reply: ReplyEmpty) {
        self.done(reply, |state| state.nodes.remove(parent.0, name, true));
    }

    fn rename(
        &self,
        _: &Request,
        parent: INodeNo,
        name: &OsStr,
        to: INodeNo,
        new: &OsStr,
        flags: RenameFlags,
        reply: ReplyEmpty,
    ) {
        let replace = !flags.contains(RenameFlags::RENAME_NOREPLACE);
        self.done(reply, |state| state.nodes.rename((parent.0, name), (to.0, new), replace));
    }

    fn open(&self, _: &Request, _: INodeNo, _: OpenFlags, reply: ReplyOpen) {
        reply.opened(FileHandle(0), self.control.state().flags());
    }

    fn create(
        &self,
        request: &Request,
        parent: INodeNo,
        name: &OsStr,
        mode: u32,
        _: u32,
        _: i32,
        reply: ReplyCreate,
    ) {
        let mut state = self.control.state();
        let owner = (request.uid(), request.gid());
        let made = state.nodes.make((parent.0, name), Kind::File(Vec::new()), mode, owner);
        match made.and_then(|number| state.nodes.about(number)) {
            Ok(about) => {
                reply.created(&TTL, &about, Generation(0), FileHandle(0), state.flags());
            }
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn read(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        at: u64,
        size: u32,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyData,
    ) {
        let Some((mut state, reply)) = self.control.awake(reply, Held::Read) else {
            return;
        };
        match state.read(ino.0, at, size as usize) {
            Ok(bytes) => reply.data(&bytes),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn write(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        at: u64,
        data: &[u8],
        _: WriteFlags,
        _: OpenFlags,
        _: Option<LockOwner>,
        reply: ReplyWrite,
    ) {
        let Some((mut state, reply)) = self.control.awake(reply, Held::Write) else {
            return;
        };
        match state.write(ino.0, at, data) {
            Ok(taken) => reply.written(taken),
            Err(errno) => reply.error(Errno::from_i32(errno)),
        }
    }

    fn flush(&self, _: &Request, _: INodeNo, _: FileHandle, _: LockOwner, reply: ReplyEmpty) {
        reply.ok();
    }

    fn fsync(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.done(reply, |state| state.sync());
    }

    fn fsyncdir(&self, _: &Request, _: INodeNo, _: FileHandle, _: bool, reply: ReplyEmpty) {
        self.done(reply, |state| state.sync());
    }

    fn fallocate(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        at: u64,
        length: u64,
        mode: i32,
        reply: ReplyEmpty,
    ) {
        self.done(reply, |state| {
            let bytes = state.nodes.bytes_of(ino.0)?;
            let grows = mode == 0 && bytes.len() < (at + length) as usize;
            bytes.resize(if grows { (at + length) as usize } else { bytes.len() }, 0);
            Ok(())
        });
    }

    fn readdir(
        &self,
        _: &Request,
        ino: INodeNo,
        _: FileHandle,
        offset: u64,
        mut reply: ReplyDirectory,
    ) {
        let mut state = self.control.state();
        let names = match state.nodes.names_in(ino.0) {
            Ok(names) => names.clone(),
            Err(errno) => return reply.error(Errno::from_i32(errno)),
        };
        let dots = [(".".into(), ino.0), ("..".into(), ino.0)];
        let all = dots.into_iter().chain(names).enumerate().skip(offset as usize);
        for (at, (name, number)) in all {
            let kind = state.nodes.about(number).map_or(FileType::RegularFile, |about| about.kind);
            if reply.add(INodeNo(number), at as u64 + 1, kind, name) {
                break;
            }
        }
        reply.ok();
    }

    fn statfs(&self, _: &Request, _: INodeNo, reply: ReplyStatfs) {
        reply.statfs(BLOCKS, BLOCKS, BLOCKS, BLOCKS, BLOCKS, 4096, 255, 4096);
    }
}
