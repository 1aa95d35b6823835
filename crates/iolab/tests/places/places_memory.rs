//! A memory limit for real: a file that is larger than it does not stay in memory.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::fs::{self, File};
use std::os::unix::fs::FileExt;
use std::process::Command;

use iolab_io::place::memory::{LEAST_LIMIT_BYTES, Limit, cgroup_backend, sweep_groups};
use iolab_io::sys::child::try_in_child;

const FILE_BYTES: u64 = 96 << 20;
const LIMIT_BYTES: u64 = 24 << 20;

fn evict(file: &File) {
    file.sync_all().unwrap();
    rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed).unwrap();
}

fn read_through(file: &File) {
    let mut buffer = vec![0; 1 << 20];
    for at in (0..FILE_BYTES).step_by(1 << 20) {
        file.read_exact_at(&mut buffer, at).unwrap();
    }
}

fn resident_bytes(path: &std::path::Path) -> u64 {
    let output =
        Command::new("fincore").args(["-b", "-n", "-o", "RES"]).arg(path).output().unwrap();
    String::from_utf8(output.stdout).unwrap().trim().parse().unwrap()
}

#[test]
fn a_file_larger_than_the_limit_is_read_from_the_device_again_and_again() {
    let test = "a_file_larger_than_the_limit_is_read_from_the_device_again_and_again";
    match cgroup_backend() {
        Ok(way) => eprintln!("{way:?}"),
        Err(missing) => return eprintln!("SKIP {test}: {missing}"),
    }
    let dir = tempfile::Builder::new().prefix("iolab-test-").tempdir_in("/var/tmp").unwrap();
    let path = dir.path().join("file");
    fs::write(&path, vec![7; FILE_BYTES as usize]).unwrap();
    let file = File::options().read(true).write(true).open(&path).unwrap();

    // Without a limit: all of it stays.
    evict(&file);
    read_through(&file);
    assert_eq!(resident_bytes(&path), FILE_BYTES);

    let limit = match Limit::make(LIMIT_BYTES) {
        Ok(limit) => limit,
        Err(fault) => return eprintln!("SKIP {test}: {fault}"),
    };
    evict(&file);
    let before = limit.evidence().unwrap();
    for _ in 0..2 {
        try_in_child(|| {
            limit.enter().map_err(std::io::Error::other)?;
            read_through(&file);
            Ok(())
        })
        .unwrap();
    }
    let after = limit.evidence().unwrap();
    assert!(after.peak_bytes <= LIMIT_BYTES, "{after:?}");
    assert!(resident_bytes(&path) <= LIMIT_BYTES);
    assert!(after.refaults > before.refaults, "{before:?} {after:?}");
    assert!(after.peak_bytes > LIMIT_BYTES / 2, "{after:?}");
    assert_eq!(after.kills, 0);

    let group = limit.group().to_owned();
    assert!(!sweep_groups().contains(&group), "a living one's group stays");
    limit.remove().unwrap();
    assert!(!group.exists());
}

#[test]
fn a_limit_that_is_too_small_names_the_least() {
    let error = Limit::make(LEAST_LIMIT_BYTES - 1).unwrap_err();
    assert!(error.cause.contains("16 MiB"), "{error}");
}

#[test]
fn a_trial_that_needs_more_is_killed_alone() {
    let Ok(limit) = Limit::make(LEAST_LIMIT_BYTES) else {
        return eprintln!("SKIP a_trial_that_needs_more_is_killed_alone: no memory limit here");
    };
    let died = try_in_child(|| {
        limit.enter().map_err(std::io::Error::other)?;
        std::hint::black_box(vec![1_u8; 4 * LEAST_LIMIT_BYTES as usize]);
        Ok(())
    });
    assert!(died.unwrap_err().to_string().contains("killed"));
    assert_eq!(limit.evidence().unwrap().kills, 1);
    limit.remove().unwrap();
}
