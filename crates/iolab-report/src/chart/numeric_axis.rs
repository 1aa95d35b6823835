//! A quantity against any other number that varies: throughput by file size, by number of files,
//! by queue depth. One chart an axis that has no chart of its own.

use std::collections::BTreeMap;

use super::block::{keys, subtitle};
use crate::drawing::cells::{Group, Index, Source};
use crate::drawing::estimate::{
    Estimated, curve_table, hollow_guide, mark_of, missing_reason, tip,
};
use crate::drawing::model::{Chart, Layer, Panel, Point, Series};
use crate::drawing::scale::{Axis, span, tick_time};
use crate::drawing::standing::unit_time;
use iolab_model::catalog::{Factor, Kind, Levels, WorkloadId, bytes_text, count_text};
use iolab_model::result::{Answer, AnswerKind, Document, Summary};

const AXES: [(Factor, &str); 4] = [
    (Factor::FileSize, "file size (log2)"),
    (Factor::Files, "files (log2)"),
    (Factor::Memory, "memory limit (log2)"),
    (Factor::QueueDepth, "requests in flight (log2)"),
];

/// A factor that the title does not mention.
const NEAR: f64 = 1.2;

/// Times further apart than this are drawn on a logarithmic scale.
const WIDE: f64 = 50.0;

/// The charts, one for each such axis with at least three levels.
pub fn charts(index: &Index<'_>) -> Vec<Chart> {
    AXES.into_iter().filter_map(|(factor, name)| chart(index, factor, name)).collect()
}

fn chart(index: &Index<'_>, factor: Factor, name: &str) -> Option<Chart> {
    let levels: Vec<f64> = index.numbers(factor).into_iter().map(|n| n as f64).collect();
    // What calls cost by size has a chart of its own.
    let calls = index.documents.iter().all(|d| d.experiment.is(WorkloadId::Meta));
    if levels.len() < 3 || (calls && factor == Factor::FileSize) {
        return None;
    }
    let bytes = index.cells.iter().any(|s| speed(s).is_some());
    let cells = at_best_block(index, factor);
    let facets = index.facets(&cells, &[factor, Factor::Block]);
    let ends = cells.iter().filter_map(|s| shown(s, bytes));
    let ends: Vec<f64> = ends.flat_map(|s| [Some(s.median), s.low, s.high]).flatten().collect();
    if ends.is_empty() {
        return None;
    }
    let y = match bytes {
        true => Axis::rates("throughput", ends),
        // From zero a cost that grows with the size is a line; where one is a hundred times another
        // the smaller would lie on the axis.
        false => match span(ends.iter().copied()) {
            Some((low, high)) if low > 0.0 && high > WIDE * low => {
                Axis::times("time of one operation (log)", ends)
            }
            _ => Axis::from_zero("time of one operation", ends, tick_time),
        },
    };
    let x = match factor.kind() {
        Kind::Bytes => Axis::sizes(name, &levels),
        _ => Axis::counts(name, &levels),
    };
    let panels = facets.groups.iter().map(|group| panel(group, factor, bytes, &x, &y));
    let mut chart = Chart {
        slug: format!("by-{factor}"),
        rows: Vec::new(),
        title: title(index, &facets.groups, factor, bytes),
        subtitle: subtitle(index, &[factor]),
        panels: panels.collect(),
        keys: keys(&facets),
        notes: Vec::new(),
        guide: hollow_guide(&cells).into_iter().collect(),
        table: curve_table(index, Estimated::of(index)),
    };
    if cells.len() < index.cells.len() {
        chart.notes.push("Each at its fastest block size".to_owned());
    }
    if facets.left_out > 0 {
        chart.notes.push(format!("{} more panels are in the table only", facets.left_out));
    }
    Some(chart)
}

/// Where the block varies besides: of cells that differ in it alone, the fastest.
pub fn at_best_block<'a>(index: &Index<'a>, factor: Factor) -> Vec<Source<'a>> {
    if factor == Factor::Block || index.numbers(Factor::Block).len() < 2 {
        return index.cells.clone();
    }
    let mut best: BTreeMap<(usize, Levels), Source<'a>> = BTreeMap::new();
    for source in &index.cells {
        let key = (source.run, source.cell.factors.only(|f| f != Factor::Block));
        let time = |s: &Source<'_>| unit_time(s.cell).unwrap_or(f64::INFINITY);
        let kept = best.entry(key).or_insert(*source);
        if time(source) < time(kept) {
            *kept = *source;
        }
    }
    best.into_values().collect()
}

fn speed<'a>(source: &Source<'a>) -> Option<&'a Summary> {
    source.cell.estimate.as_ref()?.bytes_per_second.as_ref()
}

/// The figure that is drawn: speed where bytes move, else time of an operation.
fn shown<'a>(source: &Source<'a>, bytes: bool) -> Option<&'a Summary> {
    let summary = match bytes {
        true => speed(source)?,
        false => &source.cell.estimate.as_ref()?.ns_per_operation,
    };
    (summary.median.is_finite() && summary.median > 0.0).then_some(summary)
}

