//! Mounting with the new calls (`fsopen`, Linux 5.2): the kernel says in words what it refuses,
//! option by option; and what is mounted, as the kernel tells it back.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{
    FsMountFlags, FsOpenFlags, MountAttrFlags, MoveMountFlags, UnmountFlags, fsconfig_create,
    fsconfig_set_flag, fsconfig_set_string, fsmount, fsopen, move_mount, unmount,
};

/// Why a mount failed.
#[derive(Debug, thiserror::Error)]
#[error("{step}: {error}{}", if said.is_empty() { String::new() } else { format!(" ({said})") })]
pub struct MountError {
    /// What was being done: `set the option compress=lzo`.
    pub step: String,
    /// The error of the call.
    pub error: io::Error,
    /// What the kernel says of it, often empty.
    pub said: String,
}

/// Mounts a file system at `target`. `options` are as after `mount -o`: flags that belong to the
/// mount (`noatime`, `ro`, …) and those of the file system are told apart here.
/// `source` is given as the option of that name, unless empty.
pub fn mount(
    fs_type: &str,
    source: &OsStr,
    target: &Path,
    options: &[(String, Option<String>)],
) -> Result<(), MountError> {
    let fail = |step: &str, error: rustix::io::Errno| MountError {
        step: step.to_owned(),
        error: error.into(),
        said: String::new(),
    };
    let context = fsopen(fs_type, FsOpenFlags::FSOPEN_CLOEXEC)
        .map_err(|e| fail(&format!("open the file system {fs_type}"), e))?;
    if !source.is_empty() {
        explained(&context, "set the source", fsconfig_set_string(&context, "source", source))?;
    }
    let mut attributes = MountAttrFlags::empty();
    for (key, value) in options {
        match (attribute(key), value) {
            (Some(attribute), None) => {
                attributes |= attribute;
                // Read-only is said twice: of the mount, and of the file system under it.
                if key == "ro" {
                    set_option(&context, key, None)?;
                }
            }
            _ => set_option(&context, key, value.as_deref())?,
        }
    }
    explained(&context, "make the file system", fsconfig_create(&context))?;
    let made = fsmount(&context, FsMountFlags::FSMOUNT_CLOEXEC, attributes)
        .map_err(|e| fail("make the mount", e))?;
    move_mount(&made, "", CWD, target, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)
        .map_err(|e| fail("attach the mount", e))
}

fn set_option(context: &OwnedFd, key: &str, value: Option<&str>) -> Result<(), MountError> {
    let (step, result) = match value {
        Some(value) => {
            (format!("set the option {key}={value}"), fsconfig_set_string(context, key, value))
        }
        None => (format!("set the option {key}"), fsconfig_set_flag(context, key)),
    };
    explained(context, &step, result)
}

fn explained(
    context: &OwnedFd,
    step: &str,
    result: Result<(), rustix::io::Errno>,
) -> Result<(), MountError> {
    result.map_err(|error| MountError {
        step: step.to_owned(),
        error: error.into(),
        said: messages(context),
    })
}

/// The kernel's words about this context, one message a read, each as `e text` (fs/fsopen.c).
fn messages(context: &OwnedFd) -> String {
    let mut said: Vec<String> = Vec::new();
    let mut buffer = [0_u8; 1024];
    while let Ok(length) = rustix::io::read(context, &mut buffer) {
        let text = String::from_utf8_lossy(&buffer[..length]);
        said.push(text.get(2..).unwrap_or(&text).trim().to_owned());
    }
    said.join("; ")
}

/// Flags of the mount itself (mount_setattr(2)); everything else is the file system's.
fn attribute(option: &str) -> Option<MountAttrFlags> {
    Some(match option {
        "ro" => MountAttrFlags::MOUNT_ATTR_RDONLY,
        "nosuid" => MountAttrFlags::MOUNT_ATTR_NOSUID,
        "nodev" => MountAttrFlags::MOUNT_ATTR_NODEV,
        "noexec" => MountAttrFlags::MOUNT_ATTR_NOEXEC,
        "noatime" => MountAttrFlags::MOUNT_ATTR_NOATIME,
        "strictatime" => MountAttrFlags::MOUNT_ATTR_STRICTATIME,
        "nodiratime" => MountAttrFlags::MOUNT_ATTR_NODIRATIME,
        "relatime" | "rw" | "suid" | "dev" | "exec" | "defaults" => MountAttrFlags::empty(),
        _ => return None,
    })
}

/// Unmounts what is at `target`; links are not followed. `EBUSY` while something uses it.
pub fn unmount_at(target: &Path) -> io::Result<()> {
    Ok(unmount(target, UnmountFlags::NOFOLLOW)?)
}

/// Takes the mount out of the tree at once; it ends when its last user does.
pub fn unmount_lazily(target: &Path) -> io::Result<()> {
    Ok(unmount(target, UnmountFlags::NOFOLLOW | UnmountFlags::DETACH)?)
}

