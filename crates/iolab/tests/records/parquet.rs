//! Parquet: the rows and columns of the CSV, by the library's own reader and by pandas' one.

#![cfg(feature = "parquet")]

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::cli_support::Home;
use iolab_model::result::Document;
use iolab_record::history::Store;
use iolab_report::{TextStyle, export, write};
use iolab_test::arbitrary::any_document;
use iolab_test::documents::{all, winner};
use parquet::file::reader::{FileReader, SerializedFileReader};
use parquet::record::Field;
use proptest::prelude::*;

/// The CSV's titles and rows.
fn csv_of(doc: &Document) -> (Vec<String>, Vec<Vec<String>>) {
    let mut text = Vec::new();
    write("csv", doc, &TextStyle::default(), &mut text).unwrap();
    let mut reader = csv::Reader::from_reader(text.as_slice());
    let fields = |row: &csv::StringRecord| row.iter().map(str::to_owned).collect();
    let titles = fields(reader.headers().unwrap());
    (titles, reader.records().map(|row| fields(&row.unwrap())).collect())
}

/// The titles and the rows, as the library's reader sees them.
fn read(path: &Path) -> (Vec<String>, Vec<Vec<Field>>) {
    let reader = SerializedFileReader::new(fs::File::open(path).unwrap()).unwrap();
    let schema = reader.metadata().file_metadata().schema().clone();
    let titles = schema.get_fields().iter().map(|f| f.name().to_owned()).collect();
    let row = |row: Result<parquet::record::Row, _>| {
        row.unwrap().get_column_iter().map(|(_, field)| field.clone()).collect()
    };
    (titles, reader.get_row_iter(None).unwrap().map(row).collect())
}

/// What a spreadsheet would run is marked as text in the CSV and nowhere else.
fn marked(text: &str) -> String {
    let first = text.trim_start_matches([' ', '\t', '\r', '\n']).chars().next();
    let runs = first.is_some_and(|first| "=+-@".contains(first)) && text.parse::<f64>().is_err();
    if runs { format!("'{text}") } else { text.to_owned() }
}

/// A field as the CSV has it.
fn shown(field: &Field) -> String {
    match field {
        Field::Null => String::new(),
        Field::Str(text) => marked(text),
        Field::ULong(number) => number.to_string(),
        Field::Double(number) => number.to_string(),
        Field::Bool(truth) => truth.to_string(),
        other => panic!("{other:?}"),
    }
}

fn same_as_csv(doc: &Document) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.parquet");
    export("parquet", &path, doc, false).unwrap();
    let (names, rows) = read(&path);
    let (titles, wanted) = csv_of(doc);
    let names: Vec<String> = names.iter().map(|name| marked(name)).collect();
    assert_eq!(names, titles);
    let found: Vec<Vec<String>> = rows.iter().map(|r| r.iter().map(shown).collect()).collect();
    assert_eq!(found, wanted);
}

#[test]
fn parquet_has_the_columns_and_rows_of_the_csv() {
    for (name, doc) in all() {
        eprintln!("{name}");
        same_as_csv(&doc);
    }
}

/// The runs that all that speaks of one is walked over have the same rows here.
#[test]
fn generated_runs_have_the_columns_and_rows_of_the_csv() {
    for seed in 0..200 {
        let doc = iolab_test::generated::run(seed).unwrap_or_else(|| panic!("{seed}: no run"));
        same_as_csv(&doc);
    }
}

/// Rows are handed on in groups, so that a large run is never in memory as a whole.
#[test]
fn rows_of_several_groups_are_all_there() {
    let mut doc = winner();
    let one = doc.cells[0].samples[5].clone();
    doc.cells[0].samples =
        (0..40_000).map(|round| iolab_model::result::Sample { round, ..one.clone() }).collect();
    same_as_csv(&doc);
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.parquet");
    export("parquet", &path, &doc, false).unwrap();
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    assert!(reader.num_row_groups() > 1);
}

#[test]
fn parquet_says_where_the_run_was_made() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.parquet");
    export("parquet", &path, &winner(), false).unwrap();
    let reader = SerializedFileReader::new(fs::File::open(&path).unwrap()).unwrap();
    let kept = reader.metadata().file_metadata().key_value_metadata().unwrap();
    let about = kept.iter().find(|kv| kv.key == "iolab").unwrap().value.as_ref().unwrap();
    let about: serde_json::Value = serde_json::from_str(about).unwrap();
    assert_eq!(about["environment"]["cpu.model"], "Example CPU");
    assert_eq!(about["schema"], "iolab.run/1");
    // Nothing for a terminal, and for a pipe the same bytes.
    let home = Home::new();
    let store = Store::open(Some(&home.path("state/iolab/history.sqlite")), &[]).unwrap();
    store.insert(&winner()).unwrap();
    let said = home.command().args(["show", "1", "--format", "parquet"]).output().unwrap();
    assert!(said.stdout.starts_with(b"PAR1") && said.stdout.ends_with(b"PAR1"));
}

#[test]
fn pandas_people_read_the_parquet() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("run.parquet");
    export("parquet", &path, &winner(), false).unwrap();
    let script = "import sys, pyarrow.parquet as p
t = p.read_table(sys.argv[1])
steady = [i for i, phase in enumerate(t['phase'].to_pylist()) if phase == 'steady']
print(t.num_rows, t.schema.field('wall_ns').type, t.schema.field('counts').type,
  t.schema.field('block').type, t.schema.field('method').type, t['block'].null_count, len(steady))";
    let python = std::env::var("IOLAB_PYTHON").unwrap_or_else(|_| "python3".to_owned());
    let known = Command::new(&python).args(["-c", "import pyarrow"]).output();
    if !known.is_ok_and(|output| output.status.success()) {
        return eprintln!(
            "SKIP pandas_people_read_the_parquet: no pyarrow: pip install pyarrow, and name that Python in IOLAB_PYTHON"
        );
    }
    let output = Command::new(python).args(["-c", script]).arg(&path).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(said.trim(), "45 uint64 bool uint64 string 12 33", "{said}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]
    #[test]
    fn any_run_is_the_same_in_parquet_as_in_csv(doc in any_document()) {
        same_as_csv(&doc);
    }
}
