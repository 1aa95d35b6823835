//! Whole runs on real files: data on stdout and nothing else there, the record, going on.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::io::Read;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Stdio;

use crate::cli_support::{Home, IOLAB, Said, document, wait_for};
use iolab_model::catalog::Code;
use iolab_model::result::{CellStatus, Sample};

const SHORT: [&str; 6] = ["--method", "read,pread", "--block", "4Ki,64Ki", "--rounds", "12"];

/// Samples without what is told by all trials of a run: which of them are outliers.
fn bare(samples: &[Sample]) -> Vec<Sample> {
    let mut samples = samples.to_vec();
    samples.iter_mut().for_each(|s| s.measurement.flags.retain(|c| *c != Code::Outlier));
    samples
}

fn read(home: &Home, more: &[&str]) -> Said {
    let arguments: Vec<&str> = ["read", "f"].iter().chain(&SHORT).chain(more).copied().collect();
    home.run(&arguments)
}

#[test]
fn one_question_end_to_end() {
    let home = Home::new();
    let file = home.file("f", 300_000);
    let said = read(&home, &["--format", "json", "--export", "csv=run.csv", "--seed", "7"]).fine();
    let run = document(&said);
    assert_eq!(run.cells.len(), 4);
    assert_eq!(run.cells[0].id, "read/4Ki");
    assert!(run.cells.iter().all(|c| c.status == CellStatus::Measured), "{run:?}");
    assert!(run.cells.iter().all(|c| c.samples.iter().filter(|s| s.counts()).count() >= 12));
    assert_eq!(run.answers.len(), 1);
    assert_eq!(run.answers[0].comparisons.len(), 6, "one entry a pair");
    assert!(run.twin.is_some());
    assert_eq!((run.run.id, run.run.seed, run.run.complete), (1, 7, true));
    assert_eq!(run.run.argv.last().map(String::as_str), Some("7"));
    let path =
        run.experiment.factors[&iolab_model::catalog::Factor::File][0].as_str().unwrap().to_owned();
    assert_eq!(iolab_model::catalog::path_from_text(&path), file);
    assert!(said.err.contains("writes nothing") && said.err.contains("never writes to it"));
    assert_eq!(
        fs::read_to_string(home.path("run.csv"))
            .unwrap()
            .lines()
            .next()
            .map(|l| l.contains("wall_ns")),
        Some(true)
    );
    assert_eq!(home.names(), ["f", "run.csv", "state"], "nothing is left behind");

    // The record gives the same document again, and the other formats.
    let again = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(again, run);
    for format in ["table", "markdown", "csv", "google-benchmark"] {
        let shown = home.run(&["show", "1", "--format", format]).fine();
        assert!(shown.out.contains("pread"), "{format}: {shown:?}");
        assert!(!shown.out.contains('\x1b'), "{format}");
    }
    let history: serde_json::Value =
        serde_json::from_str(&home.run(&["history", "--format", "json"]).fine().out).unwrap();
    assert_eq!(history[0]["status"], "complete");
    home.run(&["export", "1", "markdown=r.md", "json=r.json"]).fine();
    assert!(home.path("r.md").exists() && home.path("r.json").exists());
}

#[test]
fn quiet_is_quiet_and_talk_stays_off_stdout() {
    let home = Home::new();
    home.file("f", 300_000);
    let said = read(&home, &["-q"]).fine();
    assert_eq!(said.err, "");
    assert!(!said.out.is_empty());
    let said = read(&home, &["-v", "--format", "json"]).fine();
    assert!(said.err.contains("seed"), "{said:?}");
    document(&said);
    assert!(!said.err.contains('\x1b') && !said.err.contains('\r'), "no redrawing here: {said:?}");
}

/// What a terminal would show, stdout and stderr together.
fn on_a_terminal(home: &Home, environment: &[(&str, &str)]) -> Option<Said> {
    let line = format!("{} read f {}", crate::cli_support::IOLAB, SHORT.join(" "));
    let mut script = std::process::Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).current_dir(home.path(""));
    script.env("XDG_STATE_HOME", home.path("state")).env_remove("LC_ALL").env_remove("NO_COLOR");
    script.envs(environment.iter().copied()).stdin(Stdio::null());
    script.output().ok().map(Said::from)
}

