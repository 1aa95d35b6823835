//! Every `iolab …` command in the README and the docs runs as it stands there, in a directory
//! with the files it names, with a small budget where it has none.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Commands of the ```sh blocks of a Markdown file, comments taken off.
fn commands(markdown: &str) -> Vec<String> {
    let mut inside = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        if line.starts_with("```") {
            inside = line == "```sh" && !inside;
        } else if inside && line.starts_with("iolab ") {
            found.push(line.split(" #").next().unwrap().trim().to_owned());
        }
    }
    found
}

fn measures(arguments: &[&str]) -> bool {
    ["read", "write", "copy", "syscall", "files", "meta", "quick", "selftest"]
        .contains(&arguments[0])
}

/// It leads from installing to `quick` to the questions, without a second screen.
#[test]
fn the_readme_is_one_page() {
    let readme = fs::read_to_string(Path::new(crate::cli_support::ROOT).join("README.md")).unwrap();
    let rows = |line: &str| line.chars().count().div_ceil(100).max(1);
    assert!(readme.lines().map(rows).sum::<usize>() <= 60, "{}", readme.lines().count());
    let at = |what: &str| readme.find(what).unwrap_or_else(|| panic!("no {what}"));
    assert!(at("cargo install --locked") < at("iolab quick"));
    assert!(at("iolab quick") < at("iolab read"));
}

/// Every Markdown page but those of these names.
fn pages(folder: &str, but: &[&str]) -> Vec<PathBuf> {
    let all = fs::read_dir(Path::new(crate::cli_support::ROOT).join(folder)).unwrap();
    let mut pages: Vec<PathBuf> = all.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|page| page.extension().is_some_and(|is| is == "md"));
    pages.retain(|page| !but.iter().any(|name| page.ends_with(name)));
    pages
}

/// The words of a command line, with a small budget where it has none that is needed.
fn in_short(line: &str) -> Vec<&str> {
    let mut arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
    if !measures(&arguments) || arguments.contains(&"--plan") {
        return arguments;
    }
    arguments.retain(|a| {
        !a.ends_with('s')
            || a.parse::<f64>().is_ok()
            || !a.starts_with(|c: char| c.is_ascii_digit())
    });
    arguments.retain(|a| *a != "--budget");
    // So many rounds take what they take, and what follows needs them.
    let budget = if arguments.contains(&"--rounds") { "30s" } else { "2s" };
    arguments.extend(["--budget", budget]);
    arguments
}

/// All commands of these pages, one after the other in a directory with the files that they name.
fn examples_run(pages: &[PathBuf]) {
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(scratch.path().join("big.iso"), vec![7u8; 3 << 20]).unwrap();
    let mut ran = 0;
    for page in pages {
        for line in commands(&fs::read_to_string(page).unwrap()) {
            let arguments = in_short(&line);
            let output = Command::new(env!("CARGO_BIN_EXE_iolab"))
                .args(&arguments)
                .current_dir(scratch.path())
                .env("XDG_STATE_HOME", scratch.path().join("state"))
                .output()
                .unwrap();
            // In two seconds on a busy machine a run may not come to a round: nothing to compare.
            let bare = arguments[0] == "compare" && output.status.code() == Some(12);
            assert!(
                output.status.success() || bare,
                "{}: `{line}` ended with {}:\n{}",
                page.display(),
                output.status,
                String::from_utf8_lossy(&output.stderr)
            );
            ran += 1;
        }
    }
    assert!(ran >= 6, "only {ran} examples were found");
}

/// The largest of the pages, beside the others.
const QUESTIONS: &str = "docs/questions.md";

#[test]
fn examples_of_the_readme_and_the_pages_run_as_written() {
    let readme = Path::new(crate::cli_support::ROOT).join("README.md");
    examples_run(&[vec![readme], pages("docs", &[QUESTIONS])].concat());
}

#[test]
fn examples_of_the_guide_run_as_written() {
    examples_run(&pages("docs/guide", &[]));
}

#[test]
fn examples_of_the_questions_run_as_written() {
    examples_run(&[Path::new(crate::cli_support::ROOT).join(QUESTIONS)]);
}
