//! `iolab meta` as a person runs it: on file systems and overlays, with what was copied up counted
//! in the upper layer, without root, and where it cannot work.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::cli_support::{Home, IOLAB, Said, document, usable};
use iolab_model::catalog::{Code, Factor};
use iolab_model::result::{CellRecord, CellStatus, Document};

fn meta(home: &Home, more: &[&str]) -> Said {
    home.run(&[&["meta", "--format", "json"], more].concat())
}

fn cell<'a>(run: &'a Document, place: &str, operation: &str) -> &'a CellRecord {
    let is = |cell: &&CellRecord| {
        let on = cell.factors.text(Factor::Place);
        cell.factors.text(Factor::Operation) == Some(operation)
            && on.is_none_or(|on| on.split(':').next() == Some(place))
    };
    run.cells.iter().find(is).unwrap_or_else(|| panic!("no {operation} on {place}"))
}

/// The sum of a metric over all trials, per call.
fn per_call(cell: &CellRecord, metric: &str) -> f64 {
    let sum =
        |value: &dyn Fn(&iolab_model::result::Sample) -> f64| cell.samples.iter().map(value).sum();
    let all: f64 = sum(&|s| *s.measurement.metrics.get(metric).unwrap());
    let calls: f64 = sum(&|s| s.measurement.operations as f64);
    all / calls
}

const FILES: [&str; 6] = ["--files", "6", "--file-size", "100Ki", "--rounds", "10"];
const PAIR: &str = "overlay:on=ext4,overlay+metacopy:on=ext4";

fn on_overlays(home: &Home, operations: &str, pass: &str, places: &str) -> Document {
    let more = ["--operation", operations, "--pass", pass, "--place", places, "--budget", "2m"];
    document(&meta(home, &[&FILES[..], &more].concat()).fine())
}

#[test]
fn metacopy_leaves_the_data_below_until_the_first_write() {
    let test = "metacopy_leaves_the_data_below_until_the_first_write";
    if !usable(test, &["overlay+metacopy", "ext4"]) {
        return;
    }
    let home = Home::new();
    let run =
        on_overlays(&home, "chmod,write-after-chmod,chmod-write,rename,unlink", "first", PAIR);
    let bytes = |place, operation| per_call(cell(&run, place, operation), "copy_up_bytes");
    let marked = |place, operation| per_call(cell(&run, place, operation), "copy_up_metacopies");
    assert_eq!((bytes("overlay", "chmod"), marked("overlay", "chmod")), (102_400.0, 0.0));
    let metacopy = "overlay+metacopy";
    assert_eq!((bytes(metacopy, "chmod"), marked(metacopy, "chmod")), (0.0, 1.0));
    assert_eq!((bytes("overlay", "rename"), marked(metacopy, "rename")), (102_400.0, 1.0));
    for place in ["overlay", metacopy] {
        assert_eq!(bytes(place, "chmod-write"), 102_400.0, "{place}: a write needs the data");
        let whiteouts = per_call(cell(&run, place, "unlink"), "copy_up_whiteouts");
        assert_eq!(whiteouts, 1.0, "{place}: a name of the lower layer is covered");
    }
    // The chmod was made before the count of that trial's window began, in the same child.
    assert_eq!(bytes(metacopy, "write-after-chmod"), 102_400.0);
    for cell in &run.cells {
        assert_eq!(cell.status, CellStatus::Measured, "{}: {:?}", cell.id, cell.reason);
        let counts = cell.samples.iter().all(|s| s.counts());
        assert!(counts, "{}: every effect is seen through the mount", cell.id);
        let inodes = per_call(cell, "copy_up_inodes");
        assert!((1.0..=2.0).contains(&inodes), "{}: {inodes}; the parents came before", cell.id);
    }
    let said = home.run(&["show", "1", "--details"]).fine().plain();
    assert!(said.contains("each call copied up metadata alone"), "{said}");
    assert!(said.contains("each call copied up 100 KiB of data"), "{said}");
    assert!(said.contains("both in one"), "{said}");
    let html = home.path("report.html");
    home.run(&["report", "1", "--html", html.to_str().unwrap()]).fine();
    assert!(std::fs::read_to_string(html).unwrap().contains("each call copied up metadata alone"));
}

