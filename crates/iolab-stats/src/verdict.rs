//! The judgement on one answer: where its cells stand, what was found beside, and a grade.

use super::carry_over::carry_over;
use super::compare::{Comparer, resolve, standing};
use super::contrast::{contrast_findings, contrasts};
use super::findings::{
    carry_over_finding, context_findings, machine_finding, outlier_findings, shape_findings,
    twin_finding,
};
use super::grade::{Evidence, grade};
use super::outlier::{outliers, parts, without};
use super::series::median;
use super::sign::ln_evidence;
use super::stopping::{delta_eff, detectable, more_rounds};
use super::{Observations, Pair, Rules};
use iolab_model::catalog::{Code, Severity};
use iolab_model::result::{AnswerKind, Grade, Interval};

/// Shares above which a trial's overhead and stolen time count.
pub(crate) const SMALL_SHARE: f64 = 0.01;
/// Under this many instances the answer is about one file layout.
pub(crate) const FEWEST_INSTANCES: u32 = 5;

/// What the judgement must know beside the observations. Empty or 0: nothing known against it.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// ln(second arm / first) of the baseline, by steady round; missing rounds are NaN.
    pub twin: Vec<f64>,
    /// o/T: cost of the clock / length of a trial, the greatest among the cells' medians.
    pub overhead: f64,
    /// q/T: resolution of the clock / length of a trial, likewise.
    pub resolution: f64,
    /// Greatest share of processor time that the host took in a steady trial.
    pub steal: f64,
    /// File instances (renewals) that steady rounds used.
    pub instances: u32,
    /// Whether the place of the file's data can change a figure (cached data).
    pub placement_matters: bool,
    /// First run / steady median, by cell of the answer; NaN where not known.
    pub first_ratio: Vec<f64>,
    /// Cold reads: their samples may fall into two clusters.
    pub cold: bool,
    /// Steady trials that the run flagged.
    pub flagged: u32,
    /// A check failed: bytes were not what they should be.
    pub check_failed: bool,
}

/// Something to keep in mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// Cells (indices within the answer) that it is about; empty: the whole answer.
    pub cells: Vec<usize>,
    /// What was seen, with its figures, without naming cells.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(code: Code, cells: Vec<usize>, detail: String) -> Finding {
        Finding { code, cells, detail }
    }
}

/// The twin in figures.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwinFigures {
    /// Units seen.
    pub n: u32,
    /// Median of ln(second arm / first).
    pub median: f64,
    /// Its sequence interval at α, M = 1.
    pub interval: Interval,
    /// ln of the e-value against the two being alike.
    pub ln_evidence: f64,
}

/// All that is concluded of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// Winner, tie, undecided or invalid.
    pub kind: AnswerKind,
    /// The winner or the tie set; empty where invalid.
    pub best: Vec<usize>,
    /// The cell with the smallest median among those measured to the end.
    pub leader: Option<usize>,
    /// Every pair.
    pub pairs: Vec<Pair>,
    /// Steady rounds.
    pub rounds: u32,
    /// How far to trust it.
    pub grade: Grade,
    /// The one thing that would raise the grade.
    pub raise: Option<String>,
    /// What to keep in mind, worst first.
    pub findings: Vec<Finding>,
    /// Where undecided: the smallest ratio (> 1) that would have been told apart from 1.
    pub detectable: Option<f64>,
    /// Where undecided: rounds still needed, estimated.
    pub more_rounds: Option<u32>,
    /// What had to be exceeded to matter.
    pub delta_eff: f64,
    /// (cell, round) of every outlier.
    pub outliers: Vec<(usize, usize)>,
    /// Whether the answer is another one without outliers.
    pub without_outliers_changes: bool,
    /// The twin; absent where it was not seen.
    pub twin: Option<TwinFigures>,
}

