//! The history: what goes in comes out, and a file that is not understood is never changed.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::fs;
use std::path::{Path, PathBuf};

use iolab_model::result::{Document, RunInfo};
use iolab_record::history::{Filter, RecordError, RunStatus, Store, VERSION};
use iolab_test::arbitrary::any_document;
use iolab_test::documents::winner;
use proptest::prelude::*;

fn open(path: &Path) -> Store {
    Store::open(Some(path), &[]).unwrap()
}

fn in_temp() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.sqlite");
    (dir, path)
}

fn with_id(doc: &Document, id: u64) -> Document {
    Document { run: RunInfo { id, ..doc.run.clone() }, ..doc.clone() }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]
    #[test]
    fn any_document_comes_back_from_the_history_unchanged(doc in any_document()) {
        let (_dir, path) = in_temp();
        let id = open(&path).insert(&doc).unwrap();
        prop_assert_eq!(open(&path).load(id).unwrap(), with_id(&doc, id));
    }
}

#[test]
fn looking_at_a_history_that_is_not_there_makes_nothing() {
    let (dir, path) = in_temp();
    let store = open(&path);
    assert_eq!(store.list(&Filter::default()).unwrap(), []);
    assert_eq!(store.last().unwrap(), None);
    let error = store.load(3).unwrap_err();
    assert!(matches!(error, RecordError::NoRun { id: 3, .. }), "{error}");
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_run_written_trial_by_trial_is_the_document_in_the_end() {
    let (dir, path) = in_temp();
    let doc = winner();
    let mut opening = doc.clone();
    opening.answers.clear();
    opening.twin = None;
    opening.cells.iter_mut().for_each(|c| c.samples.clear());
    let mut writer = open(&path).begin(&opening, &[], None).unwrap();
    assert!(writer.warning().is_none());
    for (index, cell) in doc.cells.iter().enumerate() {
        for sample in &cell.samples {
            writer.trial(index, false, sample).unwrap();
        }
    }
    let id = writer.finish(&doc).unwrap();
    assert_eq!(open(&path).load(id).unwrap(), with_id(&doc, id));
    assert!(!dir.path().join("history.sqlite-live").exists(), "a spool is left");
}

#[test]
fn runs_are_listed_newest_first_and_filtered() {
    let (_dir, path) = in_temp();
    let store = open(&path);
    for (minute, complete) in [(3, true), (1, false), (2, true)] {
        let mut doc = winner();
        doc.run.started = format!("2026-03-01T10:0{minute}:00Z");
        doc.run.title = format!("Minute {minute}");
        doc.run.complete = complete;
        doc.experiment.workload = if complete { "read" } else { "syscall" }.into();
        store.insert(&doc).unwrap();
    }
    let titles = |filter: Filter| {
        store.list(&filter).unwrap().into_iter().map(|r| r.title).collect::<Vec<_>>()
    };
    assert_eq!(titles(Filter::default()), ["Minute 3", "Minute 2", "Minute 1"]);
    assert_eq!(titles(Filter { limit: Some(1), ..Filter::default() }), ["Minute 3"]);
    assert_eq!(titles(Filter { complete: Some(false), ..Filter::default() }), ["Minute 1"]);
    let workload = Some("syscall".into());
    assert_eq!(titles(Filter { workload, ..Filter::default() }), ["Minute 1"]);
    let title = Some("minute 2".into());
    assert_eq!(titles(Filter { title, ..Filter::default() }), ["Minute 2"]);
    let last = store.last().unwrap().unwrap();
    assert_eq!((last.status, last.cells), (RunStatus::Complete, 4));
    assert_eq!(last.answer.as_deref(), Some(winner().answers[0].sentence.as_str()));
}

#[test]
fn numbers_are_unique_when_many_write_at_once() {
    let (_dir, path) = in_temp();
    let write = || {
        let doc = winner();
        let store = Store::open(Some(&path), &[]).unwrap();
        let mut ids = Vec::new();
        for _ in 0..5 {
            let mut writer = store.begin(&doc, &[], None).unwrap();
            writer.trial(0, false, &doc.cells[0].samples[0]).unwrap();
            ids.push(writer.finish(&doc).unwrap());
        }
        ids
    };
    let mut ids: Vec<u64> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4).map(|_| scope.spawn(write)).collect();
        threads.into_iter().flat_map(|t| t.join().unwrap()).collect()
    });
    ids.sort_unstable();
    assert_eq!(ids, (1..=20).collect::<Vec<u64>>());
    assert_eq!(open(&path).list(&Filter::default()).unwrap().len(), 20);
}

