//! Each shipped study at a tiny budget: what it prints, writes and records. Whether its claims
//! hold is the machine's affair; that each is judged, or says why not, is ours.

use crate::cli_support::Home;
use iolab_model::catalog::{Factor, Level};
use iolab_model::spec::file::{Source, Words};
use iolab_study::{Checked, Ours, Quantity, SHIPPED, Study, check};

const VERDICTS: [&str; 4] = ["replicated", "contradicted", "inconclusive", "not tested"];

fn claims(name: &str) -> usize {
    let text = SHIPPED.iter().find(|(shipped, _)| *shipped == name).unwrap().1;
    text.matches("[[claim]]").count()
}

fn runs(name: &str, budget: &str) {
    let home = Home::new();
    let said = home.run(&["study", "run", name, "--budget", budget, "--output", "pages"]).fine();
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].contains(&format!("of {} claims replicated", claims(name))), "{said:?}");
    let judged = lines[1..].iter().filter(|line| {
        let word = line.trim_start();
        VERDICTS.iter().any(|verdict| word.starts_with(verdict))
    });
    assert_eq!(judged.count(), claims(name), "{said:?}");
    let page = std::fs::read_to_string(home.path(&format!("pages/{name}.md"))).unwrap();
    assert!(page.contains("## Claims") && page.contains("claims replicated"), "{page}");
    assert!(!page.contains('\x1b') && !page.contains("inf×"), "{page}");
    // The first paragraph: five sentences for somebody who has the study in hand.
    let first = page.lines().nth(2).unwrap();
    assert!(first.starts_with("Of ") && first.contains("The study was made on"), "{first}");
    // What is drawn is there.
    for linked in page.split("](").skip(1).map(|rest| rest.split(')').next().unwrap()) {
        assert!(home.path("pages").join(linked).is_file(), "{linked} is linked and not there");
    }
    assert_eq!(home.names(), ["pages", "state"], "nothing is left behind");
}

#[test]
fn read_vs_mmap() {
    runs("read-vs-mmap", "6s");
}

#[test]
fn block_size_and_caching() {
    runs("block-size-and-caching", "6s");
}

#[test]
fn copy_buffer_sizes() {
    runs("copy-buffer-sizes", "6s");
}

#[test]
fn many_files() {
    runs("many-files", "6s");
}

#[test]
fn overlay_metacopy() {
    runs("overlay-metacopy", "6s");
}

const MINE: &str = r#"
title = "mine"
summary = "Whether a block matters."
budget = "4s"
[[experiment]]
name = "blocks"
workload = "read"
[experiment.factors]
file-size = "64Ki"
method = "pread"
block = "1Ki,64Ki"
[[table]]
id = "speed"
title = "speed"
experiment = "blocks"
quantity = "mib-per-s"
columns = [{ label = "MiB/s" }]
rows = [{ label = "1 KiB", of = { block = "1Ki" } }, { label = "64 KiB", of = { block = "64Ki" } }]
values = [[100], [nan]]
[[claim]]
id = "larger"
says = "64 KiB is faster than 1 KiB"
experiment = "blocks"
kind = "faster"
a = { block = "64Ki" }
b = { block = "1Ki" }
[[claim]]
id = "same"
says = "both find the same value"
experiment = "blocks"
kind = "same-value"
"#;