/// Judges one answer. `rules.delta` is δ as asked for; δ_eff is derived here from the twin.
pub fn judge(seen: &Observations, rules: &Rules, context: &Context) -> Judgement {
    let delta_eff = delta_eff(rules.delta, &context.twin);
    let effective = Rules { delta: delta_eff, ..rules.clone() };
    let standing = standing(seen, &effective);
    let twin = twin_figures(&context.twin, rules);
    let parts = parts(seen);
    let outliers = outliers(&parts);
    let changes = !outliers.is_empty() && {
        let (kind, best) = resolve(&without(seen, &outliers), &effective);
        kind != standing.kind || best != standing.best
    };
    let contrasts = contrasts(seen, &effective, &standing);

    let mut findings = context_findings(context, &standing, seen.y.len());
    findings.extend(twin_finding(twin.as_ref(), rules.delta));
    findings.extend(contrast_findings(&contrasts, &effective));
    let machine: Vec<f64> = parts.machine.iter().copied().filter(|b| b.is_finite()).collect();
    findings.extend(machine_finding(&machine, &effective));
    let material = rules.delta.ln_1p() / 2.0;
    let carried = carry_over(seen, &parts, material, rules.seed);
    findings.extend(carried.as_ref().map(carry_over_finding));
    findings.extend(shape_findings(seen, context));
    findings.extend(outlier_findings(seen, &outliers, changes));
    findings.sort_by_key(|f| std::cmp::Reverse(f.code.severity()));

    let lags: Vec<f64> = contrasts.iter().map(|c| c.lag1).collect();
    let (grade, raise) = grade(&Evidence {
        rounds: standing.rounds,
        overhead: context.overhead,
        twin,
        delta: rules.delta,
        lag1: median(&lags).unwrap_or(0.0),
        flagged: flagged_share(seen, outliers.len(), context),
        variation: median_variation(seen),
        steal: context.steal,
        instances: context.placement_matters.then_some(context.instances),
        findings: &findings,
    });
    let invalid = grade == Grade::Invalid;
    let open = !invalid && standing.kind == AnswerKind::Undecided;
    Judgement {
        detectable: detectable(&standing).filter(|_| open),
        more_rounds: if open { more_rounds(seen, &effective, &standing) } else { None },
        kind: if invalid { AnswerKind::Invalid } else { standing.kind },
        best: if invalid { Vec::new() } else { standing.best },
        leader: standing.leader,
        pairs: standing.pairs,
        rounds: standing.rounds,
        grade,
        raise,
        findings,
        delta_eff,
        outliers,
        without_outliers_changes: changes,
        twin,
    }
}

/// The twin as a pair of its own, with its own guarantee (M = 1). Both arms share their file
/// instance, so the round is the unit.
pub fn twin_figures(twin: &[f64], rules: &Rules) -> Option<TwinFigures> {
    let seen = Observations { y: vec![twin.to_vec(), vec![0.0; twin.len()]], ..Default::default() };
    let rules = Rules { pairs: 1.0, by_epoch: false, ..rules.clone() };
    let pair = Comparer::new(&seen, &rules).pair(0, 1)?;
    let ln_evidence = ln_evidence(twin);
    Some(TwinFigures { n: pair.n, median: pair.median, interval: pair.interval, ln_evidence })
}

impl TwinFigures {
    /// Whether the ratio lies within a share of 1.
    pub(crate) fn within(&self, share: f64) -> bool {
        self.median.abs() <= share.ln_1p()
    }
}

/// Trials that count.
pub(crate) fn trials(seen: &Observations) -> usize {
    seen.y.iter().flatten().filter(|y| y.is_finite()).count()
}

fn flagged_share(seen: &Observations, outliers: usize, context: &Context) -> f64 {
    (outliers as f64 + f64::from(context.flagged)) / trials(seen).max(1) as f64
}

/// Median over cells of SD / mean of the times.
fn median_variation(seen: &Observations) -> f64 {
    let variation = |y: &Vec<f64>| {
        let centre = median(y)?;
        let times: Vec<f64> = y.iter().map(|y| (y - centre).exp()).collect();
        super::describe::variation(&times)
    };
    median(&seen.y.iter().filter_map(variation).collect::<Vec<f64>>()).unwrap_or(0.0)
}

/// Whether a code takes the answer away.
pub(crate) fn invalidates(code: Code) -> bool {
    code.severity() == Severity::Invalid
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
pub(crate) mod tests;
