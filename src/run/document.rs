//! A run as the document that records keep and reports show.

use std::collections::BTreeMap;

use super::Outcome;
use super::conclude::{Conclusion, conclude};
use crate::catalog::{Code, Level, path_to_text};
use crate::plan::Plan;
use crate::result::{
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
                let (status, reason) = match (&cell.skip, seen.left) {
                    (Some(skip), _) => (CellStatus::Skipped, Some(skip.clone())),
                    (None, Some(left)) => (left.why.status(), Some(left.reason)),
                    (None, None) => (CellStatus::Measured, None),
                };
                CellRecord {
                    id: cell.id.clone(),
                    factors: cell.levels.clone(),
                    status,
                    reason,
                    samples: seen.samples,
                    estimate,
                }
            })
            .collect(),
        twin,
        answers,
        warnings: outcome.warnings,
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
            alpha: plan.protocol.alpha,
            delta: plan.protocol.delta,
            budget_ns: plan.protocol.budget_ns,
            rounds: plan.protocol.rounds,
            eliminate: plan.protocol.eliminate,
            cpus: plan.protocol.cpus.clone(),
            clock_resolution_ns: outcome.calibration.clock.resolution_ns,
            clock_cost_ns: outcome.calibration.clock.pair_cost_ns,
            epoch_rounds: outcome.calibration.epoch_rounds,
            steady_rounds: outcome.steady_rounds,
            stopped: outcome.stopped.text().to_owned(),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::document;
    use crate::catalog::Code;
    use crate::result::{Environment, Phase, RunInfo, Sample};
    use crate::run::testing::{Noise, PlanShape, VirtualMachine, plan};
    use crate::run::{StopSignal, drive};

    /// Outliers were once counted in the answer alone: no trial bore the flag, so that every chart
    /// said "no outlier" and the flags of every table were empty.
    #[test]
    fn trials_bear_the_flag_that_the_answer_counts() {
        let mut shape = PlanShape::new(3, 7);
        shape.protocol.rounds = Some(60);
        let plan = plan(&shape);
        let noises = [Noise::LogNormal(0.01), Noise::Spikes(0.05)];
        let mut machine = VirtualMachine::new(vec![1e5, 2e5, 4e5], 11).with(&noises);
        let outcome = drive(&plan, &mut machine, &mut [], None, &|| StopSignal::None).unwrap();
        let documented = |outcome: crate::run::Outcome| {
            document(&plan, outcome, RunInfo::default(), Environment::default())
        };
        let mut again = outcome.clone();
        // What an earlier end of a resumed run took for an outlier.
        let early = again.cells[0].samples.iter_mut().find(|s| s.phase != Phase::Steady).unwrap();
        early.measurement.flags.push(Code::Outlier);
        for outcome in [outcome, again] {
            let run = documented(outcome);
            let outlier = |s: &&Sample| s.measurement.flags.contains(&Code::Outlier);
            let flagged: Vec<&Sample> =
                run.cells.iter().flat_map(|c| &c.samples).filter(outlier).collect();
            assert!(flagged.iter().all(|s| s.phase == Phase::Steady));
            let warnings = &run.answers[0].warnings;
            let told = &warnings.iter().find(|w| w.code == Code::Outlier).unwrap().text;
            assert!(told.starts_with(&format!("{} of ", flagged.len())), "{told}");
            // Those that lie far above the median of their cell, not their neighbours.
            for cell in &run.cells {
                let median = cell.estimate.as_ref().unwrap().wall_ns.median;
                let mut all = cell.samples.iter().filter(|s| s.phase == Phase::Steady);
                assert!(
                    all.all(|s| { s.measurement.wall_ns as f64 <= 2.0 * median || outlier(&s) })
                );
            }
        }
    }
}
