//! From an outcome to answers: observations and context in, judgement and sentence out.

use std::collections::BTreeMap;

use super::Outcome;
use super::answer_text::{AnswerParts, answer_text};
use super::budget::cost_of_round_ns;
use super::clone_class::clones_among_copies;
use super::estimate::{estimate, steady};
use super::interim::rules_of;
use super::name::names_of;
use super::observations::{RoundLog, logs, observations, rounds_of};
use super::schedule::seed_for;
use super::work::{Work, lies_in_cache};
use iolab_model::catalog::{Code, Severity, list_text};
use iolab_model::plan::{Condition, Plan};
use iolab_model::result::{Answer, AnswerKind, Comparison, Estimate, Phase, Sample, Twin, Warning};
use iolab_stats::{
    Context, Judgement, Observations, Pair, Rules, TwinFigures, judge, median, twin_figures,
};

/// The share of processor time that the host took, in a trial's metrics.
const STEAL: &str = "steal_share";

/// What a run shows.
#[derive(Clone, Debug, Default)]
pub struct Conclusion {
    /// One for each condition with a cell that could run.
    pub answers: Vec<Answer>,
    /// By cell of the plan; absent where nothing counts.
    pub estimates: Vec<Option<Estimate>>,
    /// By cell of the plan: the rounds whose trial is an outlier of its answer.
    pub outliers: Vec<Vec<u32>>,
    /// The baseline against itself.
    pub twin: Option<Twin>,
}

/// Concludes from what there is, complete or not.
pub fn conclude(plan: &Plan, outcome: &Outcome) -> Conclusion {
    let work = |cell: usize| Work::of(plan, &plan.cells[cell]);
    let cells = outcome.cells.iter().enumerate();
    let estimates: Vec<Option<Estimate>> =
        cells.map(|(cell, c)| estimate(&c.samples, &work(cell))).collect();
    let logs = logs(plan, &outcome.cells, &outcome.twin);
    let twin_d = twin_series(plan, outcome, &logs);
    let mut outliers = vec![Vec::new(); outcome.cells.len()];
    let answers = (0..plan.conditions.len())
        .filter(|index| !plan.conditions[*index].cells.is_empty())
        .map(|index| {
            let (answer, judgement) = answer(plan, outcome, index, &logs, &twin_d, &estimates);
            let cells = &plan.conditions[index].cells;
            let rounds = rounds_of(cells, &logs);
            for (at, place) in judgement.outliers {
                outliers[cells[at]].extend(rounds.get(place));
            }
            answer
        })
        .collect();
    Conclusion { answers, twin: twin_of(plan, outcome, &twin_d), estimates, outliers }
}

/// The baseline against itself; absent where no cell could run.
pub fn twin(plan: &Plan, outcome: &Outcome) -> Option<Twin> {
    twin_of(plan, outcome, &twin_series(plan, outcome, &logs(plan, &outcome.cells, &outcome.twin)))
}

fn twin_of(plan: &Plan, outcome: &Outcome, series: &[f64]) -> Option<Twin> {
    let cell = plan.cells.get(plan.baseline?)?.id.clone();
    let rules = Rules {
        alpha: plan.protocol.alpha,
        delta: plan.protocol.delta,
        pairs: 1.0,
        fixed: plan.protocol.rounds.is_some(),
        by_epoch: false,
        seed: seed_for(plan.protocol.seed, "twin", 0),
    };
    let figures = twin_figures(series, &rules);
    let exp = |pick: fn(&TwinFigures) -> Option<f64>| figures.as_ref().and_then(pick).map(f64::exp);
    Some(Twin {
        cell,
        samples: outcome.twin.clone(),
        ratio: exp(|f| Some(f.median)),
        low: exp(|f| f.interval.low),
        high: exp(|f| f.interval.high),
    })
}

