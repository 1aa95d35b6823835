//! What an answer says to a person.

use super::budget::FEWEST_STEADY;
use super::name::{is_plural, names_of};
use super::plateau::plateau;
use super::{Outcome, Stopped};
use iolab_model::catalog::{
    digits_text, list_text, percent_text, rate_text, ratio_interval_text, rough_time_text,
    time_text,
};
use iolab_model::plan::{Condition, Plan};
use iolab_model::result::{AnswerKind, Estimate, Verdict};
use iolab_stats::{Judgement, Pair};

/// More names than this are not listed.
const LISTED: usize = 4;
/// Nobody waits longer than this for an answer.
const LONGEST_WAIT_S: f64 = 86_400.0;

/// All that a sentence is made from.
pub(super) struct AnswerParts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) outcome: &'a Outcome,
    pub(super) condition: &'a Condition,
    pub(super) judgement: &'a Judgement,
    pub(super) estimates: &'a [Option<Estimate>],
    pub(super) more_seconds: Option<f64>,
}

/// The sentence of one answer.
pub(super) fn answer_text(told: &AnswerParts<'_>) -> String {
    let names = names_of(told.plan, told.condition);
    if told.judgement.kind == AnswerKind::Invalid {
        return invalid(told);
    }
    if told.condition.cells.len() == 1 {
        return alone(told, &names[0]);
    }
    let main = match told.judgement.kind {
        AnswerKind::Winner => winner(told, &names),
        AnswerKind::Tie => tie(told, &names),
        AnswerKind::Undecided | AnswerKind::Invalid => return undecided(told, &names),
    };
    match plateau(told.plan, told.condition, told.judgement) {
        Some(plateau) => format!("{main}; {plateau}"),
        None => main,
    }
}

fn invalid(told: &AnswerParts<'_>) -> String {
    let Some(worst) = told.judgement.findings.first() else {
        return "the measurement is not sound".to_owned();
    };
    format!("the measurement is not sound: {} ({})", worst.code.summary(), worst.detail)
}

/// The pair of two cells as (ratio of the second to the first, its low and high), all ≥ 0.
fn time_ratio(pairs: &[Pair], of: usize, to: usize) -> Option<(f64, Option<f64>, Option<f64>)> {
    let exp = |bound: Option<f64>, sign: f64| bound.map(|b| (sign * b).exp());
    pairs.iter().find_map(|p| match (p.a, p.b) {
        (a, b) if (a, b) == (of, to) => {
            Some((p.median.exp(), exp(p.interval.low, 1.0), exp(p.interval.high, 1.0)))
        }
        (a, b) if (a, b) == (to, of) => {
            Some(((-p.median).exp(), exp(p.interval.high, -1.0), exp(p.interval.low, -1.0)))
        }
        _ => None,
    })
}

fn winner(told: &AnswerParts<'_>, names: &[String]) -> String {
    winner_text(told.judgement, names).unwrap_or_else(|| undecided(told, names))
}

/// Who is fastest and by how much over the next; none where nobody is best.
fn winner_text(judgement: &Judgement, names: &[String]) -> Option<String> {
    let &best = judgement.best.first()?;
    let verb = if is_plural(&names[best]) { "are" } else { "is" };
    let rivals = (0..names.len()).filter(|c| *c != best);
    let next = rivals
        .filter_map(|c| Some((c, time_ratio(&judgement.pairs, c, best)?)))
        .min_by(|a, b| a.1.0.total_cmp(&b.1.0));
    let Some((next, (ratio, low, high))) = next else {
        return Some(format!("{} {verb} the only one left", names[best]));
    };
    let little = match low {
        Some(low) if low <= 1.0 + judgement.delta_eff => ", if by little",
        _ => "",
    };
    // Who was screened out has a ratio, but no interval: the race went on without it.
    let screened = match low {
        None => " (left out early, which the guarantee does not cover)",
        Some(_) => "",
    };
    let ratio = ratio_interval_text(ratio, low, high);
    let next = match names.len() {
        2 => names[next].clone(),
        _ => format!("the next, {}", names[next]),
    };
    Some(format!("{} {verb} fastest{little}: {ratio} faster than {next}{screened}", names[best]))
}

fn tie(told: &AnswerParts<'_>, names: &[String]) -> String {
    let judgement = told.judgement;
    let inside = |cell: usize| judgement.best.contains(&cell);
    let within = judgement.pairs.iter().filter(|p| inside(p.a) && inside(p.b));
    let widest = within
        .filter_map(|p| Some(p.interval.low?.abs().max(p.interval.high?.abs()).exp_m1()))
        .fold(0.0, f64::max);
    let others = names.len() - judgement.best.len();
    let rest = match others {
        0 => String::new(),
        1 => "; the other is slower".to_owned(),
        n => format!("; the other {n} are slower"),
    };
    let listed = listed(&judgement.best, names);
    format!("no difference shown among {listed}: within {}{rest}", percent_text(widest))
}

