//! On an axis of sizes or counts: the smallest level that is as good as the best.

use super::answer_text::within_of;
use iolab_model::catalog::{Factor, Kind, Level, bytes_text, percent_text};
use iolab_model::plan::{Condition, Plan};
use iolab_stats::Judgement;

/// Fewer levels than this are no axis.
const FEWEST_LEVELS: usize = 3;

/// `64 KiB is the smallest block within 2 % of the best`, where that is news.
pub(super) fn plateau(plan: &Plan, condition: &Condition, judged: &Judgement) -> Option<String> {
    let leader = judged.leader.or(judged.best.first().copied())?;
    let levels_of = |cell: usize| &plan.cells[condition.cells[cell]].levels;
    let ordered = |f: &&Factor| matches!(f.kind(), Kind::Bytes | Kind::Count);
    let factor = *plan.ask.iter().find(ordered)?;
    let others = |cell: usize| levels_of(cell).only(|f| f != factor);
    let mut axis: Vec<(u64, usize)> = (0..condition.cells.len())
        .filter(|cell| others(*cell) == others(leader))
        .filter_map(|cell| Some((levels_of(cell).number(factor)?, cell)))
        .collect();
    axis.sort_unstable();
    if axis.len() < FEWEST_LEVELS {
        return None;
    }
    let (level, cell) = axis.into_iter().find(|(_, cell)| within_of(judged, *cell, leader))?;
    if cell == leader && judged.best.len() == 1 {
        return None;
    }
    let within = percent_text(judged.delta_eff);
    let level = match factor.kind() {
        Kind::Bytes => bytes_text(level),
        _ => Level::Number(level).to_string(),
    };
    let what = match factor {
        Factor::Block => "block".to_owned(),
        Factor::Threads => "number of threads".to_owned(),
        other => other.name().replace('-', " "),
    };
    Some(format!("{level} is the smallest {what} within {within} of the best"))
}
