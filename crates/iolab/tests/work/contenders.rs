//! Commands as cells beside our own: timed with their start, checked for what they made, and each
//! failure costs its own trials.

#![allow(clippy::unwrap_used)]

use crate::cli_support::{Home, Said, document, usable};
use iolab_model::result::{CellRecord, CellStatus, Document, Measurement};

fn cell<'a>(run: &'a Document, id: &str) -> &'a CellRecord {
    let all: Vec<&str> = run.cells.iter().map(|cell| cell.id.as_str()).collect();
    run.cells.iter().find(|cell| cell.id == id).unwrap_or_else(|| panic!("no {id} in {all:?}"))
}

/// A trial that came to its end: a busy machine may have had time for the first rounds only.
fn done(cell: &CellRecord) -> &Measurement {
    let sample = cell.samples.iter().rev().find(|sample| sample.fault.is_none());
    &sample.unwrap_or_else(|| panic!("{}: {:?}", cell.id, cell.reason)).measurement
}

/// `truncate` makes a file of any size at once, and passed for the fastest way to write one.
#[test]
fn a_command_that_only_sets_a_size_is_flagged() {
    use iolab_model::catalog::Code;
    let home = Home::new();
    let commands = ["truncate -s {size} {target}", "dd"];
    let mut arguments = vec!["write", "--file-size", "1Mi", "--method", "write", "--block", "64Ki"];
    arguments.extend(commands.iter().flat_map(|command| ["--contender", command]));
    arguments.extend(["--rounds", "3", "--format", "json"]);
    let run = document(&home.run(&arguments).done());
    let flagged = |id: &str| done(cell(&run, id)).flags.contains(&Code::OnlySize);
    assert!(flagged("truncate") && !flagged("dd"), "{:?}", run.warnings);
    assert!(run.answers[0].warnings.iter().any(|warning| warning.code == Code::OnlySize));
}

/// A command that wrote without end filled the disk that others need.
#[test]
fn a_command_is_ended_before_the_reserve_is_gone() {
    if !usable("a_command_is_ended_before_the_reserve_is_gone", &["tmpfs"]) {
        return;
    }
    let home = Home::new();
    // 5 % of the file system are kept free: the last of it is filled slowly enough to be seen.
    let endless = "sh -c 'head -c 115343360 /dev/zero >\"$0\"
        while head -c 524288 /dev/zero >>\"$0\"; do sleep 0.02; done' {target}";
    let place = ["write", "--place", "tmpfs:size=128Mi", "--file-size", "1Mi", "--rounds", "3"];
    let arguments = [&place[..], &["--method", "write", "--block", "64Ki", "--contender", endless]];
    let said = home.run(&[&arguments.concat()[..], &["--format", "json"]].concat());
    let run = document(&said);
    let faults: Vec<&str> = run
        .cells
        .iter()
        .flat_map(|cell| &cell.samples)
        .filter_map(|sample| Some(sample.fault.as_ref()?.cause.as_str()))
        .chain(run.cells.iter().filter_map(|cell| cell.reason.as_deref()))
        .collect();
    assert!(faults.iter().any(|cause| cause.contains("was left free")), "{faults:?} {said:?}");
    assert!(faults.iter().all(|cause| !cause.contains("No space left")), "{faults:?}");
}

/// A program of the person's was asked for its version beforehand, in their directory; one that takes
/// every word for a file to make made one there.
#[test]
fn a_program_that_is_not_packaged_is_started_as_a_command_alone() {
    use std::os::unix::fs::PermissionsExt;
    let home = Home::new();
    let tool = home.path("dd");
    std::fs::write(&tool, "#!/bin/sh\ncase $1 in --version) : >made; echo 1.0;; esac\n").unwrap();
    std::fs::set_permissions(&tool, std::fs::Permissions::from_mode(0o755)).unwrap();
    let command = format!("{} {{file}}", tool.display());
    let run = document(&read(&home, &[&command], &[]).fine());
    assert!(!home.path("made").exists());
    let facts = run.environment.0.iter().find(|(key, _)| key.starts_with("contender.")).unwrap();
    assert!(facts.1["version"].is_null(), "{facts:?}");
}

/// One file of 2 MiB read with `read`, and these commands.
pub(super) fn read(home: &Home, commands: &[&str], more: &[&str]) -> Said {
    read_in(home, "10", commands, more)
}

