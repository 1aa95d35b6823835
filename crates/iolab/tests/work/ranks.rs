//! Runs at the ranks of an MPI job, by Open MPI and by MPICH, four ranks on this machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use iolab_model::catalog::{Fact, Factor};
use iolab_model::result::Document;
use rustix::process::Signal;

use crate::cli_support::{
    Home, Said, children, fine_document, has_ended, wait_for, wait_for_trials,
};
use crate::ranks_support::{MPICH, Mpi, OPEN_MPI, left, line, of_rounds};
use crate::ssh_server::{kill, send};

/// One number for all: the span from the barrier to the last rank, with the bytes of all of them.
fn four_ranks_write_and_read(mpi: Mpi, test: &str) {
    let Some(relay) = mpi.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let written =
        mpi.run(&home, &relay, 4, &line(&["write", &there], &["--method", "pwrite,write"]));
    let written = fine_document(written);
    assert!(written.run.complete && written.answers[0].pick.is_some(), "{:?}", written.answers);
    let fact = |fact: Fact| written.environment.shown(fact).unwrap_or_default();
    assert_eq!((fact(Fact::RunRanks), fact(Fact::RunNodes)), ("4".into(), "1".into()));
    let library = fact(Fact::RunMpi).to_lowercase().replace(' ', "");
    assert!(library.contains(mpi.name), "{library}");
    let read = mpi.run(
        &home,
        &relay,
        4,
        &line(&["read", &there], &["--method", "pread", "--ranks", "1,4", "--consume", "crc32c"]),
    );
    let read = fine_document(read);
    for (run, cell, ranks) in [(&written, 0, 4), (&written, 1, 4), (&read, 0, 1), (&read, 1, 4)] {
        assert_eq!(run.cells[cell].factors.number(Factor::Ranks), Some(ranks));
        for sample in of_rounds(run, cell, 8) {
            let measured = &sample.measurement;
            let metric = |id: &str| measured.metrics[id];
            assert_eq!(measured.bytes % (ranks * (2 << 20)), 0, "{} bytes", measured.bytes);
            assert!(measured.proof.holds());
            // From the barrier to the last: no rank's own time is longer, and the first was before.
            let last = metric("ranks_first_ns") * metric("ranks_spread");
            assert!((last - measured.wall_ns as f64).abs() < 2.0, "{last} {measured:?}");
            assert!(metric("barrier_to_call_ns") > 0.0 && metric("barrier_ns") > 0.0);
            assert!(metric("barrier_to_call_ns") < measured.wall_ns as f64, "{measured:?}");
            assert!(metric("ranks_spread") >= 1.0 && metric("ranks_slowest") < ranks as f64);
        }
    }
    assert_eq!(left(&home.path("data")), [""; 0].map(PathBuf::from), "the files are gone");
    let shown = home.run(&["show", "last", "--details"]).fine().plain();
    assert!(shown.contains("the ranks' own rates add up to"), "{shown}");
    let shown = home.run(&["show", "last"]).fine().plain();
    assert!(shown.contains("Ranks: the last was done"), "{shown}");
    let plan = mpi.run(&home, &relay, 2, &["read", &there, "--file-size", "2Mi", "--plan"]).fine();
    assert!(plan.plain().contains("on 2 ranks of 1 machine, by"), "{plan:?}");
}

#[test]
fn four_ranks_of_open_mpi_write_and_read() {
    four_ranks_write_and_read(OPEN_MPI, "four_ranks_of_open_mpi_write_and_read");
}

#[test]
fn four_ranks_of_mpich_write_and_read() {
    four_ranks_write_and_read(MPICH, "four_ranks_of_mpich_write_and_read");
}

