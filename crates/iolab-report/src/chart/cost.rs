//! What a metadata call costs against the size of its file: a panel a place, the first touch
//! filled and later ones hollow, each round as a small mark, the fitted line with its band; below,
//! how the costs of single rounds spread.

use super::block::subtitle;
use crate::drawing::cells::{Index, Part, Source, Split};
use crate::drawing::estimate::{Estimated, curve_table, missing_reason, point};
use crate::drawing::labels::{clean, level_phrase};
use crate::drawing::model::{
    Chart, CurvePoint, Direction, Key, Layer, MOST_PANELS, Mark, Panel, Point, Series, Tint,
};
use crate::drawing::scale::{Axis, Tick, span};
use crate::drawing::spread;
use crate::metadata_table::{Growth, fitted, line_text, named, slope_text};
use iolab_model::catalog::{AxisWord, Factor, Level, Touch, WorkloadId, bytes_text, time_text};
use iolab_model::result::CellRecord;
use iolab_stats::Line;

/// Most rounds that are drawn as small marks; the figures have all of them.
const MOST_SAMPLES: usize = 700;
/// Most panels: each has a second one below.
const MOST_PLACES: usize = MOST_PANELS / 2;
/// Most fitted lines that are told in words below.
const MOST_TOLD: usize = 4;
/// Vertices of a fitted line.
const STEPS: u32 = 24;

/// One pass over the sizes of one panel.
struct Trace<'a> {
    key: usize,
    later: bool,
    cells: Vec<Source<'a>>,
    fit: Option<Line>,
}

/// What shares a coordinate system: one place, one call.
struct Place<'a> {
    title: String,
    traces: Vec<Trace<'a>>,
}

/// The chart, where metadata calls were made on files of at least two sizes.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let sizes = index.numbers(Factor::FileSize);
    let passes: Vec<&Level> = index.levels(Factor::Pass);
    let calls = index.documents.iter().all(|d| d.experiment.is(WorkloadId::Meta));
    if !calls || sizes.len() < 2 || passes.is_empty() {
        return None;
    }
    let (places, hidden) = places(index, &passes);
    let total: usize = places.iter().flat_map(|p| &p.traces).map(Trace::samples).sum();
    let stride = total.div_ceil(MOST_SAMPLES).max(1);
    let x = Sizes::of(&sizes, passes.len());
    let ends = places.iter().flat_map(|p| &p.traces).flat_map(Trace::ends);
    let y = Axis::times("time of one call (log)", ends.collect::<Vec<_>>());
    let scatters = places.iter().map(|p| p.scatter(&x, &y, stride)).collect();
    let spreads = places.iter().map(|p| p.spread(&y)).collect();
    let columns = if places.len() == 4 { 2 } else { 3 };
    let (panels, rows) = spread::rows(scatters, spreads, columns);
    let words = |level: &&Level| level_phrase(Factor::Pass, Some(level));
    let keys = passes.iter().enumerate();
    let keys = keys.map(|(at, level)| Key { name: words(level), ink: Tint::nth(at) }).collect();
    let mut chart = Chart {
        slug: "cost-by-file-size".to_owned(),
        rows,
        title: title(index, &places, &sizes),
        subtitle: subtitle(index, &[Factor::FileSize]),
        panels,
        keys,
        notes: Vec::new(),
        guide: guide(&places, passes.len()),
        table: curve_table(index, Estimated::Operation),
    };
    notes(&mut chart, &places, (sizes.len(), hidden, stride));
    Some(chart)
}

/// Cells by everything but size and pass, and how many such groups are left out.
fn places<'a>(index: &Index<'a>, passes: &[&Level]) -> (Vec<Place<'a>>, usize) {
    let mut by = index.varying(&index.cells, &[Factor::FileSize, Factor::Pass]);
    // The sides of one call stand beside each other, an overlay by the one with metacopy.
    by.sort_by_key(|split| *split == Split::Factor(Factor::Place));
    let mut groups: std::collections::BTreeMap<Vec<Part>, Vec<Source<'a>>> = Default::default();
    for source in &index.cells {
        let key = by.iter().map(|split| index.part(*split, source)).collect();
        groups.entry(key).or_default().push(*source);
    }
    let hidden = groups.len().saturating_sub(MOST_PLACES);
    let place = |cells: Vec<Source<'a>>| {
        let words = by.iter().filter_map(|s| Some(index.split_text(*s, cells.first()?, true)));
        let title = words.collect::<Vec<_>>().join(" · ");
        let of = |(key, pass): (usize, &&Level)| Trace::of(key, pass, &cells);
        Place { title, traces: passes.iter().enumerate().filter_map(of).collect() }
    };
    (groups.into_values().take(MOST_PLACES).map(place).collect(), hidden)
}

