//! Claims against synthetic runs whose truth is known, and what a study file may get wrong.

use crate::study_scene::{SIDES, True, block, ruled, run, run_seeded, study, two, verdict, words};
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellStatus, Document};
use iolab_model::spec::file::Source;
use iolab_study::{
    Checked, Evidence, Page, SHIPPED, Side, Verdict, beside, check, judge, page, read, summary,
};

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
    // The interval is judged and not its middle: across a bound it shows neither.
    assert_eq!(verdict(&format!("{claim}\nby = [1.5, 2.0]"), &fast), Inconclusive);
    assert_eq!(verdict(&format!("{claim}\nby = 2.0"), &fast), Inconclusive);
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
    let tied = ruled("kind = \"fastest\"\na = { block = \"4Ki\" }", &tie);
    assert!(tied.verdict == Contradicted && tied.why.contains("calls alike"), "{tied:?}");
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
    // What is slower before it is not asked: "64 KiB is good enough" holds here too.
    assert_eq!(verdict(claim, &earlier), Replicated);
    let across = [block(4096, 2e6), block(65536, 1.1e6), block(1 << 20, 1e6)];
    assert_eq!(verdict(claim, &across), Inconclusive);
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
    let between = |from: &str, to: &str| format!("{claim}\nbetween = [\"{from}\", \"{to}\"]");
    assert_eq!(verdict(&between("64Ki", "1Mi"), &crossing(65536)), Replicated);
    assert_eq!(verdict(&between("128Ki", "1Mi"), &crossing(65536)), Inconclusive, "across");
    assert_eq!(verdict(&between("1Mi", "16Mi"), &crossing(65536)), Contradicted);
    // Older files name a place and a factor.
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
    assert_eq!(verdict(&share(5), &[block(4096, 3e7)]), Replicated);
    assert_eq!(verdict(&share(1), &[block(4096, 3e7)]), Contradicted);
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
    // The verdict on the whole stands last, where the eye is.
    let lines = summary(&study, &[ruling]);
    assert_eq!(lines.last().unwrap().1, "t: 0 of 1 claims replicated, 1 not tested");
    assert!(lines[0].0.trim() == "not tested" && lines[0].1 == "s", "{lines:?}");
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
        charts: &[],
    });
    assert!(text.contains("claims replicated") && text.contains("a machine"));
}

