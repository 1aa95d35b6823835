//! Whole runs of `iolab write`, through the command line: what is answered, kept, bounded, left.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::cli_support::{Home, Said, document};
use iolab_io::place::kind_named;
use iolab_model::catalog::{Code, Factor};
use iolab_model::result::{CellStatus, Document};

fn run(home: &Home, arguments: &str) -> Document {
    let words: Vec<&str> = arguments.split(' ').chain(["--format", "json"]).collect();
    let document = document(&home.run(&words).done());
    assert_eq!(home.names(), ["state"], "nothing is left");
    document
}

/// Every cell was measured, and every trial's bytes were read back and are right.
fn all_proven(document: &Document) {
    for cell in &document.cells {
        assert_eq!(cell.status, CellStatus::Measured, "{}: {:?}", cell.id, cell.reason);
        for sample in &cell.samples {
            let digest = sample.measurement.proof.digest.as_ref().unwrap();
            assert_eq!(digest.matches, Some(true), "{}", cell.id);
            assert_eq!(digest.kind, "crc32c");
        }
    }
}

#[test]
fn methods_and_syncs_are_measured_on_ext4_and_tmpfs() {
    let test = "methods_and_syncs_are_measured_on_ext4_and_tmpfs";
    let missing = ["ext4", "tmpfs"].iter().find_map(|id| kind_named(id).unwrap().available().err());
    if let Some(missing) = missing {
        return eprintln!("SKIP {test}: {missing}");
    }
    let home = Home::new();
    let line = "write --file-size 256Ki --block 64Ki --method write,pwrite,mmap --sync none,end \
                --target new,overwrite --place ext4:size=512Mi,tmpfs --rounds 10";
    let document = run(&home, &line.split_whitespace().collect::<Vec<_>>().join(" "));
    all_proven(&document);
    assert_eq!(document.cells.len(), 3 * 2 * 2 * 2);
    assert_eq!(document.answers.len(), 4, "sync and target are conditions, place is not");
    let on_ext4 = |cell: &&iolab_model::result::CellRecord| {
        cell.factors.text(Factor::Place).unwrap().starts_with("ext4")
            && cell.factors.text(Factor::Target) == Some("new")
    };
    for cell in document.cells.iter().filter(on_ext4) {
        for sample in &cell.samples {
            let metrics = &sample.measurement.metrics;
            assert_eq!(metrics["durable_ns"] as u64, sample.measurement.wall_ns);
            assert!(metrics["return_ns"] <= metrics["durable_ns"]);
            assert!(metrics["durable_ns"] <= metrics["namespace_ns"]);
            // What a process makes dirty is one thing, what its device takes another: the second alone
            // says what was written, journal and metadata included.
            for id in ["dirtied_bytes", "disk_write_bytes"] {
                let written = metrics.get(id).is_some_and(|b| *b >= 256.0 * 1024.0);
                assert!(written, "{}: what is durable was written: {metrics:?}", cell.id);
            }
        }
    }
}

/// One byte at a time with O_SYNC takes hours for a file; the run keeps to its budget.
#[test]
fn one_byte_with_o_sync_is_bounded() {
    let home = Home::new();
    let start = Instant::now();
    let line = "write --file-size 16Mi --method write --block 1,64Ki --sync sync --budget 6s";
    let document = run(&home, line);
    let took = start.elapsed();
    // How long a sync takes is the disk's; what is bounded is how many there are.
    let calls: u64 = (document.cells.iter().flat_map(|cell| &cell.samples))
        .map(|sample| sample.measurement.operations)
        .sum();
    assert!(calls < 1 << 20, "{calls} calls in {took:?} for a budget of 6 s");
    all_proven(&document);
    let byte = document.cells.iter().find(|c| c.factors.number(Factor::Block) == Some(1)).unwrap();
    for sample in &byte.samples {
        let measured = &sample.measurement;
        assert!(measured.flags.contains(&Code::Bounded), "{:?}", measured.flags);
        assert_eq!(measured.bytes, measured.operations);
        // A sync is the write with it.
        let each = measured.wall_ns as f64 / measured.operations as f64;
        assert!((measured.metrics["sync_ns"] / each - 1.0).abs() < 1e-6);
    }
}

/// README's own example: mmap was eight times as fast as writes of 4 KiB with an fsync after each, for
/// it was synced once a MiB.
#[test]
fn a_method_without_blocks_is_not_ranked_among_writes_that_sync_each() {
    let home = Home::new();
    for sync in ["fsync", "every:2"] {
        let line = format!(
            "write --file-size 64Ki --block 16Ki --method pwrite,mmap --sync {sync} --rounds 6"
        );
        let document = run(&home, &line);
        let mapped = document.cells.iter().find(|c| c.id.starts_with("mmap")).unwrap();
        assert_eq!(mapped.status, CellStatus::Skipped, "{sync}");
        let reason = mapped.reason.as_ref().unwrap();
        assert!(reason.contains("no block of its own"), "{reason}");
    }
    // A page at a time it has one.
    let line = "write --file-size 64Ki --method mmap --sync fsync --pattern random --rounds 6";
    assert!(run(&home, line).cells.iter().all(|cell| cell.status == CellStatus::Measured));
}

