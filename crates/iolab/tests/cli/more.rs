//! `iolab more`: a finished run gone on with.
#![allow(clippy::unwrap_used)]

use std::fs;

use crate::cli_support::{Home, Said, document};
use iolab_model::result::Document;

const READ: [&str; 6] = ["read", "f", "--method", "read,pread", "--block", "64Ki"];

fn measured(home: &Home, more: &[&str]) -> Document {
    let arguments: Vec<&str> =
        READ.iter().chain(&["--budget", "1s", "--format", "json"]).chain(more).copied().collect();
    document(&home.run(&arguments).fine())
}

fn counts(run: &Document) -> Vec<usize> {
    run.cells.iter().map(|cell| cell.samples.len()).collect()
}

#[test]
fn a_finished_run_goes_on_under_its_number() {
    let home = Home::new();
    home.file("f", 3_000_000);
    let before = measured(&home, &["--seed", "5", "--precision", "0.1%"]);
    assert!(before.run.complete);
    assert_eq!(before.experiment.protocol.precision, Some(0.001));
    for leg in 1..=2_u64 {
        let kept = counts(&document(&home.run(&["show", "1", "--format", "json"]).fine()));
        let run = document(&home.run(&["more", "last", "700ms", "--format", "json"]).fine());
        assert_eq!((run.run.id, run.run.seed, run.run.complete), (1, 5, true));
        assert_eq!(run.run.argv, before.run.argv, "it is still that command's");
        assert!(counts(&run).iter().zip(&kept).all(|(now, then)| now > then), "{kept:?}");
        let budget_ns = run.experiment.protocol.budget_ns;
        assert_eq!(budget_ns, 1_000_000_000 + leg * 700_000_000);
        let rounds: Vec<u32> = run.cells[0].samples.iter().map(|s| s.round).collect();
        assert!(rounds.windows(2).all(|w| w[0] < w[1]), "rounds go on: {rounds:?}");
        assert!(run.answers[0].rounds > before.answers[0].rounds);
    }
    let last = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(last.run.id, 1, "the history has one run");
}

/// A run with a fixed number of rounds goes on by time, and nothing of it is left out.
#[test]
fn a_run_of_so_many_rounds_goes_on_by_time() {
    let home = Home::new();
    home.file("f", 200_000);
    assert_eq!(counts(&measured(&home, &["--rounds", "10"])), [13, 13]);
    let run = document(&home.run(&["more", "1", "500ms", "--format", "json"]).fine());
    assert!(counts(&run).iter().all(|count| *count > 13), "{:?}", counts(&run));
    assert!(run.cells.iter().all(|cell| cell.exclusion.is_none()));
}

/// A run goes on in the directory that it was made in; what is named on the command line lies in the
/// one where that is typed. It was looked for, and written, in the run's.
#[test]
fn relative_names_are_of_the_directory_where_they_are_typed() {
    let home = Home::new();
    home.file("f", 200_000);
    fs::create_dir(home.path("elsewhere")).unwrap();
    let store = ["--store", "elsewhere/runs.db"];
    measured(&home, &[&store[..], &["--rounds", "10"]].concat());
    let mut more = home.command();
    more.current_dir(home.path("elsewhere"));
    more.args(["more", "1", "500ms", "--store", "runs.db", "--export", "json=run.json"]);
    let said = Said::from(more.output().unwrap()).fine();
    let run: Document =
        serde_json::from_slice(&fs::read(home.path("elsewhere/run.json")).unwrap()).unwrap();
    assert!(counts(&run).iter().all(|count| *count > 13), "{said:?}");
    assert!(!home.path("run.json").exists() && !home.path("runs.db").exists());
}

#[test]
fn what_was_measured_must_still_be_there() {
    let home = Home::new();
    let file = home.file("f", 200_000);
    measured(&home, &[]);
    for (time, hint) in [("0s", "60s"), ("60", "unit"), ("soon", "60s"), ("-1s", "TIME")] {
        home.run(&["more", "1", "--", time]).refused(2, &[hint]);
    }
    home.run(&["more", "77"]).refused(2, &["77", "iolab history"]);
    let times = fs::FileTimes::new().set_modified(std::time::UNIX_EPOCH);
    fs::File::options().write(true).open(&file).unwrap().set_times(times).unwrap();
    home.run(&["more", "1", "1s"]).refused(12, &["run 1", "f: 200000 bytes", "→", "measure anew"]);
    fs::write(&file, vec![7; 100]).unwrap();
    home.run(&["more", "1", "1s"]).refused(12, &["run 1"]);
    fs::remove_file(&file).unwrap();
    let gone = home.run(&["more", "1", "1s"]);
    assert!([2, 12].contains(&gone.code.unwrap()), "{gone:?}");
    assert!(gone.err.contains("f"), "{gone:?}");
}

/// `run --resume` once replayed what a record allowed, also a record from elsewhere.
#[test]
fn no_record_holds_a_consent() {
    let home = Home::new();
    home.file("f", 200_000);
    let contender = "cat {file}";
    measured(&home, &["--contender", contender, "--export", "json=run.json"]);
    home.run(&["more", "1", "500ms"]).refused(20, &["run 1", "cat {file}", "--allow-commands"]);
    home.run(&["more", "1", "500ms", "--allow-commands"]).fine();
    home.run(&["import", "run.json"]).fine();
    let imported = home.run(&["more", "2", "500ms", "--allow-commands"]);
    imported.refused(12, &["run 2 was imported"]);
}
