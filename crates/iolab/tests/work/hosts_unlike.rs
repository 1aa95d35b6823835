//! Machines that are not like this one: another processor, an old kernel, a clock that is years off.

use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use iolab_model::catalog::{Fact, Factor, utc_text};
use iolab_model::result::{CellRecord, CellStatus, Document};

use crate::cli_support::{IOLAB, document, fine_document, wait_for};
use crate::other_machines::{old_kernel, years_off};
use crate::ssh_server::Server;

/// The copy lay in a home that two kinds of machines shared, and was started on both: the advice was
/// to link it statically. The one way that there is works.
#[test]
fn a_machine_of_another_processor_is_refused_and_taken_with_a_program_of_its_own() {
    let test = "a_machine_of_another_processor_is_refused_and_taken_with_a_program_of_its_own";
    let Some(server) = Server::start(test) else { return };
    fs::create_dir(server.home.path("riscv")).unwrap();
    let asked = server.home.path("riscv/uname");
    fs::write(&asked, "#!/bin/sh\necho Linux riscv64\n").unwrap();
    fs::set_permissions(&asked, PermissionsExt::from_mode(0o755)).unwrap();
    let path = format!("PATH={}:/usr/bin:/bin", server.home.path("riscv").display());
    let _other = server.beside_with("other", &[], &path);
    let there = server.there();
    let read = |on: &str, more: &[&str]| {
        let line = ["read", &there, "--on", on, "--file-size", "2Mi", "--method", "pread"];
        server.run(&[&line[..], &["--block", "64Ki", "--rounds", "3"], more].concat())
    };
    let own = rustix::system::uname().machine().to_string_lossy().into_owned();
    let own = format!("this program is for Linux {own}");
    let words = ["copy iolab to other", "it is Linux riscv64", &own, "--on-program PATH"];
    read("other", &[]).refused(1, &words);
    read("this,other", &[]).refused(1, &words);
    assert_eq!(server.copies(), [""; 0].map(std::path::PathBuf::from), "nothing is copied");
    read("there", &[]).fine();
    assert_eq!(server.copies().len(), 1);
    read("other", &[]).refused(1, &words);
    read("other", &["--on-program", IOLAB]).fine();
    assert_eq!(server.left(), [""; 0]);
}

fn on<'a>(run: &'a Document, host: &str) -> &'a CellRecord {
    run.cells.iter().find(|cell| cell.factors.text(Factor::Host) == Some(host)).unwrap()
}

fn now_text() -> String {
    utc_text(SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs())
}

/// A directory that a run has just made, or was killed over yesterday, without a marker.
fn unmarked(server: &Server, name: &str, yesterday: bool) {
    let path = server.home.path(&format!("there/.iolab-00000000000000{name}"));
    fs::create_dir(&path).unwrap();
    if yesterday {
        let old = SystemTime::now() - Duration::from_secs(86_400);
        fs::File::open(&path).unwrap().set_modified(old).unwrap();
    }
}

