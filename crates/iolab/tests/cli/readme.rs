//! Every `iolab …` command in the README and the docs runs as it stands there, in a directory
//! with the files it names, with a small budget where it has none.

use std::fs;
use std::path::Path;
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

#[test]
fn examples_run_as_written() {
    let root = Path::new(crate::cli_support::ROOT);
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    fs::write(scratch.path().join("big.iso"), vec![7u8; 3 << 20]).unwrap();
    let state = scratch.path().join("state");
    let mut pages = vec![root.join("README.md")];
    for folder in ["docs", "docs/guide"] {
        pages.extend(fs::read_dir(root.join(folder)).unwrap().map(|e| e.unwrap().path()));
    }
    let mut ran = 0;
    for page in pages.iter().filter(|p| p.extension().is_some_and(|e| e == "md")) {
        for line in commands(&fs::read_to_string(page).unwrap()) {
            let mut arguments: Vec<&str> = line.split_whitespace().skip(1).collect();
            if measures(&arguments) && !arguments.contains(&"--plan") {
                arguments.retain(|a| {
                    !a.ends_with('s')
                        || a.parse::<f64>().is_ok()
                        || !a.starts_with(|c: char| c.is_ascii_digit())
                });
                arguments.retain(|a| *a != "--budget");
                // So many rounds take what they take, and what follows needs them.
                let budget = if arguments.contains(&"--rounds") { "30s" } else { "2s" };
                arguments.extend(["--budget", budget]);
            }
            let output = Command::new(env!("CARGO_BIN_EXE_iolab"))
                .args(&arguments)
                .current_dir(scratch.path())
                .env("XDG_STATE_HOME", &state)
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
