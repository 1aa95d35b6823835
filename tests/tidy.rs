//! The house rules as a test: the edges between rooms, the map, where `unsafe` may stand, what
//! measured code must not call. Each failure names the file, the line and what to do instead.

#![allow(clippy::unwrap_used, clippy::expect_used)]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Which rooms a room may use. `catalog` and `result` are vocabulary: every room may use them.
const EDGES: &[(&str, &[&str])] = &[
    ("catalog", &[]),
    ("result", &["catalog"]),
    ("spec", &[]),
    ("tree", &[]),
    ("plan", &["spec", "tree"]),
    ("stats", &[]),
    ("run", &["plan", "spec", "stats", "agent"]),
    ("agent", &["place", "cache", "workload", "method", "metric", "host", "sys", "tree"]),
    ("place", &["sys"]),
    ("cache", &["sys"]),
    ("workload", &["method", "sys", "tree", "tool"]),
    ("method", &["sys"]),
    ("metric", &["sys"]),
    ("host", &["sys", "cache", "place"]),
    ("sys", &[]),
    ("tool", &["method", "sys", "tree"]),
    ("record", &[]),
    ("import", &["stats"]),
    ("report", &["record", "stats", "spec"]),
    ("study", &["spec", "stats", "record"]),
];

/// Rooms that touch no machine.
const PURE: &[&str] = &["catalog", "result", "spec", "tree", "plan", "stats"];

/// Files that are longer than the house likes, with the length they may not pass. Only ever lower.
const LONG_FILES: &[(&str, usize)] = &[];
const FILE_LINES: usize = 400;

fn sources(under: &str) -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                walk(&entry, out);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                out.push(entry);
            }
        }
    }
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut paths = Vec::new();
    walk(&root.join(under), &mut paths);
    paths.sort();
    paths
        .into_iter()
        .map(|p| (p.strip_prefix(root).unwrap().to_owned(), fs::read_to_string(&p).unwrap()))
        .collect()
}

/// The part of a file before its unit tests, line by line with numbers from 1, comments left out.
fn code(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let end = text.find("#[cfg(test)]\nmod tests").unwrap_or(text.len());
    text[..end]
        .lines()
        .enumerate()
        .map(|(at, line)| (at + 1, line.split(" // ").next().unwrap_or(line)))
        .map(|(at, line)| (at, line.split("; //").next().unwrap_or(line)))
        .filter(|(_, line)| !line.trim_start().starts_with("//"))
}

fn room(path: &Path) -> Option<String> {
    let mut parts = path.iter().skip(1);
    let first = parts.next()?.to_str()?;
    Some(first.strip_suffix(".rs").unwrap_or(first).to_owned())
}

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

#[test]
fn rooms_use_only_what_the_map_allows() {
    let edges: BTreeMap<_, _> = EDGES.iter().copied().collect();
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        let Some(room) = room(&path) else { continue };
        if ["main", "lib", "cli"].contains(&room.as_str()) {
            continue;
        }
        let Some(allowed) = edges.get(room.as_str()) else {
            faults.push(format!("{}: room `{room}` is not in EDGES", path.display()));
            continue;
        };
        for (number, line) in code(&text) {
            if line.contains("use crate::{") {
                faults.push(format!(
                    "{}:{number}: one `use crate::room::…` a room, so that edges can be read",
                    path.display()
                ));
            }
            for used in line.split("crate::").skip(1) {
                let used: String =
                    used.chars().take_while(|c| c.is_ascii_lowercase() || *c == '_').collect();
                let fine = used == room
                    || used == "catalog"
                    || (used == "result" && room != "catalog")
                    || allowed.contains(&used.as_str())
                    || !edges.contains_key(used.as_str());
                if !fine {
                    faults.push(format!(
                        "{}:{number}: `{room}` may not use `{used}`; move the code or the type, \
                         or change the map in ARCHITECTURE.md and here",
                        path.display()
                    ));
                }
            }
        }
    }
    report(&faults);
}

