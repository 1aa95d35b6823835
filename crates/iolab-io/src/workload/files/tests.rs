//! What the machine or the person sets limits to: each as it is met, with nothing left behind.

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use super::scan::scan_with;
use super::{Listing, scan};
use crate::method::NoWindow;
use crate::sys::testing::{among_mounts, as_nobody, open_directory, under_limits};
use crate::workload::{Extent, Subject, Trial};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};
use iolab_model::tree::{Body, Shape, Tree};

fn tree(files: u64, sizes: &str) -> Listing {
    let (shape, body, seed) = (Shape::Sharded, Body::Random, 5);
    Listing::Made(Tree {
        files,
        sizes: sizes.parse().unwrap(),
        shape,
        body,
        seed,
        first: 0,
        rank: 0,
    })
}

fn levels(operation: &str, workers: u64) -> Levels {
    Levels::new()
        .with(Factor::Operation, Level::word(operation))
        .with(Factor::Threads, Level::Number(workers))
}

/// The whole trial in `dir`; its scratch is empty afterwards, whatever happened.
fn trial(
    dir: &Path,
    root: &Path,
    listing: &Listing,
    levels: &Levels,
) -> Result<Measurement, Fault> {
    let scratch = dir.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let subject = Some(Subject::tree(root, 0, 1, listing));
    let trial = Trial { levels, extent: Extent::Passes(1), subject, scratch: &scratch };
    let workload = &super::WORKLOAD;
    let done = (workload.around.prepare)(&trial).and_then(|()| {
        let mut measurement = (workload.run)(&trial, &mut NoWindow)?;
        (workload.around.verify)(&trial, &mut measurement)?;
        Ok(measurement)
    });
    (workload.around.clear)(&trial).unwrap();
    let names = std::fs::read_dir(&scratch).unwrap().map(|entry| entry.unwrap().file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    // Trees of trials are kept until the end of a run.
    let left = names.filter(|name| !name.starts_with("kept-") && !name.starts_with("group-"));
    assert_eq!(left.count(), 0, "something was left");
    done
}

#[test]
fn a_full_disk_ends_a_trial_with_what_was_done_and_nothing_stays() {
    let test =
        "workload::files::tests::a_full_disk_ends_a_trial_with_what_was_done_and_nothing_stays";
    let Some(dir) = among_mounts(test, "mkdir m; mount -t tmpfs -o size=2m none m || exit 77")
    else {
        return;
    };
    let dir = dir.join("m");
    let listing = tree(1000, "16Ki");
    let used = || rustix::fs::statvfs(&dir).map(|fs| fs.f_blocks - fs.f_bfree).unwrap();
    for workers in [1, 4] {
        let seen = trial(&dir, Path::new("/none"), &listing, &levels("write", workers)).unwrap();
        assert_eq!(seen.flags, [Code::Truncated], "{seen:?}");
        // 2 MiB hold 128 such files, less a little for directories.
        assert!((100..=128).contains(&seen.operations), "{}", seen.operations);
        assert!(seen.metrics["failed_operations"] >= 1.0);
        assert!(used() < 16, "space is given back: {} blocks", used());
    }
    let nothing = trial(&dir, Path::new("/none"), &tree(3, "4Mi"), &levels("write", 1));
    assert_eq!(nothing.unwrap_err().errno, Some(28), "not one file fits");
    let fault = trial(&dir, Path::new("/none"), &listing, &levels("remove", 1)).unwrap_err();
    assert!(fault.errno == Some(28) && fault.cause.contains("df -i"), "{fault}");
}

/// A trial on a file system of some 60 inodes: what there was room for, and all of it given back.
fn with_few_inodes(dir: &Path) {
    let free = || rustix::fs::statvfs(dir).map(|fs| fs.f_ffree).unwrap();
    std::fs::create_dir(dir.join("scratch")).unwrap();
    let before = free();
    for operation in ["create", "write"] {
        for workers in [1, 3] {
            let listing = tree(1000, "100");
            let levels = levels(operation, workers);
            let seen = trial(dir, Path::new("/none"), &listing, &levels).unwrap();
            assert_eq!(seen.flags, [Code::Truncated], "{seen:?}");
            assert!((40..60).contains(&seen.operations), "{}", seen.operations);
            assert_eq!(free(), before, "inodes are given back");
        }
    }
}

#[test]
fn no_inodes_left_is_a_full_disk_too() {
    let test = "workload::files::tests::no_inodes_left_is_a_full_disk_too";
    let script = "mkdir m; mount -t tmpfs -o nr_inodes=60 none m || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    with_few_inodes(&dir.join("m"));
}

#[test]
fn no_inodes_left_on_a_disk_is_a_full_disk_too() {
    let test = "workload::files::tests::no_inodes_left_on_a_disk_is_a_full_disk_too";
    let script = "truncate -s 16M i; mkdir m; mkfs.ext4 -q -F -N 64 i || exit 77; \
        mount -o loop i m || exit 77";
    let Some(dir) = among_mounts(test, script) else { return };
    with_few_inodes(&dir.join("m"));
}

#[test]
fn a_low_limit_of_open_files_holds_for_each_worker_with_its_own() {
    let test =
        "workload::files::tests::a_low_limit_of_open_files_holds_for_each_worker_with_its_own";
    let Some(dir) = under_limits(test, "ulimit -n 24") else { return };
    // Each worker has a table of its own, so fifty of them need no more than one. In a shared one,
    // which is the default, each worker that waits for its directory holds a descriptor.
    let own = levels("write", 50).with(Factor::Descriptors, Level::word("own"));
    let seen = trial(&dir, Path::new("/none"), &tree(500, "100"), &own).unwrap();
    assert_eq!((seen.operations, seen.flags.len()), (500, 0));
}

#[test]
fn too_few_open_files_are_named_with_the_fix() {
    let test = "workload::files::tests::too_few_open_files_are_named_with_the_fix";
    let Some(dir) = under_limits(test, "true") else { return };
    let scratch = dir.join("scratch");
    std::fs::create_dir(&scratch).unwrap();
    let (listing, levels) = (tree(10, "100"), levels("write", 1));
    let subject = Some(Subject::tree(&dir, 0, 1, &listing));
    let trial = Trial { levels: &levels, extent: Extent::Passes(1), subject, scratch: &scratch };
    (super::WORKLOAD.around.prepare)(&trial).unwrap();
    let highest = std::fs::File::open("/dev/null").unwrap();
    let most = std::os::fd::AsRawFd::as_raw_fd(&highest) as u64 + 2;
    let limit = rustix::process::Rlimit { current: Some(most), maximum: Some(most) };
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let fault = (super::WORKLOAD.run)(&trial, &mut NoWindow).unwrap_err();
    assert_eq!(fault.errno, Some(24), "{fault}");
    assert!(fault.cause.contains("ulimit -n"), "{fault}");
}

#[test]
fn what_may_not_be_read_is_left_out_and_counted() {
    let test = "workload::files::tests::what_may_not_be_read_is_left_out_and_counted";
    let Some(dir) = as_nobody(test, |dir| {
        let root = dir.join("tree");
        std::fs::create_dir_all(root.join("closed")).unwrap();
        std::fs::write(root.join("closed/inner"), b"x").unwrap();
        std::fs::write(root.join("open"), b"123").unwrap();
        std::fs::write(root.join("secret"), b"1234").unwrap();
        let mode = |name, mode| {
            std::fs::set_permissions(root.join(name), PermissionsExt::from_mode(mode)).unwrap();
        };
        mode("closed", 0o700);
        mode("secret", 0o600);
        mode("", 0o755);
    }) else {
        return;
    };
    let root = dir.join("tree");
    let found = scan(&root).unwrap();
    assert_eq!(found.left_out.unreadable, 2, "{:?}", found.left_out);
    let listing = Listing::Found(found);
    assert_eq!((listing.files(), listing.bytes()), (1, 3));
    for operation in ["read", "copy"] {
        let seen = trial(&dir, &root, &listing, &levels(operation, 2)).unwrap();
        assert_eq!((seen.operations, seen.bytes, seen.flags.len()), (1, 3, 0), "{seen:?}");
    }
}

#[test]
fn another_file_system_below_a_tree_is_not_entered() {
    let test = "workload::files::tests::another_file_system_below_a_tree_is_not_entered";
    let script = "mkdir -p t/m; echo 1 >t/a; mount -t tmpfs none t/m || exit 77; echo 2 >t/m/b";
    let Some(dir) = among_mounts(test, script) else { return };
    let found = scan(&dir.join("t")).unwrap();
    assert_eq!(found.left_out.mounts, 1);
    assert_eq!(Listing::Found(found).files(), 1);
}

#[test]
fn what_a_scan_finds_does_not_depend_on_its_threads() {
    let dir = open_directory();
    let root = dir.path().join("t");
    let (shape, body) = (Shape::Nested, Body::Zero);
    let made = Tree {
        files: 2500,
        sizes: "uniform:1..9".parse().unwrap(),
        shape,
        body,
        seed: 2,
        first: 0,
        rank: 0,
    };
    let listing = Listing::Made(made.clone());
    super::make_directories(&listing, &root).unwrap();
    let mut content = made.content(super::MAKE_BLOCK);
    super::make_files(&listing, &root, 0..2500, &mut content, &|| true).unwrap();
    let alone = scan_with(&root, 1).unwrap();
    for threads in [2, 3, 16] {
        assert_eq!(scan_with(&root, threads).unwrap(), alone, "{threads} threads");
    }
    let found = Listing::Found(alone);
    assert_eq!((found.files(), found.bytes()), (listing.files(), listing.bytes()));
    assert_eq!(found.directories(), listing.directories());
    for directory in 1..=found.directories() {
        assert!(found.parent(directory) < directory, "a directory comes after the one it is in");
    }
    super::clear(&listing, &root, &listing.whole()).unwrap();
}

#[test]
fn a_path_beyond_the_longest_is_walked_all_the_same() {
    let dir = open_directory();
    let root = dir.path().join("deep");
    std::fs::create_dir(&root).unwrap();
    // 30 names of 255 bytes: 7680 bytes, where PATH_MAX is 4096.
    let name = std::ffi::CString::new(vec![b'n'; 255]).unwrap();
    let mut at = super::build::open_root(&root).unwrap();
    for _ in 0..30 {
        use rustix::fs::{Mode, OFlags, mkdirat, openat};
        mkdirat(&at, &*name, Mode::RWXU).unwrap();
        at = openat(&at, &*name, OFlags::RDONLY | OFlags::DIRECTORY, Mode::empty()).unwrap();
    }
    let flags = rustix::fs::OFlags::WRONLY | rustix::fs::OFlags::CREATE;
    let odd = rustix::fs::openat(&at, c"\xff\n", flags, rustix::fs::Mode::RUSR).unwrap();
    rustix::io::write(&odd, b"the bottom").unwrap();
    let listing = Listing::Found(scan(&root).unwrap());
    assert_eq!((listing.files(), listing.bytes(), listing.directories()), (1, 10, 30));
    assert_eq!(listing.path(0).as_os_str().as_bytes().len(), 30 * 256 + 2);
    for operation in ["read", "copy", "stat"] {
        let seen = trial(dir.path(), &root, &listing, &levels(operation, 1));
        let seen = seen.unwrap_or_else(|fault| panic!("{operation}: {fault}"));
        assert_eq!((seen.operations, seen.flags.len()), (1, 0), "{seen:?}");
    }
    // No other program removes it by its path.
    super::clear(&listing, &root, &listing.whole()).unwrap();
    assert!(!root.exists());
}
