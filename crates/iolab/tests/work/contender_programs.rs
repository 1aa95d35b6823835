//! Programs of commands: where they are looked for, what they are called, what is said where one is not
//! there.

use super::contenders::read;
use crate::cli_support::{Home, Said, document};
use iolab_model::result::{CellStatus, Document};

/// What a person names is refused where it is not there; a file may name what other machines have.
#[test]
fn what_is_missing_is_refused_with_the_package_and_skipped_in_a_file() {
    let home = Home::new();
    home.file("f", 1 << 20);
    let run = |arguments: &[&str]| {
        let mut command = home.command();
        command.env("PATH", home.path("nowhere")).args(arguments);
        Said::from(command.output().unwrap())
    };
    let all = ["read", "f", "--method", "read", "--contender", "dd", "--contender", "mycat {file}"];
    let said = run(&all);
    assert_eq!(said.code, Some(2), "{said:?}");
    for word in ["dd is not on PATH: install the package coreutils", "mycat is not on PATH"] {
        assert!(said.err.contains(word), "no {word:?} in {said:?}");
    }
    let file = "[[experiment]]\nworkload = \"read\"\n[experiment.factors]\nfile = \"f\"\n\
                method = \"read\"\nblock = \"64Ki\"\ncontender = [\"dd\", \"mycat {file}\"]\n";
    std::fs::write(home.path("a.toml"), file).unwrap();
    let said = run(&["run", "a.toml", "--plan"]).fine();
    for word in ["dd is not installed", "the package coreutils", "mycat is not in PATH"] {
        assert!(said.plain().contains(word), "no {word:?} in {said:?}");
    }
}

/// A script in the directory of the person, and one of the same name below it.
fn scripts(home: &Home) {
    use std::os::unix::fs::PermissionsExt;
    std::fs::create_dir_all(home.path("a b")).unwrap();
    for name in ["old.sh", "a b/old.sh"] {
        std::fs::write(home.path(name), "#!/bin/sh\nexec cat \"$1\" >/dev/null\n").unwrap();
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(home.path(name), mode).unwrap();
    }
}

/// `./old.sh` was looked for in the directory of the trial, and three trials of each failed.
#[test]
fn a_program_of_the_directory_is_found_and_has_one_name() {
    let home = Home::new();
    scripts(&home);
    let commands = ["./old.sh {file}", "'a b/old.sh' {file}"];
    let said = read(&home, &commands, &["--block", "64Ki"]).fine();
    let run = document(&said);
    let ids: Vec<&str> = run.cells.iter().map(|cell| cell.id.as_str()).collect();
    assert_eq!(ids[0], "read");
    assert!(ids[1].ends_with("/old.sh") && ids[2] == "a b/old.sh", "{ids:?}");
    assert!(run.cells.iter().all(|cell| cell.status == CellStatus::Measured), "{run:?}");
    // From another directory the run goes on with the same programs.
    std::fs::create_dir(home.path("elsewhere")).unwrap();
    let mut more = home.command();
    more.current_dir(home.path("elsewhere")).args(["more", "last", "2s", "--format", "json"]);
    more.arg("--allow-commands");
    let more = document(&Said::from(more.output().unwrap()).fine());
    let samples = |run: &Document| run.cells.iter().map(|cell| cell.samples.len()).sum::<usize>();
    assert!(samples(&more) > samples(&run));
    assert!(more.cells.iter().flat_map(|cell| &cell.samples).all(|sample| sample.fault.is_none()));
}

/// Two programs of the person's were compared with each other by methods that nobody had asked for.
#[test]
fn commands_alone_are_compared_and_called_by_their_programs() {
    let home = Home::new();
    scripts(&home);
    home.file("f", 2 << 20);
    let commands = ["--contender", "./old.sh {file}", "--contender", "cat {file}"];
    let alone = [&["read", "f", "--method", "none", "--rounds", "8"], &commands[..]].concat();
    let said = home.run(&alone).fine();
    for line in said.out.lines() {
        assert!(!line.contains("{file}"), "{line} in {said:?}");
    }
    let has_row = |name: &str| said.out.lines().any(|line| line.starts_with(&format!("{name} ")));
    assert!(has_row("old.sh") && has_row("cat"), "{said:?}");
    let run = document(&home.run(&["show", "last", "--format", "json"]).fine());
    assert_eq!(run.cells.len(), 2);
    // It was the first of its kind; what goes on is none.
    let more = home.run(&["more", "last", "2s", "--allow-commands"]).fine();
    assert!(!more.err.contains("first run of its kind"), "{more:?}");
    let said = home.run(&["read", "f", "--method", "none"]);
    assert!(said.code == Some(2) && said.err.contains("--contender"), "{said:?}");
}

/// Found out after three trials of each.
#[test]
fn a_program_that_cannot_be_started_is_refused_before_anything_is_measured() {
    let home = Home::new();
    home.file("f", 1 << 20);
    home.file("plain.sh", 10);
    let refused = |commands: &[&str]| {
        let all = [&["read", "f", "--method", "read"], commands].concat();
        let said = home.run(&all);
        assert_eq!(said.code, Some(2), "{said:?}");
        said.err
    };
    let said = refused(&["--contender", "./no.sh {file}", "--contender", "./plain.sh {file}"]);
    let here = home.path("").display().to_string();
    let there = format!("there is no program no.sh in {}", here.trim_end_matches('/'));
    assert!(said.contains(&there) && said.contains("plain.sh is not executable"), "{said}");
    let said = refused(&["--contender", "no-such-program {file}"]);
    assert!(said.contains("no-such-program is not on PATH: install it"), "{said}");
}

/// GNU grep ends at its first match where it prints to /dev/null: it was 15 times as fast as cat.
#[test]
fn what_a_command_prints_does_not_go_to_dev_null() {
    let home = Home::new();
    let command = "sh -c 'test ! /proc/$$/fd/1 -ef /dev/null && cat \"$0\"' {file}";
    let run = document(&read(&home, &[command], &["--block", "64Ki"]).fine());
    assert_eq!(run.cells[1].status, CellStatus::Measured, "{:?}", run.cells[1].reason);
}

/// What was tried in it changed the time of a tree, and `iolab more` refused to go on with its own run.
#[test]
fn a_tree_that_is_read_keeps_its_time() {
    let home = Home::new();
    std::fs::create_dir(home.path("tree")).unwrap();
    home.file("tree/a", 5000);
    home.file("tree/b", 5000);
    let changed = || std::fs::metadata(home.path("tree")).unwrap().modified().unwrap();
    let before = changed();
    home.run(&["files", "read", "tree", "--threads", "1", "--rounds", "3"]).done();
    assert_eq!(changed(), before);
    home.run(&["more", "last", "1s"]).done();
    assert_eq!(changed(), before);
}
