//! Going on with a run that was interrupted or killed.

use super::error::Error;
use iolab_model::plan::Plan;
use iolab_model::result::{CellRecord, Document, Sample, Twin};
use iolab_run::{CellOutcome, ExclusionReason, History, Left, TwinTrial};

/// A run that is gone on with.
#[derive(Debug)]
pub struct Resumed {
    /// As it was recorded.
    pub document: Document,
    /// Its samples.
    pub history: History,
}

/// What is known of the run, for a plan that must be the same.
///
/// # Errors
/// The plan of today has other cells: a file or the machine has changed.
pub fn resumed(document: Document, plan: &Plan) -> Result<Resumed, Error> {
    let same = document.cells.len() == plan.cells.len()
        && document.cells.iter().zip(&plan.cells).all(|(then, now)| then.factors == now.levels);
    if !same {
        return Err(Error::OtherCells(document.run.id));
    }
    let second_trial = |(id, sample): (&str, &Sample)| {
        let cell = document.cells.iter().position(|cell| cell.id == id)?;
        Some(TwinTrial { cell, sample: sample.clone() })
    };
    let history = History {
        cells: document.cells.iter().map(outcome).collect(),
        twin: document.twin.iter().flat_map(Twin::trials).filter_map(second_trial).collect(),
        epoch_rounds: document.experiment.protocol.epoch_rounds,
        elapsed_ns: elapsed_ns(&document),
    };
    Ok(Resumed { document, history })
}

fn outcome(cell: &CellRecord) -> CellOutcome {
    let round = cell.samples.last().map_or(0, |sample| sample.round);
    let reason = cell.reason.clone().unwrap_or_default();
    let why = ExclusionReason::of(cell);
    CellOutcome { samples: cell.samples.clone(), left: why.map(|why| Left { round, why, reason }) }
}

/// The time that the trials took: what is known of a run that was killed.
fn elapsed_ns(document: &Document) -> u64 {
    let twins = document.twin.iter().flat_map(|twin| &twin.samples);
    let all = document.cells.iter().flat_map(|cell| &cell.samples).chain(twins);
    all.fold(0, |sum, sample| sum.saturating_add(sample.measurement.wall_ns))
}
