//! `iolab replay`: the file work of recorded programs, done again.

use std::fs;

use crate::cli_support::{Home, document, programs, traceable};
use iolab_model::catalog::{Factor, Family, ReplayThink};
use iolab_model::result::{CellStatus, Document, Sample};

/// A log of a program that reads a file of these bytes, a byte at a time.
fn slow_reader(bytes: usize) -> String {
    let mut calls = vec!["openat(AT_FDCWD</w>, \"conf\", O_RDONLY) = 3</w/conf>".to_owned()];
    calls.extend((0..bytes).map(|_| "read(3</w/conf>, \"\"..., 1) = 1".to_owned()));
    calls.push("read(3</w/conf>, \"\"..., 1) = 0".to_owned());
    calls.push("fcntl(3</w/conf>, F_SETLK, {}) = 0".to_owned());
    let line = |(at, call): (usize, &String)| {
        format!("9 {}.{:06} {call} <0.000012>\n", 1_700_000_000 + at / 10_000, at % 10_000 * 100)
    };
    calls.iter().enumerate().map(line).collect()
}

/// A home with that trace in it.
fn home(bytes: usize) -> Home {
    let home = Home::new();
    fs::write(home.path("slow.log"), slow_reader(bytes)).unwrap();
    home.run(&["import", "slow.log"]).fine();
    home
}

fn replayed(home: &Home, more: &[&str]) -> Document {
    let fixed = ["replay", "slow.trace", "--format", "json"];
    let arguments: Vec<&str> = fixed.iter().chain(more).copied().collect();
    document(&home.run(&arguments).fine())
}

fn ids(run: &Document) -> Vec<&str> {
    run.cells.iter().map(|cell| cell.id.as_str()).collect()
}

#[test]
fn a_program_is_told_what_a_buffer_is_worth_to_it() {
    let home = home(20_000);
    let before = home.names();
    let said = home.run(&["replay", "slow.trace", "--block", "64Ki", "--budget", "20s"]).fine();
    let flat = said.out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("64 KiB blocks are") || flat.contains("64 KiB blocks is"), "{flat}");
    assert!(flat.contains("with 64 KiB blocks the file work takes 0."), "{flat}");
    let run = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(ids(&run), ["recorded/recorded", "recorded/64Ki"]);
    let trace = run.experiment.factors[&Factor::Trace][0].as_str().unwrap();
    let known = &run.environment.0[&Family::Trace.key(trace)];
    assert_eq!((&known["calls"], &known["lost_calls"]), (&20_003.into(), &1.into()));
    let ratio = &run.answers[0].comparisons[0];
    assert!(ratio.clear && (ratio.ratio < 0.5 || ratio.ratio > 2.0), "{ratio:?}");
    // Nothing stays but the history.
    let state = |names: Vec<String>| names.into_iter().filter(|name| name != "state");
    assert!(state(home.names()).eq(state(before)));
}

#[test]
fn every_way_has_the_recorded_one_beside_it() {
    let home = home(500);
    let rounds = ["--rounds", "2", "--budget", "60s"];
    let run =
        replayed(&home, &[&rounds[..], &["--method", "pread,mmap", "--block", "4Ki"]].concat());
    programs::is_whole(&run, "methods");
    assert_eq!(run.cells.len(), 6);
    assert!(run.cells.iter().all(|cell| cell.samples.iter().all(|s| s.measurement.bytes == 500)));
    let run = replayed(&home, &[&rounds[..], &["--sync", "end", "--block", "recorded"]].concat());
    assert_eq!(ids(&run), ["recorded/sync=recorded", "recorded/sync=end"]);
    programs::is_whole(&run, "sync");
    let run = replayed(&home, &[&rounds[..], &["--cache", "any", "--block", "recorded"]].concat());
    programs::is_whole(&run, "cache");
    let advice = ["--readahead", "sequential", "--block", "recorded"];
    let run = replayed(&home, &[&rounds[..], &advice].concat());
    assert_eq!(ids(&run), ["recorded/readahead=recorded", "recorded/readahead=sequential"]);
    programs::is_whole(&run, "advice");
    let threads = ["--threads", "recorded,2", "--block", "recorded"];
    let run = replayed(&home, &[&rounds[..], &threads].concat());
    assert_eq!(ids(&run), ["recorded/threads=recorded", "recorded/threads=2"]);
    programs::is_whole(&run, "threads");
    let plan = home.run(&["replay", "slow.trace", "--plan"]).fine().out;
    let plan = plan.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(plan.contains("recorded/recorded") && plan.contains("other (not replayed)"), "{plan}");
}

