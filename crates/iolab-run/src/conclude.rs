//! From an outcome to answers: observations and context in, judgement and sentence out.

use std::collections::BTreeMap;

use super::answer_rules::rules_of;
use super::answer_text::{AnswerParts, answer_text, without_text};
use super::budget::cost_of_round_ns;
use super::clone_class::clones_among_copies;
use super::estimate::{estimate, steady};
use super::name::{are_calls, names_of};
use super::observations::{ConditionLog, RoundLog, condition_log, logs, rounds_of};
use super::work::{Work, lies_in_cache};
use super::{Outcome, TwinTrial};
use iolab_model::catalog::{Code, list_text, ratio_text, so_many};
use iolab_model::plan::{Condition, Plan};
use iolab_model::result::{
    Answer, AnswerKind, BY_MORE, Comparison, Estimate, LevelsOf, MoreTime, Phase, Pick, Regret,
    Sample, Twin, Warning, crossings, within,
};
use iolab_stats::claims::{Claims, Control, Raise, Standing, control};
use iolab_stats::{Context, Judgement, Pair, claimed, judge, median};

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
    /// Cells against themselves.
    pub twin: Option<Twin>,
}

/// Concludes from what there is, complete or not.
pub fn conclude(plan: &Plan, outcome: &Outcome) -> Conclusion {
    let work = |cell: usize| Work::of(plan, &plan.cells[cell]);
    let cells = outcome.cells.iter().enumerate();
    let estimates: Vec<Option<Estimate>> =
        cells.map(|(cell, c)| estimate(&c.samples, &work(cell), plan.protocol.alpha)).collect();
    let logs = logs(plan, &outcome.cells, &outcome.twin);
    let mut outliers = vec![Vec::new(); outcome.cells.len()];
    let levels: LevelsOf<'_> =
        plan.cells.iter().map(|cell| (cell.id.as_str(), &cell.levels)).collect();
    let mut answers: Vec<Answer> = (0..plan.conditions.len())
        .filter(|index| !plan.conditions[*index].cells.is_empty())
        .map(|index| {
            let log = log_of(plan, outcome, index, &logs);
            let context = context(plan, outcome, index, &log);
            let judgement = judge(&log.seen, &log.rules, &context);
            let cells = &plan.conditions[index].cells;
            let rounds = rounds_of(cells, &logs);
            for (at, place) in &judgement.outliers {
                outliers[cells[*at]].extend(rounds.get(*place));
            }
            answer(plan, outcome, index, &judgement, (&estimates, &levels))
        })
        .collect();
    tell_crossings(plan, &levels, &mut answers);
    Conclusion { answers, twin: twin_of(plan, outcome, &logs), estimates, outliers }
}

/// Where one way gives way to another from condition to condition: said where it is first the best.
fn tell_crossings(plan: &Plan, levels: &LevelsOf<'_>, answers: &mut [Answer]) {
    for (at, crossing) in crossings(answers, levels, &plan.ask) {
        answers[at].sentence += &format!("; {}", crossing.sentence);
        answers[at].findings.push(crossing);
    }
}

/// Cells against themselves; absent where no cell could run.
pub fn twin(plan: &Plan, outcome: &Outcome) -> Option<Twin> {
    twin_of(plan, outcome, &logs(plan, &outcome.cells, &outcome.twin))
}

fn twin_of(plan: &Plan, outcome: &Outcome, logs: &[RoundLog]) -> Option<Twin> {
    plan.baseline?;
    let steady = logs.iter().filter(|log| log.steady);
    let d: Vec<f64> = steady.filter_map(|log| Some(log.control(plan.protocol.seed)?.1)).collect();
    let figures = control(&d, plan.protocol.alpha);
    let bound = |pick: fn(&Control) -> f64| {
        figures.as_ref().map(pick).filter(|ln| ln.is_finite()).map(f64::exp)
    };
    let name = |trial: &TwinTrial| plan.cells[trial.cell].id.as_str().into();
    Some(Twin {
        cell: Twin::ANY.to_owned(),
        samples: outcome.twin.iter().map(|trial| trial.sample.clone()).collect(),
        drawn: outcome.twin.iter().map(name).collect(),
        ratio: bound(|f| f.ln_ratio),
        low: bound(|f| f.low),
        high: bound(|f| f.high),
    })
}

