//! Time against buffer size, log–log: the plateau that is as good as the best, its smallest
//! member flagged, mmap (which has no block) from edge to edge.

use std::collections::BTreeMap;

use crate::drawing::block_title::title;
use crate::drawing::cells::{Facets, Group, Index, Source, Split};
use crate::drawing::estimate::{Estimated, curve_table, hollow_guide, missing_reason, point};
use crate::drawing::labels::{interval_words, setting};
use crate::drawing::model::{Chart, Direction, Key, Layer, Mark, Panel, Point, Series, Tint};
use crate::drawing::plateau::{Plateau, plateaus};
use crate::drawing::scale::{Axis, span};
use iolab_model::catalog::{CacheState, Fact, Factor, bytes_text};

/// The chart, where at least two block sizes were measured.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    if index.numbers(Factor::Block).len() < 2 {
        return None;
    }
    let measure = Estimated::of(index);
    let facets = index.facets(&index.cells, &[Factor::Block]);
    let plateaus = plateaus(index);
    let x = x_axis(index);
    let axes = time_axes(&facets, measure);
    let own = axes.windows(2).any(|pair| pair[0] != pair[1]);
    let mut axes = axes.into_iter();
    let draw = |group: &Group<'_>| {
        let y = axes.next().unwrap_or_else(|| Axis::times("", []));
        panel(group, measure, &plateaus, &x, y)
    };
    let panels = facets.groups.iter().map(draw).collect();
    let mut chart = Chart {
        slug: "time-by-block".to_owned(),
        rows: Vec::new(),
        title: title(index, &plateaus, &facets),
        subtitle: subtitle(index, &[Factor::Block]),
        panels,
        keys: keys(&facets),
        notes: Vec::new(),
        guide: Vec::new(),
        table: curve_table(index, measure),
    };
    notes(&mut chart, &facets, &plateaus);
    chart.guide.extend(hollow_guide(&index.cells));
    if own {
        chart.guide.push("Each panel has a time axis of its own".to_owned());
    }
    Some(chart)
}

/// Setting, n and interval of all cells; of several runs the setting that they share.
pub fn subtitle(index: &Index<'_>, shown: &[Factor]) -> String {
    let mut settings = index.documents.iter().map(|d| setting(d, shown));
    let mut words = settings.next().unwrap_or_default();
    for other in settings {
        words.retain(|word| other.contains(word));
    }
    let counts = index.cells.iter().filter_map(|s| Some(s.cell.estimate.as_ref()?.wall_ns.n));
    let alphas = index.documents.iter().map(|d| d.experiment.protocol.alpha);
    words.push(interval_words(counts, alphas.fold(0.0, f64::max)));
    words.join(" · ")
}

/// The legend of facets.
pub fn keys(facets: &Facets<'_>) -> Vec<Key> {
    let named = facets.names.iter().enumerate();
    named.map(|(at, name)| Key { name: name.clone(), ink: Tint::nth(at) }).collect()
}

fn panel(
    group: &Group<'_>,
    measure: Estimated,
    plateaus: &BTreeMap<(usize, String), Plateau>,
    x: &Axis,
    y: Axis,
) -> Panel {
    let mut layers = Vec::new();
    let sources = || group.series.iter().flat_map(|(_, cells)| cells);
    let here: Vec<&Plateau> =
        sources().filter_map(|s| plateaus.get(&(s.run, s.cell.id.clone()))).collect();
    if let [only] = here.as_slice() {
        layers.extend(shade(only));
    }
    layers.extend(sources().next().map(|s| rules(s, x)).unwrap_or_default());
    for (at, (_, cells)) in group.series.iter().enumerate() {
        layers.extend(series(at, cells, measure, plateaus));
    }
    Panel { title: group.title.clone(), x: x.clone(), y, layers }
}

fn shade(plateau: &Plateau) -> Option<Layer> {
    let wide = plateau.smallest < plateau.largest;
    // Half a doubling beyond the outer members.
    wide.then(|| Layer::Shade {
        axis: Direction::X,
        from: plateau.smallest as f64 / 1.41,
        to: plateau.largest as f64 * 1.41,
        label: if plateau.proven { "as good as the best" } else { "not told apart" }.to_owned(),
    })
}

