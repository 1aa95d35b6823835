//! Throughput against workers: the ideal and its band, the efficiency beside it, the number of
//! processors, and where more workers stop paying.

use super::block::{keys, subtitle};
use super::cells::{Facets, Index, Source};
use super::estimate::{Estimated, curve_table, missing_reason, tip};
use super::model::{
    Chart, CurvePoint, Direction, Ink, Layer, MOST_PANELS, Mark, Panel, Point, Series,
};
use super::scale::{Axis, digits_plain};
use super::standing::{Conditions, Standing};
use crate::catalog::{Factor, rate_text};
use crate::result::Summary;

/// The chart, where at least two numbers of threads were measured.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let levels = index.numbers(Factor::Threads);
    if levels.len() < 2 {
        return None;
    }
    let facets = index.facets(&index.cells, &[Factor::Threads]);
    let lines: Vec<Vec<Line<'_>>> = facets
        .groups
        .iter()
        .map(|g| g.series.iter().map(|(_, cells)| Line::of(cells)).collect())
        .collect();
    if lines.iter().flatten().all(|l| l.points.iter().all(|(_, s)| speed(s).is_none())) {
        return None;
    }
    let x = x_axis(&levels);
    let ends = lines.iter().flatten().flat_map(|l| &l.points).filter_map(|(_, s)| speed(s));
    let ends = ends.flat_map(|s| [Some(s.median), s.low, s.high]).flatten();
    let y = rate_axis(index, ends);
    let mut panels = Vec::new();
    for (group, lines) in facets.groups.iter().zip(&lines).take(MOST_PANELS / 2) {
        panels.push(throughput(&group.title, lines, &x, &y, index));
        panels.push(efficiency(&group.title, lines, &x));
    }
    Some(Chart {
        slug: "throughput-by-threads".to_owned(),
        title: title(index, &facets, &lines),
        subtitle: subtitle(index, &[Factor::Threads]),
        panels,
        keys: keys(&facets),
        notes: Vec::new(),
        guide: vec![
            "Dashed: the ideal, the speed of the fewest threads multiplied, with its interval"
                .to_owned(),
            "Efficiency: speed per thread against that of the fewest threads".to_owned(),
        ],
        table: curve_table(index, Estimated::of(index)),
    })
}

/// Cells of one series by number of threads.
struct Line<'a> {
    points: Vec<(u64, Source<'a>)>,
}

