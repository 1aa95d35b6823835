//! One experiment over its runs: each cell's median, where it changed for good, and what was
//! another about the machine then.

use std::io::{self, Write};

use schemars::JsonSchema;
use serde::Serialize;

use super::TextStyle;
use super::compare::{Difference, Likeness, Weight, differences, likeness, shown_ns};
use super::grid::{self, Column, Field};
use super::style::Tint;
use iolab_model::catalog::{Factor, ratio_text, time_text};
use iolab_model::result::{CellRecord, Document, Summary};
use iolab_stats::changes;

/// Steps smaller than this share are not called a change.
const DELTA: f64 = 0.02;
/// Runs of the newest that a sparkline shows.
const SPARK: usize = 24;

/// One experiment over its runs, oldest first.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Trend {
    /// Always `iolab.trend/1`.
    pub schema: &'static str,
    /// The experiment.
    pub title: String,
    /// The runs.
    pub runs: Vec<TrendRun>,
    /// Where the machine became one that does not compare: figures before and after do not.
    pub breaks: Vec<Break>,
    /// The cells of the newest run.
    pub cells: Vec<CellTrend>,
}

/// One run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrendRun {
    /// Its number.
    pub id: u64,
    /// Start, RFC 3339, UTC.
    pub started: String,
}

/// From here on it was another machine.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Break {
    /// Index of the first run on it.
    pub at: usize,
    /// What differs.
    pub differences: Vec<Difference>,
}

/// One cell over the runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct CellTrend {
    /// Its name in the newest run.
    pub cell: String,
    /// Its median in nanoseconds with its interval within the run; absent where it has none.
    pub points: Vec<Option<TrendPoint>>,
    /// Where it changed for good.
    pub changes: Vec<TrendChange>,
}

/// One cell in one run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrendPoint {
    /// Median, nanoseconds: of a pass where bytes move, else of a call.
    pub median_ns: f64,
    /// Lower end of its interval.
    pub low_ns: Option<f64>,
    /// Upper end.
    pub high_ns: Option<f64>,
}

/// A change of level.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct TrendChange {
    /// Index of the first run at the new level.
    pub at: usize,
    /// Time after / time before.
    pub ratio: f64,
    /// Facts that differ between that run and the one before.
    pub differences: Vec<Difference>,
}

/// The trend of the runs of one experiment, oldest first. Runs need no samples.
pub fn trend(runs: &[Document]) -> Trend {
    let breaks = breaks(runs);
    let newest = runs.last();
    let cells = newest.map_or(&[][..], |d| &d.cells);
    Trend {
        schema: "iolab.trend/1",
        title: newest.map_or_else(String::new, |d| d.run.title.clone()),
        runs: runs
            .iter()
            .map(|d| TrendRun { id: d.run.id, started: d.run.started.clone() })
            .collect(),
        cells: cells.iter().filter_map(|cell| of_cell(cell, runs, &breaks)).collect(),
        breaks,
    }
}

fn breaks(runs: &[Document]) -> Vec<Break> {
    let between = |at: usize| {
        let found = differences(&[&runs[at - 1], &runs[at]]);
        let other = likeness(&found) == Likeness::Other;
        let grave = || found.iter().filter(|d| d.weight == Weight::Machine).cloned().collect();
        other.then(|| Break { at, differences: grave() })
    };
    (1..runs.len()).filter_map(between).collect()
}

fn of_cell(cell: &CellRecord, runs: &[Document], breaks: &[Break]) -> Option<CellTrend> {
    let points: Vec<Option<TrendPoint>> = runs
        .iter()
        .map(|run| point(run.cells.iter().find(|c| c.factors == cell.factors)?))
        .collect();
    if points.iter().flatten().count() < 2 {
        return None;
    }
    let mut found = Vec::new();
    let ends = breaks.iter().map(|b| b.at).chain([runs.len()]);
    let mut start = 0;
    for end in ends {
        let known = (start..end).filter_map(|at| Some((at, points[at]?.median_ns.ln())));
        let (places, x): (Vec<usize>, Vec<f64>) = known.filter(|(_, x)| x.is_finite()).unzip();
        for change in changes(&x, DELTA, 0) {
            let (before, at) = (places[change.at - 1], places[change.at]);
            let differences = differences(&[&runs[before], &runs[at]]);
            found.push(TrendChange { at, ratio: change.amount.exp(), differences });
        }
        start = end;
    }
    Some(CellTrend { cell: cell.id.clone(), points, changes: found })
}