/// Calls that no direct I/O can make are no cell of it, and what to do is said.
#[test]
fn rings_and_direct_io_are_ways_where_they_can_be_had() {
    let home = home(20_000);
    let missing = iolab_io::host::unavailable_methods(&home.path("."), true);
    let ways =
        ["--method", "io_uring,direct", "--block", "4Ki", "--rounds", "2", "--budget", "60s"];
    let run =
        document(&home.run(&[&["replay", "slow.trace", "--format", "json"], &ways[..]].concat()));
    let cell = |id: &str| run.cells.iter().find(|cell| cell.id == id).unwrap();
    for (key, id) in [("io_uring", "io_uring/4Ki"), ("method=direct", "direct/4Ki")] {
        if let Some(why) = missing.get(key) {
            eprintln!("SKIP rings_and_direct_io_are_ways_where_they_can_be_had, in part: {why}");
            continue;
        }
        let cell = cell(id);
        assert_eq!(cell.status, CellStatus::Measured, "{id}: {:?}", cell.reason);
        for sample in &cell.samples {
            assert_eq!((&sample.fault, sample.measurement.bytes), (&None, 20_000), "{id}");
            let direct = sample.measurement.metrics.get("direct_bytes").copied();
            assert_eq!(direct, (key == "method=direct").then_some(20_000.0));
        }
    }
    if !missing.contains_key("method=direct") {
        let why = cell("direct/recorded").reason.as_deref().unwrap_or_default();
        assert!(why.contains("no read or write of it") && why.contains("--block"), "{why}");
    }
}

/// Two calls with 20 ms between them: that time is in all times where it is asked for and counted, and
/// the words say so.
#[test]
fn think_time_is_a_condition_that_is_told() {
    let home = Home::new();
    let log = "9 1.000000 openat(AT_FDCWD</w>, \"in\", O_RDONLY) = 3</w/in> <0.000010>\n\
               9 1.020010 read(3</w/in>, \"\"..., 10) = 10 <0.000010>\n";
    fs::write(home.path("slow.log"), log).unwrap();
    home.run(&["import", "slow.log"]).fine();
    let ways = ["--think", "none,recorded,uncounted", "--block", "recorded,4Ki", "--rounds", "2"];
    let run = replayed(&home, &[&ways[..], &["--budget", "60s"]].concat());
    programs::is_whole(&run, "think");
    assert_eq!(run.answers.len(), 3, "blocks are compared with it, without it and beside it");
    for cell in &run.cells {
        let thinks = cell.factors.word() == Some(ReplayThink::Recorded);
        let has = |sample: &Sample| (sample.measurement.wall_ns > 20_000_000) == thinks;
        assert!(cell.samples.iter().all(has), "{}", cell.id);
    }
    let side_by_side = ["--think", "uncounted", "--threads", "2", "--block", "recorded"];
    let said = home.run(&[&["replay", "slow.trace", "--rounds", "2"], &side_by_side[..]].concat());
    assert!(said.err.contains("take --think none or recorded"), "{said:?}");
    let alone = [&["replay", "slow.trace", "--think", "recorded"], &ways[2..]].concat();
    let flat = home.run(&alone).fine().out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("the program's own time between its calls included"), "{flat}");
}

#[test]
fn a_trace_is_an_experiment_that_can_be_run_again() {
    let home = home(500);
    let text = "[[experiment]]\nworkload = 'replay'\n[experiment.factors]\ntrace = 'slow.trace'\n\
                block = ['recorded', '4Ki']\n[experiment.protocol]\nrounds = 2\nseed = 3\n";
    fs::write(home.path("again.toml"), text).unwrap();
    let run = document(&home.run(&["run", "again.toml", "--format", "json"]).fine());
    programs::is_whole(&run, "toml");
    home.run(&["export", "last", "toml=exported.toml"]).fine();
    let second = document(&home.run(&["run", "exported.toml", "--format", "json"]).fine());
    assert_eq!(run.experiment.factors, second.experiment.factors);
    home.run(&["compare", "1", "2"]).fine();
    home.run(&["more", "2", "500ms"]).fine();
    // Another trace of that name is another experiment.
    fs::write(home.path("other.log"), slow_reader(600)).unwrap();
    fs::remove_file(home.path("slow.trace")).unwrap();
    home.run(&["import", "other.log"]).fine();
    fs::rename(home.path("other.trace"), home.path("slow.trace")).unwrap();
    home.run(&["more", "2", "500ms"]).refused(12, &["run 2", "slow.trace", "→"]);
}

