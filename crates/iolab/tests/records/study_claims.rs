//! Claims against synthetic runs whose truth is known, and what a study file may get wrong.

use std::collections::BTreeMap;

use iolab_agent::catalog;
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::{
    CellRecord, CellStatus, Digest, Document, Environment, ExperimentRecord, Measurement, Phase,
    Proof, ProtocolRecord, RunInfo, SCHEMA, Sample,
};
use iolab_model::spec::file::{Source, Words};
use iolab_run::fill_estimates;
use iolab_study::{Evidence, SHIPPED, Study, Verdict, judge, page, read, summary};
use iolab_study::{Page, Ruling};

const ROUNDS: u32 = 80;
const BYTES: u64 = 1 << 20;

fn words() -> Words<'static> {
    Words { workloads: catalog::WORKLOADS, parts: catalog::all() }
}

fn study(claims: &str) -> Study {
    let text = format!(
        r#"
title = "t"
summary = "s"
budget = "10s"
[[experiment]]
name = "e"
workload = "read"
[experiment.factors]
method = "read,mmap"
file-size = "4Ki,64Ki,1Mi,16Mi"
block = "1Ki,4Ki,64Ki,1Mi"
threads = "1,2"
{claims}
"#
    );
    let source = Source { name: "t.toml", text: &text };
    read("t", &source, words(), 1).unwrap_or_else(|error| panic!("{error}"))
}

/// A cell: its levels and its true time of a pass.
type True = (Vec<(Factor, Level)>, f64);

fn block(bytes: u64, ns: f64) -> True {
    (vec![(Factor::Method, Level::word("read")), (Factor::Block, Level::Number(bytes))], ns)
}

/// Samples around a cell's truth: the same noise for all in a round, and 1 % of each its own.
fn run(cells: &[True]) -> Document {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    let mut noise = move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 53) as f64 - 0.5
    };
    let common: Vec<f64> = (0..ROUNDS).map(|_| 0.2 * noise()).collect();
    let cells = cells.iter().enumerate().map(|(at, (levels, ns))| {
        let factors =
            levels.iter().fold(Levels::new(), |all, (f, level)| all.with(*f, level.clone()));
        let samples = (0..ROUNDS).map(|round| {
            let wall_ns = (ns * (common[round as usize] + 0.02 * noise()).exp()) as u64;
            let digest =
                Some(Digest { kind: "xor".into(), hex: "a7eeb2d9".into(), matches: Some(true) });
            Sample {
                round,
                position: at as u32,
                phase: Phase::Steady,
                epoch: round,
                measurement: Measurement {
                    wall_ns,
                    user_ns: wall_ns / 50,
                    system_ns: wall_ns / 2,
                    bytes: BYTES,
                    operations: 16,
                    repetitions: 1,
                    proof: Proof { digest, ..Proof::default() }.into(),
                    ..Measurement::default()
                },
                fault: None,
            }
        });
        CellRecord {
            id: format!("cell{at}"),
            factors,
            status: CellStatus::Measured,
            reason: None,
            samples: samples.collect(),
            estimate: None,
        }
    });
    let mut document = Document {
        schema: SCHEMA.into(),
        run: RunInfo::default(),
        environment: Environment::default(),
        experiment: ExperimentRecord {
            workload: "read".into(),
            directory: Default::default(),
            factors: BTreeMap::new(),
            ask: Vec::new(),
            protocol: ProtocolRecord {
                alpha: 0.05,
                delta: 0.02,
                eliminate: None,
                budget_ns: 0,
                rounds: None,
                cpus: Vec::new(),
                clock_resolution_ns: 1.0,
                clock_cost_ns: 30.0,
                epoch_rounds: 1,
                steady_rounds: ROUNDS,
                stopped: String::new(),
            },
        },
        cells: cells.collect(),
        twin: None,
        answers: Vec::new(),
        warnings: Vec::new(),
    };
    fill_estimates(&mut document);
    document
}

