//! Files and trees that outlive their run: `--keep` moves what a run has made into `.iolab-kept` beside
//! its scratch directory, and the next run that wants the same takes it from there. A name is the
//! key of a content and proves nothing: whoever takes something looks at every byte of it first.

use std::ffi::CString;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{
    AtFlags, CWD, Mode, OFlags, RenameFlags, fstat, mkdirat, openat, renameat_with, statat,
};

use super::clean::{Found, Owner};
use super::fault;
use super::marker::{self, Marker};
use crate::sys::below::{disk_bytes, names, open_directory};
use crate::sys::remove::{Whose, remove_contents, remove_entry};
use iolab_model::result::Fault;

/// The name of the directory that things are kept in.
pub const NAME: &str = ".iolab-kept";
/// What a key may be called: it becomes a name.
const LONGEST_KEY: usize = 64;

/// What is kept beside the scratch directories of one directory.
#[derive(Debug)]
pub struct Kept {
    directory: OwnedFd,
}

/// One thing that is kept.
struct Entry {
    name: CString,
    bytes: u64,
    /// When it was put here, in seconds and nanoseconds.
    since: (i64, i64),
}

impl Kept {
    /// What is kept in `parent`; nothing where another user, or no iolab, made the directory of that
    /// name. `make` says whether to make it where there is none.
    pub fn open(parent: &Path, make: bool) -> Option<Kept> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let parent = openat(CWD, parent, flags, Mode::empty()).ok()?;
        let name = CString::new(NAME).ok()?;
        if make && mkdirat(&parent, &*name, Mode::RWXU).is_ok() {
            let made = open_directory(&parent, &name).ok()?;
            Marker::of_this_process().write(&made).ok()?;
        }
        let directory = open_directory(&parent, &name).ok()?;
        is_ours(&directory).then_some(Kept { directory })
    }

    /// Moves what is kept under a key to `target`, which must not be there: from then on nobody else
    /// takes it. False where nothing is kept, or it is on another file system.
    pub fn take(&self, key: &str, target: &Path) -> bool {
        let Some(name) = name_of(key) else { return false };
        let moved = renameat_with(&self.directory, &*name, CWD, target, RenameFlags::NOREPLACE);
        moved.is_ok()
    }

    /// Moves `source` here under a key, in place of what is there, and removes the oldest until all
    /// take at most `limit_bytes`. False where it stays where it is: it is too large, or on another
    /// file system.
    ///
    /// # Errors
    /// What had to go could not be removed.
    pub fn put(&self, source: &Path, key: &str, limit_bytes: u64) -> io::Result<bool> {
        let Some(name) = name_of(key) else { return Ok(false) };
        if self.size(CWD.as_fd(), &CString::new(source.as_os_str().as_bytes())?) > limit_bytes {
            return Ok(false);
        }
        self.remove(&name)?;
        match renameat_with(CWD, source, &self.directory, &*name, RenameFlags::NOREPLACE) {
            Ok(()) => self.shrink(limit_bytes).map(|()| true),
            Err(_) => Ok(false),
        }
    }

    /// Removes the oldest until the rest take at most so much.
    fn shrink(&self, limit_bytes: u64) -> io::Result<()> {
        let mut all = self.entries()?;
        all.sort_by_key(|entry| entry.since);
        let mut bytes: u64 = all.iter().map(|entry| entry.bytes).sum();
        for entry in all {
            if bytes <= limit_bytes {
                break;
            }
            self.remove(&entry.name)?;
            bytes = bytes.saturating_sub(entry.bytes);
        }
        Ok(())
    }

    fn entries(&self) -> io::Result<Vec<Entry>> {
        let mut all = Vec::new();
        for name in names(self.directory.as_fd())? {
            if name.as_bytes() == marker::NAME.as_bytes() {
                continue;
            }
            let about = statat(&self.directory, &*name, AtFlags::SYMLINK_NOFOLLOW)?;
            let bytes = self.size(self.directory.as_fd(), &name);
            let since = (about.st_ctime, about.st_ctime_nsec as i64);
            all.push(Entry { name, bytes, since });
        }
        Ok(all)
    }

    /// Space that a file or a tree takes.
    fn size(&self, parent: std::os::fd::BorrowedFd<'_>, name: &CString) -> u64 {
        let Ok(about) = statat(parent, &**name, AtFlags::SYMLINK_NOFOLLOW) else { return 0 };
        let own = about.st_blocks as u64 * 512;
        let inside = open_directory(parent, name).and_then(|inner| disk_bytes(inner.as_fd()));
        own.saturating_add(inside.unwrap_or(0))
    }

    fn remove(&self, name: &CString) -> io::Result<()> {
        match remove_entry(&self.directory, name) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            other => other,
        }
    }
}