fn panel(group: &Group<'_>, factor: Factor, bytes: bool, x: &Axis, y: &Axis) -> Panel {
    let layers = group.series.iter().enumerate().map(|(key, (_, cells))| {
        let mut points: Vec<Point> = cells
            .iter()
            .filter_map(|s| Some(point(s, s.cell.factors.number(factor)? as f64, bytes)))
            .collect();
        points.sort_by(|a, b| a.x.total_cmp(&b.x));
        Layer::Series(Series::line(key, points))
    });
    Panel { title: group.title.clone(), x: x.clone(), y: y.clone(), layers: layers.collect() }
}

fn point(source: &Source<'_>, x: f64, bytes: bool) -> Point {
    match (shown(source, bytes), Estimated::Pass.of_cell(source.cell)) {
        (Some(s), Some(value)) => {
            let (low, high) = (s.low, s.high);
            let tip = tip(source, Estimated::Pass, value);
            Point { x, y: s.median, low, high, mark: mark_of(source), tip }
        }
        _ => {
            let tip = missing_reason(source);
            Point::missing(x, f64::NAN, tip)
        }
    }
}

/// What the answers find along this axis; else who wins at its ends; of one way, how its medians
/// change.
fn title(index: &Index<'_>, groups: &[Group<'_>], factor: Factor, bytes: bool) -> String {
    let numbers = index.numbers(factor);
    let by = factor.to_string().replace('-', " ");
    let [document] = index.documents else {
        let what = if bytes { "Throughput" } else { "Time" };
        return format!("{what} by {by} in {} runs", index.documents.len());
    };
    let found = document.answers.iter().flat_map(|answer| &answer.findings);
    let found: Vec<&str> =
        found.filter(|f| f.factor == factor.name()).map(|f| f.sentence.as_str()).collect();
    if let Some((first, rest)) = found.split_first() {
        return match rest.len() {
            0 => (*first).to_owned(),
            n => format!("{first}, and {n} more findings"),
        };
    }
    let text = |n: u64| if factor.kind() == Kind::Bytes { bytes_text(n) } else { count_text(n) };
    let asked = document.experiment.ask.contains(&factor);
    if index.levels(Factor::Method).len() < 2 || asked {
        return change(groups, factor, bytes, &numbers, text);
    }
    match (winners(document, factor, &numbers).as_slice(), numbers.as_slice()) {
        ([Some(first), .., Some(last)], [low, .., high]) if first == last => {
            format!("{first} wins at both ends, {} and {}", text(*low), text(*high))
        }
        ([first, .., last], [low, .., high]) if first.is_some() || last.is_some() => {
            let at = |end: &Option<String>, level: u64| match end {
                Some(name) => format!("{name} wins at {}", text(level)),
                None => format!("open at {}", text(level)),
            };
            format!("{}, {}", at(first, *low), at(last, *high))
        }
        _ => format!("No winner is shown at either end of the {by}"),
    }
}

/// The method that alone may be the best at each level, where every answer of the level says so.
fn winners(document: &Document, factor: Factor, levels: &[u64]) -> Vec<Option<String>> {
    let method = |id: &String| {
        let cell = document.cells.iter().find(|cell| cell.id == *id)?;
        Some(cell.factors.text(Factor::Method)?.to_owned())
    };
    let winner = |level: &u64| {
        let mut at = document.answers.iter().filter(|a| a.condition.number(factor) == Some(*level));
        let of = |answer: &Answer| {
            let sound = answer.kind != AnswerKind::Invalid;
            let mut best = answer.best.iter().filter_map(method);
            let first = best.next().filter(|_| sound)?;
            best.all(|other| other == first).then_some(first)
        };
        let first = of(at.next()?)?;
        at.all(|answer| of(answer).as_ref() == Some(&first)).then_some(first)
    };
    levels.iter().map(winner).collect()
}

/// From the smallest level to the largest, of the series that changes most.
fn change(
    groups: &[Group<'_>],
    factor: Factor,
    bytes: bool,
    numbers: &[u64],
    text: impl Fn(u64) -> String,
) -> String {
    let what = if bytes { "Throughput" } else { "Time" };
    let (first, last) = (numbers.first().copied(), numbers.last().copied());
    let grows = |(name, cells): &(String, Vec<Source<'_>>), panel: &str| {
        let at = |level: Option<u64>| {
            let of = |s: &&Source<'_>| s.cell.factors.number(factor) == level;
            Some(shown(cells.iter().find(of)?, bytes)?.median)
        };
        let words = [panel, name].into_iter().filter(|word| !word.is_empty());
        Some((at(last)? / at(first)?, words.collect::<Vec<_>>().join(", ")))
    };
    let all = groups.iter().flat_map(|g| g.series.iter().filter_map(|s| grows(s, &g.title)));
    let most = all.max_by(|a, b| a.0.ln().abs().total_cmp(&b.0.ln().abs()));
    let range = format!("from {} to {}", text(first.unwrap_or(0)), text(last.unwrap_or(0)));
    match most {
        None => format!("{what} by {factor}"),
        Some((ratio, _)) if ratio.ln().abs() < NEAR.ln() => {
            format!("{what} is much the same {range}, by the medians")
        }
        Some((ratio, name)) => {
            let (verb, times) = match ratio > 1.0 {
                true => ("grows", ratio),
                false => ("falls", 1.0 / ratio),
            };
            let of = if name.is_empty() { String::new() } else { format!(" ({name})") };
            format!("{what} {verb} by a factor of {times:.1} {range}{of}, by the medians")
        }
    }
}
