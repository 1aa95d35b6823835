//! A clone is no copy: among copies it stands in the table, but is not ranked with them.

use super::CellOutcome;
use iolab_model::result::CopyRoute;

/// Those of `members` (indices into `cells`) that were clones, where others were copies.
pub(super) fn clones_among_copies(members: &[usize], cells: &[CellOutcome]) -> Vec<usize> {
    let classes = members.iter().map(|cell| (*cell, cells.get(*cell).and_then(cloned)));
    let known: Vec<(usize, bool)> = classes.filter_map(|(cell, c)| Some((cell, c?))).collect();
    if known.iter().all(|(_, cloned)| *cloned) {
        return Vec::new();
    }
    known.into_iter().filter(|(_, cloned)| *cloned).map(|(cell, _)| cell).collect()
}

/// Whether a cell cloned, by most of its trials; `None` where nothing is known of that.
fn cloned(cell: &CellOutcome) -> Option<bool> {
    let routes = cell.samples.iter().filter_map(|s| s.measurement.proof.copy.as_ref());
    let (mut clones, mut all) = (0, 0);
    for proof in routes {
        clones += usize::from(proof.route == CopyRoute::Cloned);
        all += 1;
    }
    (all > 0).then_some(2 * clones > all)
}

#[cfg(test)]
mod tests {
    use super::clones_among_copies;
    use crate::CellOutcome;
    use iolab_model::result::{CopyProof, CopyRoute, Measurement, Phase, Sample};

    fn cell(routes: &[Option<CopyRoute>]) -> CellOutcome {
        let sample = |route: &Option<CopyRoute>| {
            let mut measurement = Measurement::default();
            measurement.proof.copy = route.map(|route| CopyProof {
                route,
                shared_bytes: None,
                stored_bytes: 0,
                hole_bytes: 0,
                matches: true,
                reason: None,
            });
            let (round, position, epoch, phase) = (3, 0, 0, Phase::Steady);
            Sample { round, position, phase, epoch, measurement, fault: None }
        };
        CellOutcome { samples: routes.iter().map(sample).collect(), left: None }
    }

    #[test]
    fn clones_leave_the_ranking_of_copies_and_stay_among_themselves() {
        use CopyRoute::{Cloned, InKernel, UserSpace};
        let clone = || cell(&[Some(Cloned), Some(Cloned), Some(InKernel)]);
        let copy = || cell(&[Some(UserSpace)]);
        let cells = [clone(), copy(), cell(&[None]), clone()];
        assert_eq!(clones_among_copies(&[0, 1, 2, 3], &cells), [0, 3]);
        assert!(clones_among_copies(&[0, 2, 3], &cells).is_empty());
        assert!(clones_among_copies(&[1, 2], &cells).is_empty());
        assert!(clones_among_copies(&[2], &cells).is_empty());
    }
}
