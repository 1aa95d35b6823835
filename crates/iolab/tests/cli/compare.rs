//! Runs against runs: what is called a difference, what is not, and what is refused.

use std::fs;

use crate::cli_support::Home;
use iolab_model::result::{AnswerKind, Document, Verdict};
use iolab_record::history::Store;
use iolab_report::TextStyle;
use iolab_report::compare::{
    Compared, Gate, GateVerdict, Incomparable, Terms, compare, compare_alike, compare_within,
    compared_json, compared_markdown, compared_table, gate_markdown,
};
use iolab_test::documents::{levels, timed, winner};

pub(crate) const TERMS: Terms = Terms { alpha: 0.05, delta: 0.02, anyway: false };

/// A run of two cells, made when the machine was at this level.
pub(crate) fn run(pread_ms: f64, mmap_ms: f64, seed: u64) -> Document {
    let cells = [
        ("pread/64Ki", levels("pread", Some(65536)), pread_ms),
        ("mmap", levels("mmap", None), mmap_ms),
    ];
    timed(&cells, 40, 0.01, 0.02, seed)
}

pub(crate) fn runs(pread_ms: f64, mmap_ms: f64, seeds: std::ops::Range<u64>) -> Vec<Document> {
    seeds.map(|seed| run(pread_ms, mmap_ms, seed)).collect()
}

pub(crate) fn with(mut doc: Document, fact: &str, value: &str) -> Document {
    doc.environment.0.insert(fact.into(), value.into());
    doc
}

pub(crate) fn texts(c: &Compared) -> [String; 3] {
    let mut all = [Vec::new(), Vec::new(), Vec::new()];
    compared_table(c, &TextStyle::default(), &mut all[0]).unwrap();
    compared_markdown(c, &mut all[1]).unwrap();
    compared_json(c, &mut all[2]).unwrap();
    all.map(|bytes| String::from_utf8(bytes).unwrap())
}

#[test]
fn repeated_runs_show_what_changed_and_what_did_not() {
    let c = compare(&runs(32.0, 41.0, 0..3), &runs(38.0, 41.0, 3..6), &TERMS).unwrap();
    let pread = &c.rows[0];
    assert_eq!(
        (pread.cell.as_str(), pread.verdict, pread.clear),
        ("pread/64Ki", Verdict::Slower, true)
    );
    assert!((pread.ratio - 38.0 / 32.0).abs() < 0.01, "{pread:?}");
    assert!(pread.low.unwrap() > 1.1 && pread.high.unwrap() < 1.3, "{pread:?}");
    assert_eq!(c.rows[1].verdict, Verdict::Equivalent, "{:?}", c.rows[1]);
    // Turned round, the other way.
    let c = compare(&runs(38.0, 41.0, 3..6), &runs(32.0, 41.0, 0..3), &TERMS).unwrap();
    assert_eq!((c.rows[0].verdict, c.rows[0].clear), (Verdict::Faster, true));
}

#[test]
fn what_the_machine_does_between_runs_is_no_difference_of_the_cell() {
    // Each run sharp in itself, and a level of its own: 30, 33, 36 against 31, 34, 37.
    let side = |from: f64| -> Vec<Document> {
        (0..3).map(|i| run(from + 3.0 * f64::from(i), 41.0, i as u64)).collect()
    };
    let c = compare(&side(30.0), &side(31.0), &TERMS).unwrap();
    assert_eq!(c.rows[0].verdict, Verdict::Undecided, "{:?}", c.rows[0]);
    assert!(c.rows[0].between_sd.unwrap() > 0.05);
}

#[test]
fn a_single_pair_allows_for_what_it_cannot_know() {
    let one = |a: f64, b: f64| compare(&[run(a, 41.0, 1)], &[run(b, 41.0, 2)], &TERMS).unwrap();
    assert_eq!(one(32.0, 33.0).rows[0].verdict, Verdict::Undecided);
    let c = one(32.0, 40.0);
    assert_eq!((c.rows[0].verdict, c.rows[0].clear), (Verdict::Slower, true));
    assert!(c.notes.iter().any(|note| note.contains("Two or more runs a side")), "{:?}", c.notes);
}

