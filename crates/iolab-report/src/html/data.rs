//! The data behind the page, as JSON that no name can break out of.

use serde_json::{Map, Value, json};

use crate::chart::standalone_style;
use iolab_model::result::{CellRecord, Document, Sample};

/// Most samples that travel with the page; a larger run keeps them in its own exports.
pub const MOST_SAMPLES: usize = 30_000;
/// Above this many samples their processor times stay at home, so that the page stays light.
const MOST_WITH_CPU: usize = 10_000;
/// Most cells that travel with the page.
const MOST_CELLS: usize = 2_000;

/// Everything the script and the downloads need, ready to stand in a `<script>` of type
/// `application/json`: `<`, `>`, `&`, line separators and direction characters are escaped.
pub fn json_text(documents: &[Document]) -> String {
    let total: usize = documents.iter().flat_map(|d| &d.cells).map(|c| c.samples.len()).sum();
    let without_cpu = &[COLUMNS[0], COLUMNS[1], COLUMNS[2], COLUMNS[5], COLUMNS[6]];
    let columns: &[Column] = match total {
        n if n <= MOST_WITH_CPU => &COLUMNS,
        n if n <= MOST_SAMPLES => without_cpu,
        _ => &[],
    };
    let runs: Vec<Value> = documents.iter().map(|d| run(d, columns)).collect();
    let names: Vec<&str> = columns.iter().map(|(name, _)| *name).collect();
    let data = json!({
        "svg_style": standalone_style(), "samples": total, "columns": names, "runs": runs
    });
    let mut text = String::new();
    for c in data.to_string().chars() {
        match c {
            '<'
            | '>'
            | '&'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}' => {
                text.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => text.push(c),
        }
    }
    text
}

/// A column of the samples: its name in every export and where it comes from.
type Column = (&'static str, fn(&Sample) -> Value);

const COLUMNS: [Column; 7] = [
    ("round", |s| json!(s.round)),
    ("phase", |s| json!(s.phase)),
    ("wall_ns", |s| json!(s.measurement.wall_ns)),
    ("user_ns", |s| json!(s.measurement.user_ns)),
    ("system_ns", |s| json!(s.measurement.system_ns)),
    ("bytes", |s| json!(s.measurement.bytes)),
    ("operations", |s| json!(s.measurement.operations)),
];

fn run(document: &Document, columns: &[Column]) -> Value {
    // Cells that were all measured in the same rounds share those columns.
    let mut shared: Vec<Vec<Value>> = Vec::new();
    let mut cells = Vec::new();
    for record in document.cells.iter().take(MOST_CELLS) {
        cells.push(cell(record, columns, &mut shared));
    }
    json!({
        "id": document.run.id,
        "title": document.run.title,
        "started": document.run.started,
        "complete": document.run.complete,
        "seed": document.run.seed,
        "argv": document.run.argv,
        "environment": document.environment,
        "cells": cells,
        "shared": shared,
    })
}

fn cell(cell: &CellRecord, columns: &[Column], shared: &mut Vec<Vec<Value>>) -> Value {
    let mut map = Map::new();
    map.insert("id".to_owned(), json!(cell.id));
    map.insert("factors".to_owned(), json!(cell.factors));
    map.insert("status".to_owned(), json!(cell.status));
    if let Some(reason) = &cell.reason {
        map.insert("reason".to_owned(), json!(reason));
    }
    if let Some(e) = &cell.estimate {
        let w = &e.wall_ns;
        map.insert("wall_ns".to_owned(), json!({"n": w.n, "median": w.median, "low": w.low, "high": w.high, "mean": w.mean, "sd": w.sd}));
    }
    if !columns.is_empty() && !cell.samples.is_empty() {
        let values = columns.iter().enumerate();
        let values = values.map(|(at, (_, value))| column(&cell.samples, *value, at < 2, shared));
        map.insert("n".to_owned(), json!(cell.samples.len()));
        map.insert("samples".to_owned(), values.collect());
    }
    Value::Object(map)
}

/// One column: a list, `{"all": value}` where all are equal, `{"shared": index}` where another cell
/// has the same.
fn column(
    samples: &[Sample],
    value: fn(&Sample) -> Value,
    share: bool,
    shared: &mut Vec<Vec<Value>>,
) -> Value {
    let values: Vec<Value> = samples.iter().map(value).collect();
    match values.first() {
        Some(first) if values.iter().all(|v| v == first) => return json!({ "all": first }),
        _ if !share => return Value::Array(values),
        _ => {}
    }
    let known = shared.iter().position(|s| *s == values).unwrap_or_else(|| {
        shared.push(values);
        shared.len() - 1
    });
    json!({ "shared": known })
}

#[cfg(test)]
mod tests {
    use super::json_text;
    use iolab_test::scenes;

    #[test]
    fn names_cannot_leave_the_data_and_survive_it() {
        let text = json_text(&[scenes::hostile()]);
        assert!(!text.contains('<') && !text.contains('>') && !text.contains('&'), "{text}");
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert_eq!(back["runs"][0]["argv"][5], "</script><script>alert(1)</script>");
    }

    #[test]
    fn what_is_no_number_is_null() {
        let text = json_text(&[scenes::extremes()]);
        let back: serde_json::Value = serde_json::from_str(&text).unwrap();
        assert!(back["runs"][0]["cells"][2]["wall_ns"]["median"].is_null());
    }
}
