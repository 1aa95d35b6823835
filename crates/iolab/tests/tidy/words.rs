//! Words of levels and keys of facts stand in the catalog alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::{code, report, sources};

/// Sources of the product: no support of tests, no file that only tests see.
pub(super) fn product() -> Vec<(PathBuf, String)> {
    let all = sources("src");
    let of_tests = |(path, text): &(PathBuf, String)| {
        let folder = match path.file_stem().unwrap().to_str().unwrap() {
            "mod" | "lib" => path.parent().unwrap().to_owned(),
            stem => path.with_file_name(stem),
        };
        let after = text.split("#[cfg(test)]\n").skip(1);
        let names = after.filter_map(|rest| {
            let line = rest.lines().next()?.trim_start_matches("pub(crate) ");
            line.strip_prefix("mod ")?.strip_suffix(';')
        });
        names.map(|name| folder.join(format!("{name}.rs"))).collect::<Vec<_>>()
    };
    let hidden: BTreeSet<PathBuf> = all.iter().flat_map(of_tests).collect();
    let shown = |path: &Path| {
        let ends = |end: &str| path.to_str().unwrap().ends_with(end);
        !path.starts_with("crates/iolab-test") && !ends("tests.rs") && !hidden.contains(path)
    };
    all.into_iter().filter(|(path, _)| shown(path)).collect()
}

/// The one place of the words of levels and of the keys of facts.
const CATALOG: &str = "crates/iolab-model/src/catalog";

/// Every word that a type of the catalog owns.
fn owned_words() -> BTreeSet<&'static str> {
    use iolab_model::catalog as types;
    let words = [
        types::CacheState::WORDS,
        types::Sync::WORDS,
        types::Sync::OF_FILES,
        types::Touch::WORDS,
        types::Pattern::WORDS,
        types::Fill::WORDS,
        types::Target::WORDS,
        types::Until::WORDS,
        types::Consume::WORDS,
        types::Readahead::WORDS,
        types::Sparse::WORDS,
        types::Atime::WORDS,
        types::Descriptors::WORDS,
        types::Share::WORDS,
        types::Shift::WORDS,
        types::Switch::WORDS,
        types::FileOperation::WORDS,
        types::NamedCall::WORDS,
        types::WorkloadId::WORDS,
    ];
    let facts = types::Fact::ALL.iter().map(|fact| fact.key());
    words.into_iter().flatten().copied().chain(facts).collect()
}

/// Words that mean other things, too (a method, a step of a file, a system call that failed): they
/// are looked for where a line speaks of levels.
const AMBIGUOUS: [&str; 46] = [
    "allocator",
    "any",
    "append",
    "auto",
    "chmod",
    "close",
    "container",
    "copy",
    "create",
    "direct",
    "directory",
    "each",
    "end",
    "files",
    "fill",
    "first",
    "keep",
    "libc",
    "meta",
    "mkdir",
    "new",
    "none",
    "normal",
    "off",
    "on",
    "one",
    "pread",
    "pwrite",
    "random",
    "read",
    "readdir",
    "remove",
    "rename",
    "return",
    "rmdir",
    "shared",
    "stat",
    "steady",
    "strided",
    "symlink",
    "sync",
    "syscall",
    "text",
    "unlink",
    "write",
    "zero",
];

/// What a line that compares or sets a level has in it.
const OF_LEVELS: [&str; 7] =
    ["Factor::", "Level::word", "levels.", "factors.", "workload ==", "workload !=", "workload:"];

/// A quoted word with a meaning of its own, by file.
const OTHER_MEANING: [(&str, &str, &str); 12] = [
    ("crates/iolab-trace/src/call.rs", "fstat", "a call of a program that was recorded"),
    ("crates/iolab-trace/src/call.rs", "fsync", "a call of a program that was recorded"),
    ("crates/iolab-trace/src/call.rs", "fdatasync", "a call of a program that was recorded"),
    ("crates/iolab-trace/src/call.rs", "lseek", "a call of a program that was recorded"),
    ("crates/iolab-trace/src/strace/known.rs", "fstat", "a call, as strace names it"),
    ("crates/iolab-trace/src/strace/known.rs", "fsync", "a call, as strace names it"),
    ("crates/iolab-trace/src/strace/known.rs", "fdatasync", "a call, as strace names it"),
    ("crates/iolab-trace/src/strace/known.rs", "lseek", "a call, as strace names it"),
    ("crates/iolab-io/src/place/vm/modules.rs", "crc32c", "a module of the kernel"),
    ("crates/iolab-io/src/workload/read.rs", "read", "a method, by name"),
    ("crates/iolab-io/src/workload/write/task.rs", "write", "a method, by name"),
    ("crates/iolab-report/src/drawing/block_title.rs", "on", "a preposition"),
];

/// The quoted words of `owned` in a line.
fn quoted<'a>(line: &str, owned: &BTreeSet<&'a str>) -> Vec<&'a str> {
    let speaks = OF_LEVELS.iter().any(|mark| line.contains(mark));
    let counts = |word: &&&str| speaks || !AMBIGUOUS.contains(*word);
    let found = |word: &&&str| line.contains(&format!("\"{word}\""));
    owned.iter().filter(counts).filter(found).copied().collect()
}

