//! What a killed process measured is in the history afterwards, and the record of a running
//! experiment never touches the file system under test.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::io::{BufRead, BufReader};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Instant;

use crate::cli_support::Home;
use iolab_model::catalog::Code;
use iolab_model::result::{CellStatus, Document, ExclusionReason, Sample};
use iolab_record::history::{Filter, RecordError, RunStatus, Store};
use iolab_test::documents::{sample, winner};

const CHILD: &str = "IOLAB_TEST_RECORD_CHILD";
const AVOID: &str = "IOLAB_TEST_RECORD_AVOID";
const TRIALS: u32 = 40;

/// A run before its first trial.
pub(crate) fn opening() -> Document {
    let mut doc = winner();
    doc.answers.clear();
    doc.twin = None;
    doc.run.complete = false;
    doc.run.finished = None;
    for cell in &mut doc.cells {
        cell.samples.clear();
        cell.estimate = None;
        if cell.status == CellStatus::Eliminated {
            (cell.status, cell.reason) = (CellStatus::Measured, None);
        }
    }
    doc
}

fn devices(text: &str) -> Vec<u64> {
    text.split(',').filter_map(|d| d.parse().ok()).collect()
}

/// Not a test of its own: the process that the tests below kill.
#[test]
fn child_that_writes_a_run() {
    let Some(store) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let avoid = devices(&std::env::var(AVOID).unwrap_or_default());
    let store = Store::open(Some(&store), &avoid).unwrap();
    let mut writer = store.begin(&opening(), &avoid, None).unwrap();
    for round in 0..TRIALS {
        writer.trial(0, false, &sample(round, 0, 1000 + u64::from(round), 7)).unwrap();
        writer.trial(0, true, &sample(round, 1, 2000, 7)).unwrap();
    }
    writer.left_out(1, ExclusionReason::Screened, "looked much slower").unwrap();
    println!("\nwritten");
    std::thread::sleep(std::time::Duration::from_secs(600));
}

/// The name by which this binary knows a test of a module.
pub(crate) fn own(module: &str, test: &str) -> String {
    let module = module.split_once("::").map_or("", |(_, module)| module);
    format!("{module}::{test}")
}

/// Starts the child and waits until its trials are written.
fn start_child(store: &Path, avoid: &[u64]) -> Child {
    let avoid: Vec<String> = avoid.iter().map(u64::to_string).collect();
    let mut child = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", &own(module_path!(), "child_that_writes_a_run"), "--nocapture"])
        .env(CHILD, store)
        .env(AVOID, avoid.join(","))
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let written = lines.map_while(Result::ok).any(|line| line == "written");
    assert!(written, "the child ended early: {:?}", child.wait());
    child
}

fn kill(mut child: Child) {
    child.kill().unwrap();
    assert_eq!(child.wait().unwrap().signal(), Some(9));
}

fn adopted_run_is_whole(path: &Path) {
    let store = Store::open(Some(path), &[]).unwrap();
    assert_eq!(store.notices().len(), 1, "{:?}", store.notices());
    let runs = store.list(&Filter::default()).unwrap();
    assert_eq!((runs.len(), runs[0].status), (1, RunStatus::Partial));
    let doc = store.load(runs[0].id).unwrap();
    assert!(!doc.run.complete && doc.run.finished.is_none());
    let walls: Vec<u64> = doc.cells[0].samples.iter().map(|s| s.measurement.wall_ns).collect();
    assert_eq!(walls, (0..u64::from(TRIALS)).map(|r| 1000 + r).collect::<Vec<_>>());
    let twin = doc.twin.as_ref().unwrap();
    // A killed run has no row of the twin yet; each of its trials names its cell.
    let mine = |(cell, _): &(&str, &Sample)| *cell == doc.cells[0].id;
    assert_eq!((twin.trials().filter(mine).count(), twin.samples.len()), (40, 40));
    assert_eq!(doc.cells[1].status, CellStatus::Eliminated);
    assert_eq!(doc.cells[1].exclusion_reason(), Some(ExclusionReason::Screened));
    assert_eq!(doc.cells[2].status, CellStatus::Skipped);
    assert_eq!(doc.experiment.protocol.steady_rounds, TRIALS - 3);
    assert!(doc.experiment.protocol.stopped.contains("ended before"));
    // Once only.
    let again = Store::open(Some(path), &[]).unwrap();
    assert!(again.notices().is_empty());
    assert_eq!(again.list(&Filter::default()).unwrap().len(), 1);
}

