//! Findings: what is remarkable about one answer, each with the figures it was seen by.

use super::claims::{Claims, Control, Unsound, Verdict};
use super::drift::{Suspect, find_drift};
use super::finding::{Context, FEWEST_INSTANCES, Finding, SMALL_SHARE, trials};
use super::shape::{quantised, two_states};
use super::{Observations, Rules};
use iolab_model::catalog::Code;

/// First run / steady state above which the first run is remarkable.
const FIRST_RUN: f64 = 1.5;
/// An effect must be this multiple of the clock's share in a trial.
const OVERHEAD_MARGIN: f64 = 5.0;

/// A change by this share as people read it: what is more than doubled is a factor.
pub(crate) fn percent(share: f64) -> String {
    match share > 1.0 {
        true => format!("a factor of {:.1}", 1.0 + share),
        false => format!("{:.1} %", 100.0 * share),
    }
}

/// A p-value as people read it.
pub(crate) fn p_text(p: f64) -> String {
    if p < 0.001 { "< 0.001".to_owned() } else { format!("{p:.3}") }
}

pub(crate) fn twin_finding(twin: Option<&Control>, delta: f64) -> Option<Finding> {
    let twin = twin?;
    let off = percent(twin.ln_ratio.abs().exp_m1());
    if twin.broken() {
        let detail = format!("differs from itself by {off}, evidence {:.0} : 1", twin.ln_e.exp());
        return Some(Finding::new(Code::TwinBroken, vec![], detail));
    }
    let alike = twin.low <= 0.0 && twin.high >= 0.0;
    if alike && twin.ln_ratio.abs() <= (delta / 2.0).ln_1p() || twin.low.is_infinite() {
        return None;
    }
    let detail = format!("by {off} over {} rounds", twin.rounds);
    Some(Finding::new(Code::TwinOff, vec![], detail))
}

/// A drift from which on absolute figures are no measure of the machine.
const A_LOT: f64 = 0.25;

pub(crate) fn machine_finding(machine: &[f64], rules: &Rules) -> Option<Finding> {
    let drift = find_drift(&[Suspect::new(machine, rules.delta.ln_1p())], rules.seed)?;
    let size = percent(drift.amount.exp_m1());
    let detail = match drift.step {
        Some(at) => format!("all cells changed by {size} at once, after {at} rounds"),
        None => format!("all cells changed by {size} over the run"),
    };
    let code = match drift.amount.abs() >= A_LOT.ln_1p() {
        true => Code::MachineShifted,
        false => Code::MachineDrift,
    };
    Some(Finding::new(code, vec![], format!("{detail} (p {})", p_text(drift.p))))
}

/// Findings from the context and the claims alone.
pub(crate) fn context_findings(context: &Context, claims: &Claims) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut add = |code, cells, detail| found.push(Finding::new(code, cells, detail));
    if context.check_failed {
        add(Code::CheckFailed, vec![], "a digest was not that of the file".to_owned());
    }
    if context.clock_moved {
        add(Code::ClockMoved, vec![], "times of this run mean nothing".to_owned());
    }
    if matches!(&claims.verdict, Verdict::Unsound(why) if why.contains(&Unsound::FewRounds)) {
        add(Code::FewRounds, vec![], format!("{} steady rounds", claims.rounds));
    }
    if context.placement_matters && context.instances < FEWEST_INSTANCES {
        let seen = format!("{}, where {FEWEST_INSTANCES} are wanted", context.instances);
        add(Code::OneLayout, vec![], seen);
    }
    if context.steal > SMALL_SHARE {
        add(Code::StealHigh, vec![], format!("up to {} of a trial", percent(context.steal)));
    }
    if let Some(effect) = overshadowed(context, claims) {
        let (clock, effect) = (percent(context.overhead), percent(effect));
        add(
            Code::OverheadHigh,
            vec![],
            format!("the clock is {clock} of a trial, the effect at least {effect}"),
        );
    }
    let slow_start = |cell: &usize| context.first_ratio.get(*cell).is_some_and(|r| *r > FIRST_RUN);
    let cells: Vec<usize> = (0..claims.cells.len()).filter(slow_start).collect();
    if !cells.is_empty() {
        let most = cells.iter().map(|c| context.first_ratio[*c]).fold(0.0, f64::max);
        add(Code::FirstRun, cells, format!("up to {most:.1}× the steady time"));
    }
    found
}

