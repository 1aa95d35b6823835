//! The system calls that are recorded, and how each one's words are read.

use crate::call::CallKind;

/// Where the count that a call asks for stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    Nothing,
    /// The argument of this index.
    Argument(usize),
    /// The buffers of this argument, whose number stands in the next.
    Vector(usize),
}

/// What is known of a call on one descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OneHandle {
    pub kind: CallKind,
    pub asked: Asked,
    /// The argument that says where; else it is where the handle stands.
    pub offset: Option<usize>,
}

/// How the words of a call are read. Numbers are indices of arguments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// A directory's descriptor, a name, flags (`None`: creat).
    Open {
        at: Option<usize>,
        path: usize,
        flags: Option<usize>,
    },
    Close,
    CloseRange,
    /// The descriptor that came back is one more of the first.
    Duplicate,
    /// fcntl: F_DUPFD, F_SETFD, and others that change nothing.
    Control,
    /// flock.
    Lock,
    /// fstatfs.
    FileSystem,
    /// statfs.
    FileSystemOf,
    /// getxattr, of a name or a descriptor.
    AskForAttribute {
        of_handle: bool,
    },
    /// ioctl: FICLONE, and others that change nothing.
    Device,
    /// Bytes moved at an offset of its own (`Some`) or the handle's.
    Transfer(OneHandle),
    Seek,
    Map,
    /// On a range of memory.
    OnMap {
        kind: CallKind,
    },
    /// On a descriptor.
    OnHandle(OneHandle),
    /// On a name.
    OnPath {
        kind: CallKind,
        at: Option<usize>,
        path: usize,
    },
    /// stat by a name, or of a descriptor where the name is empty; the structure stands at `result`.
    StatAt {
        at: Option<usize>,
        path: usize,
        result: usize,
    },
    /// fstat.
    StatHandle,
    /// On two names.
    TwoPaths {
        kind: CallKind,
        first: (Option<usize>, usize),
        second: (Option<usize>, usize),
    },
    /// Between two descriptors.
    Between {
        kind: CallKind,
        from: usize,
        to: usize,
        offset: Option<usize>,
        asked: usize,
    },
    List,
    /// unlinkat: AT_REMOVEDIR makes it rmdir.
    UnlinkAt,
    SyncAll,
    Fork,
    Execute {
        path: usize,
    },
    Wait,
    Ring,
    ChangeDirectory,
    ChangeDirectoryTo,
}

impl OneHandle {
    /// A call that asks for no bytes and says no place.
    pub const fn plain(kind: CallKind) -> OneHandle {
        OneHandle { kind, asked: Asked::Nothing, offset: None }
    }
}

const fn on_path(kind: CallKind) -> Shape {
    Shape::OnPath { kind, at: None, path: 0 }
}

const fn at_path(kind: CallKind) -> Shape {
    Shape::OnPath { kind, at: Some(0), path: 1 }
}

const fn on_handle(kind: CallKind) -> Shape {
    Shape::OnHandle(OneHandle::plain(kind))
}

const fn moves(kind: CallKind, asked: Asked, offset: Option<usize>) -> Shape {
    Shape::Transfer(OneHandle { kind, asked, offset })
}

const fn between(kind: CallKind, from: usize, to: usize, offset: usize, asked: usize) -> Shape {
    Shape::Between { kind, from, to, offset: Some(offset), asked }
}

const BYTES: Asked = Asked::Argument(2);
const VECTOR: Asked = Asked::Vector(1);

/// What strace is asked to trace: a name that an architecture lacks is passed over (`?`).
pub const CALLS: &[&str] = &{
    let mut names = [""; KNOWN.len()];
    let mut at = 0;
    while at < KNOWN.len() {
        names[at] = KNOWN[at].0;
        at += 1;
    }
    names
};

/// How this call is read; nothing for one that is not about files.
pub(super) fn shape(name: &[u8]) -> Option<Shape> {
    KNOWN.iter().find(|(known, _)| known.as_bytes() == name).map(|(_, shape)| *shape)
}

