//! How long single operations took, for the table: the percentiles of each round, in the middle of
//! the rounds, with an interval over them (never the percentiles of all rounds thrown together).

use std::collections::BTreeSet;

use super::view_model::Section;
use iolab_model::catalog::{Factor, bytes_text, time_text};
use iolab_model::result::{CellRecord, Summary};
use iolab_stats::{median, summary};

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
    /// `cell`, `step` where steps are timed by themselves, then a pair of columns for each
    /// percentile that some line has: value and interval.
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

/// Steps that are timed apart, where an operation has several: the start of the metric's id.
pub(super) const STEPS: [&str; 5] = ["open", "transfer", "sync", "close", "call"];

/// One line: whole operations of a cell, or one step of them.
struct Timed<'a> {
    cell: &'a CellRecord,
    step: Option<&'static str>,
    /// By column.
    seen: [Option<Summary>; COLUMNS.len()],
}

impl<'a> Timed<'a> {
    /// Nothing where nothing of it was timed.
    fn of(cell: &'a CellRecord, step: Option<&'static str>) -> Option<Timed<'a>> {
        let before = step.map(|step| format!("{step}_")).unwrap_or_default();
        let seen = COLUMNS.map(|(id, _)| over_rounds(cell, &format!("{before}{id}")));
        seen.iter().any(Option::is_some).then_some(Timed { cell, step, seen })
    }

    fn name(&self, unlike: bool) -> String {
        match operation_bytes(self.cell).filter(|_| unlike && self.step.is_none()) {
            Some(bytes) => format!("{} ({} each)", self.cell.id, bytes_text(bytes)),
            None => self.cell.id.clone(),
        }
    }
}

impl Latency {
    pub(super) fn of(cells: &[&CellRecord]) -> Latency {
        let timed: Vec<Timed<'_>> = cells
            .iter()
            .flat_map(|cell| {
                let steps = std::iter::once(None).chain(STEPS.map(Some));
                steps.filter_map(|step| Timed::of(cell, step))
            })
            .collect();
        let shown: BTreeSet<usize> = timed
            .iter()
            .flat_map(|line| (0..COLUMNS.len()).filter(|at| line.seen[*at].is_some()))
            .collect();
        if shown.is_empty() {
            return Latency::default();
        }
        let whole = timed.iter().filter(|line| line.step.is_none());
        let unlike = differ(whole.filter_map(|line| operation_bytes(line.cell)));
        let pair = |at: &usize| [COLUMNS[*at].1, "95 %"];
        let steps = timed.iter().any(|line| line.step.is_some());
        let heads = std::iter::once("cell").chain(steps.then_some("step"));
        let titles = heads.chain(shown.iter().flat_map(pair)).collect();
        let rows = timed.iter().map(|line| {
            let pair = |at: &usize| match &line.seen[*at] {
                Some(seen) => [time_text(seen.median), interval_text(seen)],
                None => [String::new(), String::new()],
            };
            let step = steps.then(|| line.step.unwrap_or("all").to_owned());
            let heads = std::iter::once(line.name(unlike)).chain(step);
            heads.chain(shown.iter().flat_map(pair)).collect()
        });
        Latency { titles, rows: rows.collect() }
    }
}

/// Bytes that one operation moves: a block, or a step of what has none. The middle of the trials;
/// none where no bytes move.
pub(super) fn operation_bytes(cell: &CellRecord) -> Option<u64> {
    let steady = cell.samples.iter().filter(|s| s.is_steady());
    let moved = steady.map(|s| &s.measurement).filter(|m| m.bytes > 0 && m.operations > 0);
    let each = median(&moved.map(|m| m.bytes as f64 / m.operations as f64).collect::<Vec<f64>>())?;
    // The last block of a file may be a part of one.
    let whole = cell.factors.number(Factor::Block).filter(|b| alike(*b as f64, each));
    Some(whole.unwrap_or(each.round() as u64))
}

fn alike(a: f64, b: f64) -> bool {
    (a / b).ln().abs() < 0.1
}

/// Whether operations move so unlike amounts that their times do not compare.
pub(super) fn differ(bytes: impl Iterator<Item = u64>) -> bool {
    let all: Vec<u64> = bytes.collect();
    let (least, most) = (all.iter().min(), all.iter().max());
    least.zip(most).is_some_and(|(least, most)| !alike(*least as f64, *most as f64))
}

/// A metric over the steady rounds of a cell.
pub(super) fn over_rounds(cell: &CellRecord, id: &str) -> Option<Summary> {
    let steady = cell.samples.iter().filter(|s| s.is_steady());
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
    use iolab_model::result::{
        CellRecord, CellStatus, Measurement, Metrics, Phase, Sample, Shared,
    };

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
            exclusion: None,
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

    /// `files --latency` once recorded each step and showed none of them.
    #[test]
    fn steps_of_files_have_a_line_each() {
        let mut files = cell("read", &[], false);
        files.samples = cell("", &[100.0; 4], false).samples;
        for sample in &mut files.samples {
            let steps = [("open_latency_p50_ns", 900.0), ("close_latency_p99_ns", 400.0)];
            sample.measurement.metrics = Metrics::from(steps);
        }
        let seen = Latency::of(&[&files]);
        assert_eq!(seen.titles, ["cell", "step", "p50", "95 %", "p99", "95 %"]);
        assert_eq!(seen.rows[0][..3], ["read", "open", "900 ns"]);
        assert_eq!((&*seen.rows[1][1], &*seen.rows[1][4]), ("close", "400 ns"));
        assert_eq!(seen.rows.len(), 2);
    }

    /// p50 of pread and of mmap once stood beside each other unsaid, 4 KiB of the one and 1 MiB of
    /// the other.
    #[test]
    fn operations_of_unlike_sizes_say_how_much_they_move() {
        let mut all = [cell("pread", &[100.0; 4], false), cell("mmap", &[50.0; 4], false)];
        let names = |all: &[CellRecord]| {
            let seen = Latency::of(&all.iter().collect::<Vec<_>>());
            seen.rows.iter().map(|row| row[0].clone()).collect::<Vec<_>>()
        };
        let moves = |cell: &mut CellRecord, bytes: u64| {
            for sample in &mut cell.samples {
                (sample.measurement.bytes, sample.measurement.operations) = (bytes, 16);
            }
        };
        moves(&mut all[0], 16 * 4096 - 100);
        moves(&mut all[1], 16 * 4096);
        assert_eq!(names(&all), ["pread", "mmap"]);
        moves(&mut all[0], 16 * 4096);
        moves(&mut all[1], 16 << 20);
        assert_eq!(names(&all), ["pread (4 KiB each)", "mmap (1 MiB each)"]);
    }
}
