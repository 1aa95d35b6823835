//! Directories that are deep, closed, mounted into, and turned into links while they are removed.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use rustix::fs::{Mode, OFlags, mkdirat, openat};

use super::{Whose, remove_contents, remove_tree};
use crate::sys::testing::{among_mounts, as_nobody, open_directory, under_limits};

#[test]
fn links_go_and_what_they_show_stays() {
    let dir = open_directory();
    let kept = dir.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("precious"), "kept").unwrap();
    let tree = dir.path().join("tree");
    fs::create_dir_all(tree.join("a/b")).unwrap();
    symlink(&kept, tree.join("a/b/link")).unwrap();
    symlink("../../kept/precious", tree.join("a/link")).unwrap();
    symlink(&tree, tree.join("loop")).unwrap();
    let link = dir.path().join("link");
    symlink(&kept, &link).unwrap();
    remove_tree(&tree).unwrap();
    remove_tree(&link).unwrap();
    assert!(!tree.exists() && link.symlink_metadata().is_err());
    assert_eq!(fs::read(kept.join("precious")).unwrap(), b"kept");
    let absent = remove_tree(&tree).unwrap_err();
    assert_eq!(absent.kind(), std::io::ErrorKind::NotFound);
}

/// A level once took a descriptor and a frame of the stack: a deep directory could not be removed.
#[test]
fn a_deep_directory_takes_few_descriptors() {
    let test = "sys::remove::tests::a_deep_directory_takes_few_descriptors";
    let Some(dir) = under_limits(test, "ulimit -n 48") else { return };
    fs::create_dir(dir.join("deep")).unwrap();
    let mut at = std::os::fd::OwnedFd::from(fs::File::open(dir.join("deep")).unwrap());
    for _ in 0..1000 {
        mkdirat(&at, "d", Mode::RWXU).unwrap();
        mkdirat(&at, "e", Mode::RWXU).unwrap();
        mkdirat(&at, "e/f", Mode::RWXU).unwrap();
        at = openat(&at, "d", OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty()).unwrap();
    }
    drop(at);
    remove_tree(&dir.join("deep")).unwrap();
    assert!(!dir.join("deep").exists());
}

#[test]
fn a_directory_of_many_directories_goes() {
    let dir = open_directory();
    let tree = dir.path().join("tree");
    for number in 0..400 {
        fs::create_dir_all(tree.join(format!("{number}/in"))).unwrap();
        fs::write(tree.join(format!("{number}/in/file")), "").unwrap();
    }
    remove_tree(&tree).unwrap();
    assert!(!tree.exists());
}

/// A bind mount within one file system has its device: the standard library emptied it.
#[test]
fn a_bind_mount_is_not_emptied() {
    let test = "sys::remove::tests::a_bind_mount_is_not_emptied";
    let script =
        "mkdir -p precious tree/a/bound; : >precious/f; mount --bind precious tree/a/bound";
    let Some(dir) = among_mounts(test, script) else { return };
    let error = remove_tree(&dir.join("tree")).unwrap_err();
    assert!(error.to_string().contains("unmount"), "{error}");
    assert!(dir.join("precious/f").exists());
    let root = remove_tree(&dir.join("tree/a/bound")).unwrap_err();
    assert!(root.to_string().contains("unmount"), "{root}");
    assert!(dir.join("precious/f").exists());
}

#[test]
fn a_closed_directory_is_opened_by_its_owner() {
    let test = "sys::remove::tests::a_closed_directory_is_opened_by_its_owner";
    let Some(dir) = as_nobody(test, |_| ()) else { return };
    for mode in [0o000, 0o100, 0o400, 0o500] {
        fs::create_dir_all(dir.join("tree/closed/inner")).unwrap();
        fs::write(dir.join("tree/closed/inner/f"), "").unwrap();
        let close = |path: &Path| fs::set_permissions(path, PermissionsExt::from_mode(mode));
        close(&dir.join("tree/closed/inner")).unwrap();
        close(&dir.join("tree/closed")).unwrap();
        remove_tree(&dir.join("tree")).unwrap();
    }
}

/// As root everything could be removed, also what others had put there.
#[test]
fn what_belongs_to_another_user_stays_where_others_may_write() {
    if !crate::sys::testing::is_root() {
        let test = "what_belongs_to_another_user_stays_where_others_may_write";
        return crate::sys::testing::skip(test, "needs root to own files as another user");
    }
    let dir = open_directory();
    for theirs in ["f", "d/f", "d"] {
        fs::create_dir_all(dir.path().join("d")).unwrap();
        for file in ["f", "d/f"] {
            fs::write(dir.path().join(file), "x").unwrap();
        }
        std::os::unix::fs::chown(dir.path().join(theirs), Some(65534), None).unwrap();
        let open = fs::File::open(dir.path()).unwrap();
        let error = remove_contents(&open, None, Whose::Own(0)).unwrap_err();
        assert!(error.to_string().contains("belongs to user 65534"), "{error}");
        assert!(dir.path().join(theirs).exists());
        remove_contents(&open, None, Whose::Anyones).unwrap();
    }
}
