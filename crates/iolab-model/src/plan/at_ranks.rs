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