/// The effect that a winner is claimed on, where the clock takes a share of it.
fn overshadowed(context: &Context, claims: &Claims) -> Option<f64> {
    let Verdict::Winner { cell, .. } = claims.verdict else { return None };
    if context.overhead <= SMALL_SHARE {
        return None;
    }
    let rivals = claims.compared().into_iter().filter(|other| *other != cell);
    let effect = rivals.map(|c| claims.cells[c].low.exp_m1()).min_by(f64::total_cmp)?;
    (effect < OVERHEAD_MARGIN * context.overhead).then_some(effect)
}

pub(crate) fn shape_findings(seen: &Observations, context: &Context) -> Vec<Finding> {
    let mut found = Vec::new();
    let coarse: Vec<usize> = (0..seen.y.len()).filter(|cell| quantised(&seen.y[*cell])).collect();
    if !coarse.is_empty() {
        found.push(Finding::new(Code::Quantised, coarse, "times repeat a few values".to_owned()));
    } else if context.resolution > SMALL_SHARE {
        let share = percent(context.resolution);
        let detail = format!("one step of the clock is {share} of a trial");
        found.push(Finding::new(Code::Quantised, vec![], detail));
    }
    if context.cold {
        let states = |cell: usize| two_states(&seen.y[cell]).map(|s| (cell, s));
        let cells: Vec<_> = (0..seen.y.len()).filter_map(states).collect();
        if let Some((_, worst)) = cells.iter().max_by(|a, b| a.1.ratio.total_cmp(&b.1.ratio)) {
            let slow = percent(worst.slow_share);
            let detail = format!("{slow} of samples take {:.1}× the time of the rest", worst.ratio);
            let cells = cells.iter().map(|(cell, _)| *cell).collect();
            found.push(Finding::new(Code::TwoStates, cells, detail));
        }
    }
    found
}

/// What the rounds without outliers say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum WithoutOutliers {
    /// The same.
    Same,
    /// Less: which is best is open, for they are fewer.
    Open,
    /// Another answer.
    Another,
}

pub(crate) fn outlier_findings(
    seen: &Observations,
    outliers: &[(usize, usize)],
    without: WithoutOutliers,
) -> Vec<Finding> {
    if outliers.is_empty() {
        return Vec::new();
    }
    let mut cells: Vec<usize> = outliers.iter().map(|(cell, _)| *cell).collect();
    cells.dedup();
    let detail = format!("{} of {} trials", outliers.len(), trials(seen));
    let less = match without {
        WithoutOutliers::Open => "; the rounds without them leave open which is best",
        WithoutOutliers::Same | WithoutOutliers::Another => "",
    };
    let mut found = vec![Finding::new(Code::Outlier, cells, format!("{detail}{less}"))];
    if without == WithoutOutliers::Another {
        found.push(Finding::new(Code::OutliersMatter, vec![], detail));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::machine_finding;
    use crate::Rules;
    use iolab_model::catalog::Code;

    /// "The machine changed speed by 79 %" once stood among the notes alone.
    #[test]
    fn a_machine_that_changed_a_lot_is_no_note() {
        let rules = Rules {
            alpha: 0.05,
            delta: 0.02,
            pairs: 1.0,
            unit_rounds: 1,
            cost: Vec::new(),
            seed: 1,
        };
        let found = |slope: f64| {
            let wave = |at: usize| 0.004 * ((at * 7 % 5) as f64 - 2.0);
            let machine: Vec<f64> = (0..60).map(|at| slope * at as f64 / 60.0 + wave(at)).collect();
            machine_finding(&machine, &rules).map(|finding| finding.code)
        };
        assert_eq!(found(0.0), None);
        assert_eq!(found(0.1), Some(Code::MachineDrift));
        assert_eq!(found(0.58), Some(Code::MachineShifted));
        assert_eq!(found(-0.58), Some(Code::MachineShifted));
    }
}