/// The same in so many rounds.
fn read_in(home: &Home, rounds: &str, commands: &[&str], more: &[&str]) -> Said {
    home.file("f", 2 << 20);
    let fixed = ["read", "f", "--method", "read", "--format", "json", "--rounds", rounds];
    let mut arguments = fixed.to_vec();
    arguments.extend(commands.iter().flat_map(|command| ["--contender", command]));
    arguments.extend(more);
    home.run(&arguments)
}

#[test]
fn commands_are_measured_in_the_same_rounds() {
    let home = Home::new();
    let said = read(&home, &["dd", "cat {file}"], &["--block", "4Ki,64Ki", "--budget", "20s"]);
    let run = document(&said.fine());
    let ids: Vec<&str> = run.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids, ["read/4Ki", "read/64Ki", "dd/4Ki", "dd/64Ki", "cat"], "cat knows no block");
    assert_eq!(run.answers.len(), 1, "all are compared with each other");
    assert_eq!(run.answers[0].comparisons.len(), 10);
    let (ours, dd) = (cell(&run, "read/64Ki"), cell(&run, "dd/64Ki"));
    for (a, b) in ours.samples.iter().zip(&dd.samples) {
        assert_eq!(a.round, b.round);
    }
    let sample = done(dd);
    assert_eq!(sample.bytes, (2 << 20) * sample.repetitions);
    assert!(sample.metrics["startup_ns"] > 0.0 && sample.metrics["minor_faults"] > 10.0);
    assert!(sample.user_ns + sample.system_ns > 0);
    let start = run.warnings.iter().find(|w| w.text.starts_with("dd/64Ki"));
    assert!(start.unwrap().text.contains("`true` in the same trials"), "{:?}", run.warnings);
    let assumed = run.warnings.iter().find(|w| w.code == iolab_model::catalog::Code::ReadAssumed);
    assert!(assumed.unwrap().text.starts_with("dd/4Ki, dd/64Ki, cat: "), "{assumed:?}");
    let facts = &run.environment.0["contender.dd"];
    assert_eq!(facts["argv"][2], "of=/dev/null");
    assert!(facts["version"].as_str().unwrap().contains("dd"), "{facts}");
    assert_eq!(home.names(), ["f", "state"], "nothing is left");
}

#[test]
fn a_run_with_commands_is_written_as_a_file() {
    let home = Home::new();
    home.file("f", 1 << 20);
    let command = "sh -c 'cat \"$0\" | wc -c' {file}";
    let arguments = ["read", "f", "--method", "read", "--block", "64Ki", "--contender", command];
    // In any state: where another test drops the caches of the machine, nothing is warm for a moment.
    let more = ["--rounds", "10", "--seed", "5", "--cache", "any"];
    home.run(&[&arguments[..], &more].concat()).fine();
    home.run(&["export", "last", "toml=a.toml"]).fine();
    let said = home.run(&["run", "a.toml", "--plan"]).fine();
    assert!(said.plain().contains("2 to measure"), "{said:?}");
    assert!(said.plain().contains("sh"), "{said:?}");
}

#[test]
fn a_command_that_fails_costs_its_own_trials() {
    let home = Home::new();
    let commands = [
        "sh -c 'echo no luck >&2; exit 3' {file}",
        "sh -c 'kill -9 $$' {file}",
        "sh -c 'sleep 1000' {file}",
        "cat /no/such/file {file}",
    ];
    let said = read(&home, &commands, &["--block", "64Ki", "--budget", "15s"]);
    let run = document(&said.lacking("contender"));
    assert_eq!(cell(&run, "read").status, CellStatus::Measured);
    let reason = |part: &str| {
        let failed = run.cells.iter().filter(|cell| cell.status == CellStatus::Failed);
        let mut reasons = failed.filter_map(|cell| cell.reason.clone());
        reasons.find(|reason| reason.contains(part)).unwrap_or_else(|| {
            panic!(
                "no {part}: {said:?}",
                said = run.cells.iter().map(|c| &c.reason).collect::<Vec<_>>()
            )
        })
    };
    assert!(reason("exit status 3").contains("no luck"));
    reason("SIGKILL");
    assert!(reason("exit status 1").contains("/no/such/file"));
    reason("limit");
    assert_eq!(run.cells.iter().filter(|c| c.status == CellStatus::Failed).count(), 4);
    assert_eq!(home.names(), ["f", "state"]);
}

