//! Bounds that have the whole error where a claim asks for all of several things, and share it where it
//! asks for one of them; and what a study still waits for.

use crate::study_scene::{SIDES, True, block, ruled, run, study, two};
use Verdict::{Contradicted, Inconclusive, Replicated};
use iolab_model::catalog::{Factor, Level};
use iolab_study::{Evidence, Study, Verdict, judge, open_cells};

/// A trial of one tick is all user time or none, so that the middle of many trials says "none"
/// whatever their mean is. And of eight cells with little each, one with 3 % was called open, because
/// each of them shared the error that only the choice of one has to share.
#[test]
fn a_share_of_short_trials_is_that_of_their_mean() {
    let ruled = |share: &str, every: u32, trial_ns: f64| {
        let mut document = run(&[block(4096, trial_ns)]);
        for sample in &mut document.cells[0].samples {
            let m = &mut sample.measurement;
            m.user_ns = if sample.round % every == 0 { m.wall_ns } else { 0 };
        }
        let study = study(&format!(
            "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"negligible\"\nmeasure = \"user\"\nshare = \"{share}\""
        ));
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        judge(&study.claims[0], &evidence).verdict
    };
    assert_eq!(ruled("10%", 1000, 4e6), Replicated, "one tick of 80");
    assert_eq!(ruled("10%", 10, 4e6), Inconclusive, "a tenth");
    assert_eq!(ruled("10%", 3, 4e6), Contradicted, "a third, and the middle trial has none");
    let eight: Vec<True> = (0..8).map(|at| block(1024 + at, 3e7)).collect();
    let many = ruled_all("kind = \"negligible\"\nmeasure = \"user\"\nshare = \"10%\"", &eight, 36);
    assert_eq!(many, Replicated, "36 rounds of eight cells");
}

fn ruled_all(form: &str, cells: &[True], rounds: usize) -> Verdict {
    let mut document = run(cells);
    document.cells.iter_mut().for_each(|cell| cell.samples.truncate(rounds));
    let study = study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{form}"));
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    judge(&study.claims[0], &evidence).verdict
}

/// An advantage that is shown to be smaller than what iolab calls alike contradicts "faster"; an
/// interval that reaches beyond that says nothing.
#[test]
fn faster_by_less_than_what_matters_is_not_faster() {
    let claim = format!("kind = \"faster\"\n{SIDES}");
    let same = ruled(&claim, &two(1e6, 1e6));
    assert!(same.verdict == Contradicted && same.why.contains("less than 2 %"), "{same:?}");
    let slower = ruled(&claim, &two(1e6, 1.1e6));
    assert!(
        slower.verdict == Contradicted && slower.why == "here it is the other way round",
        "{slower:?}"
    );
    assert_eq!(ruled_all(&claim, &two(1e6, 1e6), 6), Inconclusive, "six rounds bound nothing");
}

/// Three of four levels are enough: so many shared the error that two were never enough to hold.
#[test]
fn levels_of_which_some_are_enough_share_the_error_of_the_rest() {
    let at = |size: u64, bytes: u64, ns: f64| {
        let (mut levels, ns) = block(bytes, ns);
        levels.push((Factor::FileSize, Level::Number(size)));
        (levels, ns)
    };
    let sizes = [4096, 65536, 1 << 20, 16 << 20];
    let cells: Vec<True> =
        sizes.iter().flat_map(|s| [at(*s, 65536, 1e6), at(*s, 4096, 2e6)]).collect();
    let each = format!("kind = \"faster\"\n{SIDES}\neach = \"file-size\"");
    // E(7, 7) = 31.9 is evidence of 1/α = 20, and E(8, 8) = 56.8 of 2/α.
    assert_eq!(ruled_all(&each, &cells, 7), Replicated);
    assert_eq!(ruled_all(&format!("{each}\nenough = 3"), &cells, 7), Inconclusive);
    assert_eq!(ruled_all(&format!("{each}\nenough = 3"), &cells, 8), Replicated);
}

/// What a study still waits for: the cells that its open claims name, and no others.
#[test]
fn the_cells_of_open_claims_are_those_wanted() {
    let at = |size: u64, bytes: u64, ns: f64| {
        let (mut levels, ns) = block(bytes, ns);
        levels.push((Factor::FileSize, Level::Number(size)));
        (levels, ns)
    };
    let cells = [
        at(4096, 65536, 1e6),
        at(4096, 4096, 1e6),
        at(65536, 65536, 1e6),
        at(65536, 4096, 1.02e6),
        at(65536, 1024, 9e6),
    ];
    let form = |rest: &str| {
        study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{rest}"))
    };
    let open = |study: &Study, rounds: usize| {
        let mut document = run(&cells);
        document.cells.iter_mut().for_each(|cell| cell.samples.truncate(rounds));
        document.environment.0.insert("cpu.count".into(), 2.into());
        open_cells(&study.claims.iter().collect::<Vec<_>>(), &document, 0.05)
    };
    let each = form(&format!(
        "kind = \"gains-nothing\"\ntolerance = \"2%\"\n{SIDES}\neach = \"file-size\""
    ));
    assert_eq!(open(&each, 12), [false, false, true, true, false], "the tolerance itself");
    assert_eq!(open(&each, 5), [true, true, true, true, false], "too few rounds");
    let cross = form(
        "kind = \"crossover\"\naxis = \"file-size\"\na = { block = \"4Ki\" }\nb = { block = \"64Ki\" }\nbetween = [\"64Ki\", \"1Mi\"]",
    );
    assert_eq!(open(&cross, 5), [false, false, true, true, false]);
    let lacking = form(&format!("kind = \"faster\"\n{SIDES}\nneeds = {{ processors = 5000 }}"));
    assert_eq!(open(&lacking, 5), [false; 5], "no round will bring processors");
}

/// Where files are drawn anew every twenty rounds there are four draws. A mean of ratios, each of two
/// ways of reading one file, has each file above the line and below it: eighty rounds, not four.
#[test]
fn files_that_cancel_are_no_unit() {
    let at = |size: u64, bytes: u64, ns: f64| {
        let (mut levels, ns) = block(bytes, ns);
        levels.push((Factor::FileSize, Level::Number(size)));
        (levels, ns)
    };
    let sizes = [4096, 65536];
    let cells: Vec<True> =
        sizes.iter().flat_map(|s| [at(*s, 65536, 1e6), at(*s, 4096, 2e6)]).collect();
    let ruled = |form: &str| {
        let mut document = run(&cells);
        document.experiment.protocol.epoch_rounds = 20;
        for sample in document.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
            sample.epoch = sample.round / 20;
        }
        let study = study(&format!(
            "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"faster\"\n{form}"
        ));
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        judge(&study.claims[0], &evidence).verdict
    };
    assert_eq!(ruled(&format!("{SIDES}\naverage = \"file-size\"")), Replicated);
    let apart = "a = { file-size = \"4Ki\", block = \"64Ki\" }\nb = { file-size = \"64Ki\", block = \"4Ki\" }";
    assert_eq!(ruled(apart), Inconclusive, "four draws");
}