/// Those that programs make most stand first.
const KNOWN: &[(&str, Shape)] = &{
    use CallKind as K;
    [
        ("read", moves(K::Read, BYTES, None)),
        ("write", moves(K::Write, BYTES, None)),
        ("pread64", moves(K::ReadAt, BYTES, Some(3))),
        ("pwrite64", moves(K::WriteAt, BYTES, Some(3))),
        ("openat", Shape::Open { at: Some(0), path: 1, flags: Some(2) }),
        ("close", Shape::Close),
        ("newfstatat", Shape::StatAt { at: Some(0), path: 1, result: 2 }),
        ("fstat", Shape::StatHandle),
        ("lseek", Shape::Seek),
        ("mmap", Shape::Map),
        ("stat", Shape::StatAt { at: None, path: 0, result: 1 }),
        ("lstat", Shape::StatAt { at: None, path: 0, result: 1 }),
        ("statx", Shape::StatAt { at: Some(0), path: 1, result: 4 }),
        ("access", on_path(K::Stat)),
        ("faccessat", at_path(K::Stat)),
        ("faccessat2", at_path(K::Stat)),
        ("readlink", on_path(K::ReadLink)),
        ("readlinkat", at_path(K::ReadLink)),
        ("getdents64", Shape::List),
        ("getdents", Shape::List),
        ("readv", moves(K::Read, VECTOR, None)),
        ("writev", moves(K::Write, VECTOR, None)),
        ("pread", moves(K::ReadAt, BYTES, Some(3))),
        ("pwrite", moves(K::WriteAt, BYTES, Some(3))),
        ("preadv", moves(K::ReadAt, VECTOR, Some(3))),
        ("pwritev", moves(K::WriteAt, VECTOR, Some(3))),
        ("preadv2", moves(K::ReadAt, VECTOR, Some(3))),
        ("pwritev2", moves(K::WriteAt, VECTOR, Some(3))),
        ("open", Shape::Open { at: None, path: 0, flags: Some(1) }),
        ("openat2", Shape::Open { at: Some(0), path: 1, flags: Some(2) }),
        ("creat", Shape::Open { at: None, path: 0, flags: None }),
        ("close_range", Shape::CloseRange),
        ("dup", Shape::Duplicate),
        ("dup2", Shape::Duplicate),
        ("dup3", Shape::Duplicate),
        ("fcntl", Shape::Control),
        ("fcntl64", Shape::Control),
        ("ioctl", Shape::Device),
        ("fstat64", Shape::StatHandle),
        ("stat64", Shape::StatAt { at: None, path: 0, result: 1 }),
        ("lstat64", Shape::StatAt { at: None, path: 0, result: 1 }),
        ("fstatat64", Shape::StatAt { at: Some(0), path: 1, result: 2 }),
        ("mmap2", Shape::Map),
        ("_llseek", Shape::Seek),
        ("madvise", Shape::OnMap { kind: K::MapAdvise }),
        ("msync", Shape::OnMap { kind: K::MapSync }),
        (
            "fadvise64",
            Shape::OnHandle(OneHandle {
                kind: K::Advise,
                asked: Asked::Argument(2),
                offset: Some(1),
            }),
        ),
        (
            "readahead",
            Shape::OnHandle(OneHandle {
                kind: K::Advise,
                asked: Asked::Argument(2),
                offset: Some(1),
            }),
        ),
        ("fsync", on_handle(K::Sync)),
        ("fdatasync", on_handle(K::DataSync)),
        (
            "sync_file_range",
            Shape::OnHandle(OneHandle {
                kind: K::RangeSync,
                asked: Asked::Argument(2),
                offset: Some(1),
            }),
        ),
        ("sync", Shape::SyncAll),
        ("syncfs", on_handle(K::SyncAll)),
        (
            "ftruncate",
            Shape::OnHandle(OneHandle {
                kind: K::Truncate,
                asked: Asked::Argument(1),
                offset: None,
            }),
        ),
        (
            "ftruncate64",
            Shape::OnHandle(OneHandle {
                kind: K::Truncate,
                asked: Asked::Argument(1),
                offset: None,
            }),
        ),
        ("truncate", on_path(K::Truncate)),
        (
            "fallocate",
            Shape::OnHandle(OneHandle {
                kind: K::Allocate,
                asked: Asked::Argument(3),
                offset: Some(2),
            }),
        ),
        ("rename", Shape::TwoPaths { kind: K::Rename, first: (None, 0), second: (None, 1) }),
        (
            "renameat",
            Shape::TwoPaths { kind: K::Rename, first: (Some(0), 1), second: (Some(2), 3) },
        ),
        (
            "renameat2",
            Shape::TwoPaths { kind: K::Rename, first: (Some(0), 1), second: (Some(2), 3) },
        ),
        ("unlink", on_path(K::Unlink)),
        ("unlinkat", Shape::UnlinkAt),
        ("mkdir", on_path(K::MakeDirectory)),
        ("mkdirat", at_path(K::MakeDirectory)),
        ("rmdir", on_path(K::RemoveDirectory)),
        ("link", Shape::TwoPaths { kind: K::Link, first: (None, 0), second: (None, 1) }),
        ("linkat", Shape::TwoPaths { kind: K::Link, first: (Some(0), 1), second: (Some(2), 3) }),
        ("symlink", Shape::OnPath { kind: K::Symlink, at: None, path: 1 }),
        ("symlinkat", Shape::OnPath { kind: K::Symlink, at: Some(1), path: 2 }),
        ("chmod", on_path(K::ChangeMode)),
        ("fchmodat", at_path(K::ChangeMode)),
        ("fchmod", on_handle(K::ChangeMode)),
        ("chown", on_path(K::ChangeOwner)),
        ("lchown", on_path(K::ChangeOwner)),
        ("fchownat", at_path(K::ChangeOwner)),
        ("fchown", on_handle(K::ChangeOwner)),
        ("utime", on_path(K::ChangeTimes)),
        ("utimes", on_path(K::ChangeTimes)),
        ("utimensat", at_path(K::ChangeTimes)),
        ("futimesat", at_path(K::ChangeTimes)),
        ("getxattr", Shape::AskForAttribute { of_handle: false }),
        ("lgetxattr", Shape::AskForAttribute { of_handle: false }),
        ("listxattr", on_path(K::Attribute)),
        ("llistxattr", on_path(K::Attribute)),
        ("setxattr", on_path(K::Attribute)),
        ("lsetxattr", on_path(K::Attribute)),
        ("fgetxattr", Shape::AskForAttribute { of_handle: true }),
        ("flistxattr", on_handle(K::Attribute)),
        ("fsetxattr", on_handle(K::Attribute)),
        ("copy_file_range", between(K::CopyRange, 0, 2, 1, 4)),
        ("sendfile", between(K::SendFile, 1, 0, 2, 3)),
        ("sendfile64", between(K::SendFile, 1, 0, 2, 3)),
        ("splice", between(K::Splice, 0, 2, 1, 4)),
        ("io_uring_enter", Shape::Ring),
        ("statfs", Shape::FileSystemOf),
        ("statfs64", Shape::FileSystemOf),
        ("fstatfs", Shape::FileSystem),
        ("fstatfs64", Shape::FileSystem),
        ("flock", Shape::Lock),
        ("chdir", Shape::ChangeDirectory),
        ("fchdir", Shape::ChangeDirectoryTo),
        ("clone", Shape::Fork),
        ("clone3", Shape::Fork),
        ("fork", Shape::Fork),
        ("vfork", Shape::Fork),
        ("execve", Shape::Execute { path: 0 }),
        ("execveat", Shape::Execute { path: 1 }),
        ("wait4", Shape::Wait),
        ("waitid", Shape::Wait),
    ]
};
