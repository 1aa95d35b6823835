//! What is found along an ordered factor, as it is kept.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::name::Name;

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

/// What kind of thing is found along an ordered factor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum FindingKind {
    /// From this level on more gains less than what matters.
    Plateau,
    /// The best changes between two levels of a condition.
    Crossover,
    /// How far more workers help.
    Scaling,
}

/// Something found along an ordered factor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// What kind.
    pub kind: FindingKind,
    /// Along which factor.
    pub factor: String,
    /// The cell where it is: the first on the plateau, the best after a crossing.
    pub cell: Name,
    /// Its level of the factor.
    pub level: String,
    /// Its time is at most this multiple of the best's; absent where the kind has no such bound.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub at_most: Option<f64>,
    /// Of a crossing: the last level before it at which this way is shown not to be the best. The
    /// crossing lies between the two.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
    /// Of scaling: how many times as long as the best the fewest workers take.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fewest: Option<Interval>,
    /// For people.
    #[serde(default)]
    pub sentence: String,
}