/// Opens a file that must be refused, and checks that it was not changed.
fn refused(path: &Path) -> String {
    let before = fs::read(path).unwrap();
    let error = Store::open(Some(path), &[]).unwrap_err().to_string();
    assert_eq!(fs::read(path).unwrap(), before, "the file was changed");
    assert!(error.contains(path.to_str().unwrap()), "names the file: {error}");
    assert!(error.contains("--store"), "names the fix: {error}");
    error
}

#[test]
fn a_newer_format_is_refused_and_left_alone() {
    let (_dir, path) = in_temp();
    open(&path).insert(&winner()).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.pragma_update(None, "user_version", VERSION + 1).unwrap();
    drop(db);
    let error = refused(&path);
    assert!(error.contains("later iolab") && error.contains("update"), "{error}");
}

#[test]
fn a_foreign_database_is_refused_and_left_alone() {
    let (_dir, path) = in_temp();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    drop(db);
    assert!(refused(&path).contains("another program"));
}

#[test]
fn a_damaged_file_is_refused_and_left_alone() {
    let (_dir, path) = in_temp();
    fs::write(&path, "this is not a database, it only says so for more than 100 bytes".repeat(9))
        .unwrap();
    assert!(refused(&path).contains("damaged"));
    // A database whose middle was overwritten: reading it says so as well.
    let (_dir, path) = in_temp();
    let id = open(&path).insert(&winner()).unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let from = 4096;
    bytes[from..].fill(0xa5);
    fs::write(&path, &bytes).unwrap();
    let error = Store::open(Some(&path), &[]).and_then(|s| s.load(id)).unwrap_err();
    assert!(matches!(error, RecordError::Corrupt { .. }), "{error}");
    assert_eq!(fs::read(&path).unwrap(), bytes);
}

#[test]
fn an_empty_file_is_a_new_history() {
    let (_dir, path) = in_temp();
    fs::write(&path, "").unwrap();
    assert_eq!(open(&path).insert(&winner()).unwrap(), 1);
}

#[test]
fn an_unwritable_place_is_refused_before_the_run() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("file"), "").unwrap();
    // A file where a directory is needed: true for root as well.
    let path = dir.path().join("file/history.sqlite");
    let error = Store::open(Some(&path), &[]).and_then(|s| s.begin(&winner(), &[], None).map(drop));
    let error = error.unwrap_err().to_string();
    assert!(error.contains("--store") && error.contains("history.sqlite"), "{error}");
}

#[test]
fn odd_names_of_the_file_work() {
    use std::os::unix::ffi::OsStrExt;
    let dir = tempfile::tempdir().unwrap();
    for name in [&b"file:x?mode=memory"[..], b"a\nb\xff.sqlite", b"%41'\";--", b":memory:"] {
        let path = dir.path().join(std::ffi::OsStr::from_bytes(name));
        let store = open(&path);
        let doc = winner();
        let id = store.begin(&doc, &[], None).unwrap().finish(&doc).unwrap();
        assert_eq!(open(&path).load(id).unwrap(), with_id(&doc, id));
        assert!(path.exists());
    }
}

#[test]
fn a_resumed_run_replaces_the_partial_one() {
    let (_dir, path) = in_temp();
    let store = open(&path);
    let partial = iolab_test::documents::partial();
    let id = store.insert(&partial).unwrap();
    let other = store.insert(&winner()).unwrap();
    let resumed = store.load(id).unwrap();
    let writer = store.begin(&resumed, &[], Some(id)).unwrap();
    let second = store.begin(&resumed, &[], Some(id)).unwrap();
    assert_eq!(writer.finish(&winner()).unwrap(), id);
    assert!(store.load(id).unwrap().run.complete);
    // The second of two resumed at once finds another run there: both are kept.
    assert_eq!(second.finish(&winner()).unwrap(), other + 1);
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 3);
    let error = store.begin(&resumed, &[], Some(99)).unwrap_err();
    assert!(matches!(error, RecordError::NoRun { id: 99, .. }), "{error}");
}

