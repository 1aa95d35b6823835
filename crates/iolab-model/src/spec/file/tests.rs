//! Files of experiments: what they say, and what is said of those that are wrong.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};

use proptest::prelude::*;

use super::{FileError, Loaded, Words, Written, read, write};
use crate::catalog::{Factor, Level, WorkloadInfo};
use crate::spec::fixture::{CALL, PARTS, READ};
use crate::spec::{Experiment, Protocol};

const WORKLOADS: &[WorkloadInfo] = &[READ, CALL];
const WORDS: Words<'static> = Words { workloads: WORKLOADS, parts: PARTS };

fn os(bytes: Vec<u8>) -> PathBuf {
    OsString::from_vec(bytes).into()
}

fn loaded(name: &str, text: &str) -> Loaded {
    Loaded { name: name.into(), identity: name.into(), text: text.into() }
}

fn one(text: &str) -> Result<Vec<Written>, FileError> {
    read(&loaded("a.toml", text), WORDS, 100, &mut |_, _| Err("no files here".into()))
}

fn among(files: &[(&str, &str)]) -> Result<Vec<Written>, FileError> {
    let all: BTreeMap<&str, &str> = files.iter().copied().collect();
    let mut load = |_: &Loaded, name: &str| match all.get(name) {
        Some(text) => Ok(loaded(name, text)),
        None => Err(format!("{name}: no such file")),
    };
    read(&loaded(files[0].0, files[0].1), WORDS, 100, &mut load)
}

/// One experiment of `read` with these lines under its factors.
fn factors(lines: &str) -> String {
    format!("[[experiment]]\nworkload = \"read\"\n[experiment.factors]\n{lines}\n")
}

#[test]
fn everything_that_can_be_written() {
    let text = r#"
        [defaults]
        workload = "read"
        protocol = { budget = "10s", seed = 7 }
        [[experiment]]
        title = "one"
        directory = "/tmp"
        vm = true
        export = "json=a.json"
        [experiment.factors]
        method = ["read", "mmap"]
        block = "4Ki..64Ki:x4"
        threads = [1, "2..8:x2"]
        file = ['a\xff', "b,c"]
        pattern = "stride:4"
        [experiment.protocol]
        ask = ["method", "block"]
        cpus = [0, "2-3"]
        rounds = 20
        delta = "0.5%"
        alpha = "1%"
        eliminate = false
        [[experiment]]
        workload = "syscall"
        factors.operation = "lseek,read"
    "#;
    let all = one(text).unwrap();
    let Experiment { title, workload, directory, factors, protocol } = &all[0].experiment;
    assert_eq!((title.as_deref(), workload.as_str()), (Some("one"), "read"));
    assert_eq!(directory, Path::new("/tmp"));
    assert_eq!(factors[&Factor::Method], [Level::word("read"), Level::word("mmap")]);
    assert_eq!(factors[&Factor::Block], [4096, 16384, 65536].map(Level::Number));
    assert_eq!(factors[&Factor::Threads], [1, 2, 4, 8].map(Level::Number));
    let odd = os(b"a\xff".to_vec());
    assert_eq!(factors[&Factor::File], [Level::Path(odd), Level::Path("b,c".into())]);
    assert_eq!(protocol.ask, Some(vec![Factor::Method, Factor::Block]));
    assert_eq!((protocol.cpus.as_slice(), protocol.rounds), (&[0, 2, 3][..], Some(20)));
    assert_eq!((protocol.delta, protocol.alpha), (0.005, 0.01));
    assert_eq!((protocol.budget_ns, protocol.seed), (10_000_000_000, 7));
    assert_eq!(protocol.eliminate, Some(false));
    assert_eq!((all[0].vm, all[0].seeded), (true, true));
    assert_eq!(all[0].exports, ["json=a.json"]);
    assert_eq!(all[0].place, "a.toml, line 5");
    let second = &all[1].experiment;
    assert_eq!((second.workload.as_str(), second.protocol.seed), ("syscall", 7));
    assert_eq!(second.factors.len(), 1);
}