impl<'a> Trace<'a> {
    fn of(key: usize, pass: &Level, cells: &[Source<'a>]) -> Option<Trace<'a>> {
        let of = |s: &&Source<'a>| s.cell.factors.get(Factor::Pass) == Some(pass);
        let cells: Vec<Source<'a>> = cells.iter().filter(of).copied().collect();
        let records: Vec<&CellRecord> = cells.iter().map(|s| s.cell).collect();
        let later = *pass != Touch::First.level();
        (!cells.is_empty()).then(|| Trace { key, later, fit: fitted(&records), cells })
    }

    fn samples(&self) -> usize {
        self.cells.iter().map(|s| costs(s.cell).count()).sum()
    }

    /// Every cost that is drawn, its intervals too.
    fn ends(&self) -> impl Iterator<Item = f64> + '_ {
        self.cells.iter().flat_map(|s| {
            let value = Estimated::Operation.of_cell(s.cell);
            let known = value.into_iter().flat_map(|v| [Some(v.median), v.low, v.high]);
            known.flatten().chain(costs(s.cell).map(|(_, ns)| ns))
        })
    }

    /// The rounds as small marks and the medians over them.
    fn layers(&self, x: &Sizes, y: &Axis, stride: usize) -> Vec<Layer> {
        let mut rounds = Vec::new();
        let mut medians = Vec::new();
        for source in &self.cells {
            let Some(bytes) = source.cell.factors.number(Factor::FileSize) else { continue };
            // Thinned, the least and the greatest stay: an outlier is what is looked for.
            let ends = span(costs(source.cell).map(|(_, ns)| ns));
            let kept = |(at, (_, ns)): &(usize, (u32, f64))| {
                at.is_multiple_of(stride)
                    || ends.is_some_and(|(low, high)| *ns == low || *ns == high)
            };
            for (at, (round, ns)) in costs(source.cell).enumerate().filter(kept) {
                let tip = sample_tip(source, round, ns);
                let mark = if self.later { Mark::FaintHollow } else { Mark::Faint };
                let x = x.beside(bytes, self.key, at / stride);
                rounds.push(Point { x, y: ns, low: None, high: None, mark, tip });
            }
            medians.push(self.median(source, x.beside(bytes, self.key, 0)));
        }
        medians.sort_by(|a, b| a.x.total_cmp(&b.x));
        let mut layers: Vec<Layer> = self.curve(x, y).into_iter().collect();
        layers.extend([rounds, medians].map(|points| {
            Layer::Series(Series {
                key: Some(self.key),
                ink: Tint::nth(self.key),
                joined: false,
                band: false,
                interval: Direction::Y,
                across: false,
                points,
            })
        }));
        layers
    }

    fn median(&self, source: &Source<'_>, x: f64) -> Point {
        match Estimated::Operation.of_cell(source.cell) {
            Some(value) => {
                let mark = if self.later { Mark::Hollow } else { Mark::Filled };
                Point { mark, ..point(source, Estimated::Operation, value, x) }
            }
            None => Point::missing(x, f64::NAN, missing_reason(source)),
        }
    }

    /// The fitted line over the sizes, where it lies within the panel.
    fn curve(&self, x: &Sizes, y: &Axis) -> Option<Layer> {
        let fit = self.fit.as_ref()?;
        let at = |step: u32| {
            let bytes = x.least * (x.most / x.least).powf(f64::from(step) / f64::from(STEPS));
            let seen = fit.at(bytes)?;
            let inside = |v: f64| v.clamp(y.low, y.high);
            (y.low..=y.high).contains(&seen.median).then(|| CurvePoint {
                x: bytes,
                y: seen.median,
                low: seen.low.map(inside),
                high: seen.high.map(inside),
            })
        };
        let points: Vec<CurvePoint> = (0..=STEPS).filter_map(at).collect();
        (points.len() > 1).then_some(Layer::Curve { key: Some(self.key), points })
    }
}

impl Place<'_> {
    fn scatter(&self, x: &Sizes, y: &Axis, stride: usize) -> Panel {
        let layers = self.traces.iter().flat_map(|t| t.layers(x, y, stride)).collect();
        Panel { title: self.title.clone(), x: x.axis.clone(), y: y.clone(), layers }
    }

