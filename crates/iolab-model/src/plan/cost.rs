//! What a plan will cost, before it starts. A rough forecast from cautious speeds; calibration
//! replaces it with what this machine does.

use super::instance::space_bytes;
use super::{Cell, Cost, FileUse, Instance};
use crate::catalog::{Factor, FileOperation};
use crate::spec::Protocol;
use crate::tree::TreeOrder;

/// Fork, proof, check and reply of one trial, without the timed window.
const TRIAL_OVERHEAD_NS: u64 = 3_000_000;
/// The least timed window.
const LEAST_WINDOW_NS: u64 = 1_000_000;
/// The greatest timed window.
const GREATEST_WINDOW_NS: u64 = 250_000_000;
/// Cautious speeds in bytes per microsecond.
const WARM_SPEED: u64 = 4_000;
const COLD_SPEED: u64 = 400;
const WRITE_SPEED: u64 = 400;
/// What a file of a tree costs beside its bytes: to open it, and to make and remove one.
const OPEN_NS: u64 = 20_000;
const MAKE_NS: u64 = 200_000;
/// Rounds beyond this are never needed.
const MOST_ROUNDS: u64 = 400;
/// First and warm-up rounds.
const UNCOUNTED_ROUNDS: u64 = 3;

/// What there is beside the files that trials work on.
pub(super) struct Beside {
    /// Space for images, and for the largest copy.
    pub bytes: u64,
    /// Whether each trial writes a copy of its file.
    pub copies: bool,
}

/// The forecast.
pub(super) fn forecast(
    cells: &[Cell],
    instances: &[Instance],
    renews_each_round: bool,
    protocol: &Protocol,
    beside: Beside,
) -> Cost {
    let made = instances
        .iter()
        .filter(|i| i.path.is_none() && i.used != FileUse::Absent)
        .fold(0u64, |sum, i| sum.saturating_add(i.total_bytes()));
    let on_disk = space_bytes(instances.iter().filter(|i| i.place.is_none()));
    let active: Vec<&Cell> = cells.iter().filter(|cell| cell.skip.is_none()).collect();
    let share = (protocol.budget_ns / 10 * 9) / (40 * active.len().max(1) as u64);
    let window = GREATEST_WINDOW_NS.min(share).max(LEAST_WINDOW_NS);
    let trials: u64 =
        active.iter().map(|cell| trial_ns(cell, instances, window, beside.copies)).sum();
    let twin = trials / active.len().max(1) as u64;
    let round_ns = trials + twin + if renews_each_round { renewal_ns(instances) } else { 0 };
    let start_ns = made / WRITE_SPEED * 1000 + renewal_ns(instances);
    let rounds = match protocol.rounds {
        Some(rounds) => u64::from(rounds),
        None => {
            let left = (protocol.budget_ns / 10 * 9).saturating_sub(start_ns);
            (left / round_ns.max(1)).saturating_sub(UNCOUNTED_ROUNDS).min(MOST_ROUNDS)
        }
    };
    let written = active.iter().fold(0u64, |sum, cell| {
        sum.saturating_add(written_bytes(cell, instances, window, beside.copies))
    });
    // The twin writes as its cell does.
    let written = written.saturating_add(written / active.len().max(1) as u64);
    let all_rounds_ns = round_ns.saturating_mul(rounds + UNCOUNTED_ROUNDS).saturating_add(start_ns);
    Cost {
        time_ns: if protocol.rounds.is_some() { all_rounds_ns } else { protocol.budget_ns },
        bytes_written: made.saturating_add(written.saturating_mul(rounds + UNCOUNTED_ROUNDS)),
        space_bytes: on_disk.saturating_add(beside.bytes),
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        privileges: Vec::new(),
    }
}

/// Bytes that a trial writes: its file or a copy of it, or as much as the window allows.
fn written_bytes(cell: &Cell, instances: &[Instance], window_ns: u64, copies: bool) -> u64 {
    if let Some(tree) = tree_of(cell, instances) {
        let part =
            (trial_of_tree_ns(cell, tree, window_ns) as f64 / tree_ns(cell, tree) as f64).min(1.0);
        return if writes_tree(cell) { (tree.bytes as f64 * part) as u64 } else { 0 };
    }
    match cell.writes() || copies {
        true => file_bytes(cell, instances).min(window_ns / 1000 * WRITE_SPEED),
        false => 0,
    }
}

fn file_bytes(cell: &Cell, instances: &[Instance]) -> u64 {
    cell.instance.and_then(|id| instances.get(id)).map_or(0, |i| i.bytes)
}

fn trial_ns(cell: &Cell, instances: &[Instance], window_ns: u64, copies: bool) -> u64 {
    if let Some(tree) = tree_of(cell, instances) {
        // What is made outside of the window, or removed after it, takes as long again.
        let times = if writes_tree(cell) { 2 } else { 1 };
        return times * trial_of_tree_ns(cell, tree, window_ns) + TRIAL_OVERHEAD_NS;
    }
    let bytes = file_bytes(cell, instances);
    let cold = cell.starts_cold();
    let is_call = cell.levels.get(Factor::Operation).is_some();
    let pass_ns = match (is_call, cold) {
        (true, _) => LEAST_WINDOW_NS,
        _ if cell.writes() => bytes / WRITE_SPEED * 1000,
        // Written, read back to be verified, and removed.
        (false, _) if copies => 3 * (bytes / WRITE_SPEED * 1000) / 2,
        (_, true) => bytes / COLD_SPEED * 1000,
        (_, false) => bytes / WARM_SPEED * 1000,
    };
    pass_ns.clamp(LEAST_WINDOW_NS, window_ns) + TRIAL_OVERHEAD_NS
}

/// The tree that a cell works on.
fn tree_of<'a>(cell: &Cell, instances: &'a [Instance]) -> Option<&'a Instance> {
    cell.instance.and_then(|id| instances.get(id)).filter(|i| i.tree.is_some())
}

/// Whether its operation makes or removes files of a tree.
fn writes_tree(cell: &Cell) -> bool {
    cell.levels.word().is_some_and(FileOperation::has_own)
}

/// The operation of a cell on all of its tree.
fn tree_ns(cell: &Cell, tree: &Instance) -> u64 {
    let files = tree.tree.as_ref().map_or(1, TreeOrder::files).max(1);
    let moves_bytes = cell.levels.word().is_none_or(FileOperation::moves_bytes);
    let (file_ns, speed) = match (writes_tree(cell), cell.starts_cold()) {
        (true, _) => (MAKE_NS, WRITE_SPEED),
        (false, true) => (MAKE_NS, COLD_SPEED),
        (false, false) => (OPEN_NS, WARM_SPEED),
    };
    let bytes = if moves_bytes { tree.bytes } else { 0 };
    files.saturating_mul(file_ns).saturating_add(bytes / speed * 1000)
}

/// The same in a trial, which does as much of the tree as the window holds. A command does all of it.
fn trial_of_tree_ns(cell: &Cell, tree: &Instance, window_ns: u64) -> u64 {
    let all = tree_ns(cell, tree);
    match cell.levels.get(Factor::Contender).is_some() {
        true => all.max(LEAST_WINDOW_NS),
        false => all.clamp(LEAST_WINDOW_NS, window_ns),
    }
}

fn renewal_ns(instances: &[Instance]) -> u64 {
    instances.iter().fold(0u64, |sum, i| sum.saturating_add(i.bytes / COLD_SPEED * 1000))
}
