//! A run as the document that records keep and reports show.

use std::collections::BTreeMap;

use super::conclude::{Conclusion, conclude};
use super::{CellOutcome, Outcome};
use iolab_model::catalog::{Code, Level, path_to_text};
use iolab_model::plan::{Cell, Plan};
use iolab_model::result::{
    CellRecord, CellStatus, Document, Environment, ExperimentRecord, Phase, ProtocolRecord,
    RunInfo, SCHEMA, Sample,
};

/// The whole document: everything measured, everything concluded. The samples move into it: of a
/// large run there is room for one copy.
pub fn document(plan: &Plan, outcome: Outcome, run: RunInfo, environment: Environment) -> Document {
    let Conclusion { answers, estimates, outliers, twin } = conclude(plan, &outcome);
    let run = RunInfo { complete: outcome.complete(), seed: plan.protocol.seed, ..run };
    let experiment = experiment(plan, &outcome);
    let cells = plan.cells.iter().zip(outcome.cells).zip(estimates).zip(outliers);
    Document {
        schema: SCHEMA.to_owned(),
        run,
        environment,
        experiment,
        cells: cells
            .map(|(((cell, mut seen), estimate), outliers)| {
                flag_outliers(&mut seen.samples, &outliers);
                CellRecord { estimate, ..seen_of(cell, seen) }
            })
            .collect(),
        twin,
        answers,
        warnings: outcome.warnings,
    }
}

/// What was measured so far, with nothing concluded from it: what a question between rounds is judged
/// by.
pub fn so_far(plan: &Plan, outcome: &Outcome, environment: Environment) -> Document {
    let cells = plan.cells.iter().zip(&outcome.cells);
    let cells = cells.map(|(cell, seen)| seen_of(cell, seen.clone()));
    Document {
        schema: SCHEMA.to_owned(),
        run: RunInfo { seed: plan.protocol.seed, ..RunInfo::default() },
        environment,
        experiment: experiment(plan, outcome),
        cells: cells.collect(),
        twin: None,
        answers: Vec::new(),
        warnings: Vec::new(),
    }
}

/// What was seen of a cell, with no figure of it.
fn seen_of(cell: &Cell, seen: CellOutcome) -> CellRecord {
    let (exclusion, status, reason) = match (&cell.skip, seen.left) {
        (Some(skip), _) => (None, CellStatus::Skipped, Some(skip.clone())),
        (None, Some(left)) => (Some(left.why), left.why.status(), Some(left.reason)),
        (None, None) => (None, CellStatus::Measured, None),
    };
    CellRecord {
        id: cell.id.clone(),
        factors: cell.levels.clone(),
        status,
        reason,
        exclusion,
        samples: seen.samples,
        estimate: None,
    }
}

/// Flags the steady trials of these rounds as outliers, and no other.
fn flag_outliers(samples: &mut [Sample], rounds: &[u32]) {
    for sample in samples {
        let flags = &mut sample.measurement.flags;
        flags.retain(|code| *code != Code::Outlier);
        if sample.phase == Phase::Steady && rounds.contains(&sample.round) {
            flags.push(Code::Outlier);
        }
    }
}

/// What was asked and how it was measured.
pub fn experiment(plan: &Plan, outcome: &Outcome) -> ExperimentRecord {
    let value = |level: &Level| match level {
        Level::Number(n) => serde_json::Value::from(*n),
        other => serde_json::Value::from(other.to_string()),
    };
    let factors: BTreeMap<_, _> = plan
        .factors
        .iter()
        .map(|(factor, levels)| (*factor, levels.iter().map(value).collect()))
        .collect();
    ExperimentRecord {
        workload: plan.workload.clone(),
        directory: Some(path_to_text(&plan.directory)),
        factors,
        ask: plan.ask.clone(),
        protocol: ProtocolRecord {
            clock_resolution_ns: outcome.calibration.clock.resolution_ns,
            clock_cost_ns: outcome.calibration.clock.pair_cost_ns,
            epoch_rounds: outcome.calibration.epoch_rounds,
            steady_rounds: outcome.steady_rounds,
            stopped: outcome.stopped.text().to_owned(),
            ..plan.protocol.record()
        },
    }
}
