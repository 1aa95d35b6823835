//! Verdicts rest on what answers rest on, and plots show what the study's own pictures show.

use std::time::Instant;

use crate::study_scene::{ROUNDS, SIDES, True, block, run, run_seeded, study, two, verdict};
use Verdict::{Contradicted, Inconclusive, NotTested, Replicated};
use iolab_model::catalog::{Code, Factor, Level, Levels};
use iolab_model::result::{Answer, AnswerKind, Document, Grade, Regret};
use iolab_study::{Evidence, Ruling, Study, Verdict, judge, plot_csv, svg};

fn claim(form: &str) -> Study {
    study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{form}"))
}

fn judged(study: &Study, document: &Document) -> Ruling {
    let evidence = Evidence { runs: [("e".to_owned(), Ok(document))].into(), alpha: 0.05 };
    judge(&study.claims[0], &evidence)
}

/// An answer with these bounds, whatever the samples say.
fn answer(kind: AnswerKind, regrets: &[(&str, f64, f64, bool)]) -> Answer {
    let regret = regrets.iter().map(|(cell, low, high, excluded)| Regret {
        cell: (*cell).into(),
        low: *low,
        high: Some(*high),
        excluded: *excluded,
    });
    Answer {
        condition: Default::default(),
        kind,
        best: Vec::new(),
        pick: None,
        regret: regret.collect(),
        findings: Vec::new(),
        grade: Grade::A,
        raise: None,
        sentence: "the clock was set".into(),
        rounds: ROUNDS,
        detectable: None,
        more_seconds: None,
        warnings: Vec::new(),
        comparisons: Vec::new(),
    }
}

/// A verdict is judged from the rounds of its own sides, with the whole error for each bound: the
/// answer of the run bounds all of its cells at once, and is wider. What the run calls unsound says
/// nothing, and no page may say more.
#[test]
fn a_verdict_is_that_of_the_rounds_and_an_unsound_answer_says_nothing() {
    let faster = format!("kind = \"faster\"\n{SIDES}");
    let mut document = run(&two(2e6, 1e6));
    let wide = answer(AnswerKind::Tie, &[("cell1", 1.0, 1.0, false), ("cell0", 1.0, 3.0, false)]);
    document.answers = vec![wide];
    let ruling = judged(&claim(&faster), &document);
    let interval = ruling.measured.unwrap().interval;
    assert!(ruling.verdict == Replicated && interval.low.unwrap() > 1.9, "{ruling:?}");
    document.answers = vec![answer(AnswerKind::Invalid, &[])];
    let ruling = judged(&claim(&faster), &document);
    assert!(ruling.verdict == NotTested && ruling.why.contains("the clock was set"), "{ruling:?}");
    // The answer of other cells is no matter of this claim.
    let elsewhere = Levels::new().with(Factor::Threads, Level::Number(64));
    document.answers[0].condition = elsewhere;
    assert_eq!(judged(&claim(&faster), &document).verdict, Replicated);
}

/// The bounds of the best of a side follow from those of all cells, whichever is the best.
#[test]
fn the_best_of_each_side_has_the_bounds_of_all() {
    let cells = [block(1024, 3e6), block(4096, 1e6), block(65536, 2e6), block(1 << 20, 2.2e6)];
    let sides = "a = { block = \"1Ki,4Ki\" }\nb = { block = \"64Ki,1Mi\" }";
    let by = |range: &str| verdict(&format!("kind = \"faster\"\n{sides}\nby = {range}"), &cells);
    assert_eq!(by("[1.8, 2.2]"), Replicated);
    assert_eq!(by("[2.3, 3.0]"), Contradicted);
    assert_eq!(by("[2.0, 3.0]"), Inconclusive);
    let turned = "a = { block = \"64Ki,1Mi\" }\nb = { block = \"1Ki,4Ki\" }";
    let nothing = format!("kind = \"gains-nothing\"\n{turned}\ntolerance = \"10%\"");
    assert_eq!(verdict(&nothing, &cells), Replicated, "it even costs time");
}

