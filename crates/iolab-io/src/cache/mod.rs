//! Reach a cache state and prove it: residency before the window, device bytes after it.

mod direct;
mod drain;
mod evict;
mod prepare;
mod prober;
mod residency;
mod stored;

use std::fmt;
use std::str::FromStr;

pub use direct::{before_direct, conclude_direct, is_direct};
pub use drain::{Drained, drain};
pub use evict::{evict, evict_written, prime};
pub use prepare::{conclude, flag, just_mounted, looked_at, prepare, prepare_written};
pub use prober::{Prober, Rejected, device_read_bytes};
pub use residency::Probe;
pub use stored::stored_bytes;

/// The state of the page cache that a trial starts from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// Nothing of the file is in the page cache; the device must deliver it.
    Cold,
    /// All of the file is in the page cache and clean.
    Warm,
    /// As it happens to be.
    Any,
}

impl State {
    /// The word on the command line and in results.
    pub const fn name(self) -> &'static str {
        match self {
            State::Cold => "cold",
            State::Warm => "warm",
            State::Any => "any",
        }
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for State {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        [State::Cold, State::Warm, State::Any]
            .into_iter()
            .find(|state| state.name() == text)
            .ok_or_else(|| format!("unknown cache state {text:?}: use cold, warm or any"))
    }
}

#[cfg(test)]
mod limit_tests;
#[cfg(test)]
mod tests;