#[test]
fn what_cannot_be_combined_is_skipped_with_the_reason() {
    let home = Home::new();
    let line = "write --file-size 64Ki --block 16Ki --method pwrite,mmap --sync dsync \
                --target new --rounds 10";
    let document = run(&home, &line.split_whitespace().collect::<Vec<_>>().join(" "));
    let mapped = document.cells.iter().find(|c| c.id.starts_with("mmap")).unwrap();
    assert_eq!(mapped.status, CellStatus::Skipped);
    let reason = mapped.reason.as_ref().unwrap();
    assert!(reason.contains("mmap with sync dsync") && reason.contains("--sync end"), "{reason}");
    let refused = |line: &str, words: &[&str]| {
        home.run(&line.split(' ').collect::<Vec<_>>()).refused(2, words);
    };
    refused("write --target append --threads 2 --file-size 64Ki", &["--threads 1"]);
    refused("write --fill compressible:101 --file-size 64Ki", &["up to 100"]);
    refused("write --sync always", &["always", "every:N"]);
}

#[test]
fn a_plan_says_what_will_be_written_and_writes_nothing() {
    let home = Home::new();
    let words = "write --file-size 8Mi --block 64Ki --method pwrite --rounds 20 --plan";
    let said = home.run(&words.split(' ').collect::<Vec<_>>()).fine().plain();
    assert!(said.contains("writes files of up to 8 MiB"), "{said}");
    assert!(said.contains("one at a time, each removed after its trial"), "{said}");
    // 20 rounds and 3 before, of one cell and its twin, 8 MiB each.
    assert!(said.contains("writes 368 MiB; takes 8 MiB of space"), "{said}");
    assert!(home.names().iter().all(|name| name == "state"));
}

#[test]
fn no_space_and_a_limit_are_refused_before_anything_is_written() {
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP no_space_and_a_limit_are_refused_before_anything_is_written: root");
    }
    let home = Home::new();
    let shell = |script: &str| {
        let line = format!("cd {} && {script}", home.path("").display());
        let mut command = std::process::Command::new("unshare");
        command.args(["-m", "sh", "-c", &line]).env("XDG_STATE_HOME", home.path("state"));
        Said::from(command.env("IOLAB", crate::cli_support::IOLAB).output().unwrap())
    };
    let mount = |options: &str| format!("mkdir -p m && mount -t tmpfs -o {options} none m && cd m");
    let write = "$IOLAB write --file-size 64Mi --method pwrite --block 1Mi --budget 2s";
    shell(&format!("{} && {write}", mount("size=8m"))).refused(20, &["no space", "--file-size"]);
    shell(&format!("{} && {write}", mount("ro"))).refused(20, &["read-only"]);
    shell(&format!("ulimit -f 2048 && {write}")).refused(20, &["ulimit -f"]);
}

/// A directory of iolab's own, by its marker.
fn left(home: &Home) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(home.path("")).unwrap().map(|entry| entry.unwrap().path());
    entries.filter(|path| path.file_name().is_some_and(|name| name != "state")).collect()
}

#[test]
fn what_a_killed_run_has_left_is_found_by_clean() {
    let home = Home::new();
    let mut command = home.command();
    command.args("write --file-size 32Mi --method pwrite --block 4Ki --rounds 100000".split(' '));
    command.stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let mut child = command.spawn().unwrap();
    let start = Instant::now();
    let writes = |path: &PathBuf| path.join("written").exists();
    while !left(&home).iter().any(writes) {
        assert!(start.elapsed() < Duration::from_secs(60), "it wrote nothing");
        std::thread::sleep(Duration::from_millis(1));
    }
    // The controller, its agent and the trial, all at once.
    let group = rustix::process::Pid::from_raw(child.id() as i32).unwrap();
    rustix::process::kill_process_group(group, rustix::process::Signal::KILL).unwrap();
    child.wait().unwrap();
    assert!(!left(&home).is_empty(), "nobody was left to remove anything");
    // A killed process holds its directory until it is gone.
    loop {
        let said = home.run(&[Path::new("clean"), &home.path("")]).fine();
        if left(&home).is_empty() {
            break;
        }
        assert!(start.elapsed() < Duration::from_secs(60), "{said:?}");
        std::thread::sleep(Duration::from_millis(20));
    }
}
