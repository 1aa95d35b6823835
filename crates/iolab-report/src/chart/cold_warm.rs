//! Cold, warm and cold again: what the cache is worth, and whether the cold state can be reached
//! twice.

use super::block::{keys, subtitle, time_axes};
use crate::drawing::cells::{Facets, Group, Index, Source};
use crate::drawing::estimate::{Estimated, curve_table, hollow_guide, missing_reason, point};
use crate::drawing::labels::level_text;
use crate::drawing::model::{Chart, Layer, Panel, Point, Series};
use crate::drawing::scale::{Axis, span};
use crate::drawing::standing::{Conditions, unit_time};
use iolab_model::catalog::{AxisWord, CacheState, Factor, Level, percent_text, ratio_text};
use iolab_model::result::{AnswerKind, Apart, CellRecord, Document, Verdict};

/// A cache state as it comes in the run: cold in a later pass is another state than cold at first.
type State<'a> = (Option<&'a Level>, Option<&'a Level>);

const SHOWN: [Factor; 2] = [Factor::Cache, Factor::Pass];

/// The chart, where the cache state varies.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    if index.levels(Factor::Cache).len() < 2 {
        return None;
    }
    let mut states: Vec<State<'_>> = Vec::new();
    for source in &index.cells {
        if !states.contains(&state(source)) {
            states.push(state(source));
        }
    }
    let measure = Estimated::of(index);
    let facets = index.facets(&index.cells, &SHOWN);
    let names = names(&states);
    let mut axes = time_axes(&facets, measure).into_iter();
    let panels = facets.groups.iter().map(|group| Panel {
        title: group.title.clone(),
        x: Axis::category("", names.clone()),
        y: axes.next().unwrap_or_else(|| Axis::times("", [])),
        layers: group
            .series
            .iter()
            .enumerate()
            .filter_map(|(at, (_, cells))| line(at, cells, &states, measure))
            .collect(),
    });
    let panels = panels.collect();
    let delta = document.experiment.protocol.delta;
    let mut chart = Chart {
        slug: "cold-and-warm".to_owned(),
        rows: Vec::new(),
        title: title(document, &facets, &states, &names),
        subtitle: subtitle(index, &SHOWN),
        panels,
        keys: keys(&facets),
        notes: Vec::new(),
        guide: hollow_guide(&index.cells).into_iter().collect(),
        table: curve_table(index, measure),
    };
    chart.notes.extend(badge(&facets, &states, measure, delta));
    if facets.left_out > 0 {
        chart.notes.push(format!("{} more panels are in the table only", facets.left_out));
    }
    Some(chart)
}

fn state<'a>(source: &Source<'a>) -> State<'a> {
    (source.cell.factors.get(Factor::Cache), source.cell.factors.get(Factor::Pass))
}