/// ln(second arm / first) by steady round.
fn twin_series(plan: &Plan, outcome: &Outcome, logs: &[RoundLog]) -> Vec<f64> {
    let Some(baseline) = plan.baseline else { return Vec::new() };
    let seen = observations(vec![baseline, plan.cells.len()], &outcome.cells, logs);
    seen.y[1].iter().zip(&seen.y[0]).map(|(second, first)| second - first).collect()
}

/// The observations of one answer, from a whole outcome.
pub fn observations_of(plan: &Plan, outcome: &Outcome, condition: usize) -> Observations {
    let logs = logs(plan, &outcome.cells, &outcome.twin);
    observations(plan.conditions[condition].cells.clone(), &outcome.cells, &logs)
}

fn answer(
    plan: &Plan,
    outcome: &Outcome,
    index: usize,
    logs: &[RoundLog],
    twin: &[f64],
    estimates: &[Option<Estimate>],
) -> (Answer, Judgement) {
    let condition = &plan.conditions[index];
    let seen = observations(condition.cells.clone(), &outcome.cells, logs);
    let rules = rules_of(plan, index, outcome.calibration.epoch_rounds);
    let context = context(plan, outcome, condition, &seen, twin);
    let judgement = judge(&seen, &rules, &context);
    let more_seconds = judgement.more_rounds.map(|rounds| {
        let calibration = &outcome.calibration;
        let round_ns = match outcome.last_round_ns {
            0 => calibration.round_ns,
            measured => measured,
        } as f64;
        let renew_ns = calibration.renew_ns as f64;
        f64::from(rounds) * cost_of_round_ns(round_ns, renew_ns, calibration.epoch_rounds) / 1e9
    });
    let id = |at: &usize| plan.cells[condition.cells[*at]].id.clone();
    let told =
        AnswerParts { plan, outcome, condition, judgement: &judgement, estimates, more_seconds };
    let best = match judgement.kind {
        AnswerKind::Invalid => Vec::new(),
        _ => judgement.best.iter().map(id).collect(),
    };
    let answer = Answer {
        condition: condition.levels.clone(),
        kind: judgement.kind,
        best,
        grade: judgement.grade,
        raise: judgement.raise.clone(),
        sentence: answer_text(&told),
        rounds: judgement.rounds,
        detectable: judgement.detectable,
        more_seconds,
        warnings: warnings(plan, outcome, condition, &judgement),
        comparisons: judgement.pairs.iter().map(|p| comparison(p, &id)).collect(),
    };
    (answer, judgement)
}

fn comparison(pair: &Pair, id: &impl Fn(&usize) -> String) -> Comparison {
    Comparison {
        a: id(&pair.a).into(),
        b: id(&pair.b).into(),
        ratio: pair.median.exp(),
        low: pair.interval.low.map(f64::exp),
        high: pair.interval.high.map(f64::exp),
        verdict: pair.verdict,
        clear: pair.clear,
        n: pair.n,
        ties: pair.ties,
    }
}

fn context(
    plan: &Plan,
    outcome: &Outcome,
    condition: &Condition,
    seen: &Observations,
    twin: &[f64],
) -> Context {
    let clock = &outcome.calibration.clock;
    let samples = |cell: &usize| &outcome.cells[*cell].samples[..];
    let walls = |cell: &usize| {
        let walls: Vec<f64> = steady(samples(cell)).map(|s| s.measurement.wall_ns as f64).collect();
        median(&walls)
    };
    let shortest =
        condition.cells.iter().filter_map(walls).min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    let cell_of = |cell: &usize| &plan.cells[*cell];
    let mut epochs = seen.epoch.clone();
    epochs.dedup();
    let failed =
        |s: &Sample| s.measurement.proof.digest.as_ref().is_some_and(|d| d.matches == Some(false));
    let steals = condition.cells.iter().map(|cell| steal(samples(cell)));
    Context {
        twin: twin.to_vec(),
        overhead: clock.pair_cost_ns / shortest,
        resolution: clock.resolution_ns / shortest,
        steal: steals.fold(0.0, f64::max),
        instances: epochs.len() as u32,
        placement_matters: condition.cells.iter().any(|c| lies_in_cache(cell_of(c))),
        first_ratio: condition.cells.iter().map(|c| first_ratio(samples(c))).collect(),
        cold: condition.cells.iter().any(|c| cell_of(c).starts_cold()),
        flagged: condition.cells.iter().map(|c| flagged(samples(c))).sum(),
        check_failed: condition.cells.iter().any(|c| samples(c).iter().any(failed)),
    }
}

