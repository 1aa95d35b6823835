//! Several runs on the screen: the cells they have in common, a column a run.

use std::io::{self, Write};

use super::chart::Beside;
use super::grid::{self, Column, Field};
use super::latency::between_text;
use super::style::{TextStyle, Tint};
use iolab_model::catalog::{ratio_text, time_text};
use iolab_model::result::Document;

/// Most rows; the exports have all.
const MOST_ROWS: usize = 60;

/// Writes the runs beside each other for the terminal: a row a cell, the median of each run, and
/// the last run over the first.
///
/// # Errors
/// What the writer says, unchanged.
pub fn beside_table(
    documents: &[Document],
    look: &TextStyle,
    out: &mut dyn Write,
) -> io::Result<()> {
    let beside = Beside::of(documents);
    let mut text = look.paragraph(Tint::Strong, &look.text(&beside.title));
    text.push('\n');
    if !beside.rows.is_empty() {
        text += &table(&beside, look);
        text.push('\n');
    }
    for line in remarks(&beside, documents) {
        text += &look.wrap("", &look.text(&line));
    }
    out.write_all(text.as_bytes())
}

fn table(beside: &Beside, look: &TextStyle) -> String {
    let mut columns = vec![Column::new("cell", false, 0)];
    for run in &beside.runs {
        columns.extend([Column::new(run.as_str(), true, 0), Column::new("interval", true, 2)]);
    }
    columns.push(Column::new("last/first", true, 1));
    let rows: Vec<Vec<Field>> = beside
        .rows
        .iter()
        .take(MOST_ROWS)
        .map(|(name, values)| {
            let text = |raw: &str| Field::from(look.text(raw));
            let mut fields = vec![text(name)];
            for value in values {
                let bounds = value.and_then(|v| Some(between_text(v.low?, v.high?)));
                fields.push(text(&value.map_or_else(|| "–".to_owned(), |v| time_text(v.median))));
                fields.push(text(&bounds.unwrap_or_default()));
            }
            let ends = values.first().copied().flatten().zip(values.last().copied().flatten());
            let ratio = ends.map(|(first, last)| ratio_text(last.median / first.median));
            fields.push(text(&ratio.unwrap_or_default()));
            fields
        })
        .collect();
    grid::draw(look, &columns, &rows)
}

fn remarks(beside: &Beside, documents: &[Document]) -> Vec<String> {
    let mut remarks = Vec::new();
    if !beside.rows.is_empty() {
        remarks.push(format!(
            "Figures: {}, median with its interval. Runs share no rounds: what stands beside each \
             other is no verdict.",
            beside.unit
        ));
    }
    let hidden = beside.rows.len().saturating_sub(MOST_ROWS);
    if hidden > 0 {
        remarks.push(format!("{hidden} more cells are in the exports."));
    }
    if beside.alone > 0 {
        remarks.push(format!("Cells that only one run has: {}.", beside.alone));
    }
    if let [first, .., last] = documents {
        let (first, last) = (first.run.id, last.run.id);
        // Without a common cell there is nothing that `compare` could judge.
        let verdict = match beside.rows.is_empty() {
            true => String::new(),
            false => format!("A verdict: iolab compare {first} {last} · "),
        };
        let one = if verdict.is_empty() { "One run" } else { "one run" };
        remarks.push(format!(
            "{verdict}{one}: iolab show {last} · charts: iolab report {first} {last} --charts"
        ));
    }
    remarks
}
