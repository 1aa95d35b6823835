//! What goes wrong while a file is written, on real mounts and under real limits.

use std::fs;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;

use super::WORKLOAD;
use crate::method::NoWindow;
use crate::sys::fork::{End, run_forked};
use crate::sys::process::report_file_limit_as_error;
use crate::sys::testing::{GO_ON_AS_NOBODY, among_mounts, as_nobody, skip, under_limits};
use crate::workload::{Extent, Subject, Trial};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{Fault, Measurement};

const MIB: u64 = 1 << 20;

fn levels(words: &[(Factor, &str)]) -> Levels {
    let block = Levels::new().with(Factor::Block, Level::Number(64 << 10));
    words.iter().fold(block, |all, (factor, word)| all.with(*factor, Level::word(*word)))
}

/// One whole trial in a directory, by `pwrite` where nothing else is said.
fn write(scratch: &Path, bytes: u64, words: &[(Factor, &str)]) -> Result<Measurement, Fault> {
    let levels = levels(&[&[(Factor::Method, "pwrite")], words].concat());
    let path = scratch.join("subject");
    let subject = Some(Subject::file(&path, bytes, 3));
    let trial = Trial { levels: &levels, extent: Extent::Passes(1), subject, scratch };
    let around = &WORKLOAD.around;
    let measured = (around.prepare)(&trial).and_then(|()| {
        let mut measurement = (WORKLOAD.run)(&trial, &mut NoWindow)?;
        (around.verify)(&trial, &mut measurement)?;
        Ok(measurement)
    });
    (around.clear)(&trial).unwrap();
    assert!(!scratch.join("written").exists(), "something is left");
    measured
}

fn holds(measured: &Measurement) -> bool {
    measured.proof.digest.as_ref().is_some_and(|digest| digest.matches == Some(true))
}

fn errno(errno: Errno) -> Option<i32> {
    Some(errno.raw_os_error())
}

/// Where the mounts of these tests go, and whether they can be made.
const TMPFS: &str = "mkdir m; mount -t tmpfs -o size=2m tmpfs m";
const EXT4: &str = "truncate -s 24M image
    mkfs.ext4 -q -F image 2>/dev/null || { echo 'no mkfs.ext4' >&2; exit 77; }
    mkdir m; mount -o loop image m 2>/dev/null || { echo 'no loop device' >&2; exit 77; }";

fn a_full_disk(test: &str, mount: &str, too_much: u64) {
    let Some(dir) = among_mounts(test, mount) else { return };
    let scratch = dir.join("m");
    for target in ["new", "preallocated"] {
        for (sync, method) in [("none", "pwrite"), ("dsync", "write"), ("none", "io_uring")] {
            let words = [(Factor::Target, target), (Factor::Sync, sync), (Factor::Method, method)];
            let fault = write(&scratch, too_much, &words).unwrap_err();
            assert_eq!(fault.errno, errno(Errno::NOSPC), "{fault}");
            assert!(fault.cause.contains("smaller --file-size"), "{fault}");
        }
    }
    assert!(holds(&write(&scratch, MIB, &[]).unwrap()), "the space is given back");
    // Pages of a mapping that find no space are a signal: it costs the child that wrote.
    let trial = || {
        let _ = write(&scratch, too_much, &[(Factor::Method, "mmap")]);
        Vec::new()
    };
    let end = run_forked(trial, Duration::from_secs(60), None).unwrap();
    assert_eq!(end, End::Signal(libc::SIGBUS));
    fs::remove_file(scratch.join("written")).unwrap();
}

#[test]
fn a_full_tmpfs_is_a_fault_that_leaves_nothing() {
    let test = "workload::write::tests::a_full_tmpfs_is_a_fault_that_leaves_nothing";
    a_full_disk(test, TMPFS, 4 * MIB);
}

#[test]
fn a_full_ext4_is_a_fault_that_leaves_nothing() {
    let test = "workload::write::tests::a_full_ext4_is_a_fault_that_leaves_nothing";
    a_full_disk(test, EXT4, 64 * MIB);
}

#[test]
fn a_quota_that_is_used_up_is_named() {
    let test = "workload::write::tests::a_quota_that_is_used_up_is_named";
    let script = format!(
        "mkdir m
         mount -t tmpfs -o size=64m,mode=1777,usrquota,usrquota_block_hardlimit=1m tmpfs m \
             2>/dev/null || {{ echo 'tmpfs has no quota here' >&2; exit 77; }}
         {GO_ON_AS_NOBODY}"
    );
    let Some(dir) = among_mounts(test, &script) else { return };
    let scratch = dir.join("m");
    let fault = write(&scratch, 4 * MIB, &[]).unwrap_err();
    assert_eq!(fault.errno, errno(Errno::DQUOT), "{fault}");
    assert!(fault.cause.contains("quota"), "{fault}");
    assert!(holds(&write(&scratch, MIB / 2, &[]).unwrap()));
}

