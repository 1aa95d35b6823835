//! Which figures of a cell people ask for, by what was done: a speed of bytes, files a second, the
//! time of a call, of a durable write, percentiles.

use super::super::latency::over_rounds;
use iolab_model::catalog::{
    Code, Factor, Pattern, Sync, WorkloadId, bytes_text, count_text, rates_text, times_text,
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
            () if waits => vec![Figure::Operation("per write"), Figure::Speed],
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

    /// The values of a column as text, in one unit; empty where a cell has none.
    pub(super) fn texts(self, values: &[Option<f64>]) -> Vec<String> {
        let known: Vec<f64> = values.iter().flatten().copied().collect();
        let texts = match self {
            Figure::Speed => rates_text(&known),
            Figure::Rate(_) => known.iter().map(|rate| count_text(rate.round() as u64)).collect(),
            _ => times_text(&known),
        };
        let mut texts = texts.into_iter();
        values.iter().map(|value| value.and_then(|_| texts.next()).unwrap_or_default()).collect()
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
