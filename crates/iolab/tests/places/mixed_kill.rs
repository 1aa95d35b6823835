//! `kill -9` at random moments of a whole run, with places, a memory limit and a command: what was
//! measured is in the record, going on completes the same design, and nothing is left. 5 kills; 500
//! with IOLAB_TRUST (`make trust`).

use std::fs;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::cli_support::{Home, children, document, has_ended, wait_for};
use crate::places_kill::groups_of;
use iolab_io::place::kind_named;
use iolab_model::result::Document;

const TEST: &str = "mixed_kill::a_run_killed_at_any_moment_is_gone_on_with";
const ROUNDS: &str = "6";

const ASKED: [&str; 19] = [
    "read",
    "--file-size",
    "1Mi",
    "--method",
    "read,pread",
    "--block",
    "64Ki",
    "--contender",
    "cat {file}",
    "--place",
    "ext4,tmpfs",
    "--memory",
    "64Mi",
    "--rounds",
    ROUNDS,
    "--seed",
    "3",
    "--budget",
    "60s",
];

fn mounted_or_attached(home: &Home) -> Vec<String> {
    let name = home.path("");
    let name = name.to_str().unwrap().trim_end_matches('/').to_owned();
    let mut left = Vec::new();
    for entry in fs::read_dir("/sys/block").unwrap().flatten() {
        let file = fs::read_to_string(entry.path().join("loop/backing_file")).unwrap_or_default();
        left.extend(file.starts_with(&name).then(|| format!("{:?}", entry.file_name())));
    }
    let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap();
    left.extend(mounts.lines().filter(|line| line.contains(&name)).map(str::to_owned));
    left
}

fn shown(home: &Home) -> Option<Document> {
    let said = home.run(&["show", "last", "--format", "json"]);
    if said.err.contains("the history is empty") {
        return None;
    }
    Some(document(&said.fine()))
}

/// Round by round the same cells; none twice.
fn is_whole(run: &Document) {
    for cell in &run.cells {
        let rounds: Vec<u32> = cell.samples.iter().map(|sample| sample.round).collect();
        assert!(rounds.windows(2).all(|two| two[0] < two[1]), "{}: {rounds:?}", cell.id);
        for sample in cell.samples.iter().filter(|sample| sample.fault.is_none()) {
            assert!(sample.measurement.wall_ns > 0 && sample.measurement.bytes > 0, "{}", cell.id);
        }
    }
}

/// What the kills of a run have shown.
#[derive(Default)]
struct Seen {
    broken_off: usize,
    kept: usize,
}

/// A run from its start to its end, in milliseconds, the shorter of two: kills are drawn from as long.
fn run_ms() -> u64 {
    let taken = || {
        let home = Home::new();
        let started = Instant::now();
        home.run(&ASKED).done();
        started.elapsed().as_millis() as u64
    };
    taken().min(taken())
}

/// Starts a run, and kills at some moment its controller, its agent, or both; the agents it had.
fn killed(home: &Home, kill: usize, after: Duration) -> Vec<u32> {
    let mut run = home.command();
    run.args(ASKED).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = run.spawn().unwrap();
    std::thread::sleep(after);
    let agents = children(run.id());
    if !kill.is_multiple_of(3) {
        for agent in &agents {
            let pid = rustix::process::Pid::from_raw(*agent as i32).unwrap();
            let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
        }
    }
    if kill % 3 < 2 {
        run.kill().unwrap();
    }
    run.wait().unwrap();
    wait_for("the end of the agents", || agents.iter().all(|agent| has_ended(*agent)));
    agents
}

/// One kill, and what is true after it.
fn one_kill(kill: usize, after: Duration, seen: &mut Seen) {
    let home = Home::new();
    let agents = killed(&home, kill, after);
    // The watchdog takes away what the agent could not.
    wait_for("the watchdog", || mounted_or_attached(&home).is_empty());
    // The trial may outlive its agent by a moment, and holds its directory until it is gone.
    let of_ours = |name: &String| name.starts_with(".iolab-");
    wait_for("a clean directory", || {
        home.run(&["clean"]).fine();
        !home.names().iter().any(of_ours)
    });
    let groups: Vec<_> = agents.iter().flat_map(|agent| groups_of(*agent)).collect();
    assert!(groups.is_empty(), "kill {kill}: {groups:?}");
    let Some(partial) = shown(&home) else { return };
    is_whole(&partial);
    let before: Vec<usize> = partial.cells.iter().map(|cell| cell.samples.len()).collect();
    if !partial.run.complete {
        seen.broken_off += 1;
        seen.kept += before.iter().sum::<usize>();
        home.run(&["run", "--resume", "last", "--allow-commands"]).done();
    }
    let whole = shown(&home).unwrap();
    is_whole(&whole);
    assert!(whole.run.complete, "kill {kill}");
    let ids = |run: &Document| run.cells.iter().map(|c| c.id.clone()).collect::<Vec<_>>();
    assert_eq!((ids(&whole), whole.run.seed), (ids(&partial), partial.run.seed));
    for (cell, (then, before)) in whole.cells.iter().zip(partial.cells.iter().zip(&before)) {
        let first = &cell.samples[..*before];
        let same = first
            .iter()
            .zip(&then.samples)
            .all(|(a, b)| (a.round, a.measurement.wall_ns) == (b.round, b.measurement.wall_ns));
        assert!(same, "kill {kill}: {} lost a trial", cell.id);
    }
    assert!(
        !mine_in_memory(home.path("x").parent().unwrap()),
        "kill {kill}: a record is left in memory"
    );
}