fn ruled(claim: &str, cells: &[True]) -> Ruling {
    let claim = format!("[[claim]]\nid = \"c\"\nsays = \"it\"\nexperiment = \"e\"\n{claim}\n");
    let study = study(&claim);
    let document = run(cells);
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    judge(&study.claims[0], &evidence)
}

fn verdict(claim: &str, cells: &[True]) -> Verdict {
    ruled(claim, cells).verdict
}

use Verdict::{Contradicted, Inconclusive, NotTested, Replicated};

#[test]
fn faster_and_by_how_much() {
    let claim = "kind = \"faster\"\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
    let fast = [block(4096, 2e6), block(65536, 1e6)];
    let slow = [block(4096, 1e6), block(65536, 2e6)];
    let same = [block(4096, 1e6), block(65536, 1e6)];
    assert_eq!(verdict(claim, &fast), Replicated);
    assert_eq!(verdict(claim, &slow), Contradicted);
    assert_eq!(verdict(claim, &same), Contradicted, "no difference that matters is none");
    assert_eq!(verdict(&format!("{claim}\nby = [1.5, 2.5]"), &fast), Replicated);
    assert_eq!(verdict(&format!("{claim}\nby = 3.0"), &fast), Contradicted);
    assert_eq!(verdict(&format!("{claim}\nby = [1.1, 1.5]"), &fast), Contradicted);
    let ruling = ruled(claim, &fast);
    let ratio = ruling.measured.unwrap();
    assert!((ratio.ratio - 2.0).abs() < 0.05 && ratio.interval.contains(2.0), "{ratio}");
}

#[test]
fn a_difference_that_cannot_be_seen_is_inconclusive() {
    let claim = "kind = \"faster\"\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
    let mut document = run(&[block(4096, 1.001e6), block(65536, 1e6)]);
    document.cells.iter_mut().for_each(|cell| cell.samples.truncate(4));
    let study = study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{claim}"));
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    assert_eq!(judge(&study.claims[0], &evidence).verdict, Inconclusive);
}

#[test]
fn fastest_among() {
    let claim = "kind = \"fastest\"\na = { block = \"4Ki,64Ki\" }";
    let cells = [block(1024, 3e6), block(4096, 1e6), block(65536, 2e6), block(1 << 20, 1.5e6)];
    assert_eq!(verdict(claim, &cells), Replicated);
    assert_eq!(verdict("kind = \"fastest\"\na = { block = \"64Ki\" }", &cells), Contradicted);
    let tie = [block(1024, 1e6), block(4096, 1e6)];
    assert_eq!(verdict("kind = \"fastest\"\na = { block = \"4Ki\" }", &tie), Inconclusive);
}

#[test]
fn ordered_along_an_axis() {
    let falling = "kind = \"ordered\"\naxis = \"block\"\ndirection = \"falling\"";
    let rising = "kind = \"ordered\"\naxis = \"block\"\ndirection = \"rising\"";
    let cells = [block(1024, 3e6), block(4096, 2e6), block(65536, 1e6)];
    assert_eq!(verdict(falling, &cells), Replicated);
    assert_eq!(verdict(rising, &cells), Contradicted);
    let dip = [block(1024, 3e6), block(4096, 1e6), block(65536, 2e6)];
    assert_eq!(verdict(falling, &dip), Contradicted);
}

#[test]
fn plateau_from() {
    let claim = "kind = \"plateau\"\naxis = \"block\"\nfrom = \"64Ki\"\ntolerance = \"10%\"";
    let cells = [block(1024, 3e6), block(4096, 2e6), block(65536, 1.01e6), block(1 << 20, 1e6)];
    assert_eq!(verdict(claim, &cells), Replicated);
    let later = [block(1024, 3e6), block(4096, 2e6), block(65536, 1.5e6), block(1 << 20, 1e6)];
    assert_eq!(verdict(claim, &later), Contradicted);
    let earlier = [block(1024, 3e6), block(4096, 1e6), block(65536, 1e6), block(1 << 20, 1e6)];
    assert_eq!(verdict(claim, &earlier), Contradicted);
}

