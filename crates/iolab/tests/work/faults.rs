//! The outside world misbehaves: each time one clear line with the fix, the right exit status,
//! no panic, nothing lost and nothing left behind. Real mounts, limits and signals.

use std::fs;
use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

use crate::cli_support::{Home, IOLAB, Said, children, document, wait_for, wait_for_trials};
use iolab_model::catalog::Code;
use iolab_model::result::{Document, Sample};

/// A directory to work in on a real disk, and a store of its own.
struct Room {
    dir: tempfile::TempDir,
}

impl Room {
    fn new() -> Room {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR"));
        Room { dir: tempfile::tempdir_in(target).unwrap() }
    }
    fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }
    fn file(&self, name: &str, bytes: usize) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, vec![0x5a; bytes]).unwrap();
        path
    }
    fn command(&self) -> Command {
        let mut command = Command::new(IOLAB);
        command.current_dir(self.dir.path()).env("XDG_STATE_HOME", self.path("state"));
        command
    }
    fn run(&self, arguments: &[&str]) -> Output {
        self.command().args(arguments).output().unwrap()
    }
    /// A shell in mount namespace of its own, `$IOLAB` being the program.
    fn shell(&self, script: &str) -> Output {
        Command::new("unshare")
            .args(["--mount", "--propagation", "private", "sh", "-ec", script])
            .current_dir(self.dir.path())
            .env("XDG_STATE_HOME", self.path("state"))
            .env("IOLAB", IOLAB)
            .output()
            .unwrap()
    }
    /// What is left of scratch directories under the room.
    fn left(&self) -> Vec<PathBuf> {
        fs::read_dir(self.dir.path())
            .unwrap()
            .map(|e| e.unwrap().path())
            .filter(|p| p.file_name().unwrap().to_string_lossy().starts_with(".iolab"))
            .collect()
    }
    fn history(&self) -> serde_json::Value {
        let output = self.run(&["history", "--format", "json"]);
        assert!(output.status.success(), "{}", errors(&output));
        serde_json::from_slice(&output.stdout).unwrap()
    }
    fn recorded(&self, run: &str) -> Document {
        let shown = self.run(&["show", run, "--format", "json"]);
        serde_json::from_slice(&shown.stdout).unwrap()
    }
    /// Reads in the background; what it says is kept.
    fn reads(&self, words: &str) -> Child {
        let mut command = self.command();
        command.arg("read").args(words.split(' '));
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap()
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn refused(output: &Output, code: i32, says: &str) {
    let text = errors(output);
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(text.contains(says), "no {says:?} in: {text}");
    assert!(!text.contains("panicked"), "{text}");
}

fn root() -> bool {
    rustix::process::geteuid().is_root()
}

fn skip_without_root(test: &str) -> bool {
    if !root() {
        eprintln!("SKIP {test}: mounting needs root");
    }
    !root()
}

fn long_run(room: &Room) -> Child {
    room.reads("--file-size 4Mi --method read,pread --block 64Ki --budget 60s --rounds 100000")
}

fn kill(pid: u32, signal: rustix::process::Signal) {
    let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
    let _ = rustix::process::kill_process(pid, signal);
}

fn ended(child: &mut Child) -> (Option<i32>, Option<i32>, String) {
    wait_for("the controller to end", || child.try_wait().unwrap().is_some());
    let status = child.wait().unwrap();
    let mut text = String::new();
    child.stderr.take().unwrap().read_to_string(&mut text).unwrap();
    (status.code(), status.signal(), text)
}

/// The agent is up and has made its scratch directory.
fn started(room: &Room, child: &Child) {
    wait_for("the agent", || !children(child.id()).is_empty());
    wait_for("the scratch directory", || !room.left().is_empty());
}

/// The run is past its calibration, and its agent has begun so many trials since.
fn measuring(child: &mut Child, trials: usize) -> u32 {
    let (mut said, mut byte) = (Vec::new(), [0]);
    // Byte by byte: what comes after is read when it has ended.
    while !said.ends_with(b"a round takes about") {
        let errors = child.stderr.as_mut().unwrap();
        let text = String::from_utf8_lossy(&said);
        assert_eq!(errors.read(&mut byte).unwrap(), 1, "it ended: {text}");
        said.extend(byte);
    }
    // The one before it has only looked at what can be had.
    let agent = children(child.id())[0];
    wait_for_trials(agent, trials);
    agent
}

#[test]
fn a_read_only_mount_is_refused_with_the_fix() {
    if skip_without_root("a_read_only_mount_is_refused_with_the_fix") {
        return;
    }
    let room = Room::new();
    let output = room.shell(
        "mkdir m && mount -t tmpfs none m && mount -o remount,ro m && cd m && \
         exec $IOLAB read --file-size 1Mi --budget 1s",
    );
    refused(&output, 20, "read-only");
}

#[test]
fn a_file_on_a_read_only_mount_is_still_read() {
    if skip_without_root("a_file_on_a_read_only_mount_is_still_read") {
        return;
    }
    let room = Room::new();
    let output = room.shell(
        "mkdir m && mount -t tmpfs none m && head -c 1000000 /dev/zero >m/f && \
         mount -o remount,ro m && cd m && exec $IOLAB read f --method pread --block 64Ki --budget 2s",
    );
    assert!(output.status.success(), "{}", errors(&output));
}

#[test]
fn too_little_space_is_refused_before_anything_is_written() {
    if skip_without_root("too_little_space_is_refused_before_anything_is_written") {
        return;
    }
    let room = Room::new();
    let output = room.shell(
        "mkdir m && mount -t tmpfs -o size=8m none m && cd m && \
         $IOLAB read --file-size 64Mi --budget 1s || { s=$?; ls -A; exit $s; }",
    );
    refused(&output, 20, "space");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn a_disk_that_fills_up_while_the_file_is_made_leaves_nothing() {
    if skip_without_root("a_disk_that_fills_up_while_the_file_is_made_leaves_nothing") {
        return;
    }
    let room = Room::new();
    // The quota of the file size limit stands in for another program that takes the space.
    let output = room.shell(
        "mkdir m && mount -t tmpfs -o size=64m none m && cd m && ulimit -f 2048 && \
         { $IOLAB read --file-size 32Mi --budget 1s; s=$?; ls -A; exit $s; }",
    );
    refused(&output, 20, "ulimit -f");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
}

#[test]
fn few_descriptors_are_enough_or_named() {
    let room = Room::new();
    room.file("f", 100_000);
    let limited = |descriptors: u32| {
        let read = "exec \"$IOLAB\" read f --method pread --block 4Ki --budget 2s";
        let script = format!("ulimit -n {descriptors}; {read}");
        let state = room.path("state");
        let mut shell = Command::new("sh");
        shell.args(["-c", &script]).current_dir(room.dir.path());
        shell.env("XDG_STATE_HOME", state).env("IOLAB", IOLAB).output().unwrap()
    };
    let output = limited(24);
    assert!(output.status.success(), "{}", errors(&output));
    let output = limited(4);
    assert_ne!(output.status.code(), Some(0));
    assert!(!errors(&output).contains("panicked"), "{}", errors(&output));
}

#[test]
fn odd_names_are_files_like_any_other() {
    use std::os::unix::ffi::OsStrExt;
    let room = Room::new();
    let names: [&[u8]; 4] = [b"new\nline", b"not\xff\xfeutf8", b"-dash", b"  'quoted\" $x"];
    for name in names {
        let path = room.dir.path().join(std::ffi::OsStr::from_bytes(name));
        fs::write(&path, vec![1; 200_000]).unwrap();
        let output = room
            .command()
            .args(["read", "--method", "pread", "--block", "64Ki", "--budget", "2s"])
            .args(["--format", "json", "--"])
            .arg(&path)
            .output()
            .unwrap();
        assert!(output.status.success(), "{name:?}: {}", errors(&output));
        let run: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let text = run["experiment"]["factors"]["file"][0].as_str().unwrap();
        assert_eq!(iolab_model::catalog::path_from_text(text), path);
    }
}

#[test]
fn a_file_that_shrinks_or_goes_away_costs_its_trials_only() {
    let room = Room::new();
    let file = room.file("shrinks", 8 << 20);
    let mut child = room.reads("shrinks --method pread,mmap --block 64Ki --budget 6s --rounds 400");
    measuring(&mut child, 10);
    fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(1000).unwrap();
    // Trials of the shorter file, if any come: nothing below depends on how many.
    std::thread::sleep(Duration::from_millis(200));
    fs::remove_file(&file).unwrap();
    let (code, signal, text) = ended(&mut child);
    assert_eq!(signal, None, "{text}");
    assert!(!text.contains("panicked"), "{text}");
    assert!(code.is_some_and(|c| c != 101), "{text}");
    assert_eq!(room.history().as_array().unwrap().len(), 1, "the run is recorded");
}

#[test]
fn two_runs_at_once_do_not_disturb_each_other() {
    let room = Room::new();
    let start = || room.reads("--file-size 1Mi --method pread --block 64Ki,256Ki --budget 3s");
    let mut both = [start(), start()];
    for child in &mut both {
        let (code, _, text) = ended(child);
        assert_eq!(code, Some(0), "{text}");
    }
    assert_eq!(room.left(), Vec::<PathBuf>::new());
    let history = room.history();
    let runs = history.as_array().unwrap();
    assert_eq!(runs.len(), 2);
    assert_ne!(runs[0]["id"], runs[1]["id"]);
}

#[test]
fn one_interrupt_ends_at_the_round_with_a_valid_partial_record() {
    let room = Room::new();
    let mut child = long_run(&room);
    started(&room, &child);
    measuring(&mut child, 12);
    kill(child.id(), rustix::process::Signal::INT);
    let (code, _, text) = ended(&mut child);
    assert_eq!(code, Some(130), "{text}");
    assert_eq!(room.left(), Vec::<PathBuf>::new());
    let history = room.history();
    assert_eq!(history[0]["status"], "partial", "{history}");
    let id = history[0]["id"].to_string();
    let shown = room.run(&["show", &id, "--format", "json"]);
    let run: iolab_model::result::Document = serde_json::from_slice(&shown.stdout).unwrap();
    assert!(!run.run.complete);
    let rounds: Vec<usize> = run.cells.iter().map(|c| c.samples.len()).collect();
    assert!(rounds.iter().all(|r| *r > 0 && *r == rounds[0]), "whole rounds: {rounds:?}");
}

#[test]
fn two_interrupts_or_a_termination_end_now() {
    use rustix::process::Signal;
    for signals in [&[Signal::INT, Signal::INT][..], &[Signal::TERM][..]] {
        let room = Room::new();
        let mut child = long_run(&room);
        started(&room, &child);
        measuring(&mut child, 2);
        for signal in signals {
            kill(child.id(), *signal);
            std::thread::sleep(Duration::from_millis(30));
        }
        let (code, _, text) = ended(&mut child);
        assert_eq!(code, Some(130), "{text}");
        assert_eq!(room.left(), Vec::<PathBuf>::new());
        assert_eq!(room.history()[0]["status"], "partial");
    }
}

#[test]
fn a_killed_controller_loses_no_finished_trial_and_leaves_no_file() {
    let room = Room::new();
    let mut child = long_run(&room);
    started(&room, &child);
    let agent = measuring(&mut child, 12);
    kill(child.id(), rustix::process::Signal::KILL);
    child.wait().unwrap();
    wait_for("the agent to end", || !Path::new(&format!("/proc/{agent}")).exists());
    assert_eq!(room.left(), Vec::<PathBuf>::new());
    let history = room.history();
    assert_eq!(history[0]["status"], "partial", "{history}");
    let run = room.recorded(&history[0]["id"].to_string());
    let trials: usize = run.cells.iter().map(|c| c.samples.len()).sum();
    assert!(trials > 4, "only {trials} trials were kept");
    // It never concluded, and still the figures of what it measured are there.
    for cell in &run.cells {
        let bounded = |s: &Sample| s.measurement.flags.contains(&Code::Bounded);
        let steady = cell.samples.iter().filter(|s| s.is_steady()).count();
        let whole = !cell.samples.iter().any(bounded);
        assert_eq!(cell.estimate.as_ref().map_or(0, |e| e.wall_ns.n) > 0, whole && steady > 0);
    }
}

#[test]
fn a_killed_agent_is_started_again() {
    let room = Room::new();
    let mut child =
        room.reads("--file-size 1Mi --method pread --block 64Ki,256Ki --budget 20s --rounds 200");
    started(&room, &child);
    let agent = measuring(&mut child, 4);
    kill(agent, rustix::process::Signal::KILL);
    let (code, _, text) = ended(&mut child);
    assert_eq!(code, Some(0), "{text}");
    let run = room.recorded("last");
    let lost = run.cells.iter().flat_map(|c| &c.samples).filter(|s| s.fault.is_some()).count();
    assert!(lost <= 2, "{lost} trials lost");
    // What the killed agent could not remove is found by its marker.
    let cleaned = room.run(&["clean", "."]);
    assert!(cleaned.status.success(), "{}", errors(&cleaned));
    assert_eq!(room.left(), Vec::<PathBuf>::new());
}

#[test]
fn a_killed_trial_is_recorded_as_failed_with_its_signal() {
    let room = Room::new();
    let mut child =
        room.reads("--file-size 64Mi --method pread --block 4Ki --budget 20s --rounds 40");
    // The agent of the rounds: the one that is asked before the plan has ended by then.
    measuring(&mut child, 2);
    started(&room, &child);
    let mut killed = 0;
    wait_for("a trial to kill", || {
        for trial in children(child.id()).into_iter().flat_map(children) {
            kill(trial, rustix::process::Signal::KILL);
            killed += 1;
        }
        killed > 0
    });
    let (code, _, text) = ended(&mut child);
    assert_eq!(code, Some(0), "{text}");
    let run = room.recorded("last");
    let samples = run.cells.iter().flat_map(|c| &c.samples);
    let twins = run.twin.iter().flat_map(|t| &t.samples);
    let signals: Vec<_> = samples.chain(twins).filter_map(|s| s.fault.as_ref()?.signal).collect();
    // A trial of the calibration is recorded nowhere, so none or one may be seen.
    assert!(signals.iter().all(|s| *s == 9), "{signals:?}");
}

#[test]
fn a_store_that_cannot_be_used_is_named_and_not_touched() {
    let room = Room::new();
    room.file("f", 100_000);
    let measure = ["read", "f", "--method", "pread", "--block", "64Ki", "--budget", "1s"];
    fs::create_dir(room.path("state")).unwrap();
    fs::create_dir(room.path("state/iolab")).unwrap();
    let corrupt = room.path("corrupt.sqlite");
    fs::write(&corrupt, b"this is no database, but it is somebody's file\n".repeat(100)).unwrap();
    let before = fs::read(&corrupt).unwrap();
    let output = room.command().args(measure).arg("--store").arg(&corrupt).output().unwrap();
    assert!(!output.status.success());
    assert!(errors(&output).contains("corrupt.sqlite"), "{}", errors(&output));
    assert_eq!(fs::read(&corrupt).unwrap(), before);

    let output =
        room.command().args(measure).args(["--store", "/proc/nowhere/x"]).output().unwrap();
    assert!(!output.status.success());
    assert!(errors(&output).contains("/proc/nowhere"), "{}", errors(&output));
}

/// Below a directory of mode 0700 this failed for root: the home of the ordinary person lay there too.
#[test]
fn an_ordinary_person_measures_cold_and_warm() {
    let home = Home::open();
    let output = home
        .as_ordinary_user(Path::new(IOLAB))
        .args(["read", "--file-size", "4Mi", "--method", "pread", "--block", "64Ki"])
        .args(["--cache", "cold,warm", "--budget", "4s", "--format", "json"])
        .output()
        .unwrap();
    let run = document(&Said::from(output).fine());
    for cell in &run.cells {
        let proven = cell.samples.iter().filter(|s| s.counts()).count();
        assert!(proven * 2 > cell.samples.len(), "{}: {proven} proven", cell.id);
    }
}
