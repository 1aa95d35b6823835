//! How to measure, as written.

use super::range::items;
use super::units::parse_count;
use super::{SpecError, choose};
use crate::catalog::Factor;

/// More rounds than any budget buys.
const MOST_ROUNDS: u32 = 1_000_000;

/// The runner-up's interval is to lie within ± this share before an answer stops of itself.
const PRECISION: f64 = 0.05;

/// How to measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Protocol {
    /// Factors to compare; decided by their roles where absent.
    pub ask: Option<Vec<Factor>>,
    /// Processors to bind trials to; empty: not bound.
    pub cpus: Vec<u32>,
    /// Time allowed, all in.
    pub budget_ns: u64,
    /// Exactly this many steady rounds: no early stop, no elimination, fixed-n intervals.
    pub rounds: Option<u32>,
    /// Seed of everything random.
    pub seed: u64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// An answer goes on until its runner-up is known within ± this share.
    pub precision: f64,
    /// Error allowed for each answer.
    pub alpha: f64,
    /// Whether cells proven slower are left out; the workload decides where absent.
    pub eliminate: Option<bool>,
}

impl Protocol {
    /// α = 0.05, δ = 2 %, ±5 %, 60 s.
    pub fn new(seed: u64) -> Protocol {
        Protocol {
            ask: None,
            cpus: Vec::new(),
            budget_ns: 60_000_000_000,
            rounds: None,
            seed,
            delta: 0.02,
            precision: PRECISION,
            alpha: 0.05,
            eliminate: None,
        }
    }
}

/// A number of steady rounds.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_rounds(text: &str) -> Result<u32, SpecError> {
    match u32::try_from(parse_count(text)?) {
        Ok(0) => Err(SpecError::new(text, 0, "no round measures nothing", "write 10 or more")),
        Ok(rounds) if rounds <= MOST_ROUNDS => Ok(rounds),
        _ => Err(SpecError::new(text, 0, "too large", format!("the most is {MOST_ROUNDS}"))),
    }
}

/// The axes to compare: `method,block`.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_ask(text: &str) -> Result<Vec<Factor>, SpecError> {
    let names = Factor::ALL.map(Factor::name);
    let one = |(at, name): (usize, &str)| {
        name.parse().map_err(|()| {
            SpecError::new(name, 0, "no such axis", choose(name, &names)).within(text, at)
        })
    };
    items(text)?.into_iter().map(one).collect()
}
