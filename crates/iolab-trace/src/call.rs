//! One call as the kernel saw it, in 64 bytes.

/// No file, no handle, no thread.
pub const NONE: u32 = u32::MAX;

/// The call did not come back, or its result was not seen.
pub const UNKNOWN_RESULT: i64 = i64::MIN;

macro_rules! kinds {
    ($($(#[$about:meta])* $name:ident $code:literal $word:literal,)*) => {
        /// What a call does. The numbers are those of the file format: they are never used again.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum CallKind { $($(#[$about])* $name = $code,)* }

        impl CallKind {
            /// Every kind.
            pub const ALL: &'static [CallKind] = &[$(CallKind::$name,)*];

            /// Its name in tables.
            pub const fn word(self) -> &'static str {
                match self { $(CallKind::$name => $word,)* }
            }

            /// The kind of this number.
            pub const fn from_code(code: u8) -> Option<CallKind> {
                match code { $($code => Some(CallKind::$name),)* _ => None }
            }
        }
    };
}

kinds! {
    /// open, openat, openat2, creat. `detail`: [`OpenFlags`].
    Open 1 "open",
    /// close. `detail` is 1 where it was the last descriptor of the handle.
    Close 2 "close",
    /// read, readv: at the handle's offset. `detail`: buffers.
    Read 3 "read",
    /// pread, preadv. `detail`: buffers.
    ReadAt 4 "pread",
    /// write, writev: at the handle's offset, or at the end of the file. `detail`: buffers.
    Write 5 "write",
    /// pwrite, pwritev. `detail`: buffers.
    WriteAt 6 "pwrite",
    /// lseek. `offset`: where it led; `detail`: 0 set, 1 current, 2 end, 3 data, 4 hole.
    Seek 7 "lseek",
    /// mmap of a file. `asked`: length; `detail`: 1 writable, 2 shared, 4 populated.
    Map 8 "mmap",
    /// madvise of a mapped file. `detail`: the advice's number.
    MapAdvise 9 "madvise",
    /// msync of a mapped file.
    MapSync 10 "msync",
    /// posix_fadvise, readahead. `detail`: the advice's number.
    Advise 11 "fadvise",
    /// fsync.
    Sync 12 "fsync",
    /// fdatasync.
    DataSync 13 "fdatasync",
    /// sync_file_range.
    RangeSync 14 "sync_file_range",
    /// sync, syncfs.
    SyncAll 15 "sync",
    /// truncate, ftruncate. `asked`: the size.
    Truncate 16 "truncate",
    /// fallocate. `detail`: the mode.
    Allocate 17 "fallocate",
    /// stat, lstat, statx and access by name.
    Stat 18 "stat",
    /// fstat, and statx of a handle.
    StatHandle 19 "fstat",
    /// getdents. `detail`: entries.
    List 20 "getdents",
    /// rename; `other` is the new name.
    Rename 21 "rename",
    /// unlink.
    Unlink 22 "unlink",
    /// mkdir.
    MakeDirectory 23 "mkdir",
    /// rmdir.
    RemoveDirectory 24 "rmdir",
    /// link; `other` is the new name.
    Link 25 "link",
    /// symlink; `other` is none: where it leads is not kept.
    Symlink 26 "symlink",
    /// readlink.
    ReadLink 27 "readlink",
    /// chmod, fchmod.
    ChangeMode 28 "chmod",
    /// chown, fchown.
    ChangeOwner 29 "chown",
    /// utimensat and its kin.
    ChangeTimes 30 "utimens",
    /// Extended attributes. `detail`: 1 where one is asked for by its name
    /// ([`crate::ASKS_FOR_ATTRIBUTE`]), else 0.
    Attribute 31 "xattr",
    /// copy_file_range. `other`: the handle written to.
    CopyRange 32 "copy_file_range",
    /// sendfile. `other`: the handle written to.
    SendFile 33 "sendfile",
    /// splice. `other`: the handle written to.
    Splice 34 "splice",
    /// FICLONE. `other`: the handle written to.
    Clone 35 "reflink",
    /// dup, dup2, dup3, F_DUPFD.
    Duplicate 36 "dup",
    /// fork, vfork, clone. `other`: the thread that began.
    Fork 37 "fork",
    /// execve.
    Execute 38 "exec",
    /// wait4, waitid. `other`: the thread that ended, where it is known.
    Wait 39 "wait",
    /// io_uring_enter: what was asked for in the rings cannot be seen. `asked`: submissions.
    Ring 40 "io_uring",
    /// statfs, fcntl, flock, ioctl and what else leaves contents and names as they are. `detail`: the
    /// number of a [`crate::Control`], or 0; of a lock `offset` and `asked` are its range.
    Other 41 "other",
    /// chdir, fchdir.
    ChangeDirectory 42 "chdir",
}

impl CallKind {
    /// Whether it moves bytes of a file to or from the program or another file.
    pub const fn moves_bytes(self) -> bool {
        self.reads() || self.writes() || self.copies()
    }

    /// Whether it brings bytes to the program.
    pub const fn reads(self) -> bool {
        matches!(self, CallKind::Read | CallKind::ReadAt)
    }

    /// Whether it takes bytes from the program.
    pub const fn writes(self) -> bool {
        matches!(self, CallKind::Write | CallKind::WriteAt)
    }

    /// Whether the kernel moves bytes between two files.
    pub const fn copies(self) -> bool {
        matches!(
            self,
            CallKind::CopyRange | CallKind::SendFile | CallKind::Splice | CallKind::Clone
        )
    }

    /// Whether it waits until something is durable.
    pub const fn syncs(self) -> bool {
        matches!(
            self,
            CallKind::MapSync
                | CallKind::Sync
                | CallKind::DataSync
                | CallKind::RangeSync
                | CallKind::SyncAll
        )
    }

    /// Whether it names a file and is on no open one.
    pub const fn is_by_name(self) -> bool {
        matches!(
            self,
            CallKind::Stat
                | CallKind::Rename
                | CallKind::Unlink
                | CallKind::MakeDirectory
                | CallKind::RemoveDirectory
                | CallKind::Link
                | CallKind::Symlink
                | CallKind::ReadLink
        )
    }

    /// Whether its one name may stand below a directory that is open: `other` is then its handle.
    pub const fn is_below(self) -> bool {
        let of_either =
            matches!(self, CallKind::ChangeMode | CallKind::ChangeOwner | CallKind::ChangeTimes);
        let of_two = matches!(self, CallKind::Rename | CallKind::Link);
        (self.is_by_name() || of_either || matches!(self, CallKind::Open)) && !of_two
    }

    /// Whether it is about names and attributes alone.
    pub const fn is_metadata(self) -> bool {
        let on_either = matches!(
            self,
            CallKind::Open
                | CallKind::Close
                | CallKind::StatHandle
                | CallKind::List
                | CallKind::ChangeMode
                | CallKind::ChangeOwner
                | CallKind::ChangeTimes
                | CallKind::Attribute
        );
        on_either || self.is_by_name()
    }

    /// Whether it is about processes and not about files.
    pub const fn is_of_processes(self) -> bool {
        matches!(self, CallKind::Fork | CallKind::Execute | CallKind::Wait)
    }
}

macro_rules! open_flags {
    ($($(#[$about:meta])* $name:ident $bit:literal,)*) => {
        /// How a file was opened: bits of our own, the same on every architecture.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct OpenFlags(pub u32);

        impl OpenFlags {
            $($(#[$about])* pub const $name: OpenFlags = OpenFlags($bit);)*

            /// Words of open(2) with their flags.
            pub const WORDS: &'static [(&'static str, OpenFlags)] =
                &[$((concat!("O_", stringify!($name)), OpenFlags::$name),)*];
        }
    };
}

open_flags! {
    /// It is written to and not read.
    WRONLY 1,
    /// It is read and written to.
    RDWR 2,
    /// It is made where it is not there.
    CREAT 4,
    /// Something there is an error.
    EXCL 8,
    /// It is emptied.
    TRUNC 16,
    /// Writes go to its end.
    APPEND 32,
    /// Past the page cache.
    DIRECT 64,
    /// Each write is durable before it comes back.
    SYNC 128,
    /// The same, but for times.
    DSYNC 256,
    /// Anything but a directory is an error.
    DIRECTORY 512,
    /// It is named and not opened.
    PATH 1024,
    /// A link is an error.
    NOFOLLOW 2048,
    /// It closes where another program begins.
    CLOEXEC 4096,
    /// A file without a name.
    TMPFILE 8192,
    /// Reading leaves its time as it is.
    NOATIME 16384,
}

impl OpenFlags {
    /// Writes that are durable when they come back.
    pub const SYNCHRONOUS: OpenFlags = OpenFlags::SYNC.with(OpenFlags::DSYNC);

    /// All of these and those.
    pub const fn with(self, more: OpenFlags) -> OpenFlags {
        OpenFlags(self.0 | more.0)
    }

    /// These without those.
    pub const fn without(self, those: OpenFlags) -> OpenFlags {
        OpenFlags(self.0 & !those.0)
    }

    /// Those of these that are among those.
    pub const fn among(self, those: OpenFlags) -> OpenFlags {
        OpenFlags(self.0 & those.0)
    }

    /// Whether it has one of these.
    pub const fn has(self, one_of: OpenFlags) -> bool {
        self.0 & one_of.0 != 0
    }

    /// Whether it can be written to.
    pub const fn writes(self) -> bool {
        self.has(OpenFlags::WRONLY.with(OpenFlags::RDWR))
    }
}

/// What a call came back with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Result {
    /// A count, or nothing of note.
    Done(u64),
    /// The number of an error.
    Failed(u32),
    /// It never came back, or the log ends before.
    Unknown,
}

/// One call. Times and offsets are explicit, so that each can be read without those before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Call {
    /// When it began, from the first call on, in nanoseconds.
    pub at_ns: u64,
    /// How long it took by the tracer's clock, the tracer's own cost included.
    pub took_ns: u64,
    /// Where in the file, in bytes.
    pub offset: u64,
    /// How many bytes were asked for.
    pub asked: u64,
    /// Bytes that were moved, or another count; below zero the error's number; or [`UNKNOWN_RESULT`].
    pub result: i64,
    /// Which thread: index of [`crate::Trace::threads`].
    pub thread: u32,
    /// Which file: index of [`crate::Trace::files`], or [`NONE`].
    pub file: u32,
    /// A second file, handle or thread, as its kind says, or [`NONE`]. Of a call whose one name was
    /// given below an open directory or the working directory, the handle of that.
    pub other: u32,
    /// Which handle: index of [`crate::Trace::handles`], or [`NONE`] for a call by name.
    pub handle: u32,
    /// As its kind says.
    pub detail: u32,
    /// What it does.
    pub kind: CallKind,
}

impl Call {
    /// What it came back with.
    pub fn outcome(&self) -> Result {
        match self.result {
            UNKNOWN_RESULT => Result::Unknown,
            result if result < 0 => Result::Failed(result.unsigned_abs() as u32),
            result => Result::Done(result as u64),
        }
    }

    /// Bytes of files that it moved.
    pub fn moved_bytes(&self) -> u64 {
        match self.outcome() {
            Result::Done(bytes) if self.kind.moves_bytes() => bytes,
            _ => 0,
        }
    }
}
