//! Scratch directories made, removed, abandoned and found, in real directories.

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use super::{Owner, clean, is_scratch_name, sweep};
use crate::place::Scratch;
use crate::place::marker::{Marker, NAME};
use crate::sys::testing::{among_mounts, as_nobody, open_directory};

fn entries(directory: &Path) -> usize {
    fs::read_dir(directory).unwrap().count()
}

/// A directory as a killed run would leave it, changed by `change`.
fn leftover(directory: &Path, change: impl FnOnce(&mut Marker)) -> PathBuf {
    let path = directory.join(".iolab-0123456789abcdef");
    fs::create_dir(&path).unwrap();
    let mut marker = Marker::of_this_process();
    marker.start_ticks -= 1; // another process that had our number
    change(&mut marker);
    fs::write(path.join(NAME), serde_json::to_vec(&marker).unwrap()).unwrap();
    fs::write(path.join("data"), [1; 10_000]).unwrap();
    path
}

#[test]
fn a_scratch_directory_is_private_and_goes_with_all_that_is_in_it() {
    let dir = open_directory();
    let outside = dir.path().join("precious");
    fs::write(&outside, "kept").unwrap();
    let kept = dir.path().join("kept");
    fs::create_dir(&kept).unwrap();
    fs::write(kept.join("too"), "kept").unwrap();

    let scratch = Scratch::make(dir.path()).unwrap();
    let path = scratch.path().to_owned();
    assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o700);
    symlink(&outside, path.join("link")).unwrap();
    symlink(&kept, path.join("link to a directory")).unwrap();
    symlink(&path, path.join("loop")).unwrap();
    fs::create_dir_all(path.join("a/b/c\nd")).unwrap();
    fs::write(path.join("a/b").join(OsStr::from_bytes(b"\xff\xfe")), "x").unwrap();
    fs::create_dir(path.join("closed")).unwrap();
    fs::write(path.join("closed/f"), "x").unwrap();
    fs::set_permissions(path.join("closed"), fs::Permissions::from_mode(0o000)).unwrap();
    scratch.remove().unwrap();
    assert!(!path.exists());
    assert_eq!(fs::read(&outside).unwrap(), b"kept");
    assert_eq!(fs::read(kept.join("too")).unwrap(), b"kept");
}

#[test]
fn dropping_removes_and_a_stranger_under_its_name_is_left_alone() {
    let dir = open_directory();
    drop(Scratch::make(dir.path()).unwrap());
    assert_eq!(entries(dir.path()), 0);

    let scratch = Scratch::make(dir.path()).unwrap();
    let path = scratch.path().to_owned();
    fs::rename(&path, dir.path().join("moved")).unwrap();
    fs::create_dir(&path).unwrap();
    fs::write(path.join("precious"), "kept").unwrap();
    let error = scratch.remove().unwrap_err();
    assert!(error.cause.contains("another directory"), "{error}");
    assert!(path.join("precious").exists());
}

#[test]
fn a_live_directory_is_never_swept() {
    let dir = open_directory();
    let scratch = Scratch::make(dir.path()).unwrap();
    let found = sweep(dir.path()).unwrap();
    assert_eq!(found.len(), 1);
    assert!(matches!(&found[0].owner, Owner::Alive(_)) && !found[0].removed, "{found:?}");
    assert!(scratch.path().join(NAME).exists());
}

#[test]
fn a_process_that_lives_without_its_lock_keeps_its_directory() {
    let dir = open_directory();
    leftover(dir.path(), |marker| marker.start_ticks += 1);
    assert!(!sweep(dir.path()).unwrap()[0].removed);
}

#[test]
fn what_a_dead_process_left_is_shown_and_then_removed() {
    let dir = open_directory();
    let path = leftover(dir.path(), |_| {});
    let shown = clean(dir.path(), true).unwrap();
    assert!(shown[0].owner == Owner::Gone && !shown[0].removed && shown[0].bytes >= 10_000);
    assert!(path.exists());
    // A process that another test has just forked holds all locks until it starts its program.
    let removed = || sweep(dir.path()).unwrap()[0].removed;
    let wait = std::time::Duration::from_millis(20);
    assert!((0..100).any(|_| removed() || {
        std::thread::sleep(wait);
        false
    }));
    assert_eq!(entries(dir.path()), 0);
}