fn refused(claims: &str) -> String {
    let text = format!(
        "title = \"t\"\nsummary = \"s\"\nbudget = \"10s\"\n[[experiment]]\nname = \"e\"\nworkload = \"read\"\n[experiment.factors]\nblock = \"4Ki,64Ki\"\n{claims}\n"
    );
    let source = Source { name: "mine.toml", text: &text };
    let error = read("t", &source, words(), 1).unwrap_err().to_string();
    let told = error.contains("mine.toml, line ") && error.contains(", column ");
    assert!(told && error.contains('^'), "{error}");
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
        (claim("kind = \"order\"\nsides = [{ block = \"4Ki\" }]"), "two sides or more"),
        (claim("kind = \"untested\""), "what it would take"),
        (claim("kind = \"same-value\"\neach = \"block\"\naverage = \"block\""), "take one away"),
        (claim("kind = \"faster\"\na = { block = \"4Ki\" }\nb = { block = \"64Ki\" }\nby = [3.0, 2.0]"), "no range"),
        (claim("kind = \"difference\"\na = { block = \"4Ki\" }\nb = { block = \"64Ki\" }\nmost = \"1\""), "unit is missing"),
        ("[[fact]]\nsays = \"f\"\nvalue = 3".into(), "no unit"),
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

#[test]
fn a_difference_in_time_is_judged_by_its_interval() {
    // 16 operations a pass: 1 ms a pass apart are 62.5 µs an operation.
    let claim = |most: &str| {
        format!("kind = \"difference\"\n{SIDES}\nper = \"operation\"\nmost = \"{most}\"")
    };
    assert_eq!(verdict(&claim("100us"), &two(2e6, 1e6)), Replicated);
    assert_eq!(verdict(&claim("40us"), &two(2e6, 1e6)), Contradicted);
    assert_eq!(verdict(&claim("62us"), &two(2e6, 1e6)), Inconclusive);
    // A hundred times slower and yet less than a millisecond: the claim is about the millisecond.
    let ruling = ruled(&claim("1ms"), &two(1e6, 1e4));
    assert!(ruling.verdict == Replicated && ruling.why.contains("1.00 ms"), "{ruling:?}");
}

#[test]
fn gains_nothing_holds_where_it_costs_time() {
    let claim = format!("kind = \"gains-nothing\"\n{SIDES}\ntolerance = \"10%\"");
    assert_eq!(verdict(&claim, &two(1e6, 1.4e6)), Replicated, "it even costs time");
    assert_eq!(verdict(&claim, &two(1e6, 1e6)), Replicated);
    assert_eq!(verdict(&claim, &two(1.1e6, 1e6)), Inconclusive, "the tolerance itself");
    assert_eq!(verdict(&claim, &two(1.5e6, 1e6)), Contradicted);
}

#[test]
fn a_gain_against_a_gain() {
    let at = |bytes: u64, threads: u64, ns: f64| {
        let (mut levels, ns) = block(bytes, ns);
        levels.push((Factor::Threads, Level::Number(threads)));
        (levels, ns)
    };
    let claim = "kind = \"gains-less\"\na = { threads = 2 }\nb = { threads = 1 }\nat = { block = \"4Ki\" }\nthan = { block = \"64Ki\" }";
    let cells = |small: f64, large: f64| {
        [at(4096, 1, small * 1e6), at(4096, 2, 1e6), at(65536, 1, large * 1e5), at(65536, 2, 1e5)]
    };
    assert_eq!(verdict(claim, &cells(1.5, 2.5)), Replicated);
    assert_eq!(verdict(claim, &cells(2.5, 1.5)), Contradicted);
    assert_eq!(verdict(claim, &cells(2.0, 2.0)), Contradicted, "it gains as much");
    assert_eq!(verdict(claim, &cells(2.0, 2.04)), Replicated, "a little less is less");
}

#[test]
fn a_share_of_several_cells() {
    // Of the elapsed time a half is system time, a fiftieth user time.
    let claim = |measure: &str, share: &str| {
        format!("kind = \"share\"\nmeasure = \"{measure}\"\nshare = {share}")
    };
    let cells = [block(1024, 3e7), block(4096, 4e7), block(65536, 5e7)];
    assert_eq!(verdict(&claim("system", "\"40%\""), &cells), Replicated);
    assert_eq!(verdict(&claim("system", "\"60%\""), &cells), Contradicted);
    assert_eq!(verdict(&claim("system", "[\"10%\", \"30%\"]"), &cells), Contradicted);
    assert_eq!(verdict(&claim("user", "[\"1%\", \"3%\"]"), &cells), Replicated);
    // One cell in which it does not hold is enough.
    let mut document = run(&cells);
    for sample in &mut document.cells[2].samples {
        sample.measurement.system_ns = sample.measurement.wall_ns / 10;
    }
    let study = study(&format!(
        "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{}",
        claim("system", "\"40%\"")
    ));
    let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
    let ruling = judge(&study.claims[0], &evidence);
    assert!(ruling.verdict == Contradicted && ruling.why.contains("cell2"), "{ruling:?}");
}

#[test]
fn an_order_of_several() {
    let claim = "kind = \"order\"\nsides = [{ block = \"64Ki\" }, { block = \"4Ki\" }, { block = \"1Ki\" }]";
    let cells = |x: f64, y: f64, z: f64| [block(65536, x), block(4096, y), block(1024, z)];
    assert_eq!(verdict(claim, &cells(1e6, 2e6, 3e6)), Replicated);
    assert_eq!(verdict(claim, &cells(1e6, 3e6, 2e6)), Contradicted);
    assert_eq!(verdict(claim, &cells(1e6, 2e6, 2e6)), Contradicted, "no faster is not faster");
    assert_eq!(verdict(claim, &cells(1e6, 2e6, 2.04e6)), Replicated, "a little faster is faster");
}

#[test]
fn linear_in_size() {
    let size = |bytes: u64, ns: f64| (vec![(Factor::FileSize, Level::Number(bytes))], ns);
    let claim = "kind = \"linear\"\naxis = \"file-size\"\ntolerance = \"10%\"";
    let run_of = |last_ns: f64| {
        let mut document = run(&[size(4096, 1e6), size(65536, 16e6), size(1 << 20, last_ns)]);
        for (cell, passes) in document.cells.iter_mut().zip([1, 16, 256]) {
            cell.samples.iter_mut().for_each(|s| s.measurement.bytes = 4096 * passes);
        }
        document
    };
    let study = study(&format!("[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\n{claim}"));
    let judged = |last_ns: f64| {
        let document = run_of(last_ns);
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        judge(&study.claims[0], &evidence).verdict
    };
    assert_eq!(judged(256e6), Replicated);
    assert_eq!(judged(256e6 * 1.1), Inconclusive, "the tolerance itself");
    assert_eq!(judged(256e6 * 1.5), Contradicted);
}

#[test]
fn each_level_or_enough_of_them_or_their_mean() {
    let at = |size: u64, bytes: u64, ns: f64| {
        let (mut levels, ns) = block(bytes, ns);
        levels.push((Factor::FileSize, Level::Number(size)));
        (levels, ns)
    };
    let sizes = [4096, 65536, 1 << 20, 16 << 20];
    // 64 KiB is twice as fast at so many of the four sizes, and half as fast at the rest.
    let cells = |good: usize| -> Vec<True> {
        let pair = |(n, size): (usize, u64)| {
            [at(size, 65536, if n < good { 1e6 } else { 4e6 }), at(size, 4096, 2e6)]
        };
        sizes.into_iter().enumerate().flat_map(pair).collect()
    };
    let each = format!("kind = \"faster\"\n{SIDES}\neach = \"file-size\"");
    assert_eq!(verdict(&each, &cells(4)), Replicated);
    assert_eq!(verdict(&each, &cells(3)), Contradicted);
    let ruling = ruled(&format!("{each}\nenough = 3"), &cells(3));
    assert!(ruling.verdict == Replicated && ruling.why.contains("16 MiB"), "{ruling:?}");
    assert_eq!(verdict(&format!("{each}\nenough = 3"), &cells(2)), Contradicted);
    let mean = format!("kind = \"faster\"\n{SIDES}\naverage = \"file-size\"");
    let ruling = ruled(&mean, &cells(3));
    // 2, 2, 2 and ½: the mean of the logarithms is √2.
    let ratio = ruling.measured.unwrap().ratio;
    assert!(ruling.verdict == Replicated && (ratio - 2f64.sqrt()).abs() < 0.03, "{ruling:?}");
}

#[test]
fn every_one_of_a_side_or_the_best() {
    let cells = [block(1024, 1e6), block(4096, 3e6), block(65536, 2e6)];
    let sides = "kind = \"faster\"\na = { block = \"1Ki,4Ki\" }\nb = { block = \"64Ki\" }";
    assert_eq!(verdict(sides, &cells), Replicated, "the best of them is");
    assert_eq!(verdict(&format!("{sides}\nchoice = \"every\""), &cells), Contradicted);
}

/// The best of three equal cells against an equal fourth one: chosen on the data and then tested as
/// if it had been given, it would win far too often.
#[test]
fn a_choice_on_the_data_is_allowed_for() {
    let text = "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"faster\"\na = { block = \"1Ki,4Ki,64Ki\" }\nb = { block = \"1Mi\" }";
    let study = study(text);
    let mut wrong = 0;
    for seed in 1..=200u64 {
        let cells = [1024, 4096, 65536, 1 << 20].map(|bytes| block(bytes, 1e6));
        let document = run_seeded(&cells, seed.wrapping_mul(0x2545_f491_4f6c_dd1d));
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        let verdict = judge(&study.claims[0], &evidence).verdict;
        wrong += usize::from(verdict == Replicated);
    }
    assert!(wrong <= 18, "{wrong} of 200 equal cells were called faster");
}

#[test]
fn what_a_machine_lacks_is_named() {
    let claim = |needs: &str| {
        format!(
            "[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = \"e\"\nkind = \"faster\"\n{SIDES}\nneeds = {{ {needs} }}"
        )
    };
    let judged = |needs: &str| {
        let study = study(&claim(needs));
        let mut document = run(&two(2e6, 1e6));
        document.environment.0.insert("cpu.count".into(), 2.into());
        document.environment.0.insert("memory.total_bytes".into(), (1u64 << 30).into());
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        judge(&study.claims[0], &evidence)
    };
    assert_eq!(judged("processors = 2").verdict, Replicated);
    for (needs, told) in [
        ("processors = 4", "needs 4 processors, and here are 2"),
        ("memory = \"2Gi\"", "needs 2 GiB of memory, and here are 1 GiB"),
        ("file-system = \"jfs\"", "needs jfs"),
        ("also = \"a tape\"", "needs a tape"),
    ] {
        let ruling = judged(needs);
        assert!(ruling.verdict == NotTested && ruling.why.contains(told), "{ruling:?}");
    }
}

#[test]
fn the_first_experiment_that_was_run_judges() {
    let text = "[[experiment]]\nname = \"large\"\nworkload = \"read\"\nfull = true\n[experiment.factors]\nmethod = \"read\"\nblock = \"4Ki,64Ki\"\n[[claim]]\nid = \"c\"\nsays = \"s\"\nexperiment = [\"large\", \"e\"]\nkind = \"faster\"\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
    let study = study(text);
    let (small, large) = (run(&two(2e6, 1e6)), run(&two(1e6, 2e6)));
    let judged = |large: Result<&Document, String>| {
        let runs = [("large".to_owned(), large), ("e".to_owned(), Ok(&small))].into();
        judge(&study.claims[0], &Evidence { runs, alpha: 0.05 }).verdict
    };
    assert_eq!(judged(Ok(&large)), Contradicted);
    assert_eq!(judged(Err("it belongs to the full setting".into())), Replicated);
}

fn checked(rest: &str) -> Checked {
    let text = format!(
        "title = \"t\"\nsummary = \"s\"\nbudget = \"10s\"\n[[experiment]]\nname = \"e\"\nworkload = \"read\"\n[experiment.factors]\nmethod = \"read,mmap\"\ncache = \"cold,warm\"\nblock = \"4Ki,64Ki,1Mi\"\nthreads = \"1,2\"\n{rest}\n"
    );
    let source = Source { name: "mine.toml", text: &text };
    check("t", &source, words(), 1).unwrap_or_else(|error| panic!("{error}"))
}

fn said(says: &str, test: &str) -> Vec<String> {
    let claim = format!(
        "[[claim]]\nid = \"c\"\nsays = \"{says}\"\nwhere = \"w\"\nexperiment = \"e\"\n{test}"
    );
    checked(&claim).wrong.iter().map(ToString::to_string).collect()
}

#[test]
fn a_sentence_and_its_test_that_part_are_told() {
    let faster = "kind = \"faster\"\nof = { cache = \"warm\" }\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }\nby = [2.0, 3.0]";
    let good = "with a warm cache 64 KiB are faster than 4 KiB, 2 to 3 times";
    assert_eq!(said(good, faster), Vec::<String>::new());
    for (says, told) in [
        ("64 KiB are faster than 4 KiB, 2 to 3 times", "the test holds cache warm"),
        (
            "with a cold cache, not a warm one, 64 KiB are faster than 4 KiB, 2 to 3 times",
            "names cache cold",
        ),
        ("with a warm cache 64 KiB are faster than 4 KiB and 1 MiB, 2 to 3 times", "names 1 MiB"),
        ("with a warm cache 64 KiB are faster, 2 to 3 times", "the test holds block 4 KiB"),
        ("with a warm cache 64 KiB are faster than 4 KiB, twice", "the test holds factor 3"),
        ("with a warm cache 64 KiB are faster than 4 KiB, 2 to 3 times, by 10 %", "names 10 %"),
        (
            "with a warm cache 64 KiB are slower than 4 KiB, 2 to 3 times",
            "says slower, and the test asks for faster",
        ),
    ] {
        let found = said(says, faster);
        assert!(found.iter().any(|f| f.contains(told)), "{told}: {found:?}");
        assert!(
            found[0].contains("mine.toml, line 14, column 8") && found[0].contains('^'),
            "{found:?}"
        );
    }
    let measure = "kind = \"negligible\"\nmeasure = \"user\"\nshare = \"10%\"";
    assert!(said("it is at most 10 %", measure)[0].contains("user time"));
    assert_eq!(said("user time is at most 10 %", measure), Vec::<String>::new());
}

#[test]
fn figures_that_contradict_each_other_are_told() {
    let table = |speed: f64, slip: &str| {
        format!(
            "[[table]]\nid = \"t\"\ntitle = \"t\"\nwhere = \"w\"\nrepetitions = \"one run\"\nexperiment = \"e\"\nbytes = \"5Gi\"\ncolumns = [{{ label = \"cost\", quantity = \"elapsed-s\" }}, {{ label = \"speed\", quantity = \"mib-per-s\" }}]\nrows = [{{ label = \"1\" }}]\nvalues = [[15.54, {speed}]]\n{slip}"
        )
    };
    let wrong = |text: &str| -> Vec<String> {
        checked(text).wrong.iter().map(ToString::to_string).collect()
    };
    assert_eq!(wrong(&table(329.0, "")), Vec::<String>::new());
    let found = wrong(&table(369.0, ""));
    assert!(found.len() == 1 && found[0].contains("329.5 MiB/s"), "{found:?}");
    assert!(found[0].contains("line 21, column 19"), "{found:?}");
    let slip = "slip = [{ row = \"1\", column = \"speed\", note = \"a slip\" }]";
    assert_eq!(wrong(&table(369.0, slip)), Vec::<String>::new());
    let claim = |figures: &str| {
        format!(
            "[[claim]]\nid = \"c\"\nsays = \"64 KiB are faster than 4 KiB\"\nwhere = \"w\"\nexperiment = \"e\"\nkind = \"faster\"\n{SIDES}\npublished = {{ {figures} }}"
        )
    };
    let found = wrong(&claim("a = 66, b = 114, unit = \"s\", ratio = 1.49"));
    assert!(found.len() == 1 && found[0].contains("1.727"), "{found:?}");
    assert!(found[0].contains("line 20, column 44"), "{found:?}");
    assert_eq!(wrong(&claim("a = 66, b = 114, unit = \"s\", ratio = 1.73")), Vec::<String>::new());
    // Of speeds the larger is the faster.
    assert_eq!(
        wrong(&claim("a = 5300, b = 2100, unit = \"MiB/s\", ratio = 2.52")),
        Vec::<String>::new()
    );
    let both = format!("{}\n{}", table(329.0, ""), claim("a = 66, b = 329, unit = \"s\""));
    let found = wrong(&both);
    assert!(found.len() == 1 && found[0].contains("66 stands in no table"), "{found:?}");
    let fact = |value: f64| {
        format!(
            "[[fact]]\nsays = \"f\"\nvalue = {value}\nunit = \"%\"\nfrom = {{ better = 0.0049, than = 0.0105 }}"
        )
    };
    assert_eq!(wrong(&fact(53.33)), Vec::<String>::new());
    assert!(wrong(&fact(43.33))[0].contains("53.33"));
}

#[test]
fn one_study_from_two_machines() {
    let text = "[[claim]]\nid = \"c\"\nsays = \"64 KiB is faster\"\nexperiment = \"e\"\nkind = \"faster\"\na = { block = \"64Ki\" }\nb = { block = \"4Ki\" }";
    let study = study(text);
    let side = |name: &str, cells: &[True]| {
        let document = run(cells);
        let evidence = Evidence { runs: [("e".to_owned(), Ok(&document))].into(), alpha: 0.05 };
        let rulings = study.claims.iter().map(|c| judge(c, &evidence)).collect();
        Side { name: name.into(), machine: format!("machine {name}"), rulings }
    };
    let (fast, faster, slow) =
        (side("A", &two(2e6, 1e6)), side("B", &two(4e6, 1e6)), side("C", &two(1e6, 2e6)));
    let page = beside(&study, &fast, &slow);
    assert!(page.contains("**another verdict**") && page.contains("1 of 1 claims"), "{page}");
    assert!(beside(&study, &fast, &faster).contains("another ratio"));
    assert!(beside(&study, &fast, &fast).contains("| same |"));
}

#[test]
fn the_example_of_the_documentation_is_right() {
    let page = include_str!("../../../../docs/studies.md");
    let text = page.split("```toml\n").nth(1).unwrap().split("```").next().unwrap();
    let source = Source { name: "mine.toml", text };
    let Checked { study, wrong, missing } = check("mine", &source, words(), 1).unwrap();
    assert!(wrong.is_empty() && missing.is_empty(), "{wrong:?} {missing:?}");
    // 5300 against 2100 MiB/s: of speeds the larger is the faster.
    let ratio = study.claims[0].published.as_ref().unwrap().ratio().unwrap();
    assert!((ratio - 2.52).abs() < 0.01, "{ratio}");
}

/// The full setting of a study ended before its first steady round, and nine claims were "not tested"
/// that the default setting beside it had the rounds for.
#[test]
fn the_first_experiment_with_a_steady_round_judges() {
    let measured = iolab_test::documents::winner();
    let mut barely = measured.clone();
    for cell in &mut barely.cells {
        cell.samples.retain(|sample| sample.phase != iolab_model::result::Phase::Steady);
    }
    let names = ["published".to_owned(), "default".to_owned()];
    let asked = |first, second| {
        let runs = names.iter().cloned().zip([first, second]).collect();
        Evidence { runs, alpha: 0.05 }.run(&names)
    };
    let none = || Err("not here".to_owned());
    assert!(std::ptr::eq(asked(Ok(&barely), Ok(&measured)).unwrap(), &measured));
    assert!(std::ptr::eq(asked(Ok(&measured), Ok(&barely)).unwrap(), &measured));
    assert!(std::ptr::eq(asked(Ok(&barely), none()).unwrap(), &barely));
    assert_eq!(asked(none(), none()), none());
}
