//! Taking a directory away without ever leaving it: by descriptors, never following a link, never
//! crossing into another file system.

use std::ffi::CStr;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, chmodat, fstat, openat, statat, unlinkat};
use rustix::io::Errno;

/// Opens a directory below another one; a link is refused.
pub fn open_directory(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Removes everything in `directory`; the entry named `last` goes last, so that what marks the
/// directory is there until nothing else is.
pub fn remove_contents(directory: BorrowedFd<'_>, last: Option<&CStr>) -> io::Result<()> {
    let device = fstat(directory)?.st_dev;
    let keeps = |name: &CStr| last == Some(name);
    for name in names(directory)? {
        if !keeps(&name) {
            remove_entry(directory, &name, device)?;
        }
    }
    match last {
        Some(name) => absent_is_fine(unlinkat(directory, name, AtFlags::empty())),
        None => Ok(()),
    }
}

fn remove_entry(parent: BorrowedFd<'_>, name: &CStr, device: u64) -> io::Result<()> {
    let about = match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => return Ok(()),
        other => other?,
    };
    if FileType::from_raw_mode(about.st_mode) != FileType::Directory {
        return absent_is_fine(unlinkat(parent, name, AtFlags::empty()));
    }
    if about.st_dev != device {
        let name = name.to_string_lossy();
        return Err(io::Error::other(format!("{name:?} is another file system: unmount it first")));
    }
    let inner = open_directory(parent, name).or_else(|error| {
        // A directory that its owner may not read: the tests of permissions leave such.
        chmodat(parent, name, Mode::RWXU, AtFlags::empty()).map_err(|_| error)?;
        open_directory(parent, name)
    })?;
    remove_contents(inner.as_fd(), None)?;
    absent_is_fine(unlinkat(parent, name, AtFlags::REMOVEDIR))
}

/// Bytes that the files below a directory take, and nothing of other file systems.
pub fn disk_bytes(directory: BorrowedFd<'_>) -> io::Result<u64> {
    let device = fstat(directory)?.st_dev;
    let mut bytes = 0_u64;
    for name in names(directory)? {
        let Ok(about) = statat(directory, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        bytes = bytes.saturating_add(about.st_blocks as u64 * 512);
        let is_directory = FileType::from_raw_mode(about.st_mode) == FileType::Directory;
        if is_directory && about.st_dev == device {
            let inner = open_directory(directory, &name).and_then(|fd| disk_bytes(fd.as_fd()));
            bytes = bytes.saturating_add(inner.unwrap_or(0));
        }
    }
    Ok(bytes)
}

/// The names in a directory, without itself and its parent.
pub fn names(directory: BorrowedFd<'_>) -> io::Result<Vec<std::ffi::CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

fn absent_is_fine(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}
