//! The house rules as a test: the edges between rooms, the map, where `unsafe` may stand, what
//! measured code must not call. Each failure names the file, the line and what to do instead.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod additions;
mod circles;
mod dependencies;
mod lengths;
mod words;

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// The only room with `unsafe`.
const SYS: &str = "crates/iolab-io/src/sys";

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A row of the map: which crate, which of its folders (`None`: the whole crate), what it may use.
struct Room {
    krate: String,
    folder: Option<String>,
    pure: bool,
    uses: Vec<String>,
}

impl Room {
    fn holds(&self, path: &Path) -> bool {
        let mut folder = Path::new("crates").join(&self.krate).join("src");
        folder.extend(&self.folder);
        path.starts_with(&folder) && !path.ends_with("lib.rs") || path == folder.join("lib.rs")
    }
}

/// The table under "Rooms" of ARCHITECTURE.md: the map is the rule.
fn map() -> Vec<Room> {
    let text = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = text.split("## Rooms").nth(1).unwrap().split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| `iolab"));
    rows.map(|row| {
        let cells: Vec<&str> = row.trim_matches('|').split(" | ").map(str::trim).collect();
        assert_eq!(cells.len(), 4, "a row of the map has four columns: {row}");
        let name = |text: &str| text.trim_matches('`').trim_end_matches('/').to_owned();
        let is_set = |text: &&str| *text != "–";
        Room {
            krate: name(cells[0]),
            folder: Some(cells[1]).filter(is_set).map(name),
            pure: cells[2].ends_with("Pure"),
            uses: Some(cells[3])
                .filter(is_set)
                .into_iter()
                .flat_map(|c| c.split(", "))
                .map(name)
                .collect(),
        }
    })
    .collect()
}

