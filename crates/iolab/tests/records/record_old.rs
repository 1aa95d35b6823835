//! Histories of every format that was ever written: opened, listed, shown, reported, compared,
//! exported as they are, and raised by the first thing that is written to them.

use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;

use crate::cli_support::Home;
use iolab_model::result::Document;
use iolab_record::history::{Filter, Store, VERSION};

fn fixture(version: i64) -> PathBuf {
    let name = format!("tests/fixtures/runs/history-v{version}.sqlite");
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join(name);
    assert!(path.exists(), "format {version} has no fixture: make {}", path.display());
    path
}

/// A home whose history is a copy of the fixture.
fn home(version: i64) -> (Home, PathBuf) {
    let home = Home::new();
    let path = home.path("state/iolab/history.sqlite");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, fs::read(fixture(version)).unwrap()).unwrap();
    (home, path)
}

fn version_of(path: &PathBuf) -> i64 {
    let db = rusqlite::Connection::open(path).unwrap();
    db.query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap()
}

fn all(store: &Store) -> Vec<Document> {
    let runs = store.list(&Filter::default()).unwrap();
    runs.iter().map(|run| store.load(run.id).unwrap()).collect()
}

#[test]
fn a_history_of_each_format_is_looked_at_and_left_as_it_is() {
    for version in 1..=VERSION {
        let (home, path) = home(version);
        assert_eq!(version_of(&path), version);
        let list = home.run(&["history", "--format", "json"]).fine();
        let list: serde_json::Value = serde_json::from_str(&list.out).unwrap();
        assert!(list.as_array().unwrap().len() >= 2, "format {version}: {list}");
        home.run(&["history"]).fine();
        home.run(&["history", "--pinned", "--host", "nobody"]).fine();
        for run in ["1", "2"] {
            let shown = home.run(&["show", run, "--details"]).fine();
            assert!(shown.out.contains("pread/64Ki"), "format {version}: {shown:?}");
        }
        let html = home.run(&["report", "1", "2", "--html", "both.html"]).fine();
        assert!(home.path("both.html").metadata().unwrap().len() > 10_000, "{html:?}");
        let compared = home.run(&["compare", "1", "2"]).fine();
        assert!(compared.plain().contains("against run 1"), "format {version}: {compared:?}");
        home.run(&["gate", "2", "--baseline", "1"]);
        home.run(&["export", "2", "json=two.json", "csv=two.csv"]).fine();
        let two: Document =
            serde_json::from_slice(&fs::read(home.path("two.json")).unwrap()).unwrap();
        assert_eq!(two.cells[0].samples.len(), 12);
        assert!(!two.answers.is_empty() && !two.answers[0].comparisons.is_empty());
        assert_eq!(
            fs::read(&path).unwrap(),
            fs::read(fixture(version)).unwrap(),
            "looking at a history of format {version} changed it"
        );
    }
}

#[test]
fn a_history_of_each_format_is_raised_by_a_new_run_and_loses_nothing() {
    for version in 1..=VERSION {
        let (home, path) = home(version);
        let store = Store::open(Some(&path), &[]).unwrap();
        let before = all(&store);
        let new = store.insert(&iolab_test::documents::winner()).unwrap();
        assert_eq!(version_of(&path), VERSION);
        let after = all(&store);
        let old: Vec<&Document> = after.iter().filter(|run| run.run.id != new).collect();
        assert_eq!(old, before.iter().collect::<Vec<_>>(), "format {version}");
        // What is younger than the file is there now: names, and the figure of a trend.
        home.run(&["pin", "1", "--name", "first"]).fine();
        home.run(&["show", "first"]).fine();
        for run in store.list(&Filter::default()).unwrap() {
            let cells = store.load(run.id).unwrap().cells;
            let medians = cells.iter().filter_map(|c| Some(c.estimate.as_ref()?.wall_ns.median));
            assert_eq!(run.best_ns, medians.min_by(f64::total_cmp), "format {version}");
        }
    }
}

#[test]
fn several_answers_of_format_2_and_pins_of_format_3_are_there() {
    let (_home, path) = home(2);
    let two = Store::open(Some(&path), &[]).unwrap().load(2).unwrap();
    assert_eq!(two.answers.len(), 2);
    assert_eq!(two.answers[1].sentence, "mmap is slower when cold, too.");
    let (home, path) = home(3);
    let store = Store::open(Some(&path), &[]).unwrap();
    assert_eq!(store.named("before").unwrap(), 1);
    let pinned = store.list(&Filter { pinned: true, ..Filter::default() }).unwrap();
    assert_eq!(pinned.len(), 2);
    let ratio = pinned[0].best_ns.unwrap() / pinned[1].best_ns.unwrap();
    assert!((ratio - 1.5).abs() < 0.01, "{ratio}");
    let said = home.run(&["compare", "before", "2"]).fine();
    assert!(said.plain().contains("slower"), "{said:?}");
    assert_eq!(home.run(&["prune", "--keep", "0", "--dry-run"]).fine().out, "");
}

#[test]
fn the_run_of_format_1_is_known_when_it_comes_as_a_file() {
    let (home, path) = home(1);
    let json = fixture(1).with_file_name("run-v1.json");
    let said = home.run(&[OsString::from("import"), json.into_os_string()]).fine();
    assert_eq!(said.out, "2\n", "{said:?}");
    assert_eq!(fs::read(&path).unwrap(), fs::read(fixture(1)).unwrap(), "it was written to");
}
