//! Mounts that differ in when they write the time of the last access, measured by opens that never
//! write it.

use iolab_agent::catalog;
use iolab_model::catalog::{Atime, AxisWord, Code, Factor, FileOperation, PlaceLevel, WorkloadId};
use iolab_model::plan::Plan;
use iolab_model::result::Warning;

/// Mount options (mount(8)) that say when it is written.
const OPTIONS: [&str; 6] =
    ["noatime", "strictatime", "relatime", "nodiratime", "lazytime", "atime"];

/// That a plan compares such places and cannot see what it compares.
pub fn warning(plan: &Plan) -> Option<Warning> {
    let levels = |factor| plan.factors.get(&factor).into_iter().flatten();
    let reads = plan.workload == WorkloadId::Read.word()
        || plan.workload == WorkloadId::Files.word()
            && plan.cells.iter().any(|cell| {
                cell.levels.word().is_some_and(|operation: FileOperation| {
                    matches!(operation, FileOperation::Read | FileOperation::Copy)
                })
            });
    let kept = levels(Factor::Atime).any(|level| *level == Atime::Kept.level());
    let places = catalog::places(levels(Factor::Place));
    let mut options: Vec<Vec<&str>> = places.iter().map(of).collect();
    options.sort_unstable();
    options.dedup();
    (reads && !kept && options.len() > 1).then(|| Warning {
        code: Code::AtimeNotWritten,
        text: "iolab writes no access times (O_NOATIME): give --atime kept".to_owned(),
    })
}

fn of(place: &PlaceLevel) -> Vec<&str> {
    let names = place.options.iter().map(|(name, _)| name.as_str());
    let own = names.filter(|name| OPTIONS.contains(name));
    own.chain(place.layers.iter().flat_map(|(_, layer)| of(layer))).collect()
}

#[cfg(test)]
mod tests {
    use super::warning;
    use iolab_model::catalog::{Atime, AxisWord, Code, Factor, Level};
    use iolab_test::virtual_machine::{PlanShape, plan};

    /// ext4:noatime came out as fast as ext4:strictatime, for neither wrote a time.
    #[test]
    fn mounts_that_differ_in_access_times_alone_need_them_kept() {
        let told = |places: &[&str], atime: Option<Atime>, workload: &str| {
            let mut plan = plan(&PlanShape::new(2, 5));
            workload.clone_into(&mut plan.workload);
            let levels = places.iter().map(|place| Level::word(*place)).collect();
            plan.factors.insert(Factor::Place, levels);
            if let Some(atime) = atime {
                plan.factors.insert(Factor::Atime, vec![atime.level()]);
            }
            warning(&plan)
        };
        let differ = ["ext4:noatime", "ext4:strictatime"];
        let said = told(&differ, None, "read").unwrap();
        assert!(said.code == Code::AtimeNotWritten && said.text.contains("--atime kept"));
        assert_eq!(told(&differ, Some(Atime::Left), "read"), Some(said));
        assert_eq!(told(&differ, Some(Atime::Kept), "read"), None);
        assert_eq!(told(&differ, None, "write"), None);
        assert_eq!(told(&["ext4:noatime", "xfs:noatime"], None, "read"), None);
        assert!(told(&["ext4", "ext4:noatime"], None, "read").is_some());
    }
}