#[test]
fn a_terminal_gets_one_line_that_moves_and_a_dumb_one_does_not() {
    let home = Home::new();
    home.file("f", 300_000);
    let utf8 = [("TERM", "xterm"), ("LANG", "C.UTF-8")];
    let Some(said) = on_a_terminal(&home, &utf8) else {
        eprintln!("SKIP a_terminal_gets_one_line_that_moves: script(1) is not installed");
        return;
    };
    let said = said.fine();
    assert!(said.out.contains("left: ") && said.out.contains('━'), "{said:?}");
    assert!(said.out.contains("\x1b["), "colours and a line that is redrawn: {said:?}");

    let ascii = on_a_terminal(&home, &[("TERM", "xterm"), ("LANG", "C")]).unwrap().fine();
    assert!(ascii.out.is_ascii(), "{ascii:?}");
    let dumb = on_a_terminal(&home, &[("TERM", "dumb"), ("LANG", "C.UTF-8")]).unwrap().fine();
    assert!(!dumb.out.contains('\x1b') && !dumb.out.contains("left: "), "{dumb:?}");
    let plain = [("TERM", "xterm"), ("LANG", "C.UTF-8"), ("NO_COLOR", "1")];
    let plain = on_a_terminal(&home, &plain).unwrap().fine();
    assert!(!plain.out.contains("\x1b[3") && !plain.out.contains("\x1b[1m"), "{plain:?}");
}

#[test]
fn colours_where_they_are_asked_for() {
    let home = Home::new();
    home.file("f", 300_000);
    read(&home, &["-q"]).fine();
    assert!(!home.run(&["show"]).fine().out.contains('\x1b'));
    assert!(home.run(&["show", "--color", "always"]).fine().out.contains('\x1b'));
}

#[test]
fn a_file_is_made_and_removed() {
    let home = Home::new();
    let said =
        home.run(&["syscall", "--operation", "lseek,read", "--rounds", "10", "--format", "json"]);
    let run = document(&said.fine());
    assert_eq!(run.cells.len(), 2);
    assert_eq!(home.names(), ["state"]);
    let more = ["--file-size", "1Mi", "--rounds", "10", "--method", "pread", "--block", "64Ki"];
    let arguments: Vec<&str> = ["read", "."].iter().chain(&more).copied().collect();
    let said = home.run(&arguments).fine();
    assert!(said.err.contains("makes one file of 1 MiB"), "{said:?}");
    assert_eq!(home.names(), ["state"]);
}

#[test]
fn an_export_never_overwrites_what_is_measured() {
    let home = Home::new();
    home.file("f", 300_000);
    read(&home, &["--export", "json=./f"]).refused(20, &["would write to what is measured"]);
    assert_eq!(fs::read(home.path("f")).unwrap(), vec![0x5a; 300_000]);
}

#[test]
fn a_store_that_cannot_be_written_is_told_before_anything_is_measured() {
    let home = Home::new();
    home.file("f", 300_000);
    read(&home, &["--store", "/proc/nowhere/x"]).refused(20, &["/proc/nowhere", "--store"]);
    home.run(&["history", "--store", "f"]).refused(20, &["f", "nothing was changed", "--store"]);
    assert_eq!(fs::read(home.path("f")).unwrap(), vec![0x5a; 300_000]);
}

#[test]
fn a_reader_that_leaves_during_the_run_loses_nothing() {
    let home = Home::new();
    home.file("f", 300_000);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home
        .command()
        .args(["read", "f", "-q", "--format", "csv"])
        .args(SHORT)
        .stdout(writer)
        .stderr(Stdio::piped())
        .output();
    let said = Said::from(output.unwrap());
    assert_eq!((said.code, said.err.as_str()), (Some(0), ""));
    home.run(&["show", "last"]).fine();
}

#[test]
fn an_interrupted_run_reports_what_it_has_and_is_gone_on_with() {
    let home = Home::new();
    home.file("f", 300_000);
    let endless = ["--rounds", "100000", "--format", "json"];
    let arguments = ["read", "f", "--method", "read,pread", "--block", "64Ki"];
    let arguments: Vec<&str> = arguments.iter().chain(&endless).copied().collect();
    let said = home.interrupted(&arguments);
    assert_eq!(said.code, Some(130), "{said:?}");
    assert!(said.err.contains("ending with this round"), "{said:?}");
    let partial = document(&said);
    assert!(!partial.run.complete);
    let samples = partial.cells[0].samples.len();
    assert!(samples > 0);

    let said = home.interrupted(&["run", "--resume", "last"]);
    assert_eq!(said.code, Some(130), "{said:?}");
    let resumed = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(resumed.run.id, partial.run.id, "it is the same run");
    assert_eq!(resumed.run.seed, partial.run.seed);
    assert!(resumed.cells[0].samples.len() > samples, "it went on");
    let kept = bare(&resumed.cells[0].samples[..samples]);
    assert_eq!(kept, bare(&partial.cells[0].samples));
    home.run(&["run", "--resume", "99"]).refused(2, &["99"]);
}

