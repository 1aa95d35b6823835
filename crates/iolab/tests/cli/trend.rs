//! One experiment over its runs: changes with what was another then, breaks, sparklines, a chart.

use crate::cli_support::Home;
use iolab_model::result::Document;
use iolab_record::history::Store;
use iolab_report::chart::history;
use iolab_report::{TextStyle, trend, trend_table};
use iolab_test::documents::{levels, timed};

/// Thirty runs, a day each: pread 20 % slower from the 13th on, when the kernel was another.
fn runs() -> Vec<Document> {
    let day = |at: u32| {
        let slower = if at >= 12 { 1.2 } else { 1.0 };
        let cells = [
            ("pread/64Ki", levels("pread", Some(65536)), 32.0 * slower),
            ("mmap", levels("mmap", None), 41.0),
        ];
        let mut doc = timed(&cells, 12, 0.01, 0.02, u64::from(at));
        doc.run.id = u64::from(at) + 1;
        doc.run.started = format!("2026-03-{:02}T10:00:00Z", at + 1);
        let kernel = if at >= 12 { "6.18.5" } else { "6.1.0" };
        doc.environment.0.insert("kernel.release".into(), kernel.into());
        doc
    };
    (0..30).map(day).collect()
}

#[test]
fn a_change_is_found_with_its_run_and_its_reason() {
    let runs = runs();
    let found = trend(&runs);
    let [pread, mmap] = found.cells.as_slice() else { panic!("{found:?}") };
    assert_eq!(pread.changes.len(), 1, "{:?}", pread.changes);
    let change = &pread.changes[0];
    assert_eq!(change.at, 12);
    assert!((change.ratio - 1.2).abs() < 0.02, "{change:?}");
    assert_eq!(change.differences[0].fact, "kernel.release");
    assert_eq!(mmap.changes, []);
    let mut text = Vec::new();
    trend_table(&found, &TextStyle::default(), &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.contains("run 13 (2026-03-13): pread/64Ki 1.20× slower"), "{text}");
    let flat = text.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(flat.contains("6.1.0 → 6.18.5") && text.contains('█'), "{text}");
    let chart = history::chart(&runs).unwrap();
    assert_eq!(chart.title, "pread/64Ki became 1.20× slower with run 13");
    assert_eq!(chart.marks(), 60);
}

#[test]
fn another_machine_breaks_the_series_and_is_no_change() {
    let mut runs = runs();
    for run in &mut runs[12..] {
        run.environment.0.insert("cpu.model".into(), "Another CPU".into());
    }
    let found = trend(&runs);
    assert!(found.cells.iter().all(|c| c.changes.is_empty()), "{found:?}");
    assert_eq!(found.breaks.len(), 1);
    assert_eq!(
        (found.breaks[0].at, found.breaks[0].differences[0].fact.as_str()),
        (12, "cpu.model")
    );
    assert!(history::chart(&runs).unwrap().notes[0].contains("Another CPU"));
}

#[test]
fn gaps_and_few_runs_are_no_trouble() {
    let mut runs = runs();
    runs[5].cells.clear();
    runs[7].cells[0].estimate = None;
    let found = trend(&runs);
    assert_eq!(found.cells[0].points.iter().flatten().count(), 28);
    assert_eq!(found.cells[0].changes.len(), 1);
    assert!(history::chart(&runs).is_some());
    assert!(history::chart(&runs[..2]).is_none());
    assert_eq!(trend(&[]).cells.len(), 0);
    assert_eq!(trend(&runs[..1]).cells.len(), 0);
}

#[test]
fn the_command_shows_the_experiment_of_a_run() {
    let home = Home::new();
    let store = Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]).unwrap();
    for run in runs() {
        store.insert(&run).unwrap();
    }
    let said = home.run(&["trend"]).fine();
    assert!(said.out.contains("30 runs") && said.out.contains("run 13"), "{said:?}");
    let json: serde_json::Value =
        serde_json::from_str(&home.run(&["trend", "--format", "json"]).fine().out).unwrap();
    assert_eq!(json["schema"], "iolab.trend/1");
    assert_eq!(json["cells"][0]["changes"][0]["at"], 12);
    home.run(&["trend", "--charts"]).fine();
    home.run(&["trend", "--export", "svg=charts"]).fine();
    assert!(home.path("charts/history.svg").exists());
    // In the list, beside the newest run of the experiment alone.
    let list = home.run(&["history"]).fine();
    assert_eq!(list.out.lines().filter(|l| l.contains('▁')).count(), 1, "{list:?}");
    let other = home.run(&["trend", "--limit", "2"]).fine();
    assert!(other.out.contains("2 runs"), "{other:?}");
    for chart in [&["--charts"][..], &["--export", "svg=few"]] {
        let few = home.run(&[&["trend", "--limit", "2"], chart].concat());
        few.refused(2, &["three runs", "there are 2"]);
    }
    assert!(!home.path("few").exists());
    let mut alone = runs().remove(0);
    alone.run.title = "something else".into();
    alone.run.started = "2027-01-01T00:00:00Z".into();
    store.insert(&alone).unwrap();
    home.run(&["trend"]).refused(2, &["the only one of its experiment"]);
}
