//! Runs of `iolab copy` as a person starts them: real places, files of the person's, full disks,
//! and clones that are not ranked with copies.

#![allow(clippy::unwrap_used, clippy::expect_used)] // also in helpers, which the lint does not take for tests

use std::os::unix::fs::{MetadataExt, PermissionsExt};

use crate::cli_support::{Home, Said, document, usable};
use iolab_model::catalog::{Code, Factor};
use iolab_model::result::{CellRecord, CellStatus, CopyRoute, Document};

fn run(home: &Home, arguments: &[&str]) -> Document {
    let all = [&["copy", "--format", "json", "--block", "64Ki"], arguments].concat();
    let said = home.run(&all).done();
    assert!(home.names().iter().all(|name| !name.starts_with(".iolab")), "{:?}", home.names());
    document(&said)
}

fn cell<'a>(run: &'a Document, id: &str) -> &'a CellRecord {
    run.cells.iter().find(|cell| cell.id == id).unwrap_or_else(|| panic!("{id}: {:?}", run.cells))
}

fn route(cell: &CellRecord) -> CopyRoute {
    let routes = cell.samples.iter().map(|s| s.measurement.proof.copy.as_ref().unwrap().route);
    let mut routes: Vec<CopyRoute> = routes.collect();
    routes.dedup();
    assert_eq!(routes.len(), 1, "{}: {routes:?}", cell.id);
    routes[0]
}

/// The source is untouched: bytes, mode, time of change.
fn identity(path: &std::path::Path) -> (Vec<u8>, u32, i64, i64) {
    let about = std::fs::metadata(path).unwrap();
    (std::fs::read(path).unwrap(), about.mode(), about.mtime(), about.mtime_nsec())
}

#[test]
fn a_file_of_the_persons_is_copied_verified_and_never_touched() {
    let home = Home::new();
    let file = home.file("mine", (1 << 20) + 77);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o640)).unwrap();
    let before = identity(&file);
    let run = run(&home, &[file.to_str().unwrap(), "--rounds", "10"]);
    assert_eq!(identity(&file), before);
    assert_eq!(home.names(), ["mine", "state"]);
    let measured: Vec<&CellRecord> =
        run.cells.iter().filter(|cell| cell.status == CellStatus::Measured).collect();
    assert!(measured.len() >= 5, "{measured:?}");
    for cell in measured {
        for sample in cell.samples.iter().filter(|sample| sample.fault.is_none()) {
            let proof = &sample.measurement.proof;
            assert_eq!(proof.digest.as_ref().unwrap().matches, Some(true), "{}", cell.id);
            assert!(proof.copy.as_ref().unwrap().matches, "{}", cell.id);
            assert_eq!(sample.measurement.bytes, (1 << 20) + 77, "{}", cell.id);
        }
        assert!(cell.samples.iter().filter(|s| s.counts()).count() >= 8, "{}", cell.id);
    }
}

#[test]
fn clones_stand_in_the_table_but_not_in_the_ranking() {
    if !usable("clones_stand_in_the_table_but_not_in_the_ranking", &["btrfs"]) {
        return;
    }
    let home = Home::new();
    let methods = "read-write,sendfile,copy_file_range,reflink";
    let places = ["--place", "btrfs", "--file-size", "4Mi", "--rounds", "10"];
    let mixed = run(&home, &[&places[..], &["--method", methods]].concat());
    assert_eq!(route(cell(&mixed, "read-write")), CopyRoute::UserSpace);
    assert_eq!(route(cell(&mixed, "sendfile")), CopyRoute::InKernel);
    for clone in ["copy_file_range", "reflink"] {
        assert_eq!(route(cell(&mixed, clone)), CopyRoute::Cloned);
        assert!(cell(&mixed, clone).estimate.is_some(), "its times are told");
        let answer = &mixed.answers[0];
        assert!(answer.comparisons.iter().all(|c| c.a != clone && c.b != clone), "{answer:?}");
        assert!(!answer.best.contains(&clone.into()), "{answer:?}");
        let warning = answer.warnings.iter().find(|w| w.code == Code::ClassMixed).unwrap();
        assert!(warning.text.contains(clone), "{warning:?}");
    }
    // Among themselves they are compared.
    let clones = run(&home, &[&places[..], &["--method", "copy_file_range,reflink"]].concat());
    assert_eq!(clones.answers[0].comparisons.len(), 1);
    assert!(clones.answers[0].warnings.iter().all(|w| w.code != Code::ClassMixed));
}

