//! What stays in a history: pins, retention, filters.

use crate::cli_support::Home;
use iolab_model::result::Document;
use iolab_record::history::{Filter, RecordError, Retention, Store};
use iolab_test::documents::winner;

fn store(home: &Home) -> Store {
    Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]).unwrap()
}

/// A run of that title on that day of March.
fn on(day: u32, title: &str) -> Document {
    let mut doc = winner();
    doc.run.title = title.into();
    doc.run.started = format!("2026-03-{day:02}T10:00:00Z");
    doc
}

fn ids(runs: &[iolab_record::history::RunSummary]) -> Vec<u64> {
    runs.iter().map(|r| r.id).collect()
}

#[test]
fn pinned_runs_have_names_and_outlive_pruning() {
    let home = Home::new();
    let store = store(&home);
    for day in 1..=8 {
        store.insert(&on(day, if day % 2 == 0 { "even" } else { "odd" })).unwrap();
    }
    home.run(&["pin", "2", "--name", "before"]).fine();
    home.run(&["pin", "1"]).fine();
    // A name stands for its number, and belongs to one run.
    assert!(home.run(&["show", "before"]).fine().out.contains("even"));
    home.run(&["pin", "3", "--name", "before"]).refused(2, &["run 2", "before"]);
    for bad in ["last", "7", "a,b", "", "a/b", "\u{1b}[31m"] {
        home.run(&["pin", "3", "--name", bad]).refused(2, &["a name begins with a letter"]);
    }
    home.run(&["pin", "99"]).refused(2, &["no run 99"]);
    home.run(&["show", "nothing"]).refused(2, &["nothing", "pinned"]);
    // Pinned again without a name it keeps the one it has.
    home.run(&["pin", "2"]).fine();
    assert_eq!(store.named("before").unwrap(), 2);

    let said = home.run(&["prune", "--keep", "1", "--dry-run"]).fine();
    assert_eq!(said.out, "6\n5\n4\n3\n");
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 8);
    assert_eq!(home.run(&["prune", "--keep", "1"]).fine().out, "6\n5\n4\n3\n");
    assert_eq!(ids(&store.list(&Filter::default()).unwrap()), [8, 7, 2, 1]);
    assert!(matches!(store.load(5).unwrap_err(), RecordError::NoRun { id: 5, .. }));
    store.load(2).unwrap();
    home.run(&["prune"]).refused(2, &["--keep", "--older-than"]);

    home.run(&["pin", "2", "--remove"]).fine();
    home.run(&["history", "--pinned"]).fine();
    let retention = Retention { before: Some("2026-03-08".into()), ..Retention::default() };
    assert_eq!(ids(&store.prune(&retention).unwrap()), [7, 2]);
    assert_eq!(ids(&store.list(&Filter::default()).unwrap()), [8, 1]);
    // The numbers of runs that are gone are not given again.
    assert_eq!(store.insert(&on(9, "odd")).unwrap(), 9);
}

#[test]
fn filters_narrow_the_list() {
    let home = Home::new();
    let store = store(&home);
    for day in 1..=4 {
        let mut doc = on(day, "a");
        doc.run.complete = day != 3;
        doc.environment.0.insert("host.name".into(), format!("host-{}", day % 2).into());
        store.insert(&doc).unwrap();
    }
    let shown = |arguments: &[&str]| {
        let mut all = vec!["history", "--format", "json"];
        all.extend(arguments);
        let json: serde_json::Value = serde_json::from_str(&home.run(&all).fine().out).unwrap();
        json.as_array().unwrap().iter().map(|r| r["id"].as_u64().unwrap()).collect::<Vec<_>>()
    };
    assert_eq!(shown(&["--since", "2026-03-02"]), [4, 3, 2]);
    assert_eq!(shown(&["--until", "2026-03-02"]), [1]);
    assert_eq!(shown(&["--since", "2026-03-02T12:00:00+02:00", "--limit", "1"]), [4]);
    assert_eq!(shown(&["--status", "partial"]), [3]);
    assert_eq!(shown(&["--host", "host-1"]), [3, 1]);
    assert_eq!(shown(&["--host", "'; DROP TABLE run; --"]), [0_u64; 0]);
    // None that fits is not none at all.
    let none = home.run(&["history", "--workload", "nothing"]).fine();
    assert!(none.out.starts_with("No run is like that"), "{none:?}");
    assert_eq!(home.run(&["history", "--store", "new"]).fine().out, "There are no runs yet.\n");
    home.run(&["history", "--since", "yesterday"]).refused(2, &["--since", "2026-03-01"]);
}

#[test]
fn a_history_of_version_1_is_listed_as_it_is_and_raised_by_the_first_run() {
    let home = Home::new();
    let old = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fixtures/runs/history-v1.sqlite");
    let path = home.path("history.sqlite");
    std::fs::write(&path, std::fs::read(&old).unwrap()).unwrap();
    let store = Store::open(Some(&path), &[]).unwrap();
    let before = store.list(&Filter::default()).unwrap();
    assert!(before.iter().all(|run| !run.pinned && run.best_ns.is_none()));
    assert_eq!(store.list(&Filter { pinned: true, ..Filter::default() }).unwrap(), []);
    assert_eq!(std::fs::read(&path).unwrap(), std::fs::read(&old).unwrap(), "looking changed it");
    let id = before[0].id;
    store.pin(id, Some("old"), "2026-03-01T00:00:00Z").unwrap();
    let after = store.list(&Filter::default()).unwrap();
    assert_eq!(store.named("old").unwrap(), id);
    assert!(after.iter().any(|run| run.best_ns.is_some()), "{after:?}");
    assert_eq!(ids(&after), ids(&before));
}

#[test]
fn old_and_interrupted_runs_are_pruned_by_the_command() {
    let home = Home::new();
    let store = store(&home);
    let mut young = on(1, "young");
    young.run.started = "2999-01-01T00:00:00Z".into();
    let mut broken = on(2, "broken");
    broken.run.complete = false;
    for doc in [&on(1, "old"), &broken, &young, &on(3, "old")] {
        store.insert(doc).unwrap();
    }
    for bad in ["soon", "-5d", "d", ""] {
        home.run(&["prune", &format!("--older-than={bad}")]).refused(2, &["--older-than"]);
    }
    assert_eq!(
        home.run(&["prune", "--older-than", "30d", "--keep", "1", "--dry-run"]).fine().out,
        "1\n"
    );
    let said = home.run(&["prune", "--partial"]).fine();
    assert_eq!((said.out.as_str(), said.err.as_str()), ("2\n", "1 run removed\n"));
    assert_eq!(home.run(&["prune", "--older-than", "30d"]).fine().out, "4\n1\n");
    assert_eq!(ids(&store.list(&Filter::default()).unwrap()), [3]);
    let shown =
        |filter: &[&str]| home.run(&[&["history", "--format", "json"], filter].concat()).fine().out;
    assert!(shown(&["--title", "YOUNG"]).contains("\"id\": 3"));
    assert_eq!(shown(&["--workload", "copy"]), "[]\n");
}
