//! The shipped studies as files: every figure as published, and what can be recomputed of it.

use iolab_model::catalog::{Factor, Level};
use iolab_model::spec::file::{Source, Words};
use iolab_study::{Checked, Ours, Quantity, SHIPPED, Study, check};

fn shipped() -> Vec<Checked> {
    let words =
        Words { workloads: iolab_agent::catalog::WORKLOADS, parts: iolab_agent::catalog::all() };
    let one = |(name, text): &(&str, &str)| {
        check(name, &Source { name, text }, words, 1).unwrap_or_else(|error| panic!("{error}"))
    };
    SHIPPED.iter().map(one).collect()
}

fn study(name: &str) -> Study {
    shipped().into_iter().find(|checked| checked.study.name == name).unwrap().study
}

/// Every table, plot, fact and claim has its unit, repetitions and place; no sentence parts from
/// its test; no figure contradicts another, but for slips of the study that are noted.
#[test]
fn nothing_is_wrong_or_missing_in_what_is_shipped() {
    let mut found = Vec::new();
    for Checked { study, wrong, missing } in shipped() {
        found.extend(wrong.iter().chain(&missing).map(ToString::to_string));
        for fact in &study.facts {
            if fact.place.is_none() {
                found.push(format!("{}: '{}' does not say where it stands", study.name, fact.says));
            }
        }
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

/// Figures as the study has them, by table, row and column.
fn figure(study: &Study, table: &str, row: &str, column: usize) -> f64 {
    let table = study.tables.iter().find(|t| t.id == table).unwrap();
    let row = table.rows.iter().position(|r| r.label == row).unwrap();
    table.values[row][column]
}

fn fact(study: &Study, says: &str) -> f64 {
    study.facts.iter().find(|fact| fact.says.contains(says)).unwrap().value.unwrap()
}

#[test]
fn what_can_be_recomputed_is() {
    let many = study("many-files");
    let mut recomputed = 0;
    for table in many.tables.iter().filter(|t| t.columns[1].quantity == Some(Quantity::MibPerS)) {
        for (at, row) in table.values.iter().enumerate() {
            let slip = table.slips.iter().any(|slip| slip.row == at);
            let derived = 5120.0 / row[0];
            assert_eq!((derived - row[1]).abs() < 2.0, !slip, "{}: {row:?}", table.id);
            recomputed += 1;
        }
    }
    assert_eq!(recomputed, 14);
    let read = study("read-vs-mmap");
    let percent: Vec<_> = read.facts.iter().filter(|f| f.says.contains("better method")).collect();
    assert_eq!((percent.len(), read.tables.len()), (11, 11));
    for fact in percent {
        let (value, from) = (fact.value.unwrap(), fact.from.unwrap());
        assert!((value - from).abs() < 0.01, "{}: {value} against {from}", fact.says);
    }
    // 11 tables of 12 figures, and the better method of each from its own row of means.
    let figures: usize =
        read.tables.iter().map(|t| t.values.iter().map(Vec::len).sum::<usize>()).sum();
    assert_eq!(figures, 132);
    let copy = study("copy-buffer-sizes");
    for id in ["one-byte", "largest-buffer"] {
        for row in &copy.tables.iter().find(|t| t.id == id).unwrap().values {
            let sum = row[2] + row[3];
            assert!(!sum.is_finite() || (row[1] - sum).abs() < 1e-9, "{row:?}");
        }
    }
    let blocks = study("block-size-and-caching");
    let google = &blocks.tables.iter().find(|t| t.id == "google-benchmark").unwrap().values;
    let mib_per_s = google.iter().map(|row| 2.8e9 / row[0] / 1_048_576.0);
    // Cold at 1024, warm after: it dropped the caches once.
    assert_eq!(mib_per_s.map(|s| s > 2500.0).collect::<Vec<_>>(), [false, true, true]);
}

/// What notes and claims make of the figures of their own tables.
#[test]
fn what_notes_derive_is_recomputed() {
    let near = |x: f64, y: f64| assert!((x / y - 1.0).abs() < 0.006, "{x} against {y}");
    let (blocks, many) = (study("block-size-and-caching"), study("many-files"));
    let at = |row: &str, column: usize| figure(&blocks, "under-memory", row, column);
    near(at("1024", 1) / at("1024", 0), 1.68);
    near(at("65536", 1) / at("65536", 0), 2.64);
    near(at("131072", 1) / at("65536", 1), 1.055);
    near(figure(&blocks, "warm", "131072", 0) / figure(&blocks, "warm", "65536", 0), 1.024);
    near(figure(&blocks, "warm", "262144", 1) / figure(&blocks, "warm", "1024", 1), 2.24);
    near(figure(&blocks, "warm", "1024", 0) * figure(&blocks, "dd", "1024", 1), 2651.0);
    for (row, gib) in [("1024", 20.0), ("8192", 19.7), ("65536", 19.6)] {
        let speed = figure(&blocks, "over-memory-blocks", row, 0);
        near(speed * figure(&blocks, "dd-over-memory", row, 1) / 1024.0, gib);
    }
    let under = ["1024", "8192", "65536"].map(|row| [0, 1].map(|c| figure(&blocks, "dd", row, c)));
    assert_eq!(under.as_flattened().iter().filter(|seconds| **seconds < 1.0).count(), 5);
    // 5 GiB in so many files, to the byte.
    for (name, files) in [("published", 10_000), ("published-1000", 1000), ("published-100", 100)] {
        let trial = many.experiments.iter().find(|e| e.name == name).unwrap();
        let factors = &trial.written.experiment.factors;
        assert_eq!(factors[&Factor::Files], [Level::Number(files)]);
        assert_eq!(factors[&Factor::FileSize], [Level::Number((5 << 30) / files)], "{name}");
    }
}

#[test]
fn the_figures_are_those_of_the_studies() {
    let (copy, blocks, many) =
        (study("copy-buffer-sizes"), study("block-size-and-caching"), study("many-files"));
    assert_eq!(figure(&copy, "one-byte", "ext2, iteration 1", 0), 76.508);
    assert_eq!(figure(&copy, "one-byte", "ext2, iteration 2", 3), 68.344);
    assert_eq!(figure(&copy, "largest-buffer", "19", 0), 0.328);
    assert_eq!(figure(&copy, "one-byte-jfs", "jfs", 0), 66.0);
    assert_eq!(figure(&copy, "o-sync-one-byte", "with O_SYNC", 0), 1582.0);
    assert_eq!(figure(&blocks, "under-memory", "1024", 2), 1854.0);
    assert_eq!(figure(&blocks, "warm", "262144", 1), 6986.85);
    assert_eq!(figure(&blocks, "over-memory", "4096", 0), 1871.0);
    assert_eq!(figure(&blocks, "over-memory", "4096", 1), 1843.0);
    assert_eq!(figure(&blocks, "threads-over-memory", "larger than RAM", 1), 2566.0);
    assert_eq!(figure(&blocks, "calls", "16", 1), 10.04);
    assert_eq!(figure(&many, "copy-1000", "50", 1), 949.0);
    assert_eq!(figure(&many, "copy-100", "1", 1), 856.0);
    assert_eq!(fact(&many, "system time"), 6.051);
    let ratio = |study: &Study, id: &str| {
        let claim = study.claims.iter().find(|claim| claim.id == id).unwrap();
        claim.published.as_ref().unwrap().ratio().unwrap()
    };
    assert!((ratio(&copy, "btrfs-one-byte") - 114.0 / 66.0).abs() < 1e-9);
    assert!((ratio(&blocks, "threads-warm") - 15003.0 / 6323.0).abs() < 0.01);
    assert!((ratio(&many, "readers-help") - 15.54 / 1.87).abs() < 0.01);
    let told = |study: &Study, name: &str| {
        study.source.iter().find(|(fact, _)| fact == name).unwrap().1.clone()
    };
    assert!(!told(&blocks, "machine").contains("laptop"));
    assert!(told(&study("overlay-metacopy"), "kernel").contains("Ubuntu 22.04"));
    assert!(told(&many, "repetitions").contains("not said"));
    assert!(!study("read-vs-mmap").summary.contains("1.5 GB/s"));
}

#[test]
fn claims_of_ours_are_marked() {
    for (name, ids) in [
        (
            "overlay-metacopy",
            &["plain-is-cheapest", "chown-too", "size-matters-first", "deferred"][..],
        ),
        ("many-files", &["cp-faster-than-one", "workers-faster-than-cp", "writers-do-not-help"]),
        ("block-size-and-caching", &["dd-slower-at-1k", "dd-as-fast-at-64k"]),
        ("read-vs-mmap", &["without-histogram"]),
    ] {
        let study = study(name);
        for id in ids {
            let claim = study.claims.iter().find(|claim| claim.id == *id).unwrap();
            assert_eq!(claim.ours, Ours::All, "{name}: {id}");
        }
    }
}

#[test]
fn everything_that_was_published_is_measured_under_full() {
    let levels = |study: &str, experiment: &str, factor: Factor| -> Vec<String> {
        let study = self::study(study);
        let trial = study.experiments.into_iter().find(|e| e.name == experiment).unwrap();
        let levels = trial.written.experiment.factors[&factor].clone();
        levels.iter().map(Level::to_string).collect()
    };
    let has = |all: Vec<String>, wanted: &[&str]| {
        for level in wanted {
            assert!(all.iter().any(|l| l == level), "{level} is not in {all:?}");
        }
    };
    let copy = "copy-buffer-sizes";
    let buffers = [
        "1", "2", "4", "8", "16", "32", "64", "128", "256", "512", "1024", "4096", "16284",
        "16384", "65536",
    ];
    for experiment in ["sizes-published", "synchronous-published", "in-a-guest-published"] {
        has(levels(copy, experiment, Factor::Block), &buffers);
    }
    let six = ["ext2", "ext4", "xfs", "btrfs", "jfs", "bfs"];
    has(levels(copy, "in-a-guest-published", Factor::Place), &six);
    has(levels(copy, "in-a-guest-published", Factor::FileSize), &[&(100 << 20).to_string()]);
    has(levels(copy, "synchronous-published", Factor::Sync), &["none", "sync"]);
    has(levels("many-files", "published", Factor::Files), &["10000"]);
    has(levels("many-files", "published", Factor::FileSize), &["536870"]);
    has(levels("many-files", "published", Factor::Threads), &["1", "20", "40", "50", "100"]);
    let blocks = "block-size-and-caching";
    has(
        levels(blocks, "one-byte-reads", Factor::FileSize),
        &["1048576", "4194304", "8388608", "16777216"],
    );
    has(levels(blocks, "threads", Factor::Cache), &["cold", "warm"]);
    has(levels(blocks, "threads-over-memory", Factor::Cache), &["cold", "any"]);
    has(levels("overlay-metacopy", "published", Factor::FileSize), &["61000000"]);
    let passes = |factor| levels("overlay-metacopy", "published-passes", factor);
    has(passes(Factor::Operation), &["chmod", "chown"]);
    has(passes(Factor::Pass), &["first", "second", "steady"]);
    let eight = ["1024", "2048", "4096", "8192", "16384", "32768", "65536", "131072", "262144"];
    has(levels(blocks, "over-memory-blocks", Factor::Block), &eight);
    has(levels(blocks, "dd-over-memory", Factor::Block), &["1024", "8192", "65536"]);
    has(levels("many-files", "published-1000", Factor::Files), &["1000"]);
    has(levels("many-files", "published-1000", Factor::Threads), &["1", "50"]);
    has(levels("many-files", "published-100", Factor::FileSize), &["53687091"]);
    for (name, plots) in
        [(copy, 8), (blocks, 7), ("many-files", 1), ("overlay-metacopy", 3), ("read-vs-mmap", 1)]
    {
        assert_eq!(study(name).plots.len(), plots, "{name}");
    }
}

#[test]
fn all_of_them_take_a_quarter_of_an_hour() {
    let budgets: u64 = shipped().iter().map(|checked| checked.study.budget_ns).sum();
    assert!(budgets <= 15 * 60 * 1_000_000_000, "{} s", budgets / 1_000_000_000);
}
