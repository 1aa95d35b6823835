//! Trials taken together until the kernel has seen enough of them: it may split user from system time
//! by ticks of 4 ms, so that a short trial has no user time, or nothing else.

use std::collections::BTreeMap;

use super::shown::steady;
use iolab_model::result::{CellRecord, Measurement, Sample};

/// What is taken together lasts so long, in nanoseconds.
const STRETCH_NS: u64 = 100_000_000;
/// Of trials shorter than this, a stretch would be too many.
pub(super) const SHORT_NS: f64 = 20e6;

/// The cells with their steady trials taken together by neighbouring rounds, the same rounds for all
/// of them. Where a stretch ends is known from the elapsed time alone, so that somebody may look after
/// each; what is left over at the end is none.
pub(super) fn stretched(cells: &[&CellRecord]) -> Vec<CellRecord> {
    let mut rounds: BTreeMap<u32, Vec<&Sample>> = BTreeMap::new();
    for sample in cells.iter().flat_map(|cell| steady(cell)) {
        rounds.entry(sample.round).or_default().push(sample);
    }
    let mut all: Vec<CellRecord> = cells.iter().map(|cell| emptied(cell)).collect();
    let mut open: Option<Vec<Sample>> = None;
    for trials in rounds.into_values().filter(|trials| trials.len() == cells.len()) {
        let longer = match open.take() {
            None => trials.into_iter().cloned().collect(),
            Some(mut longer) => {
                longer.iter_mut().zip(trials).for_each(|(longer, trial)| add(longer, trial));
                longer
            }
        };
        match longer.iter().all(|sample: &Sample| sample.measurement.wall_ns >= STRETCH_NS) {
            true => all.iter_mut().zip(longer).for_each(|(cell, s)| cell.samples.push(s)),
            false => open = Some(longer),
        }
    }
    all
}

fn emptied(cell: &CellRecord) -> CellRecord {
    CellRecord {
        id: cell.id.clone(),
        factors: cell.factors.clone(),
        status: cell.status,
        reason: cell.reason.clone(),
        exclusion: cell.exclusion,
        samples: Vec::new(),
        estimate: None,
    }
}

fn add(longer: &mut Sample, trial: &Sample) {
    let (all, one): (&mut Measurement, &Measurement) =
        (&mut longer.measurement, &trial.measurement);
    all.wall_ns += one.wall_ns;
    all.user_ns += one.user_ns;
    all.system_ns += one.system_ns;
    all.bytes += one.bytes;
    all.operations += one.operations;
    all.repetitions += one.repetitions;
}