#[test]
fn what_a_command_leaves_running_is_ended_with_its_trial() {
    let home = Home::new();
    let said = read(
        &home,
        &["sh -c 'sleep 79.125 & setsid sleep 79.125 & cat {file}'"],
        &["--block", "64Ki"],
    );
    assert_eq!(cell(&document(&said.fine()), "sh").status, CellStatus::Measured);
    let running = std::fs::read_dir("/proc").unwrap().flatten().any(|entry| {
        let line = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        line.split(|b| *b == 0).any(|word| word == b"79.125")
    });
    assert!(!running, "a process got away");
}

fn write(home: &Home, commands: &[&str]) -> Document {
    let mut arguments =
        vec!["write", "--file-size", "300000", "--method", "write", "--block", "64Ki"];
    arguments.extend(["--rounds", "10", "--format", "json", "--budget", "20s"]);
    arguments.extend(commands.iter().flat_map(|command| ["--contender", command]));
    document(&home.run(&arguments).done())
}

#[test]
fn what_a_command_writes_is_checked() {
    let home = Home::new();
    let run = write(
        &home,
        &[
            "dd",
            "cp {source} {target}",
            "sh -c ': {source} {target}'",
            "bash -c ': {source}; echo short > {target}'",
            "/bin/sh -c ': {source}; head -c {size} /dev/zero > {target}'",
            "/bin/bash -c ': {source}; mkdir {target}'",
            "env sh -c 'head -c {size} /dev/zero > {target}'",
        ],
    );
    let named = |part: &str| {
        let text = |cell: &&CellRecord| {
            cell.factors
                .text(iolab_model::catalog::Factor::Contender)
                .is_some_and(|t| t.contains(part))
        };
        run.cells.iter().find(text).unwrap()
    };
    for part in ["dd", "cp", "env"] {
        assert_eq!(named(part).status, CellStatus::Measured, "{:?}", named(part).reason);
    }
    let digest = done(named("dd")).proof.digest.clone().unwrap();
    assert_eq!((digest.kind.as_str(), digest.matches), ("crc32c", Some(true)));
    for (part, why) in [
        ("sh -c ': {source} {target}'", "made no {target}"),
        ("echo short", "has 6 bytes instead of 300000"),
        ("{source}; head", "differs from {source} at byte"),
        ("mkdir", "no regular file"),
    ] {
        let cell = named(part);
        assert_eq!(cell.status, CellStatus::Failed, "{part}");
        assert!(cell.reason.as_deref().unwrap().contains(why), "{:?}", cell.reason);
    }
    assert_eq!(home.names(), ["state"], "nothing is left");
}

#[test]
fn a_guessing_person_is_told_what_to_write() {
    let home = Home::new();
    home.file("f", 5000);
    for (command, words) in [
        ("dd if=/dev/zero", &["{file}", "or one of dd, fio"][..]),
        ("cat {file} | wc", &["--contender", "shell"]),
        ("cat {flie}", &["{flie} is not known", "{file}"]),
        ("", &["no command"]),
    ] {
        home.run(&["read", "f", "--contender", command]).refused(2, words);
    }
    assert_eq!(home.run(&["syscall", "--contender", "dd", "--plan"]).code, Some(2));
    let said = home
        .run(&[
            "read",
            "f",
            "--method",
            "read",
            "--block",
            "4Ki",
            "--pattern",
            "random",
            "--contender",
            "dd",
            "--plan",
        ])
        .fine();
    assert!(
        said.plain().contains("dd: iolab cannot tell a command of --pattern random"),
        "{said:?}"
    );
}

#[test]
fn fio_says_its_own_figure() {
    if std::process::Command::new("fio").arg("--version").output().is_err() {
        eprintln!("SKIP fio_says_its_own_figure: fio is not installed");
        return;
    }
    let home = Home::new();
    // It counts whole milliseconds: of what takes less than one it says nothing.
    home.file("large", 64 << 20);
    let fixed = ["read", "large", "--method", "read", "--block", "64Ki", "--contender", "fio"];
    let protocol = ["--rounds", "5", "--budget", "10m", "--format", "json"];
    let run = document(&home.run(&[&fixed[..], &protocol].concat()).fine());
    let fio = cell(&run, "fio");
    assert_eq!(fio.status, CellStatus::Measured, "{:?}", fio.reason);
    assert!(done(fio).metrics["own_bytes_per_second"] > 0.0);
    assert!(run.warnings.iter().any(|w| w.text.contains("it says")), "{:?}", run.warnings);
}