    /// Which share of the rounds cost at most so much, whatever the size.
    fn spread(&self, times: &Axis) -> Panel {
        let lines = self.traces.iter().map(|trace| {
            let all = trace.cells.iter().flat_map(|source| {
                costs(source.cell).map(|(round, ns)| (ns, sample_tip(source, round, ns)))
            });
            spread::line(trace.key, trace.later, all.collect())
        });
        Panel {
            title: self.title.clone(),
            x: times.clone(),
            y: spread::shares("share of the rounds, all sizes"),
            layers: lines.collect(),
        }
    }
}

/// Round and cost of a call, of every steady round that counts.
fn costs(cell: &CellRecord) -> impl Iterator<Item = (u32, f64)> + '_ {
    let steady = cell.samples.iter().filter(|s| s.is_steady());
    let cost = |m: &iolab_model::result::Measurement| m.wall_ns as f64 / m.operations.max(1) as f64;
    steady.map(move |s| (s.round, cost(&s.measurement))).filter(|(_, ns)| *ns > 0.0)
}

fn sample_tip(source: &Source<'_>, round: u32, ns: f64) -> String {
    format!("{}\nround {round}: {} a call", clean(&source.cell.id), time_text(ns))
}

/// The axis of sizes, with room for marks of one size side by side.
struct Sizes {
    axis: Axis,
    /// Where an empty file stands.
    empty: f64,
    least: f64,
    most: f64,
    /// Half the room of one size, as a power of two.
    room: f64,
    passes: usize,
}

impl Sizes {
    fn of(sizes: &[u64], passes: usize) -> Sizes {
        let known: Vec<f64> = sizes.iter().filter(|n| **n > 0).map(|n| *n as f64).collect();
        let (least, most) = span(known.iter().copied()).unwrap_or((1.0, 1.0));
        let empty = least / (most / least).powf(0.15).max(4.0);
        let mut shown = known;
        let nothing = sizes.contains(&0);
        if nothing {
            shown.insert(0, empty.max(1.0));
        }
        let mut axis = Axis::sizes("file size (log2)", &shown);
        let gap = shown.windows(2).map(|pair| (pair[1] / pair[0]).log2()).fold(8.0, f64::min);
        let wide = (axis.high / axis.low).log2();
        let room = (gap * 0.35).min(wide * 0.04);
        (axis.low, axis.high) = (axis.low / room.exp2(), axis.high * room.exp2());
        if let Some(first) = axis.ticks.first_mut().filter(|_| nothing) {
            *first = Tick { at: empty.max(1.0), label: "empty".to_owned() };
        }
        Sizes { axis, empty: empty.max(1.0), least, most, room, passes }
    }

    /// Where the `nth` mark of a pass stands: passes side by side, and the marks of one pass spread
    /// over its strip by the golden ratio, so that neighbours in time are not neighbours in place.
    fn beside(&self, bytes: u64, pass: usize, nth: usize) -> f64 {
        let bytes = if bytes == 0 { self.empty } else { bytes as f64 };
        let strip = 2.0 * self.room / self.passes as f64;
        let middle = strip * (pass as f64 + 0.5) - self.room;
        let spread = if nth == 0 { 0.0 } else { (nth as f64 * 0.618_034).fract() - 0.5 };
        bytes * (middle + spread * strip * 0.7).exp2()
    }
}

