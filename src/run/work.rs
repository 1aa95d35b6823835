//! How much work a cell's trial can be: passes, and parts of a pass.

use crate::catalog::Factor;
use crate::plan::{Cell, Plan};

/// A mapping that is read in sequence is counted in windows of this size, in any other order in
/// pages.
pub const WINDOW_BYTES: u64 = 1 << 20;

/// What a trial of a cell is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Work {
    /// Operations in one pass; 1 where a pass is one call.
    pub operations_per_pass: u64,
    /// The state is gone after one pass: never repeated within a trial.
    pub once: bool,
    /// Threads that do the work.
    pub threads: u64,
}

impl Work {
    /// The work of one cell of a plan.
    pub fn of(plan: &Plan, cell: &Cell) -> Work {
        let bytes = cell.instance.and_then(|i| plan.instances.get(i)).map(|i| i.bytes);
        // A call on a scratch file is no pass over it, and neither has a part.
        let operations_per_pass = match (bytes, cell.levels.get(Factor::Operation)) {
            (Some(bytes), None) => bytes.div_ceil(step_bytes(cell)).max(1),
            _ => 1,
        };
        Work {
            operations_per_pass,
            once: cell.levels.text(Factor::Cache) == Some("cold"),
            threads: cell.levels.number(Factor::Threads).unwrap_or(1).max(1),
        }
    }
}

/// Bytes of one operation of a cell that works on a file.
pub(super) fn step_bytes(cell: &Cell) -> u64 {
    let sequential =
        cell.levels.text(Factor::Pattern).is_none_or(|pattern| pattern == "sequential");
    let without_block = match sequential {
        true => WINDOW_BYTES,
        false => rustix::param::page_size() as u64,
    };
    cell.levels.number(Factor::Block).unwrap_or(without_block).max(1)
}

/// Whether the cell's data lie in the page cache, in a place that can change a figure. A cold trial
/// takes new pages each time.
pub(super) fn lies_in_cache(cell: &Cell) -> bool {
    let cached = matches!(cell.levels.text(Factor::Cache), Some("warm" | "any"));
    cell.instance.is_some() && cached
}

/// Whether the cell reads its file from the page cache in a state that was made: only then does
/// where its cached pages lie matter, and can be drawn anew.
pub(super) fn wants_priming(cell: &Cell) -> bool {
    cell.instance.is_some() && cell.levels.text(Factor::Cache) == Some("warm")
}
