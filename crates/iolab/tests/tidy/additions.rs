//! "What an addition costs" in ARCHITECTURE.md, row by row: what was added before is named where the
//! row says and nowhere else. A row without a check here fails, and so does a check without a row.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use iolab_model::catalog::FileOperation;
use iolab_model::spec::PROTOCOL_KEYS;

use crate::{code, report, root, sources};

/// A check of one row: what stands in the first column, and what is wrong.
type Check = (&'static str, fn(&Sources) -> Vec<String>);

const CHECKS: &[Check] = &[
    ("a method", |s| s.listed("METHOD", METHODS, 20)),
    ("a workload", |s| s.listed("WORKLOAD", WORKLOADS, 6)),
    ("a `files` operation", |s| s.files_operations()),
    ("a metadata operation", |s| s.metadata_operations()),
    ("a metric", |s| s.rows("crates/iolab-io/src/metric/mod.rs", "id: $id", 1)),
    ("a place", |s| s.places()),
    ("a fact", |s| s.listed("gather(tree", &["crates/iolab-io/src/host/environment.rs"], 7)),
    ("a hazard", |s| s.hazards()),
    ("a report format", |s| s.listed("FORMAT", &["crates/iolab-report/src/lib.rs"], 9)),
    ("a chart", |s| s.charts()),
    ("an axis", |s| s.rows("crates/iolab-model/src/catalog/factor.rs", "Factor::", 20)),
    ("a key of experiment files", |s| {
        s.rows("crates/iolab-model/src/spec/file/example.toml", "=", 10)
    }),
    ("a claim form", |s| s.claim_forms()),
    ("a key of the protocol, with its option", |s| s.protocol_keys()),
    ("a warning", |s| s.warnings()),
    ("a place where the agent runs", |s| s.locations()),
    ("a question to the agent", |s| s.questions()),
];

const METHODS: &[&str] =
    &["crates/iolab-io/src/method/mod.rs", "crates/iolab-io/src/method/copy/mod.rs"];
/// A command is judged as the workload is beside which it runs.
const WORKLOADS: &[&str] =
    &["crates/iolab-io/src/workload/mod.rs", "crates/iolab-io/src/workload/contender/mod.rs"];

/// The code of all files of the product.
struct Sources(BTreeMap<PathBuf, String>);

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

impl Sources {
    fn read() -> Sources {
        let text = |text: &str| code(text).map(|(_, line)| line).collect::<Vec<_>>().join("\n");
        let tests = |path: &Path| path.file_stem().unwrap().to_str().unwrap().ends_with("tests");
        let files = sources("src").into_iter().filter(|(path, _)| !tests(path));
        Sources(files.map(|(path, file)| (path, text(&file))).collect())
    }

    fn of(&self, path: &str) -> &str {
        self.0.get(Path::new(path)).unwrap_or_else(|| panic!("no file {path}"))
    }

    /// `name::ITEM` of modules stands in these lists alone, which name at least so many.
    fn listed(&self, item: &str, lists: &[&str], least: usize) -> Vec<String> {
        let (mut faults, mut named) = (Vec::new(), 0);
        let item = format!("::{item}");
        for (path, text) in &self.0 {
            for (at, _) in text.match_indices(&item) {
                let whole = item.ends_with('(') || !text[at + item.len()..].starts_with(is_word);
                let module = text[..at].rsplit(|c: char| !is_word(c)).next().unwrap_or("");
                if !whole || !module.starts_with(char::is_lowercase) {
                    continue;
                }
                named += 1;
                if !lists.iter().any(|list| path == Path::new(list)) {
                    faults.push(format!("{}: names `{module}{item}`", path.display()));
                }
            }
        }
        if named < least {
            faults.push(format!("{lists:?}: only {named} times `{item}`, {least} are known"));
        }
        faults
    }

    /// A table with at least so many rows.
    fn rows(&self, path: &str, sign: &str, least: usize) -> Vec<String> {
        let text = fs::read_to_string(root().join(path)).unwrap();
        let rows = text.matches(sign).count();
        let few = rows < least;
        few.then(|| format!("{path}: only {rows} times `{sign}`")).into_iter().collect()
    }

    /// Each word is a row of the list and a loop beside it; the type is the folder's own.
    fn files_operations(&self) -> Vec<String> {
        let table = self.of("crates/iolab-io/src/workload/files/operation.rs");
        let words: Vec<&str> = FileOperation::WORDS.to_vec();
        assert!(words.len() >= 6, "{words:?}");
        let row = |operation: &FileOperation| format!("FileOperation::{operation:?}");
        let lost = FileOperation::ALL.iter().filter(|o| !table.contains(&row(o))).map(|o| o.word());
        lost.map(|word| format!("`{word}` is no row of operation.rs")).collect()
    }

    /// Each row of the table names its loop in `calls.rs`; nobody else calls one.
    fn metadata_operations(&self) -> Vec<String> {
        let table = Path::new("crates/iolab-io/src/workload/meta/operation.rs");
        let calls = self.of("crates/iolab-io/src/workload/meta/calls.rs");
        let loops = calls.split("pub(super) fn ").skip(1);
        let loops: Vec<&str> = loops.filter_map(|text| text.split(['<', '(']).next()).collect();
        assert!(loops.len() > 10, "the loops have moved: {loops:?}");
        let mut faults = Vec::new();
        for name in loops {
            let others = self.0.iter().filter(|(path, text)| {
                // Its `mod.rs` does one before the window.
                let there = path.parent() == table.parent() && !path.ends_with("mod.rs");
                there && path.as_path() != table && text.contains(&format!("calls::{name}"))
            });
            faults.extend(others.map(|(path, _)| format!("{}: `{name}`", path.display())));
        }
        faults
    }

    /// A file system is one file and a word in the list; a kind of another sort is named there too.
    fn places(&self) -> Vec<String> {
        let list = Path::new("crates/iolab-io/src/place/mod.rs");
        let door = Path::new("crates/iolab-io/src/place/file_system/mod.rs");
        let folder = Path::new("crates/iolab-io/src/place/file_system");
        let mut faults = Vec::new();
        let files: Vec<&PathBuf> = self.0.keys().filter(|path| path.starts_with(folder)).collect();
        assert!(files.len() > 8, "{files:?}");
        for file in files.into_iter().filter(|path| path.as_path() != door) {
            let name = file.file_stem().unwrap().to_str().unwrap();
            let users = self.0.iter().filter(|(path, text)| {
                path.as_path() != list && text.contains(&format!("file_system::{name}"))
            });
            faults.extend(users.map(|(path, _)| format!("{}: `{name}`", path.display())));
            if !self.of(list.to_str().unwrap()).contains(&format!(" {name} ")) {
                faults.push(format!("{}: does not list {name}", list.display()));
            }
        }
        faults
    }

    /// Each hazard is a function and a line in the list above it: both in one file.
    fn hazards(&self) -> Vec<String> {
        let path = "crates/iolab-io/src/host/hazards.rs";
        let text = self.of(path);
        let list = text.split("const CHECKS").nth(1).unwrap().split("= [").nth(1).unwrap();
        let list = list.split("];").next().unwrap();
        let names: Vec<&str> = list.split(',').map(str::trim).filter(|n| !n.is_empty()).collect();
        assert!(names.len() > 10, "{names:?}");
        let lost = names.iter().filter(|name| !text.contains(&format!("fn {name}(")));
        lost.map(|name| format!("{path}: no function `{name}`")).collect()
    }

    /// Each chart has a builder in the list, and what draws it is called from nowhere else.
    fn charts(&self) -> Vec<String> {
        let folder = Path::new("crates/iolab-report/src/chart");
        let list = folder.join("mod.rs");
        let mut faults = Vec::new();
        for (path, text) in self.0.iter().filter(|(path, _)| path.parent() == Some(folder)) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let draws = text.contains("pub fn chart(") || text.contains("pub fn charts(");
            if !draws {
                continue;
            }
            for (user, text) in &self.0 {
                let calls = text.contains(&format!("{name}::chart(")) && *user != list;
                if calls {
                    faults.push(format!("{}: calls {name}::chart", user.display()));
                }
            }
            if !self.of(list.to_str().unwrap()).contains(&format!("{name}::chart")) {
                faults.push(format!("{}: no builder calls {name}", list.display()));
            }
        }
        faults
    }

    /// Each is told by the door of the agent and taken by the placement, and stands where the row says.
    fn locations(&self) -> Vec<String> {
        let agent = Path::new("crates/iolab-agent/src");
        let users = ["crates/iolab-agent/src/lib.rs", "crates/iolab-controller/src/placement.rs"];
        let (mut faults, mut known) = (Vec::new(), 0);
        for (path, text) in self.0.iter().filter(|(path, _)| !path.starts_with("crates/iolab-test"))
        {
            for after in text.split("impl Location for ").skip(1) {
                known += 1;
                let name = after.split(|c| !is_word(c)).next().unwrap_or("");
                if path.parent() != Some(agent) {
                    faults.push(format!("{}: the location {name}", path.display()));
                }
                let lost = users.iter().filter(|user| !self.of(user).contains(name));
                faults.extend(lost.map(|user| format!("{user}: does not name {name}")));
            }
        }
        assert!(known >= 2, "only {known} locations");
        faults
    }

    /// Each form is one file and stands in the list; nobody else knows it, by its module or its word.
    fn claim_forms(&self) -> Vec<String> {
        let folder = Path::new("crates/iolab-study/src/form");
        let list = folder.join("mod.rs");
        let listed = self.of(list.to_str().unwrap());
        let mut faults = self.listed("FORM", &[list.to_str().unwrap()], 15);
        let files = self.0.iter().filter(|(path, _)| path.parent() == Some(folder));
        for (path, text) in files.filter(|(path, _)| **path != list) {
            let name = path.file_stem().unwrap().to_str().unwrap();
            let words = text.split("word: \"").skip(1).filter_map(|rest| rest.split('"').next());
            let words: Vec<&str> = words.collect();
            if words.is_empty() || !listed.contains(&format!("&{name}::")) {
                faults.push(format!("{}: is no form, or not in the list", path.display()));
            }
            let others = self.0.iter().filter(|(other, text)| {
                let elsewhere = other.starts_with("crates/iolab-study") && *other != path;
                // `share` is a key of experiments too, and `faster` a word of sentences.
                let sentences = other.ends_with("lint_claim.rs");
                let named = |word: &&str| *word != "share" && text.contains(&format!("\"{word}\""));
                let module = **other != list && text.contains(&format!("form::{name}"));
                elsewhere && (module || !sentences && words.iter().any(named))
            });
            faults.extend(others.map(|(other, _)| format!("{}: knows `{name}`", other.display())));
        }
        faults
    }

    /// No other file spells the keys out: as fields of a struct, or as words.
    fn protocol_keys(&self) -> Vec<String> {
        const HERE: [&str; 2] = [
            "crates/iolab-model/src/spec/protocol.rs",
            "crates/iolab-model/src/result/document.rs",
        ];
        let named = |text: &str| {
            let names = PROTOCOL_KEYS.iter().map(|key| key.name);
            let fields = |name: &&str| {
                text.contains(&format!(" {name}: ")) || text.contains(&format!("\"{name}\""))
            };
            names.filter(fields).count()
        };
        assert!(named(self.of(HERE[0])) == PROTOCOL_KEYS.len());
        let others = self.0.iter().filter(|(path, _)| !HERE.iter().any(|h| path == &Path::new(h)));
        // Support of tests makes records by hand.
        let others = others.filter(|(path, _)| !path.starts_with("crates/iolab-test"));
        let spelled = others.filter(|(_, text)| named(text) > PROTOCOL_KEYS.len() / 2);
        spelled
            .map(|(path, _)| format!("{}: spells the protocol's keys out", path.display()))
            .collect()
    }

    /// Each question has its answer in one file.
    fn questions(&self) -> Vec<String> {
        let text = self.of("crates/iolab-agent/src/messages.rs");
        let list = text.split("pub enum Request {").nth(1).unwrap().split("\n}").next().unwrap();
        let rows = list.lines().filter_map(|line| line.strip_prefix("    "));
        let rows = rows.filter(|row| row.starts_with(char::is_uppercase));
        let names: Vec<&str> = rows.filter_map(|row| row.split(|c| !is_word(c)).next()).collect();
        assert!(names.len() > 5, "{names:?}");
        let serve = "crates/iolab-agent/src/serve.rs";
        let lost = names.iter().filter(|n| !self.of(serve).contains(&format!("Request::{n}")));
        lost.map(|name| format!("{serve}: does not answer `{name}`")).collect()
    }

    /// Each code is raised by somebody, or it is a row that nobody needs.
    fn warnings(&self) -> Vec<String> {
        let table = "crates/iolab-model/src/catalog/code.rs";
        let rows = self.of(table).split("codes! {").nth(1).unwrap().lines();
        let names: Vec<&str> = rows
            .filter(|line| {
                line.contains(" Note \"")
                    || line.contains(" Caution \"")
                    || line.contains(" Invalid \"")
            })
            .filter_map(|line| line.split_whitespace().next())
            .collect();
        assert!(names.len() > 20, "{names:?}");
        // Stored records have them; nothing raises them any more.
        let old = ["NonTransitive", "NonStationary"];
        let idle = names.iter().filter(|name| !old.contains(name)).filter(|name| {
            let code = format!("Code::{name}");
            self.0.iter().all(|(path, text)| path == Path::new(table) || !text.contains(&code))
        });
        idle.map(|name| format!("{table}: no rule raises `{name}`")).collect()
    }
}

