//! Dependencies: each has its reason, is used where it is named, and is under a licence and from a
//! source that `deny.toml` allows. `cargo deny` says more where it is installed; this needs nothing.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::{report, root};

fn crates() -> Vec<PathBuf> {
    let entries = fs::read_dir(root().join("crates")).unwrap();
    entries.map(|entry| entry.unwrap().path()).collect()
}

/// The lines of a section of a manifest.
fn section<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let text = manifest.split(&format!("\n[{name}]\n")).nth(1).unwrap_or("");
    text.lines().take_while(|line| !line.starts_with('['))
}

/// The dependencies that a section of a manifest names.
fn named<'a>(manifest: &'a str, name: &str) -> impl Iterator<Item = &'a str> {
    let keys = section(manifest, name).filter_map(|line| line.split(['.', ' ', '=']).next());
    keys.filter(|key| !key.is_empty() && !key.starts_with('#'))
}

/// What stands above a dependency is its reason; one reason serves the lines under it, up to the
/// next comment or empty line, as long as they belong together: at most four.
fn without_reason(manifest: &str) -> Vec<String> {
    let (mut left, mut faults) = (0, Vec::new());
    for line in section(manifest, "workspace.dependencies") {
        match line.chars().next() {
            Some('#') => left = 4,
            None => left = 0,
            Some(_) if line.starts_with("iolab-") => (),
            Some(_) if left == 0 => faults.push(format!("no reason stands above `{line}`")),
            Some(_) => left -= 1,
        }
    }
    faults
}

/// The oldest compiler that is promised is the one that all is built and tested with, so that every
/// build is the check of it.
#[test]
fn the_oldest_compiler_is_the_one_that_tests() {
    let read = |name: &str| fs::read_to_string(root().join(name)).unwrap();
    let (manifest, toolchain) = (read("Cargo.toml"), read("rust-toolchain.toml"));
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)?.trim().strip_prefix("= "));
        line.unwrap_or_else(|| panic!("no {key}")).trim_matches('"').to_owned()
    };
    let (promised, used) = (value(&manifest, "rust-version"), value(&toolchain, "channel"));
    assert!(used == promised || used.starts_with(&format!("{promised}.")), "{promised} and {used}");
}

#[test]
fn every_dependency_has_a_reason() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    report(&without_reason(&manifest));
    // The rule can fail.
    let added = manifest
        .replace("\n\n[workspace.lints.rust]", "\n\nleft-pad = \"1\"\n\n[workspace.lints.rust]");
    assert_eq!(without_reason(&added).len(), 1, "{added}");
    let mut faults = Vec::new();
    for krate in crates() {
        let manifest = fs::read_to_string(krate.join("Cargo.toml")).unwrap();
        let versions =
            manifest.lines().filter(|l| l.contains("version = \"") || l.contains("git = "));
        faults.extend(versions.map(|line| {
            format!(
                "{}: `{line}`: versions and their reasons stand in the workspace",
                krate.display()
            )
        }));
    }
    report(&faults);
    assert!(root().join("Cargo.lock").exists(), "Cargo.lock is not committed");
}

/// All Rust text below these folders of a crate.
fn text_of(krate: &Path, folders: &[&str]) -> String {
    fn walk(path: &Path, out: &mut String) {
        if path.is_dir() {
            for entry in fs::read_dir(path).unwrap() {
                walk(&entry.unwrap().path(), out);
            }
        } else if path.extension().is_some_and(|e| e == "rs") {
            out.push_str(&fs::read_to_string(path).unwrap());
        }
    }
    let mut text = String::new();
    for folder in folders.iter().map(|folder| krate.join(folder)).filter(|path| path.exists()) {
        walk(&folder, &mut text);
    }
    text
}

/// Those of `names` that no path in `text` begins with.
fn unused<'a>(names: impl Iterator<Item = &'a str>, text: &str) -> Vec<&'a str> {
    let word = |c: char| c.is_alphanumeric() || c == '_';
    let uses = |name: &str| {
        let name = name.replace('-', "_");
        text.match_indices(&name).any(|(at, _)| {
            let after = &text[at + name.len()..];
            let path =
                after.starts_with("::") || after.starts_with(';') || after.starts_with(" as ");
            path && !text[..at].ends_with(word)
        })
    };
    names.filter(|name| !uses(name)).collect()
}

