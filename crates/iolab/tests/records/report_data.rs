//! What programs read: JSON against its schema, CSV, Google Benchmark's JSON, exported files.

#![allow(clippy::unwrap_used)] // also in helpers, which the lint does not take for tests

use std::fs;
use std::path::Path;

use iolab_model::result::{CellStatus, Document};
use iolab_report::{TextStyle, export, schema, write};
use iolab_test::arbitrary::any_document;
use iolab_test::documents::{all, winner};
use iolab_test::generated::run;
use proptest::prelude::*;
use serde_json::{Value, json};

fn bytes(format: &str, doc: &Document) -> Vec<u8> {
    let mut out = Vec::new();
    write(format, doc, &TextStyle::default(), &mut out).unwrap();
    out
}

fn as_json(doc: &Document) -> Value {
    serde_json::from_slice(&bytes("json", doc)).unwrap()
}

/// Rows of a CSV text as an independent reader sees them, the header first.
fn rows(text: &[u8]) -> Vec<Vec<String>> {
    csv::ReaderBuilder::new()
        .has_headers(false)
        .from_reader(text)
        .records()
        .map(|record| record.unwrap().iter().map(str::to_owned).collect())
        .collect()
}

#[test]
fn real_output_and_fixtures_are_valid() {
    let open = jsonschema::validator_for(&schema::value()).unwrap();
    let closed = jsonschema::validator_for(&schema::closed()).unwrap();
    let mut documents: Vec<(String, Value)> =
        all().into_iter().map(|(name, doc)| (name.to_owned(), as_json(&doc))).collect();
    let runs = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/runs");
    for entry in fs::read_dir(runs).unwrap().map(|e| e.unwrap().path()) {
        if entry.extension().is_some_and(|e| e == "json") {
            let json = serde_json::from_str(&fs::read_to_string(&entry).unwrap()).unwrap();
            documents.push((entry.display().to_string(), json));
        }
    }
    for (name, json) in documents {
        for validator in [&open, &closed] {
            let errors: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{name}: {errors:?}");
        }
    }
}

#[test]
fn the_schema_fails_wrong_documents() {
    let validator = jsonschema::validator_for(&schema::value()).unwrap();
    let good = as_json(&winner());
    assert!(validator.is_valid(&good));
    for (pointer, wrong) in [
        ("/schema", json!("iolab.run/2")),
        ("/run/id", json!(-1)),
        ("/run/seed", json!("12")),
        ("/run/complete", json!("yes")),
        ("/run/argv", json!("iolab")),
        ("/environment", json!([])),
        ("/experiment/factors", json!({"colour": ["red"]})),
        ("/experiment/factors/block", json!([4096.5])),
        ("/experiment/ask", json!(["colour"])),
        ("/experiment/protocol/alpha", Value::Null),
        ("/cells/0/status", json!("done")),
        ("/cells/0/factors", json!({"colour": "red"})),
        ("/cells/0/factors/block", json!(1.5)),
        ("/cells/0/samples/0/phase", json!("third")),
        ("/cells/0/samples/0/wall_ns", json!(1.5)),
        ("/cells/0/samples/0/bytes", json!(-4)),
        ("/cells/0/samples/0/metrics/minor_faults", Value::Null),
        ("/cells/0/samples/0/flags", json!(["NO_SUCH_CODE"])),
        ("/cells/0/samples/0/proof/cache/proven", json!(1)),
        ("/cells/0/estimate/wall_ns/sd", Value::Null),
        ("/twin/samples", Value::Null),
        ("/answers/0/kind", json!("perhaps")),
        ("/answers/0/grade", json!("D")),
        ("/answers/0/comparisons/0/verdict", json!("better")),
        ("/answers/0/comparisons/0/ratio", Value::Null),
        ("/warnings/0/code", json!("virtualised")),
    ] {
        let mut bad = good.clone();
        *bad.pointer_mut(pointer).unwrap() = wrong;
        assert!(
            !validator.is_valid(&bad),
            "{pointer} = {} is accepted",
            bad.pointer(pointer).unwrap()
        );
    }
    for (pointer, name) in [
        ("", "cells"),
        ("", "schema"),
        ("/run", "seed"),
        ("/cells/0", "id"),
        ("/cells/0/samples/0", "wall_ns"),
        ("/cells/0/samples/0", "proof"),
        ("/answers/0", "sentence"),
        ("/experiment/protocol", "delta"),
    ] {
        let mut bad = good.clone();
        bad.pointer_mut(pointer).unwrap().as_object_mut().unwrap().remove(name).unwrap();
        assert!(!validator.is_valid(&bad), "{pointer}/{name} may be missing");
    }
    // Later versions may add fields; the closed form is for noticing them here.
    let mut later = good.clone();
    later["cells"][0]["samples"][0]["later"] = json!(1);
    assert!(validator.is_valid(&later));
    assert!(!jsonschema::validator_for(&schema::closed()).unwrap().is_valid(&later));
}

