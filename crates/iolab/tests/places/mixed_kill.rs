//! `kill -9` at random moments of a whole run, with places, a memory limit and a command: what was
//! measured is in the record, going on completes the same design, and nothing is left. 5 kills; 500
//! with IOLAB_TRUST (`make trust`).

use std::fs;
use std::process::Stdio;
use std::time::Duration;

use rand_core::Rng;
use rand_pcg::Pcg64;

use crate::cli_support::{Home, children, document, wait_for};
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

#[test]
fn a_run_killed_at_any_moment_is_gone_on_with() {
    if let Err(missing) = kind_named("ext4").unwrap().available() {
        return eprintln!("SKIP {TEST}: {missing}");
    }
    let kills = if std::env::var_os("IOLAB_TRUST").is_some() { 500 } else { 5 };
    let mut random = Pcg64::new(7, 7);
    let (mut broken_off, mut kept) = (0, 0);
    for kill in 0..kills {
        let home = Home::new();
        let mut run = home.command();
        run.args(ASKED).stdout(Stdio::null()).stderr(Stdio::null());
        let mut run = run.spawn().unwrap();
        std::thread::sleep(Duration::from_millis(50 + random.next_u64() % 4000));
        let agents = children(run.id());
        // The controller, or its agent, or both at once.
        if kill % 3 > 0 {
            for agent in &agents {
                let pid = rustix::process::Pid::from_raw(*agent as i32).unwrap();
                let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
            }
        }
        if kill % 3 < 2 {
            run.kill().unwrap();
        }
        run.wait().unwrap();
        // The watchdog takes away what the agent could not.
        let of_ours = |name: &String| name.starts_with(".iolab-");
        wait_for("the end of the agents", || {
            agents.iter().all(|agent| !fs::exists(format!("/proc/{agent}")).unwrap())
        });
        wait_for("the watchdog", || mounted_or_attached(&home).is_empty());
        home.run(&["clean"]).fine();
        assert!(!home.names().iter().any(of_ours), "kill {kill}: {:?}", home.names());
        let Some(partial) = shown(&home) else { continue };
        is_whole(&partial);
        let before: Vec<usize> = partial.cells.iter().map(|cell| cell.samples.len()).collect();
        if !partial.run.complete {
            broken_off += 1;
            kept += before.iter().sum::<usize>();
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
    }
    eprintln!("{kills} kills: {broken_off} runs broken off, {kept} trials kept");
    assert!(broken_off > 0, "not every run was over, or not begun");
}