#[test]
fn kill_9_loses_no_trial() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.sqlite");
    let child = start_child(&path, &[]);
    // While it lives nobody takes its run away.
    let store = Store::open(Some(&path), &[]).unwrap();
    assert!(store.list(&Filter::default()).unwrap().is_empty() && store.notices().is_empty());
    kill(child);
    adopted_run_is_whole(&path);
}

#[test]
fn a_history_under_test_is_not_touched_while_the_run_is_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("state/history.sqlite");
    let device = dir.path().metadata().unwrap().dev();
    if Path::new("/dev/shm").metadata().is_ok_and(|m| m.dev() == device) {
        eprintln!("SKIP a_history_under_test_is_not_touched: the temporary directory is in memory");
        return;
    }
    let child = start_child(&path, &[device]);
    assert!(!path.parent().unwrap().exists(), "something was made on the device under test");
    kill(child);
    // A command that still tests this device leaves it alone as well.
    assert!(Store::open(Some(&path), &[device]).unwrap().notices().is_empty());
    assert!(!path.exists());
    adopted_run_is_whole(&path);
}

#[test]
fn the_note_says_that_the_record_is_in_memory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.sqlite");
    let device = dir.path().metadata().unwrap().dev();
    let store = Store::open(Some(&path), &[device]).unwrap();
    let writer = match store.begin(&opening(), &[device], None) {
        Err(RecordError::NoSpool { tried, .. }) => {
            return eprintln!("SKIP the_note_says_that_the_record_is_in_memory: {tried}");
        }
        begun => begun.unwrap(),
    };
    assert_eq!(writer.warning().unwrap().code, Code::StoreOnTarget);
    let id = writer.finish(&winner()).unwrap();
    assert!(store.load(id).unwrap().run.complete);
}

#[test]
fn a_run_dropped_without_an_end_is_taken_over_and_an_empty_one_is_forgotten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.sqlite");
    let store = Store::open(Some(&path), &[]).unwrap();
    let mut writer = store.begin(&opening(), &[], None).unwrap();
    writer.trial(0, false, &sample(0, 0, 5, 5)).unwrap();
    drop(writer);
    drop(store.begin(&opening(), &[], None).unwrap());
    let mut discarded = store.begin(&opening(), &[], None).unwrap();
    discarded.trial(0, false, &sample(0, 0, 5, 5)).unwrap();
    discarded.discard();
    let store = Store::open(Some(&path), &[]).unwrap();
    assert_eq!(store.list(&Filter::default()).unwrap().len(), 1);
    assert!(!dir.path().join("history.sqlite-live").exists(), "a spool is left");
}

#[test]
fn a_history_that_cannot_be_written_at_the_end_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.sqlite");
    let store = Store::open(Some(&path), &[]).unwrap();
    let mut writer = store.begin(&opening(), &[], None).unwrap();
    writer.trial(0, false, &sample(0, 0, 5, 5)).unwrap();
    // What a mistake or a damaged disk may do while a run is under way.
    let good = std::fs::read(&path).unwrap();
    std::fs::write(&path, b"damaged".repeat(100)).unwrap();
    let error = writer.finish(&winner()).unwrap_err();
    assert!(matches!(error, RecordError::Kept { .. }), "{error}");
    let text = error.to_string();
    assert!(text.contains("kept in") && text.contains("damaged"), "{text}");
    std::fs::write(&path, good).unwrap();
    let store = Store::open(Some(&path), &[]).unwrap();
    let run = store.last().unwrap().unwrap();
    // The answers too, and it is complete.
    let mut expected = winner();
    expected.run.id = run.id;
    assert_eq!(store.load(run.id).unwrap(), expected);
}

#[test]
fn a_spool_of_another_history_is_left_to_it() {
    let dir = tempfile::tempdir().unwrap();
    let device = dir.path().metadata().unwrap().dev();
    let (mine, other) = (dir.path().join("mine.sqlite"), dir.path().join("other.sqlite"));
    let store = Store::open(Some(&mine), &[device]).unwrap();
    let Ok(mut writer) = store.begin(&opening(), &[device], None) else {
        return eprintln!("SKIP a_spool_of_another_history_is_left_to_it: no memory file system");
    };
    writer.trial(0, false, &sample(0, 0, 5, 5)).unwrap();
    drop(writer);
    assert!(Store::open(Some(&other), &[]).unwrap().last().unwrap().is_none());
    assert!(Store::open(Some(&mine), &[]).unwrap().last().unwrap().is_some());
}

