//! What trials leave on ext4, kept without its bytes until all is over.
//!
//! Without a journal ext4 takes no inode that was freed in the last minutes, and looks at each of them
//! for every file that it makes (`recently_deleted` in fs/ext4/ialloc.c). A replay of `cp -R` whose last
//! trial's 2000 files had been removed took eleven times as long as the program, which is run once and
//! meets none of them.

use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::DirBuilder;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rustix::fs::{Mode, OFlags, fstatfs, fstatvfs, openat, renameat};

use super::root::open_root;
use crate::sys::remove::{Whose, remove_contents};
use crate::workload::held_trees::{self, Load};

/// `f_type` of ext4 and its elders (EXT4_SUPER_MAGIC).
const EXT4: i64 = 0xef53;
/// Changes of fewer files are removed: passing over so few takes no time.
const FEW_FILES: u64 = 64;
/// So many are kept at most; removing them takes about a second.
const MOST_FILES: u64 = 200_000;
/// So many are thought of at most where a place for them is looked for.
const MOST_TRIED: u64 = 1000;
/// No more than this share of the inodes that are free.
const SHARE: u64 = 20;

/// By the directory that files of traces are made in.
static KEPT: Mutex<BTreeMap<PathBuf, Kept>> = Mutex::new(BTreeMap::new());

/// What is kept beside the files of traces: entries of a directory, and the files in them.
#[derive(Debug, Default)]
struct Kept {
    entries: u64,
    files: u64,
}

/// Makes the directory for the files of a trace, of which so many are made. Where they are many it lies
/// where none were freed of late: runs may follow one another.
///
/// # Errors
/// It cannot be made.
pub(super) fn make(path: &Path, files: u64) -> io::Result<()> {
    if files < FEW_FILES {
        return std::fs::create_dir(path);
    }
    // However many they are, a place for them is looked for.
    let files = files.min(MOST_TRIED);
    held_trees::make(path, Load { files, bytes: 0, removes: false })
}

/// Takes in what is at these paths below the files of a trace, with so many files in it. False where it
/// is not kept: then it is the caller's to remove.
///
/// # Errors
/// It cannot be taken in.
pub(super) fn take<'a>(
    (root, path): (&OwnedFd, &Path),
    whole: impl Iterator<Item = &'a CStr>,
    inner: &[&'a CStr],
) -> io::Result<bool> {
    let files = inner.len() as u64;
    let Some(parent) = path.parent().filter(|_| files >= FEW_FILES && is_ext4(root)) else {
        return Ok(false);
    };
    let most = MOST_FILES.min(fstatvfs(root)?.f_favail / SHARE);
    let place = place(parent);
    match DirBuilder::new().mode(0o700).create(&place) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
        _ => {}
    }
    let place = open_root(&place)?;
    let mut all = KEPT.lock().unwrap_or_else(PoisonError::into_inner);
    let kept = all.entry(parent.to_owned()).or_default();
    if kept.files + files > most {
        remove_contents(&place, None, Whose::Anyones)?;
        kept.files = 0;
    }
    if files > most {
        return Ok(false);
    }
    inner.iter().try_for_each(|file| empty(root, file))?;
    for entry in whole {
        kept.entries += 1;
        renameat(root, entry, &place, format!("{}", kept.entries))?;
    }
    kept.files += files;
    Ok(true)
}

/// Where it is kept.
fn place(parent: &Path) -> PathBuf {
    parent.join("aside")
}

fn is_ext4(root: &OwnedFd) -> bool {
    fstatfs(root).is_ok_and(|about| about.f_type == EXT4)
}

/// Its bytes are given back at once, written or not.
fn empty(root: &OwnedFd, file: &CStr) -> io::Result<()> {
    let flags = OFlags::WRONLY | OFlags::TRUNC | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    openat(root, file, flags, Mode::empty())?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::fs;
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::super::remove;
    use super::super::tests::{Made, scene};
    use super::{FEW_FILES, place};
    use crate::sys::testing::{among_mounts, skip};
    use iolab_model::catalog::Levels;

    /// A program that makes so many files of 5000 bytes.
    fn maker(files: u64) -> Vec<String> {
        let one = |file: u64| {
            [
                format!(
                    "1 openat(AT_FDCWD</w>, \"f{file}\", O_WRONLY|O_CREAT|O_EXCL, 0644) = 3</w/f{file}>"
                ),
                format!("1 write(3</w/f{file}>, \"\"..., 5000) = 5000"),
                format!("1 close(3</w/f{file}>) = 0"),
            ]
        };
        (0..files).flat_map(one).collect()
    }

    /// Three trials and the end of these files; inodes that are kept, and their bytes.
    fn kept(files: u64, below: &Path) -> (BTreeSet<u64>, u64) {
        let lines = maker(files);
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let made = Made::below(tempfile::tempdir_in(below).unwrap(), scene(&lines));
        for _ in 0..3 {
            made.trial(&Levels::new()).unwrap();
        }
        remove(&made.scene, &made.root).unwrap();
        assert!(!made.root.exists());
        let entries = fs::read_dir(place(made.root.parent().unwrap())).into_iter().flatten();
        let all: Vec<_> = entries.map(|entry| entry.unwrap().metadata().unwrap()).collect();
        (all.iter().map(|about| about.ino()).collect(), all.iter().map(|one| one.blocks()).sum())
    }

    /// What was removed after each trial made the next ones slower and slower: eleven times for cp -R.
    #[test]
    fn no_inode_of_many_is_freed_between_trials_on_ext4() {
        let test =
            "workload::replay::aside::tests::no_inode_of_many_is_freed_between_trials_on_ext4";
        let script = "truncate -s 128M i; mkdir m; mkfs.ext4 -q -F -O ^has_journal i || exit 77; \
            mount -o loop i m || exit 77";
        let Some(dir) = among_mounts(test, script) else { return };
        let (inodes, blocks) = kept(3 * FEW_FILES, &dir.join("m"));
        assert_eq!(
            (inodes.len() as u64, blocks),
            (9 * FEW_FILES, 0),
            "each has an inode of its own"
        );
        assert_eq!(kept(FEW_FILES - 1, &dir.join("m")).0.len(), 0);
        // No more than a share of what is free: what was kept goes.
        let (inodes, _) = kept(FEW_FILES + 900, &dir.join("m"));
        assert_eq!(inodes.len() as u64, FEW_FILES + 900);
    }

    #[test]
    fn elsewhere_nothing_is_kept() {
        if rustix::fs::statfs("/dev/shm").is_ok_and(|about| about.f_type == super::EXT4) {
            return skip("elsewhere_nothing_is_kept", "/dev/shm is ext4");
        }
        assert_eq!(kept(2 * FEW_FILES, Path::new("/dev/shm")).0.len(), 0);
    }
}
