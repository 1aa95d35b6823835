//! Ranks that lack something: space, a clock that agrees with that of the others.

use std::fs::File;
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

use iolab_model::catalog::Fact;
use iolab_model::result::{CellStatus, Document};

use crate::cli_support::{Home, Said, fine_document, has_ended, wait_for};
use crate::other_machines::years_off;
use crate::ranks::{begun_by, below, unlike_ranks};
use crate::ranks_support::{MPICH, left, line, of_rounds};

/// What `unshare` runs so that a directory is a file system of its own, so small.
fn room(directory: &Path, size: &str) -> String {
    format!("mount -t tmpfs -o size={size} none '{}' && exec \"$@\"", directory.display())
}

/// The same command among mounts of its own; `None` says why there are none.
fn among_mounts(command: &Command, script: &str, test: &str) -> Option<Command> {
    let mut inside = Command::new("unshare");
    inside.args(["-m", "sh", "-c", script, "sh"]);
    let tried = Command::new("unshare").args(["-m", "true"]).stderr(Stdio::null()).status();
    if !tried.is_ok_and(|tried| tried.success()) {
        eprintln!("SKIP {test}: no mount namespace here: root is needed");
        return None;
    }
    inside.arg(command.get_program()).args(command.get_args()).process_group(0);
    inside.envs(command.get_envs().filter_map(|(key, value)| Some((key, value?))));
    inside.current_dir(command.get_current_dir().unwrap());
    Some(inside)
}

fn home() -> (Home, String) {
    let home = Home::new();
    std::fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    (home, there)
}

/// 5.7 MiB were said to be free where df had 24, and nobody said whose: each rank has its part, and one
/// of them may see less, or may not write as long a file.
#[test]
fn the_rank_that_has_least_room_is_named_before_anything_is_made() {
    let test = "the_rank_that_has_least_room_is_named_before_anything_is_made";
    let Some(relay) = MPICH.relay(test) else { return };
    let (home, there) = home();
    let data = home.path("data");
    let words = ["write", &there, "--file-size", "16Mi", "--method", "pwrite", "-q"];
    let host = rustix::system::uname().nodename().to_string_lossy().into_owned();
    let all = MPICH.command(&home, &relay, 4, &words);
    let Some(mut all) = among_mounts(&all, &room(&data, "24m"), test) else { return };
    let second = format!("rank 1 on {host}");
    // What is free moves a little while they look one after another: any of the four may have least.
    let (some, has) = ("iolab: rank ", format!(" on {host} has least space"));
    let parts = [some, &*has, "of 4 ranks has its part", "16 MiB", "--file-size"];
    Said::from(all.output().unwrap()).refused(20, &parts);
    // Of two ranks the second one's directory is on another file system, which is said first.
    let iolab = home.command().get_program().to_str().unwrap().to_owned();
    let small = room(&data, "4m");
    let theirs = [&["unshare", "-m", "sh", "-c", &small, "sh", &iolab][..], &words].concat();
    let said = unlike_ranks(&home, &relay, &words, &theirs);
    said.refused(20, &[&second, "least space", "of 2 ranks", "no space in", "free some"]);
    let long = ["write", &there, "--file-size", "128Mi", "--method", "pwrite", "-q"];
    let limited = "ulimit -f 131072; exec \"$@\"";
    let theirs = [&["sh", "-c", limited, "sh", &iolab][..], &long].concat();
    let said = unlike_ranks(&home, &relay, &long, &theirs);
    said.refused(20, &[&second, "a file of 128 MiB may not be written", "64 MiB", "ulimit -f"]);
    assert!(left(&data).is_empty());
}

