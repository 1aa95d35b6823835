//! On an axis of sizes or counts: the smallest level that is as good as the best of all.

use iolab_model::catalog::{Factor, Kind, Level, bytes_text};
use iolab_model::plan::{Condition, Plan};
use iolab_model::result::{Finding, FindingKind};
use iolab_stats::claims::{Claims, plateau};

/// Fewer levels than this are no axis.
const FEWEST_LEVELS: usize = 3;

/// What is found along the ordered factors that were asked about, for the pick's other levels.
pub(super) fn along_factors(plan: &Plan, condition: &Condition, claims: &Claims) -> Vec<Finding> {
    let ordered = |f: &&Factor| matches!(f.kind(), Kind::Bytes | Kind::Count);
    let factors = plan.ask.iter().filter(ordered);
    factors.filter_map(|factor| along(plan, condition, claims, *factor)).collect()
}

fn along(plan: &Plan, condition: &Condition, claims: &Claims, factor: Factor) -> Option<Finding> {
    let pick = claims.pick?;
    let levels_of = |cell: usize| &plan.cells[condition.cells[cell]].levels;
    let others = |cell: usize| levels_of(cell).only(|f| f != factor);
    let mut axis: Vec<(u64, usize)> = claims
        .compared()
        .into_iter()
        .filter(|cell| others(*cell) == others(pick.cell))
        .filter_map(|cell| Some((levels_of(cell).number(factor)?, cell)))
        .collect();
    axis.sort_unstable();
    if axis.len() < FEWEST_LEVELS {
        return None;
    }
    let cells: Vec<usize> = axis.iter().map(|(_, cell)| *cell).collect();
    let first = plateau(&claims.high(), &cells, claims.delta)?;
    let (level, _) = *axis.iter().find(|(_, cell)| *cell == first.cell)?;
    let level = match factor.kind() {
        Kind::Bytes => bytes_text(level),
        _ => Level::Number(level).to_string(),
    };
    let kind = match factor {
        Factor::Threads => FindingKind::Scaling,
        _ => FindingKind::Plateau,
    };
    let cell = plan.cells[condition.cells[first.cell]].id.as_str().into();
    let at_most = Some(first.at_most.exp());
    Some(Finding { kind, factor: factor.name().to_owned(), cell, level, at_most })
}