#[test]
fn the_boot_before_is_swept_and_another_machine_is_not() {
    let dir = open_directory();
    let path = leftover(dir.path(), |marker| {
        marker.boot_id = "another".into();
        marker.host = "another".into();
    });
    assert!(!sweep(dir.path()).unwrap()[0].removed);
    fs::remove_dir_all(path).unwrap();
    leftover(dir.path(), |marker| marker.boot_id = "another".into());
    assert!(sweep(dir.path()).unwrap()[0].removed);
}

#[test]
fn what_is_not_ours_is_not_found() {
    let dir = open_directory();
    let names = [".iolab-0123456789abcde", ".iolab-0123456789abcdeg", "iolab", ".iolab-"];
    for name in names {
        fs::create_dir(dir.path().join(name)).unwrap();
    }
    let unmarked = dir.path().join(".iolab-00000000000000aa");
    fs::create_dir(&unmarked).unwrap();
    fs::write(unmarked.join("precious"), "").unwrap();
    let odd_marker = dir.path().join(".iolab-00000000000000bb");
    fs::create_dir(&odd_marker).unwrap();
    fs::write(odd_marker.join(NAME), "{\"tool\":").unwrap();
    symlink(&unmarked, dir.path().join(".iolab-00000000000000cc")).unwrap();
    fs::create_dir(dir.path().join(".iolab-00000000000000dd")).unwrap(); // being made just now
    assert_eq!(sweep(dir.path()).unwrap(), []);
    assert_eq!(entries(dir.path()), names.len() + 4);
    assert!(is_scratch_name(b".iolab-00000000000000aa"));
}

/// Makes a file or directory as old as a run of yesterday.
fn age(path: &Path) {
    let old = std::time::SystemTime::now() - std::time::Duration::from_secs(86_400);
    fs::File::open(path).unwrap().set_modified(old).unwrap();
}

/// Between making a marker and writing it a kill or a power failure left one that nobody could read,
/// and what lay beside it stayed for ever.
#[test]
fn a_torn_marker_is_found_and_goes() {
    let whole = serde_json::to_vec(&Marker::of_this_process()).unwrap();
    let zeros = vec![0; whole.len()];
    for torn in [&whole[..0], &whole[..7], &whole[..40], &zeros] {
        for name in [NAME, super::marker::UNFINISHED] {
            let dir = open_directory();
            let path = dir.path().join(".iolab-0123456789abcdef");
            fs::create_dir(&path).unwrap();
            fs::write(path.join(name), torn).unwrap();
            fs::write(path.join("data"), [1; 10_000]).unwrap();
            assert_eq!(clean(dir.path(), false).unwrap(), [], "it may be being made just now");
            age(&path);
            let shown = clean(dir.path(), true).unwrap();
            assert!(shown.len() == 1 && shown[0].owner == Owner::Gone, "{shown:?}");
            assert!(clean(dir.path(), false).unwrap()[0].removed);
            assert_eq!(entries(dir.path()), 0);
        }
    }
    let dir = open_directory();
    let path = dir.path().join(".iolab-0123456789abcdef");
    fs::create_dir(&path).unwrap();
    fs::write(path.join(NAME), "a note of my own").unwrap();
    age(&path);
    assert_eq!(clean(dir.path(), false).unwrap(), [], "no beginning of a marker of ours");
}

#[test]
fn a_marker_has_its_name_once_it_is_whole() {
    let dir = open_directory();
    let scratch = Scratch::make(dir.path()).unwrap();
    assert_eq!(entries(scratch.path()), 1);
    let text = fs::read(scratch.path().join(NAME)).unwrap();
    assert_eq!(serde_json::from_slice::<Marker>(&text).unwrap(), Marker::of_this_process());
}

/// A user planted a directory with the marker of a dead process; the next run of root emptied it,
/// with the files of others in it.
#[test]
fn root_does_not_sweep_what_another_user_has_planted() {
    let test = "root_does_not_sweep_what_another_user_has_planted";
    if !crate::sys::testing::is_root() {
        return crate::sys::testing::skip(test, "needs root");
    }
    let theirs = |path: &Path| std::os::unix::fs::chown(path, Some(65534), None).unwrap();
    // All of it theirs, but for a file of ours; then one where only the marker is theirs.
    for whole in [true, false] {
        let dir = open_directory();
        let path = leftover(dir.path(), |marker| marker.uid = if whole { 65534 } else { 0 });
        theirs(&path.join(NAME));
        if whole {
            theirs(&path);
        }
        for found in [sweep(dir.path()).unwrap(), clean(dir.path(), false).unwrap()] {
            assert!(found.iter().all(|found| !found.removed), "{found:?}");
        }
        assert!(path.join("data").exists());
    }
    // In one of ours that anyone may enter, theirs are left and said.
    let dir = open_directory();
    let path = leftover(dir.path(), |_| {});
    theirs(&path.join("data"));
    let found = clean(dir.path(), false).unwrap();
    let why = found[0].failed.as_deref().unwrap();
    assert!(why.contains("belongs to user 65534") && path.join("data").exists(), "{why}");
    // Behind a closed door all is ours, whoever it was given to: a copy keeps its owner.
    fs::set_permissions(&path, fs::Permissions::from_mode(0o700)).unwrap();
    assert!(clean(dir.path(), false).unwrap()[0].removed);
}