/// Whether trials of empty files waited for the device, seen in their own switches, is what the
/// flag says; without syncs, and with metacopy, nothing waits.
/// Each trial on an overlay copies its files up again: a plan of 51 s took an hour and wrote a hundred
/// times what it had said.
#[test]
fn the_plan_counts_what_is_copied_up() {
    if !usable("the_plan_counts_what_is_copied_up", &["ext4", "overlay", "overlay+metacopy"]) {
        return;
    }
    let home = Home::new();
    let of = |place: &str| {
        let asked = ["meta", "--operation", "chmod", "--file-size", "35MB", "--files", "8"];
        let place = ["--pass", "first", "--rounds", "20", "--plan", "--place", place];
        let plan = home.run(&[&asked[..], &place].concat()).fine().out;
        let writes = plan.lines().find(|line| line.trim_start().starts_with("writes"));
        writes.unwrap_or_else(|| panic!("{plan}")).to_owned()
    };
    // 280 MB in each of 23 rounds, and for the twin.
    assert!(of("overlay:on=ext4").contains("writes    12.3 GiB"));
    assert!(of("overlay+metacopy:on=ext4").contains("writes    267 MiB"));
}

#[test]
fn a_sync_of_metadata_alone_is_found_and_told() {
    let test = "a_sync_of_metadata_alone_is_found_and_told";
    if !usable(test, &["overlay+metacopy", "ext4"]) {
        return;
    }
    let home = Home::new();
    let places = "overlay:on=ext4,overlay+metacopy:on=ext4,overlay+volatile:on=ext4";
    let line = "--operation chmod --pass first --files 6 --rounds 10 --budget 2m --place";
    let run = meta(&home, &[&line.split(' ').collect::<Vec<_>>()[..], &[places]].concat());
    let run = document(&run.fine());
    let flagged = |place| {
        let samples = &cell(&run, place, "chmod").samples;
        let flags =
            |s: &iolab_model::result::Sample| s.measurement.flags.contains(&Code::CopyUpFsync);
        let count = samples.iter().filter(|s| flags(s)).count();
        assert!(count == 0 || count == samples.len(), "{place}: {count}");
        count > 0
    };
    assert!(!flagged("overlay+metacopy") && !flagged("overlay+volatile"));
    let waits = per_call(cell(&run, "overlay", "chmod"), "voluntary_switches") >= 1.0;
    assert_eq!(flagged("overlay"), waits);
    let warned = run.answers.iter().flat_map(|a| &a.warnings).any(|w| w.code == Code::CopyUpFsync);
    assert_eq!(warned, waits);
}

#[test]
fn percentiles_of_single_calls_stand_beside_the_mean() {
    let home = Home::new();
    let line = "--operation stat,create --files 200 --rounds 2 --latency";
    let run = document(&meta(&home, &line.split(' ').collect::<Vec<_>>()).fine());
    for cell in &run.cells {
        for sample in &cell.samples {
            if sample.measurement.operations < 2 {
                // Of one call there is no middle.
                assert!(!sample.measurement.metrics.contains_key("latency_p50_ns"));
                continue;
            }
            let metric = |id: &str| *sample.measurement.metrics.get(id).unwrap();
            let mean = sample.measurement.wall_ns as f64 / sample.measurement.operations as f64;
            let (middle, most) = (metric("latency_p50_ns"), metric("latency_max_ns"));
            assert!(middle > 0.0 && middle < 3.0 * mean && most >= middle);
        }
    }
}

#[test]
fn each_trial_touches_first_and_later_touches_copy_nothing() {
    let test = "each_trial_touches_first_and_later_touches_copy_nothing";
    if !usable(test, &["overlay", "ext4"]) {
        return;
    }
    let home = Home::new();
    let run = on_overlays(&home, "chmod", "first,second,steady,whole", "overlay:on=ext4");
    for cell in &run.cells {
        let first = matches!(cell.factors.text(Factor::Pass), Some("first" | "whole"));
        for sample in &cell.samples {
            let copied = sample.measurement.metrics.get("copy_up_bytes").unwrap();
            let calls = sample.measurement.operations as f64;
            // Before the window counts as well: a later touch has its copy-up behind it.
            let expected = if first { calls * 102_400.0 } else { 6.0 * 102_400.0 };
            let bounded = !first && calls < 6.0;
            assert!(bounded || *copied == expected, "{}: {copied} of {expected}", cell.id);
        }
    }
    let time = |pass: &str| {
        let is = |c: &&CellRecord| c.factors.text(Factor::Pass) == Some(pass);
        let cell = run.cells.iter().find(is).unwrap();
        cell.estimate.as_ref().unwrap().ns_per_operation.median
    };
    assert!(time("first") > 3.0 * time("second"), "{} {}", time("first"), time("second"));
}

#[test]
fn cost_against_file_size_is_a_line() {
    if !usable("cost_against_file_size_is_a_line", &["overlay", "tmpfs"]) {
        return;
    }
    let home = Home::new();
    let said = meta(
        &home,
        &[
            "--operation",
            "chmod",
            "--pass",
            "first",
            "--place",
            "overlay:on=tmpfs",
            "--files",
            "4",
            "--file-size",
            "64Ki,512Ki,2Mi",
            "--rounds",
            "12",
            "--budget",
            "2m",
        ],
    )
    .fine();
    assert_eq!(document(&said).cells.len(), 3);
    let shown = home.run(&["show", "1", "--details"]).fine().plain();
    assert!(shown.contains("more for each MiB of the file ("), "{shown}");
}