#[test]
fn a_complete_run_is_not_resumed() {
    let home = Home::new();
    home.file("f", 300_000);
    read(&home, &[]).fine();
    home.run(&["run", "--resume", "last"]).refused(2, &["complete"]);
}

#[test]
fn selftest_tells_the_noise_floor() {
    let home = Home::new();
    let said = home.run(&["selftest", ".", "--budget", "4s"]).fine();
    assert_eq!(said.out.lines().count(), 2, "{said:?}");
    assert!(said.out.contains("against itself"), "{said:?}");
    assert_eq!(home.names(), ["state"]);
}

#[test]
fn a_directory_that_may_not_be_written_to() {
    let home = Home::open();
    fs::create_dir(home.path("d")).unwrap();
    fs::set_permissions(home.path("d"), PermissionsExt::from_mode(0o555)).unwrap();
    let mut command = home.as_ordinary_user(Path::new(IOLAB));
    let output = command.args(["read", "d", "--file-size", "1Mi"]).output().unwrap();
    Said::from(output).refused(20, &["a file must be made there"]);
}

#[test]
fn clean_finds_nothing_and_doctor_looks() {
    let home = Home::new();
    let said = home.run(&["clean"]).fine();
    assert!(said.err.contains("nothing was left"), "{said:?}");
    let probes: serde_json::Value =
        serde_json::from_str(&home.run(&["doctor", "--format", "json"]).fine().out).unwrap();
    assert!(probes.as_array().unwrap().len() > 5, "{probes}");
    let said = home.run(&["doctor"]).fine();
    // A path cannot be broken.
    let fits = |line: &str| line.chars().count() <= 80 || line.contains('/');
    assert!(said.out.lines().all(fits), "{}", said.out);
    assert_eq!(home.names(), [""; 0], "doctor leaves nothing");
}

/// What is missing differs from machine to machine; hardly one has every file system's tools.
#[test]
fn what_installs_all_that_is_missing_is_one_command_a_distribution() {
    let home = Home::new();
    let said = home.run(&["doctor", "--install"]).fine();
    if !said.out.contains("install") {
        let test = "what_installs_all_that_is_missing_is_one_command_a_distribution";
        return println!("SKIP {test}: nothing is missing here");
    }
    let packages = |line: &str| line.split_whitespace().count();
    let mut counts = Vec::new();
    for begin in ["apt-get install", "dnf install", "pacman -S"] {
        let line = said.out.lines().find(|line| line.contains(begin));
        let line = line.unwrap_or_else(|| panic!("no {begin} in {said:?}"));
        counts.push(packages(&line[line.find(begin).unwrap() + begin.len()..]));
    }
    assert!(counts.iter().all(|count| *count > 0), "{said:?}");
}

/// It was told after 57 s that so many rounds could never have fit.
#[test]
fn what_a_budget_cannot_give_is_said_before_the_start() {
    let home = Home::new();
    home.file("data", 32 << 20);
    let asked = ["read", "data", "--block", "512..4Mi:x2", "--budget", "20ms"];
    let plan = home.run(&[&asked[..], &["--plan"]].concat()).fine();
    let plan: Vec<&str> = plan.out.split_whitespace().collect();
    assert!(plan.join(" ").contains("take a longer --budget"), "{plan:?}");
    let said = home.run(&asked);
    let told = said.err.find("take a longer --budget").unwrap_or_else(|| panic!("{said:?}"));
    assert!(said.err.find("round").is_some_and(|report| report <= told), "{said:?}");
}

/// 28 s went into empty files, where files of 4 KiB had been asked for.
#[test]
fn a_size_of_files_that_are_made_empty_is_said_to_be_unused() {
    let home = Home::new();
    let asked = ["files", "create", "--files", "20", "--file-size", "4Ki", "--budget", "2s"];
    for more in [&["--plan"][..], &["--rounds", "2"]] {
        let said = home.run(&[&asked[..], more].concat()).fine();
        let words: Vec<&str> =
            said.out.split_whitespace().chain(said.err.split_whitespace()).collect();
        let told = words.join(" ").contains("--file-size is not used; files write fills them");
        assert!(told, "{said:?}");
    }
    for empty in [&[][..], &["--sizes", "empty"]] {
        let plain = [&["files", "create", "--files", "20", "--plan"][..], empty].concat();
        let plain = home.run(&plain).fine();
        assert!(!plain.out.contains("is not used"), "{plain:?}");
    }
}

#[test]
fn the_agent_ends_when_nobody_speaks_to_it() {
    let home = Home::new();
    let mut child =
        home.command().arg("agent").stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
    wait_for("the agent to end", || child.try_wait().unwrap().is_some());
    let mut out = Vec::new();
    child.stdout.take().unwrap().read_to_end(&mut out).unwrap();
    assert_eq!(out, b"");
}
