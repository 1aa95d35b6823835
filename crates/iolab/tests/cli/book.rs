//! The book of `make book`: its table of contents names every page, and every link and picture in
//! them leads somewhere inside the book.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Component, Path, PathBuf};
use std::process::Command;

use crate::cli_support::{Home, ROOT};

fn docs() -> PathBuf {
    Path::new(ROOT).join("docs")
}

/// Every page below `docs/`, by its path from there; the table of contents is none.
fn pages() -> BTreeSet<PathBuf> {
    fn walk(folder: &Path, found: &mut BTreeSet<PathBuf>) {
        for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
            if path.is_dir() {
                walk(&path, found);
            } else if path.extension().is_some_and(|e| e == "md") {
                found.insert(path.strip_prefix(docs()).unwrap().to_owned());
            }
        }
    }
    let mut found = BTreeSet::new();
    walk(&docs(), &mut found);
    assert!(found.remove(Path::new("SUMMARY.md")));
    found
}

/// What `](…)` names, outside of code.
fn links(markdown: &str) -> Vec<String> {
    let mut code = false;
    let mut found = Vec::new();
    for line in markdown.lines() {
        code ^= line.starts_with("```");
        if code {
            continue;
        }
        let prose: String = line.split('`').step_by(2).collect();
        let targets = prose.split("](").skip(1).filter_map(|rest| rest.split_once(')'));
        found.extend(targets.map(|(target, _)| target.to_owned()));
    }
    found
}

/// The anchors of a page's headings, made as GitHub and mdBook make them.
fn anchors(markdown: &str) -> BTreeSet<String> {
    let mut code = false;
    let mut found = BTreeSet::new();
    for line in markdown.lines() {
        code ^= line.starts_with("```");
        let heading = line.trim_start_matches('#');
        if code || heading.len() == line.len() {
            continue;
        }
        let kept = heading.trim().chars().filter_map(|c| match c {
            ' ' => Some('-'),
            c if c.is_alphanumeric() || c == '-' || c == '_' => Some(c.to_ascii_lowercase()),
            _ => None,
        });
        found.insert(kept.collect());
    }
    found
}

/// `a/b/../c` as `a/c`; nothing where it leads out of where it began.
fn plain(path: &Path) -> Option<PathBuf> {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir => plain.pop().then_some(())?,
            part => plain.push(part),
        }
    }
    Some(plain)
}

#[test]
fn the_table_of_contents_names_every_page_once() {
    let summary = links(&fs::read_to_string(docs().join("SUMMARY.md")).unwrap());
    let named: BTreeSet<PathBuf> = summary.iter().map(PathBuf::from).collect();
    assert_eq!(summary.len(), named.len(), "a page stands there twice");
    assert_eq!(named, pages(), "docs/SUMMARY.md and the pages below docs/ differ");
    let book = fs::read_to_string(Path::new(ROOT).join("book.toml")).unwrap();
    let has = |line: &str| book.lines().any(|l| l == line);
    assert!(has("src = \"docs\"") && has("create-missing = false"), "{book}");
}

#[test]
fn links_and_pictures_lead_somewhere_in_the_book() {
    let mut faults = Vec::new();
    let mut pictures = 0;
    for page in pages() {
        let text = fs::read_to_string(docs().join(&page)).unwrap();
        for link in links(&text).iter().filter(|link| !link.contains("://")) {
            let (file, anchor) = link.split_once('#').unwrap_or((link, ""));
            let target = match file {
                "" => page.clone(),
                file => match plain(&page.parent().unwrap().join(file)) {
                    Some(target) => target,
                    None => {
                        faults.push(format!("{}: {link} leads out of the book", page.display()));
                        continue;
                    }
                },
            };
            pictures += usize::from(file.ends_with(".svg"));
            let whole = fs::read_to_string(docs().join(&target));
            if !whole.is_ok_and(|t| anchor.is_empty() || anchors(&t).contains(anchor)) {
                faults.push(format!("{}: {link} leads nowhere", page.display()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(pictures >= 7, "the guide has its pictures: {pictures}");
}

#[test]
fn the_book_is_made_with_every_page_and_picture() {
    let test = "the_book_is_made_with_every_page_and_picture";
    if Command::new("mdbook").arg("--version").output().is_err() {
        return eprintln!("SKIP {test}: mdbook is not installed: cargo install mdbook");
    }
    let home = Home::new();
    let made =
        Command::new("mdbook").arg("build").arg(ROOT).arg("-d").arg(home.path("book")).output();
    let made = made.unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    for page in pages() {
        let html = home.path("book").join(&page).with_extension("html");
        let text = fs::read_to_string(&html).unwrap_or_else(|e| panic!("{}: {e}", html.display()));
        let after = |begin: &'static str| text.split(begin).skip(1);
        for named in after("<a href=\"").chain(after("<img src=\"")) {
            let named = named.split(['"', '#']).next().unwrap();
            let there = html.parent().unwrap().join(named).exists();
            assert!(named.contains("://") || there, "{}: {named}", page.display());
        }
    }
    assert!(home.path("book/index.html").exists());
}