fn undecided(told: &AnswerParts<'_>, names: &[String]) -> String {
    let judgement = told.judgement;
    let n = judgement.rounds;
    // What was foreseen is no news where there were rounds enough all the same.
    if let Some(needed) = told.outcome.calibration.needed_ns.filter(|_| n < FEWEST_STEADY) {
        let needed = rough_time_text(needed as f64);
        return format!("insufficient budget: need at least {needed}");
    }
    if judgement.best.is_empty() {
        return nothing(told);
    }
    let more = match told.more_seconds {
        Some(s) if s <= LONGEST_WAIT_S => {
            format!("; about {} more would do", rough_time_text(s * 1e9))
        }
        Some(_) => "; no budget of a day would decide it".to_owned(),
        None => String::new(),
    };
    if n < FEWEST_STEADY {
        let interrupted = match told.outcome.stopped {
            Stopped::Interrupted => ", where it was interrupted",
            _ => "",
        };
        let rounds = if n == 1 { "steady round" } else { "steady rounds" };
        return format!(
            "no verdict after {n} {rounds}{interrupted}: {FEWEST_STEADY} are the fewest{more}"
        );
    }
    let seen = judgement.detectable.map(|ratio| {
        format!(": differences under {} could not be seen", percent_text(ratio - 1.0))
    });
    let race = match judgement.best.len() {
        all if all == names.len() => String::new(),
        _ => format!(" between {}", listed(&judgement.best, names)),
    };
    format!("undecided{race} after {n} rounds{}{more}", seen.unwrap_or_default())
}

fn nothing(told: &AnswerParts<'_>) -> String {
    let mut cells = told.condition.cells.iter().map(|c| &told.outcome.cells[*c]);
    if let Some(left) = cells.clone().find_map(|cell| cell.left.as_ref()) {
        return format!("nothing was measured: {}", left.reason);
    }
    match cells.any(|cell| !cell.samples.is_empty()) {
        true => {
            format!("no verdict: {} before the first steady round", told.outcome.stopped.text())
        }
        false => "nothing was measured".to_owned(),
    }
}

/// A single cell has no rival: its own figure is the answer.
fn alone(told: &AnswerParts<'_>, name: &str) -> String {
    let Some(estimate) = &told.estimates[told.condition.cells[0]] else { return nothing(told) };
    let (figure, summary) = match &estimate.bytes_per_second {
        Some(rate) => (rate_text(rate.median), rate),
        None => (time_text(estimate.ns_per_operation.median), &estimate.ns_per_operation),
    };
    let share = match (summary.low, summary.high) {
        (Some(low), Some(high)) if summary.median > 0.0 => {
            format!(" ±{}", percent_text((high - low) / 2.0 / summary.median))
        }
        _ => String::new(),
    };
    let rounds = digits_text(f64::from(summary.n));
    format!("{name}: {figure}{share} over {rounds} rounds; nothing to compare it with")
}

fn listed(cells: &[usize], names: &[String]) -> String {
    let mut words: Vec<&str> = cells.iter().take(LISTED).map(|c| names[*c].as_str()).collect();
    let more = cells.len().saturating_sub(LISTED);
    let rest = format!("{more} more");
    if more > 0 {
        words.push(&rest);
    }
    list_text(&words)
}

/// Whether a pair proves that `cell` takes at most 1 + δ of the time of `best`.
pub(super) fn within_of(judgement: &Judgement, cell: usize, best: usize) -> bool {
    cell == best
        || judgement.pairs.iter().any(|p| {
            let matters = judgement.delta_eff.ln_1p();
            let equivalent = p.verdict == Verdict::Equivalent;
            match (p.a, p.b) {
                (a, b) if (a, b) == (cell, best) => {
                    equivalent || p.interval.high.is_some_and(|high| high <= matters)
                }
                (a, b) if (a, b) == (best, cell) => {
                    equivalent || p.interval.low.is_some_and(|low| low >= -matters)
                }
                _ => false,
            }
        })
}

#[cfg(test)]
mod tests {
    use super::winner_text;
    use iolab_model::result::{AnswerKind, Grade, Interval, Verdict};
    use iolab_stats::{Judgement, Pair};

    /// What is said where the second of two took so many times as long as the first.
    fn said(ratio: f64, low: Option<f64>) -> String {
        let pair = Pair {
            a: 1,
            b: 0,
            n: 12,
            ties: 0,
            median: f64::ln(ratio),
            interval: Interval { low: low.map(f64::ln), high: low.map(|_| f64::ln(2.0 * ratio)) },
            verdict: if low.is_some() { Verdict::Slower } else { Verdict::Undecided },
            clear: low.is_some(),
            merged: 1,
        };
        let judgement = Judgement {
            kind: AnswerKind::Winner,
            best: vec![0],
            leader: Some(0),
            pairs: vec![pair],
            rounds: 12,
            grade: Grade::B,
            raise: None,
            findings: Vec::new(),
            detectable: None,
            more_rounds: None,
            delta_eff: 0.02,
            outliers: Vec::new(),
            without_outliers_changes: false,
            twin: None,
        };
        winner_text(&judgement, &["read".to_owned(), "mmap".to_owned()]).unwrap()
    }

    /// A rival that was screened out once read "fastest, if by little: 11.4× faster than mmap".
    #[test]
    fn a_rival_that_was_left_out_early_is_not_said_to_be_close() {
        let text = said(11.4, None);
        assert!(text.starts_with("read is fastest: 11.4"), "{text}");
        assert!(
            text.ends_with("faster than mmap (left out early, which the guarantee does not cover)"),
            "{text}"
        );
        assert!(said(11.4, Some(9.0)).ends_with("faster than mmap"));
        assert!(said(1.03, Some(1.01)).starts_with("read is fastest, if by little: 1.03"));
    }
}
