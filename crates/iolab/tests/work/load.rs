//! Much at once: a million files, two hundred workers. A hundredth of the files without IOLAB_TRUST
//! (`make trust`), which prints what it took.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use crate::cli_support::{Home, document};

/// Files that are made, looked at and removed again; in memory, where a million take 4 GB for a moment.
#[test]
fn very_many_files_are_made_looked_at_and_removed() {
    let Ok(memory) = tempfile::tempdir_in("/dev/shm") else {
        return eprintln!("SKIP very_many_files: no /dev/shm");
    };
    let files = if std::env::var_os("IOLAB_TRUST").is_some() { 1_000_000 } else { 10_000_u64 };
    let home = Home::new();
    let started = Instant::now();
    let mut run = home.command();
    run.current_dir(memory.path()).args([
        "files",
        "create,stat",
        "--file-size",
        "1",
        "--threads",
        "2",
    ]);
    run.args([
        "--files",
        &files.to_string(),
        "--rounds",
        "2",
        "--budget",
        "20m",
        "--format",
        "json",
    ]);
    let run = document(&crate::cli_support::Said::from(run.output().unwrap()).fine());
    for cell in &run.cells {
        let done = cell.samples.iter().rfind(|sample| sample.fault.is_none());
        let done = done.unwrap_or_else(|| panic!("{}: {:?}", cell.id, cell.reason));
        assert!(done.measurement.operations > 0, "{}", cell.id);
        let proof = done.measurement.proof.digest.as_ref().unwrap();
        assert_eq!(proof.matches, Some(true), "{}", cell.id);
    }
    println!("{files} files: {:?}", started.elapsed());
    assert_eq!(std::fs::read_dir(memory.path()).unwrap().count(), 0, "something is left");
}

/// A hundred workers for each processor of a small machine: each does its part, and the whole is done.
#[test]
fn two_hundred_workers_each_do_their_part() {
    let home = Home::new();
    home.file("f", 32 << 20);
    let few = ["--rounds", "3", "--format", "json"];
    let read = ["read", "f", "--method", "read,pread,mmap", "--block", "64Ki", "--threads", "200"];
    let files = ["files", "read", "--files", "1000", "--file-size", "1Ki", "--threads", "200"];
    for asked in [&read[..], &files] {
        let run = document(&home.run(&[asked, &few].concat()).fine());
        for cell in &run.cells {
            let counted = cell.samples.iter().filter(|sample| sample.counts()).count();
            assert!(counted >= 3, "{}: {:?} {:?}", cell.id, cell.reason, cell.samples[0].fault);
        }
    }
}
