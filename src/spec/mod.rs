//! An experiment as written: what was asked, before anything is known of the machine. Pure.

mod axis;
mod error;
#[cfg(test)]
pub(crate) mod fixture;
mod range;
mod units;

pub use axis::{Vocabulary, choose};
pub use error::SpecError;
pub use range::parse_list;
pub use units::{
    format_bytes, format_cpus, format_duration, parse_bytes, parse_count, parse_cpus,
    parse_duration_ns, parse_percent,
};

use std::collections::BTreeMap;
use std::path::PathBuf;

use crate::catalog::{Factor, Level};

/// What a person asked for. Axes that were left out are filled in by the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Experiment {
    /// In words; made from the axes where absent.
    pub title: Option<String>,
    /// `read`, `syscall`, …
    pub workload: String,
    /// The directory to work under (scratch files are made below it).
    pub directory: PathBuf,
    /// The axes that were named, each with at least one level, in the order written.
    pub factors: BTreeMap<Factor, Vec<Level>>,
    /// How to measure.
    pub protocol: Protocol,
}

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
    /// Error allowed for each answer.
    pub alpha: f64,
    /// Whether cells proven slower are left out; the workload decides where absent.
    pub eliminate: Option<bool>,
}

impl Protocol {
    /// α = 0.05, δ = 2 %, 60 s.
    pub fn new(seed: u64) -> Protocol {
        Protocol {
            ask: None,
            cpus: Vec::new(),
            budget_ns: 60_000_000_000,
            rounds: None,
            seed,
            delta: 0.02,
            alpha: 0.05,
            eliminate: None,
        }
    }
}
