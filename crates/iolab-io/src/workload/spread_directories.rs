//! Directories of one trial that do not lie where those of an earlier one lay.
//!
//! Without a journal ext4 takes no inode that was freed in the last minutes (`recently_deleted` in
//! fs/ext4/ialloc.c), and looks at each of them for every file it makes: a second thousand of files
//! in the place of a first that was just removed takes ten to thirty times as long. In a block
//! group of its own a trial does not pay for what an earlier one has removed.

use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::Mutex;

use rustix::fs::{IFlags, Mode, OFlags, ioctl_getflags, ioctl_setflags};

/// Inodes that lie together, as a power of two: 16 block groups of 8192, as mkfs.ext4 makes them.
const TOGETHER: u32 = 17;
/// So many directories are remembered: more than are removed in the minutes that matter, or as
/// many as a small file system has groups.
const REMEMBERED: usize = 128;
/// So many names are tried until one lies where none of those did.
const TRIES: usize = 8;

/// Where the last directories lay, oldest first.
static LAST: Mutex<Vec<u64>> = Mutex::new(Vec::new());

/// Makes a directory that its owner alone may enter, in one that iolab made.
///
/// Where the file system knows it (ext2, ext3 and ext4), directories in that one are asked to lie
/// apart (chattr +T). Which block group is drawn from the name, so that the directory is made under
/// one that was not used before and then takes its own.
pub(super) fn make_apart(path: &Path) -> io::Result<()> {
    let tries = if path.parent().is_some_and(spread) { TRIES } else { 1 };
    let mut last = LAST.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    for left in (0..tries).rev() {
        let mut fresh = path.as_os_str().to_owned();
        fresh.push(format!("-{:x}", crate::sys::clock::now_ns()));
        std::fs::DirBuilder::new().mode(0o700).create(&fresh)?;
        let lies_at = std::fs::symlink_metadata(&fresh)?.ino() >> TOGETHER;
        if left > 0 && last.contains(&lies_at) {
            std::fs::remove_dir(&fresh)?;
            continue;
        }
        if last.len() == REMEMBERED {
            last.remove(0);
        }
        last.push(lies_at);
        return std::fs::rename(fresh, path);
    }
    Ok(())
}

/// Whether directories in this one lie apart now. Other file systems need no such thing, so that it
/// is no fault where it cannot be had.
pub(super) fn spread(directory: &Path) -> bool {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(directory) = rustix::fs::open(directory, flags, Mode::empty()) else { return false };
    match ioctl_getflags(&directory) {
        Ok(flags) if flags.contains(IFlags::TOPDIR) => true,
        Ok(flags) => ioctl_setflags(&directory, flags | IFlags::TOPDIR).is_ok(),
        Err(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;
    use std::path::Path;

    use super::make_apart;
    use crate::sys::testing::among_block_groups;

    /// The number of inodes of a block group of the image below.
    const GROUP: u64 = 1024;

    fn group(path: &Path) -> u64 {
        (path.metadata().unwrap().ino() - 1) / GROUP
    }

    /// Files of rounds that each removed theirs were made at 20 µs a file in the first round and at
    /// 600 µs in the next: the directory of every round lay in one block group.
    #[test]
    fn directories_of_one_name_lie_in_many_groups() {
        let test =
            "workload::spread_directories::tests::directories_of_one_name_lie_in_many_groups";
        let Some(dir) = among_block_groups(test, 64, "m/scratch") else { return };
        let scratch = dir.join("m/scratch");
        let groups = |made: &dyn Fn(&Path)| {
            let mut groups = std::collections::BTreeSet::new();
            for _ in 0..20 {
                let path = scratch.join("round");
                made(&path);
                std::fs::create_dir(path.join("below")).unwrap();
                groups.insert(group(&path.join("below")));
                std::fs::remove_dir_all(&path).unwrap();
            }
            groups.len()
        };
        assert_eq!(groups(&|path| std::fs::create_dir(path).unwrap()), 1);
        assert!(groups(&|path| make_apart(path).unwrap()) >= 4);
    }

    /// On a file system of many groups none is used twice in a while.
    #[test]
    fn a_place_that_was_just_used_is_passed_over() {
        let dir = crate::sys::testing::open_directory();
        let scratch = dir.path().join("scratch");
        std::fs::create_dir(&scratch).unwrap();
        let mut seen = Vec::new();
        for _ in 0..8 {
            make_apart(&scratch.join("round")).unwrap();
            seen.push(scratch.join("round").metadata().unwrap().ino() >> super::TOGETHER);
            std::fs::remove_dir(scratch.join("round")).unwrap();
        }
        // Other tests may have made theirs since.
        assert!(super::LAST.lock().unwrap().contains(&seen[7]));
        if !super::spread(&scratch) {
            let reason = "the file system spreads no directories";
            return crate::sys::testing::skip("a_place_that_was_just_used_is_passed_over", reason);
        }
        let few = seen.iter().all(|at| *at < 32);
        let distinct: std::collections::BTreeSet<u64> = seen.into_iter().collect();
        if few {
            let reason = "the file system has few groups";
            return crate::sys::testing::skip("a_place_that_was_just_used_is_passed_over", reason);
        }
        assert!(distinct.len() >= 7, "{distinct:?}");
    }

    #[test]
    fn what_lies_there_is_not_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("a");
        make_apart(&path).unwrap();
        assert_eq!(path.metadata().unwrap().mode() & 0o777, 0o700);
        std::fs::write(path.join("f"), b"x").unwrap();
        assert!(make_apart(&path).is_err());
        assert_eq!(std::fs::read(path.join("f")).unwrap(), b"x");
    }
}
