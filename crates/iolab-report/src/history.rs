//! The list of runs.

use std::collections::HashMap;
use std::io::{self, Write};

use super::TextStyle;
use super::grid::{self, Column, Field};
use super::style::Tint;
use iolab_record::history::{RunStatus, RunSummary};

/// Runs of one experiment that a sparkline shows.
const SPARK: usize = 10;
const FEWEST_FOR_SPARK: usize = 3;

/// The list for the terminal, as it came: newest first.
///
/// # Errors
/// What the writer says, unchanged.
pub fn history_table(runs: &[RunSummary], look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    if runs.is_empty() {
        return writeln!(out, "There are no runs yet.");
    }
    for chunk in runs.chunks(runs.len().max(1)) {
        out.write_all(table(chunk, look).as_bytes())?;
    }
    Ok(())
}

fn table(runs: &[RunSummary], look: &TextStyle) -> String {
    let columns = [
        Column::new("run", false, 0),
        Column::new("started", false, 1),
        Column::new("status", false, 2),
        Column::new("cells", true, 4),
        Column::new("trials", true, 5),
        Column::new("trend", false, 3),
        Column::new("what", false, 0),
    ];
    // "2026-03-01T10:00:00Z": the minute will do.
    let started =
        |run: &RunSummary| run.started.get(..16).unwrap_or(&run.started).replace('T', " ");
    let sparks = sparks(runs, look);
    // Beside a trend the number of trials goes first.
    let fixed = 16 + 6 + 16 + if sparks.is_empty() { 12 } else { SPARK + 6 };
    let room = look.columns().saturating_sub(fixed).max(12);
    let row = |run: &RunSummary| {
        let (status, ink) = match run.status {
            _ if run.name.is_some() => (run.name.as_deref().unwrap_or(""), Some(Tint::Good)),
            RunStatus::Complete if run.pinned => ("pinned", Some(Tint::Good)),
            RunStatus::Complete => ("complete", None),
            RunStatus::Partial => ("partial", Some(Tint::Caution)),
        };
        vec![
            Field::from(run.id.to_string()),
            look.text(&started(run)).into(),
            Field { text: look.text(status), ink },
            run.cells.to_string().into(),
            run.samples.to_string().into(),
            sparks.get(&run.id).cloned().unwrap_or_default().into(),
            shortened(look, run.answer.as_deref().unwrap_or(&run.title), room).into(),
        ]
    };
    let rows: Vec<Vec<Field>> = runs.iter().map(row).collect();
    grid::draw(look, &columns, &rows)
}

/// Beside the newest run of each experiment that has at least three: its best cell's time.
fn sparks(runs: &[RunSummary], look: &TextStyle) -> HashMap<u64, String> {
    let mut by_experiment: HashMap<(&str, &str), Vec<&RunSummary>> = HashMap::new();
    for run in runs {
        let all = by_experiment.entry((&run.workload, &run.title)).or_default();
        if all.len() < SPARK {
            all.push(run);
        }
    }
    let several = by_experiment
        .into_values()
        .filter(|all| all.iter().filter(|r| r.best_ns.is_some()).count() >= FEWEST_FOR_SPARK);
    several
        .filter_map(|all| {
            let values: Vec<Option<f64>> = all.iter().rev().map(|r| r.best_ns).collect();
            Some((all.first()?.id, look.spark(&values)))
        })
        .collect()
}

/// The beginning of a text, with an ellipsis where it goes on.
fn shortened(look: &TextStyle, text: &str, room: usize) -> String {
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
