//! A cell whose trials lack their proof again and again is left out of the rounds.

use super::{ExclusionReason, Left};
use iolab_model::result::Sample;

/// A cell whose trials lack their proof so often in a row is left out.
pub(super) const UNPROVEN: u32 = 10;

/// A cell whose trials never had their proof.
pub(super) fn never_proven(round: u32, sample: &Sample) -> Left {
    let cache = sample.measurement.proof.cache.as_ref();
    let cause = match (&sample.fault, cache.and_then(|c| c.reason.as_deref())) {
        (Some(fault), _) => fault.to_string(),
        (None, Some(reason)) => format!("cache state not proven: {reason}"),
        (None, None) if sample.measurement.wall_ns == 0 => "no time was measured".to_owned(),
        (None, None) => "its proof did not hold".to_owned(),
    };
    let reason = format!("{UNPROVEN} trials in a row did not count: {cause}");
    Left { round, why: ExclusionReason::Failed, reason }
}