/// Many files and metadata calls: a directory of its own for each rank, all of them counted.
#[test]
fn ranks_make_files_and_calls_in_directories_of_their_own() {
    let Some(relay) = MPICH.relay("ranks_make_files_and_calls_in_directories_of_their_own") else {
        return;
    };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data").display().to_string();
    let rounds = ["--files", "200", "--ranks", "1,3", "--rounds", "6", "--format", "json", "-q"];
    for words in [
        &["files", "create", &there, "--threads", "1"][..],
        &["files", "read", &there, "--threads", "1", "--file-size", "4Ki"],
        &["meta", &there, "--operation", "stat"],
    ] {
        let said = MPICH.run(&home, &relay, 3, &[words, &rounds].concat());
        let run = fine_document(said);
        for (cell, ranks) in [(0, 1), (1, 3)] {
            assert_eq!(run.cells[cell].factors.number(Factor::Ranks), Some(ranks), "{words:?}");
            for measured in of_rounds(&run, cell, 6).iter().map(|sample| &sample.measurement) {
                assert!(measured.operations > 0 && measured.operations.is_multiple_of(ranks));
                if let Some(rate) = measured.metrics.get("rate_last") {
                    let own = measured.operations as f64 * 1e9 / measured.wall_ns as f64;
                    assert!((rate / own - 1.0).abs() < 1e-6, "{rate} {own}");
                    assert!(measured.metrics["rate_sum"] >= *rate, "{measured:?}");
                }
            }
        }
    }
    assert!(left(&home.path("data")).is_empty());
}

/// Two ranks that believe to be alone would write two answers of half a machine each.
#[test]
fn a_library_that_the_launcher_does_not_know_is_refused() {
    let test = "a_library_that_the_launcher_does_not_know_is_refused";
    let (Some(open), Some(mpich)) = (OPEN_MPI.relay(test), MPICH.relay(test)) else { return };
    let home = Home::new();
    let words = ["read", "--file-size", "2Mi"];
    for (mpi, other) in [(OPEN_MPI, &mpich), (MPICH, &open)] {
        let said = mpi.run(&home, other, 2, &words);
        assert_ne!(said.code, Some(0), "{said:?}");
        let line = said.err.lines().filter(|line| line.starts_with("iolab: ")).collect::<Vec<_>>();
        let [line] = line[..] else { panic!("one line of one rank: {said:?}") };
        for word in ["2 ranks were started", "believes to be alone", "MPICC="] {
            assert!(line.contains(word), "no {word:?} in {line:?}");
        }
    }
    assert!(home.run(&["history"]).fine().out.contains("no runs yet"), "nothing was recorded");
}

/// What is wrong is said by one rank, with its name where it is one's own.
#[test]
fn what_ranks_cannot_do_is_refused_once() {
    let test = "what_ranks_cannot_do_is_refused_once";
    let home = Home::new();
    home.run(&["read", "--file-size", "2Mi", "--ranks", "2"])
        .refused(2, &["--ranks", "mpirun -np"]);
    let none = home.path("no-relay").display().to_string();
    let missing = home.run(&["read", "--file-size", "2Mi", &format!("--mpi={none}")]);
    missing.refused(2, &["no-relay", "-p iolab-mpi --features mpi", "docs/many.md"]);
    let Some(relay) = MPICH.relay(test) else { return };
    let run = |words: &[&str]| {
        let said = MPICH.run(&home, &relay, 2, words);
        let all = said.err.lines().filter(|line| line.starts_with("iolab: ")).count();
        assert_eq!(all, 1, "{said:?}");
        said
    };
    run(&["syscall"]).refused(2, &["syscall is not measured at ranks"]);
    run(&["write", "--file-size", "2Mi", "--ranks", "3"]).refused(2, &["there are 2 ranks"]);
    run(&["write", "/no/such"]).refused(2, &["rank 0 on ", "/no/such"]);
    let small = ["read", "--file-size", "2Mi"];
    run(&[&small[..], &["--place", "tmpfs"]].concat()).refused(2, &["--place", "of one machine"]);
}

