//! `iolab rerun` and `iolab gate --record`: the runs that a comparison needs, in one command.

use std::collections::BTreeSet;

use crate::cli_support::{Home, document};
use iolab_model::result::Document;

fn show(home: &Home, run: u64) -> Document {
    document(&home.run(&["show", &run.to_string(), "--format", "json"]).fine())
}

fn home_with_a_run() -> Home {
    let home = Home::new();
    home.file("f", 1_000_000);
    let read =
        ["read", "f", "--method", "pread", "--block", "64Ki", "--rounds", "6", "--seed", "5"];
    home.run(&read).fine();
    home
}

#[test]
fn one_command_makes_a_baseline_and_one_gates() {
    let home = home_with_a_run();
    let said = home.run(&["rerun", "last", "--times", "2"]).fine();
    assert!(said.err.contains("run 2 (1 of 2): ") && said.err.contains("run 3 (2 of 2): "));
    assert!(said.err.contains("iolab gate --baseline 1..3 --record 3"), "{said:?}");
    let runs: Vec<Document> = (1..=3).map(|run| show(&home, run)).collect();
    let seeds: BTreeSet<u64> = runs.iter().map(|run| run.run.seed).collect();
    assert_eq!(seeds.len(), 3, "each run has a seed of its own");
    assert!(runs.iter().all(|run| run.run.argv == runs[0].run.argv && run.run.complete));
    assert!(runs.iter().all(|run| run.cells.len() == runs[0].cells.len()));
    let gate = ["gate", "--baseline", "1..3", "--record", "2", "--worse", "99%"];
    let said = home.run(&gate).fine();
    assert!(said.out.contains("runs 4,5 against runs 1..3"), "{said:?}");
    // Of five short runs on a busy machine no more is certain: nothing became slower.
    let verdicts = ["Passed: not slower by more", "No regression shown, none ruled out"];
    assert!(verdicts.iter().any(|verdict| said.plain().contains(verdict)), "{said:?}");
    // Those of a run that is named come to it.
    let gate = ["gate", "4,5", "--baseline", "1..3", "--record", "1", "--worse", "99%"];
    let said = home.run(&gate).fine();
    assert!(said.plain().contains("runs 4..6 against runs 1.."), "{said:?}");
}

#[test]
fn two_sides_are_measured_in_turn_and_compared() {
    let home = home_with_a_run();
    home.run(&["read", "f", "--method", "pread", "--block", "64Ki", "--rounds", "7"]).fine();
    let said = home.run(&["rerun", "1", "2", "--times", "2"]).fine();
    assert!(said.plain().contains("runs 2,4,6 against runs 1,3,5"), "{said:?}");
    assert!(said.err.contains("iolab compare 1,3,5 2,4,6"), "{said:?}");
    let rounds = |run| show(&home, run).answers[0].rounds;
    assert_eq!([rounds(3), rounds(4), rounds(5), rounds(6)], [6, 7, 6, 7]);
}

#[test]
fn what_cannot_be_made_again_is_refused_before_anything_is_measured() {
    let home = home_with_a_run();
    for times in ["0", "51"] {
        home.run(&["rerun", "1", "--times", times]).refused(2, &["from 1 to 50"]);
    }
    home.run(&["rerun", "9"]).refused(2, &["no run 9"]);
    home.run(&["compare", "3..1", "1"]).refused(2, &["as 3..7"]);
    assert_eq!(home.run(&["gate", "--record", "2"]).code, Some(2));
    home.run(&["export", "1", "json=there.json"]).fine();
    home.run(&["rerun", "there.json"]).refused(12, &["measure anew"]);
    let said = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!(runs.as_array().map(Vec::len), Some(1), "{runs}");
}

/// A read that decided nothing ended with 0, a gate with 0 or 11, and no help said which.
#[test]
fn every_help_says_how_what_is_not_decided_ends() {
    let home = Home::new();
    for (verb, wanted) in [
        ("read", "0 done, also where nothing is decided"),
        ("copy", "0 done, also where nothing is decided"),
        ("more", "0 done, also where nothing is decided"),
        ("compare", "0 whatever is found"),
        ("gate", "11 not decided, with --undecided-fails"),
    ] {
        let help = home.run(&[verb, "--help"]).fine().plain();
        let (_, status) = help.rsplit_once("Exit status: ").unwrap_or_default();
        assert!(status.contains(wanted), "{verb}: {status}");
    }
    home.file("f", 100_000);
    // Too few rounds to decide anything.
    let said = home.run(&["read", "f", "--method", "read,pread", "--rounds", "1"]);
    assert_eq!(said.code, Some(0), "{said:?}");
}
