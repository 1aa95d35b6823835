//! The figure of a cell that charts draw: time of one pass, or of one call where no bytes move.

use super::cells::{Index, Source};
use super::labels::{clean, level_text};
use super::model::{Datum, Mark, Point, Table};
use iolab_model::catalog::{Factor, WorkloadId, rate_text, ratio_text, time_text};
use iolab_model::result::{CellRecord, CellStatus, ExclusionReason, Summary};

/// Which figure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Estimated {
    /// Wall time of one pass over the data.
    Pass,
    /// Wall time of one operation.
    Operation,
}

/// A median with its interval, finite and positive.
#[derive(Clone, Copy, Debug)]
pub struct Value {
    /// Nanoseconds.
    pub median: f64,
    /// Lower end of the interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl From<&Summary> for Value {
    fn from(summary: &Summary) -> Value {
        Value { median: summary.median, low: summary.low, high: summary.high }
    }
}

impl Estimated {
    /// Per call where no cell moves bytes, per pass otherwise.
    pub fn of(index: &Index<'_>) -> Estimated {
        let moves =
            |s: &Source<'_>| s.cell.estimate.as_ref().is_some_and(|e| e.bytes_per_second.is_some());
        let calls = index.documents.iter().all(|d| d.experiment.is(WorkloadId::Syscall));
        let measured = index.cells.iter().any(|s| s.cell.estimate.is_some());
        match calls || (measured && !index.cells.iter().any(moves)) {
            true => Estimated::Operation,
            false => Estimated::Pass,
        }
    }

    /// The name of its axis.
    pub fn axis(self) -> &'static str {
        match self {
            Estimated::Pass => "time of one pass (log)",
            Estimated::Operation => "time of one call (log)",
        }
    }

    /// The cell's summary.
    pub fn summary(self, cell: &CellRecord) -> Option<&Summary> {
        let estimate = cell.estimate.as_ref()?;
        Some(match self {
            Estimated::Pass => &estimate.wall_ns,
            Estimated::Operation => &estimate.ns_per_operation,
        })
    }

    /// The cell's value; none where there is nothing that could be drawn.
    pub fn of_cell(self, cell: &CellRecord) -> Option<Value> {
        let summary = self.summary(cell)?;
        let good = |v: f64| v.is_finite() && v > 0.0;
        good(summary.median).then(|| Value {
            median: summary.median,
            low: summary.low.filter(|v| good(*v)),
            high: summary.high.filter(|v| good(*v)),
        })
    }
}

/// A point of a line chart at `x`.
pub fn point(source: &Source<'_>, measure: Estimated, value: Value, x: f64) -> Point {
    Point {
        x,
        y: value.median,
        low: value.low,
        high: value.high,
        mark: mark_of(source),
        tip: tip(source, measure, value),
    }
}

/// Hollow where a cell was left out before the end.
pub fn mark_of(source: &Source<'_>) -> Mark {
    match source.cell.status {
        CellStatus::Eliminated => Mark::Hollow,
        _ => Mark::Filled,
    }
}

/// What hollow marks mean, where a cell that is drawn was left out before the end. What was
/// screened out is not proven slower.
pub fn hollow_guide(cells: &[Source<'_>]) -> Option<String> {
    let why = |s: &Source<'_>| {
        s.cell.exclusion_reason().filter(|_| {
            s.cell.status == CellStatus::Eliminated && Estimated::Pass.of_cell(s.cell).is_some()
        })
    };
    let any = |wanted: ExclusionReason| cells.iter().any(|s| why(s) == Some(wanted));
    let words = match (any(ExclusionReason::Proven), any(ExclusionReason::Screened)) {
        (false, false) => return None,
        (true, false) => "because it was clearly slower",
        (false, true) => "because it looked much slower, which is not proven",
        (true, true) => "because it was clearly slower, or looked much slower (screened out)",
    };
    Some(format!("Hollow: left out before the end {words}"))
}

/// What a pointer is told about a cell: its name, figures, speed and what became of it.
pub fn tip(source: &Source<'_>, measure: Estimated, value: Value) -> String {
    let mut text = clean(&source.cell.id);
    text.push('\n');
    text += &time_interval(value);
    if measure == Estimated::Operation {
        text += " a call";
    }
    if let Some(speed) = source.cell.estimate.as_ref().and_then(|e| e.bytes_per_second.as_ref()) {
        text.push('\n');
        text += &rate_text(speed.median);
    }
    if let Some(summary) = measure.summary(source.cell) {
        text += &format!("\n{} rounds", summary.n);
    }
    if let Some(reason) = &source.cell.reason {
        text.push('\n');
        text += &clean(reason);
    }
    text
}

/// `8.2 ms (8.1–8.3 ms)`.
pub fn time_interval(value: Value) -> String {
    match (value.low, value.high) {
        (Some(low), Some(high)) => {
            format!("{} ({} to {})", time_text(value.median), time_text(low), time_text(high))
        }
        _ => time_text(value.median),
    }
}

/// Why a cell has no value.
pub fn missing_reason(source: &Source<'_>) -> String {
    let cell = source.cell;
    let why = match (&cell.reason, cell.status) {
        (Some(reason), _) => clean(reason),
        (None, CellStatus::Measured) if cell.estimate.is_some() => {
            "the figure is no number".to_owned()
        }
        (None, CellStatus::Measured) => "no steady round was finished".to_owned(),
        (None, _) => "no reason was recorded".to_owned(),
    };
    format!("{}\n{}: {why}", clean(&cell.id), cell.status.word())
}