/// The first column of the table of ARCHITECTURE.md.
fn rows_of_the_map() -> BTreeSet<String> {
    let map = fs::read_to_string(root().join("ARCHITECTURE.md")).unwrap();
    let table = map.split("## What an addition costs").nth(1).unwrap();
    let table = table.split("\n## ").next().unwrap();
    let rows = table.lines().filter(|line| line.starts_with("| a"));
    let rows = rows.filter_map(|line| line.split(" | ").next());
    rows.map(|cell| cell.trim_start_matches("| ").to_owned()).filter(|r| r != "addition").collect()
}

#[test]
fn an_addition_costs_what_the_map_says() {
    let sources = Sources::read();
    let mut faults = Vec::new();
    let checked: BTreeSet<String> = CHECKS.iter().map(|(row, _)| (*row).to_owned()).collect();
    let rows = rows_of_the_map();
    faults.extend(rows.symmetric_difference(&checked).map(|row| {
        format!(
            "`{row}` stands in ARCHITECTURE.md or among the checks of additions.rs, not in both"
        )
    }));
    for (row, check) in CHECKS {
        faults.extend(check(&sources).into_iter().map(|fault| format!("{row}: {fault}")));
    }
    report(&faults);
}

/// The rules can fail: a second place that knows a part is found.
#[test]
fn a_second_list_is_found() {
    let file = |path: &str, text: &str| (PathBuf::from(path), text.to_owned());
    let sources = Sources(BTreeMap::from([
        file("crates/a/src/list.rs", "const ALL: &[&Method] = &[&pread::METHOD, &read::METHOD];"),
        file("crates/b/src/other.rs", "if find(\"x\") { &pread::METHOD }"),
    ]));
    assert_eq!(sources.listed("METHOD", &["crates/a/src/list.rs"], 2).len(), 1);
    assert_eq!(sources.listed("METHOD", &["crates/a/src/list.rs"], 4).len(), 2);
    assert!(sources.listed("METHODS", &[], 0).is_empty());
}

/// Nothing that a second thread can make wait stands in the loops that are timed.
#[test]
fn no_lock_stands_in_a_timed_loop() {
    let loops = [
        "crates/iolab-io/src/method/read_loop.rs",
        "crates/iolab-io/src/method/write_loop.rs",
        "crates/iolab-io/src/method/copy/copy_loop.rs",
        "crates/iolab-io/src/workload/files/task.rs",
        "crates/iolab-io/src/workload/files/bytes.rs",
        "crates/iolab-io/src/workload/meta/calls.rs",
        "crates/iolab-io/src/workload/ladder/calls.rs",
    ];
    let banned = ["fetch_", "compare_exchange", ".lock()", "SeqCst", "AcqRel", "Mutex"];
    let sources = Sources::read();
    let mut faults = Vec::new();
    for path in loops {
        for word in banned.iter().filter(|word| sources.of(path).contains(**word)) {
            faults.push(format!("{path}: `{word}` in a file of timed loops"));
        }
    }
    report(&faults);
}