/// Findings along a factor were in no document that was held against the schema, but a few that were
/// written by hand.
#[test]
fn findings_of_runs_are_as_the_schema_describes_them() {
    let open = jsonschema::validator_for(&schema::value()).unwrap();
    let closed = jsonschema::validator_for(&schema::closed()).unwrap();
    let mut kinds = std::collections::BTreeMap::new();
    for seed in 0..100 {
        let json = as_json(&run(seed).unwrap());
        for validator in [&open, &closed] {
            let errors: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{seed}: {errors:?}");
        }
        let answers = json["answers"].as_array().unwrap().iter().enumerate();
        let found = answers.filter(|(_, answer)| answer.get("findings").is_some());
        for (at, answer) in found {
            let kind = answer["findings"][0]["kind"].as_str().unwrap().to_owned();
            *kinds.entry(kind).or_insert(0) += 1;
            for (key, wrong) in [
                ("kind", json!("perhaps")),
                ("factor", json!(4)),
                ("cell", Value::Null),
                ("level", json!(65536)),
                ("at_most", json!("2 %")),
                ("fewest", json!(3.1)),
            ] {
                let mut bad = json.clone();
                bad["answers"][at]["findings"][0][key] = wrong;
                assert!(!open.is_valid(&bad), "{seed}: a wrong {key} is accepted");
            }
            let mut more = json.clone();
            more["answers"][at]["findings"][0]["surer"] = json!(true);
            assert!(open.is_valid(&more) && !closed.is_valid(&more), "{seed}");
        }
    }
    let seen: Vec<&str> = kinds.keys().map(String::as_str).collect();
    assert_eq!(seen, ["crossover", "plateau", "scaling"], "{kinds:?}");
}

#[test]
fn the_schema_text_is_json_and_names_its_version() {
    let text: Value = serde_json::from_str(&schema::text()).unwrap();
    assert_eq!(text["properties"]["schema"]["const"], "iolab.run/1");
    assert!(text["$schema"].as_str().unwrap().contains("2020-12"));
}

#[test]
fn json_has_no_null_number() {
    let mut doc = winner();
    doc.cells[0].samples[0].measurement.metrics.insert("bad".into(), f64::NAN);
    doc.cells[1].estimate.as_mut().unwrap().wall_ns.mean = f64::NEG_INFINITY;
    doc.answers[0].comparisons[0].ratio = f64::NAN;
    doc.answers[0].detectable = Some(f64::INFINITY);
    let json = as_json(&doc);
    let validator = jsonschema::validator_for(&schema::closed()).unwrap();
    assert!(validator.is_valid(&json));
    assert!(json["cells"][0]["samples"][0]["metrics"].get("bad").is_none());
    assert!(json["cells"][1].get("estimate").is_none());
    // And the other formats take it as well.
    for format in ["table", "csv", "markdown", "published", "published-csv", "google-benchmark"] {
        let text = String::from_utf8(bytes(format, &doc)).unwrap().to_lowercase();
        assert!(
            !text.contains("nan") && !text.contains("inf\n") && !text.contains("-inf"),
            "{format}"
        );
    }
}

