//! What was concluded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name::Name;
use crate::catalog::{Code, Levels};

/// An interval; a bound that the data cannot give is absent (unbounded).
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Interval {
    /// Lower bound.
    pub low: Option<f64>,
    /// Upper bound.
    pub high: Option<f64>,
}

impl Interval {
    /// Whether a value lies inside (unbounded sides contain everything).
    pub fn contains(&self, value: f64) -> bool {
        self.low.is_none_or(|low| low <= value) && self.high.is_none_or(|high| value <= high)
    }
}

/// Descriptive statistics of one quantity of one cell over its steady rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Samples.
    pub n: u32,
    /// Median.
    pub median: f64,
    /// Lower end of the exact order-statistic interval of the median; absent under n = 6.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (n − 1).
    pub sd: f64,
    /// Least.
    pub min: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Greatest.
    pub max: f64,
}

/// The verdict on a pair (a, b).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// a takes less time than b.
    Faster,
    /// a takes more time than b.
    Slower,
    /// The interval lies within what does not matter.
    Equivalent,
    /// None of these is shown.
    Undecided,
}

/// One pair of cells of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Cell id.
    pub a: Name,
    /// Cell id.
    pub b: Name,
    /// Time of a / time of b per unit of work.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What the interval shows.
    pub verdict: Verdict,
    /// Whether it exceeds what matters (δ).
    pub clear: bool,
    /// Steady rounds that both cells share.
    pub n: u32,
    /// Rounds in which the two took equal time.
    #[serde(default)]
    pub ties: u32,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// One cell is best.
    Winner,
    /// Several are best and equivalent.
    Tie,
    /// Not yet shown.
    Undecided,
    /// The measurement is not sound enough to answer.
    Invalid,
}

/// How far the answer can be trusted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Grade {
    /// Good.
    A,
    /// Fair.
    B,
    /// Rough.
    C,
    /// Not at all.
    #[serde(rename = "invalid")]
    Invalid,
}

/// A warning: a stable code and a sentence that reasons from this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The code; `iolab explain CODE` tells more.
    pub code: Code,
    /// What was seen in this run, and what would help.
    pub text: String,
}

/// The answer to one condition: every level of the question factors compared at equal conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The levels that all its cells share.
    pub condition: Levels,
    /// Winner, tie, undecided or invalid.
    pub kind: AnswerKind,
    /// Ids of the winner or of the tie set; empty where undecided leaves nothing or invalid.
    pub best: Vec<String>,
    /// How far to trust it.
    pub grade: Grade,
    /// The one thing that would raise the grade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
    /// For people.
    pub sentence: String,
    /// Steady rounds behind it.
    pub rounds: u32,
    /// Smallest ratio that this run could have told apart from 1, where undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Estimated seconds still needed, where undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_seconds: Option<f64>,
    /// What to keep in mind.
    pub warnings: Vec<Warning>,
    /// One entry a pair.
    pub comparisons: Vec<Comparison>,
}

/// The baseline against itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Twin {
    /// Cell id of the baseline.
    pub cell: String,
    /// The second arm's samples.
    pub samples: Vec<super::Sample>,
    /// Time of the second arm / time of the first.
    pub ratio: Option<f64>,
    /// Lower end of its interval (M = 1).
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}
