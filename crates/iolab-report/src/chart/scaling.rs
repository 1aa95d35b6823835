//! Throughput against workers, threads or ranks: the ideal and its band, the efficiency beside it, the number of
//! processors, and where more workers stop paying. Of many files the throughput is files a second,
//! and the processor time of each file stands beside.

use super::block::{keys, subtitle};
use super::numeric_axis::at_best_block;
use crate::drawing::cells::{Facets, Index, Source};
use crate::drawing::estimate::{
    Estimated, curve_table, hollow_guide, mark_of, missing_reason, tip,
};
use crate::drawing::model::{
    Chart, CurvePoint, Direction, Layer, MOST_PANELS, Mark, Panel, Point, Series,
};
use crate::drawing::scale::{Axis, digits_plain, tick_time};
use crate::drawing::speedup::Gain;
use crate::drawing::throughput::{Line, Pace, ends};
use crate::latency::over_rounds;
use iolab_model::catalog::{Fact, Factor, time_text};
use iolab_model::result::Summary;

/// Who works: ranks of an MPI job where several numbers of them were measured, else threads.
#[derive(Clone, Copy)]
struct Workers {
    factor: Factor,
    one: &'static str,
    many: &'static str,
}

const RANKS: Workers = Workers { factor: Factor::Ranks, one: "rank", many: "ranks" };
const THREADS: Workers = Workers { factor: Factor::Threads, one: "thread", many: "threads" };

/// The chart, where at least two numbers of workers were measured.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let several = |workers: &Workers| index.numbers(workers.factor).len() > 1;
    let workers = [RANKS, THREADS].into_iter().find(several)?;
    let Workers { factor, one, many } = workers;
    let levels = index.numbers(factor);
    let pace = Pace::of(index);
    let files = pace == Pace::Files;
    // What is done with files differs by orders of magnitude: a panel and an axis each.
    let apart: &[Factor] = if files { &[Factor::Operation, Factor::Sync] } else { &[] };
    let cells = at_best_block(index, factor);
    let facets = index.facets_apart(&cells, &[factor, Factor::Block], apart);
    let lines: Vec<Vec<Line<'_>>> = facets
        .groups
        .iter()
        .map(|g| g.series.iter().map(|(_, cells)| Line::of(cells, pace, factor)).collect())
        .collect();
    if lines.iter().flatten().all(|l| l.base().is_none()) {
        return None;
    }
    let x = x_axis(&levels, many);
    let axis = |lines: &[Line<'_>]| pace.axis(lines.iter().flat_map(Line::ends));
    let shared = pace.axis(lines.iter().flatten().flat_map(Line::ends));
    let across = if files { 3 } else { 2 };
    let mut panels = Vec::new();
    for (group, lines) in facets.groups.iter().zip(&lines).take(MOST_PANELS / across) {
        let y = if files { axis(lines) } else { shared.clone() };
        panels.push(throughput(&group.title, lines, &x, &y, index));
        panels.push(efficiency(&group.title, lines, &x));
        panels.extend(files.then(|| processor(&group.title, lines, &x)));
    }
    let hidden = facets.left_out + facets.groups.len().saturating_sub(MOST_PANELS / across);
    let unit = if files { "files a second" } else { "speed" };
    let mut notes = Vec::new();
    if cells.len() < index.cells.len() {
        notes.push("Each at its fastest block size".to_owned());
    }
    if hidden > 0 {
        notes.push(format!("{hidden} more panels are in the table only"));
    }
    let mut guide = vec![
        format!("Dashed: the ideal, the {unit} of the fewest {many} multiplied, with its interval"),
        format!("Efficiency: {unit} per {one} against that of the fewest {many}"),
    ];
    let flagged = panels.iter().flat_map(|p: &Panel| &p.layers).any(|layer| match layer {
        Layer::Series(s) => s.points.iter().any(|p| matches!(p.mark, Mark::Flagged(_))),
        _ => false,
    });
    if flagged {
        guide.push(format!("Ring: the fewest {many} that are shown to be as good as the best"));
    }
    if files {
        guide.push("Processor time: of all workers together, user and system".to_owned());
    }
    guide.extend(hollow_guide(&cells));
    Some(Chart {
        slug: format!("throughput-by-{many}"),
        // What belongs to one group stands side by side.
        rows: vec![across; panels.len() / across],
        title: title(index, &facets, &lines, (pace, workers)),
        subtitle: subtitle(index, &[factor]),
        panels,
        keys: keys(&facets),
        notes,
        guide,
        table: curve_table(index, Estimated::of(index)),
    })
}

