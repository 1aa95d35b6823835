//! The rules that one answer is judged by.

use super::budget::pairs_of;
use super::schedule::seed_for;
use super::work::is_renewed;
use iolab_model::catalog::Factor;
use iolab_model::plan::{Condition, Plan};
use iolab_stats::Rules;

/// The rules of one answer.
pub(super) fn rules_of(plan: &Plan, index: usize, epoch_rounds: u32) -> Rules {
    let condition = &plan.conditions[index];
    let renewed = condition.cells.iter().any(|c| is_renewed(plan, &plan.cells[*c]));
    let by_epoch = condition.own_instances && renewed && epoch_rounds > 1;
    Rules {
        alpha: plan.protocol.alpha,
        delta: plan.protocol.delta,
        pairs: pairs_of(condition.cells.len()),
        unit_rounds: if by_epoch { epoch_rounds as usize } else { 1 },
        cost: costs_of(plan, condition),
        seed: seed_for(plan.protocol.seed, "statistics", index as u64),
    }
}

/// What taking each cell costs beside time, as ranks: the smallest block, then the fewest ranks and threads,
/// the shallowest queue, the simplest method (the order of the plan is that of the catalog).
fn costs_of(plan: &Plan, condition: &Condition) -> Vec<u64> {
    let key = |cell: &usize| {
        let levels = &plan.cells[*cell].levels;
        let number = |factor, missing| levels.number(factor).unwrap_or(missing);
        (
            number(Factor::Ranks, 1),
            number(Factor::Threads, 1),
            number(Factor::QueueDepth, 1),
            number(Factor::Block, u64::MAX),
            *cell,
        )
    };
    let keys: Vec<_> = condition.cells.iter().map(key).collect();
    let mut sorted = keys.clone();
    sorted.sort_unstable();
    keys.iter().map(|key| sorted.partition_point(|other| other < key) as u64).collect()
}