/// Clocks of two machines are years apart: a run is dated by the one where its record is, each trial is
/// timed by the clock of its own, and how old a leftover is follows from the times of its file system.
/// An agent whose clock was ahead removed what another had made a moment ago, and had not marked yet.
#[test]
fn a_clock_that_is_years_off_dates_nothing_and_removes_nothing() {
    let test = "a_clock_that_is_years_off_dates_nothing_and_removes_nothing";
    let Some(server) = Server::start(test) else { return };
    let Some(ahead) = years_off(&server.home, 20, test) else { return };
    let Some(behind) = years_off(&server.home, -20, test) else { return };
    let _ahead = server.beside_with("ahead", &[], &ahead);
    let _behind = server.beside_with("behind", &[], &behind);
    let year = |host: &str| {
        let mut date = Command::new("ssh");
        date.env("PATH", server.path()).args([host, "date", "+%Y"]);
        String::from_utf8(date.output().unwrap().stdout).unwrap().trim().parse::<i64>().unwrap()
    };
    assert!(year("ahead") > year("there") + 15 && year("behind") < year("there") - 15);
    let there = server.there();
    for (host, fresh, old) in [("ahead", "aa", "ab"), ("behind", "ba", "bb"), ("this", "ca", "cb")]
    {
        unmarked(&server, fresh, false);
        unmarked(&server, old, true);
        let line = ["read", "--on", host, &there, "--file-size", "2Mi", "--method", "pread"];
        let line = [&line[..], &["--block", "64Ki", "--rounds", "6"]].concat();
        let (before, since) = (now_text(), Instant::now());
        let run = fine_document(server.run(&[&line[..], &["--format", "json"]].concat()));
        let took = since.elapsed().as_nanos() as u64;
        assert!(before <= run.run.started && run.run.started <= now_text(), "{:?}", run.run);
        let finished = run.run.finished.clone().unwrap();
        assert!(run.run.started <= finished && finished <= now_text(), "{:?}", run.run);
        let timed = run.cells[0].samples.iter().map(|sample| sample.measurement.wall_ns);
        let timed: u64 = timed.inspect(|ns| assert!(*ns > 0)).sum();
        assert!(timed < took, "{timed} ns of {took} ns");
        // Of what lay there only the leftover of yesterday has gone.
        let left = server.left();
        assert!(left.iter().any(|name| name.ends_with(fresh)), "{host}: {left:?}");
        assert!(!left.iter().any(|name| name.ends_with(old)), "{host}: {left:?}");
    }
    for fresh in ["aa", "ba", "ca"] {
        fs::remove_dir(server.home.path(&format!("there/.iolab-00000000000000{fresh}"))).unwrap();
    }
    let newest = fine_document(server.run(&["show", "last", "--format", "json"]));
    assert_eq!(newest.environment.text(Fact::RunHost), None, "the last one");
    server.run(&["more", "1", "1s"]).fine();
    // In one run, in the same rounds.
    let line = ["read", "--on", "this,ahead,behind", &there, "--file-size", "2Mi"];
    let line = [&line[..], &["--method", "pread", "--block", "64Ki", "--rounds", "8"]].concat();
    let (before, since) = (now_text(), Instant::now());
    let run = fine_document(server.run(&[&line[..], &["--format", "json"]].concat()));
    let took = since.elapsed().as_nanos() as u64;
    assert!(before <= run.run.started && run.run.finished.clone().unwrap() <= now_text());
    let mut timed = 0;
    for host in ["this", "ahead", "behind"] {
        let cell = on(&run, host);
        assert_eq!(cell.samples.iter().filter(|s| s.is_steady()).count(), 8, "{host}");
        timed += cell.samples.iter().map(|s| s.measurement.wall_ns).sum::<u64>();
    }
    assert!(timed < took, "{timed} ns of {took} ns");
    wait_for("all agents to clean up", || server.left().is_empty());
}

/// A kernel that lacks what has come since Linux 4.5: other ways lead to the same proofs, what has none
/// is named with the reason, and of several machines it is left out there alone.
#[test]
fn an_old_kernel_is_measured_with_what_it_has() {
    let test = "an_old_kernel_is_measured_with_what_it_has";
    let Some(server) = Server::start(test) else { return };
    let Some(old) = old_kernel(&server.home, test) else { return };
    let _old = server.beside("old", &[old], "127.0.0.1");
    let there = server.there();
    let doctor = server.run(&["doctor", "--on", "old", &there]).plain();
    assert!(doctor.contains("no cachestat not to be had: Function not implemented"), "{doctor}");
    let small = ["--file-size", "2Mi", "--block", "64Ki", "--rounds", "6", "--format", "json"];
    let of = |words: &[&str]| server.run(&[words, &[&there], &small[..]].concat());
    let lacking = |run: &Document, method: &str, why: &str| {
        for cell in run.cells.iter().filter(|c| c.factors.text(Factor::Method) == Some(method)) {
            let reason = cell.reason.clone().unwrap_or_default();
            let told = cell.status == CellStatus::Skipped && reason.contains(why);
            assert!(told && cell.samples.iter().all(|s| !s.counts()), "{}: {reason}", cell.id);
        }
    };
    let proven = |run: &Document, cells: usize| {
        let all = run.cells.iter().filter(|cell| cell.status == CellStatus::Measured);
        for cell in all.clone() {
            let steady: Vec<_> = cell.samples.iter().filter(|s| s.is_steady()).collect();
            assert_eq!(steady.len(), 6, "{}", cell.id);
            assert!(steady.iter().all(|s| s.measurement.proof.holds()), "{}", cell.id);
        }
        assert_eq!(all.count(), cells, "{:?}", run.cells);
    };
    let ways = ["--method", "pread,mmap,io_uring", "--cache", "cold,warm"];
    let said = of(&[&["read", "--on", "old"], &ways[..]].concat()).lacking("io_uring");
    let run = document(&said);
    lacking(&run, "io_uring", "Function not implemented");
    proven(&run, 4);
    let said = of(&["copy", "--on", "old", "--method", "copy_file_range,read-write"]);
    let run = document(&said.lacking("copy_file_range"));
    lacking(&run, "copy_file_range", "this file system or kernel has no such way");
    proven(&run, 1);
    proven(&fine_document(of(&["write", "--on", "old", "--method", "pwrite,mmap"])), 2);
    // The other machine has it, and is measured with it.
    let said = of(&["read", "--on", "there,old", "--method", "pread,io_uring"]);
    let run = document(&said);
    let skipped: Vec<&str> = run.cells.iter().filter_map(|cell| cell.reason.as_deref()).collect();
    let [why] = skipped[..] else { panic!("{skipped:?} {said:?}") };
    assert!(why.starts_with("on old: io_uring: ") && why.contains("not implemented"), "{why}");
    proven(&run, 3);
    assert_eq!(server.left(), [""; 0]);
}

