//! How a file is opened for reading: through the page cache or past it, with which advice, and how
//! many requests may be under way.

use std::path::Path;

use rustix::fd::OwnedFd;
use rustix::fs::{Advice, Mode, OFlags, fadvise};
use rustix::io::Errno;

use super::stop::Stop;
use crate::sys::direct::{self, Alignment};
use iolab_model::catalog::{Atime, Readahead};

/// How the bytes of a file are brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Past the page cache (O_DIRECT).
    pub direct: bool,
    /// What the kernel is told of the order of reads.
    pub readahead: Readahead,
    /// How far into a page of memory the buffer begins, in bytes, where the method has one of its own.
    pub buffer_offset: usize,
    /// Requests under way at a time, where the method can have more than one.
    pub depth: u32,
    /// Whether reading may write the file's access time.
    pub atime: Atime,
}

impl Default for Access {
    fn default() -> Access {
        Access {
            direct: false,
            buffer_offset: 0,
            readahead: Readahead::Normal,
            depth: 1,
            atime: Atime::Left,
        }
    }
}

/// Opens a file for reading without changing its access time, where that is permitted
/// (`O_NOATIME` is the owner's, open(2)).
pub fn open_for_reading(path: &Path) -> Result<OwnedFd, Errno> {
    open(path, OFlags::empty(), Atime::Left)
}

/// What a handling of access times adds to the flags of an open.
pub fn open_flags(atime: Atime) -> OFlags {
    match atime {
        Atime::Left => OFlags::NOATIME,
        Atime::Kept => OFlags::empty(),
    }
}

fn open(path: &Path, more: OFlags, atime: Atime) -> Result<OwnedFd, Errno> {
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY | more;
    match rustix::fs::open(path, flags | open_flags(atime), Mode::empty()) {
        Err(Errno::PERM) => rustix::fs::open(path, flags, Mode::empty()),
        other => other,
    }
}

/// Opens a file as it is to be accessed; blocks of `step_bytes` must suit it.
pub fn open_with(path: &Path, access: Access, step_bytes: u64) -> Result<OwnedFd, Stop> {
    let Access { direct, readahead, atime, .. } = access;
    if direct {
        return open_direct(path, step_bytes, atime);
    }
    let file = open(path, OFlags::empty(), atime)?;
    match readahead {
        Readahead::Normal => {}
        Readahead::Sequential => fadvise(&file, 0, None, Advice::Sequential)?,
        Readahead::Random => fadvise(&file, 0, None, Advice::Random)?,
    }
    Ok(file)
}

/// Opens a file past the page cache. EINVAL: its file system has no such thing.
fn open_direct(path: &Path, step_bytes: u64, atime: Atime) -> Result<OwnedFd, Stop> {
    let refused = |errno: Errno| {
        let why = std::io::Error::from(errno);
        let cause = format!("O_DIRECT is refused: {why}; name a file on a disk");
        Stop { cause, errno: Some(errno.raw_os_error()) }
    };
    let file = open(path, OFlags::DIRECT, atime).map_err(refused)?;
    let unit = direct::alignment(path).and_then(Alignment::block_bytes).unwrap_or(1);
    if !step_bytes.is_multiple_of(unit) {
        return Err(Stop::new(unaligned(step_bytes, unit)));
    }
    Ok(file)
}

/// Why a block cannot be read directly.
fn unaligned(block_bytes: u64, unit: u64) -> String {
    format!(
        "direct I/O moves multiples of {unit} bytes here, and {block_bytes} is none; take such a \
         block"
    )
}
