//! What a plan is going to touch, as far as facts and hazards depend on it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::contenders;
use iolab_agent::{LookOrder, WorkAhead, catalog};
use iolab_model::catalog::{
    AxisWord, CacheState, Capability, Factor, FileOperation, Level, NamedCall, PlaceLevel,
    WorkloadId, path_to_text,
};
use iolab_model::plan::{Cell, Plan};

/// What is to be told of the machine for a plan.
pub fn look_order(plan: &Plan) -> LookOrder {
    LookOrder {
        directories: directories(plan).iter().map(|path| path_to_text(path)).collect(),
        work: work(plan),
        programs: contenders::programs(plan),
        files: files(plan)
            .chain(traces(plan))
            .chain(disks(plan))
            .map(|path| path_to_text(&path))
            .collect(),
        traces: traces(plan).iter().map(|path| path_to_text(path)).collect(),
        with_data: plan.copies_data(),
        before: None,
    }
}

/// Files and directories that trials touch.
pub fn touched(plan: &Plan) -> Vec<PathBuf> {
    files(plan).chain(directories(plan)).collect()
}

fn files(plan: &Plan) -> impl Iterator<Item = PathBuf> + '_ {
    plan.instances.iter().filter_map(|instance| instance.path.clone())
}

/// Traces that are replayed.
fn traces(plan: &Plan) -> Vec<PathBuf> {
    let levels = plan.factors.get(&Factor::Trace).into_iter().flatten();
    let path = |level: &Level| match level {
        Level::Path(path) => Some(path.clone()),
        _ => None,
    };
    levels.filter_map(path).collect()
}

/// Disks of the person's that places are made on. A name such as /dev/sdb is another disk's after
/// the next start.
fn disks(plan: &Plan) -> impl Iterator<Item = PathBuf> + '_ {
    fn disks_of(place: PlaceLevel) -> Vec<PathBuf> {
        let own = place.path.filter(|_| place.kind == "device");
        own.into_iter().chain(place.layers.into_iter().flat_map(|(_, on)| disks_of(on))).collect()
    }
    let levels = [Factor::Place, Factor::SourcePlace].map(|factor| plan.factors.get(&factor));
    let places = catalog::places(levels.into_iter().flatten().flatten());
    places.into_iter().flat_map(disks_of)
}

/// The directories whose file systems are under test, that of the files first.
fn directories(plan: &Plan) -> Vec<PathBuf> {
    let parents = plan.instances.iter().map(|instance| match &instance.path {
        Some(path) => path.parent().unwrap_or(path).to_owned(),
        None => plan.directory.clone(),
    });
    // A copy has two ends.
    let parents = parents.chain(plan.copies.then(|| plan.directory.clone()));
    let mut seen = BTreeSet::new();
    let mut all: Vec<PathBuf> = parents.filter(|path| seen.insert(path.clone())).collect();
    if all.is_empty() {
        all.push(plan.directory.clone());
    }
    all
}

fn work(plan: &Plan) -> WorkAhead {
    let blocks = plan.factors.get(&Factor::Block).into_iter().flatten();
    let has = |state: CacheState| {
        let levels = plan.factors.get(&Factor::Cache);
        levels.is_some_and(|levels| levels.contains(&state.level()))
    };
    let writes =
        matches!(catalog::capability(&plan.workload), Some(Capability::Write | Capability::Copy));
    WorkAhead {
        block_bytes: blocks.filter_map(Level::number).collect(),
        file_bytes: plan.instances.iter().map(|instance| instance.bytes).collect(),
        cold: has(CacheState::Cold) || has(CacheState::Remount),
        warm: has(CacheState::Warm),
        writes: writes || does(plan, WorkloadId::Files, FileOperation::writes_bytes),
        trees: plan.instances.iter().any(|instance| instance.tree.is_some()),
        theirs: plan.instances.iter().any(|instance| instance.path.is_some()),
        remakes: remakes(plan),
        reads_files: plan.factors.contains_key(&Factor::Method),
    }
}

/// Whether some trial on many files does one of these.
fn does<W: AxisWord>(plan: &Plan, workload: WorkloadId, such: fn(W) -> bool) -> bool {
    let does = |cell: &Cell| cell.levels.word().is_some_and(such);
    plan.workload == workload.word() && plan.cells.iter().filter(|c| c.skip.is_none()).any(does)
}

/// Whether each trial makes many files of its own in the directory under test itself.
fn remakes(plan: &Plan) -> bool {
    let here = plan.cells.iter().any(|cell| cell.levels.get(Factor::Place).is_none());
    let files = does(plan, WorkloadId::Files, FileOperation::has_own);
    here && (files || does(plan, WorkloadId::Meta, NamedCall::makes_or_removes))
}