/// Where records of runs of this user lie in memory.
fn memory() -> PathBuf {
    PathBuf::from(format!("/dev/shm/iolab-{}", rustix::process::geteuid().as_raw()))
}

/// Whether a record of a run of this home lies in memory.
fn mine_in_memory(home: &Path) -> bool {
    let home = home.as_os_str().as_encoded_bytes();
    fs::read_dir(memory()).into_iter().flatten().flatten().any(|entry| {
        let note = fs::read(entry.path()).unwrap_or_default();
        let lock = entry.path().extension().is_some_and(|end| end == "lock");
        lock && note.windows(home.len()).any(|part| part == home)
    })
}

#[test]
fn a_run_killed_at_any_moment_is_gone_on_with() {
    if let Err(missing) = kind_named("ext4").unwrap().available() {
        return eprintln!("SKIP {TEST}: {missing}");
    }
    // Most of the time of a kill is waiting: several at once.
    let (kills, at_once) =
        if std::env::var_os("IOLAB_TRUST").is_some() { (500, 4) } else { (5, 1) };
    let most_ms = (run_ms() * at_once as u64).div_ceil(2) * 6 / 5 + 200;
    let one = |thread: usize| {
        let mut random = Pcg64::new(7, 7 + thread as u128);
        let mut seen = Seen::default();
        for kill in (thread..kills).step_by(at_once) {
            one_kill(kill, Duration::from_millis(20 + random.next_u64() % most_ms), &mut seen);
        }
        seen
    };
    let seen: Vec<Seen> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..at_once).map(|thread| scope.spawn(move || one(thread))).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let broken_off: usize = seen.iter().map(|one| one.broken_off).sum();
    let kept: usize = seen.iter().map(|one| one.kept).sum();
    eprintln!("{kills} kills: {broken_off} runs broken off, {kept} trials kept");
    assert!(broken_off > 0, "not every run was over, or not begun");
}

/// Runs that were killed lay in memory until the machine was started anew, where their history was
/// removed with all that was around it.
#[test]
fn a_killed_run_without_a_history_is_cleaned_away() {
    let home = Home::new();
    let read = ["read", "--file-size", "1Mi", "--method", "read,pread", "--rounds", "100000"];
    let (mut run, agent, ..) = home.measuring(&read);
    run.kill().unwrap();
    run.wait().unwrap();
    wait_for("the end of the agent", || has_ended(agent));
    let path = home.path("x").parent().unwrap().to_owned();
    if !mine_in_memory(&path) {
        return eprintln!("SKIP a_killed_run_without_a_history: it is not kept in /dev/shm");
    }
    let other = Home::new();
    other.run(&["clean", "--dry-run"]).fine();
    other.run(&["clean"]).fine();
    assert!(mine_in_memory(&path), "its history takes it over");
    drop(home);
    let said = other.run(&["clean"]).fine();
    assert!(!mine_in_memory(&path), "{said:?}");
}

/// One of which nothing was measured goes with the next run that is recorded there.
#[test]
fn a_killed_run_without_a_trial_goes_with_the_next_run() {
    let home = Home::new();
    let run = ["read", "--file-size", "64Ki", "--method", "read", "--rounds", "2"];
    home.run(&run).fine();
    let gone = Home::new();
    let path = gone.path("x").parent().unwrap().to_owned();
    let device = fs::metadata(&path).unwrap().dev();
    drop(gone);
    let Ok(()) = fs::create_dir_all(memory()) else {
        return eprintln!("SKIP a_killed_run_without_a_trial: no /dev/shm");
    };
    fs::set_permissions(memory(), PermissionsExt::from_mode(0o700)).unwrap();
    let lock = memory().join("run-0000000000000000-test.lock");
    fs::write(&lock, format!("{device}\n{}", path.display())).unwrap();
    fs::write(lock.with_extension("sqlite"), "").unwrap();
    home.run(&run).fine();
    assert!(!lock.exists() && !lock.with_extension("sqlite").exists());
}