#[test]
fn pure_rooms_touch_no_machine() {
    let banned = [
        "std::fs",
        "std::net",
        "std::process",
        "std::env",
        "rustix::",
        "libc::",
        "Instant::now",
        "SystemTime",
    ];
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        if !room(&path).is_some_and(|r| PURE.contains(&r.as_str())) {
            continue;
        }
        for (number, line) in code(&text) {
            for word in banned.iter().filter(|w| line.contains(**w)) {
                faults.push(format!(
                    "{}:{number}: `{word}` in a pure room; take what is needed as a parameter",
                    path.display()
                ));
            }
        }
    }
    report(&faults);
}

#[test]
fn unsafe_stays_in_sys() {
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        if room(&path).as_deref() == Some("sys") {
            continue;
        }
        for (number, line) in code(&text) {
            if line.contains("unsafe ") || line.contains("allow(unsafe_code)") {
                faults.push(format!("{}:{number}: `unsafe` belongs in src/sys", path.display()));
            }
        }
    }
    report(&faults);
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let mut faults = Vec::new();
    for (path, text) in sources("src/sys") {
        let lines: Vec<&str> = text.lines().collect();
        for (at, line) in lines.iter().enumerate() {
            let opens = line.contains("unsafe {") || line.trim_start().starts_with("unsafe impl");
            let said = lines[at.saturating_sub(6)..=at].iter().any(|l| l.contains("SAFETY"));
            if opens && !said && !line.trim_start().starts_with("//") {
                faults.push(format!("{}:{}: no SAFETY comment above", path.display(), at + 1));
            }
        }
    }
    report(&faults);
}

#[test]
fn measured_code_names_its_system_calls() {
    // std's copies silently use reflink, copy_file_range, sendfile or splice.
    let banned = ["fs::copy(", "io::copy(", "dbg!(", "todo!(", "unimplemented!("];
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        for (number, line) in code(&text) {
            for word in banned.iter().filter(|w| line.contains(**w)) {
                faults.push(format!("{}:{number}: `{word}…)` is not used here", path.display()));
            }
            if line.trim() == "use super::*;" {
                faults.push(format!(
                    "{}:{number}: name what is used: a star hides direction",
                    path.display()
                ));
            }
        }
    }
    report(&faults);
}

#[test]
fn files_stay_short() {
    let allowed: BTreeMap<_, _> = LONG_FILES.iter().copied().collect();
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        let name = path.to_str().unwrap();
        let limit = allowed.get(name).copied().unwrap_or(FILE_LINES);
        let lines = code(&text).map(|(number, _)| number).last().unwrap_or(0);
        if lines > limit {
            faults
                .push(format!("{name}: {lines} lines before its tests, at most {limit}: split it"));
        }
    }
    report(&faults);
}

#[test]
fn the_map_names_every_room_and_only_paths_that_exist() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let map = fs::read_to_string(root.join("ARCHITECTURE.md")).unwrap();
    let mut faults = Vec::new();
    let named: BTreeSet<&str> = map
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|word| {
            ["src/", "tests/", "benches/", "docs/", "scripts/", "studies/", "fuzz/"]
                .iter()
                .any(|top| word.starts_with(top))
        })
        .collect();
    for path in &named {
        if !path.contains('*') && !root.join(path).exists() {
            faults.push(format!("ARCHITECTURE.md names `{path}`, which does not exist"));
        }
    }
    let rooms: BTreeSet<String> = sources("src").iter().filter_map(|(p, _)| room(p)).collect();
    for room in rooms.iter().filter(|r| !["main", "lib"].contains(&r.as_str())) {
        if !map.contains(&format!("`{room}/`")) {
            faults.push(format!("ARCHITECTURE.md does not name the room `{room}/`"));
        }
    }
    report(&faults);
}

#[test]
fn every_dependency_has_a_reason() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let section = manifest.split("\n[dependencies]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let mut reason = false;
    let mut faults = Vec::new();
    for line in section.lines() {
        if line.starts_with('#') {
            reason = true;
        } else if line.contains('=') && !reason {
            faults.push(format!("Cargo.toml: no reason stands above `{line}`"));
        } else if line.is_empty() {
            reason = false;
        }
    }
    assert!(root.join("Cargo.lock").exists(), "Cargo.lock is not committed");
    report(&faults);
}
