//! How much work a cell's trial can be: passes, and parts of a pass.

use crate::catalog::Factor;
use crate::plan::{Cell, Plan};

/// A part of a pass of a cell without a block (a mapping) is counted in windows of this size.
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
            (Some(bytes), None) => {
                let step = cell.levels.number(Factor::Block).unwrap_or(WINDOW_BYTES).max(1);
                bytes.div_ceil(step).max(1)
            }
            _ => 1,
        };
        Work {
            operations_per_pass,
            once: cell.levels.text(Factor::Cache) == Some("cold"),
            threads: cell.levels.number(Factor::Threads).unwrap_or(1).max(1),
        }
    }
}

/// Whether the cell reads its file from the page cache in a state that was made: only then does
/// where its cached pages lie matter, and can be drawn anew.
pub(super) fn wants_priming(cell: &Cell) -> bool {
    cell.instance.is_some() && cell.levels.text(Factor::Cache) == Some("warm")
}
