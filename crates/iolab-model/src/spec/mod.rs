//! An experiment as written: what was asked, before anything is known of the machine. Pure.

mod axis;
mod error;
pub mod file;
#[cfg(test)]
pub(crate) mod fixture;
mod protocol;
mod range;
mod units;

pub use axis::{NO_METHOD, Vocabulary, choose, nearest};
pub use error::SpecError;
pub use protocol::{
    ANY_SPACE, KeyForm, PROTOCOL_KEYS, Protocol, ProtocolKey, parse_ask, parse_rounds,
};
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