/// Every source file below these folders of every crate (`src`, `tests`), by path from the root.
fn sources(below: &str) -> Vec<(PathBuf, String)> {
    fn walk(dir: &Path, out: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(dir).unwrap().map(|e| e.unwrap().path()) {
            if entry.is_dir() {
                walk(&entry, out);
            } else if entry.extension().is_some_and(|e| e == "rs") {
                out.push(entry);
            }
        }
    }
    let root = root();
    let mut paths = Vec::new();
    for krate in fs::read_dir(root.join("crates")).unwrap().map(|e| e.unwrap().path()) {
        let folder = krate.join(below);
        if folder.is_dir() {
            walk(&folder, &mut paths);
        }
    }
    paths.sort();
    paths
        .into_iter()
        .map(|p| (p.strip_prefix(&root).unwrap().to_owned(), fs::read_to_string(&p).unwrap()))
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

fn report(faults: &[String]) {
    assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
}

/// The `iolab-…` crates that a manifest names in a section.
fn ours(manifest: &str, section: &str) -> BTreeSet<String> {
    let section = manifest.split(&format!("\n[{section}]\n")).nth(1).unwrap_or("");
    let lines = section.lines().take_while(|line| !line.starts_with('['));
    let names = lines.filter_map(|line| line.split(['.', ' ', '=']).next());
    names.filter(|name| name.starts_with("iolab")).map(str::to_owned).collect()
}

/// The compiler holds the edges that the manifests name; this holds the manifests to the map.
#[test]
fn crates_depend_on_what_the_map_says_and_on_nothing_else() {
    let mut faults = Vec::new();
    let mut drawn: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for room in map() {
        let uses = room.uses.into_iter().filter(|used| used.starts_with("iolab"));
        drawn.entry(room.krate).or_default().extend(uses);
    }
    for entry in fs::read_dir(root().join("crates")).unwrap().map(|e| e.unwrap().path()) {
        let krate = entry.file_name().unwrap().to_str().unwrap().to_owned();
        let manifest = fs::read_to_string(entry.join("Cargo.toml")).unwrap();
        let named = ours(&manifest, "dependencies");
        match drawn.remove(&krate) {
            None => faults.push(format!("ARCHITECTURE.md does not name the crate `{krate}`")),
            Some(drawn) if drawn != named => faults.push(format!(
                "crates/{krate}/Cargo.toml names {named:?}, ARCHITECTURE.md draws {drawn:?}"
            )),
            Some(_) => (),
        }
        if named.contains("iolab-test") {
            faults.push(format!("crates/{krate}: `iolab-test` is for [dev-dependencies]"));
        }
    }
    faults.extend(
        drawn.keys().map(|krate| format!("ARCHITECTURE.md names `{krate}`: no such crate")),
    );
    report(&faults);
}

/// Within a crate of several rooms no compiler holds the edges: the text is read.
#[test]
fn rooms_use_only_what_the_map_allows() {
    let map = map();
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        let Some(room) = map.iter().find(|room| room.folder.is_some() && room.holds(&path)) else {
            let known = map.iter().any(|room| room.holds(&path)) || path.ends_with("lib.rs");
            if !known {
                faults.push(format!("{}: no room of ARCHITECTURE.md holds it", path.display()));
            }
            continue;
        };
        let folder = room.folder.as_deref().unwrap();
        let siblings: BTreeSet<&str> = map
            .iter()
            .filter(|other| other.krate == room.krate)
            .filter_map(|other| other.folder.as_deref())
            .collect();
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
                let fine = used == folder
                    || !siblings.contains(used.as_str())
                    || room.uses.contains(&used);
                if !fine {
                    faults.push(format!(
                        "{}:{number}: `{folder}` may not use `{used}`; move the code or the type, \
                         or change the map in ARCHITECTURE.md",
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
    let map = map();
    let mut faults = Vec::new();
    for room in map.iter().filter(|room| room.pure) {
        let manifest = root().join("crates").join(&room.krate).join("Cargo.toml");
        let manifest = fs::read_to_string(manifest).unwrap();
        for word in ["rustix", "libc", "io-uring", "iolab-io", "iolab-agent"] {
            if manifest.split("[dev-dependencies]").next().unwrap().contains(&format!("\n{word}."))
            {
                faults.push(format!("crates/{}: pure, and depends on `{word}`", room.krate));
            }
        }
    }
    for (path, text) in sources("src") {
        if !map.iter().any(|room| room.pure && room.holds(&path)) {
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

/// The subcommands that work on this machine alone. Every other one may run where another agent is,
/// and asks that one; but a program is looked for where a person has typed its name.
const TOOLS: &[&str] = &[
    "cached",
    "checksum",
    "clean",
    "contender_args",
    "diff",
    "make",
    "packages",
    "record",
    "size_for_time",
];

#[test]
fn only_the_small_tools_look_at_this_machine() {
    let mut faults = Vec::new();
    for (path, text) in sources("src").into_iter().filter(|(p, _)| p.starts_with("crates/iolab/")) {
        let tool = TOOLS.iter().any(|tool| {
            path.iter().any(|part| Path::new(part).file_stem().is_some_and(|stem| stem == *tool))
        });
        for (number, line) in code(&text) {
            if line.contains("iolab_io::") && !tool {
                faults.push(format!(
                    "{}:{number}: what is known of the machine is asked of the agent",
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
        if path.starts_with(SYS) {
            continue;
        }
        for (number, line) in code(&text) {
            if line.contains("unsafe ") || line.contains("allow(unsafe_code)") {
                faults.push(format!("{}:{number}: `unsafe` belongs in {SYS}", path.display()));
            }
        }
    }
    report(&faults);
}

#[test]
fn every_unsafe_block_says_why_it_is_sound() {
    let mut faults = Vec::new();
    for (path, text) in sources("src").into_iter().filter(|(path, _)| path.starts_with(SYS)) {
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
fn nothing_of_a_parent_is_taken_by_a_star() {
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        for (number, line) in code(&text).filter(|(_, line)| line.trim() == "use super::*;") {
            faults.push(format!(
                "{}:{number}: `{}`: name what is used: a star hides direction",
                path.display(),
                line.trim()
            ));
        }
    }
    report(&faults);
}

#[test]
fn the_map_names_only_paths_that_exist() {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let tops = ["crates/", "tests/", "docs/", "scripts/", "fuzz/", "examples/"];
    let words = map.split('`').skip(1).step_by(2);
    let named: BTreeSet<&str> =
        words.filter(|word| tops.iter().any(|top| word.starts_with(top))).collect();
    assert!(named.len() > 10, "the map names its files: {named:?}");
    let lost = named.iter().filter(|path| !path.contains('*') && !root().join(path).exists());
    report(
        &lost
            .map(|path| format!("ARCHITECTURE.md names `{path}`, which does not exist"))
            .collect::<Vec<_>>(),
    );
}

/// The standard library's crosses mounts, and takes a descriptor for each level.
#[test]
fn directories_are_removed_in_one_way() {
    let mut faults = Vec::new();
    for (path, text) in words::product() {
        // The measured program `rm` of the benches is none of the product's.
        for (number, line) in code(text.split("#[cfg(test)]\nmod ").next().unwrap_or_default()) {
            if line.contains("remove_dir_all") {
                let path = path.display();
                faults.push(format!("{path}:{number}: `iolab_io::sys::remove::remove_tree`"));
            }
        }
    }
    report(&faults);
}

/// `make test` looks for none in documentation, so none would be run there.
#[test]
fn an_example_is_a_test() {
    let mut faults = Vec::new();
    for (path, text) in sources("src") {
        for (at, line) in text.lines().enumerate() {
            let line = line.trim_start();
            if ["/// ```", "//! ```"].contains(&line) || line.starts_with("/// ```rust") {
                faults.push(format!("{}:{}: write it as a test", path.display(), at + 1));
            }
        }
    }
    report(&faults);
}