#[test]
fn a_limit_on_the_size_of_files_is_named() {
    let test = "workload::write::tests::a_limit_on_the_size_of_files_is_named";
    let Some(dir) = under_limits(test, "ulimit -f 2048 || exit 77") else { return };
    report_file_limit_as_error();
    for method in ["write", "pwrite", "writev", "mmap", "io_uring"] {
        let fault = write(&dir, 4 * MIB, &[(Factor::Method, method)]).unwrap_err();
        assert_eq!(fault.errno, errno(Errno::FBIG), "{method}: {fault}");
        assert!(fault.cause.contains("ulimit -f"), "{fault}");
    }
    assert!(holds(&write(&dir, MIB / 2, &[]).unwrap()));
}

#[test]
fn a_limit_on_locked_memory_is_named() {
    let test = "workload::write::tests::a_limit_on_locked_memory_is_named";
    let script = format!("ulimit -l 64 || exit 77\n{GO_ON_AS_NOBODY}");
    let Some(dir) = among_mounts(test, &script) else { return };
    let fault = write(&dir, MIB, &[(Factor::Method, "io_uring")]).unwrap_err();
    if fault.cause.contains("cannot be set up") {
        return skip(test, &fault.cause);
    }
    assert_eq!(fault.errno, errno(Errno::NOMEM), "{fault}");
    assert!(fault.cause.contains("ulimit -l"), "{fault}");
}

#[test]
fn a_directory_that_cannot_be_written_to_is_named() {
    let test = "workload::write::tests::a_directory_that_cannot_be_written_to_is_named";
    if let Some(dir) = among_mounts(test, "mkdir m; mount -t tmpfs -o ro tmpfs m") {
        let fault = write(&dir.join("m"), MIB, &[]).unwrap_err();
        assert_eq!(fault.errno, errno(Errno::ROFS), "{fault}");
        assert!(fault.cause.contains("name a directory"), "{fault}");
    }
}

#[test]
fn a_directory_of_someone_else_is_named() {
    let test = "workload::write::tests::a_directory_of_someone_else_is_named";
    let closed = |dir: &Path| fs::create_dir(dir.join("root's")).unwrap();
    let Some(dir) = as_nobody(test, closed) else { return };
    let fault = write(&dir.join("root's"), MIB, &[]).unwrap_err();
    assert_eq!(fault.errno, errno(Errno::ACCESS), "{fault}");
    assert!(fault.doing.contains("root's/written"), "{fault}");
}

#[test]
fn direct_writes_leave_nothing_in_the_cache_of_ext4() {
    let test = "workload::write::tests::direct_writes_leave_nothing_in_the_cache_of_ext4";
    let Some(dir) = among_mounts(test, EXT4) else { return };
    let (scratch, direct) = (dir.join("m"), (Factor::Direct, "on"));
    fs::write(scratch.join("subject"), vec![1; 2 << 20]).unwrap();
    for method in ["write", "pwrite", "writev", "io_uring"] {
        for target in ["new", "overwrite", "preallocated", "append"] {
            if (method, target) == ("io_uring", "append") {
                continue;
            }
            let words = [(Factor::Method, method), (Factor::Target, target), direct];
            let seen = write(&scratch, 2 * MIB, &words).unwrap();
            assert!(holds(&seen) && seen.flags.is_empty(), "{words:?}: {:?}", seen.flags);
        }
    }
    // The odd end of a file cannot be written directly and is written all the same.
    let seen = write(&scratch, MIB + 1003, &[direct]).unwrap();
    assert!(holds(&seen) && seen.flags.is_empty(), "{:?}", seen.flags);
    let small =
        levels(&[(Factor::Method, "pwrite"), direct]).with(Factor::Block, Level::Number(100));
    let path = scratch.join("subject");
    let subject = Some(Subject::file(&path, MIB, 3));
    let (extent, scratch) = (Extent::Passes(1), scratch.as_path());
    let trial = Trial { levels: &small, extent, subject, scratch };
    let fault = (WORKLOAD.run)(&trial, &mut NoWindow).unwrap_err();
    assert!(fault.cause.contains("multiples of 512") && fault.cause.contains("100"), "{fault}");
}

#[test]
fn direct_writes_that_were_none_are_seen_on_tmpfs() {
    let test = "workload::write::tests::direct_writes_that_were_none_are_seen_on_tmpfs";
    let Some(dir) = among_mounts(test, TMPFS) else { return };
    match write(&dir.join("m"), MIB, &[(Factor::Direct, "on")]) {
        // Since Linux 6.6 tmpfs takes the flag and does as it always does.
        Ok(seen) => assert_eq!(seen.flags, [Code::DirectBuffered]),
        Err(fault) => {
            assert_eq!(fault.errno, errno(Errno::INVAL));
            assert!(fault.cause.contains("leave out --direct on"), "{fault}");
        }
    }
}

#[test]
fn what_cannot_be_preallocated_says_so() {
    let test = "workload::write::tests::what_cannot_be_preallocated_says_so";
    let ext2 = EXT4.replace("mkfs.ext4", "mkfs.ext2");
    let Some(dir) = among_mounts(test, &ext2) else { return };
    match write(&dir.join("m"), MIB, &[(Factor::Target, "preallocated")]) {
        Ok(_) => skip(test, "ext2 preallocates here"),
        Err(fault) => {
            assert_eq!(fault.errno, errno(Errno::OPNOTSUPP));
            assert!(fault.cause.contains("leave --target preallocated out"), "{fault}");
        }
    }
}
