//! The judgement on one answer: what may be claimed, what was found beside, and a grade.

use super::bias::found;
use super::claims::{
    Claims, Control, Evidence, Facts, Raise, Standing, Unsound, Verdict, Watch, control, grade,
    wanting,
};
use super::compare::pairs_of_use;
use super::finding::{Context, Finding};
use super::findings::{
    WithoutOutliers, context_findings, machine_finding, outlier_findings, shape_findings,
    twin_finding,
};
use super::outlier::{Parts, outliers, parts, without};
use super::sign::fixed_rank;
use super::{Observations, Pair, Rules, claims};
use iolab_model::result::{AnswerKind, Grade};

/// A control of fewer rounds says nothing of what the same cell differs by.
const FEWEST_CONTROLS: u32 = 8;

/// All that is concluded of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What may be claimed: everything that speaks renders this.
    pub claims: Claims,
    /// Every pair, for whoever wants one; beyond 200 cells those of the cells that can cost least.
    pub pairs: Vec<Pair>,
    /// How good the figures are.
    pub grade: Grade,
    /// The one thing that would raise the grade.
    pub raise: Option<Raise>,
    /// What to keep in mind, worst first.
    pub findings: Vec<Finding>,
    /// Where something is open: rounds still needed, estimated.
    pub more_rounds: Option<u32>,
    /// (cell, round) of every outlier.
    pub outliers: Vec<(usize, usize)>,
    /// What could be claimed without outliers, where that is another answer.
    pub without_outliers: Option<Claims>,
    /// A cell against itself; absent where none was measured twice.
    pub control: Option<Control>,
}

impl Judgement {
    /// The kind of the answer, as it is recorded.
    pub fn kind(&self) -> AnswerKind {
        match self.claims.verdict {
            Verdict::Winner { .. } | Verdict::Alone => AnswerKind::Winner,
            Verdict::Tie => AnswerKind::Tie,
            Verdict::Several => AnswerKind::Undecided,
            // Too few rounds are no fault of the measurement.
            Verdict::Unsound(ref reasons) if *reasons == [Unsound::FewRounds] => {
                AnswerKind::Undecided
            }
            Verdict::Unsound(_) => AnswerKind::Invalid,
        }
    }

    /// The set of the best; empty where nothing may be claimed.
    pub fn best(&self) -> &[usize] {
        match self.kind() {
            AnswerKind::Invalid => &[],
            _ => &self.claims.best,
        }
    }
}

/// What may be claimed of one answer, and what it was made from.
struct Weighed {
    watch: Watch,
    ours: claims::Rules,
    control: Option<Control>,
    parts: Parts,
    facts: Facts,
    /// What can bias a claim, in words.
    findings: Vec<Finding>,
    claims: Claims,
}

fn weigh(seen: &Observations, rules: &Rules, context: &Context) -> Weighed {
    let ours = rules.of_claims();
    let watch = seen.watch(rules);
    let control = control(&context.twin, rules.alpha);
    let told = control.filter(|control| control.rounds >= FEWEST_CONTROLS);
    let unsound = unsound(context);
    let plain = Facts { control: told, unsound, ..Facts::default() };
    let parts = parts(seen);
    let found = found(seen, &watch, &watch.claims(&ours, &plain), &parts, rules.seed);
    let facts = Facts { bias: found.bias, ..plain };
    let claims = watch.claims(&ours, &facts);
    Weighed { watch, ours, control, parts, facts, findings: found.findings, claims }
}

/// The claims of [`judge`] alone, with everything that can bias them: no pairs and no words.
pub fn claimed(seen: &Observations, rules: &Rules, context: &Context) -> Claims {
    weigh(seen, rules, context).claims
}