/// "Did my program's file work become slower?" without the program: a claim of a study, and a gate.
#[test]
fn a_study_and_a_gate_judge_the_work_of_a_trace() {
    let home = home(2000);
    let study = "title = 't'\nsummary = 's'\nbudget = '20s'\n[source]\nmachine = 'm'\n\
                 [[experiment]]\nname = 'work'\nworkload = 'replay'\n[experiment.factors]\n\
                 trace = 'slow.trace'\nblock = 'recorded,4Ki'\n\
                 [[claim]]\nid = 'buffered'\nsays = 'calls of 4 KiB are faster than as recorded, 5 to \
                 100000 times'\nwhere = 'his mail'\nexperiment = 'work'\nkind = 'faster'\n\
                 a = { block = '4Ki' }\nb = { block = 'recorded' }\nby = [5.0, 100000.0]\n";
    fs::write(home.path("mine.toml"), study).unwrap();
    let judged = home.run(&["study", "run", "mine.toml"]).fine();
    assert!(judged.out.contains("1 of 1 claims replicated"), "{judged:?}");
    let turned =
        study.replace("'4Ki' }\nb = { block = 'recorded'", "'recorded' }\nb = { block = '4Ki'");
    fs::write(home.path("turned.toml"), turned).unwrap();
    let judged = home.run(&["study", "run", "turned.toml"]).fine();
    assert!(judged.out.contains("0 of 1 claims replicated"), "{judged:?}");

    home.run(&["replay", "slow.trace", "--block", "4Ki", "--rounds", "40", "--budget", "30s"])
        .fine();
    let gate = |levels: &str| home.run(&["gate", "last", "--between", levels]);
    let worse = gate("block=4Ki,recorded");
    assert_eq!(worse.code, Some(10), "{worse:?}");
    gate("block=recorded,4Ki").fine();
}

#[test]
fn what_is_no_trace_is_refused_before_anything_is_made() {
    let home = home(10);
    let before = home.names();
    home.run(&["replay", "none.trace"]).refused(2, &["none.trace", "does not exist"]);
    home.run(&["replay", "slow.log"]).refused(2, &["slow.log", "no trace", "iolab record"]);
    home.run(&["replay", "slow.trace", "--block", "recordde"]).refused(2, &["--block"]);
    home.run(&["replay", "slow.trace", "--readahead", "twice"]).refused(2, &["recorded, normal"]);
    home.run(&["replay", "slow.trace", "--sync", "each"])
        .refused(2, &["recorded, none, close, end"]);
    let bare = home.run(&["replay"]);
    assert!(bare.code == Some(2) && bare.err.contains("TRACE"), "{}", bare.err);
    let text = "[[experiment]]\nworkload = 'replay'\n";
    fs::write(home.path("bare.toml"), text).unwrap();
    let said = home.run(&["run", "bare.toml"]);
    assert!(said.code == Some(2) && said.err.contains("bare.toml, line 1"), "{said:?}");
    assert!(said.err.contains("needs a trace; name the file of one; iolab record"), "{said:?}");
    fs::remove_file(home.path("bare.toml")).unwrap();
    let nothing = "9 1.000000 write(1<pipe:[7]>, \"\"..., 5) = 5 <0.000001>\n";
    fs::write(home.path("pipe.log"), nothing).unwrap();
    home.run(&["import", "pipe.log"]).fine();
    home.run(&["replay", "pipe.trace"]).refused(2, &["pipe.trace", "no call of it"]);
    let names = home.names();
    let news: Vec<_> = names.iter().filter(|name| !before.contains(name)).collect();
    assert_eq!(news, ["pipe.log", "pipe.trace"]);
}

#[test]
fn real_programs_are_replayed_as_they_were_recorded() {
    let test = "real_programs_are_replayed_as_they_were_recorded";
    if !traceable(test) {
        return;
    }
    let home = programs::home();
    for name in programs::recorded(&home, test) {
        let trace = format!("{name}.trace");
        let said = home.run(&[
            "replay",
            &trace,
            "--block",
            "64Ki",
            "--threads",
            "3",
            "--rounds",
            "1",
            "--budget",
            "60s",
            "--format",
            "json",
        ]);
        programs::came_out(&document(&said.fine()), name);
    }
}