#[test]
fn experiments_without_a_seed_have_different_ones() {
    let all = one("[[experiment]]\nworkload='read'\n[[experiment]]\nworkload='read'").unwrap();
    assert_eq!(all.iter().map(|w| w.experiment.protocol.seed).collect::<Vec<_>>(), [100, 101]);
    assert!(!all[0].seeded);
}

#[test]
fn what_is_wrong_is_shown_where_it_stands() {
    let head = "[[experiment]]\nworkload = \"read\"\n";
    for (text, line, column, words) in [
        (
            factors("methd = \"read\""),
            4,
            1,
            &["read has no axis 'methd'", "did you mean method"][..],
        ),
        (factors("method = \"raed\""), 4, 10, &["did you mean read?"]),
        (factors("method = \"pread,raed\""), 4, 17, &["did you mean read?"]),
        (factors("method = [\"read\",\n  \"raed\"]"), 5, 3, &["'raed'", "did you mean read?"]),
        (factors("method = 4"), 4, 10, &["this is a number, and text is wanted"]),
        (factors("method = []"), 4, 10, &["the list is empty"]),
        (factors("block = \"64KB\""), 4, 12, &["'KB' can mean two things", "64Ki for 65536"]),
        (factors("block = \"4Ki..1Ki:x2\""), 4, 9, &["backwards"]),
        (factors("block = 4.5"), 4, 9, &["a number with a point"]),
        (factors("block = -4"), 4, 9, &["negative"]),
        (factors("block = 0"), 4, 9, &["zero"]),
        (factors("threads = \"4Ki\""), 4, 13, &["does not belong to a count"]),
        (factors("method = \"read\"\nmethod = \"mmap\""), 5, 1, &["stands here twice"]),
        (factors("file = \"a\"\nfile-size = 1"), 5, 1, &["has its size already"]),
        (factors("operation = \"read\""), 4, 1, &["read has no axis 'operation'"]),
        (format!("{head}protocol.budget = 60"), 3, 19, &["unit is missing", "60s"]),
        (format!("{head}protocol.budget = \"60x\""), 3, 22, &["not a unit of time"]),
        (format!("{head}protocol.budgt = \"60s\""), 3, 10, &["did you mean budget"]),
        (format!("{head}protocol.ask = [\"mehtod\"]"), 3, 16, &["did you mean method"]),
        (format!("{head}protocol.ask = \"sync\""), 1, 1, &["--ask", "no such axis"]),
        (format!("{head}protocol.delta = 2"), 3, 18, &["text is wanted"]),
        (format!("{head}protocol.rounds = 0"), 3, 19, &["no round"]),
        (format!("{head}protocol.eliminate = \"no\""), 3, 22, &["true or false"]),
        (format!("{head}worklod = \"read\""), 3, 1, &["no key 'worklod'", "did you mean workload"]),
        (format!("{head}factors = 4"), 3, 11, &["a table is wanted"]),
        ("[[experiment]]\ntitle = \"x\"".into(), 1, 1, &["names no workload", "read, syscall"]),
        ("[[experiment]]\nworkload = \"raed\"".into(), 2, 12, &["did you mean read"]),
        ("[experiment]\nworkload = \"read\"".into(), 1, 1, &["[[experiment]]"]),
        ("[[experimnt]]".into(), 1, 3, &["did you mean experiment"]),
        ("title = 'x'\n[[experiment]]\nworkload='read'".into(), 1, 1, &["no key 'title'"]),
        ("a = = 1".into(), 1, 5, &["TOML"]),
        ("a = \"x\u{e9}".into(), 1, 8, &["TOML"]),
    ] {
        let error = one(&text).unwrap_err();
        let said = error.to_string();
        eprintln!("{said}\n");
        assert_eq!((error.line, error.column), (line, column), "{said}");
        for word in words {
            assert!(said.contains(word), "no {word:?} in\n{said}");
        }
        assert_eq!(said.lines().count(), 3, "{said}");
        assert!(said.ends_with('^'), "{said}");
    }
    let said = one("# nothing").unwrap_err().to_string();
    assert!(said.contains("no experiment in it") && said.contains("--example"), "{said}");
}

