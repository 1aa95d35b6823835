//! Several runs at once: beside each other on the screen, laid over each other in pictures.

use std::fs;

use crate::cli_support::Home;
use iolab_model::result::Document;
use iolab_report::chart::{Beside, charts_for};
use iolab_report::compare::{Terms, compare};
use iolab_report::{TextStyle, beside_table, write};
use iolab_test::documents::{levels, timed};

/// Two cells; the second run took so many times as long.
fn run(id: u64, times: f64) -> Document {
    let cells = [
        ("pread/4Ki", levels("pread", Some(4096)), 40.0 * times),
        ("pread/64Ki", levels("pread", Some(65536)), 32.0),
    ];
    let mut doc = timed(&cells, 12, 0.005, 0.005, id);
    (doc.run.id, doc.run.started) = (id, format!("2026-03-{id:02}T10:00:00Z"));
    doc
}

fn text(runs: &[Document], width: usize) -> String {
    let mut out = Vec::new();
    beside_table(runs, &TextStyle { width, ..TextStyle::default() }, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn runs_stand_beside_each_other_cell_by_cell() {
    insta::assert_snapshot!("beside", text(&[run(5, 1.0), run(6, 1.5)], 90));
    // What does not fit goes whole, the medians last.
    let narrow = text(&[run(5, 1.0), run(6, 1.5)], 50);
    assert!(narrow.lines().all(|l| l.chars().count() <= 50), "{narrow}");
    assert!(narrow.contains("run 5") && narrow.contains("run 6"), "{narrow}");
}

#[test]
fn runs_without_a_common_cell_say_so() {
    let mut other = run(7, 1.0);
    for cell in &mut other.cells {
        cell.factors = levels("mmap", None);
    }
    let shown = text(&[run(5, 1.0), other.clone()], 80);
    assert!(shown.starts_with("These runs have no cell in common"), "{shown}");
    // "A verdict: iolab compare 5 7" once stood here, which then refused.
    assert!(!shown.contains("compare") && shown.contains("One run: iolab show 7"), "{shown}");
    assert_eq!(Beside::of(&[run(5, 1.0), other]).rows.len(), 0);
    assert_eq!(Beside::of(&[]).title, "No run");
}

#[test]
fn each_run_is_a_line_with_its_number_and_six_at_most_are_drawn() {
    let runs: Vec<Document> = (1..=8).map(|id| run(id, 1.0)).collect();
    let charts = charts_for(&runs[..2]);
    let blocks = charts.iter().find(|c| c.slug == "time-by-block").unwrap();
    let names: Vec<&str> = blocks.keys.iter().map(|k| k.name.as_str()).collect();
    assert_eq!(names, ["run 1 2026-03-01", "run 2 2026-03-02"]);
    for chart in charts_for(&runs) {
        assert!(chart.keys.len() <= 6, "{}: {} keys", chart.slug, chart.keys.len());
    }
}

/// The median of three runs stood beside the ratio of their means: 7.31 ms, 6.80 ms and "1.02×".
#[test]
fn before_and_after_of_several_runs_have_the_ratio_that_stands_beside_them() {
    let runs = |ids: [u64; 3], times: [f64; 3]| -> Vec<Document> {
        ids.into_iter().zip(times).map(|(id, times)| run(id, times)).collect()
    };
    let (before, after) = (runs([3, 4, 5], [1.0, 1.02, 1.4]), runs([6, 7, 8], [0.9, 0.95, 2.0]));
    let terms = Terms { alpha: 0.05, delta: 0.05, anyway: false };
    let compared = compare(&before, &after, &terms).unwrap();
    assert_eq!((compared.first.as_str(), compared.second.as_str()), ("runs 3..5", "runs 6..8"));
    for row in &compared.rows {
        let shown = row.second_ns / row.first_ns;
        assert!((shown / row.ratio - 1.0).abs() < 1e-3, "{shown} beside {}", row.ratio);
    }
    assert!(compared.rows[0].ratio > 1.0);
}

/// `--export png=DIR` of two runs once kept the pictures of the last one alone, and `json=FILE`
/// the last run.
#[test]
fn an_export_of_two_runs_has_both_or_is_refused() {
    let home = Home::new();
    for run in [run(1, 1.0), run(2, 1.5)] {
        let mut bytes = Vec::new();
        write("json", &run, &TextStyle::default(), &mut bytes).unwrap();
        fs::write(home.path("run.json"), bytes).unwrap();
        home.run(&["import", "run.json"]).fine();
    }
    let shown = home.run(&["report", "1", "2", "--export", "svg=pictures"]).fine().out;
    assert!(shown.contains("Run 2 beside run 1"), "{shown}");
    let svg = fs::read_to_string(home.path("pictures/time-by-block.svg")).unwrap();
    assert!(svg.contains("run 1 2026-03-01") && svg.contains("run 2 2026-03-02"));
    let refused = home.run(&["report", "1", "2", "--export", "json=both.json"]);
    assert_eq!(refused.code, Some(2), "{}", refused.err);
    assert!(refused.err.contains("holds one run"), "{}", refused.err);
    assert!(!home.path("both.json").exists());
}
