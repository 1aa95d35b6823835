//! The only directory that iolab writes to: made, marked, owned by one process, and removed.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;

use super::fault;
use super::marker::{self, Marker};
use crate::sys::below::{identity, open_directory};
use crate::sys::remove::{Whose, remove_contents};
use iolab_model::result::Fault;

/// How the name of a scratch directory begins; 16 hexadecimal digits follow.
pub const PREFIX: &str = ".iolab-";

/// A scratch directory. Dropped in the process that made it, it is removed with all that is in it.
#[derive(Debug)]
pub struct Scratch {
    parent: OwnedFd,
    name: CString,
    path: PathBuf,
    directory: OwnedFd,
    /// Held open for its lock.
    marker: Option<File>,
    owner: u32,
}

impl Scratch {
    /// Makes `.iolab-<random>` (mode 0700) in `directory` with a marker in it. Refusals name the
    /// fix and carry the errno.
    pub fn make(directory: &Path) -> Result<Scratch, Fault> {
        let refuse = |error: io::Error| {
            let doing = format!("make a scratch directory in {}", directory.display());
            fault(doing, &error, remedy(&error))
        };
        let parent = open_parent(directory).map_err(refuse)?;
        // The agent may change its working directory; the path must not change with it.
        let whole = std::path::absolute(directory).map_err(refuse)?;
        let name = make_directory(&parent).map_err(refuse)?;
        let path = whole.join(name.to_string_lossy().as_ref());
        let made = open_directory(&parent, &name).inspect_err(|_| {
            let _ = unlinkat(&parent, &*name, AtFlags::REMOVEDIR);
        });
        let made = made.map_err(refuse)?;
        let mut scratch = Scratch {
            parent,
            name,
            path,
            directory: made,
            marker: None,
            owner: std::process::id(),
        };
        // Should the marker fail, dropping removes the directory.
        scratch.marker = Some(Marker::of_this_process().write(&scratch.directory).map_err(refuse)?);
        Ok(scratch)
    }

    /// Where it is, absolute.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Removes it with all that is in it, and says so if it cannot. Links are removed, never
    /// followed; where something else stands under its name, that is left alone.
    pub fn remove(mut self) -> Result<(), Fault> {
        self.take_away().map_err(|error| {
            let doing = format!("remove the scratch directory {}", self.path.display());
            fault(doing, &error, "`iolab clean` tries again")
        })
    }

    fn take_away(&mut self) -> io::Result<()> {
        // A forked trial inherits the value and must not act on it.
        if self.marker.is_none() || self.owner != std::process::id() {
            return Ok(());
        }
        let marker_name = CString::new(marker::NAME)?;
        remove_contents(&self.directory, Some(&marker_name), Whose::Anyones)?;
        self.marker = None;
        let there = match open_directory(&self.parent, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            other => other?,
        };
        if identity(&self.directory)? != identity(&there)? {
            return Err(io::Error::other("another directory stands under its name"));
        }
        Ok(unlinkat(&self.parent, &*self.name, AtFlags::REMOVEDIR)?)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if self.marker.is_none() && self.owner == std::process::id() {
            // Never marked, so nothing is in it; where it is gone already this fails unheard.
            let _ = unlinkat(&self.parent, &*self.name, AtFlags::REMOVEDIR);
        }
        let _ = self.take_away();
    }
}

fn open_parent(directory: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(openat(CWD, directory, flags, Mode::empty())?)
}

fn make_directory(parent: &OwnedFd) -> io::Result<CString> {
    loop {
        let mut random = [0; 8];
        rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
        let name = CString::new(format!("{PREFIX}{:016x}", u64::from_ne_bytes(random)))?;
        match mkdirat(parent, &*name, Mode::RWXU) {
            Err(Errno::EXIST) => {}
            other => return other.map(|()| name).map_err(io::Error::from),
        }
    }
}

fn remedy(error: &io::Error) -> &'static str {
    use io::ErrorKind;
    let is = |errno: Errno| error.raw_os_error() == Some(errno.raw_os_error());
    match error.kind() {
        _ if is(Errno::MFILE) || is(Errno::NFILE) => "raise the limit: ulimit -n 1024",
        _ if is(Errno::FBIG) => "raise the limit: ulimit -f unlimited",
        ErrorKind::NotFound => "make it first, or name a directory that exists",
        ErrorKind::NotADirectory => "name the directory that the file is in",
        ErrorKind::PermissionDenied => "name a directory that you may write to",
        ErrorKind::ReadOnlyFilesystem => {
            "it is mounted read-only: name a directory on another file system, or remount it"
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "free some space or inodes, or name a directory on another file system"
        }
        _ => "name a directory on a file system that keeps files",
    }
}

#[cfg(test)]
mod tests {
    use super::Scratch;
    use crate::sys::testing::{open_directory, under_limits};

    #[test]
    fn a_forked_trial_that_drops_its_copy_removes_nothing() {
        let dir = open_directory();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        let path = scratch.path().to_owned();
        scratch.owner += 1; // as if this were another process
        drop(scratch);
        assert!(path.join(super::marker::NAME).exists());
    }

    #[test]
    fn too_few_descriptors_is_a_refusal_with_the_fix() {
        let test = "place::scratch::tests::too_few_descriptors_is_a_refusal_with_the_fix";
        let Some(dir) = under_limits(test, "ulimit -n 32") else { return };
        let mut held = Vec::new();
        while let Ok(file) = std::fs::File::open("/dev/null") {
            held.push(file);
        }
        for _ in 0..3 {
            let refused = Scratch::make(&dir).unwrap_err();
            assert!(refused.cause.contains("ulimit -n"), "{refused:?}");
            held.pop();
        }
        drop(held);
        Scratch::make(&dir).unwrap().remove().unwrap();
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0, "every refusal cleaned up");
    }

    #[test]
    fn a_file_size_limit_is_a_refusal_with_the_fix() {
        let test = "place::scratch::tests::a_file_size_limit_is_a_refusal_with_the_fix";
        // The agent ignores SIGXFSZ as this shell does; the limit is an error then.
        let Some(dir) = under_limits(test, "trap '' XFSZ; ulimit -f 0") else { return };
        let refused = Scratch::make(&dir).unwrap_err();
        assert!(refused.cause.contains("ulimit -f"), "{refused:?}");
        assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
    }
}