#[test]
fn crossover_near() {
    let at = |method: &str, size: u64, ns: f64| {
        (vec![(Factor::FileSize, Level::Number(size)), (Factor::Method, Level::word(method))], ns)
    };
    let claim = "kind = \"crossover\"\naxis = \"file-size\"\na = { method = \"read\" }\nb = { method = \"mmap\" }";
    let sizes = [4096, 65536, 1 << 20, 16 << 20];
    let crossing = |last_of_read: u64| {
        let pair = |size: u64| {
            let read = if size <= last_of_read { 1e6 } else { 3e6 };
            [at("read", size, read), at("mmap", size, 2e6)]
        };
        sizes.into_iter().flat_map(pair).collect::<Vec<_>>()
    };
    let near = |size: &str| format!("{claim}\nnear = \"{size}\"");
    assert_eq!(verdict(&near("256Ki"), &crossing(65536)), Replicated);
    assert_eq!(verdict(&near("256Ki"), &crossing(1 << 20)), Contradicted);
    assert_eq!(verdict(&near("256Ki"), &crossing(1 << 30)), Contradicted, "read wins everywhere");
}

#[test]
fn equivalent_negligible_same_value_scales() {
    let equivalent = "kind = \"equivalent\"\na = { block = \"4Ki\" }\nb = { block = \"64Ki\" }\ntolerance = \"5%\"";
    assert_eq!(verdict(equivalent, &[block(4096, 1e6), block(65536, 1.01e6)]), Replicated);
    assert_eq!(verdict(equivalent, &[block(4096, 1e6), block(65536, 1.2e6)]), Contradicted);
    let share =
        |percent| format!("kind = \"negligible\"\nmeasure = \"user\"\nshare = \"{percent}%\"");
    assert_eq!(verdict(&share(5), &[block(4096, 1e6)]), Replicated);
    assert_eq!(verdict(&share(1), &[block(4096, 1e6)]), Contradicted);
    let same = "kind = \"same-value\"";
    assert_eq!(verdict(same, &[block(4096, 1e6), block(65536, 1e6)]), Replicated);
    assert_eq!(verdict(same, &[block(4096, 1e6)]), NotTested, "one cell agrees with itself");
    let threads = |threads: u64, ns: f64| (vec![(Factor::Threads, Level::Number(threads))], ns);
    let scales = "kind = \"scales\"\naxis = \"threads\"\nfrom = 1\nto = 2\nby = 1.5";
    assert_eq!(verdict(scales, &[threads(1, 2e6), threads(2, 1e6)]), Replicated);
    assert_eq!(verdict(scales, &[threads(1, 2e6), threads(2, 1.9e6)]), Contradicted);
}

#[test]
fn digests_that_differ_contradict() {
    let study =
        study("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"same-value\"");
    let mut document = run(&[block(4096, 1e6), block(65536, 1e6)]);
    for sample in &mut document.cells[1].samples {
        sample.measurement.proof.digest.as_mut().unwrap().hex = "00000000".into();
    }
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    let ruling = judge(&study.claims[0], &evidence);
    assert_eq!(ruling.verdict, Contradicted);
    assert!(ruling.why.contains("00000000") && ruling.why.contains("a7eeb2d9"), "{}", ruling.why);
}

#[test]
fn what_could_not_run_is_not_tested_with_its_reason() {
    let claim = "kind = \"faster\"\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
    let study = study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{claim}"));
    let refused =
        Evidence { runs: [("e".to_owned(), Err("no root".to_owned()))].into(), alpha: 0.05 };
    let ruling = judge(&study.claims[0], &refused);
    assert_eq!((ruling.verdict, ruling.why.as_str()), (NotTested, "no root"));
    let mut document = run(&[block(4096, 1e6), block(65536, 1e6)]);
    document.cells[1].status = CellStatus::Skipped;
    document.cells[1].reason = Some("io_uring is disabled".into());
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    let ruling = judge(&study.claims[0], &evidence);
    assert!(
        ruling.verdict == NotTested && ruling.why.contains("io_uring is disabled"),
        "{ruling:?}"
    );
    let text = summary(&study, &[ruling]);
    assert!(text.starts_with("t: 0 of 1 claims replicated, 1 not tested"), "{text}");
}

