//! A history of many years: 1 GB, of which a list, the last run and a new one cost what they always did.
//! 10 MB without IOLAB_TRUST (`make trust`), which prints what it took.

#![allow(clippy::unwrap_used)]

use std::time::Instant;

use iolab_record::history::{Filter, Store};
use iolab_test::documents::{sample, winner};

#[test]
fn a_large_history_is_read_and_written_like_a_small_one() {
    let dir = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let path = dir.path().join("history.sqlite");
    let bytes: u64 = if std::env::var_os("IOLAB_TRUST").is_some() { 1 << 30 } else { 10 << 20 };
    let store = Store::open(Some(&path), &[]).unwrap();
    let mut run = winner();
    run.cells[0].samples = (0..5000).map(|round| sample(round, 0, 1000, 7)).collect();
    let first = store.insert(&run).unwrap();
    let of_one = path.metadata().unwrap().len();
    let runs = bytes / of_one * 5 / 4 + 1;
    let db = rusqlite::Connection::open(&path).unwrap();
    db.execute_batch("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; BEGIN").unwrap();
    // Every table that has a row a run, copied whole: the columns are the format's matter.
    for id in first + 1..first + runs {
        for table in ["run", "detail", "cell", "answer", "sample"] {
            let key = if table == "run" { "id" } else { "run" };
            let token = if table == "run" { format!(", token = 't{id}'") } else { String::new() };
            db.execute_batch(&format!(
                "CREATE TEMP TABLE one AS SELECT * FROM {table} WHERE {key} = {first};
                 UPDATE one SET {key} = {id}{token};
                 INSERT INTO {table} SELECT * FROM one; DROP TABLE one;"
            ))
            .unwrap();
        }
    }
    db.execute_batch("COMMIT").unwrap();
    drop(db);
    let size = path.metadata().unwrap().len();
    assert!(size >= bytes, "{size} of {bytes} bytes");
    let timed = |what: &str, act: &dyn Fn()| {
        let started = Instant::now();
        act();
        println!("{} MB, {runs} runs: {what} {:?}", size / 1_000_000, started.elapsed());
    };
    timed("opened and listed in", &|| {
        let store = Store::open(Some(&path), &[]).unwrap();
        assert_eq!(store.list(&Filter::default()).unwrap().len() as u64, runs);
    });
    timed("the last run read in", &|| {
        let last = store.load(first + runs - 1).unwrap();
        assert_eq!(last.cells[0].samples.len(), 5000);
    });
    timed("a run of 5000 trials added in", &|| {
        assert_eq!(store.insert(&run).unwrap(), first + runs);
    });
    assert_eq!(store.list(&Filter::default()).unwrap().len() as u64, runs + 1);
}
