//! Which of the best cells ratios are against.

use crate::result::{Answer, CellRecord};

/// Of the best cells with their times the one that the paired ratios put ahead of the others, so
/// that none of them shows less than 1× of "the best". Ratios are paired within rounds and can
/// differ from the quotient of the medians; where they say nothing or run in a circle, the
/// smallest time leads.
pub(super) fn ahead<'a>(answer: &Answer, best: &[(&'a CellRecord, f64)]) -> Option<&'a CellRecord> {
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
