//! Files that use one another in a circle can only be read together: a type sits in the wrong file.
//! Within each folder, a file (or a folder with all below it) is a node; a folder's own `mod.rs` or
//! `lib.rs` is its door and no node, but what it passes on counts as the file that has it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::{code, report, sources};

/// Circles that still stand, all files of each. Only ever fewer.
const KNOWN: &[&str] = &["crates/iolab-report/src: explain, latency, rates, view_model"];

type Graph = BTreeMap<String, BTreeSet<String>>;

/// A source file: the folder's node it belongs to, how many modules it lies below the folder, its code.
struct File {
    node: String,
    below: usize,
    text: String,
}

fn is_door(path: &Path) -> bool {
    path.ends_with("mod.rs") || path.ends_with("lib.rs") || path.ends_with("main.rs")
}

/// Every folder with the files below it; its door is the node "".
fn folders() -> BTreeMap<PathBuf, Vec<File>> {
    let mut folders: BTreeMap<PathBuf, Vec<File>> = BTreeMap::new();
    for (path, text) in sources("src") {
        let name = path.file_stem().unwrap().to_str().unwrap();
        if name.ends_with("tests") {
            continue;
        }
        let lines: Vec<&str> = code(&text).map(|(_, line)| line).collect();
        let text = lines.join("\n");
        for folder in path.ancestors().skip(1).take_while(|dir| dir.iter().count() >= 3) {
            let inside: Vec<_> = path.strip_prefix(folder).unwrap().iter().collect();
            let own_door = inside.len() == 1 && is_door(&path);
            let node = inside[0].to_str().unwrap().trim_end_matches(".rs").to_owned();
            let file = File {
                node: if own_door { String::new() } else { node },
                below: inside.len() - usize::from(is_door(&path)),
                text: text.clone(),
            };
            folders.entry(folder.to_owned()).or_default().push(file);
        }
    }
    folders
}

/// The first names of what stands at the beginning of `text`: `a::b` or `{a, b::{c, d}}`.
fn first_names(text: &str) -> Vec<&str> {
    let name =
        |text: &str| text.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(text.len());
    let Some(inner) = text.strip_prefix('{') else { return vec![&text[..name(text)]] };
    let (mut depth, mut start, mut found) = (0, 0, Vec::new());
    for (at, c) in inner.char_indices() {
        let ends = depth == 0 && (c == ',' || c == '}');
        if ends {
            let one = inner[start..at].trim_start();
            found.push(&one[..name(one)]);
            start = at + 1;
        }
        match c {
            '{' => depth += 1,
            '}' if depth == 0 => break,
            '}' => depth -= 1,
            _ => (),
        }
    }
    found
}

/// What a door passes on: each item's name with the node that has it.
fn passed_on(door: &str, nodes: &BTreeSet<&str>) -> BTreeMap<String, String> {
    let mut items = BTreeMap::new();
    for statement in door.split("use ").skip(1) {
        let statement = statement.trim_start_matches("self::");
        let Some((node, rest)) = statement.split_once("::") else { continue };
        if nodes.contains(node) {
            items.extend(
                first_names(rest).into_iter().map(|item| (item.to_owned(), node.to_owned())),
            );
        }
    }
    items
}

/// Who uses whom in a folder.
fn graph(folder: &Path, files: &[File]) -> Graph {
    let nodes: BTreeSet<&str> =
        files.iter().map(|file| file.node.as_str()).filter(|node| !node.is_empty()).collect();
    let door = files.iter().find(|file| file.node.is_empty()).map_or("", |file| &file.text);
    let items = passed_on(door, &nodes);
    let below_src: Vec<_> = folder.iter().skip(3).map(|part| part.to_str().unwrap()).collect();
    let whole =
        format!("crate::{}", below_src.iter().map(|part| format!("{part}::")).collect::<String>());
    let mut graph: Graph = nodes.iter().map(|node| ((*node).to_owned(), BTreeSet::new())).collect();
    for file in files.iter().filter(|file| !file.node.is_empty()) {
        let near = "super::".repeat(file.below);
        let near = file.text.match_indices(&near).map(|(at, found)| (at, at + found.len()));
        let near = near.filter(|(at, _)| !file.text[..*at].ends_with("super::"));
        let far = file.text.match_indices(&whole).map(|(at, found)| (at, at + found.len()));
        for name in near.chain(far).flat_map(|(_, end)| first_names(&file.text[end..])) {
            let node = nodes.get(name).copied().or(items.get(name).map(String::as_str));
            if let Some(node) = node.filter(|node| *node != file.node) {
                graph.get_mut(&file.node).unwrap().insert(node.to_owned());
            }
        }
    }
    graph
}

/// All that can be reached from a node.
fn reached<'a>(graph: &'a Graph, from: &'a str) -> BTreeSet<&'a str> {
    let mut seen = BTreeSet::new();
    let mut open = vec![from];
    while let Some(node) = open.pop() {
        open.extend(graph[node].iter().map(String::as_str).filter(|next| seen.insert(*next)));
    }
    seen
}

/// The circles of a graph: sets of nodes of which each reaches all others.
fn circles(graph: &Graph) -> BTreeSet<Vec<String>> {
    let reach: BTreeMap<&str, BTreeSet<&str>> =
        graph.keys().map(|node| (node.as_str(), reached(graph, node))).collect();
    let of = |node: &str| {
        let both = reach[node].iter().filter(|other| reach[**other].contains(node));
        both.map(|other| (*other).to_owned()).collect::<Vec<String>>()
    };
    graph.keys().map(|node| of(node)).filter(|circle| circle.len() > 1).collect()
}

#[test]
fn files_of_a_folder_use_one_another_in_one_direction() {
    let mut found = BTreeSet::new();
    for (folder, files) in folders() {
        for circle in circles(&graph(&folder, &files)) {
            found.insert(format!("{}: {}", folder.display(), circle.join(", ")));
        }
    }
    let known: BTreeSet<String> = KNOWN.iter().map(|text| (*text).to_owned()).collect();
    let new = found.difference(&known).map(|circle| format!("a circle in {circle}"));
    let gone = known.difference(&found).map(|circle| format!("gone, take it off KNOWN: {circle}"));
    report(&new.chain(gone).collect::<Vec<_>>());
}

#[test]
fn a_circle_is_found_and_a_line_is_not() {
    let file = |node: &str, text: &str| File { node: node.into(), below: 1, text: text.into() };
    let line =
        [file("a", "use super::{b::{X, Y}, c};"), file("b", "use super::c::Z;"), file("c", "")];
    let folder = Path::new("crates/k/src");
    assert!(circles(&graph(folder, &line)).is_empty());
    // Through the door, and by the whole path.
    let door = File { node: String::new(), below: 0, text: "pub use a::Item;".into() };
    let round = [file("a", "crate::b::f()"), file("b", "use super::Item;"), door];
    assert_eq!(circles(&graph(folder, &round)), BTreeSet::from([vec!["a".into(), "b".into()]]));
}
