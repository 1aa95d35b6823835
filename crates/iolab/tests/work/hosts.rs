//! Runs on another machine, by a real ssh server of the tests' own: on this machine, and in a network
//! namespace that is cut off.

use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use iolab_model::catalog::Fact;

use crate::cli_support::{Said, children, fine_document, wait_for, wait_for_trials};
use crate::ssh_server::{Network, Server, kill, send};
use rustix::process::Signal;

const SMALL: [&str; 8] =
    ["--file-size", "2Mi", "--method", "pread,mmap", "--block", "64Ki", "--rounds", "10"];

#[test]
fn a_run_on_another_machine_is_recorded_here() {
    let Some(server) = Server::start("a_run_on_another_machine_is_recorded_here") else { return };
    let there = server.there();
    let line = [&["read", "--on", "there", "--format", "json", &there][..], &SMALL].concat();
    let run = fine_document(server.run(&line));
    assert_eq!(run.environment.text(Fact::RunHost), Some("there"));
    assert_eq!(run.experiment.directory.as_deref(), Some(there.as_str()));
    assert!(run.answers[0].pick.is_some() && run.run.complete, "{:?}", run.answers);
    assert_eq!(server.left(), [""; 0], "the files there are gone");
    // One copy of the program, for nobody else, and it is taken again.
    let [copy] = &server.copies()[..] else { panic!("{:?}", server.copies()) };
    let about = fs::metadata(copy).unwrap();
    assert_eq!(about.permissions().mode() & 0o777, 0o700);
    let shown = server.run(&["show", "last"]).fine();
    assert!(shown.plain().contains(" of there · "), "{shown:?}");
    fine_document(server.run(&line));
    assert_eq!(fs::metadata(copy).unwrap().modified().unwrap(), about.modified().unwrap());
    // What it is going to do says where.
    let plan = server.run(&["read", "--on", "there", "--file-size", "2Mi", "--plan"]).fine();
    assert!(plan.plain().contains("on there, by ssh; the record stays here"), "{plan:?}");
    assert!(plan.plain().contains("in /var/tmp, removed afterwards"), "{plan:?}");
    // The same run goes on there, without being told.
    let more = server.run(&["more", "last", "1s"]).fine();
    assert!(more.plain().contains(" of there · "), "{more:?}");
    let here = server.run(&["doctor", "--on", "there", &there]).fine();
    assert!(here.plain().contains("directory"), "{here:?}");
}

#[test]
fn a_machine_that_cannot_be_had_is_named_with_what_helps() {
    let test = "a_machine_that_cannot_be_had_is_named_with_what_helps";
    let Some(server) = Server::start(test) else { return };
    let read = |more: &[&str]| server.run(&[&["read", "--file-size", "2Mi"][..], more].concat());
    let works = "true` works without a question";
    read(&["--on", "no-such-host.invalid"]).refused(1, &["look at no-such-host.invalid", works]);
    read(&["--on=-oProxyCommand=false"]).refused(2, &["--on", "no name of a machine"]);
    read(&["--on", "there", "data/file"]).refused(2, &["data/file", "give the whole path"]);
    read(&["--on", "there", "/no/such"]).refused(2, &["/no/such"]);
    let missing = read(&["--on", "there", "--on-program", "/no/iolab"]);
    missing.refused(1, &["start iolab on there", "/no/iolab", "--on-program PATH"]);
    // Something that starts and is no iolab.
    let strange = read(&["--on", "there", "--on-program", "/bin/true"]);
    strange.refused(1, &["there", "--on-program PATH"]);
    // No key that it takes.
    fs::write(server.home.path("key.pub"), "").unwrap();
    read(&["--on", "there"]).refused(1, &["Permission denied", works]);
    assert_eq!(server.left(), [""; 0]);
}

/// The program did not fit, the advice was to see whether ssh works, which it did, and a part of the
/// program stayed and took the last room there was.
#[test]
fn a_machine_without_room_for_the_program_is_named_with_what_helps() {
    let test = "a_machine_without_room_for_the_program_is_named_with_what_helps";
    if !rustix::process::geteuid().is_root() {
        return eprintln!("SKIP {test}: only root mounts a file system without room");
    }
    let full = "for last; do :; done; at=$(dirname \"$last\")/there/.cache/iolab; \
                mkdir -p \"$at\" && mount -t tmpfs -o size=1m none \"$at\" && exec \"$@\"";
    let inside = ["unshare", "-m", "sh", "-c", full, "sh"].map(str::to_owned);
    let Some(server) = Server::start_in(test, &inside, "127.0.0.1") else { return };
    let said = server.run(&["read", "--on", "there", "--file-size", "2Mi"]);
    assert!(!said.err.contains("without a question"), "ssh works: {said:?}");
    said.refused(1, &["copy iolab to there", "No space left on device", "--on-program PATH"]);
    let cache = format!("/proc/{}/root{}/.cache/iolab", server.id(), server.there());
    assert_eq!(fs::read_dir(cache).unwrap().count(), 0, "no part of it stays");
}

