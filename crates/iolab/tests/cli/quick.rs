//! The survey as a person runs it: every topic has its line, whatever the budget allowed.

#![allow(clippy::unwrap_used)]

use crate::cli_support::Home;

#[test]
fn the_survey_has_a_line_for_small_files_and_for_metadata() {
    let home = Home::new();
    let said = home.run(&["quick", "--budget", "15s"]).fine();
    assert!(said.out.lines().count() <= 24, "{}", said.out);
    let labels: Vec<&str> =
        said.out.lines().filter_map(|line| line.split_whitespace().next()).collect();
    for label in ["Reading", "Writing", "Small", "Calls", "Metadata"] {
        assert!(labels.contains(&label), "no {label} in {said:?}");
    }
    let history = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&history.out).unwrap();
    let workload = |run: &serde_json::Value| -> iolab_model::result::Document {
        let shown = home.run(&["show", &run["id"].to_string(), "--format", "json"]).fine();
        serde_json::from_str(&shown.out).unwrap()
    };
    let done: Vec<String> =
        runs.as_array().unwrap().iter().map(|run| workload(run).experiment.workload).collect();
    for wanted in ["read", "write", "copy", "syscall", "files", "meta"] {
        assert!(done.iter().any(|done| done == wanted), "no {wanted} in {done:?}");
    }
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// The table that people know, from interleaved rounds.
#[test]
fn the_table_of_disk_benchmarks_has_four_rows() {
    let home = Home::new();
    let said = home.run(&["quick", "--table", "--budget", "8s"]);
    // Where O_DIRECT or io_uring cannot be had the rows stand there all the same.
    assert!(matches!(said.code, Some(0 | 21)), "{said:?}");
    for row in ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"] {
        let line = said.out.lines().find(|line| line.starts_with(row));
        assert_eq!(line.map(|line| line.split("  ").filter(|f| !f.is_empty()).count()), Some(9));
    }
    assert!(said.out.lines().count() <= 24, "{said:?}");
    assert_eq!(home.names(), ["state"], "nothing is left");
}

/// The least certain part was measured again where time was left, as a run of its own, and the screen
/// told the second alone: of two answers the later one stood there, whatever the first had said.
#[test]
fn no_part_of_a_survey_is_measured_twice() {
    let home = Home::new();
    home.run(&["quick", "--rounds", "10", "--budget", "60s"]).fine();
    let history = home.run(&["history", "--format", "json"]).fine();
    let runs: serde_json::Value = serde_json::from_str(&history.out).unwrap();
    let titles = runs.as_array().unwrap().iter().map(|run| run["title"].to_string());
    let mut titles: Vec<String> = titles.collect();
    assert!(titles.len() >= 6, "{titles:?}");
    titles.sort_unstable();
    let once = titles.len();
    titles.dedup();
    assert_eq!(titles.len(), once, "{titles:?}");
}
