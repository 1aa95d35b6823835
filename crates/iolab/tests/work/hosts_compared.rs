//! Machines compared with each other: `--on a,b`, by ssh servers of the tests' own on this machine.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use iolab_model::catalog::{Code, Fact, Factor};
use iolab_model::result::{AnswerKind, CellStatus};

use crate::cli_support::{Said, fine_document, wait_for};
use crate::ranks_support::of_rounds;
use crate::ssh_server::{Network, Server, kill};

const SMALL: [&str; 8] =
    ["--file-size", "2Mi", "--method", "pread", "--block", "64Ki", "--rounds", "12"];

/// This machine twice, by two servers and as itself: in each round each has its trial, and what is
/// said of them is what is said of cells that are alike.
#[test]
fn machines_are_compared_in_the_same_rounds() {
    let Some(server) = Server::start("machines_are_compared_in_the_same_rounds") else { return };
    let again = server.beside("again", &[], "127.0.0.1");
    let there = server.there();
    let line = [&["read", "--on", "there,again,this", "--format", "json", &there][..], &SMALL];
    let run = fine_document(server.run(&line.concat()));
    let hosts: Vec<&str> =
        run.cells.iter().filter_map(|cell| cell.factors.text(Factor::Host)).collect();
    assert_eq!(hosts, ["there", "again", "this"]);
    assert_eq!(run.experiment.ask, [Factor::Host]);
    let [answer] = &run.answers[..] else { panic!("{:?}", run.answers) };
    assert_eq!(answer.rounds, 12);
    for (number, cell) in run.cells.iter().enumerate() {
        // Another test may have cooled what a trial was to find.
        of_rounds(&run, number, 12);
        assert_eq!(cell.status, CellStatus::Measured, "{}", cell.id);
    }
    let first = |round: u32| {
        let its = |s: &&iolab_model::result::Sample| s.round == round;
        let position = |cell: &iolab_model::result::CellRecord| {
            cell.samples.iter().find(its).map(|s| s.position)
        };
        run.cells.iter().map(position).collect::<Vec<_>>()
    };
    assert!((1..12).any(|round| first(round) != first(0)), "the order is drawn in each round");
    // One machine: nothing of it differs but what passes.
    assert!(run.warnings.iter().all(|warning| warning.code != Code::HostsDiffer));
    assert_eq!(run.environment.text(Fact::RunHost), Some("there,again,this"));
    assert!(run.environment.text(Fact::KernelRelease).is_some(), "what all share stands once");
    wait_for("all agents to clean up", || server.left().is_empty());
    let shown = server.run(&["show", "last"]).fine();
    assert!(shown.plain().contains(" of again · "), "{shown:?}");
    assert!(shown.plain().contains("this machine"), "{shown:?}");
    // It goes on where it was, and is compared with other runs of its kind.
    let more = server.run(&["more", "last", "1s"]).fine();
    assert!(more.plain().contains(" of again · "), "{more:?}");
    drop(again);
    server.run(&["compare", "1", "1"]).fine();
}

/// One machine under three names: none of them may be called the fastest. Chance does that in one run of
/// twenty, and takes the same name three times in less than one of ten thousand.
#[test]
fn one_machine_by_three_names_is_not_told_apart() {
    let Some(server) = Server::start("one_machine_by_three_names_is_not_told_apart") else {
        return;
    };
    let _again = server.beside("again", &[], "127.0.0.1");
    let there = server.there();
    let line = [&["read", "--on", "there,again,this", "--format", "json", &there][..], &SMALL];
    let line = line.concat();
    let mut winners = Vec::new();
    while winners.len() < 3 {
        let run = fine_document(server.run(&line));
        let [answer] = &run.answers[..] else { panic!("{:?}", run.answers) };
        let Some(name) = answer.pick.clone().filter(|_| answer.kind == AnswerKind::Winner) else {
            return;
        };
        winners.push((name, answer.sentence.clone()));
        if winners.iter().any(|(name, _)| *name != winners[0].0) {
            return;
        }
    }
    panic!("the same one thrice: {winners:?}");
}

/// A machine whose files are in memory, and one whose files are on a disk, at the same path: the first
/// is faster where each write is synced, and the report says in what they differ.
#[test]
fn the_faster_machine_wins_and_what_differs_is_told() {
    let test = "the_faster_machine_wins_and_what_differs_is_told";
    let Some(server) = Server::start(test) else { return };
    let there = server.there();
    let mount =
        format!("mount -t tmpfs none '{there}' && mkdir -p '{there}/.cache' && exec \"$@\"");
    let inside = ["unshare", "-m", "sh", "-c", &mount, "sh"].map(str::to_owned);
    if !Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|done| done.success()) {
        return eprintln!("SKIP {test}: no mount namespace here: root is needed");
    }
    let memory = server.beside("memory", &inside, "127.0.0.1");
    let line = ["write", "--on", "there,memory", &there, "--file-size", "256Ki", "--block", "4Ki"];
    let line = [&line[..], &["--method", "pwrite", "--sync", "fsync", "--rounds", "12"]].concat();
    let run = fine_document(server.run(&[&line[..], &["--format", "json"]].concat()));
    let [answer] = &run.answers[..] else { panic!("{:?}", run.answers) };
    assert_eq!(answer.kind, AnswerKind::Winner, "{}", answer.sentence);
    assert!(answer.sentence.contains("memory is fastest: there takes"), "{}", answer.sentence);
    let differs = run.warnings.iter().find(|warning| warning.code == Code::HostsDiffer).unwrap();
    assert!(differs.text.contains("file system: "), "{}", differs.text);
    assert!(differs.text.contains("tmpfs (memory)"), "{}", differs.text);
    let at = |host: &str| run.environment.of_host(host).shown(Fact::MountFsType).unwrap();
    assert_eq!(at("memory"), "tmpfs");
    assert_ne!(at("there"), "tmpfs", "the tests' own directory is on a disk");
    let shown = server.run(&["show", "last"]).fine();
    assert!(shown.plain().contains("tmpfs of memory"), "{shown:?}");
    drop(memory);
}

