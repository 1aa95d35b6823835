//! From an outcome to what is reported.

use super::Outcome;
use super::observe::{logs, observations};
use super::schedule::seed_for;
use crate::plan::Plan;
use crate::result::{Interval, Twin};
use crate::stats::{Rules, pairs};

/// The baseline against itself; absent where no cell could run.
pub fn twin(plan: &Plan, outcome: &Outcome) -> Option<Twin> {
    let baseline = plan.baseline?;
    let cell = plan.cells.get(baseline)?.id.clone();
    let logs = logs(&outcome.cells, &outcome.twin);
    let seen = observations(vec![baseline, plan.cells.len()], &outcome.cells, &logs);
    let rules = Rules {
        alpha: plan.protocol.alpha,
        delta: plan.protocol.delta,
        pairs: 1.0,
        fixed: plan.protocol.rounds.is_some(),
        by_epoch: false,
        seed: seed_for(plan.protocol.seed, "twin", 0),
    };
    let pair = pairs(&seen, &rules).into_iter().next();
    let Interval { low, high } = pair.as_ref().map(|p| p.interval).unwrap_or_default();
    // The pair is first − second; the twin is reported as second / first.
    Some(Twin {
        cell,
        samples: outcome.twin.clone(),
        ratio: pair.map(|p| (-p.median).exp()),
        low: high.map(|h| (-h).exp()),
        high: low.map(|l| (-l).exp()),
    })
}

/// The observations of one answer, from a whole outcome.
pub fn observations_of(
    plan: &Plan,
    outcome: &Outcome,
    condition: usize,
) -> crate::stats::Observations {
    let logs = logs(&outcome.cells, &outcome.twin);
    observations(plan.conditions[condition].cells.clone(), &outcome.cells, &logs)
}