#[test]
fn a_thousand_cells_are_judged_while_one_waits() {
    let claims = "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"fastest\"\na = { block = \"4Ki\" }";
    let study = study(claims);
    let cells: Vec<True> = (0..1000).map(|at| block(4096 + at, 1e6 + at as f64 * 1e4)).collect();
    let document = run(&cells);
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    let rulings = [judge(&study.claims[0], &evidence)];
    assert_ne!(rulings[0].verdict, NotTested);
    let text = page(&Page {
        study: &study,
        rulings: &rulings,
        evidence: &evidence,
        left_out: &[],
        machine: "a machine",
    });
    assert!(text.contains("claims replicated") && text.contains("a machine"));
}

fn refused(claims: &str) -> String {
    let text = format!(
        "title = \"t\"\nsummary = \"s\"\nbudget = \"10s\"\n[[experiment]]\nname = \"e\"\nworkload = \"read\"\n[experiment.factors]\nblock = \"4Ki,64Ki\"\n{claims}\n"
    );
    let source = Source { name: "mine.toml", text: &text };
    let error = read("t", &source, words(), 1).unwrap_err().to_string();
    assert!(error.contains("mine.toml, line ") && error.contains('^'), "{error}");
    error
}

#[test]
fn what_is_wrong_is_shown_with_its_line() {
    let claim =
        |rest: &str| format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{rest}");
    for (written, told) in [
        (claim("kind = \"quicker\""), "no such kind"),
        (claim("kind = \"faster\"\na = { blok = \"4Ki\" }\nb = { block = \"4Ki\" }"), "no axis 'blok'"),
        (claim("kind = \"faster\"\na = { block = \"8Ki\" }\nb = { block = \"4Ki\" }"), "no cell with this block"),
        (claim("kind = \"faster\"\na = { block = \"4KB\" }\nb = { block = \"4Ki\" }"), "4KB"),
        (claim("kind = \"faster\"\nb = { block = \"4Ki\" }"), "'a' is missing"),
        (claim("kind = \"same-value\"\npublished = { a = 1.0, b = 2.0 }"), "no unit"),
        (claim("kind = \"same-value\"\nexperimnt = 1"), "no key 'experimnt'"),
        ("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"x\"\nkind = \"same-value\"".into(), "no such experiment"),
        ("[[table]]\nid = \"t\"\ntitle = \"t\"\nexperiment = \"e\"\nquantity = \"mean-ms\"\ncolumns = [{ label = \"a\" }]\nrows = [{ label = \"r\" }]\nvalues = [[1.0, 2.0]]".into(), "2 figures for 1 columns"),
        ("[[table]]\nid = \"t\"\ntitle = \"t\"\nexperiment = \"e\"\ncolumns = [{ label = \"a\" }]\nrows = [{ label = \"r\" }]\nvalues = [[1.0]]".into(), "no unit"),
    ] {
        let error = refused(&written);
        assert!(error.contains(told), "{told}: {error}");
    }
}

#[test]
fn the_shipped_studies_are_well_formed() {
    let words = words();
    for (name, text) in SHIPPED {
        let source = Source { name, text };
        let study = read(name, &source, words, 1).unwrap_or_else(|error| panic!("{error}"));
        assert!(study.claims.len() >= 3, "{name}");
        let mut ids: Vec<&str> = study.claims.iter().map(|c| c.id.as_str()).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), study.claims.len(), "{name}: two claims have one id");
    }
}
