//! Looking into a directory through its descriptor: never by a link, never across a mount.

use std::ffi::{CStr, CString};
use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use rustix::fs::{
    AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, fstat, openat, openat2, statat,
};
use rustix::io::Errno;

/// Levels below a directory whose space is counted; a descriptor each.
const MOST_LEVELS: u32 = 32;

/// Opens a directory that lies directly in another one. A link is refused, and so is what is
/// mounted there, a directory of the same file system, too.
///
/// # Errors
/// `ELOOP` or `ENOTDIR` for a link; in words for a mount.
pub fn open_directory(parent: impl AsFd, name: &CStr) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_XDEV;
    loop {
        match openat2(&parent, name, flags, Mode::empty(), within) {
            // Something was renamed meanwhile (openat2(2)).
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(Errno::XDEV) => return Err(mounted_there(name)),
            // Before Linux 5.6, or a filter of a container that does not know the call.
            Err(Errno::NOSYS | Errno::PERM) => return open_without(parent.as_fd(), name, flags),
            other => return Ok(other?),
        }
    }
}

/// The same without `openat2`: what was opened is on the mount of its parent.
fn open_without(parent: BorrowedFd<'_>, name: &CStr, flags: OFlags) -> io::Result<OwnedFd> {
    let directory = openat(parent, name, flags, Mode::empty())?;
    match mount_number(parent)? == mount_number(directory.as_fd())? {
        true => Ok(directory),
        false => Err(mounted_there(name)),
    }
}

fn mounted_there(name: &CStr) -> io::Error {
    let name = name.to_string_lossy();
    io::Error::other(format!("something is mounted at {name:?}: unmount it first"))
}

/// `mnt_id` of /proc/PID/fdinfo/FD (Linux 3.15): a bind mount has one of its own.
fn mount_number(fd: BorrowedFd<'_>) -> io::Result<u64> {
    let text = std::fs::read_to_string(format!("/proc/self/fdinfo/{}", fd.as_raw_fd()))?;
    let number = text.lines().find_map(|line| line.strip_prefix("mnt_id:")?.trim().parse().ok());
    number.ok_or_else(|| io::Error::other("the kernel tells no mount of a descriptor"))
}

/// What stays the same of a directory under whatever name it has.
pub fn identity(directory: impl AsFd) -> io::Result<(u64, u64)> {
    let about = fstat(directory)?;
    Ok((about.st_dev, about.st_ino))
}

/// Bytes that the files below a directory take, and nothing of other file systems. What lies very
/// deep is not counted.
pub fn disk_bytes(directory: impl AsFd) -> io::Result<u64> {
    bytes_below(directory.as_fd(), MOST_LEVELS)
}

fn bytes_below(directory: BorrowedFd<'_>, levels: u32) -> io::Result<u64> {
    let mut bytes = 0_u64;
    for name in names(directory)? {
        let Ok(about) = statat(directory, &*name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
        bytes = bytes.saturating_add(about.st_blocks as u64 * 512);
        if FileType::from_raw_mode(about.st_mode) == FileType::Directory && levels > 0 {
            let inner = open_directory(directory, &name);
            let inner = inner.and_then(|inner| bytes_below(inner.as_fd(), levels - 1));
            bytes = bytes.saturating_add(inner.unwrap_or(0));
        }
    }
    Ok(bytes)
}

/// The names in a directory, without itself and its parent.
pub fn names(directory: impl AsFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    for entry in Dir::read_from(directory)? {
        let entry = entry?;
        if entry.file_name() != c"." && entry.file_name() != c".." {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::fd::AsFd;

    use rustix::fs::OFlags;

    use super::{open_directory, open_without};
    use crate::sys::testing::{among_mounts, forbid};

    /// A bind mount shows the device of the file system it is on: comparing devices once let it pass.
    #[test]
    fn neither_a_link_nor_a_bind_mount_is_opened() {
        let test = "sys::below::tests::neither_a_link_nor_a_bind_mount_is_opened";
        let script =
            "mkdir in out in/bound in/own; ln -s ../out in/link; mount --bind out in/bound";
        let Some(dir) = among_mounts(test, script) else { return };
        let parent = fs::File::open(dir.join("in")).unwrap();
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let fallback = |name| open_without(parent.as_fd(), name, flags);
        for open in [&|name| open_directory(&parent, name), &fallback as &dyn Fn(_) -> _] {
            open(c"own").unwrap();
            open(c"link").unwrap_err();
            assert!(open(c"bound").unwrap_err().to_string().contains("unmount"));
        }
        open_directory(&parent, c"../out").unwrap_err();
        // A container's filter that does not know the call answers with EPERM.
        for errno in [libc::EPERM, libc::ENOSYS] {
            assert!(forbid(libc::SYS_openat2, errno));
            open_directory(&parent, c"own").unwrap();
            assert!(open_directory(&parent, c"bound").unwrap_err().to_string().contains("mounted"));
        }
    }
}