/// Judges one answer.
pub fn judge(seen: &Observations, rules: &Rules, context: &Context) -> Judgement {
    let Weighed { watch, ours, control, parts, facts, findings: biases, claims } =
        weigh(seen, rules, context);
    let outliers = outliers(&parts);
    let rest = || without(seen, &outliers).watch(rules).claims(&ours, &facts);
    let rest = (!outliers.is_empty()).then(rest);
    let change = match &rest {
        Some(rest) if contradicts(&claims, rest) => WithoutOutliers::Another,
        Some(rest) if winner(rest) != winner(&claims) => WithoutOutliers::Open,
        _ => WithoutOutliers::Same,
    };
    let without_outliers = rest.filter(|_| change == WithoutOutliers::Another);
    let mut findings = context_findings(context, &claims);
    findings.extend(twin_finding(control.as_ref(), rules.delta));
    findings.extend(biases);
    let machine: Vec<f64> = parts.machine.iter().copied().filter(|b| b.is_finite()).collect();
    findings.extend(machine_finding(&machine, rules));
    findings.extend(shape_findings(seen, context));
    findings.extend(outlier_findings(seen, &outliers, change));
    findings.sort_by_key(|f| std::cmp::Reverse(f.code.severity()));

    let open = !wanting(&claims, &PROGRESS, &|_| true).is_empty();
    // What rounds alone would have settled by now waits for something else.
    let forecast = watch.forecast(&claims, &facts.bias).filter(|units| open && *units > 0);
    // A unit may be an epoch of several rounds: seven of them were told as seven rounds.
    let forecast = forecast.map(|units| units.saturating_mul(rules.unit_rounds.max(1) as u32));
    let (grade, raise) = graded(seen, context, &claims, forecast);
    let pairs = pairs_of_use(seen, rules, &claims);
    Judgement {
        claims,
        pairs,
        grade,
        raise,
        findings,
        more_rounds: forecast,
        outliers,
        without_outliers,
        control,
    }
}

/// Instances and precision are the driver's to weigh; here only whether an answer is open.
const PROGRESS: claims::Progress = claims::Progress { instances: None, precision: f64::INFINITY };

fn unsound(context: &Context) -> Vec<Unsound> {
    let reasons =
        [(context.check_failed, Unsound::WorkNotDone), (context.clock_moved, Unsound::ClockMoved)];
    reasons.into_iter().filter(|(holds, _)| *holds).map(|(_, reason)| reason).collect()
}

fn winner(claims: &Claims) -> Option<usize> {
    match claims.verdict {
        Verdict::Winner { cell, .. } => Some(cell),
        _ => None,
    }
}

/// Whether what is found without some rounds is another answer: another winner, one where there was
/// none, or none of the best among the other's. That fewer rounds leave open what more of them settle
/// is none.
fn contradicts(claims: &Claims, without: &Claims) -> bool {
    let outside = |claims: &Claims, other: &Claims| {
        claims.best.iter().all(|cell| other.cells[*cell].standing == Standing::Slower)
    };
    let another = winner(without).is_some_and(|cell| winner(claims) != Some(cell));
    another || outside(claims, without) || outside(without, claims)
}

fn graded(
    seen: &Observations,
    context: &Context,
    claims: &Claims,
    forecast: Option<u32>,
) -> (Grade, Option<Raise>) {
    let at_most = match claims.verdict {
        Verdict::Unsound(ref reasons) if *reasons != [Unsound::FewRounds] => {
            return (Grade::Invalid, None);
        }
        Verdict::Alone => claims.compared().first().and_then(|cell| half_width(&seen.y[*cell])),
        _ => claims.pick.map(|pick| pick.at_most),
    };
    let instances = context.placement_matters.then_some(context.instances);
    let evidence = Evidence {
        rounds: claims.rounds,
        overhead: context.overhead,
        instances,
        at_most,
        forecast,
    };
    grade(&evidence)
}

/// Half the width of the exact 95 % interval of a median of logarithms; nothing under six values.
pub fn half_width(y: &[f64]) -> Option<f64> {
    let mut y: Vec<f64> = y.iter().copied().filter(|y| y.is_finite()).collect();
    y.sort_unstable_by(f64::total_cmp);
    match fixed_rank(y.len() as u32, 0.05) as usize {
        0 => None,
        rank => Some((y[y.len() - rank] - y[rank - 1]) / 2.0),
    }
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