#[test]
fn another_machine_is_refused_and_named() {
    let other = with(run(64.0, 82.0, 2), "cpu.model", "Another CPU");
    let error = compare(&[run(32.0, 41.0, 1)], std::slice::from_ref(&other), &TERMS).unwrap_err();
    assert!(matches!(&error, Incomparable::Machines(_)), "{error}");
    assert!(error.to_string().contains("cpu.model: Example CPU → Another CPU"), "{error}");
    // Asked for, the figures are shown and nothing is clear.
    let anyway = Terms { anyway: true, ..TERMS };
    let c = compare(&[run(32.0, 41.0, 1)], &[other], &anyway).unwrap();
    assert!(c.rows.iter().all(|r| r.verdict == Verdict::Slower && !r.clear), "{c:?}");
    assert!(texts(&c)[0].contains("(another machine)"));
    for (fact, value) in [("libc", "musl 1.2"), ("host.machine", "aarch64")] {
        let a = with(run(32.0, 41.0, 1), fact, "x");
        let b = with(run(32.0, 41.0, 2), fact, value);
        assert!(compare(&[a], &[b], &TERMS).is_err(), "{fact}");
    }
}

#[test]
fn two_machines_of_one_kind_are_clear_only_with_repeated_runs() {
    let on = |host: &str, docs: Vec<Document>| -> Vec<Document> {
        docs.into_iter().map(|d| with(d, "host.name", host)).collect()
    };
    let a = on("runner-1", runs(32.0, 41.0, 0..1));
    let b = on("runner-2", runs(64.0, 41.0, 1..2));
    let c = compare(&a, &b, &TERMS).unwrap();
    assert_eq!((c.rows[0].verdict, c.rows[0].clear), (Verdict::Slower, false));
    let c = compare(
        &on("runner-1", runs(32.0, 41.0, 0..3)),
        &on("runner-2", runs(64.0, 41.0, 3..6)),
        &TERMS,
    );
    assert!(c.unwrap().rows[0].clear);
}

#[test]
fn what_differs_is_shown_and_what_passes_is_not() {
    let a = with(with(run(32.0, 41.0, 1), "kernel.release", "6.1.0"), "load.1", "0.1");
    let b = with(with(run(32.0, 41.0, 2), "kernel.release", "6.18.5"), "load.1", "3.9");
    let c = compare(&[a], &[b], &TERMS).unwrap();
    let facts: Vec<&str> = c.differences.iter().map(|d| d.fact.as_str()).collect();
    assert_eq!(facts, ["kernel.release"]);
    for text in texts(&c) {
        assert!(text.contains("6.1.0") && text.contains("6.18.5"), "{text}");
    }
}

#[test]
fn within_one_run_the_rounds_are_shared() {
    // Every round has a speed of its own, up to half as slow again: 4 % still shows.
    let cells = [
        ("dir:/old", levels("pread", Some(65536)), 32.0),
        ("dir:/new", levels("pread", Some(4096)), 33.3),
    ];
    let doc = timed(&cells, 60, 0.5, 0.01, 9);
    let sides = || ("old".to_owned(), "new".to_owned());
    let c = compare_within(&doc, &[(0, 1)], sides(), &TERMS).unwrap();
    assert_eq!((c.rows[0].verdict, c.rows[0].clear), (Verdict::Slower, true), "{:?}", c.rows);
    let gate = |delta: f64| {
        let c = compare_within(&doc, &[(0, 1)], sides(), &Terms { delta, ..TERMS }).unwrap();
        Gate::of(c).gate
    };
    assert_eq!(gate(0.02), GateVerdict::Regression);
    assert_eq!(gate(0.10), GateVerdict::Passed);
    assert_eq!(gate(0.04), GateVerdict::Undecided);
    // A measurement that is not sound shows nothing.
    let mut unsound = doc.clone();
    unsound.answers = vec![iolab_test::documents::answer(AnswerKind::Invalid, &[], "no")];
    let c = compare_within(&unsound, &[(0, 1)], sides(), &TERMS).unwrap();
    assert_eq!(c.rows[0].verdict, Verdict::Undecided);
    // A cell without figures is named.
    let error = compare_within(&winner(), &[(0, 3)], sides(), &TERMS).unwrap_err();
    assert!(error.to_string().contains("mmap-populate"), "{error}");
}

#[test]
fn bad_sides_are_told_apart() {
    let mut other = run(32.0, 41.0, 1);
    other.experiment.workload = "write".into();
    let error = compare(&[run(32.0, 41.0, 1)], &[other], &TERMS).unwrap_err();
    assert!(matches!(error, Incomparable::NothingInCommon { .. }), "{error}");
    let mut empty = run(32.0, 41.0, 1);
    empty.cells.clear();
    assert!(compare(&[run(32.0, 41.0, 1)], &[empty], &TERMS).is_err());
    // One sample, equal and huge values: no panic, nothing not finite.
    let mut one = run(32.0, 41.0, 1);
    one.cells.iter_mut().for_each(|c| c.samples.truncate(4));
    let mut huge = run(32.0, 41.0, 1);
    for sample in huge.cells.iter_mut().flat_map(|c| &mut c.samples) {
        sample.measurement.wall_ns = u64::MAX;
    }
    let mut partial = run(32.0, 41.0, 3);
    partial.run.complete = false;
    for other in [one, huge, partial] {
        let c = compare(&[run(32.0, 41.0, 1)], &[other], &TERMS).unwrap();
        let [_, _, json] = texts(&c);
        serde_json::from_str::<serde_json::Value>(&json).unwrap();
    }
}

