//! The one way in which iolab takes a directory away: through descriptors that were looked at, so
//! that it never leaves the directory, whatever is renamed, linked or mounted meanwhile. It takes a
//! bounded number of descriptors, however deep the directory is.

use std::ffi::{CStr, CString};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{
    AtFlags, CWD, FileType, Mode, OFlags, RawDir, SeekFrom, chmod, fstat, openat, seek, statat,
    unlinkat,
};
use rustix::io::Errno;

use super::below::{identity, open_directory};

/// So many directories of a path are held open at most; the way back to the others is `..`, and
/// what is found there is looked at.
const MOST_HELD: usize = 16;
/// A directory is read again while something new appears in it, at most so often.
const MOST_PASSES: u32 = 16;
const BUFFER_BYTES: usize = 32 << 10;

/// Whose files may go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whose {
    /// All that is in the directory: nobody else can enter it.
    Anyones,
    /// This user's alone: others may have laid something there.
    Own(u32),
}

/// Removes what is at a path with all that is in it. A link goes, and not what it shows.
///
/// # Errors
/// The first thing that cannot be removed; `ENOENT` where nothing is there.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    let (parent, name) = path.parent().zip(path.file_name()).ok_or(io::ErrorKind::InvalidInput)?;
    let parent = if parent.as_os_str().is_empty() { Path::new(".") } else { parent };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat(CWD, parent, flags, Mode::empty())?;
    remove_entry(&parent, &CString::new(name.as_bytes())?)
}

/// The same for what lies directly in an open directory.
///
/// # Errors
/// As [`remove_tree`].
pub fn remove_entry(parent: impl AsFd, name: &CStr) -> io::Result<()> {
    match unlinkat(&parent, name, AtFlags::empty()) {
        Err(Errno::ISDIR) => {}
        other => return Ok(other?),
    }
    remove_contents(&enter(parent.as_fd(), name, Whose::Anyones)?, None, Whose::Anyones)?;
    Ok(unlinkat(&parent, name, AtFlags::REMOVEDIR)?)
}

/// Removes everything in `directory`; the entry named `last` goes last, so that what marks the
/// directory is there until nothing else is.
///
/// # Errors
/// The first thing that cannot be removed: somebody else's, or something mounted.
pub fn remove_contents(directory: impl AsFd, last: Option<&CStr>, whose: Whose) -> io::Result<()> {
    let mut removal = Removal {
        way: vec![Level::new(directory.as_fd().try_clone_to_owned()?)?],
        buffer: vec![MaybeUninit::uninit(); BUFFER_BYTES],
        last,
        whose,
    };
    while !removal.step()? {}
    match last {
        Some(name) => absent_is_fine(unlinkat(directory, name, AtFlags::empty())),
        None => Ok(()),
    }
}

/// A directory on the way down.
struct Level {
    identity: (u64, u64),
    held: Option<OwnedFd>,
    /// Directories in it that are not empty, by name. The one that is being emptied is the last.
    inner: Vec<CString>,
    passes: u32,
}

impl Level {
    fn new(directory: OwnedFd) -> io::Result<Level> {
        let identity = identity(&directory)?;
        Ok(Level { identity, held: Some(directory), inner: Vec::new(), passes: 0 })
    }
}

struct Removal<'a> {
    way: Vec<Level>,
    buffer: Vec<MaybeUninit<u8>>,
    last: Option<&'a CStr>,
    whose: Whose,
}

impl Removal<'_> {
    /// Goes one directory down or up; true when all is done.
    fn step(&mut self) -> io::Result<bool> {
        let depth = self.way.len();
        let Some(level) = self.way.last_mut() else { return Ok(true) };
        if let (Some(name), Some(held)) = (level.inner.last(), &level.held) {
            let inner = match enter(held.as_fd(), name, self.whose) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {
                    level.inner.pop();
                    return Ok(false);
                }
                other => other?,
            };
            if depth > MOST_HELD {
                level.held = None;
            }
            self.way.push(Level::new(inner)?);
            return Ok(false);
        }
        level.passes += 1;
        let keep = self.last.filter(|_| depth == 1);
        if empty(level, &mut self.buffer, keep, self.whose)? > 0 {
            let again = level.passes < MOST_PASSES;
            return if again { Ok(false) } else { Err(Errno::NOTEMPTY.into()) };
        }
        self.go_up()
    }

    /// Back from a directory that is empty.
    fn go_up(&mut self) -> io::Result<bool> {
        let Some(Level { held: Some(emptied), .. }) = self.way.pop() else { return Ok(true) };
        let Some(parent) = self.way.last_mut() else { return Ok(true) };
        let held = match parent.held.take() {
            Some(held) => held,
            None => back(&emptied, parent.identity)?,
        };
        if let Some(name) = parent.inner.pop() {
            match unlinkat(&held, &*name, AtFlags::REMOVEDIR) {
                // Something new in it: it is found again when this one is read again.
                Err(Errno::NOTEMPTY) => {}
                other => absent_is_fine(other)?,
            }
        }
        parent.held = Some(held);
        Ok(false)
    }
}

