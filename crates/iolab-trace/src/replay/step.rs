//! One step of a replay: what a thread does, in 48 bytes, with all that it needs at hand.

use crate::call::{CallKind, NONE};

/// What a step does. Names are numbers of [`super::Program::paths`], slots are places for open files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Action {
    /// Opens `path` into `slot` with `flags`.
    Open,
    /// Closes `slot`.
    Close,
    /// Reads `asked` bytes at the offset of the slot.
    Read,
    /// Reads `asked` bytes at `offset`.
    ReadAt,
    /// Writes `asked` bytes at the offset of the slot.
    Write,
    /// Writes `asked` bytes at `offset`.
    WriteAt,
    /// Moves the offset of the slot to `offset`.
    Seek,
    /// Looks at the attributes of `path`.
    Stat,
    /// Looks at the attributes of `slot`.
    StatHandle,
    /// Lists a part of the directory in `slot`, with a buffer of `asked` bytes.
    List,
    /// Renames `path` to `other`.
    Rename,
    /// Removes the file `path`.
    Unlink,
    /// Makes the directory `path`.
    MakeDirectory,
    /// Removes the directory `path`.
    RemoveDirectory,
    /// Gives `path` the second name `other`.
    Link,
    /// Makes the symbolic link `path`, which leads nowhere.
    Symlink,
    /// Reads where the link `path` leads.
    ReadLink,
    /// Sets the mode of `path`, or of `slot` where there is no path.
    ChangeMode,
    /// Sets the owner, likewise, to the one that it has.
    ChangeOwner,
    /// Sets the times, likewise, to now.
    ChangeTimes,
    /// Sets the size, likewise, to `asked`.
    Truncate,
    /// Allocates `asked` bytes from `offset` on; `flags` 1: the size stays.
    Allocate,
    /// fsync.
    Sync,
    /// fdatasync.
    DataSync,
    /// syncfs: never sync, which would write back what belongs to others.
    SyncAll,
    /// Maps `asked` bytes from `offset` on; `flags` as the trace has them. Touches each page of what
    /// is shared or populated.
    Map,
    /// Maps the whole file, of `asked` bytes, to be read by [`Action::ReadMapped`].
    MapWhole,
    /// Copies `asked` bytes at `offset` out of the mapping of the slot.
    ReadMapped,
    /// Takes that mapping away.
    Unmap,
    /// posix_fadvise; `flags` is the advice.
    Advise,
    /// copy_file_range from `slot` to the slot `other`.
    CopyRange,
    /// sendfile from `slot` to the slot `other`.
    SendFile,
    /// FICLONE of `slot` into the slot `other`.
    Clone,
    /// dup, and its close.
    Duplicate,
    /// fcntl(F_GETFL).
    Look,
    /// statfs of `path`, or fstatfs of `slot` where there is no path.
    FileSystem,
    /// getxattr, likewise, of an attribute that is not there.
    Attribute,
    /// fcntl(F_SETFL) with `flags`.
    Flags,
    /// fcntl(F_SETLK) of `asked` bytes from `offset` on; `flags` is the number of a [`crate::Lock`].
    LockRange,
    /// fcntl(F_OFD_SETLK), likewise.
    LockOpenFile,
    /// fcntl(F_GETLK) of a lock of that range.
    Holder,
    /// flock; `flags` likewise.
    LockWhole,
    /// Reads as [`Action::ReadAt`], by a request in a ring.
    RingRead,
    /// Writes as [`Action::WriteAt`], likewise.
    RingWrite,
    /// fsync, likewise.
    RingSync,
    /// fdatasync, likewise.
    RingDataSync,
    /// Lets `asked` nanoseconds pass.
    Think,
    /// Waits until the thread `other` of the trace has ended. None is left in a program.
    Wait,
    /// Tells that the event `other` has come.
    Signal,
    /// Waits for the event `other`.
    Await,
}

impl Action {
    /// Whether it brings bytes of a slot to the program.
    pub const fn reads(self) -> bool {
        matches!(self, Action::Read | Action::ReadAt | Action::ReadMapped | Action::RingRead)
    }

    /// Whether it takes bytes of the program into a slot.
    pub const fn writes(self) -> bool {
        matches!(self, Action::Write | Action::WriteAt | Action::RingWrite)
    }

    /// Whether its name may stand below an open directory: [`Step::other`] is then its slot.
    pub const fn is_below(self) -> bool {
        self.kind().is_below()
    }

    /// Whether its result is a count of bytes; of all others it is 0 or an error.
    pub const fn counts_bytes(self) -> bool {
        self.reads() || self.writes() || matches!(self, Action::CopyRange | Action::SendFile)
    }

    /// Whether it makes one file durable.
    pub const fn syncs(self) -> bool {
        matches!(self, Action::Sync | Action::DataSync)
    }

    /// Whether it makes a call at all.
    pub const fn is_call(self) -> bool {
        !matches!(self, Action::Signal | Action::Await | Action::Wait | Action::Think)
    }

    /// Whether it goes through the thread's ring.
    pub const fn is_of_ring(self) -> bool {
        use Action::{RingDataSync, RingRead, RingSync, RingWrite};
        matches!(self, RingRead | RingWrite | RingSync | RingDataSync)
    }