/// What cannot be parted takes what it takes: a command of more than a thirtieth of the budget was ended
/// three times, as if it hung, and nothing was measured; so was the replay of a program of seconds. One that
/// leaves no time for a round is, with what helps.
#[test]
fn a_command_of_seconds_is_measured_in_a_budget_that_holds_some_of_it() {
    let home = Home::new();
    let slow = "sh -c 'sleep 2.3; cat \"$0\"' {file}";
    let run =
        |command, budget| read_in(&home, "1", &[command], &["--block", "64Ki", "--budget", budget]);
    let within = document(&run(slow, "24s").fine());
    assert!(done(cell(&within, "sh")).wall_ns > 2_300_000_000);
    let beyond = run("sh -c 'sleep 30; cat \"$0\"' {file}", "3s").lacking("sleep 30");
    let beyond = document(&beyond);
    let why = cell(&beyond, "sh").reason.clone().unwrap();
    assert!(why.contains("passed its limit of 2.0") && why.contains("larger --budget"), "{why}");
}

#[test]
fn copies_of_commands_are_checked_and_classed() {
    let home = Home::new();
    home.file("f", 3 << 20);
    let mut arguments = vec!["copy", "f", "--method", "read-write", "--block", "64Ki"];
    arguments.extend(["--contender", "cp", "--contender", "dd"]);
    arguments.extend(["--contender", "sh -c 'head -c 3000000 \"$0\" > \"$1\"' {source} {target}"]);
    arguments.extend(["--rounds", "10", "--format", "json", "--budget", "20s"]);
    let run = document(&home.run(&arguments).done());
    for id in ["cp", "dd"] {
        let cell = cell(&run, id);
        assert_eq!(cell.status, CellStatus::Measured, "{:?}", cell.reason);
        let sample = done(cell);
        assert_eq!((sample.bytes, sample.repetitions), (3 << 20, 1));
        assert_eq!(sample.proof.digest.as_ref().unwrap().matches, Some(true));
    }
    let short = cell(&run, "sh");
    assert_eq!(short.status, CellStatus::Failed);
    assert!(short.reason.as_deref().unwrap().contains("3000000 bytes instead of 3145728"));
    assert_eq!(home.names(), ["f", "state"], "nothing is left");
}

#[test]
fn trees_are_copied_and_read_by_commands() {
    let home = Home::new();
    let copy = ["files", "copy", "--files", "20", "--file-size", "4Ki"];
    let protocol =
        ["--threads", "1", "--method", "read-write", "--rounds", "10", "--budget", "20s"];
    let format = ["--format", "json"];
    let short =
        "sh -c 'cp -R \"$0\" \"$1\"; echo x > $(find \"$1\" -type f | head -1)' {source} {target}";
    let commands = ["--contender", "cp-r", "--contender", short];
    let run = home.run(&[&copy[..], &protocol, &format, &commands].concat()).lacking("contender");
    let run = document(&run);
    let named = |end: &str| run.cells.iter().find(|c| c.id.ends_with(end)).unwrap();
    let cp = named("cp");
    assert_eq!(cp.status, CellStatus::Measured, "{:?}", cp.reason);
    assert_eq!(done(cp).operations, 20);
    let wrong = named("sh");
    assert_eq!(wrong.status, CellStatus::Failed);
    assert!(
        wrong.reason.as_deref().unwrap().contains("1 difference, the first"),
        "{:?}",
        wrong.reason
    );
    assert_eq!(home.names(), ["state"], "nothing is left");
    let read = ["files", "read", "--files", "20", "--file-size", "4Ki"];
    let protocol = ["--threads", "1", "--rounds", "10", "--budget", "20s"];
    let commands = ["--contender", "find {source} -type f -exec cat {} +"];
    let run = document(&home.run(&[&read[..], &protocol, &format, &commands].concat()).fine());
    let find = run.cells.iter().find(|c| c.id.contains("find")).unwrap();
    assert_eq!(find.status, CellStatus::Measured, "{:?}", find.reason);
    let said = home.run(&["files", "stat", "--contender", "cp-r", "--plan"]).fine();
    assert!(said.plain().contains("takes part in iolab files read and copy"), "{said:?}");
}