/// Where a state of the cache comes first.
fn at(states: &[State<'_>], wanted: CacheState) -> Option<usize> {
    let wanted = wanted.level();
    states.iter().position(|(cache, _)| *cache == Some(&wanted))
}

/// `cold`, `warm`, and `cold again` for a state that comes a second time.
fn names(states: &[State<'_>]) -> Vec<String> {
    let name = |at: usize| {
        let (cache, _) = states[at];
        let before = states[..at].iter().filter(|(c, _)| *c == cache).count();
        let word = level_text(Factor::Cache, cache);
        match before {
            0 => word,
            1 => format!("{word} again"),
            n => format!("{word}, {}", n + 1),
        }
    };
    (0..states.len()).map(name).collect()
}

fn line(
    key: usize,
    cells: &[Source<'_>],
    states: &[State<'_>],
    measure: Estimated,
) -> Option<Layer> {
    let mut points: Vec<Point> = cells
        .iter()
        .filter_map(|source| {
            let x = states.iter().position(|s| *s == state(source))? as f64;
            Some(match measure.of_cell(source.cell) {
                Some(value) => point(source, measure, value, x),
                None => Point::missing(x, f64::NAN, missing_reason(source)),
            })
        })
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    (!points.is_empty()).then_some(Layer::Series(Series::curve(key, points)))
}

/// Medians of one line by state.
fn medians(cells: &[Source<'_>], states: &[State<'_>], measure: Estimated) -> Vec<Option<f64>> {
    let of = |wanted: &State<'_>| {
        let source = cells.iter().find(|s| state(s) == *wanted)?;
        Some(measure.of_cell(source.cell)?.median)
    };
    states.iter().map(of).collect()
}

fn lines<'f, 'a>(facets: &'f Facets<'a>) -> impl Iterator<Item = &'f [Source<'a>]> {
    facets.groups.iter().flat_map(|g: &Group<'a>| &g.series).map(|(_, cells)| cells.as_slice())
}

/// What is known of cold against warm on one line: time of cold over that of warm.
enum Against {
    /// An answer about these cells is not sound.
    Unsound,
    /// What their answer shows.
    Shown(Apart),
    /// The quotient of medians, for no answer compares them.
    Medians(f64),
}

fn against(document: &Document, cold: &Source<'_>, warm: &Source<'_>) -> Option<Against> {
    let (cold_id, warm_id) = (cold.cell.id.as_str(), warm.cell.id.as_str());
    let conditions = Conditions::of(document);
    let mut invalid = document.answers.iter().filter(|a| a.kind == AnswerKind::Invalid);
    let about = |c: &&CellRecord| c.id == cold_id || c.id == warm_id;
    if invalid.any(|answer| conditions.cells(answer).iter().any(about)) {
        return Some(Against::Unsound);
    }
    let delta = document.experiment.protocol.delta;
    let shown = document.answers.iter().find_map(|a| a.apart(cold_id, warm_id, delta));
    let medians = || Some(Against::Medians(unit_time(cold.cell)? / unit_time(warm.cell)?));
    shown.map(Against::Shown).or_else(medians)
}

/// `Cold takes 3.1–5.0× as long as warm`, as far as the answers show it.
fn title(
    document: &Document,
    facets: &Facets<'_>,
    states: &[State<'_>],
    names: &[String],
) -> String {
    let (Some(cold), Some(warm)) = (at(states, CacheState::Cold), at(states, CacheState::Warm))
    else {
        return format!("Time by cache state: {}", names.join(", "));
    };
    let (mut shown, mut medians, mut unsound) = (Vec::new(), Vec::new(), 0);
    for cells in lines(facets) {
        let of = |at: usize| {
            cells.iter().find(|s| state(s) == states[at] && unit_time(s.cell).is_some())
        };
        let Some((cold, warm)) = of(cold).zip(of(warm)) else { continue };
        match against(document, cold, warm) {
            Some(Against::Unsound) => unsound += 1,
            Some(Against::Shown(apart)) => shown.push(apart),
            Some(Against::Medians(ratio)) => medians.push(ratio),
            None => {}
        }
    }
    let sound = match (unsound, shown.is_empty() && medians.is_empty()) {
        (0, true) => return "Cold against warm: not measured yet".to_owned(),
        (_, true) => return "Cold against warm: the measurement is not sound".to_owned(),
        (0, false) => "",
        (_, false) => ", where the measurement is sound",
    };
    let words = match shown.is_empty() {
        true => {
            let ratios = range(medians.iter().copied());
            format!("Cold takes {ratios} as long as warm by the medians alone")
        }
        false => shown_title(&shown),
    };
    format!("{words}{sound}")
}

/// Of lines whose cells are in one answer.
fn shown_title(shown: &[Apart]) -> String {
    let longer = || shown.iter().filter(|apart| apart.verdict == Verdict::Slower);
    let least = longer().filter_map(|apart| apart.low).fold(f64::INFINITY, f64::min);
    let at_least = match least > 1.0 {
        true => format!("at least {} as long as warm", ratio_text(least)),
        false => "longer than warm".to_owned(),
    };
    match (longer().count(), shown) {
        (0, [Apart { verdict: Verdict::Faster, low: Some(low), high: Some(high) }]) => {
            format!("Cold takes {} as long as warm", range([*low, *high].into_iter()))
        }
        (0, _) => "Cold is not shown to take longer than warm".to_owned(),
        (1, [Apart { low: Some(low), high: Some(high), .. }]) if *low > 1.0 => {
            format!("Cold takes {} as long as warm", range([*low, *high].into_iter()))
        }
        (1, [_]) if least <= 1.0 => {
            "Cold takes longer than warm, by how much is not settled".to_owned()
        }
        (all, _) if all == shown.len() => format!("Cold takes {at_least}"),
        (some, _) => {
            let count = shown.len();
            format!("Cold takes {at_least} in {some} of {count} cases, not shown in the rest")
        }
    }
}

/// `3.1–5.0×`; one figure where they read alike.
fn range(ratios: impl Iterator<Item = f64>) -> String {
    let Some((low, high)) = span(ratios) else { return String::new() };
    let text = |ratio: f64| ratio_text(ratio);
    match (text(low), text(high)) {
        (low, high) if low == high => low,
        (low, high) => format!("{}–{high}", low.trim_end_matches('×')),
    }
}

/// The validity check: the same state reached a second time should cost the same.
fn badge(
    facets: &Facets<'_>,
    states: &[State<'_>],
    measure: Estimated,
    delta: f64,
) -> Option<String> {
    let first = at(states, CacheState::Cold)?;
    let again = states.iter().skip(first + 1).position(|(c, _)| *c == states[first].0)? + first + 1;
    let apart = lines(facets).filter_map(|cells| {
        let medians = medians(cells, states, measure);
        Some((medians[again]? / medians[first]? - 1.0).abs())
    });
    let most = apart.fold(None, |most: Option<f64>, v| Some(most.map_or(v, |m| m.max(v))))?;
    let shown = percent_text(most);
    Some(match most <= delta.max(0.05) {
        true => format!("✓ Cold again repeats cold within {shown}: the state can be reached twice"),
        false => {
            format!("Cold again differs from cold by up to {shown}: the two are not the same state")
        }
    })
}

#[cfg(test)]
#[path = "cold_warm_tests.rs"]
mod tests;