#[test]
fn every_dependency_is_used() {
    let mut faults = Vec::new();
    let mut all = BTreeSet::new();
    for krate in crates() {
        let manifest = fs::read_to_string(krate.join("Cargo.toml")).unwrap();
        let source = text_of(&krate, &["src"]);
        let rest = source.clone() + &text_of(&krate, &["tests", "benches", "examples"]);
        for (section, text) in [("dependencies", &source), ("dev-dependencies", &rest)] {
            all.extend(named(&manifest, section).map(str::to_owned));
            let dead = unused(named(&manifest, section), text).into_iter();
            let name = krate.file_name().unwrap().display().to_string();
            faults.extend(dead.map(|dead| format!("{name}: `{dead}` in [{section}] is not used")));
        }
    }
    let workspace = fs::read_to_string(root().join("Cargo.toml")).unwrap();
    let idle = named(&workspace, "workspace.dependencies").filter(|name| !all.contains(*name));
    faults.extend(idle.map(|name| format!("Cargo.toml: no crate uses `{name}`")));
    report(&faults);
    // The rule can fail.
    assert_eq!(unused(["left-pad"].into_iter(), "use my_left_pad::pad;"), ["left-pad"]);
}

/// Whether an SPDX expression can be met with these licences: `A OR B`, `(A OR B) AND C`. The old
/// way to write OR is a slash.
fn meets(expression: &str, allowed: &BTreeSet<&str>) -> bool {
    let expression = expression.replace('/', " OR ");
    let whole = |part: &str| {
        let part = part.trim();
        let inner = part.strip_prefix('(').and_then(|part| part.strip_suffix(')')).unwrap_or(part);
        inner.split(" OR ").any(|one| allowed.contains(one.trim()))
    };
    match expression.contains(" AND ") {
        true => expression.split(" AND ").all(whole),
        false => whole(&expression),
    }
}

/// What `cargo metadata` says of every package that a build on this machine takes.
fn packages() -> Vec<serde_json::Value> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let target = format!("{}-unknown-linux-gnu", std::env::consts::ARCH);
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--locked", "--offline"])
        .args(["--filter-platform", &target])
        .current_dir(root())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "cargo metadata: {said}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    metadata["packages"].as_array().unwrap().clone()
}

#[test]
fn licences_and_sources_are_those_of_deny_toml() {
    let text = fs::read_to_string(root().join("deny.toml")).unwrap();
    let allow = text.split("\nallow = [").nth(1).unwrap().split(']').next().unwrap();
    let allowed: BTreeSet<&str> = allow.split('"').skip(1).step_by(2).collect();
    let mut faults = Vec::new();
    let packages = packages();
    for package in &packages {
        let name = package["name"].as_str().unwrap();
        let licence = package["license"].as_str().unwrap_or("none named");
        if !meets(licence, &allowed) {
            faults.push(format!("`{name}` is under {licence}, which deny.toml does not allow"));
        }
        let source = package["source"].as_str().unwrap_or("path");
        let ours = source == "path" && name.starts_with("iolab");
        if !ours && source != "registry+https://github.com/rust-lang/crates.io-index" {
            faults.push(format!("`{name}` comes from {source}; deny.toml allows crates.io alone"));
        }
    }
    assert!(packages.len() > 100, "cargo metadata names {} packages", packages.len());
    report(&faults);
    // The rule can fail.
    assert!(!meets("GPL-3.0-only", &allowed) && !meets("MIT AND GPL-3.0-only", &allowed));
    assert!(meets("(GPL-3.0-only OR MIT) AND Unicode-3.0", &allowed));
}

/// The oldest compiler that is promised is the one that everything is built and tested with.
#[test]
fn the_promised_compiler_is_the_one_that_is_used() {
    let read = |name: &str| std::fs::read_to_string(super::root().join(name)).unwrap();
    let value = |text: &str, key: &str| {
        let line = text.lines().find_map(|line| line.strip_prefix(key)).unwrap();
        line.trim_matches([' ', '=', '"']).to_owned()
    };
    let promised = value(&read("Cargo.toml"), "rust-version");
    let used = value(&read("rust-toolchain.toml"), "channel");
    assert!(used.starts_with(&format!("{promised}.")), "{used} is used, {promised} is promised");
}
