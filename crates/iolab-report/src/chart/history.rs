//! An experiment over its runs: points with intervals, a line a level, changes marked with what
//! was another about the machine then; broken where the machine is one that does not compare.

use crate::compare::Difference;
use crate::drawing::labels::{clean, short};
use crate::drawing::model::{
    Chart, CurvePoint, Datum, Direction, Key, Layer, MOST_PANELS, Mark, Panel, Point, Series,
    Table, Tint,
};
use crate::drawing::scale::{Axis, Scale, Tick};
use crate::trend::{CellTrend, Trend, TrendChange, trend};
use iolab_model::catalog::{ratio_text, time_text};
use iolab_model::result::Document;

/// Fewer runs are no history.
const FEWEST: usize = 3;
/// Most ticks on the axis of runs.
const TICKS: usize = 6;

/// The chart of a trend; `None` where there are fewer than three runs or no cell.
pub fn of_trend(trend: &Trend) -> Option<Chart> {
    if trend.runs.len() < FEWEST || trend.cells.is_empty() {
        return None;
    }
    // Cells that changed come first: they are what is looked for.
    let mut cells: Vec<&CellTrend> = trend.cells.iter().collect();
    cells.sort_by_key(|c| c.changes.is_empty());
    let hidden = cells.len().saturating_sub(MOST_PANELS);
    let panels = cells.iter().take(MOST_PANELS).map(|cell| panel(trend, cell)).collect();
    let day = |at: usize| trend.runs[at].started.get(..10).unwrap_or("").to_owned();
    let mut notes = Vec::new();
    if hidden > 0 {
        notes.push(format!("{hidden} more cells are in the table only"));
    }
    for broken in &trend.breaks {
        let facts: Vec<String> = broken.differences.iter().map(Difference::text).collect();
        notes.push(format!(
            "Another machine from {} on: {}",
            trend.run_text(broken.at),
            clean(&facts.join("; "))
        ));
    }
    Some(Chart {
        slug: "history".to_owned(),
        rows: Vec::new(),
        title: title(trend),
        subtitle: format!(
            "{} · {} runs, {} to {} · medians with their interval within each run",
            clean(&trend.title),
            trend.runs.len(),
            day(0),
            day(trend.runs.len() - 1)
        ),
        panels,
        keys: vec![
            Key { name: "run".to_owned(), ink: Tint::Series(0) },
            Key { name: "level".to_owned(), ink: Tint::Muted },
        ],
        notes,
        guide: Vec::new(),
        table: table(trend),
    })
}

/// The chart of several runs of one experiment, in the order of their start.
pub fn chart(documents: &[Document]) -> Option<Chart> {
    let first = documents.first().filter(|_| documents.len() >= FEWEST)?;
    let same = |d: &Document| {
        d.experiment.workload == first.experiment.workload && d.run.title == first.run.title
    };
    if !documents.iter().all(same) {
        return None;
    }
    let mut runs: Vec<Document> = documents.iter().map(without_samples).collect();
    runs.sort_by(|a, b| (&a.run.started, a.run.id).cmp(&(&b.run.started, b.run.id)));
    of_trend(&trend(&runs))
}

fn without_samples(document: &Document) -> Document {
    let mut slim = Document { cells: Vec::new(), twin: None, ..document.clone() };
    slim.cells = document
        .cells
        .iter()
        .map(|c| iolab_model::result::CellRecord { samples: Vec::new(), ..c.clone() })
        .collect();
    slim
}

fn title(trend: &Trend) -> String {
    let all = || trend.cells.iter().flat_map(|c| c.changes.iter().map(move |x| (c, x)));
    let newest = all().max_by_key(|(_, change)| change.at);
    let Some((cell, change)) = newest else {
        return match trend.runs.len() {
            n if n < 12 => format!("{n} runs are too few to show a change"),
            n => format!("No cell changed for good in {n} runs"),
        };
    };
    let (ratio, word) = match change.ratio > 1.0 {
        true => (change.ratio, "slower"),
        false => (1.0 / change.ratio, "faster"),
    };
    let others = all().filter(|(_, c)| c.at == change.at).count() - 1;
    let who = match others {
        0 => clean(&cell.cell),
        n => format!("{} and {n} more", clean(&cell.cell)),
    };
    format!("{who} became {} {word} with run {}", ratio_text(ratio), trend.runs[change.at].id)
}

