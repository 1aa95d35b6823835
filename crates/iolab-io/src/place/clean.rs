//! Finding what a killed run has left behind, and removing it.

use std::ffi::{CStr, CString, OsStr};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, Stat, Timespec, Timestamps, UTIME_NOW, UTIME_OMIT, fstat, futimens,
    openat, unlinkat,
};
use rustix::process::geteuid;

use super::fault;
use super::marker::{self, Marker};
use super::scratch::PREFIX;
use crate::sys::below::{disk_bytes, identity, names, open_directory};
use crate::sys::remove::{Whose, remove_contents};
use iolab_model::result::Fault;

/// Between making a directory and marking it lie microseconds; an unmarked one that is older was
/// left by a kill in between.
const UNMARKED_AGE: Duration = Duration::from_secs(60);

/// Who a found directory belongs to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Owner {
    /// Its process has ended: it may go.
    Gone,
    /// It is in use, or may be; left alone for the reason given.
    Alive(String),
}

/// A scratch directory that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    /// Where.
    pub path: PathBuf,
    /// Whose.
    pub owner: Owner,
    /// Space it takes or took.
    pub bytes: u64,
    /// Whether it was removed.
    pub removed: bool,
    /// Why it could not be, where it should have been.
    pub failed: Option<String>,
}

/// Removes every abandoned scratch directory directly in `directory`.
pub fn sweep(directory: &Path) -> Result<Vec<Found>, Fault> {
    clean(directory, false)
}

/// Finds scratch directories directly in `directory` by name and marker, and removes those whose
/// owner has ended, unless `dry_run`. What carries no marker of iolab's is never touched, nor is
/// another user's: each cleans their own.
pub fn clean(directory: &Path, dry_run: bool) -> Result<Vec<Found>, Fault> {
    let refuse = |error: io::Error| {
        let doing = format!("look for leftovers in {}", directory.display());
        fault(doing, &error, "name a directory that exists and that you may read")
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let parent = openat(CWD, directory, flags, Mode::empty()).map_err(|e| refuse(e.into()))?;
    let mut found = Vec::new();
    for name in names(&parent).map_err(refuse)? {
        if is_scratch_name(name.to_bytes())
            && let Ok(inner) = open_directory(&parent, &name)
        {
            let path = directory.join(OsStr::from_bytes(name.to_bytes()));
            found.extend(judge(&parent, &name, &inner, path, dry_run));
        }
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    Ok(found)
}

fn is_scratch_name(name: &[u8]) -> bool {
    name.strip_prefix(PREFIX.as_bytes()).is_some_and(|random| {
        random.len() == 16 && random.iter().all(|b| b.is_ascii_digit() || (b'a'..=b'f').contains(b))
    })
}

fn judge(
    parent: &OwnedFd,
    name: &CStr,
    inner: &OwnedFd,
    path: PathBuf,
    dry_run: bool,
) -> Option<Found> {
    let about = fstat(inner).ok()?;
    // The lock on the marker is held until the directory is gone: of two sweeps one wins.
    let (owner, _lock) = match Marker::read(inner) {
        Ok((marker, file)) => (whose(&marker, &file, &about), Some(file)),
        Err(_) if is_unfinished(inner, &about, dry_run) => (Owner::Gone, None),
        Err(_) => return None,
    };
    let bytes = disk_bytes(inner).unwrap_or(0);
    let mut found = Found { path, owner, bytes, removed: false, failed: None };
    if found.owner == Owner::Gone && !dry_run {
        match take_away(parent, name, inner, &about) {
            Ok(()) => found.removed = true,
            Err(error) => found.failed = Some(error.to_string()),
        }
    }
    Some(found)
}

/// Root may remove everything, and is not to be led to somebody else's files by a marker that
/// somebody else has written.
fn whose(marker: &Marker, file: &std::fs::File, about: &Stat) -> Owner {
    if marker.tool != "iolab" || about.st_uid != marker.uid {
        return Owner::Alive("its marker does not fit its owner".into());
    }
    if about.st_uid != geteuid().as_raw() {
        return Owner::Alive(format!("it belongs to user {}, who may clean it", about.st_uid));
    }
    marker.is_abandoned(file).map_or_else(Owner::Alive, |()| Owner::Gone)
}

/// A directory of this user's that was left before its marker was whole, long enough ago: empty, or
/// with a torn marker.
fn is_unfinished(inner: &OwnedFd, about: &Stat, dry_run: bool) -> bool {
    let own = about.st_uid == geteuid().as_raw();
    let bare = || names(inner).is_ok_and(|names| names.is_empty()) || marker::is_torn(inner);
    let age = || {
        let now = if dry_run { this_clock_s() } else { touched_s(inner).ok() };
        u64::try_from(now?.checked_sub(about.st_mtime)?).ok().map(Duration::from_secs)
    };
    own && bare() && age().is_some_and(|age| age > UNMARKED_AGE)
}

/// What this machine's clock says: where nothing may be changed it must do.
fn this_clock_s() -> Option<i64> {
    i64::try_from(SystemTime::now().duration_since(UNIX_EPOCH).ok()?.as_secs()).ok()
}

/// What the clock says that the times of a directory of ours come from: that of its file system, which on a
/// network is a server's and may be an hour from this machine's, so that what another machine had made a
/// moment ago was old. Its last access is now, and nothing else of it changes; nothing is made beside it,
/// for whose directory that is may have changed.
fn touched_s(inner: &OwnedFd) -> io::Result<i64> {
    let (now, as_it_is) =
        (Timespec { tv_sec: 0, tv_nsec: UTIME_NOW }, Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT });
    futimens(inner, &Timestamps { last_access: now, last_modification: as_it_is })?;
    Ok(fstat(inner)?.st_ctime)
}

fn take_away(parent: &OwnedFd, name: &CStr, inner: &OwnedFd, about: &Stat) -> io::Result<()> {
    let closed = about.st_mode & 0o077 == 0;
    let whose = if closed { Whose::Anyones } else { Whose::Own(about.st_uid) };
    let last = CString::new(marker::NAME)?;
    remove_contents(inner, Some(&last), whose)?;
    if identity(open_directory(parent, name)?)? != (about.st_dev, about.st_ino) {
        return Err(io::Error::other("another directory stands under its name"));
    }
    Ok(unlinkat(parent, name, AtFlags::REMOVEDIR)?)
}

#[cfg(test)]
mod tests;