#[test]
fn from_one_file_system_to_another() {
    if !usable("from_one_file_system_to_another", &["ext4", "xfs", "tmpfs"]) {
        return;
    }
    let home = Home::new();
    let arguments = ["--source-place", "ext4", "--place", "xfs,tmpfs", "--file-size", "2Mi"];
    let run = run(&home, &[&arguments[..], &["--rounds", "5"]].concat());
    for place in ["ext4", "xfs", "tmpfs"] {
        let facts = &run.environment.0[&format!("place.{place}")];
        assert_eq!(facts["file_system"], place, "both ends are in the record: {facts}");
    }
    for place in ["xfs", "tmpfs"] {
        let cell = |method: &str| cell(&run, &format!("{place}/{method}"));
        for method in ["read-write", "sendfile", "splice", "mmap", "mmap-both"] {
            assert_eq!(cell(method).status, CellStatus::Measured, "{place} {method}");
            assert!(cell(method).samples.iter().any(|sample| sample.counts()));
        }
        let reason = cell("reflink").reason.as_deref().unwrap();
        assert_eq!(cell("reflink").status, CellStatus::Skipped);
        assert!(reason.contains("os error 18") && reason.contains("read-write"), "{reason}");
        assert!(cell("reflink").samples.is_empty());
    }
}

#[test]
fn a_file_of_the_persons_goes_to_each_place() {
    if !usable("a_file_of_the_persons_goes_to_each_place", &["ext4", "tmpfs"]) {
        return;
    }
    let home = Home::new();
    let file = home.file("mine", 1 << 20);
    let arguments = [file.to_str().unwrap(), "--place", "ext4,tmpfs", "--rounds", "4"];
    let run = run(&home, &[&arguments[..], &["--method", "read-write,sendfile"]].concat());
    assert!(run.cells.iter().all(|cell| cell.status == CellStatus::Measured), "{:?}", run.cells);
    let places = run.cells.iter().map(|cell| cell.factors.text(Factor::Place).unwrap());
    assert_eq!(places.collect::<Vec<_>>(), ["ext4", "tmpfs", "ext4", "tmpfs"]);
    let said = home.run(&["copy", "mine", "--source-place", "ext4"]);
    said.refused(2, &["a file of yours is where it is"]);
}

#[test]
fn cold_and_remounted_sources_are_proven() {
    if !usable("cold_and_remounted_sources_are_proven", &["ext4"]) {
        return;
    }
    let home = Home::new();
    let arguments = ["--place", "ext4", "--file-size", "4Mi", "--cache", "cold,remount,warm,any"];
    let methods = ["--method", "read-write,sendfile,mmap", "--rounds", "6"];
    let run = run(&home, &[&arguments[..], &methods].concat());
    assert_eq!(run.cells.len(), 12);
    for cell in &run.cells {
        let proven = cell.samples.iter().filter(|sample| sample.counts()).count();
        // Other work on the machine may spoil a trial, which then counts for nothing; not most.
        assert!(proven >= 3, "{}: {:?}", cell.id, cell.samples[0].measurement.proof);
        let cache = cell.factors.text(Factor::Cache).unwrap();
        let measured = &cell.samples[0].measurement;
        let read = measured.metrics.get("device_read_bytes").unwrap();
        if cache == "cold" || cache == "remount" {
            assert!(*read >= 0.99 * measured.bytes as f64, "{}: {read}", cell.id);
        }
    }
}

/// One byte at a time is bounded: the answer comes within the budget, not after minutes.
#[test]
fn a_one_byte_buffer_is_bounded() {
    let home = Home::new();
    let arguments = ["--file-size", "8Mi", "--method", "read-write", "--rounds", "3"];
    let all = [&["copy", "--format", "json", "--block", "1,64Ki"], &arguments[..]].concat();
    let run = document(&home.run(&[&all[..], &["--budget", "10s"]].concat()).fine());
    let slow = cell(&run, "read-write/1");
    assert!(slow.samples.iter().all(|s| s.measurement.flags.contains(&Code::Bounded)));
    let bytes = slow.samples.iter().map(|s| s.measurement.bytes).max().unwrap();
    assert!(bytes < 8 << 20, "{bytes}");
    assert!(slow.samples.iter().any(|s| s.counts()));
    // A trial goes on where the last one stopped, and what it copied is checked.
    assert!(
        slow.samples
            .iter()
            .all(|s| s.measurement.proof.digest.as_ref().unwrap().matches == Some(true))
    );
}

#[test]
fn sparse_sources_are_made_and_holes_kept_or_filled() {
    let home = Home::new();
    let arguments = ["--file-size", "6Mi", "--sparse", "keep,fill", "--rounds", "3"];
    let run = run(&home, &[&arguments[..], &["--method", "read-write,sendfile,reflink"]].concat());
    for method in ["read-write", "sendfile"] {
        let sample = |word: &str| {
            let id = format!("{method}/sparse={word}");
            cell(&run, &id).samples[0].measurement.proof.copy.clone().unwrap()
        };
        let (kept, filled) = (sample("keep"), sample("fill"));
        assert!(kept.matches && kept.hole_bytes == 3 << 20, "{kept:?}");
        assert!(filled.matches && filled.hole_bytes == 0, "{filled:?}");
        assert!(kept.stored_bytes < filled.stored_bytes);
    }
    let reflink = cell(&run, "reflink/sparse=fill");
    assert_eq!(reflink.status, CellStatus::Skipped);
}