fn x_axis(levels: &[u64], many: &str) -> Axis {
    let levels: Vec<f64> = levels.iter().map(|n| *n as f64).collect();
    let most = levels.iter().copied().fold(1.0, f64::max);
    // Doublings over a long range, else equal steps.
    if most > 16.0 {
        Axis::counts(&format!("{many} (log2)"), &levels)
    } else {
        Axis::whole(many, levels)
    }
}

fn throughput(title: &str, lines: &[Line<'_>], x: &Axis, y: &Axis, index: &Index<'_>) -> Panel {
    let mut layers = Vec::new();
    layers.extend(processors(index, x));
    for (key, line) in lines.iter().enumerate() {
        layers.extend(ideal(key, line, y));
    }
    for (key, line) in lines.iter().enumerate() {
        let enough = Gain::of(index, line).and_then(|gain| gain.found);
        let points = line.points.iter().map(|(n, source, s)| {
            let point = measured(*n, source, s.clone());
            match enough {
                Some(found) if *found.cell == *source.cell.id => {
                    Point { mark: Mark::Flagged(String::new()), ..point }
                }
                _ => point,
            }
        });
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
            .map(|(n, source, speed)| {
                let share = share(*n);
                // The base against itself is 1 by definition.
                let known = |end: Option<f64>| end.filter(|_| *n as f64 != threads).map(&share);
                let seen = speed.as_ref().map(|s| Summary {
                    median: share(s.median),
                    low: known(s.low),
                    high: known(s.high),
                    ..s.clone()
                });
                measured(*n, source, seen)
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

/// Processor time of each file.
fn processor(title: &str, lines: &[Line<'_>], x: &Axis) -> Panel {
    let cost = |source: &Source<'_>| over_rounds(source.cell, "processor_ns_per_file");
    let all = lines.iter().flat_map(|l| &l.points).filter_map(|(_, source, _)| cost(source));
    let y = Axis::from_zero("processor time a file", all.flat_map(|s| ends(&s)), tick_time);
    let layers = lines.iter().enumerate().map(|(key, line)| {
        let points = line.points.iter().map(|(n, source, _)| {
            let seen = cost(source);
            let words = seen
                .as_ref()
                .map(|s| format!("\n{} of processor time a file", time_text(s.median)));
            let mut point = measured(*n, source, seen);
            point.tip += words.as_deref().unwrap_or("");
            point
        });
        series(key, points.collect())
    });
    let layers = layers.collect();
    Panel { title: title.to_owned(), x: x.clone(), y, layers }
}

fn measured(n: u64, source: &Source<'_>, shown: Option<Summary>) -> Point {
    let x = n as f64;
    let value = Estimated::Pass.of_cell(source.cell);
    match (shown, value) {
        (Some(s), Some(value)) => {
            let tip = tip(source, Estimated::Pass, value);
            Point { x, y: s.median, low: s.low, high: s.high, mark: mark_of(source), tip }
        }
        _ => Point::missing(x, f64::NAN, missing_reason(source)),
    }
}

fn series(key: usize, points: Vec<Point>) -> Layer {
    Layer::Series(Series::line(key, points))
}

/// Processors and the limit of the container, where the environments have them and agree.
fn processors(index: &Index<'_>, x: &Axis) -> Vec<Layer> {
    const FACTS: [(&str, Fact); 2] =
        [("processors", Fact::CpuCount), ("allowed", Fact::CpuAllowed)];
    let mut seen = Vec::new();
    let known = FACTS.iter().filter_map(|(name, fact)| {
        let mut all = index.documents.iter().map(|d| d.environment.get(*fact));
        let first = all.next()??;
        let at = first.as_f64().filter(|at| !seen.contains(at) && all.all(|f| f == Some(first)))?;
        seen.push(at);
        (x.low..=x.high).contains(&at).then(|| Layer::Rule {
            axis: Direction::X,
            at,
            label: format!("{} {name}", digits_plain(at)),
        })
    });
    known.collect()
}

fn title(
    index: &Index<'_>,
    facets: &Facets<'_>,
    lines: &[Vec<Line<'_>>],
    (pace, Workers { one, many, .. }): (Pace, Workers),
) -> String {
    let name = |panel: &str, series: &str| {
        let words = [panel, series].into_iter().filter(|word| !word.is_empty());
        words.collect::<Vec<_>>().join(", ")
    };
    let all = facets.groups.iter().zip(lines).flat_map(|(group, lines)| {
        let series = group.series.iter().zip(lines);
        series.map(move |((series, _), line)| (name(&group.title, series), line))
    });
    // What is found first; of lines without, the fastest.
    let best =
        all.filter_map(|(name, line)| Some((name, Gain::of(index, line)?))).max_by(|a, b| {
            let key = |gain: &Gain<'_>| (gain.found.is_some(), gain.is_answered);
            key(&a.1).cmp(&key(&b.1)).then(a.1.speed.total_cmp(&b.1.speed))
        });
    let Some((name, best)) = best else {
        return format!("Throughput by {many}: nothing measured yet");
    };
    let who = if name.is_empty() { name } else { format!("{name}: ") };
    let base = match best.base > 1.0 {
        true => format!("{:.0} {many}", best.base),
        false => format!("one {one}"),
    };
    let speed = pace.text(best.speed);
    match (best.found, best.is_answered, best.most) {
        (Some(found), ..) => format!("{who}{}", found.sentence),
        (None, true, _) => {
            format!("{who}how many {many} are enough is open ({speed} at most, by the medians)")
        }
        (None, false, (most, _)) if most as f64 <= best.base => {
            format!("{who}{base} {speed}, more are no faster by the medians")
        }
        (None, false, (most, times)) => {
            let times = digits_plain((times * 100.0).round() / 100.0);
            format!("{who}{most} {many} are {times}× as fast as {base} by the medians ({speed})")
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use crate::drawing::model::Layer;
    use iolab_model::catalog::{Factor, Level};
    use iolab_test::scenes;

    /// The same run, of ranks: nothing of it speaks of threads any more.
    #[test]
    fn ranks_have_the_chart_of_threads_in_words_of_their_own() {
        let mut run = scenes::threads();
        for cell in &mut run.cells {
            let count = cell.factors.number(Factor::Threads).unwrap();
            cell.factors.set(Factor::Threads, Level::Number(1));
            cell.factors.set(Factor::Ranks, Level::Number(count));
        }
        run.answers.clear();
        let charts = charts_for(&[run]);
        assert!(charts.iter().all(|chart| chart.slug != "throughput-by-threads"));
        let chart = charts.iter().find(|c| c.slug == "throughput-by-ranks").unwrap();
        assert!(chart.title.contains(" ranks "), "{}", chart.title);
        let words = chart.guide.join(" ");
        assert!(words.contains("per rank") && !words.contains("thread"), "{words}");
        assert!(chart.panels.iter().all(|panel| panel.x.label == "ranks"));
    }

    #[test]
    fn the_base_of_the_efficiency_has_no_interval() {
        let charts = charts_for(&[scenes::threads()]);
        let chart = charts.iter().find(|c| c.slug == "throughput-by-threads").unwrap();
        let efficiency = chart.panels.iter().filter(|p| p.y.label == "efficiency");
        let mut seen = 0;
        for layer in efficiency.flat_map(|p| &p.layers) {
            let Layer::Series(series) = layer else { continue };
            let (first, rest) = series.points.split_first().unwrap();
            assert_eq!((first.y, first.low, first.high), (1.0, None, None));
            assert!(rest.iter().all(|p| p.low.is_some() && p.high.is_some()));
            seen += 1;
        }
        assert!(seen > 0);
    }
}
