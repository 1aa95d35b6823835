//! The ladder of system calls: what one call costs, cheapest first.

use super::block::{keys, subtitle};
use crate::drawing::cells::{Index, Source};
use crate::drawing::estimate::{Estimated, curve_table, missing_reason, point};
use crate::drawing::labels::level_text;
use crate::drawing::model::{Chart, Direction, Layer, Panel, Point, Series, Tint};
use crate::drawing::scale::{Axis, span};
use crate::drawing::spread::abreast;
use crate::drawing::standing::unit_time;
use iolab_model::catalog::{Factor, Level, NamedCall, WorkloadId, percent_text, time_text};

/// The chart, where at least two operations were measured.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let operations = index.levels(Factor::Operation);
    // Reading a file and creating one are no rungs of a ladder of calls.
    let calls = |id: &str| id.parse().is_ok_and(WorkloadId::is_of_calls);
    let calls = index.documents.iter().all(|d| calls(&d.experiment.workload));
    if operations.len() < 2 || !calls {
        return None;
    }
    let measure = Estimated::Operation;
    let facets = index.facets(&index.cells, &[Factor::Operation]);
    let rungs = order(index, operations);
    let names: Vec<String> = rungs.iter().map(|l| level_text(Factor::Operation, Some(l))).collect();
    let values = index.cells.iter().filter_map(|s| measure.of_cell(s.cell));
    let ends: Vec<f64> = values.flat_map(|v| [Some(v.median), v.low, v.high]).flatten().collect();
    let x = Axis::times("time of one call (log)", ends);
    let panels = facets.groups.iter().map(|group| Panel {
        title: group.title.clone(),
        x: x.clone(),
        y: Axis::category("", names.clone()),
        layers: group
            .series
            .iter()
            .enumerate()
            .map(|(at, (_, cells))| dots((at, group.series.len()), cells, &rungs, measure))
            .collect(),
    });
    Some(Chart {
        slug: "system-calls".to_owned(),
        rows: Vec::new(),
        title: title(index, &rungs),
        subtitle: subtitle(index, &[Factor::Operation]),
        panels: panels.collect(),
        keys: keys(&facets),
        notes: Vec::new(),
        guide: Vec::new(),
        table: curve_table(index, measure),
    })
}

/// Cheapest first by the first cell of each; what was not measured comes last.
fn order<'a>(index: &Index<'a>, mut rungs: Vec<&'a Level>) -> Vec<&'a Level> {
    let cost = |rung: &Level| {
        let of = index.cells.iter().filter(|s| s.cell.factors.get(Factor::Operation) == Some(rung));
        of.filter_map(|s| Estimated::Operation.of_cell(s.cell)).map(|v| v.median).next()
    };
    rungs.sort_by(|a, b| {
        cost(a).unwrap_or(f64::INFINITY).total_cmp(&cost(b).unwrap_or(f64::INFINITY))
    });
    rungs
}

fn dots(
    (key, count): (usize, usize),
    cells: &[Source<'_>],
    rungs: &[&Level],
    measure: Estimated,
) -> Layer {
    let place = |source: &Source<'_>| {
        let row =
            rungs.iter().position(|r| Some(*r) == source.cell.factors.get(Factor::Operation))?;
        let y = abreast(row, key, count);
        Some(match measure.of_cell(source.cell) {
            Some(value) => {
                let p = point(source, measure, value, value.median);
                Point { x: value.median, y, ..p }
            }
            None => Point::missing(f64::NAN, y, missing_reason(source)),
        })
    };
    Layer::Series(Series {
        key: Some(key),
        ink: Tint::nth(key),
        joined: false,
        band: false,
        interval: Direction::X,
        across: false,
        points: cells.iter().filter_map(place).collect(),
    })
}

/// The floor, the dearest rung, and what an idle thread adds.
fn title(index: &Index<'_>, rungs: &[&Level]) -> String {
    let first = |rung: &Level| {
        let of = index.cells.iter().filter(|s| s.cell.factors.get(Factor::Operation) == Some(rung));
        of.filter_map(|s| Estimated::Operation.of_cell(s.cell)).map(|v| v.median).next()
    };
    let cost = |name: &str| {
        let rung = rungs.iter().find(|r| level_text(Factor::Operation, Some(r)) == name)?;
        Some(format!("{name} {}", time_text(first(rung)?)))
    };
    use NamedCall::{Getppid, Lseek, OpenClose, Read};
    let known = [Getppid, Lseek, Read, OpenClose];
    let mut words: Vec<String> = known.iter().filter_map(|call| cost(call.word())).collect();
    if words.is_empty() {
        words = rungs
            .iter()
            .take(3)
            .filter_map(|r| cost(&level_text(Factor::Operation, Some(r))))
            .collect();
    }
    let mut title = format!("One call costs: {}", words.join(", "));
    if words.is_empty() {
        "The price of a call: nothing measured yet".clone_into(&mut title);
    }
    match beside(index) {
        Some((_, high)) if high < 1.01 => {
            title += "; by the medians an idle thread beside it adds under 1 %";
        }
        Some((_, high)) => {
            let most = percent_text(high - 1.0);
            title += &format!("; by the medians an idle thread adds up to {most}");
        }
        None => {}
    }
    title
}

/// Least and greatest ratio of a call beside an idle thread to the same call alone.
fn beside(index: &Index<'_>) -> Option<(f64, f64)> {
    let idle = |s: &Source<'_>| s.cell.factors.number(Factor::IdleThreads);
    let ratios = index.cells.iter().filter(|s| idle(s) == Some(0)).filter_map(|alone| {
        let same = |s: &&Source<'_>| {
            idle(s) == Some(1)
                && s.cell.factors.only(|f| f != Factor::IdleThreads)
                    == alone.cell.factors.only(|f| f != Factor::IdleThreads)
        };
        let other = index.cells.iter().find(same)?;
        Some(unit_time(other.cell)? / unit_time(alone.cell)?)
    });
    span(ratios)
}
