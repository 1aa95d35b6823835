//! Shares of a cell's wall time, for the table and the pictures alike: by trial, in the middle of
//! the trials, so that one long trial says no more than another.

use iolab_model::result::{CellRecord, Measurement};
use iolab_stats::median;

/// Most kernels split user from system time by a clock tick, 4 ms apart on most, and hand a trial
/// that meets none whole to one side. Under ten of them the split is chance.
const SPLIT_FROM_NS: f64 = 40e6;

/// The usage is read around the clock's window, which takes a microsecond or two: of a shorter trial
/// that is more than a hundredth.
const SHARE_FROM_NS: f64 = 200e3;

fn steady(cell: &CellRecord) -> impl Iterator<Item = &Measurement> {
    let counts = cell.samples.iter().filter(|s| s.is_steady());
    counts.map(|sample| &sample.measurement).filter(|m| m.wall_ns > 0)
}

/// Processor time of all threads over wall time: 1 where one thread never waits, more where
/// several run. The median over the trials that count; none without such a trial, or where they
/// are so short that reading the usage would be part of it.
pub(super) fn processor(cell: &CellRecord) -> Option<f64> {
    wall_of(cell).filter(|wall| *wall >= SHARE_FROM_NS)?;
    let share = |m: &Measurement| (m.user_ns as f64 + m.system_ns as f64) / m.wall_ns as f64;
    median(&steady(cell).map(share).collect::<Vec<f64>>())
}

/// The part of the processor time that is user time, from 0 to 1, over all trials that count; none
/// where the trials are too short for the split to mean anything.
pub(super) fn user_of_processor(cell: &CellRecord) -> Option<f64> {
    wall_of(cell).filter(|wall| *wall >= SPLIT_FROM_NS)?;
    let sum = |of: fn(&Measurement) -> u64| steady(cell).map(|m| of(m) as f64).sum::<f64>();
    let (user, system) = (sum(|m| m.user_ns), sum(|m| m.system_ns));
    (user + system > 0.0).then(|| user / (user + system))
}

/// The wall time of a trial in the middle.
fn wall_of(cell: &CellRecord) -> Option<f64> {
    median(&steady(cell).map(|m| m.wall_ns as f64).collect::<Vec<f64>>())
}