#[test]
fn csv_is_tidy() {
    let doc = winner();
    let rows = rows(&bytes("csv", &doc));
    let (head, rows) = rows.split_first().unwrap();
    let at = |name: &str| head.iter().position(|h| h == name).unwrap();
    let samples: usize = doc.cells.iter().map(|c| c.samples.len()).sum();
    assert_eq!(rows.len(), samples + doc.twin.as_ref().unwrap().samples.len());
    for factor in ["file-size", "method", "block", "threads", "cache"] {
        at(factor);
    }
    assert!(!head.iter().any(|h| h == "memory"), "no column for what no cell has");
    let first = &rows[0];
    assert_eq!(first[at("run")], "17");
    assert_eq!(first[at("cell")], "pread/64Ki");
    assert_eq!(first[at("block")], "65536");
    assert_eq!(first[at("twin")], "false");
    let sample = &doc.cells[0].samples[0];
    assert_eq!(first[at("wall_ns")], sample.measurement.wall_ns.to_string());
    assert_eq!(first[at("minor_faults")], "2");
    assert_eq!(rows[samples][at("twin")], "true");
    assert_eq!(rows[samples][at("block")], "65536");
    // mmap has no block.
    let mmap = rows.iter().find(|r| r[at("cell")] == "mmap").unwrap();
    assert_eq!(mmap[at("block")], "");
}

#[test]
fn names_come_back_from_csv_and_formulas_are_marked_as_text() {
    let doc = iolab_test::documents::hostile();
    let text = bytes("csv", &doc);
    let rows = rows(&text);
    let cell = rows[0].iter().position(|h| h == "cell").unwrap();
    // A quoted formula is run by a spreadsheet as well as one without quotes.
    assert_eq!(rows[1][cell], format!("'{}", doc.cells[0].id));
    assert!(String::from_utf8(text).unwrap().contains("\"'=cmd|'/c calc'!A1"));
}

#[test]
fn google_benchmark_rows_are_what_compare_py_needs() {
    let mut doc = winner();
    doc.cells.push(iolab_test::documents::failed(
        "read",
        iolab_test::documents::levels("read", Some(4096)),
    ));
    let json: Value = serde_json::from_slice(&bytes("google-benchmark", &doc)).unwrap();
    assert_eq!(json["context"]["json_schema_version"], 1);
    assert_eq!(json["context"]["num_cpus"], 2);
    let rows = json["benchmarks"].as_array().unwrap();
    let first = &rows[0];
    assert_eq!(
        first["name"],
        "read/pread/file-size:268435456/block:65536/cache:warm/real_time/threads:1"
    );
    assert_eq!(first["run_name"], first["name"]);
    assert_eq!((&first["run_type"], &first["time_unit"]), (&json!("iteration"), &json!("ns")));
    // Three families: the skipped and the failed cell are left out.
    let families: Vec<u64> = rows.iter().map(|r| r["family_index"].as_u64().unwrap()).collect();
    assert_eq!(families.iter().max(), Some(&2));
    let steady = 9;
    let of_first: Vec<&Value> = rows.iter().filter(|r| r["family_index"] == 0).collect();
    assert_eq!(of_first.len(), steady + 4);
    let aggregates: Vec<&str> =
        of_first.iter().filter_map(|r| r["aggregate_name"].as_str()).collect();
    assert_eq!(aggregates, ["mean", "median", "stddev", "cv"]);
    for row in rows {
        assert!(row.as_object().unwrap().values().all(|v| !v.is_null()));
        let aggregate = row["run_type"] == "aggregate";
        assert_eq!(row.get("repetition_index").is_some(), !aggregate);
        assert_eq!(row.get("aggregate_unit").is_some(), aggregate);
    }
    let mean = of_first.iter().find(|r| r["aggregate_name"] == "mean").unwrap();
    let expected = doc.cells[0].estimate.as_ref().unwrap().wall_ns.mean;
    assert!((mean["real_time"].as_f64().unwrap() / expected - 1.0).abs() < 1e-9);
    let cv = of_first.iter().find(|r| r["aggregate_name"] == "cv").unwrap();
    assert_eq!(cv["aggregate_unit"], "percentage");
}