fn log_of(plan: &Plan, outcome: &Outcome, index: usize, logs: &[RoundLog]) -> ConditionLog {
    let rules = rules_of(plan, index, outcome.calibration.epoch_rounds);
    let cells = plan.conditions[index].cells.clone();
    condition_log(cells, &outcome.cells, logs, &rules, plan.protocol.seed)
}

/// The claims of one answer with everything that can bias them, as they will be concluded.
pub(super) fn doubted<'a>(
    plan: &Plan,
    outcome: &Outcome,
    index: usize,
    log: &'a ConditionLog,
) -> &'a Claims {
    let claims = || claimed(&log.seen, &log.rules, &context(plan, outcome, index, log));
    log.doubted.get_or_init(claims)
}

/// Seconds that so many more rounds would take.
fn seconds_of(outcome: &Outcome, rounds: u32) -> f64 {
    let calibration = &outcome.calibration;
    let round_ns = match outcome.last_round_ns {
        0 => calibration.round_ns,
        measured => measured,
    } as f64;
    let renew_ns = calibration.renew_ns as f64;
    f64::from(rounds) * cost_of_round_ns(round_ns, renew_ns, calibration.epoch_rounds) / 1e9
}

/// Seconds that the budget was short of the fewest rounds of an answer, where it ended before any
/// forecast could be made.
fn seconds_short(plan: &Plan, outcome: &Outcome, judgement: &Judgement) -> Option<f64> {
    let open = judgement.kind() == AnswerKind::Undecided && judgement.claims.pick.is_none();
    let needed_ns = outcome.calibration.needed_ns.filter(|_| open)?;
    let short_ns = needed_ns.saturating_sub(plan.protocol.budget_ns);
    (short_ns > 0).then_some(short_ns as f64 / 1e9)
}