/// "cold" was once compared as text in 16 files, and study pages read the key of a fact that nobody
/// wrote.
#[test]
fn words_of_levels_and_keys_of_facts_stand_in_the_catalog_alone() {
    let owned = owned_words();
    let mut faults = Vec::new();
    for (path, text) in product().into_iter().filter(|(path, _)| !path.starts_with(CATALOG)) {
        let name = path.to_str().unwrap();
        // What people write for a level is what that file is about.
        let other = |word: &str| {
            name == "crates/iolab-study/src/words.rs"
                || OTHER_MEANING.iter().any(|(f, w, _)| (*f, *w) == (name, word))
        };
        for (number, line) in code(&text) {
            faults.extend(quoted(line, &owned).into_iter().filter(|word| !other(word)).map(
                |word| {
                    format!("{name}:{number}: \"{word}\": take the type in {CATALOG} that has it")
                },
            ));
        }
    }
    report(&faults);
    // The rule can fail.
    let said = |line: &str| quoted(line, &owned);
    assert_eq!(said("levels.text(Factor::Cache) == Some(\"cold\")"), ["cold"]);
    assert_eq!(said("environment.0.get(\"mount.fs_type\")"), ["mount.fs_type"]);
    assert_eq!(said("levels.text(Factor::Sync) == Some(\"end\")"), ["end"]);
    assert!(said("let cause = fault(\"read\", path, error);").is_empty());
}

/// Levels whose type is known are read as that type.
#[test]
fn levels_with_a_type_are_not_asked_for_as_text() {
    use iolab_model::catalog::{self as types, AxisWord, Factor};
    let typed = [
        types::CacheState::FACTOR,
        types::Sync::FACTOR,
        types::Touch::FACTOR,
        types::Pattern::FACTOR,
        types::Fill::FACTOR,
        types::Target::FACTOR,
        types::Until::FACTOR,
        types::Consume::FACTOR,
        types::Readahead::FACTOR,
        types::Sparse::FACTOR,
        types::Atime::FACTOR,
        types::Descriptors::FACTOR,
        types::Share::FACTOR,
        types::Shift::FACTOR,
        Factor::Direct,
        Factor::Latency,
    ];
    let mut faults = Vec::new();
    for (path, text) in product() {
        for (number, line) in code(&text) {
            let asks = |factor: &&Factor| line.contains(&format!(".text(Factor::{factor:?})"));
            faults.extend(typed.iter().filter(asks).map(|factor| {
                format!("{}:{number}: {factor}: `levels.word()` gives its type", path.display())
            }));
        }
    }
    report(&faults);
}

/// A fact that is read and never written is always absent, and nobody notices.
#[test]
fn every_fact_has_a_writer() {
    let squeezed = |text: &str| code(text).flat_map(|(_, l)| l.split_whitespace()).collect();
    let texts: Vec<String> = product().iter().map(|(_, text)| squeezed(text)).collect();
    // A file that puts facts out of a table is a writer of all that it names.
    let tables: Vec<&String> = texts.iter().filter(|t| t.contains("facts.put(fact,")).collect();
    let writes = |fact: &str| {
        texts.iter().any(|text| text.contains(&format!("put({fact},")))
            || tables.iter().any(|text| text.contains(&format!("{fact},")))
            || tables.iter().any(|text| text.contains(&format!("{fact}]")))
    };
    let facts = iolab_model::catalog::Fact::ALL.iter();
    let lost = facts.filter(|fact| !writes(&format!("Fact::{fact:?}")));
    report(&lost.map(|fact| format!("{fact}: nobody writes it")).collect::<Vec<_>>());
    assert!(!writes("Fact::VmMachine"), "the rule can fail");
}

/// Where the name of a method may stand beside the files of the methods, and why.
const METHODS_NAMED: [(&str, &str); 8] = [
    ("crates/iolab-trace/src/call.rs", "calls of a program that was recorded"),
    ("crates/iolab-trace/src/strace/known.rs", "calls, as strace names them"),
    ("crates/iolab-model/src/catalog/method_class.rs", "records name methods and not their class"),
    ("crates/iolab-model/src/catalog/replay.rs", "ways of a replay, called as methods are"),
    ("crates/iolab-io/src/host/methods.rs", "what is tried for them"),
    ("crates/iolab-io/src/host/probes.rs", "a line of doctor is called so, too"),
    ("crates/iolab-io/src/workload/copy/mod.rs", "what a cell without a method does"),
    ("crates/iolab-io/src/workload/files/settings.rs", "what a cell without a method does"),
];

/// A workload, a survey and a test ask for a capability.
#[test]
fn the_name_of_a_method_stands_in_its_own_file() {
    let parts = iolab_agent::catalog::all().iter();
    let methods = parts.filter(|part| part.kind == iolab_model::catalog::PartKind::Method);
    // `read`, `write` and `mmap` are words of other things, too; so are system calls.
    let calls = iolab_model::catalog::NamedCall::WORDS;
    let odd = |id: &&str| (id.contains(['-', '_']) || *id == "reflink") && !calls.contains(id);
    let names: BTreeSet<String> =
        methods.map(|part| part.id).filter(odd).map(|id| format!("\"{id}\"")).collect();
    assert!(names.len() > 8, "{names:?}");
    let known = |path: &Path| METHODS_NAMED.iter().any(|(file, _)| path == Path::new(file));
    let mut faults = Vec::new();
    for (path, text) in product() {
        if path.starts_with("crates/iolab-io/src/method") || known(&path) {
            continue;
        }
        let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
        for (number, line) in code(text) {
            for name in names.iter().filter(|name| line.contains(name.as_str())) {
                faults.push(format!(
                    "{}:{number}: names {name}: ask the catalog for what it can do",
                    path.display()
                ));
            }
        }
    }
    report(&faults);
}
