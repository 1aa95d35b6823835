//! Trees on places: each operation on each file system, names and inodes cold after a remount, and
//! a file system of its own that runs full.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use crate::cli_support::{Home, Said, document, known_metrics, usable};
use iolab_agent::{Extent, InstanceOrder, Reply, Request, Transport, TrialRequest};
use iolab_model::catalog::{Code, Factor, Level, Levels, Sizes};
use iolab_model::result::{CellRecord, CellStatus, Document, Sample};
use iolab_model::tree::{Body, Shape, Tree, TreeOrder};
use iolab_test::real_agent::started_agent;

fn run(home: &Home, line: &str) -> Said {
    let arguments: Vec<&str> = line.split_whitespace().chain(["--format", "json"]).collect();
    home.run(&arguments)
}

fn cell<'a>(run: &'a Document, operation: &str, cache: Option<&str>) -> &'a CellRecord {
    let is = |cell: &&CellRecord| {
        cell.factors.text(Factor::Operation) == Some(operation)
            && cell.factors.text(Factor::Cache) == cache
    };
    run.cells.iter().find(is).unwrap()
}

#[test]
fn every_operation_works_on_every_place() {
    let kinds = ["ext4", "xfs", "tmpfs", "overlay"];
    if !usable("every_operation_works_on_every_place", &kinds) {
        return;
    }
    let home = Home::new();
    let said = run(
        &home,
        "files read,write,copy,create,stat,remove --files 40 --file-size 5000 --threads 2 \
         --place ext4:size=512Mi,xfs,tmpfs,overlay:on=tmpfs --method read-write --rounds 1 \
         --budget 2m",
    );
    let run = document(&said.fine());
    assert_eq!(run.cells.len(), 24);
    for cell in &run.cells {
        assert_eq!(cell.status, CellStatus::Measured, "{}: {:?}", cell.id, cell.reason);
        for sample in &cell.samples {
            let seen = &sample.measurement;
            let digest = seen.proof.digest.as_ref().unwrap();
            assert_eq!(digest.matches, Some(true), "{}: {seen:?}", cell.id);
            assert!(seen.operations > 0, "{}", cell.id);
        }
        assert!(cell.samples.iter().any(|s| s.counts()), "{}: {:?}", cell.id, cell.samples);
    }
    for (place, file_system) in [
        ("ext4:size=512Mi", "ext4"),
        ("xfs", "xfs"),
        ("tmpfs", "tmpfs"),
        ("overlay:on=[tmpfs]", "overlay"),
    ] {
        let facts = &run.environment.0[&format!("place.{place}")];
        assert_eq!(facts["file_system"], file_system, "{facts}");
        // It once said that tmpfs runs on the driver of ext4.
        assert_eq!(facts["driver"], file_system, "{facts}");
    }
    known_metrics(&run);
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// Bytes from the device in the trials of a cell that are proven, per file.
fn device_bytes(cell: &CellRecord) -> f64 {
    let sum = |of: &dyn Fn(&Sample) -> f64| -> f64 {
        cell.samples.iter().filter(|sample| sample.counts()).map(of).sum()
    };
    let bytes = sum(&|s| s.measurement.metrics["device_read_bytes"]);
    bytes / sum(&|s| s.measurement.operations as f64)
}

/// A cold tree was cold in its data alone: to prove that, each file was opened, and its inode was
/// in memory when the clock started. And a stat beside a cold read had no cache state at all.
#[test]
fn a_remounted_tree_is_cold_in_its_names_and_inodes_too() {
    if !usable("a_remounted_tree_is_cold_in_its_names_and_inodes_too", &["ext4"]) {
        return;
    }
    let home = Home::new();
    let said = run(
        &home,
        "files read,stat,copy --files 1000 --file-size 4096 --threads 1 --rounds 3 --budget 2m \
         --place ext4:size=512Mi --cache warm,cold,remount --method read-write",
    );
    let run = document(&said.fine());
    for cell in run.cells.iter().filter(|cell| cell.status == CellStatus::Measured) {
        for sample in &cell.samples {
            let proof = sample.measurement.proof.cache.as_ref().unwrap();
            // After the remount of another cell a few blocks of ext4's own tables may come from the device,
            // 4 to 16 KiB, and all inodes (256 KiB) where another test drops the machine's caches: then
            // the trial is not warm, says so and does not count.
            let warm = cell.id.ends_with("warm");
            let few = proof.device_bytes.is_some_and(|bytes| bytes <= 512 * 1024);
            assert!(proof.proven || warm && few, "{}: {proof:?}", cell.id);
            let remount = cell.factors.text(Factor::Cache) == Some("remount");
            assert_eq!(proof.how.remounted, remount, "{}: {proof:?}", cell.id);
            let whole = sample.measurement.operations.is_multiple_of(1000);
            assert!(!remount || whole, "{}: no part stands for the whole tree", cell.id);
        }
    }
    for operation in ["read", "copy"] {
        let of = |cache| device_bytes(cell(&run, operation, Some(cache)));
        assert_eq!(of("cold"), 4096.0, "{operation}: data alone");
        // A copy may read blocks of inodes and bitmaps that its new files go into.
        let most = if operation == "copy" { 512.0 } else { 0.0 };
        assert!(of("warm") <= most, "{operation}: {}", of("warm"));
        // An inode of ext4 has 256 bytes; those of the first 512 files come with the mount.
        assert!(of("remount") >= 4096.0 + 100.0, "{operation}: {}", of("remount"));
    }
    assert_eq!(device_bytes(cell(&run, "stat", Some("warm"))), 0.0);
    assert!(device_bytes(cell(&run, "stat", Some("remount"))) >= 100.0);
    let cold = cell(&run, "stat", Some("cold"));
    assert_eq!(cold.status, CellStatus::Skipped);
    assert!(cold.reason.as_ref().unwrap().contains("--cache remount"), "{:?}", cold.reason);
    let here = home.run(&["files", "stat", "--files", "9", "--cache", "remount", "--plan"]);
    here.refused(2, &["not mounted by iolab", "--place ext4"]);
}

#[test]
fn a_place_without_inodes_left_cuts_the_trial_short_and_stays_usable() {
    let test = "a_place_without_inodes_left_cuts_the_trial_short_and_stays_usable";
    if !usable(test, &["ext4"]) {
        return;
    }
    let home = Home::new();
    let line = "files create,stat --files 400 --threads 2 --rounds 2 --format json --place";
    let arguments: Vec<&str> = line.split(' ').chain(["ext4:size=512Mi,mkfs=[-N 700]"]).collect();
    let run = document(&home.run(&arguments).fine());
    let create = cell(&run, "create", None);
    assert_eq!(create.status, CellStatus::Measured, "{:?}", create.reason);
    for sample in &create.samples {
        let seen = &sample.measurement;
        assert!(seen.flags.contains(&Code::Truncated) && seen.operations < 400, "{seen:?}");
    }
    assert!(cell(&run, "stat", Some("warm")).samples.iter().all(|s| s.counts()));
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// Without a journal ext4 looks at each inode that was freed of late, for every file behind it: one of ten
/// trials took three to twenty times as long.
#[test]
fn a_trial_that_meets_inodes_which_are_held_back_is_made_again() {
    let test = "a_trial_that_meets_inodes_which_are_held_back_is_made_again";
    if !usable(test, &["ext4"]) {
        return;
    }
    let home = Home::new();
    // One block group.
    let image = "rm -rf i m; truncate -s 128M i; mkdir m; \
        mkfs.ext4 -q -F -O ^has_journal,^flex_bg -b 4096 -N 32768 i; mount -o loop i m;";
    let held = "mkdir m/free m/held; \
        for n in $(seq 900); do : >m/free/$n; done; for n in $(seq 2000); do : >m/held/$n; done; \
        rm -r m/free; umount m; mount -o loop i m; rm -r m/held; sleep 1.1;";
    let sh = |script: &str| {
        let mut command = std::process::Command::new("sh");
        command.args(["-ec", script]).current_dir(home.path(".")).status().unwrap().success()
    };
    let on = |held: &str, trials: usize| {
        let mounted = sh(&format!("{image} {held} mkdir m/w"));
        // Nothing may stay mounted, whatever the agent does.
        let again = std::panic::catch_unwind(|| made_again(&home.path("m/w"), trials));
        assert!(sh("umount m") && mounted);
        again.unwrap()
    };
    let again = on(held, 6);
    assert!(again.iter().any(|times| *times > 0.0), "{again:?}");
    assert!(again.iter().all(|times| *times <= 4.0), "{again:?}");
    assert_eq!(on("", 3), [0.0; 3], "where none is held back all is as it was");
}

/// How often each of so many trials, each of 300 empty files, was made again.
fn made_again(directory: &std::path::Path, trials: usize) -> Vec<f64> {
    let tree = Tree {
        files: 300,
        sizes: Sizes::Fixed(0),
        shape: Shape::Shared,
        body: Body::Random,
        seed: 1,
        first: 0,
        rank: 0,
    };
    let mut agent = started_agent(crate::cli_support::IOLAB.into(), directory);
    let order =
        InstanceOrder { seed: 1, tree: Some(TreeOrder::Each(tree)), ..InstanceOrder::default() };
    assert_eq!(agent.ask(&Request::Make(order)).unwrap(), Reply::Done);
    let levels = Levels::new()
        .with(Factor::Operation, Level::word("create"))
        .with(Factor::Files, Level::Number(300))
        .with(Factor::Sizes, Level::word("empty"))
        .with(Factor::Layout, Level::word("shared"))
        .with(Factor::Threads, Level::Number(1));
    let trial = Request::Trial(Box::new(TrialRequest {
        workload: "files".to_owned(),
        levels,
        instance: Some(0),
        extent: Extent::Passes(1),
        limit_ns: 60_000_000_000,
    }));
    let again = (0..trials).map(|_| match agent.ask(&trial).unwrap() {
        Reply::Measured(measurement) => {
            assert_eq!(measurement.operations, 300, "each is whole, however often it was made");
            measurement.metrics.get("made_again").copied().unwrap_or(0.0)
        }
        other => panic!("{other:?}"),
    });
    let again = again.collect();
    assert_eq!(agent.ask(&Request::End).unwrap(), Reply::Done);
    again
}