#[test]
fn one_repetition_has_no_aggregates() {
    let mut doc = winner();
    doc.cells.truncate(1);
    doc.cells[0].samples.truncate(4);
    let json: Value = serde_json::from_slice(&bytes("google-benchmark", &doc)).unwrap();
    assert_eq!(json["benchmarks"].as_array().unwrap().len(), 1);
}

#[test]
fn an_export_is_whole_or_not_there() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.json");
    export("json", &path, &winner(), false).unwrap();
    let back: Document = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    assert_eq!(back, winner());
    // A second one replaces it, and its mode and a link to it stay.
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
    let link = dir.path().join("link.json");
    std::os::unix::fs::symlink(&path, &link).unwrap();
    export("csv", &link, &winner(), false).unwrap();
    assert!(link.symlink_metadata().unwrap().is_symlink());
    assert!(fs::read_to_string(&path).unwrap().starts_with("run,"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2, "no temporary file is left");
}

#[test]
fn an_export_that_fails_names_the_path_and_the_fix() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("no/such/dir/run.json");
    let error = export("json", &path, &winner(), false).unwrap_err().to_string();
    assert!(error.contains("run.json") && error.contains("make the directory"), "{error}");
    let error = export("json", dir.path(), &winner(), false).unwrap_err().to_string();
    assert!(error.contains("name a file in that directory"), "{error}");
    let error = export("xml", &path, &winner(), false).unwrap_err().to_string();
    assert!(error.contains("xml") && error.contains("csv"), "{error}");
    // A device is written to, not replaced.
    let before = fs::symlink_metadata("/dev/null").unwrap();
    export("json", Path::new("/dev/null"), &winner(), false).unwrap();
    let after = fs::symlink_metadata("/dev/null").unwrap();
    assert_eq!(
        std::os::unix::fs::MetadataExt::ino(&before),
        std::os::unix::fs::MetadataExt::ino(&after)
    );
    if Path::new("/dev/full").exists() {
        let error =
            export("json", Path::new("/dev/full"), &winner(), false).unwrap_err().to_string();
        assert!(error.contains("/dev/full") && error.contains("space"), "{error}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

    #[test]
    fn any_document_survives_json_and_its_schema(doc in any_document()) {
        let text = bytes("json", &doc);
        prop_assert_eq!(&serde_json::from_slice::<Document>(&text).unwrap(), &doc);
        let json: Value = serde_json::from_slice(&text).unwrap();
        let validator = jsonschema::validator_for(&schema::closed()).unwrap();
        let errors: Vec<String> = validator.iter_errors(&json).map(|e| e.to_string()).collect();
        prop_assert!(errors.is_empty(), "{:?}", errors);
    }

    #[test]
    fn any_csv_has_as_many_fields_as_titles_and_a_row_a_sample(doc in any_document()) {
        let rows = rows(&bytes("csv", &doc));
        let twins = doc.twin.as_ref().map_or(0, |t| t.samples.len());
        let samples: usize = doc.cells.iter().map(|c| c.samples.len()).sum();
        prop_assert_eq!(rows.len(), 1 + samples + twins);
        prop_assert!(rows.iter().all(|r| r.len() == rows[0].len()));
        let published = self::rows(&bytes("published-csv", &doc));
        prop_assert!(published.iter().all(|r| r.len() == 12));
        let figures = doc.cells.iter().filter(|c| c.estimate.is_some()).count();
        prop_assert_eq!(published.len(), 1 + figures);
        let skipped = doc.cells.iter().filter(|c| c.status == CellStatus::Skipped).count();
        prop_assert!(skipped <= doc.cells.len());
    }
}