/// Two ranks started by different words, as two nodes may be set up differently.
pub fn unlike_ranks(home: &Home, relay: &Path, first: &[&str], second: &[&str]) -> Said {
    let mut command = MPICH.command(home, relay, 1, first);
    command.args([":", "-np", "1"]).args(second).arg(format!("--mpi={}", relay.display()));
    Said::from(command.output().unwrap())
}

/// Each node had a /scratch of its own, and the figures of four local disks were called those of the
/// shared one.
#[test]
fn a_directory_that_is_another_one_on_a_rank_is_refused() {
    let test = "a_directory_that_is_another_one_on_a_rank_is_refused";
    let Some(relay) = MPICH.relay(test) else { return };
    let home = Home::new();
    fs::create_dir_all(home.path("data/only-here")).unwrap();
    let iolab = home.command().get_program().to_str().unwrap().to_owned();
    let there = home.path("data").display().to_string();
    let script = format!("mount -t tmpfs none '{there}' && exec \"$0\" \"$@\"");
    let probe = Command::new("unshare").args(["-m", "sh", "-c", &script, "true"]).output();
    if !probe.is_ok_and(|said| said.status.success()) {
        return eprintln!("SKIP {test}: no mount namespace here: root is needed");
    }
    for (directory, word) in
        [(there.clone(), "which rank 0 has made"), (there + "/only-here", "No such")]
    {
        let words = ["write", &directory, "--file-size", "2Mi", "-q"];
        let other = [&["unshare", "-m", "sh", "-c", &script, &iolab][..], &words].concat();
        let said = unlike_ranks(&home, &relay, &words, &other);
        assert_ne!(said.code, Some(0), "{said:?}");
        assert!(said.err.contains("rank 1 on ") && said.err.contains(word), "{said:?}");
    }
    assert_eq!(left(&home.path("data")), [home.path("data/only-here")]);
}

