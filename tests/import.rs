//! Runs from elsewhere: what is taken, what is refused, and that nothing is lost on the way.

#![allow(clippy::unwrap_used, clippy::expect_used)]

mod cli_support;
mod documents;

use std::fs;
use std::path::{Path, PathBuf};

use cli_support::Home;
use documents::{levels, timed, winner};
use iolab::catalog::{Factor, Level};
use iolab::import::{self, ImportError};
use iolab::report::{self, Look};
use iolab::result::{CellStatus, Document};
use proptest::prelude::*;

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/import").join(name)
}

/// Reads a text as if it were a file.
fn from_text(text: &[u8]) -> Result<Vec<Document>, ImportError> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    fs::write(&path, text).unwrap();
    import::read(&path)
}

#[test]
fn fio_jobs_are_cells_and_jobs_alike_are_rounds() {
    let runs = import::read(&fixture("fio.json")).unwrap();
    let [reads, writes] = runs.as_slice() else { panic!("{}", runs.len()) };
    assert_eq!(reads.experiment.workload, "read");
    assert_eq!(reads.run.started, "2026-03-01T12:00:00Z");
    assert_eq!(reads.environment.0["import.tool"], "fio-3.33");
    let small = &reads.cells[0];
    assert_eq!(small.samples.len(), 2);
    assert_eq!(small.factors.number(Factor::Block), Some(4096));
    assert_eq!(small.factors.number(Factor::FileSize), Some(64 << 20));
    assert_eq!(small.factors.text(Factor::Method), Some("psync"));
    assert_eq!(small.factors.text(Factor::Contender), Some("fio"));
    let estimate = small.estimate.as_ref().unwrap();
    assert_eq!(estimate.wall_ns.median, 42e6);
    assert_eq!(estimate.ns_per_operation.median, 42e6 / 16384.0);
    assert_eq!(small.samples[0].measurement.user_ns, 8_000_000);
    assert_eq!(small.samples[0].measurement.metrics["clat_p99_ns"], 5100.0);
    assert_eq!(reads.cells[1].factors.number(Factor::QueueDepth), Some(4));
    let write = &writes.cells[0].factors;
    let words =
        (write.text(Factor::Method), write.text(Factor::Pattern), write.text(Factor::Direct));
    assert_eq!(words, (Some("io_uring"), Some("random"), Some("on")));
}

#[test]
fn google_benchmark_rows_are_samples_and_our_names_are_our_cells() {
    let runs = import::read(&fixture("google-benchmark.json")).unwrap();
    let [ours, others] = runs.as_slice() else { panic!("{}", runs.len()) };
    assert_eq!(ours.run.started, "2026-03-01T12:00:00Z");
    assert_eq!(ours.run.title, "read by read_loop");
    let cell = &ours.cells[0];
    assert_eq!(cell.factors.text(Factor::Method), Some("pread"));
    assert_eq!(cell.factors.get(Factor::Cache), Some(&Level::word("warm")));
    assert_eq!(cell.samples.len(), 2);
    assert_eq!(cell.samples[0].measurement.wall_ns, 15_000_000);
    assert_eq!(cell.samples[0].measurement.bytes, 104_857_600);
    assert_eq!(cell.samples[0].measurement.operations, 1600);
    assert_eq!(cell.estimate.as_ref().unwrap().wall_ns.median, 151_000.0);
    let names: Vec<&str> = others.cells.iter().map(|c| c.id.as_str()).collect();
    assert_eq!(names, ["BM_Parse/1024", "BM_Only", "BM_Broken"]);
    assert_eq!(others.cells[1].estimate.as_ref().unwrap().wall_ns.median, 3e6);
    assert_eq!(others.cells[2].status, CellStatus::Failed);
    assert_eq!(others.cells[2].reason.as_deref(), Some("no such file"));
    // What was imported can be shown in every format.
    for (document, format) in runs.iter().flat_map(|d| report::FORMATS.iter().map(move |f| (d, f)))
    {
        (format.write)(document, &Look::default(), &mut Vec::new()).unwrap();
    }
}

#[test]
fn what_we_export_for_google_benchmark_comes_back_as_the_same_cells() {
    let cells =
        [("pread/64Ki", levels("pread", Some(65536)), 32.0), ("mmap", levels("mmap", None), 41.0)];
    let doc = timed(&cells, 10, 0.0, 0.02, 1);
    let mut text = Vec::new();
    report::write("google-benchmark", &doc, &Look::default(), &mut text).unwrap();
    let back = from_text(&text).unwrap().pop().unwrap();
    assert_eq!(back.experiment.workload, "read");
    for (cell, back) in doc.cells.iter().zip(&back.cells) {
        assert_eq!(cell.factors, back.factors);
        let walls = |c: &iolab::result::CellRecord| -> Vec<u64> {
            let steady = c.samples.iter().filter(|s| s.phase == iolab::result::Phase::Steady);
            steady.map(|s| s.measurement.wall_ns).collect()
        };
        assert_eq!(walls(cell), walls(back));
    }
}