impl<'a> Line<'a> {
    fn of(cells: &[Source<'a>]) -> Line<'a> {
        let threads = |s: &Source<'a>| Some((s.cell.factors.number(Factor::Threads)?, *s));
        let mut points: Vec<(u64, Source<'a>)> = cells.iter().filter_map(threads).collect();
        points.sort_by_key(|(n, _)| *n);
        Line { points }
    }

    /// The fewest threads that were measured, and their speed.
    fn base(&self) -> Option<(f64, Summary)> {
        self.points.iter().find_map(|(n, s)| Some((*n as f64, speed(s)?))).filter(|(n, _)| *n > 0.0)
    }
}

/// Bytes per second, or operations per second where no bytes move.
fn speed(source: &Source<'_>) -> Option<Summary> {
    let estimate = source.cell.estimate.as_ref()?;
    let over = |ns: f64| if ns > 0.0 { 1e9 / ns } else { f64::NAN };
    let speed = estimate.bytes_per_second.clone().unwrap_or_else(|| {
        let ns = &estimate.ns_per_operation;
        Summary {
            median: over(ns.median),
            low: ns.high.map(over),
            high: ns.low.map(over),
            ..ns.clone()
        }
    });
    (speed.median.is_finite() && speed.median > 0.0).then_some(speed)
}

fn x_axis(levels: &[u64]) -> Axis {
    let levels: Vec<f64> = levels.iter().map(|n| *n as f64).collect();
    let most = levels.iter().copied().fold(1.0, f64::max);
    // Doublings over a long range, else equal steps.
    if most > 16.0 {
        Axis::counts("threads (log2)", &levels)
    } else {
        Axis::whole("threads", levels)
    }
}

fn rate_axis(index: &Index<'_>, ends: impl Iterator<Item = f64>) -> Axis {
    let bytes =
        |s: &Source<'_>| s.cell.estimate.as_ref().is_some_and(|e| e.bytes_per_second.is_some());
    match index.cells.iter().any(bytes) {
        true => Axis::rates("throughput", ends),
        false => Axis::from_zero("operations per second", ends, digits_plain),
    }
}

fn throughput(title: &str, lines: &[Line<'_>], x: &Axis, y: &Axis, index: &Index<'_>) -> Panel {
    let mut layers = Vec::new();
    layers.extend(processors(index, x));
    for (key, line) in lines.iter().enumerate() {
        layers.extend(ideal(key, line, y));
    }
    for (key, line) in lines.iter().enumerate() {
        let points =
            line.points.iter().map(|(n, source)| measured(*n, source, |s| Some(s.clone())));
        layers.push(series(key, points.collect()));
    }
    Panel { title: title.to_owned(), x: x.clone(), y: y.clone(), layers }
}

/// The ideal line, cut where it leaves the panel.
fn ideal(key: usize, line: &Line<'_>, y: &Axis) -> Option<Layer> {
    let (threads, base) = line.base()?;
    let last = line.points.last()?.0 as f64;
    let end = last.min(threads * y.high / base.median);
    let at = |n: f64| {
        let times = |v: f64| v * n / threads;
        CurvePoint {
            x: n,
            y: times(base.median),
            low: base.low.map(times),
            high: base.high.map(times),
        }
    };
    // Several vertices keep the line straight on a linear and right on a log2 axis.
    let steps = 12;
    let points =
        (0..=steps).map(|s| at(threads + (end - threads) * f64::from(s) / f64::from(steps)));
    (end > threads).then(|| Layer::Curve { key: Some(key), points: points.collect() })
}

fn efficiency(title: &str, lines: &[Line<'_>], x: &Axis) -> Panel {
    let mut layers = vec![Layer::Rule { axis: Direction::Y, at: 1.0, label: String::new() }];
    let mut highest: f64 = 1.0;
    for (key, line) in lines.iter().enumerate() {
        let Some((threads, base)) = line.base() else { continue };
        let share = |n: u64| move |v: f64| v / base.median * threads / n as f64;
        let points: Vec<Point> = line
            .points
            .iter()
            .map(|(n, source)| {
                let share = share(*n);
                measured(*n, source, |s| {
                    Some(Summary {
                        median: share(s.median),
                        low: s.low.map(&share),
                        high: s.high.map(&share),
                        ..s.clone()
                    })
                })
            })
            .collect();
        highest = points
            .iter()
            .filter(|p| p.y.is_finite())
            .map(|p| p.high.unwrap_or(p.y))
            .fold(highest, f64::max);
        layers.push(series(key, points));
    }
    let y = Axis::from_zero("efficiency", [highest], |v| format!("{:.0} %", v * 100.0));
    Panel { title: title.to_owned(), x: x.clone(), y, layers }
}

fn measured(n: u64, source: &Source<'_>, view: impl Fn(&Summary) -> Option<Summary>) -> Point {
    let shown = speed(source).and_then(|s| view(&s));
    let x = n as f64;
    let value = Estimated::Pass.of_cell(source.cell);
    match (shown, value) {
        (Some(s), Some(value)) => {
            let tip = tip(source, Estimated::Pass, value);
            Point { x, y: s.median, low: s.low, high: s.high, mark: Mark::Filled, tip }
        }
        _ => Point {
            x,
            y: f64::NAN,
            low: None,
            high: None,
            mark: Mark::Missing,
            tip: missing_reason(source),
        },
    }
}

fn series(key: usize, points: Vec<Point>) -> Layer {
    Layer::Series(Series {
        key: Some(key),
        ink: Ink::nth(key),
        joined: true,
        band: true,
        interval: Direction::Y,
        across: false,
        points,
    })
}

/// Processors and the limit of the container, where the environment has them.
fn processors(index: &Index<'_>, x: &Axis) -> Vec<Layer> {
    const FACTS: [(&str, &str); 2] = [("processors", "cpu.count"), ("allowed", "cpu.allowed")];
    let Some(document) = index.documents.first() else { return Vec::new() };
    let mut seen = Vec::new();
    let known = FACTS.iter().filter_map(|(name, fact)| {
        let at = document.environment.0.get(*fact)?.as_f64().filter(|at| !seen.contains(at))?;
        seen.push(at);
        (x.low..=x.high).contains(&at).then(|| Layer::Rule {
            axis: Direction::X,
            at,
            label: format!("{} {name}", digits_plain(at)),
        })
    });
    known.collect()
}

fn title(index: &Index<'_>, facets: &Facets<'_>, lines: &[Vec<Line<'_>>]) -> String {
    let all = || facets.groups.iter().zip(lines).flat_map(|(g, l)| g.series.iter().zip(l));
    let gain = |line: &Line<'_>| {
        let (threads, base) = line.base()?;
        let (most, best) = line
            .points
            .iter()
            .filter_map(|(n, s)| Some((*n, speed(s)?.median)))
            .max_by(|a, b| a.1.total_cmp(&b.1))?;
        let enough = enough(index, line, best).unwrap_or(most);
        Some((threads, enough, most, best / base.median, best))
    };
    let best = all()
        .filter_map(|((name, _), line)| Some((name.clone(), gain(line)?)))
        .max_by(|a, b| a.1.4.total_cmp(&b.1.4));
    let Some((name, (threads, enough, most, gain, speed))) = best else {
        return "Throughput by threads: nothing measured yet".to_owned();
    };
    let who = if facets.names.len() > 1 { format!("{name}: ") } else { String::new() };
    let base =
        if threads > 1.0 { format!("{threads:.0} threads") } else { "one thread".to_owned() };
    let speed = if speed > 1e6 { format!(" ({})", rate_text(speed)) } else { String::new() };
    match gain {
        g if g < 1.03 => format!("{who}more threads than {base} gain nothing{speed}"),
        g if enough < most => format!(
            "{who}{enough} threads give {}× the speed of {base}; more than {enough} gain nothing{speed}",
            digits_plain((g * 100.0).round() / 100.0)
        ),
        g => format!(
            "{who}{most} threads give {}× the speed of {base}{speed}",
            digits_plain((g * 100.0).round() / 100.0)
        ),
    }
}

/// The fewest threads that are as good as the best of a line, by the answer's intervals.
fn enough(index: &Index<'_>, line: &Line<'_>, best: f64) -> Option<u64> {
    let document = index.documents.first()?;
    let (_, leader) =
        line.points.iter().find(|(_, s)| speed(s).is_some_and(|s| s.median == best))?;
    let conditions = Conditions::of(document);
    let standing = document.answers.iter().find_map(|answer| {
        Standing::of(document, conditions.cells(answer), answer)
            .filter(|s| s.leader.id == leader.cell.id)
    })?;
    let near = |s: &Source<'_>| standing.near(&s.cell.id) || standing.best(&s.cell.id);
    line.points.iter().find(|(_, s)| near(s)).map(|(n, _)| *n)
}