#[test]
fn included_files_come_first_and_never_twice() {
    let experiment = |title: &str| format!("[[experiment]]\ntitle='{title}'\nworkload='read'\n");
    let (a, b, c) = (experiment("a"), experiment("b"), experiment("c"));
    let a = format!("include = ['b', 'c']\n{a}");
    let all = among(&[("a", &a), ("b", &b), ("c", &c)]).unwrap();
    let title = |w: &Written| (w.experiment.title.clone().unwrap(), w.experiment.protocol.seed);
    let titles: Vec<_> = all.iter().map(title).collect();
    assert_eq!(titles, [("b".into(), 100), ("c".into(), 101), ("a".into(), 102)]);

    let said = |files: &[(&str, &str)]| among(files).unwrap_err().to_string();
    let cycle = said(&[("a", "include = 'b'"), ("b", "\ninclude = ['c']"), ("c", "include='a'")]);
    assert!(cycle.starts_with("c, line 1, column 9: the file includes itself"), "{cycle}");
    assert!(said(&[("a", "include = 'a'")]).contains("includes itself"));
    let twice = said(&[("a", "include = ['b','c']"), ("b", ""), ("c", "include = 'b'")]);
    assert!(twice.starts_with("c, line 1") && twice.contains("included already"), "{twice}");
    assert!(said(&[("a", "include = 'gone'")]).contains("gone: no such file"));
    assert!(said(&[("a", "include = 4")]).contains("text is wanted"));
    assert!(said(&[("a", "include = 'b'"), ("b", "x = 1")]).starts_with("b, line 1, column 1"));
    let deep: Vec<(String, String)> =
        (0..20).map(|n| (n.to_string(), format!("include = '{}'", n + 1))).collect();
    let deep: Vec<(&str, &str)> = deep.iter().map(|(n, t)| (n.as_str(), t.as_str())).collect();
    assert!(said(&deep).contains("too deep"));
}

#[test]
fn a_megabyte_of_nonsense_is_refused() {
    let repeat = |text: &str| text.repeat((1_000_000 / text.len()).max(1));
    for text in [
        repeat("["),
        repeat("[["),
        repeat("a."),
        repeat("a=[{"),
        repeat("\""),
        repeat("\u{0}"),
        repeat("漢"),
        repeat("x = 1\n"),
        repeat("[[experiment]]\n"),
        format!("a = [{}", repeat("1,")),
        format!("a = {{{}", repeat("b = {")),
        format!("a = \"{}\"", repeat("\\u00e9")),
        (0..100_000).map(|n| format!("k{n}=1\n")).collect(),
        repeat(" ") + &repeat(" "),
    ] {
        let said = one(&text).unwrap_err().to_string();
        assert!(said.len() < 1000, "{said}");
    }
}

#[test]
fn a_caller_may_have_keys_of_its_own() {
    let text = "claim = 1\n[[experiment]]\nworkload='read'\nid='x'\n";
    let source = super::Source { name: "s.toml", text };
    let parsed = super::parse(&source).unwrap();
    let root = parsed.table();
    let all = super::experiments(root, WORDS, 1, &["id"]).unwrap();
    assert_eq!(all.len(), 1);
    let tables = root.get("experiment").unwrap().tables().unwrap();
    assert_eq!(tables[0].get("id").unwrap().text().unwrap(), "x");
    let error = super::experiments(root, WORDS, 1, &[]).unwrap_err();
    assert!(error.to_string().contains("no key 'id'"), "{error}");
}

