//! What became of a claim, and an interval against what is claimed.

use super::evidence::{Ratio, inside, outside};
use iolab_model::result::Interval;

/// What became of a claim here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds on this machine.
    Replicated,
    /// It does not.
    Contradicted,
    /// What was measured shows neither.
    Inconclusive,
    /// It could not be measured.
    NotTested,
}

impl Verdict {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Replicated => "replicated",
            Verdict::Contradicted => "contradicted",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotTested => "not tested",
        }
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What became of it.
    pub verdict: Verdict,
    /// What was seen, or why nothing was.
    pub why: String,
    /// The ratio that decided, where one did.
    pub measured: Option<Ratio>,
}

impl Ruling {
    pub(super) fn new(verdict: Verdict, why: impl Into<String>) -> Ruling {
        Ruling { verdict, why: why.into(), measured: None }
    }

    pub(super) fn by(verdict: Verdict, measured: Ratio, why: impl Into<String>) -> Ruling {
        Ruling { verdict, why: why.into(), measured: Some(measured) }
    }
}

/// A ruling; what cannot be judged is an `Err` with the reason.
pub(super) type Ruled = Result<Ruling, String>;

/// An interval against what is claimed: inside, outside, or across.
pub(super) fn judged(interval: &Interval, from: f64, to: f64) -> Verdict {
    match () {
        () if inside(interval, from, to) => Verdict::Replicated,
        () if outside(interval, from, to) => Verdict::Contradicted,
        () => Verdict::Inconclusive,
    }
}

/// What has an interval.
pub(super) trait Bounded {
    fn interval(&self) -> &Interval;
}

impl Bounded for Ratio {
    fn interval(&self) -> &Interval {
        &self.interval
    }
}

/// What is found `at` so many looks against a range. To lie inside, both ends must be shown, each
/// with the whole error: one that is not there must be judged wrongly. It may lie outside on either
/// side, and the two share the error.
pub(super) fn ranged<T: Bounded>(
    (from, to): (f64, f64),
    at: impl Fn(usize) -> Result<T, String>,
) -> Result<(Verdict, T), String> {
    let alone = at(1)?;
    match judged(alone.interval(), from, to) {
        Verdict::Contradicted if from.is_finite() && to.is_finite() => {
            let shared = at(2)?;
            let verdict = judged(shared.interval(), from, to);
            let out = verdict == Verdict::Contradicted;
            Ok((if out { verdict } else { Verdict::Inconclusive }, shared))
        }
        verdict => Ok((verdict, alone)),
    }
}

/// Where the first of two sides is shown to be faster by less than δ, or not at all: a sentence that
/// calls it faster does not mean that little. Such a difference is none, however long it is measured.
pub(super) fn no_faster(ratio: &Ratio, delta: f64) -> Option<String> {
    let high = ratio.interval.high.filter(|high| *high < 1.0 + delta)?;
    let (most, alike) = (100.0 * (high - 1.0), 100.0 * delta);
    Some(match high < 1.0 {
        true => "here it is the other way round".to_owned(),
        false => format!(
            "it is at most {most:.1} % faster, and iolab calls alike what differs by less than \
             {alike} %"
        ),
    })
}

/// A ratio, found `at` so many looks, against the range that is claimed.
pub(super) fn within((from, to): (f64, f64), at: impl Fn(usize) -> Result<Ratio, String>) -> Ruled {
    let (verdict, ratio) = ranged((from, to), at)?;
    let range = range_text(from, to);
    let why = match verdict {
        Verdict::Replicated => format!("the interval lies within the claimed {range}"),
        Verdict::Contradicted if ratio.interval.high.is_some_and(|h| h < from) => {
            format!("less than the claimed {range}")
        }
        Verdict::Contradicted => format!("more than the claimed {range}"),
        _ => format!("the interval reaches beyond the claimed {range}"),
    };
    Ok(Ruling::by(verdict, ratio, why))
}

/// A range of factors as it is written: `1.5 to 2 times`, `2 times or more`.
pub(super) fn range_text(from: f64, to: f64) -> String {
    match to.is_finite() {
        true => format!("{from} to {to} times"),
        false => format!("{from} times or more"),
    }
}