/// A child of this name under `command`, which has this binary as its last argument. `None` where
/// the command cannot be had here.
fn run_child(test: &str, command: &mut Command, store: &Path) -> Option<std::process::Output> {
    command.args(["--exact", &own(module_path!(), test), "--nocapture"]);
    let output = command.env(CHILD, store).output().ok()?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(!said.contains("running 0 tests"), "no test is named {test}");
    said.contains("child began").then_some(output)
}

/// Not a test of its own: runs in a mount namespace with a history of a few pages.
#[test]
fn child_on_a_full_disk() {
    let Some(store) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    let small = store.parent().unwrap();
    let mount = |options: &str| {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "none"]).arg(small);
        assert!(mount.status().unwrap().success());
    };
    mount("size=48k");
    println!("\nchild began");
    let device = small.metadata().unwrap().dev();
    let history = Store::open(Some(&store), &[device]).unwrap();
    let mut writer = history.begin(&opening(), &[device], None).unwrap();
    writer.trial(0, false, &sample(0, 0, 5, 5)).unwrap();
    let error = writer.finish(&winner()).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no space left") && text.contains("kept in"), "{text}");
    // With space the next command takes it over, answers and all.
    mount("remount,size=1m");
    let run = Store::open(Some(&store), &[]).unwrap().last().unwrap().unwrap();
    assert_eq!(run.status, RunStatus::Complete);
}

#[test]
fn a_full_disk_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let mut unshare = Command::new("unshare");
    unshare.args(["--mount", "--propagation", "private"]).arg(std::env::current_exe().unwrap());
    match run_child("child_on_a_full_disk", &mut unshare, &dir.path().join("h.sqlite")) {
        Some(output) => assert!(output.status.success(), "{output:?}"),
        None => eprintln!("SKIP a_full_disk_loses_nothing: needs root, unshare(1) and mount(8)"),
    }
}

/// Not a test of its own: runs as a user who may read the history and not write it.
#[test]
fn child_of_another_user() {
    let Some(store) = std::env::var_os(CHILD).map(PathBuf::from) else { return };
    println!("\nchild began");
    let history = Store::open(Some(&store), &[]).unwrap();
    let run = history.last().unwrap().unwrap();
    assert_eq!(history.load(run.id).unwrap().cells, winner().cells);
    let device = store.metadata().unwrap().dev();
    for avoid in [&[][..], &[device]] {
        let error = history.begin(&opening(), avoid, None).unwrap_err().to_string();
        assert!(error.contains("--store") && error.contains("h.sqlite"), "{error}");
    }
}

#[test]
fn a_history_that_may_only_be_read_is_read_and_a_run_is_refused_at_once() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::open();
    let mut command = home.as_ordinary_user(&std::env::current_exe().unwrap());
    let dir = home.path("closed");
    std::fs::create_dir(&dir).unwrap();
    let path = dir.join("h.sqlite");
    Store::open(Some(&path), &[]).unwrap().insert(&winner()).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o444)).unwrap();
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o555)).unwrap();
    let output = run_child("child_of_another_user", &mut command, &path).unwrap();
    std::fs::set_permissions(&dir, PermissionsExt::from_mode(0o755)).unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn recording_a_trial_is_cheap() {
    let dir = tempfile::tempdir().unwrap();
    let store = Store::open(Some(&dir.path().join("h.sqlite")), &[]).unwrap();
    let mut writer = store.begin(&opening(), &[], None).unwrap();
    let sample = sample(3, 0, 1_000_000, 4096);
    let median = |what: &mut dyn FnMut()| {
        let mut taken: Vec<u128> = (0..500)
            .map(|_| {
                let start = Instant::now();
                what();
                start.elapsed().as_nanos()
            })
            .collect();
        taken.sort_unstable();
        taken[250]
    };
    let text = median(&mut || assert!(serde_json::to_string(&sample).unwrap().len() > 9));
    let trial = median(&mut || writer.trial(0, false, &sample).unwrap());
    eprintln!("a trial is recorded in {trial} ns; its JSON alone takes {text} ns");
    // A commit that syncs is thousands of times its JSON (1 µs), one that does not about ten.
    assert!(trial < 300 * text, "{trial} against {text} ns");
    writer.discard();
}
