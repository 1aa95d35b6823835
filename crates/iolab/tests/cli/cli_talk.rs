//! Help, lists, completions, the manual; stdout closed; colours.

#![allow(clippy::unwrap_used)]

use std::process::Stdio;

use crate::cli_support::{Home, Said};

/// Every subcommand that is shown, from the help itself.
fn subcommands(home: &Home) -> Vec<String> {
    let help = home.run(&["--help"]).fine().out;
    let (_, list) = help.split_once("Commands:\n").unwrap();
    list.lines()
        .take_while(|line| !line.is_empty())
        .filter(|line| line.starts_with("  ") && !line.starts_with("   "))
        .map(|line| line.split_whitespace().next().unwrap().to_owned())
        .collect()
}

#[test]
fn every_help_has_examples_and_fits_80_and_40_columns() {
    let home = Home::new();
    let all = subcommands(&home);
    assert!(all.len() >= 10, "{all:?}");
    for name in all.iter().map(String::as_str).chain([""]) {
        for columns in [80, 40] {
            let mut command = home.command();
            command
                .env("COLUMNS", columns.to_string())
                .args([name].iter().filter(|n| !n.is_empty()));
            let said = Said::from(command.arg("--help").output().unwrap()).fine();
            assert!(said.out.contains("Examples:"), "{name}: no examples");
            assert!(said.out.contains("iolab "), "{name}");
            let mut lines = said.out.lines();
            // A single word, such as a path, cannot be broken; the usage is one line by design.
            let excused = |line: &&str| {
                columns == 40
                    && (line.split_whitespace().count() == 1 || line.starts_with("Usage:"))
            };
            let too_wide = lines.find(|line| line.chars().count() > columns && !excused(line));
            assert_eq!(too_wide, None, "{name} at {columns} columns");
        }
    }
}

/// Paragraphs that were broken at 88 columns came out of the help with a word or two on every second line.
#[test]
fn what_is_broken_by_hand_is_broken_before_80_columns() {
    fn check(command: &clap::Command) {
        let after = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let long = after.lines().find(|line| line.chars().count() > 80);
        assert_eq!(long, None, "{}", command.get_name());
        command.get_subcommands().for_each(check);
    }
    check(&iolab::command());
}

#[test]
fn version_lists_and_explanations() {
    let home = Home::new();
    let version = home.run(&["--version"]).fine().out;
    assert_eq!(version, format!("iolab {}\n", env!("CARGO_PKG_VERSION")));
    let methods = home.run(&["list", "methods"]).fine().out;
    assert!(methods.starts_with("read ") && methods.contains("\nmmap-populate "), "{methods}");
    let lists = home.run(&["list"]).fine().out;
    assert!(lists.lines().all(|line| line.chars().count() <= 80), "{lists}");
    for code in iolab_model::catalog::Code::ALL {
        let text = home.run(&["explain", &code.id().to_lowercase()]).fine().out;
        assert!(text.starts_with(code.id()) && text.lines().count() >= 2, "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}

#[test]
fn completions_and_manual_know_every_subcommand_and_axis() {
    let home = Home::new();
    let manual = home.run(&["man"]).fine().out;
    assert!(manual.contains(".TH iolab 1"), "{manual}");
    for shell in ["bash", "zsh", "fish"] {
        let script = home.run(&["completions", shell]).fine().out;
        for name in subcommands(&home).iter().map(String::as_str).chain(["idle", "consume"]) {
            assert!(script.contains(name), "{shell}: no {name}");
            let in_manual = manual.contains(name) || manual.contains(&name.replace('-', "\\-"));
            assert!(in_manual, "manual: no {name}");
        }
        assert!(!script.contains("agent"), "{shell}: the agent is nobody's business");
    }
}

#[test]
fn schema_is_a_schema() {
    let said = Home::new().run(&["schema"]).fine();
    let schema: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert!(jsonschema::meta::is_valid(&schema));
}

#[test]
fn a_reader_that_has_gone_is_no_failure() {
    let home = Home::new();
    for arguments in [
        &["list"][..],
        &["man"],
        &["explain"],
        &["completions", "zsh"],
        &["--help"],
        &["schema"],
        &["read", "--plan"],
        &["history"],
        &["doctor"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output = home.command().args(arguments).stdout(writer).stderr(Stdio::piped()).output();
        let said = Said::from(output.unwrap());
        assert_eq!(said.code, Some(0), "{arguments:?}: {said:?}");
        assert_eq!(said.err, "", "{arguments:?}");
    }
}

#[test]
fn a_full_disk_under_stdout_is_told() {
    let home = Home::new();
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let output = home.command().arg("list").stdout(full).output().unwrap();
    let said = Said::from(output);
    assert_eq!(said.code, Some(1));
    assert!(said.err.contains("stdout") && said.err.contains("No space"), "{said:?}");
}

#[test]
fn deaf_stderr_does_not_end_the_program() {
    let home = Home::new();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let output = home.command().args(["read", "--block", "x"]).stderr(writer).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn no_colour_where_none_is_wanted() {
    let home = Home::new();
    for (name, value) in [("NO_COLOR", "1"), ("TERM", "dumb")] {
        let output = home.command().env(name, value).arg("--help").output().unwrap();
        assert!(!output.stdout.contains(&0x1b), "{name}");
    }
    let said = home.run(&["--help"]).fine();
    assert!(!said.out.contains('\x1b'), "not a terminal");
}

/// `--sync dsync` had no word about what it does in the help of the commands that take it.
#[test]
fn the_help_says_what_every_word_of_an_axis_means() {
    use iolab_model::catalog::{CacheState, Factor, Sync, Touch, Until, meaning};
    let home = Home::new();
    let lists: [(&str, Factor, &[&str]); 5] = [
        ("read", Factor::Cache, CacheState::WORDS),
        ("write", Factor::Sync, Sync::WORDS),
        ("write", Factor::Until, Until::WORDS),
        ("files create", Factor::Sync, Sync::OF_FILES),
        ("meta", Factor::Pass, Touch::WORDS),
    ];
    for (command, factor, words) in lists {
        let arguments: Vec<&str> = command.split(' ').chain(["--help"]).collect();
        let help = home.run(&arguments).fine().out;
        let help: Vec<&str> = help.split_whitespace().collect();
        let help = help.join(" ");
        for word in words {
            let meaning = meaning(factor, word).unwrap();
            assert!(help.contains(&meaning), "{command} --help: {word} means {meaning}");
        }
    }
}