fn panel(trend: &Trend, cell: &CellTrend) -> Panel {
    let ends = cell.points.iter().flatten().flat_map(|p| [Some(p.median_ns), p.low_ns, p.high_ns]);
    let mut layers: Vec<Layer> = Vec::new();
    let cuts = |trend: &Trend| trend.breaks.iter().map(|b| b.at).collect::<Vec<_>>();
    for broken in &trend.breaks {
        layers.push(Layer::Rule {
            axis: Direction::X,
            at: broken.at as f64 - 0.5,
            label: "another machine".to_owned(),
        });
    }
    for change in &cell.changes {
        layers.push(Layer::Rule {
            axis: Direction::X,
            at: change.at as f64 - 0.5,
            label: reason(change),
        });
    }
    let mut starts: Vec<usize> = cuts(trend);
    starts.extend(cell.changes.iter().map(|c| c.at));
    starts.extend([0, trend.runs.len()]);
    starts.sort_unstable();
    starts.dedup();
    for level in starts.windows(2) {
        layers.extend(line(cell, level[0], level[1]));
    }
    layers.push(Layer::Series(Series {
        key: Some(0),
        ink: Tint::Plain,
        joined: false,
        band: false,
        interval: Direction::Y,
        across: false,
        points: (0..cell.points.len()).map(|at| point(trend, cell, at)).collect(),
    }));
    Panel {
        title: short(&clean(&cell.cell)),
        x: runs_axis(trend),
        y: Axis::times("time (log)", ends.flatten()),
        layers,
    }
}

/// What was another about the machine, in a few words.
fn reason(change: &TrendChange) -> String {
    match change.differences.as_slice() {
        [] => ratio_text(change.ratio),
        [first, ..] => {
            let last = first.values.last().map_or("", String::as_str);
            short(&clean(&format!("{} {last}", first.fact.rsplit('.').next().unwrap_or(""))))
        }
    }
}

/// The level of a stretch of runs.
fn line(cell: &CellTrend, from: usize, to: usize) -> Option<Layer> {
    let mut known: Vec<f64> = cell.points[from..to].iter().flatten().map(|p| p.median_ns).collect();
    known.sort_by(f64::total_cmp);
    let level = *known.get(known.len() / 2)?;
    let end = |x: f64| CurvePoint { x, y: level, low: None, high: None };
    let points = vec![end(from as f64 - 0.4), end(to as f64 - 0.6)];
    Some(Layer::Curve { key: Some(1), points })
}

fn point(trend: &Trend, cell: &CellTrend, at: usize) -> Point {
    let x = at as f64;
    match cell.points[at] {
        Some(p) => Point {
            x,
            y: p.median_ns,
            low: p.low_ns,
            high: p.high_ns,
            mark: match cell.changes.iter().any(|c| c.at == at) {
                true => Mark::Hollow,
                false => Mark::Filled,
            },
            tip: format!(
                "{}\n{}\n{}",
                clean(&cell.cell),
                clean(&trend.run_text(at)),
                time_text(p.median_ns)
            ),
        },
        None => Point::missing(
            x,
            f64::NAN,
            format!("{}: no figures of {}", clean(&trend.run_text(at)), clean(&cell.cell)),
        ),
    }
}

/// Runs at equal distances, a few of them named.
fn runs_axis(trend: &Trend) -> Axis {
    let n = trend.runs.len();
    let step = n.div_ceil(TICKS).max(1);
    let ticks = (0..n).step_by(step);
    Axis {
        label: "run".to_owned(),
        scale: Scale::Linear,
        low: -0.5,
        high: n as f64 - 0.5,
        ticks: ticks
            .map(|at| Tick { at: at as f64, label: trend.runs[at].id.to_string() })
            .collect(),
    }
}

fn table(trend: &Trend) -> Table {
    let columns = ["cell", "run", "started", "time", "low", "high", "change"];
    let mut rows = Vec::new();
    for cell in &trend.cells {
        for (at, point) in cell.points.iter().enumerate() {
            let run = &trend.runs[at];
            let time = |ns: Option<f64>| {
                ns.map_or_else(Datum::default, |ns| Datum::number(ns, time_text(ns)))
            };
            let change = cell.changes.iter().find(|c| c.at == at);
            rows.push(vec![
                Datum::text(clean(&cell.cell)),
                Datum::number(run.id as f64, run.id.to_string()),
                Datum::text(clean(&run.started)),
                time(point.map(|p| p.median_ns)),
                time(point.and_then(|p| p.low_ns)),
                time(point.and_then(|p| p.high_ns)),
                change.map_or_else(Datum::default, |c| Datum::number(c.ratio, ratio_text(c.ratio))),
            ]);
        }
    }
    Table { columns: columns.map(str::to_owned).to_vec(), rows }
}
