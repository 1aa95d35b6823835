//! Which of the best cells ratios are against, and what they show of the others.

use std::cmp::Ordering;

use iolab_model::result::{Answer, CellRecord, CellStatus, Comparison, Verdict};

/// Of the best cells with their times the one that the paired ratios put ahead of the others, so
/// that none of them shows less than 1× of "the best". Ratios are paired within rounds and can
/// differ from the quotient of the medians; where they say nothing or run in a circle, the
/// smallest time leads.
pub(super) fn reference_cell<'a>(
    answer: &Answer,
    best: &[(&'a CellRecord, f64)],
) -> Option<&'a CellRecord> {
    // The least time of any other over that of the cell.
    let margin = |cell: &CellRecord| {
        let ratios = answer.comparisons.iter().filter_map(|c| {
            let (other, ratio) = match () {
                () if *c.a == cell.id => (&c.b, 1.0 / c.ratio),
                () if *c.b == cell.id => (&c.a, c.ratio),
                () => return None,
            };
            best.iter().any(|(cell, _)| **other == cell.id).then_some(ratio)
        });
        ratios.filter(|ratio| ratio.is_finite() && *ratio > 0.0).fold(1.0, f64::min)
    };
    let order = |(a, time_a): &(&CellRecord, f64), (b, time_b): &(&CellRecord, f64)| {
        margin(b).total_cmp(&margin(a)).then(time_a.total_cmp(time_b))
    };
    best.iter().min_by(|a, b| order(a, b)).map(|(cell, _)| *cell)
}

/// The comparison of a cell with the reference, turned so that the ratio is the cell's time over
/// the reference's.
pub(super) fn against(answer: &Answer, cell: &str, reference: &str) -> Option<Comparison> {
    let pair = answer
        .comparisons
        .iter()
        .find(|c| (c.a == cell && c.b == reference) || (c.a == reference && c.b == cell))?;
    Some(if pair.a == cell { pair.clone() } else { turned(pair) })
}

/// The same comparison, seen from its other cell.
fn turned(pair: &Comparison) -> Comparison {
    let verdict = match pair.verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    };
    Comparison {
        a: pair.b,
        b: pair.a,
        ratio: 1.0 / pair.ratio,
        low: pair.high.map(|h| 1.0 / h),
        high: pair.low.map(|l| 1.0 / l),
        verdict,
        ..pair.clone()
    }
}

/// The comparison that says most of a cell: any of the others may be the one that it lost to.
pub(super) fn shown(
    cell: &CellRecord,
    answer: &Answer,
    against: Option<&Comparison>,
) -> Option<Comparison> {
    let beaten = against.filter(|c| c.verdict == Verdict::Slower).cloned();
    beaten.or_else(|| lost(cell, answer)).or_else(|| against.cloned())
}

/// The comparison that shows a cell to be slower: of several the one with the largest lower bound.
fn lost(cell: &CellRecord, answer: &Answer) -> Option<Comparison> {
    let seen = |c: &Comparison| match c {
        c if *c.a == cell.id => Some(c.clone()),
        c if *c.b == cell.id => Some(turned(c)),
        _ => None,
    };
    let slower =
        answer.comparisons.iter().filter_map(seen).filter(|c| c.verdict == Verdict::Slower);
    let low = |c: &Comparison| c.low.unwrap_or(0.0);
    slower
        .max_by(|a, b| (a.clear, low(a)).partial_cmp(&(b.clear, low(b))).unwrap_or(Ordering::Equal))
}

/// Whether an interval belongs beside a cell: one that was left out as slower lost to one cell, and
/// where it lies against another, as far as that went, may hold 1 and would deny it.
pub(super) fn tells(cell: &CellRecord, against: &Comparison) -> bool {
    cell.status != CellStatus::Eliminated || against.verdict == Verdict::Slower
}