/// Ends what runs there, or the way to it, in the middle of a run.
fn broken(server: &Server, budget: &str, breaks: impl FnOnce(u32)) -> (Said, Duration) {
    let there = server.there();
    let line = ["read", "--on", "there", &there, "--file-size", "2Mi", "--budget", budget];
    let line = [&line[..], &["--method", "pread,mmap", "--rounds", "100000"]].concat();
    let mut command = server.command(&line);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains("a round takes about") {
        assert!(errors.read_line(&mut err).unwrap() > 0, "it ended: {err}");
    }
    breaks(children(child.id())[0]);
    let since = Instant::now();
    let reader = std::thread::spawn(move || {
        errors.read_to_string(&mut err).unwrap();
        err
    });
    let mut said = Said::from(child.wait_with_output().unwrap());
    said.err = reader.join().unwrap();
    (said, since.elapsed())
}

#[test]
fn a_line_that_is_cut_loses_a_trial_and_nothing_there() {
    let test = "a_line_that_is_cut_loses_a_trial_and_nothing_there";
    let Some(server) = Server::start(test) else { return };
    // The agent there ends with its stream, another one takes its place.
    let (said, _) = broken(&server, "6s", kill);
    assert_eq!(said.code, Some(0), "{said:?}");
    wait_for("the agents there to clean up", || server.left().is_empty());
    // The server is gone: what was measured stays, and the run says why it ended.
    let pid = server.id();
    let (said, _) = broken(&server, "6s", |line| {
        kill(pid);
        kill(line);
    });
    assert!(said.code.is_some_and(|code| code != 0), "{said:?}");
    assert!(said.err.contains("there"), "{said:?}");
    wait_for("the agent there to clean up", || server.left().is_empty());
    let listed = server.run(&["history"]).fine();
    assert!(listed.out.lines().count() >= 2, "the run is in the history: {listed:?}");
}

/// Nobody closes anything: packets go nowhere any more.
#[test]
fn a_network_that_is_cut_leaves_nothing_running_there() {
    let test = "a_network_that_is_cut_leaves_nothing_running_there";
    let Some(network) = Network::make(test) else { return };
    let server = Server::start_in(test, &network.inside(), &network.address);
    let Some(server) = server else { return };
    let (said, took) = broken(&server, "6s", |_| network.cut());
    assert!(said.code.is_some_and(|code| code != 0), "{said:?}");
    assert!(took < Duration::from_secs(120), "{took:?}: {said:?}");
    // The agent hears nothing for 15 s and ends.
    wait_for("the agent there to clean up", || server.left().is_empty());
}

/// The agent among what a process has started.
fn agent_below(of: u32) -> Option<u32> {
    let is_agent = |pid: &u32| {
        let words = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        words.split(|byte| *byte == 0).nth(1) == Some(b"agent")
    };
    let below = children(of);
    below.iter().copied().find(is_agent).or_else(|| below.into_iter().find_map(agent_below))
}

/// Nobody closes anything, and ssh's own questions are answered: the run waited for its agent for ever.
#[test]
fn an_agent_that_stands_still_loses_a_trial_and_nothing_there() {
    let test = "an_agent_that_stands_still_loses_a_trial_and_nothing_there";
    let Some(server) = Server::start(test) else { return };
    let mut stopped = None;
    let (said, took) = broken(&server, "18s", |_| {
        let agent = agent_below(server.id()).unwrap();
        wait_for_trials(agent, 20);
        send(agent, Signal::STOP);
        stopped = Some(agent);
    });
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(took < Duration::from_secs(60), "{took:?}: {said:?}");
    let run = fine_document(server.run(&["show", "last", "--format", "json"]));
    let samples = run.cells.iter().flat_map(|cell| &cell.samples);
    let faults: Vec<_> = samples.filter_map(|sample| sample.fault.as_ref()).collect();
    // None where it was stopped before the first round.
    let by_silence = faults.iter().all(|fault| fault.cause.contains("said nothing for 12s"));
    assert!(faults.len() <= 1 && by_silence, "{faults:?} {said:?}");
    let counted = run.cells.iter().flat_map(|cell| &cell.samples).any(|sample| sample.counts());
    assert!(run.run.complete && counted, "{said:?}");
    // It finds nobody once it goes on.
    send(stopped.unwrap(), Signal::CONT);
    wait_for("the agent there to clean up", || server.left().is_empty());
}