/// A node that still had the program of yesterday.
#[test]
fn different_programs_on_ranks_are_refused() {
    let Some(relay) = MPICH.relay("different_programs_on_ranks_are_refused") else { return };
    let home = Home::new();
    let iolab = home.command().get_program().to_owned();
    let other = home.path("other");
    fs::write(&other, [fs::read(&iolab).unwrap(), b"1".to_vec()].concat()).unwrap();
    fs::set_permissions(&other, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let words = ["read", "--file-size", "2Mi", "-q"];
    let theirs = [&[other.to_str().unwrap()][..], &words].concat();
    let said = unlike_ranks(&home, &relay, &words, &theirs);
    assert_eq!(said.code, Some(2), "{said:?}");
    assert!(said.err.contains("rank 1 on ") && said.err.contains("same program"), "{said:?}");
}

/// A run that would go on for long, at its first rounds.
fn begun(mpi: Mpi, home: &Home, relay: &Path, there: &str) -> Child {
    let words = ["read", there, "--file-size", "2Mi", "--method", "pread,mmap", "--budget", "60s"];
    let words = [&words[..], &["--block", "64Ki", "--rounds", "100000"]].concat();
    begun_by(mpi.command(home, relay, 4, &words), home)
}

pub fn begun_by(mut command: Command, home: &Home) -> Child {
    command.stdout(Stdio::piped()).stderr(fs::File::create(home.path("log")).unwrap());
    let child = command.spawn().unwrap();
    rounds_from_now(home, 1);
    child
}

/// Waits for so many more lines on rounds.
fn rounds_from_now(home: &Home, more: usize) {
    let told = || fs::read_to_string(home.path("log")).unwrap().matches("\nround ").count();
    let before = told();
    wait_for("rounds", || told() >= before + more);
}

/// All that this process has started, and what they have.
pub fn below(pid: u32) -> Vec<u32> {
    let own = children(pid);
    let deeper: Vec<u32> = own.iter().flat_map(|child| below(*child)).collect();
    [own, deeper].concat()
}

pub fn words_of(pid: u32) -> String {
    let bytes = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    String::from_utf8_lossy(&bytes).replace('\0', " ")
}

/// Whatever is killed, what was measured is in the history, whole as a record, and nothing is left in the directory, nor
/// running.
pub fn is_cleaned_up(home: &Home, job: Child, all: &[u32], there: &Path) -> Said {
    let said = Said::from(job.wait_with_output().unwrap());
    wait_for("the directories to be removed", || left(there).is_empty());
    wait_for("everything to end", || all.iter().all(|pid| has_ended(*pid)));
    let run = home.run(&["show", "last", "--format", "json"]).fine();
    let run: Document = serde_json::from_str(&run.out).unwrap();
    assert_eq!(run.experiment.workload, "read");
    assert!(run.cells.iter().flat_map(|cell| &cell.samples).any(|sample| sample.counts()));
    said
}

#[test]
fn a_killed_rank_ends_the_run_and_leaves_nothing() {
    let test = "a_killed_rank_ends_the_run_and_leaves_nothing";
    for mpi in [OPEN_MPI, MPICH] {
        let Some(relay) = mpi.relay(test) else { return };
        for whom in ["iolab-mpi", "mpirun"] {
            let home = Home::new();
            fs::create_dir(home.path("data")).unwrap();
            let there = home.path("data");
            let job = begun(mpi, &home, &relay, there.to_str().unwrap());
            let all = below(job.id());
            let ranks = all.iter().filter(|pid| words_of(**pid).contains("/iolab-mpi /"));
            let victim = match whom {
                "mpirun" => job.id(),
                _ => *ranks.max().unwrap(),
            };
            kill(victim);
            let said = is_cleaned_up(&home, job, &all, &there);
            assert_ne!(said.code, Some(0), "{mpi:?} {whom} {said:?}");
        }
    }
}

/// An agent that dies costs a trial, and all begin anew; what the job is sent reaches the controller, and
/// the run ends as any that is interrupted.
#[test]
fn a_killed_agent_costs_a_trial_and_an_interrupt_ends_the_run() {
    let test = "a_killed_agent_costs_a_trial_and_an_interrupt_ends_the_run";
    let Some(relay) = MPICH.relay(test) else { return };
    let home = Home::new();
    fs::create_dir(home.path("data")).unwrap();
    let there = home.path("data");
    let job = begun(MPICH, &home, &relay, there.to_str().unwrap());
    let all = below(job.id());
    let agents = || {
        let now = below(job.id()).into_iter();
        let all = now.filter(|pid| words_of(*pid).starts_with("iolab agent 0 "));
        all.filter(|pid| !has_ended(*pid)).collect::<Vec<_>>()
    };
    for _ in 0..2 {
        let old = agents();
        let mut ranks = old.iter().filter(|pid| words_of(**pid).starts_with("iolab agent 0 2 "));
        let second = *ranks.next().unwrap();
        wait_for_trials(second, 3);
        kill(second);
        wait_for("other agents", || {
            let now = agents();
            now.len() == 4 && now.iter().all(|pid| !old.contains(pid)) && left(&there).len() == 4
        });
        rounds_from_now(&home, 2);
    }
    let first = all.iter().find(|pid| words_of(**pid).contains("/iolab-mpi /")).copied().unwrap();
    send(first, Signal::TERM);
    let said = is_cleaned_up(&home, job, &all, &there);
    assert_eq!(said.code, Some(130), "{said:?}");
    let run = home.run(&["show", "last", "--format", "json"]).fine();
    let run: Document = serde_json::from_str(&run.out).unwrap();
    assert!(!run.run.complete);
    let twins = run.twin.iter().flat_map(|twin| &twin.samples);
    let samples = run.cells.iter().flat_map(|cell| &cell.samples).chain(twins);
    let lost: Vec<String> = samples.filter_map(|s| Some(s.fault.as_ref()?.to_string())).collect();
    assert!(lost.iter().any(|fault| fault.contains("rank 2 on ")), "{lost:?}");
}