#[test]
fn a_killed_process_leaves_what_the_next_one_removes() {
    const TEST: &str = "place::clean::tests::a_killed_process_leaves_what_the_next_one_removes";
    if let Some(dir) = std::env::var_os("IOLAB_TEST_ABORT") {
        let scratch = Scratch::make(Path::new(&dir)).unwrap();
        fs::write(scratch.path().join("data"), [0; 5000]).unwrap();
        std::process::abort();
    }
    let dir = open_directory();
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args(["--exact", TEST, "--nocapture"]).env("IOLAB_TEST_ABORT", dir.path());
    assert!(!again.output().unwrap().status.success());
    assert_eq!(entries(dir.path()), 1, "an abort runs no destructor");
    let found = sweep(dir.path()).unwrap();
    assert!(found.len() == 1 && found[0].removed, "{found:?}");
    assert_eq!(entries(dir.path()), 0);
}

#[test]
fn refusals_name_the_fix() {
    let dir = open_directory();
    let file = dir.path().join("file\nwith a newline");
    fs::write(&file, "").unwrap();
    for (path, word) in [(file.as_path(), "the file is in"), (Path::new("/no/such"), "exists")] {
        let error = Scratch::make(path).unwrap_err();
        assert!(error.cause.contains(word) && error.errno.is_some(), "{error:?}");
    }
    assert!(Scratch::make(Path::new("/proc")).is_err());
    assert!(sweep(Path::new("/no/such")).is_err());
}

#[test]
fn an_ordinary_user_is_refused_where_root_is_not() {
    let test = "place::clean::tests::an_ordinary_user_is_refused_where_root_is_not";
    let prepare = |dir: &Path| {
        fs::create_dir(dir.join("of-root")).unwrap();
        leftover(dir, |_| {});
    };
    let Some(dir) = as_nobody(test, prepare) else { return };
    let error = Scratch::make(&dir.join("of-root")).unwrap_err();
    assert!(error.cause.contains("may write to"), "{error:?}");
    assert!(clean(&dir, false).unwrap().iter().all(|found| !found.removed));
    assert!(dir.join(".iolab-0123456789abcdef").exists());
    Scratch::make(&dir).unwrap().remove().unwrap();
}

#[test]
fn read_only_and_full_file_systems_are_refused_and_left_clean() {
    let test = "place::clean::tests::read_only_and_full_file_systems_are_refused_and_left_clean";
    let script = "mkdir ro full inodes
        mount -t tmpfs -o ro none ro || exit 77
        mount -t tmpfs -o size=4k none full; mount -t tmpfs -o nr_inodes=2 none inodes
        printf x >full/one";
    let Some(dir) = among_mounts(test, script) else { return };
    let read_only = Scratch::make(&dir.join("ro")).unwrap_err();
    assert!(read_only.cause.contains("read-only"), "{read_only:?}");
    for (name, left) in [("full", 1), ("inodes", 0)] {
        let error = Scratch::make(&dir.join(name)).unwrap_err();
        assert_eq!(error.errno, Some(28), "{error:?}");
        assert!(error.cause.contains("free some space"), "{error:?}");
        assert_eq!(entries(&dir.join(name)), left, "nothing is left behind in {name}");
    }
}

#[test]
fn a_mount_inside_is_not_emptied() {
    let test = "place::clean::tests::a_mount_inside_is_not_emptied";
    let Some(dir) = among_mounts(test, ":") else { return };
    let scratch = Scratch::make(&dir).unwrap();
    let mount = scratch.path().join("m");
    fs::create_dir(&mount).unwrap();
    let done = Command::new("mount").args(["-t", "tmpfs", "none"]).arg(&mount).status().unwrap();
    assert!(done.success());
    fs::write(mount.join("precious"), "").unwrap();
    let error = scratch.remove().unwrap_err();
    assert!(error.cause.contains("unmount"), "{error:?}");
    assert!(mount.join("precious").exists());
}
