//! How a cell came to be left out, as a record tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::document::{CellRecord, CellStatus};

/// How the reason of a screened cell begins. Records of before the reason had a type of its own
/// tell it from a proven one by these words alone.
pub const SCREENED: &str = "screened out";

/// How a cell came to be left out.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
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

    /// Of a cell that was left out while it was measured; nothing where it was measured to the end
    /// or the plan skipped it. Of a plan's own skips a resumed run thinks again: a kernel may have
    /// changed.
    pub fn of(cell: &CellRecord) -> Option<ExclusionReason> {
        let screened = || cell.reason.as_deref().is_some_and(|why| why.starts_with(SCREENED));
        match (cell.status, cell.exclusion) {
            (CellStatus::Measured | CellStatus::Skipped, _) => None,
            (status, Some(why)) if why.status() == status => Some(why),
            (CellStatus::Failed, _) => Some(ExclusionReason::Failed),
            (CellStatus::Eliminated, _) if screened() => Some(ExclusionReason::Screened),
            (CellStatus::Eliminated, _) => Some(ExclusionReason::Proven),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ExclusionReason;
    use crate::catalog::Levels;
    use crate::result::{CellRecord, CellStatus};

    fn cell(status: CellStatus, exclusion: Option<ExclusionReason>, reason: &str) -> CellRecord {
        CellRecord {
            id: "mmap".to_owned(),
            factors: Levels::new(),
            status,
            reason: Some(reason.to_owned()),
            exclusion,
            samples: Vec::new(),
            estimate: None,
        }
    }

    /// Why a cell was left out was once read out of the sentence about it: whoever worded that
    /// sentence anew made screened cells proven ones.
    #[test]
    fn a_sentence_worded_anew_proves_nothing() {
        use ExclusionReason::{Failed, Proven, Screened};
        let of = |exclusion, reason| {
            ExclusionReason::of(&cell(CellStatus::Eliminated, exclusion, reason))
        };
        assert_eq!(of(Some(Screened), "looked much slower"), Some(Screened));
        assert_eq!(of(Some(Proven), "screened out of all doubt"), Some(Proven));
        assert_eq!(of(None, "screened out at round 4: …"), Some(Screened), "of an old record");
        assert_eq!(of(None, "eliminated at round 9"), Some(Proven), "of an old record");
        let failed = cell(CellStatus::Failed, None, "screened out");
        assert_eq!(ExclusionReason::of(&failed), Some(Failed));
        let skipped = cell(CellStatus::Skipped, Some(ExclusionReason::Refused), "no reflink here");
        assert_eq!(ExclusionReason::of(&skipped), None);
    }
}