/// The directory above, if it is still the one that we came from.
fn back(from: &OwnedFd, expected: (u64, u64)) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let above = openat(from, c"..", flags, Mode::empty())?;
    match identity(&above)? == expected {
        true => Ok(above),
        false => Err(io::Error::other("a directory was moved away while it was being removed")),
    }
}

/// Reads a directory, removes its files and empty directories, and notes the others; how many
/// entries it met.
fn empty(
    level: &mut Level,
    buffer: &mut [MaybeUninit<u8>],
    keep: Option<&CStr>,
    whose: Whose,
) -> io::Result<usize> {
    let Some(directory) = &level.held else { return Ok(0) };
    seek(directory, SeekFrom::Start(0))?;
    let mut met = 0;
    let mut entries = RawDir::new(directory, buffer);
    while let Some(entry) = entries.next() {
        let entry = entry?;
        let name = entry.file_name();
        if name == c"." || name == c".." || keep == Some(name) {
            continue;
        }
        met += 1;
        may_go(directory.as_fd(), name, whose)?;
        // Its type may not be known, or another one has taken its name since.
        let first = match entry.file_type() {
            FileType::Directory => Err(Errno::ISDIR),
            _ => unlinkat(directory, name, AtFlags::empty()),
        };
        let Err(Errno::ISDIR) = first else {
            absent_is_fine(first)?;
            continue;
        };
        match unlinkat(directory, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::NOTEMPTY | Errno::EXIST | Errno::BUSY) => level.inner.push(name.to_owned()),
            // A file has taken its place: it is met again.
            Err(Errno::NOTDIR) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(met)
}

/// Opens a directory that is to be emptied. Its owner may have taken all rights from it: they are
/// given back through the descriptor, which no link can turn elsewhere.
fn enter(parent: BorrowedFd<'_>, name: &CStr, whose: Whose) -> io::Result<OwnedFd> {
    may_go(parent, name, whose)?;
    let inner = open_directory(parent, name).or_else(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let seen = openat(parent, name, flags, Mode::empty())?;
        open_up(&seen).map_err(|_| error)?;
        open_directory(parent, name)
    })?;
    let about = fstat(&inner)?;
    owned_by(about.st_uid, name, whose)?;
    if about.st_mode & 0o700 != 0o700 {
        // Where it is not ours the removal says why it fails.
        let _ = open_up(&inner);
    }
    Ok(inner)
}

fn open_up(directory: &OwnedFd) -> io::Result<()> {
    // fchmod takes no descriptor of O_PATH; the entry of /proc is the file itself.
    Ok(chmod(format!("/proc/self/fd/{}", directory.as_raw_fd()), Mode::RWXU)?)
}

fn may_go(parent: BorrowedFd<'_>, name: &CStr, whose: Whose) -> io::Result<()> {
    if whose == Whose::Anyones {
        return Ok(());
    }
    match statat(parent, name, AtFlags::SYMLINK_NOFOLLOW) {
        Err(Errno::NOENT) => Ok(()),
        about => owned_by(about?.st_uid, name, whose),
    }
}

fn owned_by(owner: u32, name: &CStr, whose: Whose) -> io::Result<()> {
    match whose {
        Whose::Own(user) if user != owner => {
            let name = name.to_string_lossy();
            Err(io::Error::other(format!("{name:?} in it belongs to user {owner}: left alone")))
        }
        _ => Ok(()),
    }
}

fn absent_is_fine(result: Result<(), Errno>) -> io::Result<()> {
    match result {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

#[cfg(test)]
mod tests;