#[test]
fn an_exported_run_comes_back_whole_and_once() {
    let home = Home::new();
    let mut text = Vec::new();
    report::write("json", &winner(), &Look::default(), &mut text).unwrap();
    fs::write(home.path("run.json"), &text).unwrap();
    let said = home.run(&["import", "run.json"]).fine();
    assert_eq!(said.out, "1\n");
    let said = home.run(&["import", "run.json", "--store", "other.sqlite"]).fine();
    assert_eq!(said.out, "1\n");
    // Under another name, and after a way through another history: still the same run.
    home.run(&["export", "1", "json=copy.json"]).fine();
    let said = home.run(&["import", "copy.json", "run.json"]).fine();
    assert_eq!(said.out, "1\n1\n");
    assert!(said.err.contains("already"), "{said:?}");
    let back: Document =
        serde_json::from_str(&fs::read_to_string(home.path("copy.json")).unwrap()).unwrap();
    let mut wanted = winner();
    wanted.run.id = 1;
    wanted.environment.0.insert("import.file".into(), "run.json".into());
    assert_eq!(back, wanted);
    for name in ["fio.json", "google-benchmark.json"] {
        home.run(&["import".into(), fixture(name).into_os_string()]).fine();
    }
    assert_eq!(home.run(&["history", "--format", "json"]).fine().out.matches("\"id\"").count(), 5);
}

#[test]
fn what_cannot_be_used_is_refused_and_changes_nothing() {
    let home = Home::new();
    let good = serde_json::to_string(&winner()).unwrap();
    let half = &good[..good.len() / 2];
    let mut twice = winner();
    let id = twice.cells[0].id.clone();
    twice.cells[1].id = id;
    let mut stranger = winner();
    stranger.answers[0].best = vec!["nobody".into()];
    for (name, text, words) in [
        ("empty", "", "no JSON object"),
        ("words", "hello", "no JSON object"),
        ("half", half, "EOF"),
        ("other", "{\"a\": 1}", "neither a run of iolab"),
        ("list", "[1, 2]", "no JSON object"),
        ("schema", "{\"schema\": \"something/1\"}", "neither a run of iolab"),
        ("newer", "{\"schema\": \"iolab.run/9\"}", "update iolab"),
        ("bare", "{\"schema\": \"iolab.run/1\"}", "missing field"),
        ("twice", &serde_json::to_string(&twice).unwrap(), "two cells are called"),
        ("stranger", &serde_json::to_string(&stranger).unwrap(), "nobody"),
        ("nojobs", "{\"fio version\": \"fio-3\", \"jobs\": []}", "no measurement"),
        ("nobench", "{\"context\": {}, \"benchmarks\": []}", "no measurement"),
        (
            "unit",
            "{\"benchmarks\": [{\"name\": \"a\", \"real_time\": 1, \"time_unit\": \"weeks\"}]}",
            "weeks",
        ),
    ] {
        fs::write(home.path(name), text).unwrap();
        // The good file before it is not taken either: all or none.
        fs::write(home.path("good.json"), &good).unwrap();
        home.run(&["import", "good.json", name]).refused(2, &[name, words]);
    }
    fs::write(home.path("bytes"), b"{\"schema\": \"\xff\"}").unwrap();
    home.run(&["import", "bytes"]).refused(2, &["UTF-8"]);
    home.run(&["import", "none.json"]).refused(2, &["none.json", "No such file"]);
    home.run(&["import", "."]).refused(2, &["directory"]);
    assert_eq!(home.run(&["history", "--format", "json"]).fine().out, "[]\n");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, ..ProptestConfig::default() })]
    #[test]
    fn damage_anywhere_is_an_error_or_a_document_but_no_panic(
        which in 0usize..3, at in 0.0f64..1.0, with in any::<u8>(), cut in any::<bool>()
    ) {
        let mut text = match which {
            0 => fs::read(fixture("fio.json")).unwrap(),
            1 => fs::read(fixture("google-benchmark.json")).unwrap(),
            _ => serde_json::to_vec(&winner()).unwrap(),
        };
        let at = (at * (text.len() - 1) as f64) as usize;
        if cut { text.truncate(at) } else { text[at] = with }
        if let Ok(documents) = from_text(&text) {
            for document in documents {
                (report::FORMATS[0].write)(&document, &Look::default(), &mut Vec::new()).unwrap();
            }
        }
    }
}