    /// The kind of recorded calls that it is one of, for its name.
    pub const fn kind(self) -> CallKind {
        match self {
            Action::Open => CallKind::Open,
            Action::Close => CallKind::Close,
            Action::Read => CallKind::Read,
            Action::ReadAt | Action::RingRead => CallKind::ReadAt,
            Action::Write => CallKind::Write,
            Action::WriteAt | Action::RingWrite => CallKind::WriteAt,
            Action::Seek => CallKind::Seek,
            Action::Stat => CallKind::Stat,
            Action::StatHandle => CallKind::StatHandle,
            Action::List => CallKind::List,
            Action::Rename => CallKind::Rename,
            Action::Unlink => CallKind::Unlink,
            Action::MakeDirectory => CallKind::MakeDirectory,
            Action::RemoveDirectory => CallKind::RemoveDirectory,
            Action::Link => CallKind::Link,
            Action::Symlink => CallKind::Symlink,
            Action::ReadLink => CallKind::ReadLink,
            Action::ChangeMode => CallKind::ChangeMode,
            Action::ChangeOwner => CallKind::ChangeOwner,
            Action::ChangeTimes => CallKind::ChangeTimes,
            Action::Truncate => CallKind::Truncate,
            Action::Allocate => CallKind::Allocate,
            Action::Sync | Action::RingSync => CallKind::Sync,
            Action::DataSync | Action::RingDataSync => CallKind::DataSync,
            Action::SyncAll => CallKind::SyncAll,
            Action::Map | Action::MapWhole | Action::ReadMapped | Action::Unmap => CallKind::Map,
            Action::Advise => CallKind::Advise,
            Action::CopyRange => CallKind::CopyRange,
            Action::SendFile => CallKind::SendFile,
            Action::Clone => CallKind::Clone,
            Action::Look
            | Action::FileSystem
            | Action::Flags
            | Action::LockRange
            | Action::LockOpenFile
            | Action::Holder
            | Action::LockWhole => CallKind::Other,
            Action::Attribute => CallKind::Attribute,
            Action::Duplicate => CallKind::Duplicate,
            Action::Wait | Action::Signal | Action::Await | Action::Think => CallKind::Wait,
        }
    }
}

/// Whether the flags of an [`Action::Map`] say that what is written reaches the file: writable, shared.
pub(super) const fn map_is_written(flags: u32) -> bool {
    flags & 3 == 3
}

/// One step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Step {
    /// Bytes, a size, a length, as the action says.
    pub asked: u64,
    /// Where in the file.
    pub offset: u64,
    /// What it must come back with: bytes, 0, or below zero an error's number.
    pub expected: i64,
    /// Which open file, or [`NONE`].
    pub slot: u32,
    /// Which name, or [`NONE`].
    pub path: u32,
    /// A second slot, name or event, or [`NONE`]; of a step by name, the slot of the directory that the
    /// name is below.
    pub other: u32,
    /// As the action says; of a read of one buffer, how many bytes into a page that began, plus 1, or 0
    /// where it is not known.
    pub flags: u32,
    /// The recorded call that it stands for: index of [`crate::Trace::calls`].
    pub call: u32,
    /// Buffers of a read or write.
    pub parts: u16,
    /// Of a read, how many of the whole pages that it fills are new to the program's memory, in 255ths.
    pub new_share: u8,
    /// What it does.
    pub action: Action,
}

impl Step {
    /// How many bytes into a page its buffer began, where it reads into one and that is known.
    pub const fn buffer_offset(&self) -> Option<usize> {
        match self.flags {
            0 => None,
            known => Some(known as usize - 1),
        }
    }

    /// The same in a buffer that is used again, wherever that begins.
    pub(super) const fn in_any_buffer(self) -> Step {
        Step { new_share: 0, flags: 0, ..self }
    }

    /// Whether it is a read into memory that nothing has touched.
    pub const fn reads_new(&self) -> bool {
        self.new_share > 0
    }

    /// Whole pages of so many bytes that it brings into use.
    pub const fn new_pages(&self, page_bytes: u64) -> u64 {
        let all = self.expected.unsigned_abs() / page_bytes;
        (all * self.new_share as u64 + 127) / 255
    }

    /// A step that needs nothing.
    pub const fn new(action: Action, call: u32) -> Step {
        Step {
            asked: 0,
            offset: 0,
            expected: 0,
            slot: NONE,
            path: NONE,
            other: NONE,
            flags: 0,
            call,
            parts: 1,
            new_share: 0,
            action,
        }
    }
}

/// A step with what the order between threads depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Act {
    pub(super) step: Step,
    /// Index of [`crate::Trace::threads`].
    pub(super) thread: u32,
    /// The file that it is on, whatever its name, or [`NONE`].
    pub(super) inode: u32,
    /// A second one, which is written to.
    pub(super) to_inode: u32,
    /// Whether it changes how large the first is, or makes it durable.
    pub(super) changes: bool,
    /// Whether what the rest of its team does from then on may go by it.
    pub(super) leads: bool,
}

impl Act {
    pub(super) const fn new(step: Step, thread: u32) -> Act {
        Act { step, thread, inode: NONE, to_inode: NONE, changes: false, leads: false }
    }

    /// The first byte after what it moves.
    pub(super) const fn end(&self) -> u64 {
        self.step.offset.saturating_add(self.step.expected.unsigned_abs())
    }
}
