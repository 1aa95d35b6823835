//! What two single runs show, said of these two runs and of nothing else.

use super::Row;
use super::series::{Common, shown};
use iolab_model::catalog::{Levels, ratio_text, time_text};
use iolab_model::result::{CellRecord, Document, Summary};

/// Most rows that are told of, the farthest apart first.
const MOST_TOLD: usize = 2;

/// A note on one run a side: the ratio of what was seen, with the interval of each run itself.
pub(super) fn seen_note(
    first: &[Document],
    second: &[Document],
    rows: &[Row],
    common: &[Common],
) -> Option<String> {
    let ([before], [after]) = (first, second) else { return None };
    let mut farthest: Vec<&Row> = rows.iter().collect();
    farthest.sort_by(|a, b| b.ratio.ln().abs().total_cmp(&a.ratio.ln().abs()));
    let told = |row: &&Row| {
        let levels = &common.iter().find(|cell| cell.name == row.cell)?.key.1;
        let (then, now) = (cell(before, levels)?, cell(after, levels)?);
        Some(format!(
            "{} took {} as long ({} against {})",
            row.cell,
            ratio_text(row.ratio),
            with_interval(now)?,
            with_interval(then)?
        ))
    };
    let told: Vec<String> = farthest.iter().filter_map(told).take(MOST_TOLD).collect();
    let rest = match rows.len() - told.len() {
        0 => "",
        _ => ", the others less apart",
    };
    (!told.is_empty()).then(|| {
        format!(
            "Seen in these two runs, each time with the interval of its own rounds: {}{rest}.",
            told.join("; ")
        )
    })
}

fn cell<'a>(run: &'a Document, levels: &Levels) -> Option<&'a CellRecord> {
    run.cells.iter().find(|cell| cell.factors == *levels)
}

/// `32.0 ms, 31.8–32.3`.
fn with_interval(cell: &CellRecord) -> Option<String> {
    let Summary { median, low, high, .. } = shown(cell)?;
    Some(match low.zip(*high) {
        Some((low, high)) => {
            format!("{}, {} to {}", time_text(*median), time_text(low), time_text(high))
        }
        None => time_text(*median),
    })
}
