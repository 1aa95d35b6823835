//! How a cell came to be left out, as a record tells it.

use super::document::CellStatus;

/// How the reason of a screened cell begins, by which a record tells it from a proven one.
pub const SCREENED: &str = "screened out";

/// How a cell came to be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ExclusionReason {
    /// Proven clearly slower: covered by the guarantee.
    Proven,
    /// So much slower from the start that it was not worth proving: outside the guarantee.
    Screened,
    /// Its trials failed, or never had their proof.
    Failed,
    /// The kernel or the file system has no such thing.
    Refused,
}

impl ExclusionReason {
    /// As the result format says it.
    pub const fn status(self) -> CellStatus {
        match self {
            ExclusionReason::Proven | ExclusionReason::Screened => CellStatus::Eliminated,
            ExclusionReason::Failed => CellStatus::Failed,
            ExclusionReason::Refused => CellStatus::Skipped,
        }
    }

    /// The inverse, for a record that is read back: `reason` is the one that was recorded.
    pub fn of(status: CellStatus, reason: &str) -> Option<ExclusionReason> {
        match status {
            CellStatus::Eliminated if reason.starts_with(SCREENED) => {
                Some(ExclusionReason::Screened)
            }
            CellStatus::Eliminated => Some(ExclusionReason::Proven),
            CellStatus::Failed => Some(ExclusionReason::Failed),
            // Of a plan's own skips a resumed run thinks again: a kernel may have changed.
            CellStatus::Measured | CellStatus::Skipped => None,
        }
    }
}
