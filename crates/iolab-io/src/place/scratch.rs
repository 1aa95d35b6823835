//! The only directory that iolab writes to: made, marked, owned by one process, and removed.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, CWD, Mode, OFlags, mkdirat, openat, unlinkat};
use rustix::io::Errno;
use rustix::process::geteuid;

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
    /// Where it was made.
    shown: PathBuf,
    /// How it is reached.
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
            path: way_to(directory, &path, &made),
            shown: path,
            directory: made,
            marker: None,
            owner: std::process::id(),
        };
        // Should the marker fail, dropping removes the directory.
        scratch.marker = Some(Marker::of_this_process().write(&scratch.directory).map_err(refuse)?);
        scratch.is_reached().map_err(refuse)?;
        Ok(scratch)
    }

    /// How it is reached, absolute: by its name, or for root, where another user could put a link
    /// under one of the names, by the descriptor that this process holds.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where it was made, absolute: for people.
    pub fn shown(&self) -> &Path {
        &self.shown
    }

    /// Takes the descriptor along into a mount namespace that this process has entered: mounts are
    /// made in a directory of it only.
    ///
    /// # Errors
    /// Another directory has its name by now.
    pub fn follow_mounts(&mut self) -> Result<(), Fault> {
        if self.path == self.shown {
            return Ok(());
        }
        let doing = || format!("take {} into a mount namespace", self.shown.display());
        let again = open_parent(&self.shown).map_err(|e| fault(doing(), &e, MOVED))?;
        let same = identity(&again).and_then(|now| Ok(now == identity(&self.directory)?));
        if !same.map_err(|e| fault(doing(), &e, ""))? {
            return Err(Fault::new(doing(), format!("another directory has its name; {MOVED}")));
        }
        rustix::io::dup3(&again, &mut self.directory, rustix::io::DupFlags::CLOEXEC)
            .map_err(|e| fault(doing(), &e.into(), ""))
    }

    /// A way that leads elsewhere is not gone.
    fn is_reached(&self) -> io::Result<()> {
        match self.path == self.shown
            || identity(open_parent(&self.path)?)? == identity(&self.directory)?
        {
            true => Ok(()),
            false => Err(io::Error::other(
                "another user may put a link in its place, and /proc is not there",
            )),
        }
    }

    /// Removes it with all that is in it, and says so if it cannot. Links are removed, never
    /// followed; where something else stands under its name, that is left alone.
    pub fn remove(mut self) -> Result<(), Fault> {
        self.take_away().map_err(|error| {
            let doing = format!("remove the scratch directory {}", self.shown.display());
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

const MOVED: &str = "somebody moves directories there: name one that they may not change";

/// Root's own name for it where nobody else can change what the name leads to; other users are held
/// by their rights. Whoever became root (sudo) may do as root anyway.
fn way_to(directory: &Path, path: &Path, made: &OwnedFd) -> PathBuf {
    let trusted =
        |uid: u32| uid == 0 || std::env::var("SUDO_UID").is_ok_and(|by| by == uid.to_string());
    match geteuid().is_root() && changeable_by_others(directory, &trusted) {
        true => format!("/proc/{}/fd/{}", std::process::id(), made.as_raw_fd()).into(),
        false => path.to_owned(),
    }
}

/// Whether somebody who is not `trusted` may rename what lies on the way to a directory, or in it.
fn changeable_by_others(directory: &Path, trusted: &dyn Fn(u32) -> bool) -> bool {
    let changeable = |path: &Path| {
        let Ok(about) = std::fs::symlink_metadata(path) else { return true };
        let sticky = about.mode() & 0o1000 != 0;
        let open = about.is_dir() && about.mode() & 0o022 != 0 && !sticky;
        !trusted(about.uid()) || open
    };
    // A link on the way is somebody's, and so is each directory that it leads through.
    let ways = [std::path::absolute(directory), directory.canonicalize()];
    ways.iter().any(|way| way.as_ref().map_or(true, |way| way.ancestors().any(changeable)))
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
    use rustix::process::geteuid;

    use super::{Scratch, changeable_by_others};
    use crate::sys::remove::remove_tree;
    use crate::sys::testing::{among_mounts, open_directory, under_limits};

    #[test]
    fn a_forked_trial_that_drops_its_copy_removes_nothing() {
        let dir = open_directory();
        let mut scratch = Scratch::make(dir.path()).unwrap();
        let path = scratch.path().to_owned();
        scratch.owner += 1; // as if this were another process
        drop(scratch);
        assert!(path.join(super::marker::NAME).exists());
    }

    /// As root, with a working directory below one of another user, everything went by name: who
    /// put a link there had root write and delete wherever it showed.
    #[test]
    fn below_a_directory_of_another_user_a_link_leads_nowhere() {
        let test = "place::scratch::tests::below_a_directory_of_another_user_a_link_leads_nowhere";
        let script = "mkdir -p theirs/work victim; : >victim/file; \
            chown 65534:65534 theirs theirs/work || exit 77";
        let Some(dir) = among_mounts(test, script) else { return };
        let (work, victim) = (dir.join("theirs/work"), dir.join("victim"));
        let mut scratch = Scratch::make(&work).unwrap();
        let (path, place) = (scratch.path().to_owned(), scratch.shown().to_owned());
        assert_eq!(place.parent(), Some(work.as_path()));
        std::fs::rename(&place, work.join("aside")).unwrap();
        std::os::unix::fs::symlink(&victim, &place).unwrap();
        std::fs::write(path.join("file"), "of a trial").unwrap();
        assert_eq!(std::fs::read(victim.join("file")).unwrap(), b"");
        remove_tree(&path.join("file")).unwrap();
        assert!(victim.join("file").exists());
        // Where the name leads elsewhere nothing is mounted.
        let moved = scratch.follow_mounts().unwrap_err();
        assert!(moved.cause.contains("another directory has its name"), "{moved:?}");
        std::fs::remove_file(&place).unwrap();
        std::fs::rename(work.join("aside"), &place).unwrap();
        scratch.follow_mounts().unwrap();
        std::fs::write(path.join("again"), "").unwrap();
        assert!(place.join("again").exists());
        scratch.remove().unwrap();
        assert_eq!(std::fs::read_dir(&work).unwrap().count(), 0);
        assert_eq!(std::fs::read_dir(&victim).unwrap().count(), 1);
    }

    #[test]
    fn a_way_is_changeable_by_whoever_owns_or_may_write_a_part_of_it() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let us = geteuid().as_raw();
        let ours = |uid: u32| uid == 0 || uid == us;
        let inner = dir.path().join("inner");
        std::fs::create_dir(&inner).unwrap();
        std::os::unix::fs::symlink(&inner, dir.path().join("link")).unwrap();
        for (mode, open) in [(0o755, false), (0o775, true), (0o1777, false), (0o707, true)] {
            std::fs::set_permissions(&inner, PermissionsExt::from_mode(mode)).unwrap();
            for way in [&inner, &dir.path().join("link")] {
                assert_eq!(changeable_by_others(way, &ours), open, "{mode:o}");
            }
        }
        std::fs::set_permissions(&inner, PermissionsExt::from_mode(0o700)).unwrap();
        assert!(changeable_by_others(&inner, &|uid| uid == us + 1), "it is another user's");
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
