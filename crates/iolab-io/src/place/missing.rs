//! What this machine lacks, and what would help.

use iolab_model::result::Fault;

/// Why something cannot be had on this machine, and what would help.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{reason}; {remedy}")]
pub struct Missing {
    /// `this kernel has no jfs`.
    pub reason: String,
    /// `apt-get install jfsutils`.
    pub remedy: String,
}

impl Missing {
    /// A reason and its remedy.
    pub fn new(reason: impl Into<String>, remedy: impl Into<String>) -> Missing {
        Missing { reason: reason.into(), remedy: remedy.into() }
    }

    /// As the fault of making a place.
    pub fn fault(self, doing: impl Into<String>) -> Fault {
        Fault::new(doing, self.to_string())
    }
}