#[test]
fn every_operation_runs_on_ext4_and_in_memory() {
    if !usable("every_operation_runs_on_ext4_and_in_memory", &["ext4", "tmpfs"]) {
        return;
    }
    let home = Home::new();
    let more = ["--place", "ext4:size=512Mi,tmpfs", "--files", "40", "--rounds", "1"];
    let run = document(&meta(&home, &more).fine());
    assert_eq!(run.cells.len(), 42);
    for cell in &run.cells {
        assert_eq!(cell.status, CellStatus::Measured, "{}: {:?}", cell.id, cell.reason);
        assert!(cell.samples.iter().all(|s| s.counts()), "{}: {:?}", cell.id, cell.samples);
    }
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// What the program says to an ordinary user.
fn as_ordinary_user(line: &str) -> Said {
    let home = Home::open();
    let mut command = home.as_ordinary_user(Path::new(IOLAB));
    Said::from(command.args(line.split_whitespace()).output().unwrap())
}

#[test]
fn an_ordinary_person_is_told_what_is_left_out() {
    let line = "meta --operation chown,chmod --files 20 --rounds 2 --format json";
    let run = document(&as_ordinary_user(line).lacking("chown"));
    let chown = cell(&run, "", "chown");
    assert_eq!(chown.status, CellStatus::Skipped);
    let reason = chown.reason.as_ref().unwrap();
    assert!(reason.contains("not permitted") && reason.contains("run as root"), "{reason}");
    assert_eq!(cell(&run, "", "chmod").status, CellStatus::Measured);
}

#[test]
fn without_root_an_overlay_works_in_a_user_namespace_and_metacopy_is_skipped() {
    let line = "meta --operation chmod --pass first --place overlay:on=tmpfs,overlay+metacopy \
                --file-size 10Ki --files 5 --rounds 10 --format json";
    let said = as_ordinary_user(line);
    // Metacopy was named and cannot be had.
    let run = document(&said.lacking("overlay+metacopy"));
    let metacopy = cell(&run, "overlay+metacopy", "chmod");
    assert_eq!(metacopy.status, CellStatus::Skipped);
    assert!(metacopy.reason.as_ref().unwrap().contains("user namespace"), "{metacopy:?}");
    let overlay = cell(&run, "overlay", "chmod");
    if overlay.status == CellStatus::Skipped {
        return eprintln!("SKIP overlay without root: {:?}", overlay.reason);
    }
    assert_eq!(per_call(overlay, "copy_up_bytes"), 10_240.0);
}

#[test]
fn a_directory_with_any_name_will_do() {
    let home = Home::new();
    let odd = home.path("x").with_file_name(OsStr::from_bytes(b"odd \xff,:\n name"));
    std::fs::create_dir(&odd).unwrap();
    let mut command = home.command();
    command.args(["meta", "--operation", "rename,setxattr,truncate,mkdir", "--files", "9"]);
    command.args(["--rounds", "1", "--format", "json"]).arg(&odd);
    let run = document(&Said::from(command.output().unwrap()).fine());
    assert!(run.cells.iter().all(|c| c.status != CellStatus::Failed), "{:?}", run.cells);
    assert_eq!(std::fs::read_dir(&odd).unwrap().count(), 0);
}

#[test]
fn where_it_cannot_work_it_says_why() {
    let home = Home::new();
    let line = |text: &str| home.run(&text.split(' ').collect::<Vec<_>>());
    line("meta --files 0").refused(2, &["zero"]);
    line("meta --files 99999999999").refused(2, &["greatest files"]);
    line("meta --files 500000000 --operation stat").refused(20, &["no space", "the files need"]);
    line("meta --pass last").refused(2, &["first, second, steady"]);
    line("meta --operation stats").refused(2, &["did you mean stat"]);
    line("meta /proc/self").refused(20, &["/proc/self"]);
    if usable("where_it_cannot_work_it_says_why", &["ext4"]) {
        let full = "meta --operation stat --files 2000 --rounds 1 --place";
        let few_inodes = home.run(
            &[&full.split(' ').collect::<Vec<_>>()[..], &["ext4:size=1Gi,mkfs=[-N 512]"]].concat(),
        );
        assert_ne!(few_inodes.code, Some(0));
        assert!(few_inodes.err.contains("inodes"), "{few_inodes:?}");
        assert!(!few_inodes.err.contains("panicked"), "{few_inodes:?}");
    }
    assert_eq!(home.names(), ["state"], "nothing is left");
}