/// The space is gone in the middle of a run: whoever meets it first is named with what helps, the others
/// go on to the next trial with it, and the run ends with what was measured before.
#[test]
fn a_rank_that_runs_out_of_space_fails_its_trial_by_name() {
    let test = "a_rank_that_runs_out_of_space_fails_its_trial_by_name";
    let Some(relay) = MPICH.relay(test) else { return };
    let (home, there) = home();
    let words = ["write", &there, "--file-size", "2Mi", "--block", "64Ki", "--method", "pwrite"];
    let words = [&words[..], &["--rounds", "100000", "--budget", "60s"]].concat();
    let command = MPICH.command(&home, &relay, 4, &words);
    let room = room(&home.path("data"), "64m");
    let Some(command) = among_mounts(&command, &room, test) else { return };
    let mut job = begun_by(command, &home);
    let all = below(job.id());
    let inside = File::open(format!("/proc/{}/root{there}", job.id())).unwrap();
    let inside = format!("/proc/self/fd/{}", inside.as_raw_fd());
    let mut filler = File::create(format!("{inside}/filler")).unwrap();
    wait_for("the run to end", || {
        // Between two trials their files are gone.
        while filler.write(&[0; 1 << 16]).is_ok() {}
        job.try_wait().unwrap().is_some()
    });
    assert_eq!(left(Path::new(&inside)), [Path::new(&inside).join("filler")]);
    wait_for("everything to end", || all.iter().all(|pid| has_ended(*pid)));
    let said = Said::from(job.wait_with_output().unwrap());
    assert_eq!(said.code, Some(0), "{said:?}");
    let shown = home.run(&["show", "last", "--format", "json"]).fine();
    let run: Document = serde_json::from_str(&shown.out).unwrap();
    assert!(run.cells[0].samples.iter().any(|sample| sample.counts()), "before it was full");
    let reason = run.cells[0].reason.clone().unwrap_or_default();
    assert_eq!(run.cells[0].status, CellStatus::Failed, "{reason}");
    for word in ["rank ", " on ", "No space left on device", "free some space"] {
        assert!(reason.contains(word), "no {word:?} in {reason:?}");
    }
}

/// A rank on a machine whose time of day is years off, and whose time since its start is days from that
/// of the other: no time of the one is held against one of the other.
#[test]
fn clocks_of_two_machines_are_never_compared() {
    let test = "clocks_of_two_machines_are_never_compared";
    let Some(relay) = MPICH.relay(test) else { return };
    let (home, there) = home();
    let Some(clock) = years_off(&home, 20, test) else { return };
    let of_its_own = ["unshare", "-u", "-T", "--fork", "--monotonic", "864000"];
    let tried = Command::new(of_its_own[0]).args(&of_its_own[1..]).arg("true").output();
    if !tried.is_ok_and(|tried| tried.status.success()) {
        return eprintln!("SKIP {test}: no time namespace here: root and Linux 5.6 are needed");
    }
    let iolab = home.command().get_program().to_str().unwrap().to_owned();
    let named = "echo node-b >/proc/sys/kernel/hostname && exec \"$@\"";
    let words = line(&["write", &there], &["--method", "pwrite", "--ranks", "1,2"]);
    let machine = ["sh", "-c", named, "sh", "env", &clock, &iolab];
    let theirs = [&of_its_own[..], &machine, &words].concat();
    let since = Instant::now();
    let run = fine_document(unlike_ranks(&home, &relay, &words, &theirs));
    let took = since.elapsed().as_nanos() as f64;
    assert_eq!(run.environment.number(Fact::RunNodes), Some(2), "{:?}", run.environment);
    let clocks = run.environment.text(Fact::RunMachines).unwrap();
    assert!(clocks.ends_with("node-b*1"), "{clocks}");
    for cell in 0..2 {
        for measured in of_rounds(&run, cell, 8).iter().map(|sample| &sample.measurement) {
            let times = ["barrier_ns", "barrier_skew_ns", "barrier_to_call_ns", "ranks_first_ns"];
            for id in times {
                assert!((0.0..took).contains(&measured.metrics[id]), "{id} {measured:?}");
            }
            assert!((measured.wall_ns as f64) < took && measured.proof.holds(), "{measured:?}");
        }
    }
    assert!(left(&home.path("data")).is_empty());
}
