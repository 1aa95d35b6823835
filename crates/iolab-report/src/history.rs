//! The list of runs.

use std::collections::HashMap;
use std::io::{self, Write};

use super::TextStyle;
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
    let sparks = sparks(runs, look);
    let widest = runs.iter().map(|run| run.id.to_string().len()).max().unwrap_or(0).max(3);
    writeln!(
        out,
        "{}",
        look.paint(Tint::Faint, &format!("{:widest$}  started (UTC)     what", "run"))
    )?;
    for run in runs {
        // "2026-03-01T10:00:00Z": the minute will do.
        let started = run.started.get(..16).unwrap_or(&run.started).replace('T', " ");
        let head = format!("{:<widest$}  {started}  ", run.id);
        let spark = sparks.get(&run.id).map_or("", String::as_str);
        out.write_all(look.wrap(&head, &look.text(&told(run, spark))).as_bytes())?;
    }
    Ok(())
}

/// What was asked, and the first of what was answered: the rest is the report's.
fn told(run: &RunSummary, spark: &str) -> String {
    let mut told = run.title.clone();
    let status = match run.status {
        RunStatus::Partial => Some("partial"),
        RunStatus::Complete => None,
    };
    let marks = [run.name.as_deref(), status, run.pinned.then_some("pinned")];
    let marks: Vec<&str> =
        marks.into_iter().flatten().chain((!spark.is_empty()).then_some(spark)).collect();
    if !marks.is_empty() {
        told += &format!(" ({})", marks.join(", "));
    }
    if let Some(answer) = &run.answer {
        told += &format!(" · {}", answer.split("; ").next().unwrap_or(answer));
    }
    told
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

/// The list for programs: an array of objects, newest first.
///
/// # Errors
/// What the writer says, unchanged.
pub fn history_json(runs: &[RunSummary], out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, runs).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
