//! Which figures of a cell people ask for, by what was done: a speed of bytes, files a second, the
//! time of a call, of a durable write, percentiles.

use super::super::latency::over_rounds;
use iolab_model::catalog::{
    Code, ColumnUnit, Factor, Pattern, Sync, WorkloadId, bytes_text, count_text,
};
use iolab_model::result::{CellRecord, Document, Measurement, Summary};

/// A column of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figure {
    /// Of a pass over the data.
    Pass,
    /// Of one call, write or file.
    Operation(&'static str),
    Speed,
    /// Operations a second.
    Rate(&'static str),
    /// A percentile of single operations.
    Percentile(&'static str, &'static str),
}

impl Figure {
    /// The columns of a table of these cells; the first tells them apart best.
    pub(super) fn columns(doc: &Document, cells: &[&CellRecord]) -> Vec<Figure> {
        let all =
            |is: &dyn Fn(&CellRecord) -> bool| !cells.is_empty() && cells.iter().all(|c| is(c));
        let moves = cells.iter().any(|cell| Figure::Speed.of(cell).is_some());
        // A copy is one call or many: a "write" of one method was 49 ms beside 0.9 ms of another.
        let copies = doc.experiment.is(WorkloadId::Copy);
        let waits = !copies && all(&|cell| cell.factors.word().is_some_and(Sync::waits_within));
        let random = all(&|cell| cell.factors.word() == Some(Pattern::Random));
        let mut columns = match () {
            () if doc.experiment.is(WorkloadId::Files) => {
                vec![Figure::Operation("per file"), Figure::Rate("files/s")]
            }
            () if !moves || doc.experiment.is(WorkloadId::Syscall) => {
                vec![Figure::Operation("per call")]
            }
            // What a device can do of them is told and compared as a number a second.
            () if waits => {
                vec![Figure::Operation("per write"), Figure::Rate("writes/s"), Figure::Speed]
            }
            () if random => {
                vec![Figure::Operation("per block"), Figure::Rate("IOPS"), Figure::Speed]
            }
            () => vec![Figure::Pass, Figure::Speed],
        };
        let timed = [("latency_p50_ns", "p50"), ("latency_p99_ns", "p99")];
        let timed = timed.map(|(id, title)| Figure::Percentile(id, title));
        columns.extend(timed.into_iter().filter(|p| cells.iter().any(|c| p.of(c).is_some())));
        columns
    }

    /// Its value for a cell.
    pub(super) fn of(self, cell: &CellRecord) -> Option<f64> {
        let estimate = cell.estimate.as_ref()?;
        let median = |summary: &Summary| summary.median;
        match self {
            Figure::Pass => Some(estimate.wall_ns.median),
            Figure::Operation(_) => Some(estimate.ns_per_operation.median),
            Figure::Speed => estimate.bytes_per_second.as_ref().map(median),
            Figure::Rate(_) => {
                Some(estimate.ns_per_operation.median).filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns)
            }
            Figure::Percentile(id, _) => over_rounds(cell, id).as_ref().map(median),
        }
    }

    /// The unit of its column, which all tables of a run share, and the sentences below them. Those of
    /// single operations have that of the operation they stand beside, where it suits them.
    pub(super) fn unit(self, doc: &Document, columns: &[Figure]) -> ColumnUnit {
        let values = |figure: Figure| -> Vec<f64> {
            doc.cells.iter().filter_map(|cell| figure.of(cell)).collect()
        };
        let own = values(self);
        match self {
            Figure::Speed => ColumnUnit::of_rates(&own),
            Figure::Percentile(..) => {
                let each = columns.iter().find(|column| matches!(column, Figure::Operation(_)));
                let shared = each.map(|each| ColumnUnit::of_times(&values(*each)));
                let suits = shared.filter(|unit| unit.suits(&own));
                suits.unwrap_or_else(|| ColumnUnit::of_times(&own))
            }
            _ => ColumnUnit::of_times(&own),
        }
    }

    /// A value of its column; nothing where a cell has none.
    pub(super) fn text(self, value: Option<f64>, unit: ColumnUnit) -> String {
        match (self, value) {
            (_, None) => String::new(),
            (Figure::Rate(_), Some(rate)) => count_text(rate.round() as u64),
            (_, Some(value)) => unit.text(value),
        }
    }

    /// What stands above it. What was worked out from parts of a pass is marked.
    pub(super) fn title(self, cells: &[&CellRecord]) -> String {
        match self {
            Figure::Pass => {
                // Of some alone it is said beside each.
                let all = cells.iter().all(|cell| cell.is_extrapolated());
                let about = if all && !cells.is_empty() { "≈ " } else { "" };
                match pass_bytes(cells) {
                    Some(bytes) => format!("{about}per {}", bytes_text(bytes)),
                    None => format!("{about}per pass"),
                }
            }
            Figure::Operation(title) | Figure::Rate(title) | Figure::Percentile(_, title) => {
                title.to_owned()
            }
            Figure::Speed => "speed".to_owned(),
        }
    }
}

fn trials<'a>(cells: &[&'a CellRecord]) -> impl Iterator<Item = &'a Measurement> {
    let cells: Vec<&CellRecord> = cells.to_vec();
    let counted = |cell: &'a CellRecord| cell.samples.iter().filter(|sample| sample.counts());
    cells.into_iter().flat_map(counted).map(|sample| &sample.measurement)
}

/// Bytes of a pass, where it is the same for all.
fn pass_bytes(cells: &[&CellRecord]) -> Option<u64> {
    let own = cells.iter().filter_map(|cell| cell.factors.number(Factor::FileSize));
    let of_trial = |trial: &Measurement| {
        let whole = !trial.flags.contains(&Code::Bounded) && trial.repetitions > 0;
        let proven = || trial.proof.cache.as_ref()?.before.as_ref().map(|seen| seen.total_bytes);
        if whole { Some(trial.bytes / trial.repetitions) } else { proven() }
    };
    let mut all: Vec<u64> = own.chain(trials(cells).filter_map(of_trial)).collect();
    all.sort_unstable();
    all.dedup();
    match all[..] {
        [one] if one > 0 => Some(one),
        _ => None,
    }
}
