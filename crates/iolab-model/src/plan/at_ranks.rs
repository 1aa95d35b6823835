//! Plans at the ranks of an MPI job: all of them take what the one has that has least of it, and it is
//! named where that does not suffice.

use serde::{Deserialize, Serialize};

use super::{Facts, Plan, PlanError};
use crate::catalog::{Part, WorkloadInfo};
use crate::spec::Experiment;

/// Who has least of what, as a rank is called.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RankFacts {
    /// How many there are: each has its part of the space and of the inodes.
    pub count: u64,
    /// The one that sees the least space.
    pub space: String,
    /// The one that sees the fewest inodes.
    pub inodes: String,
    /// The one that may write the smallest files.
    pub file_limit: String,
}

/// Makes the plan: fills in what was left out, crosses and collapses, skips what cannot be had,
/// groups the cells by what is compared, and forecasts the cost. `parts` are all methods and
/// operations there are; those of the workload are picked by their capability.
///
/// # Errors
/// The experiment is not as the workload wants it, nothing can be measured, or the machine (of ranks,
/// that of one) is too small for it.
pub fn make(
    experiment: &Experiment,
    info: &WorkloadInfo,
    parts: &[&'static Part],
    facts: &Facts,
) -> Result<Plan, PlanError> {
    super::make::make(experiment, info, parts, facts).map_err(|error| told(error, facts))
}

fn told(error: PlanError, facts: &Facts) -> PlanError {
    let Some(ranks) = &facts.ranks else { return error };
    let sharing = |rank: &str, what: &str| {
        format!("{rank} has least {what}, and each of {} ranks has its part of that", ranks.count)
    };
    let which = match &error {
        PlanError::NoSpace { .. } => sharing(&ranks.space, "space"),
        PlanError::NoInodes { .. } => sharing(&ranks.inodes, "inodes"),
        PlanError::FileLimit { .. } => ranks.file_limit.clone(),
        _ => return error,
    };
    PlanError::AtRank { which, error: error.into() }
}

#[cfg(test)]
mod tests {
    use super::RankFacts;
    use crate::catalog::Factor;
    use crate::plan::tests::{experiment, facts};
    use crate::plan::{Facts, PlanError, make};
    use crate::spec::fixture::{PARTS, READ};

    /// Of what does not suffice the rank is named that has least of it; else nobody is.
    #[test]
    fn the_rank_without_room_is_named() {
        let ranks = RankFacts {
            count: 4,
            space: "rank 1 on a".into(),
            inodes: "rank 2 on b".into(),
            file_limit: "rank 3 on b".into(),
        };
        let facts = Facts { ranks: Some(ranks), ..facts() };
        let said = |facts: Facts| {
            let axes =
                [(Factor::FileSize, "1Mi"), (Factor::Block, "4Ki"), (Factor::Method, "pread")];
            make(&experiment(&READ, &axes), &READ, PARTS, &facts).map(drop)
        };
        assert_eq!(said(facts.clone()), Ok(()));
        let least = |change: fn(&mut Facts)| {
            let mut facts = facts.clone();
            change(&mut facts);
            let error = said(facts).unwrap_err();
            assert!(error.is_refusal() && matches!(error, PlanError::AtRank { .. }), "{error}");
            error.to_string()
        };
        let space = least(|facts| facts.free_bytes = 5);
        let shared =
            "rank 1 on a has least space, and each of 4 ranks has its part of that: no space";
        assert!(space.starts_with(shared), "{space}");
        let inodes = least(|facts| facts.free_inodes = 1);
        assert!(inodes.starts_with("rank 2 on b has least inodes, and each of 4"), "{inodes}");
        let limit = least(|facts| facts.greatest_file_bytes = Some(7));
        assert!(limit.starts_with("rank 3 on b: a file of 1 MiB may not be written"), "{limit}");
    }
}