#[test]
fn numbers_that_are_not_finite_are_left_out() {
    let (_dir, path) = in_temp();
    let mut doc = winner();
    let metrics = &mut doc.cells[0].samples[0].measurement.metrics;
    metrics.insert("nan".into(), f64::NAN);
    doc.cells[0].estimate.as_mut().unwrap().user_ns.mean = f64::INFINITY;
    let one = doc.cells[2].estimate.as_mut().unwrap();
    (one.wall_ns.n, one.wall_ns.sd) = (1, f64::NAN);
    doc.answers[0].comparisons[0].ratio = f64::NAN;
    doc.answers[0].comparisons[1].high = Some(f64::INFINITY);
    let store = open(&path);
    let mut writer = store.begin(&doc, &[], None).unwrap();
    writer.trial(0, false, &doc.cells[0].samples[0]).unwrap();
    let back = store.load(writer.finish(&doc).unwrap()).unwrap();
    assert!(!back.cells[0].samples[0].measurement.metrics.contains_key("nan"));
    assert_eq!(back.cells[0].estimate, None);
    assert_eq!(back.cells[2].estimate.as_ref().unwrap().wall_ns.sd, 0.0);
    assert_eq!(back.answers[0].comparisons.len(), 2);
    assert_eq!(back.answers[0].comparisons[0].high, None);
}

/// What makes a list of many runs quick: it asks the table of runs and nothing that a run measured.
#[test]
fn ten_thousand_runs_are_listed_without_loading_one() {
    let (_dir, path) = in_temp();
    let store = open(&path);
    let id = store.insert(&winner()).unwrap();
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch(
        "INSERT INTO run SELECT NULL, 't' || value, title, workload, '2026-01-' || value, finished,
           complete, cells, samples, answer, seed, best_ns
         FROM run, (WITH RECURSIVE n(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n
           WHERE value < 9999) SELECT value FROM n)",
    )
    .unwrap();
    let mut names = db
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'")
        .unwrap();
    let names = names.query_map([], |row| row.get::<_, String>(0)).unwrap();
    let names: Vec<String> = names.map(|name| name.unwrap()).collect();
    // A list shows the names of pinned runs as well.
    let names: Vec<String> =
        names.into_iter().filter(|name| !["run", "pin"].contains(&name.as_str())).collect();
    assert!(names.len() >= 3, "{names:?}");
    db.pragma_update(None, "foreign_keys", false).unwrap();
    for name in names {
        db.execute_batch(&format!("ALTER TABLE \"{name}\" RENAME TO \"not_{name}\"")).unwrap();
    }
    assert!(store.load(id).is_err(), "a run needs the other tables");
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 10_000);
}

/// The fixture of version 1 is read for ever; it is never written again. It was made by
/// `IOLAB_MAKE_FIXTURE=1 cargo test --test record_store fixture` when the format was new.
#[test]
fn the_fixture_of_version_1_is_read() {
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs");
    let (database, json) = (runs.join("history-v1.sqlite"), runs.join("run-v1.json"));
    if std::env::var_os("IOLAB_MAKE_FIXTURE").is_some() && !database.exists() {
        let store = open(&database);
        for doc in [iolab_test::documents::tie(), winner(), iolab_test::documents::partial()] {
            store.insert(&doc).unwrap();
        }
        let doc = with_id(&winner(), 2);
        fs::write(&json, serde_json::to_string_pretty(&doc).unwrap() + "\n").unwrap();
    }
    // A copy: the test must pass where the sources are read-only, and must not touch them.
    let (_dir, path) = in_temp();
    fs::write(&path, fs::read(&database).unwrap()).unwrap();
    let store = open(&path);
    let runs = store.list(&Filter::default()).unwrap();
    assert_eq!(runs.iter().map(|r| r.id).collect::<Vec<_>>(), [3, 2, 1]);
    assert_eq!(runs[0].status, RunStatus::Partial);
    let from_json: Document = serde_json::from_str(&fs::read_to_string(&json).unwrap()).unwrap();
    assert_eq!(store.load(2).unwrap(), from_json);
    assert_eq!(from_json.cells[0].samples.len(), 12);
    assert_eq!(from_json.run.seed, 0xfeed_f00d_dead_beef);
    // And written to: what is added beside them is read as well.
    assert_eq!(store.insert(&winner()).unwrap(), 4);
}