fn levels(factor: Factor) -> BoxedStrategy<Vec<Level>> {
    use crate::catalog::Kind;
    let some = |level: BoxedStrategy<Level>| {
        proptest::collection::btree_set(level, 1..4).prop_map(|set| set.into_iter().collect())
    };
    match (factor, factor.kind()) {
        (Factor::Method, _) => some(
            prop_oneof![Just("read"), Just("mmap"), Just("null")].prop_map(Level::word).boxed(),
        )
        .boxed(),
        (_, Kind::Path) => some(
            proptest::collection::vec(1u8..=255, 1..12)
                .prop_map(|bytes| Level::Path(os(bytes)))
                .boxed(),
        )
        .boxed(),
        _ => some((1u64..0x7fff_f000).prop_map(Level::Number).boxed()).boxed(),
    }
}

fn protocols() -> impl Strategy<Value = Protocol> {
    let ask = proptest::option::of(Just(vec![Factor::Block, Factor::Method]));
    let cpus = proptest::collection::btree_set(0u32..64, 0..5);
    let shares = (1u32..9999, 1u32..9999, 1u32..9999);
    let rounds = proptest::option::of(1u32..1_000_000);
    let eliminate = (any::<Option<bool>>(), proptest::option::of(1u64..1 << 40));
    (ask, cpus, shares, rounds, eliminate, any::<u64>(), 1u64..=u64::MAX).prop_map(
        |(
            ask,
            cpus,
            (delta, precision, alpha),
            rounds,
            (eliminate, keep_bytes),
            seed,
            budget_ns,
        )| Protocol {
            ask,
            cpus: cpus.into_iter().collect(),
            budget_ns,
            rounds,
            seed,
            delta: f64::from(delta) / 100.0 / 100.0,
            precision: f64::from(precision) / 100.0 / 100.0,
            alpha: f64::from(alpha) / 100.0 / 100.0,
            eliminate,
            keep_bytes,
        },
    )
}

fn experiments() -> impl Strategy<Value = Written> {
    let axes = [Factor::File, Factor::Method, Factor::Block, Factor::Threads].map(|factor| {
        proptest::option::of(levels(factor)).prop_map(move |l| l.map(|levels| (factor, levels)))
    });
    let directory = proptest::collection::vec(1u8..=255, 1..9);
    let title = proptest::option::of("\\PC{0,12}|[\"'\\\\\n\t]{1,5}");
    (axes, title, directory, protocols(), any::<bool>()).prop_map(
        |(axes, title, directory, protocol, vm)| Written {
            experiment: Experiment {
                title,
                workload: "read".into(),
                directory: os(directory),
                factors: axes.into_iter().flatten().collect(),
                protocol,
            },
            seeded: true,
            exports: if vm { vec!["csv=a'b\"c".into()] } else { vec![] },
            vm,
            kernel: vm.then(|| "/boot/k".into()),
            modules: None,
            place: "a.toml, line 1".into(),
            directory_place: None,
            export_place: None,
        },
    )
}

proptest! {
    #[test]
    fn what_is_written_reads_back(written in experiments()) {
        let text = write(&written);
        let mut read = one(&text).map_err(|e| format!("{e}\n{text}"));
        for one in read.iter_mut().flatten() {
            (one.directory_place, one.export_place) = (None, None);
        }
        prop_assert_eq!(read, Ok(vec![written]));
    }

    #[test]
    fn any_text_is_read_or_refused(text in "\\PC{0,80}") {
        let _ = one(&text);
    }

    #[test]
    fn anything_that_is_nearly_right_is_read_or_refused(
        pieces in proptest::collection::vec(prop_oneof![
            Just("[[experiment]]\n"), Just("workload = "), Just("\"read\""), Just("\n"),
            Just("[experiment.factors]\n"), Just("block = "), Just("[\"4Ki\", 3]\n"), Just("'"),
            Just("method"), Just("="), Just("\"4Ki..:x\""), Just("[defaults]\n"), Just("{"),
            Just("protocol.budget"), Just("\"1\\u00e9\""), Just("include = "), Just("]"),
        ], 0..14)
    ) {
        let text = pieces.concat();
        if let Err(error) = one(&text) {
            prop_assert!(error.line <= text.lines().count() + 1);
            prop_assert!(!error.problem.is_empty());
        }
    }
}