/// The share of processor time stolen over all steady trials of a cell, by their length: in a single
/// short trial one tick would look like everything.
fn steal(samples: &[Sample]) -> f64 {
    let (mut stolen, mut all) = (0.0, 0.0);
    for sample in steady(samples) {
        let wall = sample.measurement.wall_ns as f64;
        stolen += wall * sample.measurement.metrics.get(STEAL).copied().unwrap_or(0.0);
        all += wall;
    }
    if all > 0.0 { stolen / all } else { 0.0 }
}

/// Round 0 against the steady median, per unit of work.
fn first_ratio(samples: &[Sample]) -> f64 {
    let first = samples.iter().find(|s| s.phase == Phase::First).and_then(Sample::unit_ns);
    let later: Vec<f64> = steady(samples).filter_map(Sample::unit_ns).collect();
    match (first, median(&later)) {
        (Some(first), Some(later)) => first / later,
        _ => f64::NAN,
    }
}

/// Steady trials that count and yet carry a caution.
fn flagged(samples: &[Sample]) -> u32 {
    let cautioned =
        |s: &&Sample| s.measurement.flags.iter().any(|code| code.severity() >= Severity::Caution);
    steady(samples).filter(cautioned).count() as u32
}

/// What was found beside the answer, then what its trials were flagged with, worst first.
fn warnings(
    plan: &Plan,
    outcome: &Outcome,
    condition: &Condition,
    judgement: &Judgement,
) -> Vec<Warning> {
    let names = names_of(plan, condition);
    let all = condition.cells.len();
    let about = |cells: &[usize]| match cells.len() {
        0 => String::new(),
        n if n == all => String::new(),
        n if n > 3 => format!(" ({n} cells)"),
        _ => {
            let names: Vec<&str> = cells.iter().map(|c| names[*c].as_str()).collect();
            format!(" ({})", list_text(&names))
        }
    };
    let mut warnings: Vec<Warning> = judgement
        .findings
        .iter()
        .map(|f| {
            let text = format!("{}{}", f.detail, about(&f.cells));
            Warning { code: f.code, text }
        })
        .collect();
    let mut flags: BTreeMap<Code, (usize, Vec<usize>)> = BTreeMap::new();
    let mut trials = 0;
    for (at, cell) in condition.cells.iter().enumerate() {
        for sample in outcome.cells[*cell].samples.iter().filter(|s| s.phase == Phase::Steady) {
            trials += 1;
            // Of a run that is resumed: what was an outlier then may be none now.
            for code in sample.measurement.flags.iter().filter(|c| **c != Code::Outlier) {
                let (count, cells) = flags.entry(*code).or_default();
                *count += 1;
                if cells.last() != Some(&at) {
                    cells.push(at);
                }
            }
        }
    }
    for (code, (count, cells)) in flags {
        if warnings.iter().all(|w| w.code != code) {
            let cells = about(&cells);
            let text = format!("{count} of {trials} trials{cells}");
            warnings.push(Warning { code, text });
        }
    }
    let clones: Vec<usize> = clones_among_copies(&condition.cells, &outcome.cells);
    if !clones.is_empty() {
        let at = |cell: &usize| condition.cells.iter().position(|c| c == cell);
        let names: Vec<&str> =
            clones.iter().filter_map(|c| names.get(at(c)?)).map(String::as_str).collect();
        let text = format!("{} cloned: not ranked with the copies", list_text(&names));
        warnings.push(Warning { code: Code::ClassMixed, text });
    }
    warnings.sort_by_key(|w| std::cmp::Reverse(w.code.severity()));
    warnings
}
