//! Cold, warm and cold again: what the cache is worth, and whether the cold state can be reached
//! twice.

use super::block::{keys, subtitle, time_axes};
use super::cells::{Facets, Group, Index, Source};
use super::estimate::{Estimated, curve_table, missing_reason, point};
use super::model::{Chart, Direction, Ink, Layer, Panel, Point, Series};
use super::scale::{Axis, digits_plain};
use super::words::level_text;
use crate::catalog::{Factor, Level, percent_text};

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
        title: title(&facets, &states, &names, measure),
        subtitle: subtitle(index, &SHOWN),
        panels,
        keys: keys(&facets),
        notes: Vec::new(),
        guide: Vec::new(),
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
    (!points.is_empty()).then_some(Layer::Series(Series {
        key: Some(key),
        ink: Ink::nth(key),
        joined: true,
        band: false,
        interval: Direction::Y,
        across: false,
        points,
    }))
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

/// `Cold takes 3.1–5.0× as long as warm`.
fn title(
    facets: &Facets<'_>,
    states: &[State<'_>],
    names: &[String],
    measure: Estimated,
) -> String {
    let at = |word: &str| names.iter().position(|n| n == word);
    let (Some(cold), Some(warm)) = (at("cold"), at("warm")) else {
        return format!("Time by cache state: {}", names.join(", "));
    };
    let mut ratios: Vec<f64> = lines(facets)
        .filter_map(|cells| {
            let medians = medians(cells, states, measure);
            Some(medians[cold]? / medians[warm]?)
        })
        .collect();
    ratios.sort_by(f64::total_cmp);
    match (ratios.first(), ratios.last()) {
        (Some(low), Some(high)) if high / low > 1.1 => {
            format!("Cold takes {}–{}× as long as warm", digits_plain(*low), digits_plain(*high))
        }
        (Some(low), Some(high)) => {
            format!("Cold takes {}× as long as warm", digits_plain((low * high).sqrt()))
        }
        _ => "Cold against warm: not measured yet".to_owned(),
    }
}

/// The validity check: the same state reached a second time should cost the same.
fn badge(
    facets: &Facets<'_>,
    states: &[State<'_>],
    measure: Estimated,
    delta: f64,
) -> Option<String> {
    let first =
        states.iter().position(|(c, _)| matches!(c, Some(Level::Word(w)) if w == "cold"))?;
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