fn guide(places: &[Place<'_>], passes: usize) -> Vec<String> {
    let mut guide =
        vec!["Small: one round. Large: the median of the rounds with its 95 % interval".to_owned()];
    let traces = || places.iter().flat_map(|p| &p.traces);
    if traces().any(|t| t.later) && traces().any(|t| !t.later) {
        guide.push("Filled: the first touch of each file. Hollow: later touches".to_owned());
    }
    if places.iter().flat_map(|p| &p.traces).any(|t| t.fit.is_some()) {
        guide.push(
            "Dashed: the line of Theil and Sen, the median over rounds with its 95 % interval; a straight line bends on these axes"
                .to_owned(),
        );
    }
    if passes > 1 {
        guide.push("Touches of one size stand side by side".to_owned());
    }
    guide
}

fn notes(chart: &mut Chart, places: &[Place<'_>], seen: (usize, usize, usize)) {
    let (sizes, hidden, stride) = seen;
    let traces = places.iter().flat_map(|p| &p.traces);
    let told: Vec<String> = traces
        .filter_map(|t| Some((named(&t.cells.first()?.cell.factors), t.fit.as_ref()?)))
        .map(|(name, fit)| line_text(&name, fit))
        .map(|line| clean(line.trim_end_matches('.')).replace(['[', ']'], ""))
        .collect();
    let more = told.len().saturating_sub(MOST_TOLD);
    chart.notes.extend(told.into_iter().take(MOST_TOLD));
    if more > 0 {
        chart.notes.push(format!("{more} more lines stand in the report"));
    }
    if sizes < 3 {
        chart.notes.push("No line is fitted: it takes three sizes".to_owned());
    }
    if hidden > 0 {
        chart.notes.push(format!("{hidden} more panels are in the table only"));
    }
    if stride > 1 {
        chart.notes.push(format!("One of {stride} rounds is drawn; figures and exports have all"));
    }
}

/// What stands for the call where there are several.
const ANY_CALL: &str = "a call";

/// The growth of a call as the start of a title; names of calls keep their small letters.
fn sentence(growth: Growth, call: &str) -> String {
    match (growth, call) {
        (Growth::Grows, ANY_CALL) => "A call takes longer with the file size".to_owned(),
        (_, ANY_CALL) => {
            let words = growth.sentence(call);
            match words.strip_prefix(ANY_CALL) {
                Some(rest) => format!("A call{rest}"),
                None => words,
            }
        }
        _ => growth.sentence(call),
    }
}

/// Whether the cost grows with the size, never more than the intervals show.
fn title(index: &Index<'_>, places: &[Place<'_>], sizes: &[u64]) -> String {
    let calls = index.levels(Factor::Operation);
    let call = match calls.as_slice() {
        [only] => clean(&only.to_string()),
        _ => ANY_CALL.to_owned(),
    };
    let delta = index.documents.first().map_or(0.02, |d| d.experiment.protocol.delta);
    let range = sizes.last().copied().unwrap_or(0) as f64;
    let lines: Vec<(String, &Line, Growth)> = places
        .iter()
        .flat_map(|p| p.traces.iter().map(move |t| (p, t)))
        .filter_map(|(place, trace)| {
            let fit = trace.fit.as_ref()?;
            let pass =
                level_phrase(Factor::Pass, trace.cells.first()?.cell.factors.get(Factor::Pass));
            let words = [place.title.clone(), pass];
            let words: Vec<String> = words.into_iter().filter(|w| !w.is_empty()).collect();
            Some((words.join(", "), fit, Growth::of(fit, range, delta)))
        })
        .collect();
    let grows = lines.iter().filter(|(.., growth)| *growth == Growth::Grows);
    let most = grows.max_by(|a, b| a.1.slope.median.total_cmp(&b.1.slope.median));
    match (lines.as_slice(), most) {
        ([], _) if sizes.len() < 3 => {
            let ends = sizes.first().zip(sizes.last());
            let ends = ends.map(|(a, b)| format!("{} and {}", bytes_text(*a), bytes_text(*b)));
            format!("The cost of {call} on files of {}", ends.unwrap_or_default())
        }
        ([], _) => format!("The cost of {call} by file size: nothing measured yet"),
        ([(_, fit, growth)], _) => {
            format!("{}: {}", sentence(*growth, &call), slope_text(fit))
        }
        (many, Some((name, fit, _))) => {
            let others = many.iter().filter(|l| l.2 == Growth::Grows).count() - 1;
            let more = match others {
                0 => ", the others show no growth".to_owned(),
                n => format!(", and {n} of {} others too", many.len() - 1),
            };
            format!("{} most in {name}: {}{more}", sentence(Growth::Grows, &call), slope_text(fit))
        }
        (many, None) => {
            let all = |wanted: Growth| many.iter().all(|(.., g)| *g == wanted);
            let mut growth = [Growth::None, Growth::Falls, Growth::Unknown].into_iter();
            let growth = growth.find(|g| all(*g)).unwrap_or(Growth::NotShown);
            let steepest = many.iter().max_by(|a, b| a.1.slope.median.total_cmp(&b.1.slope.median));
            let slope = steepest.map(|(_, fit, _)| slope_text(fit)).unwrap_or_default();
            format!("{} (the steepest of {} lines: {slope})", sentence(growth, &call), many.len())
        }
    }
}

#[cfg(test)]
#[path = "cost_tests.rs"]
mod tests;