fn point(cell: &CellRecord) -> Option<TrendPoint> {
    let median_ns = shown_ns(cell)?;
    let estimate = cell.estimate.as_ref()?;
    let pass = estimate.bytes_per_second.is_some() && cell.factors.get(Factor::Operation).is_none();
    let of: &Summary = if pass { &estimate.wall_ns } else { &estimate.ns_per_operation };
    Some(TrendPoint { median_ns, low_ns: of.low, high_ns: of.high })
}

impl Trend {
    /// The number and day of a run.
    pub fn run_text(&self, at: usize) -> String {
        let run = &self.runs[at];
        format!("run {} ({})", run.id, run.started.get(..10).unwrap_or(&run.started))
    }

    /// What a change was and what was another then, in words.
    pub fn change_text(&self, cell: &CellTrend, change: &TrendChange) -> String {
        let (factor, word) = match change.ratio > 1.0 {
            true => (change.ratio, "slower"),
            false => (1.0 / change.ratio, "faster"),
        };
        let facts: Vec<String> = change.differences.iter().take(3).map(Difference::text).collect();
        let why = match facts.is_empty() {
            true => "no recorded fact of the machine changed".to_owned(),
            false => facts.join("; "),
        };
        let at = self.run_text(change.at);
        format!("{at}: {} {} {word} from then on; {why}", cell.cell, ratio_text(factor))
    }
}

/// For the terminal.
///
/// # Errors
/// What the writer says, unchanged.
pub fn trend_table(trend: &Trend, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        Column::new("cell", false, 0),
        Column::new("trend", false, 1),
        Column::new("first", true, 3),
        Column::new("last", true, 0),
        Column::new("change", true, 2),
    ];
    let shown = trend.runs.len().saturating_sub(SPARK);
    let rows: Vec<Vec<Field>> = trend
        .cells
        .iter()
        .map(|cell| {
            let known: Vec<f64> = cell.points.iter().flatten().map(|p| p.median_ns).collect();
            let (first, last) = (known[0], known[known.len() - 1]);
            let values: Vec<Option<f64>> =
                cell.points[shown..].iter().map(|p| p.map(|p| p.median_ns)).collect();
            vec![
                look.text(&cell.cell).into(),
                look.spark(&values).into(),
                look.text(&time_text(first)).into(),
                look.text(&time_text(last)).into(),
                look.text(&ratio_text(last / first)).into(),
            ]
        })
        .collect();
    let span = match (trend.runs.first(), trend.runs.last()) {
        (Some(first), Some(last)) => {
            let day = |started: &str| started.get(..10).unwrap_or(started).to_owned();
            format!("{} to {}", day(&first.started), day(&last.started))
        }
        _ => String::new(),
    };
    let head = format!("{}: {} runs, {span}", trend.title, trend.runs.len());
    let mut text = look.paragraph(Tint::Strong, &look.text(&head));
    text.push('\n');
    text += &grid::draw(look, &columns, &rows);
    text.push('\n');
    for (cell, change) in trend.cells.iter().flat_map(|c| c.changes.iter().map(move |x| (c, x))) {
        let ink = if change.ratio > 1.0 { Tint::Bad } else { Tint::Good };
        text += &look.paragraph(ink, &look.text(&trend.change_text(cell, change)));
    }
    for broken in &trend.breaks {
        let facts: Vec<String> = broken.differences.iter().map(Difference::text).collect();
        let at = trend.run_text(broken.at);
        let line = format!("{at}: another machine from then on: {}", facts.join("; "));
        text += &look.paragraph(Tint::Caution, &look.text(&line));
    }
    text += &look.wrap("", &look.text(NOTE));
    out.write_all(text.as_bytes())
}

const NOTE: &str = "A change is called where Pettitt's test of the runs on both sides gives p < 0.01 and the step is over 2 %; a dozen runs on one machine are the fewest that can show one.";

/// For programs: the schema is `iolab.trend/1`.
///
/// # Errors
/// What the writer says, unchanged.
pub fn trend_json(trend: &Trend, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, trend).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