#[test]
fn bad_input_is_refused_in_one_line() {
    let home = Home::new();
    home.file("mine", 4096);
    home.file("empty", 0);
    let copy = |arguments: &[&str]| home.run(&[&["copy"], arguments].concat());
    copy(&["."]).refused(2, &["directory"]);
    copy(&["nothing-here"]).refused(2, &["nothing-here"]);
    copy(&["empty"]).refused(2, &["is empty"]);
    copy(&["/dev/null"]).refused(2, &["/dev/null"]);
    copy(&["mine", "--method", "cp"]).refused(2, &["choose from", "read-write"]);
    copy(&["mine", "--sparse", "maybe"]).refused(2, &["keep"]);
    copy(&["mine", "--sync", "always"]).refused(2, &["every:N"]);
    copy(&["mine", "--place", "squashfs"]).refused(2, &["squashfs"]);
    copy(&["mine", "--vm"]).refused(2, &["--vm"]);
    assert_eq!(home.names(), ["empty", "mine"], "and nothing is left");
}

/// The copy does not fit where its source does.
#[test]
fn a_full_place_is_seen_before_or_costs_the_trial() {
    let test = "a_full_place_is_seen_before_or_costs_the_trial";
    if !usable(test, &["tmpfs"]) {
        return;
    }
    let home = Home::new();
    let said = home.run(&["copy", "--file-size", "40Mi", "--place", "tmpfs:size=64Mi", "--plan"]);
    assert!(said.err.contains("with its copy does not fit"), "{said:?}");
    // Half of the place is taken by someone else: not seen before, so the trial says it.
    let script = "mkdir m; mount -t tmpfs -o size=24m tmpfs m; head -c 16m /dev/zero > source
        \"$IOLAB\" copy source --method read-write,mmap-both --block 64Ki --rounds 2 \\
            --place \"dir:$PWD/m\" --format json; ls -A m";
    let output = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", script])
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("IOLAB", crate::cli_support::IOLAB)
        .output()
        .unwrap();
    let said = Said::from(output);
    assert!(said.out.contains("read-write"), "it fits once: {said:?}");
    let script = script.replace("head -c 16m", "head -c 30m");
    let output = std::process::Command::new("unshare")
        .args(["--mount", "--propagation", "private", "sh", "-c", &script.replace("mkdir m; ", "")])
        .current_dir(home.path("."))
        .env("XDG_STATE_HOME", home.path("state"))
        .env("IOLAB", crate::cli_support::IOLAB)
        .output()
        .unwrap();
    let said = Said::from(output);
    assert!(!said.err.contains("panicked"), "{said:?}");
    let words = ["No space left", "SIGBUS", "free some space"];
    assert!(words.iter().any(|w| said.err.contains(w) || said.out.contains(w)), "{said:?}");
    assert!(!said.out.contains("copy-0\n"), "the broken copy is gone: {said:?}");
}

/// Whether a copy is being made below this directory.
fn is_copied(directory: &std::path::Path, bytes: u64) -> bool {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter(|entry| entry.file_name() != "source").any(|entry| match entry.metadata() {
        Ok(about) if about.is_dir() => is_copied(&entry.path(), bytes),
        about => about.is_ok_and(|about| about.len() == bytes),
    })
}

/// A run whose source loses its tail while a copy of it is made, if that can be met.
fn cut_while_copied(home: &Home, bytes: u64) -> Said {
    use std::io::BufRead;
    let source = home.file("source", bytes as usize);
    let mut command = home.command();
    command.args(["copy", "source", "--method", "mmap-both", "--rounds", "1000", "--budget", "1m"]);
    command.args(["--cache", "any", "--format", "json"]);
    command.stdout(std::process::Stdio::piped()).stderr(std::process::Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut errors = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    while !line.contains("a round takes about") {
        line.clear();
        assert!(errors.read_line(&mut line).unwrap() > 0, "it ended");
    }
    // The target has its size before the first byte is copied; one that is there may be whole.
    while is_copied(&home.path("."), bytes) {}
    while !is_copied(&home.path("."), bytes) {}
    std::fs::OpenOptions::new().write(true).open(&source).unwrap().set_len(5000).unwrap();
    let rest = std::thread::spawn(move || std::io::read_to_string(errors).unwrap());
    let mut said = Said::from(child.wait_with_output().unwrap());
    said.err = rest.join().unwrap();
    said
}

#[test]
fn a_mapped_source_that_loses_its_tail_costs_its_trials_only() {
    let home = Home::new();
    let mut met = false;
    // On a busy machine a copy may be whole before this process runs again.
    for _ in 0..8 {
        let said = cut_while_copied(&home, 512 << 20);
        assert!(said.code.is_some() && !said.err.contains("panicked"), "it lives: {said:?}");
        let run = document(&said);
        let faults: Vec<_> = run.cells[0].samples.iter().filter_map(|s| s.fault.as_ref()).collect();
        assert!(
            !faults.is_empty() && faults.iter().all(|f| f.cause.contains("shorter")),
            "{faults:?}"
        );
        assert_eq!(home.names(), ["source", "state"], "no copy is left");
        met |= faults[0].signal == Some(7);
        if met {
            break;
        }
    }
    assert!(met, "no trial touched what was gone");
}
