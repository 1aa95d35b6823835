//! Tidy CSV: one row a sample, one column a factor, a metric, a fact (RFC 4180 quoting, lines end
//! in LF). Figures have a decimal point and no group separator. Text is left as it is, but for what a
//! spreadsheet would take for a formula and run: an apostrophe stands before it, which spreadsheets
//! take for the sign of a text. Quotes alone keep none of them from it.

use std::io::{self, BufWriter, Write};

use super::samples::{Table, Value};
use super::{Format, TextStyle};
use iolab_model::result::Document;

pub(super) const FORMAT: Format = Format {
    id: "csv",
    summary: "tidy CSV, one row a sample, the twin's too",
    binary: false,
    write,
};

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let table = Table::of(doc);
    line(out, table.columns().into_iter().map(|(name, _)| name))?;
    for row in table.rows() {
        line(out, row.into_iter().map(text))?;
    }
    out.flush()
}

fn text(value: Value) -> String {
    match value {
        Value::Text(text) => text,
        Value::Number(number) => number.to_string(),
        Value::Real(number) => number.to_string(),
        Value::Truth(truth) => truth.to_string(),
        Value::None => String::new(),
    }
}

/// Writes one line.
pub(super) fn line(
    out: &mut dyn Write,
    fields: impl IntoIterator<Item = String>,
) -> io::Result<()> {
    let fields: Vec<String> = fields.into_iter().map(|f| quoted(&f)).collect();
    writeln!(out, "{}", fields.join(","))
}

/// A field as it must stand: quoted where it has a separator, marked as text where a spreadsheet
/// would take it for a formula. Control characters but line ends do not pass a CSV file unharmed.
fn quoted(field: &str) -> String {
    let special = |c: char| matches!(c, ',' | '"') || c.is_control();
    let begins = field.trim_start_matches([' ', '\t', '\r', '\n']);
    let formula = begins.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let mark = if formula { "'" } else { "" };
    let blank = field.starts_with(' ') || field.ends_with(' ');
    if formula || blank || field.contains(special) {
        format!("\"{mark}{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