#[test]
fn names_are_harmless_in_a_pull_request() {
    let mut a = run(32.0, 41.0, 1);
    a.cells[0].id = "x|y</script>@me`*\u{202e}".into();
    let mut b = run(64.0, 41.0, 2);
    b.cells[0].id.clone_from(&a.cells[0].id);
    let gate = Gate::of(compare(&[a], &[b], &TERMS).unwrap());
    let mut text = Vec::new();
    gate_markdown(&gate, &mut text).unwrap();
    let text = String::from_utf8(text).unwrap();
    assert!(text.starts_with("### ❌ Regression"), "{text}");
    assert!(!text.contains("</script>") && !text.contains("@me") && !text.contains('\u{202e}'));
    assert!(!text.contains(" x|y"), "{text}");
}

/// A build whose program crashed had no cell to compare, and passed.
#[test]
fn a_cell_that_is_no_longer_measured_is_no_pass() {
    let (old, mut new) = (run(32.0, 41.0, 1), run(32.1, 41.0, 2));
    let failed = iolab_test::documents::failed("mmap", levels("mmap", None));
    new.cells[1] = failed;
    let terms = Terms { delta: 0.1, ..TERMS };
    let gate = Gate::of(compare(&[old], &[new], &terms).unwrap());
    assert_eq!((gate.gate, &gate.missing[..]), (GateVerdict::Undecided, &["mmap".to_owned()][..]));
    assert!(gate.sentence().ends_with("Of the baseline mmap was not measured."), "{gate:?}");
    // What neither side has is missing on neither.
    let c = compare(&[winner()], &[winner()], &TERMS).unwrap();
    assert_eq!((c.only_first, c.only_second), (vec![], vec![]));
}

#[test]
fn a_pull_request_gets_the_finding_first_and_the_rest_folded() {
    let blocks: Vec<u64> = (0..12).map(|at| 4096 << at).collect();
    let side = |slow: f64, seed: u64| {
        let names: Vec<String> = blocks.iter().map(|b| format!("pread/{b}")).collect();
        let cell = |(at, name)| {
            let ms = if at == 3 { 32.0 * slow } else { 32.0 };
            (name, levels("pread", Some(blocks[at])), ms)
        };
        let cells: Vec<_> = names.iter().map(String::as_str).enumerate().map(cell).collect();
        timed(&cells, 40, 0.0, 0.001, seed)
    };
    let gate = |slow| {
        let terms = Terms { delta: 0.05, ..TERMS };
        let gate = Gate::of(compare(&[side(1.0, 1)], &[side(slow, 2)], &terms).unwrap());
        let mut text = Vec::new();
        gate_markdown(&gate, &mut text).unwrap();
        String::from_utf8(text).unwrap()
    };
    let text = gate(2.0);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "### ❌ Regression: pread/32768 is clearly more than 5 % slower.");
    let folded = lines.iter().position(|l| l.starts_with("<details>")).unwrap();
    assert_eq!(lines[folded], "<details><summary>11 more cells</summary>");
    // GitHub shows a table inside only after an empty line.
    assert_eq!(lines[folded + 1], "");
    let end = lines.iter().position(|l| *l == "</details>").unwrap();
    let rows = |lines: &[&str]| lines.iter().filter(|l| l.starts_with("| pread/")).count();
    assert_eq!((rows(&lines[..folded]), rows(&lines[folded..end])), (1, 11), "{text}");
    assert!(folded < 12, "what matters is not at the top: {text}");
    assert!(gate(1.0).starts_with("### ✅ Passed: not slower by more than 5 %, 12 cells decided"));
    // Both sides in the same rounds: the advice is not to do what was done.
    let cells = [("a", levels("pread", Some(4096)), 32.0), ("b", levels("mmap", None), 32.9)];
    let run = timed(&cells, 12, 0.0, 0.05, 3);
    let sides = ("old".to_owned(), "new".to_owned());
    let gate = Gate::of(compare_within(&run, &[(0, 1)], sides, &TERMS).unwrap());
    let said = gate.sentence();
    let whole = "No regression shown, none ruled out: a → b may be more than 2 % slower, or not. More rounds would show it.";
    assert_eq!(said, whole, "\"Of b it is not shown\" was nobody's sentence");
}

