//! The list of runs.

use std::io::{self, Write};

use super::Look;
use super::grid::{self, Column, Field};
use super::look::Ink;
use crate::record::{RunStatus, RunSummary};

/// The list for the terminal, as it came: newest first.
///
/// # Errors
/// What the writer says, unchanged.
pub fn history_table(runs: &[RunSummary], look: &Look, out: &mut dyn Write) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "There are no runs yet.");
    }
    for chunk in runs.chunks(runs.len().max(1)) {
        out.write_all(table(chunk, look).as_bytes())?;
    }
    Ok(())
}

fn table(runs: &[RunSummary], look: &Look) -> String {
    let column = |title, right, rank| Column { title, right, rank };
    let columns = [
        column("run", false, 0),
        column("started", false, 1),
        column("status", false, 2),
        column("cells", true, 4),
        column("trials", true, 5),
        column("what", false, 0),
    ];
    // "2026-03-01T10:00:00Z": the minute will do.
    let started =
        |run: &RunSummary| run.started.get(..16).unwrap_or(&run.started).replace('T', " ");
    let fixed = 16 + 6 + 16 + 12;
    let room = look.columns().saturating_sub(fixed).max(12);
    let row = |run: &RunSummary| {
        let (status, ink) = match run.status {
            RunStatus::Complete => ("complete", None),
            RunStatus::Partial => ("partial", Some(Ink::Caution)),
        };
        vec![
            Field::from(run.id.to_string()),
            look.text(&started(run)).into(),
            Field { text: status.to_owned(), ink },
            run.cells.to_string().into(),
            run.samples.to_string().into(),
            shortened(look, run.answer.as_deref().unwrap_or(&run.title), room).into(),
        ]
    };
    let rows: Vec<Vec<Field>> = runs.iter().map(row).collect();
    grid::draw(look, &columns, &rows)
}

/// The beginning of a text, with an ellipsis where it goes on.
fn shortened(look: &Look, text: &str, room: usize) -> String {
    use unicode_width::UnicodeWidthChar;
    let text = look.text(text);
    let more = look.text("…");
    let mut out = String::new();
    let mut width = 0;
    for c in text.chars() {
        width += c.width().unwrap_or(0);
        if width > room {
            while !out.is_empty()
                && unicode_width::UnicodeWidthStr::width(out.as_str()) + more.len().min(3) > room
            {
                out.pop();
            }
            return out.trim_end().to_owned() + &more;
        }
        out.push(c);
    }
    out
}

/// The list for programs: an array of objects, newest first.
///
/// # Errors
/// What the writer says, unchanged.
pub fn history_json(runs: &[RunSummary], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, runs).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