/// One line of `mountinfo` (proc_pid_mountinfo(5)).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mounted {
    /// `major:minor` of the file system.
    pub device: String,
    /// Where it is mounted.
    pub target: PathBuf,
    /// Options of the mount.
    pub options: String,
    /// The file system's name for itself.
    pub fs_type: String,
    /// What is mounted.
    pub source: OsString,
    /// Options of the file system.
    pub fs_options: String,
}

/// What this *thread* sees mounted, in the order of mounting.
pub fn mounts() -> io::Result<Vec<Mounted>> {
    // /proc/self is the first thread, which may be in another namespace.
    let text = std::fs::read("/proc/thread-self/mountinfo")?;
    Ok(text.split(|byte| *byte == b'\n').filter_map(parse).collect())
}

/// The path by which the kernel knows what lies at `path`, which may go through a descriptor.
fn path_shown(path: &Path) -> io::Result<PathBuf> {
    use std::os::fd::AsRawFd;
    let flags = rustix::fs::OFlags::PATH | rustix::fs::OFlags::CLOEXEC;
    let there = rustix::fs::open(path, flags, rustix::fs::Mode::empty())?;
    std::fs::read_link(format!("/proc/self/fd/{}", there.as_raw_fd()))
}

/// What is mounted at `target`, the uppermost where several are.
pub fn mounted_at(target: &Path) -> io::Result<Option<Mounted>> {
    let target = path_shown(target).unwrap_or_else(|_| target.to_owned());
    Ok(mounts()?.into_iter().rev().find(|mounted| mounted.target == target))
}

fn parse(line: &[u8]) -> Option<Mounted> {
    let fields: Vec<&[u8]> = line.split(|byte| *byte == b' ').collect();
    let dash = fields.iter().skip(6).position(|field| *field == b"-")? + 6;
    let text = |at: usize| fields.get(at).map(|field| String::from_utf8_lossy(field).into_owned());
    Some(Mounted {
        device: text(2)?,
        target: PathBuf::from(unescape(fields.get(4)?)),
        options: text(5)?,
        fs_type: text(dash + 1)?,
        source: unescape(fields.get(dash + 2)?),
        fs_options: text(dash + 3).unwrap_or_default(),
    })
}

/// Space, tab, newline and backslash are written as `\040` and so on.
fn unescape(field: &[u8]) -> OsString {
    let mut out = Vec::with_capacity(field.len());
    let mut at = 0;
    while at < field.len() {
        let octal = field
            .get(at..at + 4)
            .filter(|four| four[0] == b'\\')
            .and_then(|four| std::str::from_utf8(&four[1..]).ok())
            .and_then(|digits| u8::from_str_radix(digits, 8).ok());
        out.push(octal.unwrap_or(field[at]));
        at += if octal.is_some() { 4 } else { 1 };
    }
    OsString::from_vec(out)
}

/// A path as one of this process's descriptors: short, and free of characters that options of a
/// mount give a meaning to.
pub fn descriptor_path(fd: &OwnedFd) -> String {
    use std::os::fd::AsRawFd;
    format!("/proc/thread-self/fd/{}", fd.as_raw_fd())
}

/// Whether the kernel knows a file system by this name now, without loading a module.
pub fn kernel_knows(fs_type: &str) -> bool {
    let text = std::fs::read("/proc/filesystems").unwrap_or_default();
    text.split(|byte| *byte == b'\n').any(|line| {
        line.split(|byte| *byte == b'\t').next_back() == Some(OsStr::new(fs_type).as_bytes())
    })
}

/// Whether the kernel has a file system, loading its module if it can (`fsopen` asks for it).
/// `ENODEV` where there is none, `EPERM` where this process may not mount.
pub fn has_file_system(fs_type: &str) -> io::Result<()> {
    if kernel_knows(fs_type) {
        return Ok(());
    }
    fsopen(fs_type, FsOpenFlags::FSOPEN_CLOEXEC).map(|_| ()).map_err(io::Error::from)
}

#[cfg(test)]
mod tests {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::path::Path;

    use proptest::prelude::*;

    use super::{mounted_at, parse};

    #[test]
    fn a_line_is_read_with_its_odd_characters() {
        let line = b"36 35 98:0 /mnt1 /mnt\\040a\\012\xff rw,noatime master:1 - ext3 /dev/ro\\134ot rw,errors=continue";
        let mounted = parse(line).unwrap();
        assert_eq!(mounted.target, Path::new(OsStr::from_bytes(b"/mnt a\n\xff")));
        assert_eq!((mounted.device.as_str(), mounted.fs_type.as_str()), ("98:0", "ext3"));
        assert_eq!(mounted.source, OsStr::new("/dev/ro\\ot"));
        assert_eq!(mounted.fs_options, "rw,errors=continue");
    }

    #[test]
    fn the_root_is_mounted() {
        assert!(mounted_at(Path::new("/")).unwrap().is_some());
        assert_eq!(mounted_at(Path::new("/no/such")).unwrap(), None);
    }

    proptest! {
        #[test]
        fn odd_lines_never_panic(line in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&line);
        }
    }
}
