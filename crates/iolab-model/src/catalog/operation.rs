//! What is done to each of many files.

use super::axis_word::{axis_words, words};

words! {
    /// An operation of the workload `files`. Calls of the ladder and of metadata are parts of their
    /// own; what is true of their words is true of theirs.
    FileOperation, "operation on files":
    /// Open, read to the end, close.
    Read "read",
    /// Create, write, close.
    Write "write",
    /// Open, create, move the bytes, close both.
    Copy "copy",
    /// Create without bytes, close.
    Create "create",
    /// Look at each.
    Stat "stat",
    /// Unlink each.
    Remove "remove",
}

axis_words!(FileOperation of Operation);

impl FileOperation {
    /// Whether each pass has files of its own that it makes or removes.
    pub const fn has_own(self) -> bool {
        !matches!(self, FileOperation::Read | FileOperation::Stat)
    }

    /// Whether bytes of the files are read or written: not of those that are made empty or only
    /// looked at.
    pub const fn moves_bytes(self) -> bool {
        !matches!(self, FileOperation::Stat | FileOperation::Create)
    }

    /// Whether it puts bytes into files.
    pub const fn writes_bytes(self) -> bool {
        matches!(self, FileOperation::Write | FileOperation::Copy)
    }
}

words! {
    /// The single calls, rungs of the ladder and calls of metadata, that more than their own row
    /// speaks of. Each is a row; not each row is here.
    NamedCall, "call":
    /// The cheapest real call.
    Getppid "getppid",
    /// Sets the position of a descriptor.
    Lseek "lseek",
    /// Reads at the position.
    Read "read",
    /// Reads at an offset.
    Pread "pread",
    /// Writes at the position.
    Write "write",
    /// Writes at an offset.
    Pwrite "pwrite",
    /// Attributes by a descriptor.
    Fstat "fstat",
    /// Opens and closes.
    OpenClose "open-close",
    /// Attributes by a name.
    Stat "stat",
    /// Sets the mode.
    Chmod "chmod",
    /// The first write after the mode was set.
    WriteAfterChmod "write-after-chmod",
    /// Both in one.
    ChmodWrite "chmod-write",
    /// Makes an empty file.
    Create "create",
    /// Makes a link by name.
    Symlink "symlink",
    /// Makes a directory.
    Mkdir "mkdir",
    /// Removes a directory.
    Rmdir "rmdir",
    /// Removes a file.
    Unlink "unlink",
    /// Gives another name.
    Rename "rename",
    /// Reads a directory.
    Readdir "readdir",
}

axis_words!(NamedCall of Operation);

impl NamedCall {
    /// Whether files or directories come or go, so that inodes are taken and given back.
    pub const fn makes_or_removes(self) -> bool {
        matches!(
            self,
            NamedCall::Create
                | NamedCall::Symlink
                | NamedCall::Mkdir
                | NamedCall::Rmdir
                | NamedCall::Unlink
        )
    }

    /// Whether it moves bytes of a file: a byte a call, on the ladder.
    pub const fn moves_bytes(self) -> bool {
        matches!(self, NamedCall::Read | NamedCall::Pread | NamedCall::Write | NamedCall::Pwrite)
    }
}
