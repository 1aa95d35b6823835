//! How a cell came to be left out, as a record tells it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What became of a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum CellStatus {
    /// Measured to the end.
    Measured,
    /// Proven clearly slower and left out from then on.
    Eliminated,
    /// Could not be had here.
    Skipped,
    /// Every trial failed.
    Failed,
}

impl CellStatus {
    /// As results write it.
    pub const fn word(self) -> &'static str {
        match self {
            CellStatus::Measured => "measured",
            CellStatus::Eliminated => "eliminated",
            CellStatus::Skipped => "skipped",
            CellStatus::Failed => "failed",
        }
    }
}

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
        let of =
            |exclusion, reason| cell(CellStatus::Eliminated, exclusion, reason).exclusion_reason();
        assert_eq!(of(Some(Screened), "looked much slower"), Some(Screened));
        assert_eq!(of(Some(Proven), "screened out of all doubt"), Some(Proven));
        assert_eq!(of(None, "screened out at round 4: …"), Some(Screened), "of an old record");
        assert_eq!(of(None, "eliminated at round 9"), Some(Proven), "of an old record");
        let failed = cell(CellStatus::Failed, None, "screened out");
        assert_eq!(failed.exclusion_reason(), Some(Failed));
        let skipped = cell(CellStatus::Skipped, Some(ExclusionReason::Refused), "no reflink here");
        assert_eq!(skipped.exclusion_reason(), None);
    }
}