/// Six equal cells: one that is called the fastest, or that a buffer gains over the others, is wrong.
#[test]
fn equal_cells_are_not_told_apart() {
    let forms = [
        "kind = \"fastest\"\na = { threads = 1, block = \"4Ki\" }",
        "kind = \"faster\"\na = { block = \"1Ki,4Ki\" }\nb = { block = \"64Ki,1Mi\" }",
        "kind = \"order\"\nsides = [{ block = \"1Ki\" }, { block = \"4Ki\" }, { block = \"64Ki\" }]",
    ];
    let at = |bytes: u64, threads: u64| -> True {
        let (mut levels, ns) = block(bytes, 1e6);
        levels.push((Factor::Threads, Level::Number(threads)));
        (levels, ns)
    };
    let cells: Vec<True> =
        [1024, 4096, 65536, 1 << 20].iter().flat_map(|b| [at(*b, 1), at(*b, 2)]).collect();
    for form in forms {
        let study = claim(form);
        let shown = |seed: &u64| {
            let document = run_seeded(&cells, seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
            judged(&study, &document).verdict == Replicated
        };
        let wrong = (1..=100u64).filter(shown).count();
        assert!(wrong <= 11, "{form}: {wrong} of 100");
    }
}

/// Where cells have files of their own, drawn anew every twenty rounds, there are four draws and no
/// eighty: too few to say anything. A cold trial takes new pages each time.
#[test]
fn the_unit_is_the_renewal_where_files_are_their_own() {
    let size = |bytes: u64, ns: f64, cache: &str| {
        let cache = (Factor::Cache, Level::word(cache));
        (vec![(Factor::FileSize, Level::Number(bytes)), cache], ns)
    };
    let form = "kind = \"faster\"\na = { file-size = \"4Ki\" }\nb = { file-size = \"64Ki\" }";
    let ruled = |cache: &str| {
        let mut document = run(&[size(4096, 1e6, cache), size(65536, 1.2e6, cache)]);
        document.experiment.protocol.epoch_rounds = 20;
        for sample in document.cells.iter_mut().flat_map(|cell| &mut cell.samples) {
            sample.epoch = sample.round / 20;
        }
        judged(&claim(form), &document).verdict
    };
    assert_eq!(ruled("warm"), Inconclusive);
    assert_eq!(ruled("cold"), Replicated);
}

/// A trial of one byte at a time does a part of the file, one of 64 KiB all of it: whatever a trial
/// costs once weighs more in the shorter one. Cells of equal price were told apart so.
#[test]
fn parts_of_unequal_length_are_told_apart_by_much_alone() {
    let faster = format!("kind = \"faster\"\n{SIDES}");
    let ruled = |slow_ns: f64| {
        let mut document = run(&two(slow_ns, 1e6));
        for sample in &mut document.cells[0].samples {
            sample.measurement.flags.push(Code::Bounded);
            sample.measurement.flags.push(Code::UnequalWork);
            sample.measurement.bytes /= 1024;
            sample.measurement.wall_ns /= 1024;
        }
        judged(&claim(&faster), &document)
    };
    let little = ruled(1.2e6);
    assert!(little.verdict != Replicated && little.why.contains("30 %"), "{little:?}");
    let much = ruled(5e6);
    let interval = much.measured.unwrap().interval;
    assert!(much.verdict == Replicated && interval.low.unwrap() < 5.0 / 1.25, "{much:?}");
    let every = format!("{faster}\nchoice = \"every\"");
    let mut plain = run(&two(1.2e6, 1e6));
    assert_eq!(judged(&claim(&every), &plain).verdict, Replicated);
    plain.cells[0].samples.iter_mut().for_each(|s| s.measurement.bytes += 1);
    assert!(!judged(&claim(&every), &plain).why.contains("30 %"), "nothing was cut short");
}

/// Four times the cells may take as long as their pairs, and no longer.
#[test]
fn judging_grows_no_faster_than_the_pairs() {
    let study = claim("kind = \"fastest\"\na = { block = \"4Ki\" }");
    let took = |cells: u64| {
        let cells: Vec<True> =
            (0..cells).map(|at| block(4096 + at, 1e6 + at as f64 * 1e4)).collect();
        let document = run(&cells);
        let once = || {
            let begun = Instant::now();
            assert_ne!(judged(&study, &document).verdict, NotTested);
            begun.elapsed()
        };
        (0..3).map(|_| once()).min().unwrap()
    };
    let (few, many) = (took(250), took(1000));
    eprintln!("250 cells are judged in {few:?}, 1000 in {many:?}");
    assert!(many < few * 40, "250 cells in {few:?}, 1000 in {many:?}");
}

#[test]
fn a_plot_has_words_along_its_axis_lines_of_two_kinds_or_points_alone() {
    let plot = |rest: &str| {
        study(&format!(
            "[[plot]]\nid = \"p\"\ntitle = \"t\"\nwhere = \"w\"\nexperiment = \"e\"\nquantity = \"elapsed-s\"\n{rest}"
        ))
    };
    let by = |method: &str, bytes: u64, ns: f64| {
        (vec![(Factor::Method, Level::word(method)), (Factor::Block, Level::Number(bytes))], ns)
    };
    let document = run(&[
        by("read", 4096, 4e6),
        by("read", 65536, 2e6),
        by("mmap", 4096, 3e6),
        by("mmap", 65536, 1e6),
    ]);
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    let words = plot("along = \"method\"\nlines = \"block\"");
    let csv = plot_csv(&words.plots[0], &evidence);
    let names: Vec<&str> = csv.lines().skip(1).filter_map(|line| line.split(',').next()).collect();
    assert_eq!(names, ["mmap", "read", "mmap", "read"], "{csv}");
    let drawn = svg(&words.plots[0], &evidence).unwrap();
    assert!(
        !drawn.contains("<polyline") && drawn.contains(">mmap<"),
        "nothing lies between: {drawn}"
    );
    let sizes = plot("along = \"block\"\nlines = \"method\"");
    let drawn = svg(&sizes.plots[0], &evidence).unwrap();
    assert_eq!(drawn.matches("<polyline").count(), 2, "{drawn}");
    // A cell that lacks the first factor has its line by the second: dd beside the loop of read.
    let both = plot("along = \"block\"\nlines = [\"contender\", \"method\"]\nscatter = true");
    let drawn = svg(&both.plots[0], &evidence).unwrap();
    assert!(drawn.matches("<circle").count() == 4 && !drawn.contains("<polyline"), "{drawn}");
}
