//! Several runs beside each other: each cell that at least two of them have, a dot a run. Runs
//! share no rounds, so nothing is proven across them; the title says what the intervals show.

use super::block::subtitle;
use super::cells::{Index, Source, run_name};
use super::estimate::{Estimated, curve_table, missing_reason, point};
use super::model::{Chart, Direction, Ink, Key, Layer, MOST_SERIES, Mark, Panel, Point, Series};
use super::scale::Axis;
use super::words::short;
use crate::catalog::Levels;

/// Most cells that are drawn.
const MOST_ROWS: usize = 30;

/// The chart, where runs have cells in common.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    if index.documents.len() < 2 {
        return None;
    }
    let mut rows: Vec<(&Levels, Vec<Source<'_>>)> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for source in &index.cells {
        let next = rows.len();
        let at = *places.entry(&source.cell.factors).or_insert(next);
        if at == next {
            rows.push((&source.cell.factors, Vec::new()));
        }
        rows[at].1.push(*source);
    }
    rows.retain(|(_, cells)| cells.len() > 1);
    if rows.is_empty() {
        return None;
    }
    let measure = Estimated::of(index);
    let varying = index.varying(&index.cells, &[]);
    let hidden = rows.len().saturating_sub(MOST_ROWS);
    let title = title(index, &rows, measure);
    rows.truncate(MOST_ROWS);
    let factors: Vec<_> = varying.into_iter().filter(|s| *s != super::cells::Split::Run).collect();
    let name = |cells: &[Source<'_>]| {
        cells.first().map_or_else(String::new, |s| short(&index.name(s, &factors)))
    };
    let names = rows.iter().map(|(_, cells)| name(cells)).collect();
    let ends = rows.iter().flat_map(|(_, cells)| cells).filter_map(|s| measure.of_cell(s.cell));
    let ends = ends.flat_map(|v| [Some(v.median), v.low, v.high]).flatten();
    let shown = index.documents.iter().enumerate().take(MOST_SERIES);
    let panel = Panel {
        title: String::new(),
        x: Axis::times(measure.axis(), ends),
        y: Axis::category("", names),
        layers: (0..index.documents.len().min(MOST_SERIES))
            .map(|run| dots(run, &rows, measure))
            .collect(),
    };
    let mut notes =
        vec!["Runs share no rounds: intervals beside each other are no verdict".to_owned()];
    if index.documents.len() > MOST_SERIES {
        notes.push(format!("The first {MOST_SERIES} runs are drawn, all are in the table"));
    }
    if hidden > 0 {
        notes.push(format!("{hidden} more cells are in the table only"));
    }
    Some(Chart {
        slug: "runs-side-by-side".to_owned(),
        title,
        subtitle: subtitle(index, &[]),
        panels: vec![panel],
        keys: shown.map(|(at, d)| Key { name: run_name(d), ink: Ink::nth(at) }).collect(),
        notes,
        guide: Vec::new(),
        table: curve_table(index, measure),
    })
}

fn dots(run: usize, rows: &[(&Levels, Vec<Source<'_>>)], measure: Estimated) -> Layer {
    let place = |(row, (_, cells)): (usize, &(&Levels, Vec<Source<'_>>))| {
        let source = cells.iter().find(|s| s.run == run)?;
        let y = row as f64;
        Some(match measure.of_cell(source.cell) {
            Some(value) => Point { y, x: value.median, ..point(source, measure, value, 0.0) },
            None => Point {
                x: f64::NAN,
                y,
                low: None,
                high: None,
                mark: Mark::Missing,
                tip: missing_reason(source),
            },
        })
    };
    Layer::Series(Series {
        key: Some(run),
        ink: Ink::nth(run),
        joined: false,
        band: false,
        interval: Direction::X,
        across: false,
        points: rows.iter().enumerate().filter_map(place).collect(),
    })
}

/// How many cells of the last run lie clear of the first one's interval, and on which side.
fn title(index: &Index<'_>, rows: &[(&Levels, Vec<Source<'_>>)], measure: Estimated) -> String {
    let last = index.documents.len() - 1;
    let (mut faster, mut slower, mut open) = (0, 0, 0);
    for (_, cells) in rows {
        let of = |run: usize| {
            let source = cells.iter().find(|s| s.run == run)?;
            let value = measure.of_cell(source.cell)?;
            Some((value.low?, value.high?))
        };
        match (of(0), of(last)) {
            (Some((low, _)), Some((_, high))) if high < low => faster += 1,
            (Some((_, high)), Some((low, _))) if low > high => slower += 1,
            (Some(_), Some(_)) => open += 1,
            _ => {}
        }
    }
    format!(
        "The last run against the first: {faster} cells faster, {slower} slower, {open} overlap"
    )
}