/// Sizes of the machine that explain a bend, where the environment has them.
fn rules(source: &Source<'_>, x: &Axis) -> Vec<Layer> {
    const FACTS: [(&str, Fact); 4] = [
        ("page", Fact::PageBytes),
        ("L2", Fact::CpuL2Bytes),
        ("st_blksize", Fact::FsPreferredIoBytes),
        ("read-ahead", Fact::DeviceReadAheadBytes),
    ];
    let cold = source.cell.factors.word() == Some(CacheState::Cold);
    let facts = &source.document.environment;
    let mut known: Vec<(u64, Vec<&str>)> = Vec::new();
    for (name, fact) in FACTS {
        let Some(at) = facts.number(fact) else { continue };
        let inside = (x.low..=x.high).contains(&(at as f64));
        if !inside || (name == "read-ahead" && !cold) {
            continue;
        }
        match known.iter_mut().find(|(place, _)| *place == at) {
            Some((_, names)) => names.push(name),
            None => known.push((at, vec![name])),
        }
    }
    let rules = known.into_iter().map(|(at, names)| Layer::Rule {
        axis: Direction::X,
        at: at as f64,
        label: names.join(", "),
    });
    rules.collect()
}

fn series(
    key: usize,
    cells: &[Source<'_>],
    measure: Estimated,
    plateaus: &BTreeMap<(usize, String), Plateau>,
) -> Vec<Layer> {
    let flagged = |s: &Source<'_>, p: Point| match plateaus.get(&(s.run, s.cell.id.clone())) {
        Some(plateau) => Point { mark: Mark::Flagged(bytes_text(plateau.smallest)), ..p },
        None => p,
    };
    let one = |s: &Source<'_>, x: f64| match measure.of_cell(s.cell) {
        Some(value) => flagged(s, point(s, measure, value, x)),
        None => Point::missing(x, f64::NAN, missing_reason(s)),
    };
    let mut points: Vec<Point> = cells
        .iter()
        .filter_map(|s| Some(one(s, s.cell.factors.number(Factor::Block)? as f64)))
        .collect();
    points.sort_by(|a, b| a.x.total_cmp(&b.x));
    let base = Series::line(key, Vec::new());
    let none = |s: &&Source<'_>| s.cell.factors.number(Factor::Block).is_none();
    let flat = cells.iter().filter(none).map(|s| Series {
        across: true,
        points: vec![one(s, f64::NAN)],
        ..base.clone()
    });
    let mut all: Vec<Series> = flat.collect();
    if !points.is_empty() {
        all.push(Series { points, ..base });
    }
    all.into_iter().map(Layer::Series).collect()
}

fn x_axis(index: &Index<'_>) -> Axis {
    let levels: Vec<f64> = index.numbers(Factor::Block).into_iter().map(|n| n as f64).collect();
    Axis::sizes("bytes per call (log2)", &levels)
}

/// One time axis for all panels; one each where their times lie far apart.
pub fn time_axes(facets: &Facets<'_>, measure: Estimated) -> Vec<Axis> {
    let ends = |group: &Group<'_>| -> Vec<f64> {
        let cells = group.series.iter().flat_map(|(_, cells)| cells);
        let values = cells.filter_map(|s| measure.of_cell(s.cell));
        values.flat_map(|v| [Some(v.median), v.low, v.high]).flatten().collect()
    };
    let all: Vec<Vec<f64>> = facets.groups.iter().map(ends).collect();
    let width = |values: &[f64]| span(values.iter().copied()).map_or(1.0, |(low, high)| high / low);
    let together = width(&all.concat());
    let alone = all.iter().map(|values| width(values)).fold(1.0, f64::max);
    let shared = together.ln() <= 2.0 * alone.ln();
    let axis = |values: &Vec<f64>| match shared {
        true => Axis::times(measure.axis(), all.concat()),
        false => Axis::times(measure.axis(), values.iter().copied()),
    };
    all.iter().map(axis).collect()
}

fn notes(chart: &mut Chart, facets: &Facets<'_>, plateaus: &BTreeMap<(usize, String), Plateau>) {
    if facets.left_out > 0 {
        chart.notes.push(format!("{} more panels are in the table only", facets.left_out));
    }
    if !plateaus.is_empty() {
        let how = match plateaus.values().all(|p| p.proven) {
            true => "as good as the best",
            false => "as good as the best, or not told from it",
        };
        chart.guide.push(format!("Ring: the smallest block that is {how}"));
    }
    let marks = || chart.panels.iter().flat_map(|p| &p.layers);
    let any = |wanted: &Mark| {
        marks().any(|l| matches!(l, Layer::Series(s) if s.points.iter().any(|p| p.mark == *wanted)))
    };
    let missing = any(&Mark::Missing);
    let across = marks().any(|l| matches!(l, Layer::Series(s) if s.across));
    if across && facets.series == Some(Split::Factor(Factor::Method)) {
        chart.guide.push("A line from edge to edge: the method has no block size".to_owned());
    }
    if missing {
        chart.guide.push("×: no value, the reason is in the table".to_owned());
    }
}
