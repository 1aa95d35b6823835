//! How long single operations took, for the table: the percentiles of each round, in the middle of
//! the rounds, with an interval over them (never the percentiles of all rounds thrown together).

use std::collections::BTreeSet;

use super::view::Section;
use crate::catalog::time_text;
use crate::result::{CellRecord, Phase, Summary};
use crate::stats::summary;

/// The metrics in the order of columns, and their titles.
const COLUMNS: [(&str, &str); 6] = [
    ("latency_p50_ns", "p50"),
    ("latency_p90_ns", "p90"),
    ("latency_p99_ns", "p99"),
    ("latency_p99_9_ns", "p99.9"),
    ("latency_p99_99_ns", "p99.99"),
    // Of a round, like the others: its middle over the rounds is below the longest of all.
    ("latency_max_ns", "max of a round"),
];

/// Titles and rows; no row where no operation was timed by itself.
#[derive(Debug, Default)]
pub(super) struct Latency {
    /// `cell`, then a pair of columns for each percentile that some cell has: value and interval.
    pub(super) titles: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

/// What stands under the rows: what a percentile is, and what the clock adds to each time.
pub(super) fn legend(sections: &[Section], clock_cost_ns: f64) -> Option<String> {
    sections.iter().any(|section| !section.latency.rows.is_empty()).then(|| format!(
        "Operations timed one by one: the percentile of each round, in the middle of the rounds, \
         with its 95 % interval over them (fixed-n). A percentile stands where a round has the \
         operations for it: p99 needs 100, p99.9 needs 1000. Each time holds one reading of the \
         clock, {} here; none is taken off.",
        time_text(clock_cost_ns)
    ))
}

impl Latency {
    pub(super) fn of(cells: &[&CellRecord]) -> Latency {
        let timed: Vec<Vec<Option<Summary>>> =
            cells.iter().map(|cell| COLUMNS.map(|(id, _)| over_rounds(cell, id)).into()).collect();
        let shown: BTreeSet<usize> = timed
            .iter()
            .flat_map(|row| (0..COLUMNS.len()).filter(|at| row[*at].is_some()))
            .collect();
        if shown.is_empty() {
            return Latency::default();
        }
        let pair = |at: &usize| [COLUMNS[*at].1, "95 %"];
        let titles = std::iter::once("cell").chain(shown.iter().flat_map(pair)).collect();
        let rows = cells.iter().zip(&timed).filter(|(_, row)| row.iter().any(Option::is_some));
        let rows = rows.map(|(cell, row)| {
            let pair = |at: &usize| match &row[*at] {
                Some(seen) => [time_text(seen.median), interval_text(seen)],
                None => [String::new(), String::new()],
            };
            std::iter::once(cell.id.clone()).chain(shown.iter().flat_map(pair)).collect()
        });
        Latency { titles, rows: rows.collect() }
    }
}

/// A metric over the steady rounds of a cell.
pub(super) fn over_rounds(cell: &CellRecord, id: &str) -> Option<Summary> {
    let steady = cell.samples.iter().filter(|s| s.phase == Phase::Steady && s.counts());
    let values: Vec<f64> = steady.filter_map(|s| s.measurement.metrics.get(id).copied()).collect();
    summary(&values)
}

/// The interval of a median: `30.9–31.6 ms`, the unit once where both have it.
pub(super) fn interval_text(summary: &Summary) -> String {
    let (Some(low), Some(high)) = (summary.low, summary.high) else { return String::new() };
    between_text(low, high)
}

/// Two times: `30.9–31.6 ms`, the unit once where both have it.
pub(super) fn between_text(low: f64, high: f64) -> String {
    let (low, high) = (time_text(low), time_text(high));
    match (low.split_once(' '), high.split_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

#[cfg(test)]
mod tests {
    use super::Latency;
    use crate::result::{CellRecord, CellStatus, Measurement, Metrics, Phase, Sample, Shared};

    fn cell(id: &str, p50: &[f64], p99: bool) -> CellRecord {
        let sample = |(round, ns): (usize, &f64)| {
            let mut metrics = Metrics::from([("latency_p50_ns", *ns)]);
            if p99 {
                metrics.insert("latency_p99_ns".into(), 10.0 * ns);
            }
            let measurement = Measurement {
                wall_ns: 1000,
                metrics,
                proof: Shared::default(),
                ..Measurement::default()
            };
            let (round, position, epoch, phase) = (round as u32, 0, 0, Phase::Steady);
            Sample { round, position, phase, epoch, measurement, fault: None }
        };
        CellRecord {
            id: id.into(),
            factors: Default::default(),
            status: CellStatus::Measured,
            reason: None,
            samples: p50.iter().enumerate().map(sample).collect(),
            estimate: None,
        }
    }

    #[test]
    fn percentiles_are_taken_over_rounds_and_shown_where_there_are_any() {
        let all = [cell("a", &[100.0, 300.0, 200.0], true), cell("b", &[50.0; 8], false)];
        let seen = Latency::of(&all.iter().collect::<Vec<_>>());
        assert_eq!(seen.titles, ["cell", "p50", "95 %", "p99", "95 %"]);
        assert_eq!(seen.rows[0], ["a", "200 ns", "", "2.00 µs", ""]);
        assert_eq!(seen.rows[1][..2], ["b", "50.0 ns"]);
        assert!(seen.rows[1][2].contains("50.0") && seen.rows[1][3].is_empty());
        assert!(Latency::of(&[&cell("c", &[], true)]).rows.is_empty());
    }
}