#[test]
fn what_machines_cannot_do_together_is_refused_with_the_reason() {
    let test = "what_machines_cannot_do_together_is_refused_with_the_reason";
    let Some(server) = Server::start(test) else { return };
    let there = server.there();
    let read =
        |more: &[&str]| server.run(&[&["read", &there, "--file-size", "2Mi"][..], more].concat());
    read(&["--on", "there,there"]).refused(2, &["compare there", "twice"]);
    read(&["--on", "there,"]).refused(2, &["--on", "no name of a machine"]);
    read(&["--on", "there,this", "--place", "tmpfs"]).refused(2, &["--place on there and this"]);
    read(&["--on", "there,no-such-host.invalid"])
        .refused(1, &["no-such-host.invalid", "true` works"]);
    let doctor = server.run(&["doctor", "--on", "there,this", &there]);
    doctor.refused(2, &["one machine at a time"]);
    let study = server.run(&["study", "run", "read-vs-mmap", "--on", "there,this"]);
    study.refused(2, &["judged on one machine"]);
    // A file that is not the same everywhere is no contest.
    let file = server.home.file("there/data", 1 << 20);
    let name = file.display().to_string();
    let hidden = ["unshare", "-m", "sh", "-c"].map(str::to_owned);
    let empty = format!("mount -t tmpfs none '{there}' && exec \"$@\"");
    let inside = [&hidden[..], &[empty, "sh".to_owned()]].concat();
    if Command::new("unshare").args(["-m", "true"]).status().is_ok_and(|done| done.success()) {
        let _other = server.beside("other", &inside, "127.0.0.1");
        let said = server.run(&["read", "--on", "there,other", &name, "--method", "pread"]);
        said.refused(2, &["on other", "data"]);
    }
    let run = server.home.path("run.toml");
    let text = format!(
        "[[experiment]]\nworkload = \"read\"\ndirectory = \"{there}\"\n[experiment.factors]\nhost = [\"a\", \"b\"]\n"
    );
    std::fs::write(&run, text).unwrap();
    let said = server.run(&["run", &run.display().to_string()]);
    said.refused(2, &["machines are named on the command line: --on a,b"]);
    assert_eq!(server.left(), [""; 0]);
}

/// A run of two machines that goes on until something ends it; `breaks` is called in its middle.
fn broken(server: &Server, hosts: &str, budget: &str, breaks: impl FnOnce(u32)) -> Said {
    let there = server.there();
    let line = ["read", "--on", hosts, &there, "--file-size", "2Mi", "--budget", budget];
    let line =
        [&line[..], &["--method", "pread", "--block", "64Ki", "--rounds", "100000"]].concat();
    let mut child =
        server.command(&line).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut errors = BufReader::new(child.stderr.take().unwrap());
    let mut err = String::new();
    while !err.contains("a round takes about") {
        assert!(errors.read_line(&mut err).unwrap() > 0, "it ended: {err}");
    }
    breaks(child.id());
    Said::at_end_of(child, errors, err)
}

/// The ssh of a run to one of its machines.
fn line_to(run: u32, host: &str) -> u32 {
    let is_it = |pid: &u32| crate::ranks::words_of(*pid).split(' ').any(|word| word == host);
    crate::cli_support::children(run).into_iter().find(is_it).unwrap()
}

#[test]
fn a_machine_that_is_lost_costs_its_own_cells_alone() {
    let test = "a_machine_that_is_lost_costs_its_own_cells_alone";
    let Some(server) = Server::start(test) else { return };
    // A line that breaks once is made anew, and the run is whole.
    let again = server.beside("again", &[], "127.0.0.1");
    let said = broken(&server, "there,again", "4s", |run| kill(line_to(run, "again")));
    assert_eq!(said.code, Some(0), "{said:?}");
    // Its server is gone, too: the other one's rounds go on, and the run is a partial one.
    let pid = again.id();
    let said = broken(&server, "there,again", "8s", |run| {
        kill(pid);
        kill(line_to(run, "again"));
    });
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("measure on again: the line broke"), "{said:?}");
    let run = fine_document(server.run(&["show", "last", "--format", "json"]));
    assert!(!run.run.complete);
    let of = |host: &str| {
        run.cells.iter().find(|cell| cell.factors.text(Factor::Host) == Some(host)).unwrap()
    };
    assert_eq!(of("again").status, CellStatus::Failed, "{:?}", of("again").reason);
    let last = |host: &str| of(host).samples.iter().filter(|s| s.counts()).map(|s| s.round).max();
    assert!(last("there") > last("again"), "{:?}", (last("there"), last("again")));
    wait_for("all agents to clean up", || server.left().is_empty());
}

/// Packets to one of two machines go nowhere any more: the other is measured on, and the agent that
/// hears nothing removes what it made.
#[test]
fn a_network_that_is_cut_ends_one_machine_of_two() {
    let test = "a_network_that_is_cut_ends_one_machine_of_two";
    let Some(network) = Network::make(test) else { return };
    let Some(server) = Server::start(test) else { return };
    let _far = server.beside("far", &network.inside(), &network.address);
    let said = broken(&server, "there,far", "15s", |_| network.cut());
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("measure on far: the line broke"), "{said:?}");
    let run = fine_document(server.run(&["show", "last", "--format", "json"]));
    assert!(!run.run.complete);
    wait_for("all agents to clean up", || server.left().is_empty());
}
