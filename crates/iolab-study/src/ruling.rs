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

/// A ratio against the range that is claimed.
pub(super) fn within(ratio: Ratio, (from, to): (f64, f64)) -> Ruling {
    let (low, high) = (from, if to.is_finite() { to } else { f64::INFINITY });
    let range = range_text(from, to);
    let verdict = judged(&ratio.interval, low, high);
    let why = match verdict {
        Verdict::Replicated => format!("the interval lies within the claimed {range}"),
        Verdict::Contradicted if ratio.interval.high.is_some_and(|h| h < from) => {
            format!("less than the claimed {range}")
        }
        Verdict::Contradicted => format!("more than the claimed {range}"),
        _ => format!("the interval reaches beyond the claimed {range}"),
    };
    Ruling::by(verdict, ratio, why)
}

/// A range of factors as it is written: `1.5 to 2 times`, `2 times or more`.
pub(super) fn range_text(from: f64, to: f64) -> String {
    match to.is_finite() {
        true => format!("{from} to {to} times"),
        false => format!("{from} times or more"),
    }
}