/// Most rows of a chart's table.
const MOST_ROWS: usize = 2000;

/// The cells as a table: varying levels, time with interval, speed, rounds, state.
pub fn curve_table(index: &Index<'_>, measure: Estimated) -> Table {
    let varying = index.varying(&index.cells, &[]);
    let mut columns: Vec<String> = varying
        .iter()
        .map(|v| match v {
            super::cells::Split::Run => "run".to_owned(),
            super::cells::Split::Factor(factor) => factor.to_string(),
        })
        .collect();
    if columns.is_empty() {
        columns.push("cell".to_owned());
    }
    let time = if measure == Estimated::Pass { "time of a pass" } else { "time of a call" };
    columns.extend(
        [time, "low", "high", "bytes/s", "over the least median", "rounds", "state"]
            .map(str::to_owned),
    );
    let fastest = index.cells.iter().filter_map(|s| Some(measure.of_cell(s.cell)?.median));
    let fastest = fastest.fold(f64::INFINITY, f64::min);
    let rows = index.cells.iter().take(MOST_ROWS).map(|source| {
        let mut row: Vec<Datum> = varying.iter().map(|v| level_datum(index, *v, source)).collect();
        if row.is_empty() {
            row.push(Datum::text(clean(&source.cell.id)));
        }
        row.extend(figures(source, measure, fastest));
        row
    });
    Table { columns, rows: rows.collect() }
}

/// A level as a field: numbers sort as numbers.
pub fn level_datum(index: &Index<'_>, split: super::cells::Split, source: &Source<'_>) -> Datum {
    match split {
        super::cells::Split::Run => Datum::text(index.split_text(split, source, true)),
        super::cells::Split::Factor(factor) => match source.cell.factors.get(factor) {
            None => Datum::text("–"),
            level => {
                let value = source.cell.factors.number(factor).map(|n| n as f64);
                Datum { text: whole_text(factor, level), value }
            }
        },
    }
}

fn whole_text(factor: Factor, level: Option<&iolab_model::catalog::Level>) -> String {
    match level {
        Some(iolab_model::catalog::Level::Path(path)) => {
            clean(&iolab_model::catalog::path_to_text(path))
        }
        level => level_text(factor, level),
    }
}

fn figures(source: &Source<'_>, measure: Estimated, fastest: f64) -> Vec<Datum> {
    let time = |ns: Option<f64>| ns.map_or(Datum::default(), |ns| Datum::number(ns, time_text(ns)));
    let value = measure.of_cell(source.cell);
    let speed = source.cell.estimate.as_ref().and_then(|e| e.bytes_per_second.as_ref());
    let rounds = measure.summary(source.cell).map_or(0, |s| s.n);
    let state = match (&source.cell.reason, value) {
        (Some(reason), _) => format!("{}: {}", source.cell.status.word(), clean(reason)),
        (None, None) => "no value".to_owned(),
        (None, Some(_)) => source.cell.status.word().to_owned(),
    };
    vec![
        time(value.map(|v| v.median)),
        time(value.and_then(|v| v.low)),
        time(value.and_then(|v| v.high)),
        speed.map_or(Datum::default(), |s| Datum::number(s.median, rate_text(s.median))),
        value.map_or(Datum::default(), |v| {
            Datum::number(v.median / fastest, ratio_text(v.median / fastest))
        }),
        Datum::number(f64::from(rounds), rounds.to_string()),
        Datum::text(state),
    ]
}

#[cfg(test)]
mod tests {
    use super::hollow_guide;
    use crate::chart::charts_for;
    use crate::drawing::cells::Index;
    use crate::drawing::model::{Layer, Mark};
    use iolab_model::result::{CellStatus, Document};
    use iolab_test::scenes;

    fn without_two_threads(reason: &str) -> Document {
        let mut run = scenes::threads();
        let cell = &mut run.cells[1];
        (cell.status, cell.reason) = (CellStatus::Eliminated, Some(reason.to_owned()));
        run
    }

    /// Speeds by threads once showed cells that were left out like those that ran to the end.
    #[test]
    fn what_was_left_out_is_hollow_in_every_chart_and_explained() {
        let run = without_two_threads("screened out after round 4: 2.0× the leader");
        let charts = charts_for(&[run]);
        let chart = charts.iter().find(|c| c.slug == "throughput-by-threads").unwrap();
        let hollow = chart.panels.iter().flat_map(|p| &p.layers).any(|layer| match layer {
            Layer::Series(s) => s.points.iter().any(|p| p.mark == Mark::Hollow),
            _ => false,
        });
        assert!(hollow);
        assert!(chart.guide.iter().any(|g| g.starts_with("Hollow")), "{:?}", chart.guide);
    }

    #[test]
    fn what_was_screened_out_is_not_called_slower() {
        let guide = |reason: &str| {
            let documents = [without_two_threads(reason)];
            hollow_guide(&Index::new(&documents).cells).unwrap()
        };
        assert!(guide("eliminated at round 9: at least 1.3×").ends_with("clearly slower"));
        assert!(guide("screened out after round 4").ends_with("which is not proven"));
        let all = [scenes::threads()];
        assert_eq!(hollow_guide(&Index::new(&all).cells), None);
    }
}
