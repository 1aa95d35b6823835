//! What a plan is going to touch, as far as facts and hazards depend on it.

use std::collections::BTreeSet;
use std::path::PathBuf;

use super::contenders;
use iolab_agent::{LookOrder, WorkAhead, catalog};
use iolab_model::catalog::{Capability, Factor, Level, path_to_text};
use iolab_model::plan::{Cell, Plan};

/// What is to be told of the machine for a plan.
pub fn look_order(plan: &Plan) -> LookOrder {
    LookOrder {
        directories: directories(plan).iter().map(|path| path_to_text(path)).collect(),
        work: work(plan),
        programs: contenders::programs(plan),
        before: None,
    }
}

/// Files and directories that trials touch.
pub fn touched(plan: &Plan) -> Vec<PathBuf> {
    let files = plan.instances.iter().filter_map(|instance| instance.path.clone());
    files.chain(directories(plan)).collect()
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
    let number = |level: &Level| match level {
        Level::Number(n) => Some(*n),
        _ => None,
    };
    let blocks = plan.factors.get(&Factor::Block).into_iter().flatten();
    let has = |word: &str| {
        let levels = plan.factors.get(&Factor::Cache).into_iter().flatten();
        levels.into_iter().any(|level| *level == Level::word(word))
    };
    let writes =
        matches!(catalog::capability(&plan.workload), Some(Capability::Write | Capability::Copy));
    WorkAhead {
        block_bytes: blocks.filter_map(number).collect(),
        file_bytes: plan.instances.iter().map(|instance| instance.bytes).collect(),
        cold: has("cold") || has("remount"),
        warm: has("warm"),
        writes: writes || does(plan, "files", &["write", "copy"]),
        trees: plan.instances.iter().any(|instance| instance.tree.is_some()),
        remakes: remakes(plan),
        reads_files: plan.factors.contains_key(&Factor::Method),
    }
}

/// Whether some trial on many files does one of these.
fn does(plan: &Plan, workload: &str, words: &[&str]) -> bool {
    let does = |cell: &Cell| {
        let operation = cell.levels.text(Factor::Operation);
        operation.is_some_and(|operation| words.contains(&operation))
    };
    plan.workload == workload && plan.cells.iter().filter(|c| c.skip.is_none()).any(does)
}

/// Whether each trial makes many files of its own in the directory under test itself.
fn remakes(plan: &Plan) -> bool {
    const FILES: [&str; 4] = ["write", "copy", "create", "remove"];
    const CALLS: [&str; 5] = ["create", "symlink", "mkdir", "rmdir", "unlink"];
    let here = plan.cells.iter().any(|cell| cell.levels.get(Factor::Place).is_none());
    here && (does(plan, "files", &FILES) || does(plan, "meta", &CALLS))
}