/// The files have no room on the machine there: said before anything is made, with the machine where
/// there are several; and where the room is gone in the middle of a run its trials fail, those of the
/// other machine go on, and nothing is left.
#[test]
fn a_machine_without_room_for_the_files_is_named() {
    let test = "a_machine_without_room_for_the_files_is_named";
    let Some(server) = Server::start(test) else { return };
    let small = server.home.path("small");
    fs::create_dir(&small).unwrap();
    let there = small.display().to_string();
    let mount = format!("mount -t tmpfs -o size=24m none '{there}' && exec \"$@\"");
    let inside = ["unshare", "-m", "sh", "-c", &mount, "sh"].map(str::to_owned);
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|done| done.success()) {
        return eprintln!("SKIP {test}: no mount namespace here: root is needed");
    }
    let full = server.beside("full", &inside, "127.0.0.1");
    let words = ["write", &there, "--method", "pwrite", "--block", "64Ki"];
    let write = |more: &[&str]| server.run(&[&words[..], more].concat());
    let refused = write(&["--on", "full", "--file-size", "64Mi"]);
    refused.refused(20, &["no space in", "free some", "smaller --file-size"]);
    let refused = write(&["--on", "there,full", "--file-size", "64Mi"]);
    refused.refused(20, &["on full: no space in", "64 MiB", "free some"]);
    let words =
        [&words[..], &["--on", "there,full", "--file-size", "2Mi", "--budget", "6s"]].concat();
    let mut command = server.command(&[&words[..], &["--rounds", "100000"]].concat());
    let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains("a round takes about") {
        assert!(errors.read_line(&mut err).unwrap() > 0, "it ended: {err}");
    }
    let inside = format!("/proc/{}/root{there}", full.id());
    let mut filler = fs::File::create(format!("{inside}/filler")).unwrap();
    wait_for("the run to end", || {
        while filler.write(&[0; 1 << 16]).is_ok() {}
        child.try_wait().unwrap().is_some()
    });
    let run = fine_document(server.run(&["show", "last", "--format", "json"]));
    let reason = on(&run, "full").reason.clone().unwrap_or_default();
    assert_eq!(on(&run, "full").status, CellStatus::Failed, "{reason}");
    assert!(reason.contains("on full: ") && reason.contains("No space left"), "{reason}");
    let last = |host| on(&run, host).samples.iter().filter(|s| s.counts()).map(|s| s.round).max();
    assert!(last("there") > last("full"), "{:?}", (last("there"), last("full")));
    let left = || fs::read_dir(&inside).unwrap().count() + fs::read_dir(&small).unwrap().count();
    wait_for("all agents to clean up", || left() == 1);
}