/// The file is small: on a busy machine a pass over one of 1 MiB was cut short, and a part of a pass
/// leaves no digest to compare.
#[test]
fn a_study_of_ones_own_is_checked_run_and_gone_on_with() {
    let home = Home::new();
    std::fs::write(home.path("mine.toml"), MINE).unwrap();
    let checked = home.run(&["study", "check", "mine.toml"]).fine().out;
    assert!(checked.contains("nothing wrong"), "{checked}");
    assert!(checked.contains("says   64 KiB is faster than 1 KiB"), "{checked}");
    assert!(
        checked.contains("tested [blocks] time of block 64 KiB is less than that of block 1 KiB"),
        "{checked}"
    );
    let parted = MINE.replace("64 KiB is faster than 1 KiB", "64 KiB is faster than 4 KiB");
    std::fs::write(home.path("parted.toml"), parted).unwrap();
    let told = home.run(&["study", "check", "parted.toml"]);
    assert_eq!(told.code, Some(2), "{told:?}");
    assert!(told.err.contains("parted.toml, line 22, column 8"), "{told:?}");
    assert!(told.err.contains("the test holds block 1 KiB") && told.err.contains('^'), "{told:?}");
    assert!(home.run(&["study", "show", "mine.toml"]).fine().out.contains("larger"));
    let plan = home.run(&["study", "run", "mine.toml", "--plan"]).fine();
    assert!(plan.out.contains("mine"), "{plan:?}");
    let said = home.run(&["study", "run", "mine.toml", "--output", "p"]).fine();
    // A busy machine may leave the times undecided; the value is the same everywhere.
    assert!(said.out.contains("of 2 claims replicated"), "{said:?}");
    assert!(said.out.contains("replicated    both find the same value"), "{said:?}");
    assert!(!said.out.contains("contradicted"), "{said:?}");
    let csv = std::fs::read_to_string(home.path("p/mine-speed.csv")).unwrap();
    let rows: Vec<&str> = csv.lines().collect();
    assert_eq!(rows.len(), 3, "{csv}");
    assert!(rows[1].starts_with("1 KiB,MiB/s,MiB/s,100,") && rows[2].contains("MiB/s,,"), "{csv}");
    // What was measured stands in the history, and is taken from there.
    let again = home.run(&["study", "run", "mine.toml", "--resume"]).fine();
    assert_eq!(again.out, said.out);
    let history = home.run(&["history", "--format", "json"]).fine().out;
    let history: serde_json::Value = serde_json::from_str(&history).unwrap();
    assert_eq!(history.as_array().unwrap().len(), 1, "{history}");
    // The same study as of two runs, and as of none.
    home.run(&["study", "run", "mine.toml"]).fine();
    let beside = home.run(&["study", "compare", "mine.toml", "1", "2"]).fine().out;
    assert!(beside.contains("| both find the same value |"), "{beside}");
    assert!(beside.contains("of 2 claims have another verdict"), "{beside}");
    let none = home.run(&["study", "compare", "many-files", "1", "2"]);
    assert!(none.code == Some(2) && none.err.contains("no run of the study"), "{none:?}");
}

#[test]
fn several_studies_have_a_page_that_leads_to_theirs() {
    let home = Home::new();
    std::fs::write(home.path("mine.toml"), MINE).unwrap();
    let twice = ["study", "run", "mine.toml", "mine.toml", "--resume", "--output", "all"];
    home.run(&twice).fine();
    let index = std::fs::read_to_string(home.path("all/README.md")).unwrap();
    assert_eq!(index.matches("| [mine](mine.md) | 2 | ").count(), 2, "{index}");
}

/// Files are called by them, and one that was called so left the directory of `--output`.
#[test]
fn names_in_a_study_lead_nowhere() {
    let home = Home::new();
    let (_, text) = SHIPPED.iter().find(|(name, _)| *name == "read-vs-mmap").unwrap();
    for key in ["name", "id"] {
        let line = text.lines().find(|line| line.starts_with(&format!("{key} = \""))).unwrap();
        for name in ["x/../../y", "..", "/etc/x", "a b", "a\\u0000"] {
            let led = text.replace(line, &format!("{key} = \"{name}\""));
            std::fs::write(home.path("leads.toml"), led).unwrap();
            let said = home.run(&["study", "show", "leads.toml"]);
            assert!(said.code == Some(2) && said.err.contains("leads elsewhere"), "{said:?}");
        }
    }
}

#[test]
fn what_is_asked_wrongly() {
    let home = Home::new();
    let said = home.run(&["study", "run", "read-vs-map"]);
    assert!(said.code == Some(2) && said.err.contains("read-vs-mmap"), "{said:?}");
    let said = home.run(&["study", "run", "read-vs-mmap", "--budget", "3"]);
    assert_eq!(said.code, Some(2), "{said:?}");
    let listed = home.run(&["study", "list"]).fine();
    for (name, _) in SHIPPED {
        assert!(listed.out.contains(name), "{listed:?}");
    }
}

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

#[test]
fn the_full_setting_says_hours_and_space() {
    let home = Home::new();
    let plan = home.run(&["study", "run", "many-files", "--full", "--plan"]).fine().out;
    let last = plan.lines().last().unwrap();
    assert!(
        last.starts_with("in all: 7 experiments, about ") && last.contains("of space"),
        "{last}"
    );
    let lines = home.run(&["study", "check", "many-files"]).fine().out;
    assert!(
        lines.contains("nothing wrong") && lines.contains("tested [published or kinds;"),
        "{lines}"
    );
}