/// A baseline of another experiment was taken by its number, and the one cell that both had passed.
#[test]
fn a_baseline_of_another_experiment_is_refused_with_what_differs() {
    let (mut baseline, run) = (run(32.0, 41.0, 1), run(32.0, 41.0, 2));
    let levels = |blocks: &[u64]| blocks.iter().map(|b| serde_json::json!(b)).collect();
    let mut now = run.clone();
    baseline.experiment.factors.insert(iolab_model::catalog::Factor::Block, levels(&[65536]));
    now.experiment.factors.insert(iolab_model::catalog::Factor::Block, levels(&[4096, 65536]));
    let both = |terms: &Terms| compare_alike(&[baseline.clone()], &[now.clone()], terms);
    let error = both(&TERMS).unwrap_err();
    assert!(matches!(&error, Incomparable::Experiments(_)), "{error}");
    let said = error.to_string();
    assert!(said.contains("block 64 KiB against 4 KiB and 64 KiB"), "{said}");
    assert!(said.contains("record it with the same command"), "{said}");
    assert!(both(&Terms { anyway: true, ..TERMS }).is_ok());
    // Comparing is not judging.
    assert!(compare(&[baseline.clone()], &[now.clone()], &TERMS).is_ok());
    baseline.experiment.factors.clear();
    assert!(compare_alike(&[baseline], &[now], &TERMS).is_ok(), "another tool names no levels");
}

/// "write write/4Ki": the name of the workload stood before a method of that name.
#[test]
fn a_workload_is_named_once() {
    let of = |workload: &str, id: &str| {
        let mut run = run(32.0, 41.0, 1);
        run.experiment.workload = workload.into();
        run.cells[0].id = id.into();
        run
    };
    let side = || vec![of("write", "write/64Ki"), of("read", "pread/64Ki")];
    let c = compare(&side(), &side(), &TERMS).unwrap();
    let names: Vec<&str> = c.rows.iter().map(|row| row.cell.as_str()).collect();
    assert!(names.contains(&"write/64Ki") && names.contains(&"read pread/64Ki"), "{names:?}");
}

#[test]
fn the_gate_ends_with_its_verdict() {
    let home = Home::new();
    let store = Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]).unwrap();
    for doc in [run(32.0, 41.0, 1), run(32.1, 41.0, 2), run(45.0, 41.0, 3), run(33.5, 41.0, 4)] {
        store.insert(&doc).unwrap();
    }
    let other = with(run(32.0, 41.0, 5), "cpu.model", "Another CPU");
    let name = home.path("main.json");
    fs::write(&name, serde_json::to_string(&other).unwrap()).unwrap();
    let code = |arguments: &[&str]| {
        let mut all = vec!["gate"];
        all.extend(arguments);
        home.run(&all).code
    };
    assert_eq!(code(&["2", "--baseline", "1", "--worse", "10%"]), Some(0));
    assert_eq!(code(&["3", "--baseline", "1"]), Some(10));
    assert_eq!(code(&["4", "--baseline", "1"]), Some(0));
    assert_eq!(code(&["4", "--baseline", "1", "--undecided-fails"]), Some(11));
    home.run(&["gate", "4", "--baseline", "main.json"]).refused(12, &["cpu.model", "--anyway"]);
    assert_eq!(code(&["4", "--baseline", "main.json", "--anyway"]), Some(0));
    assert_eq!(code(&["1", "--pair", "pread/64Ki=mmap"]), Some(10));
    assert_eq!(code(&["1", "--pair", "mmap=pread/64Ki"]), Some(0));
    home.run(&["gate", "1"]).refused(2, &["--baseline", "--between"]);
    home.run(&["gate", "1", "--pair", "a=b"]).refused(2, &["pread/64Ki"]);
    home.run(&["gate", "1", "--between", "threads=1,2"]).refused(2, &["threads=OLD,NEW"]);
    home.run(&["gate", "1", "--between", "nothing"]).refused(2, &["no such axis"]);
    home.run(&["gate", "1", "--baseline", "99"]).refused(2, &["no run 99"]);
    let said = home.run(&["gate", "3", "--baseline", "1", "--format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    assert_eq!((json["gate"].as_str(), said.code), (Some("regression"), Some(10)));
    assert_eq!(json["regressed"][0], "pread/64Ki");
    // Compare has no verdict to end with.
    let said = home.run(&["compare", "1", "3"]).fine();
    assert!(said.plain().contains("1 clearly slower"), "{said:?}");
    home.run(&["compare", "1,2", "3,4"]).fine();
    home.run(&["compare", "1", "main.json"]).refused(12, &["cpu.model"]);
    home.run(&["compare", "1", "none.json"]).refused(2, &["none.json"]);
}