/// Whether the directory is this user's alone and carries the marker of an iolab of theirs.
fn is_ours(directory: &OwnedFd) -> bool {
    let us = rustix::process::geteuid().as_raw();
    let alone =
        fstat(directory).is_ok_and(|about| about.st_uid == us && about.st_mode & 0o077 == 0);
    let marked =
        Marker::read(directory).is_ok_and(|(marker, _)| marker.tool == "iolab" && marker.uid == us);
    alone && marked
}

fn name_of(key: &str) -> Option<CString> {
    let plain = |c: char| c.is_ascii_alphanumeric() || c == '-';
    let fits = !key.is_empty() && key.len() <= LONGEST_KEY && key.chars().all(plain);
    fits.then(|| CString::new(key).ok()).flatten()
}

/// Lists what is kept in `parent`, and removes it unless `dry_run`.
///
/// # Errors
/// It cannot be looked at.
pub fn clean_kept(parent: &Path, dry_run: bool) -> Result<Vec<Found>, Fault> {
    let Some(kept) = Kept::open(parent, false) else { return Ok(Vec::new()) };
    let path: PathBuf = parent.join(NAME);
    let refuse = |error: io::Error| {
        let doing = format!("look at what is kept in {}", path.display());
        fault(doing, &error, "remove the directory by hand")
    };
    let entries = kept.entries().map_err(refuse)?;
    let mut found: Vec<Found> = Vec::new();
    for entry in entries {
        let failed = match dry_run {
            true => None,
            false => kept.remove(&entry.name).err().map(|error| error.to_string()),
        };
        found.push(Found {
            path: path.join(entry.name.to_string_lossy().as_ref()),
            owner: Owner::Gone,
            bytes: entry.bytes,
            removed: !dry_run && failed.is_none(),
            failed,
        });
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    if !dry_run && found.iter().all(|one| one.removed) {
        take_down(parent, &kept).map_err(refuse)?;
    }
    Ok(found)
}

fn take_down(parent: &Path, kept: &Kept) -> io::Result<()> {
    let marker_name = CString::new(marker::NAME)?;
    remove_contents(&kept.directory, Some(&marker_name), Whose::Anyones)?;
    std::fs::remove_dir(parent.join(NAME))
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    use super::{Kept, NAME, clean_kept};
    use crate::sys::testing::open_directory;

    fn put(kept: &Kept, dir: &Path, key: &str, bytes: usize, limit: u64) -> bool {
        let source = dir.join("made");
        fs::write(&source, vec![7; bytes]).unwrap();
        let put = kept.put(&source, key, limit).unwrap();
        assert_eq!(source.exists(), !put);
        let _ = fs::remove_file(&source);
        put
    }

    #[test]
    fn what_is_put_is_taken_once_and_the_oldest_gives_way() {
        let dir = open_directory();
        let kept = Kept::open(dir.path(), true).unwrap();
        for key in ["file-1", "file-2", "file-3"] {
            assert!(put(&kept, dir.path(), key, 100_000, 250_000));
        }
        // Two of them fit.
        let target = dir.path().join("taken");
        assert!(!kept.take("file-1", &target), "the oldest went");
        assert!(kept.take("file-3", &target));
        assert_eq!(fs::read(&target).unwrap(), vec![7; 100_000]);
        assert!(!kept.take("file-3", &dir.path().join("again")), "it is gone from there");
        // What is taken replaces nothing, and what is too large is not kept.
        assert!(!kept.take("file-2", &target));
        assert!(!put(&kept, dir.path(), "file-4", 300_000, 250_000));
        // A key is no path.
        assert!(!put(&kept, dir.path(), "../x", 1, 250_000));
        let listed = clean_kept(dir.path(), true).unwrap();
        assert_eq!(listed.len(), 1);
        assert!(listed[0].path.ends_with("file-2") && listed[0].bytes >= 100_000);
        assert!(clean_kept(dir.path(), false).unwrap()[0].removed);
        assert!(
            !dir.path().join(NAME).exists() && clean_kept(dir.path(), false).unwrap().is_empty()
        );
    }

    /// A directory of that name proves nothing: one that others may write to, that is a link, or that no
    /// iolab of this user has marked is neither used nor touched.
    #[test]
    fn a_directory_that_is_not_ours_is_left_alone() {
        let dir = open_directory();
        let path = dir.path().join(NAME);
        fs::create_dir(&path).unwrap();
        fs::write(path.join("file-1"), b"theirs").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        assert!(Kept::open(dir.path(), true).is_none(), "no marker");
        assert!(clean_kept(dir.path(), false).unwrap().is_empty());
        assert!(path.join("file-1").exists());
        fs::remove_dir_all(&path).unwrap();
        Kept::open(dir.path(), true).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o777)).unwrap();
        assert!(Kept::open(dir.path(), true).is_none(), "anybody may write there");
        let elsewhere = dir.path().join("elsewhere");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
        fs::rename(&path, &elsewhere).unwrap();
        symlink(&elsewhere, &path).unwrap();
        assert!(Kept::open(dir.path(), true).is_none(), "a link");
    }
}