fn answer(
    plan: &Plan,
    outcome: &Outcome,
    index: usize,
    judgement: &Judgement,
    (estimates, levels): (&[Option<Estimate>], &LevelsOf<'_>),
) -> Answer {
    let condition = &plan.conditions[index];
    let claims = &judgement.claims;
    let sound = judgement.kind() != AnswerKind::Invalid;
    let foretold = judgement.more_rounds.map(|rounds| seconds_of(outcome, rounds));
    let is_least = foretold.is_none();
    let more_seconds = foretold.or_else(|| seconds_short(plan, outcome, judgement));
    let id = |at: &usize| plan.cells[condition.cells[*at]].id.clone();
    let pick = claims.pick.filter(|_| sound && condition.cells.len() > 1);
    let mut answer = Answer {
        condition: condition.levels.clone(),
        kind: judgement.kind(),
        best: judgement.best().iter().map(id).collect(),
        pick: pick.map(|pick| Pick { cell: id(&pick.cell).into(), at_most: pick.at_most.exp() }),
        regret: if sound { regret(claims, &id) } else { Vec::new() },
        findings: Vec::new(),
        grade: judgement.grade,
        raise: raised(judgement.raise, foretold),
        sentence: String::new(),
        rounds: claims.rounds as u32,
        detectable: None,
        more_seconds,
        warnings: warnings(plan, outcome, condition, judgement),
        comparisons: judgement.pairs.iter().map(|p| comparison(p, &id)).collect(),
    };
    answer.findings = within(&answer, levels, &plan.ask, claims.delta);
    let findings = &answer.findings;
    let told = AnswerParts {
        plan,
        outcome,
        condition,
        judgement,
        estimates,
        findings,
        more_seconds,
        form: answer.slower_form(),
        is_least,
    };
    answer.sentence = answer_text(&told);
    answer
}

fn regret(claims: &Claims, id: &impl Fn(&usize) -> String) -> Vec<Regret> {
    let one = |cell: usize| {
        let claim = &claims.cells[cell];
        Regret {
            cell: id(&cell).into(),
            low: claim.low.exp(),
            high: Some(claim.high.exp()).filter(|high| high.is_finite()),
            excluded: claim.standing == Standing::Slower,
        }
    };
    claims.compared().into_iter().map(one).collect()
}

/// The one thing that would raise a grade; nothing where the answer itself says how much more time does
/// it: no other machine is wanted then.
fn raised(raise: Option<Raise>, more_seconds: Option<f64>) -> Option<String> {
    let settles = more_seconds.and_then(MoreTime::of).is_some();
    raise.filter(|raise| !(settles && *raise == Raise::Quieter)).map(|raise| raise_text(&raise))
}

/// The one thing that would raise a grade.
fn raise_text(raise: &Raise) -> String {
    match raise {
        Raise::Rounds(rounds) => {
            format!("about {} more {BY_MORE}", so_many(*rounds as usize, "round"))
        }
        Raise::Instances(instances) => {
            let more = so_many(*instances as usize, "renewal");
            format!("{more} of the files more {BY_MORE}")
        }
        Raise::Quieter => "a machine on which trials differ less".to_owned(),
        Raise::LongerTrials(factor) => {
            format!("trials {} as long: a larger --file-size", ratio_text(*factor))
        }
    }
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

fn context(plan: &Plan, outcome: &Outcome, index: usize, log: &ConditionLog) -> Context {
    let condition = &plan.conditions[index];
    let clock = &outcome.calibration.clock;
    let samples = |cell: &usize| &outcome.cells[*cell].samples[..];
    let walls = |cell: &usize| {
        let walls: Vec<f64> = steady(samples(cell)).map(|s| s.measurement.wall_ns as f64).collect();
        median(&walls)
    };
    let shortest =
        condition.cells.iter().filter_map(walls).min_by(f64::total_cmp).unwrap_or(f64::INFINITY);
    let cell_of = |cell: &usize| &plan.cells[*cell];
    let mut epochs = log.seen.epoch.clone();
    epochs.dedup();
    let failed =
        |s: &Sample| s.measurement.proof.digest.as_ref().is_some_and(|d| d.matches == Some(false));
    let moved = |s: &Sample| s.measurement.flags.contains(&Code::ClockMoved);
    let steals = condition.cells.iter().map(|cell| steal(samples(cell)));
    Context {
        twin: log.control.clone(),
        overhead: clock.pair_cost_ns / shortest,
        resolution: clock.resolution_ns / shortest,
        steal: steals.fold(0.0, f64::max),
        instances: epochs.len() as u32,
        placement_matters: condition.cells.iter().any(|c| lies_in_cache(cell_of(c))),
        first_ratio: condition.cells.iter().map(|c| first_ratio(samples(c))).collect(),
        cold: condition.cells.iter().any(|c| cell_of(c).starts_cold()),
        clock_moved: condition.cells.iter().any(|c| samples(c).iter().any(moved)),
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
            let names: Vec<&str> = cells.iter().map(|c| names[*c].as_ref()).collect();
            format!(" ({})", list_text(&names))
        }
    };
    let mut warnings: Vec<Warning> = judgement
        .findings
        .iter()
        .map(|f| {
            let without = judgement.without_outliers.as_ref();
            let changed = without.filter(|_| f.code == Code::OutliersMatter);
            let text = match changed {
                Some(rest) => {
                    let most = if are_calls(plan, condition) { "cheapest" } else { "fastest" };
                    let told = (judgement.outliers.len(), most);
                    without_text(told, (&judgement.claims, rest), &names)
                }
                None => format!("{}{}", f.detail, about(&f.cells)),
            };
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
            clones.iter().filter_map(|c| names.get(at(c)?)).map(AsRef::as_ref).collect();
        let text = format!("{} cloned: not ranked with the copies", list_text(&names));
        warnings.push(Warning { code: Code::ClassMixed, text });
    }
    warnings.sort_by_key(|w| std::cmp::Reverse(w.code.severity()));
    warnings
}

#[cfg(test)]
mod tests {
    use super::{Raise, raised};

    /// "A machine on which trials differ less" was told beside "about 16 min more should settle it".
    #[test]
    fn no_other_machine_is_asked_for_where_time_does() {
        assert_eq!(raised(Some(Raise::Quieter), Some(900.0)), None);
        assert!(raised(Some(Raise::Quieter), Some(9e9)).is_some(), "nobody waits so long");
        assert!(raised(Some(Raise::Quieter), None).is_some());
        assert!(raised(Some(Raise::LongerTrials(2.0)), Some(900.0)).is_some());
    }
}
