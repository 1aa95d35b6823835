//! A copy of the record, taken at any moment of a run as a snapshot or a backup takes it, opens, is
//! whole, and has every trial that was committed by then. 40 copies; 300 with IOLAB_TRUST (`make trust`).

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::fs;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use rand_core::Rng;
use rand_pcg::Pcg64;
use rustix::process::{Pid, Signal, kill_process};

use crate::cli_support::wait_for;
use crate::record_crash::{opening, own};
use iolab_model::result::Document;
use iolab_record::history::{Filter, RunStatus, Store};
use iolab_test::documents::sample;

const CHILD: &str = "IOLAB_TEST_COPIED_RECORD";
/// Trials of a run of the child; the record of one is some 700 bytes.
const TRIALS: u32 = 300;

/// Not a test of its own: run after run into the history of a directory, and beside it how far it is.
#[test]
fn child_that_writes_runs_without_end() {
    let Some(directory) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let progress = fs::File::create(directory.join("progress")).unwrap();
    let said = |runs: u64, trials: u32| {
        let both = [runs.to_le_bytes(), u64::from(trials).to_le_bytes()].concat();
        progress.write_all_at(&both, 0).unwrap();
    };
    let store = Store::open(Some(&directory.join("live/history.sqlite")), &[]).unwrap();
    for runs in 0.. {
        said(runs, 0);
        let mut writer = store.begin(&opening(), &[], None).unwrap();
        let mut run = opening();
        for round in 0..TRIALS {
            let trial = sample(round, 0, 1000 + u64::from(round), 7);
            writer.trial(0, false, &trial).unwrap();
            run.cells[0].samples.push(trial);
            said(runs, round + 1);
        }
        run.run.complete = true;
        writer.finish(&run).unwrap();
    }
}

/// Runs and trials of the next that were committed.
fn progress(directory: &Path) -> (u64, u64) {
    let bytes = fs::read(directory.join("progress")).unwrap_or_default();
    let number = |at: usize| u64::from_le_bytes(bytes[at..at + 8].try_into().unwrap());
    if bytes.len() < 16 { (0, 0) } else { (number(0), number(8)) }
}

fn walls(run: &Document) -> Vec<u64> {
    run.cells[0].samples.iter().map(|sample| sample.measurement.wall_ns).collect()
}

/// A copy is what a history of the same path was at that moment, and is opened as such.
fn is_whole(path: &Path, (runs, trials): (u64, u64)) -> bool {
    let store = Store::open(Some(path), &[]).unwrap();
    let listed = store.list(&Filter::default()).unwrap();
    let kept = |at: &u64| walls(&store.load(*at).unwrap());
    let whole: Vec<u64> = (0..TRIALS).map(|round| 1000 + u64::from(round)).collect();
    let of = |status| listed.iter().filter(move |run| run.status == status).map(|run| run.id);
    let (complete, partial): (Vec<u64>, Vec<u64>) =
        (of(RunStatus::Complete).collect(), of(RunStatus::Partial).collect());
    assert!(complete.len() as u64 >= runs, "{} of {runs} runs", complete.len());
    // The newest, and one of them all: the file is looked through below.
    let some = complete.iter().take(3).chain(complete.last());
    assert!(some.into_iter().all(|id| kept(id) == whole), "a run is not whole");
    let last = partial.first().map(kept).unwrap_or_default();
    assert!(last[..] == whole[..last.len()], "trials are not in their order: {last:?}");
    let ended = complete.len() as u64 > runs;
    assert!(ended || last.len() as u64 >= trials, "{} of {trials} trials", last.len());
    assert!(partial.len() <= 1, "{listed:?}");
    assert!(store.notices().len() <= 1, "{:?}", store.notices());
    if path.exists() {
        let db = rusqlite::Connection::open(path).unwrap();
        let said: String = db.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
        assert_eq!(said, "ok");
    }
    !partial.is_empty()
}

struct Writing(Child);

impl Writing {
    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_raw(self.0.id() as i32).unwrap(), signal).unwrap();
    }

    /// Whether no thread of it runs (proc(5)).
    fn stands_still(&self) -> bool {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.0.id())).unwrap();
        stat.rsplit(") ").next().unwrap().starts_with('T')
    }
}

impl Drop for Writing {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_copy_of_any_moment_is_whole() {
    let dir = tempfile::tempdir().unwrap();
    let child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &own(module_path!(), "child_that_writes_runs_without_end")])
        .env(CHILD, dir.path())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let child = Writing(child);
    wait_for("the first trial", || progress(dir.path()).1 > 0);
    let (live, aside) = (dir.path().join("live"), dir.path().join("aside"));
    let copies = if std::env::var_os("IOLAB_TRUST").is_some() { 300 } else { 40 };
    let mut random = Pcg64::new(11, 11);
    let mut partial = 0;
    for _ in 0..copies {
        std::thread::sleep(Duration::from_micros(random.next_u64() % 20_000));
        child.signal(Signal::STOP);
        wait_for("the child to stand still", || child.stands_still());
        // The copy takes the place of what it was copied from: a run knows its history by its path.
        let now = progress(dir.path());
        fs::rename(&live, &aside).unwrap();
        let copied = Command::new("cp").arg("-R").args([&aside, &live]).status().unwrap();
        assert!(copied.success());
        partial += usize::from(is_whole(&live.join("history.sqlite"), now));
        fs::remove_dir_all(&live).unwrap();
        fs::rename(&aside, &live).unwrap();
        child.signal(Signal::CONT);
    }
    let (runs, _) = progress(dir.path());
    eprintln!("{copies} copies, {partial} of them in the middle of a run, of {runs} runs");
    assert!(partial > 0 && runs > 0);
}
