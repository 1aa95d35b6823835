//! How long single operations take: percentiles of each round, in the middle of the rounds, over an
//! axis on which each tenth part of the operations is as wide as the one before (1 − q, log). A
//! percentile is there only where a round had the operations for it.

use std::collections::BTreeSet;

use super::block::{keys, subtitle};
use crate::drawing::cells::{Index, Source};
use crate::drawing::estimate::time_interval;
use crate::drawing::labels::clean;
use crate::drawing::model::{
    Chart, Datum, Direction, Key, Layer, MOST_PANELS, Mark, Panel, Point, Series, Table, Tint,
};
use crate::drawing::scale::{Axis, Scale, Tick, digits_plain, span};
use crate::latency::{STEPS, between_text, differ, operation_bytes, over_rounds};
use iolab_model::catalog::{Factor, bytes_text, time_text};
use iolab_model::result::Summary;

/// Percentiles: the end of the metric's id, the name, and one operation in how many lies beyond.
const LADDER: [(&str, &str, f64); 5] = [
    ("latency_p50_ns", "p50", 2.0),
    ("latency_p90_ns", "p90", 10.0),
    ("latency_p99_ns", "p99", 100.0),
    ("latency_p99_9_ns", "p99.9", 1e3),
    ("latency_p99_99_ns", "p99.99", 1e4),
];
const GREATEST: &str = "latency_max_ns";
/// Each round has its own; the middle of them is below the longest of all.
const LONGEST: &str = "max of a round";

/// Most rows of the table.
const MOST_ROWS: usize = 2000;

/// One line: the percentiles of a cell, or of one step of it.
struct Line<'a> {
    name: String,
    source: Source<'a>,
    step: &'static str,
    /// Place in [`LADDER`] and the figure.
    points: Vec<(usize, Summary)>,
    greatest: Option<Summary>,
}

/// Lines with a common coordinate system.
struct Group<'a> {
    title: String,
    /// Key of the legend.
    lines: Vec<(usize, Line<'a>)>,
}

/// The chart, where operations were timed by themselves.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let timed: Vec<Source<'_>> = index.cells.iter().filter(|s| timed(s)).copied().collect();
    if timed.is_empty() {
        return None;
    }
    let steps = timed.iter().any(|s| Line::of(s, "", String::new()).is_none());
    let (mut groups, mut keys, hidden) = match steps {
        true => by_step(index, &timed),
        false => by_cell(index, &timed),
    };
    // What moves 4 KiB and what moves 1 MiB at a time does not compare.
    let unlike = !steps && differ(timed.iter().filter_map(|s| operation_bytes(s.cell)));
    if unlike {
        name_sizes(&mut groups, &mut keys);
    }
    let lines = || groups.iter().flat_map(|g| &g.lines).map(|(_, line)| line);
    let rungs: BTreeSet<usize> = lines().flat_map(|l| &l.points).map(|(at, _)| *at).collect();
    let x = percentiles(&rungs);
    let ends = lines().flat_map(|l| l.points.iter().map(|(_, s)| s).chain(&l.greatest));
    let ends = ends.flat_map(|s| [Some(s.median), s.low, s.high]).flatten();
    let what = if steps { "step" } else { "operation" };
    let y = Axis::times(&format!("time of one {what} (log)"), ends);
    let mut notes = vec![format!(
        "Each time holds one reading of the clock, {}; none is taken off",
        clock_text(&timed)
    )];
    if hidden > 0 {
        notes.push(format!("{hidden} more panels are in the table only"));
    }
    Some(Chart {
        slug: "single-operations".to_owned(),
        rows: Vec::new(),
        title: match (steps, unlike) {
            (true, _) => step_title(&groups),
            (false, true) => unlike_title(&timed),
            (false, false) => title(&groups),
        },
        subtitle: format!("Percentiles of each round · {}", subtitle(index, &[Factor::Latency])),
        panels: groups.iter().map(|group| group.panel(&x, &y)).collect(),
        keys,
        notes,
        guide: vec![
            "Each step to the right holds a tenth of the operations of the one before. A percentile stands where a round has the operations for it; hollow: the longest of a round".to_owned(),
        ],
        table: table(&timed),
    })
}

/// One reading of the clock in the runs that are drawn.
fn clock_text(timed: &[Source<'_>]) -> String {
    let costs = timed.iter().map(|s| s.document.experiment.protocol.clock_cost_ns);
    match span(costs) {
        Some((low, high)) if time_text(low) != time_text(high) => between_text(low, high),
        Some((_, cost)) => time_text(cost),
        None => "of unknown length".to_owned(),
    }
}

/// Bytes of an operation in the name of each line: in the legend where the lines of a key agree,
/// else in the title of the panel.
fn name_sizes(groups: &mut [Group<'_>], keys: &mut [Key]) {
    let each = |line: &Line<'_>| operation_bytes(line.source.cell);
    let of_key = |key: usize| {
        let lines = groups.iter().flat_map(|g| &g.lines).filter(|(own, _)| *own == key);
        let sizes: BTreeSet<Option<u64>> = lines.map(|(_, line)| each(line)).collect();
        if sizes.len() == 1 { sizes.first().copied().flatten() } else { None }
    };
    let shared: Vec<Option<u64>> = (0..keys.len()).map(of_key).collect();
    for (key, bytes) in keys.iter_mut().zip(&shared) {
        append(&mut key.name, *bytes);
    }
    for group in groups {
        let told = |key: usize| shared.get(key).copied().flatten().is_some();
        let rest = group.lines.iter().filter(|(key, _)| !told(*key));
        let rest: BTreeSet<u64> = rest.filter_map(|(_, line)| each(line)).collect();
        match (rest.first(), rest.last()) {
            (Some(low), Some(high)) if low != high => {
                group.title += &format!(" ({} to {} each)", bytes_text(*low), bytes_text(*high))
            }
            (one, _) => append(&mut group.title, one.copied()),
        }
    }
}

fn append(name: &mut String, bytes: Option<u64>) {
    let Some(bytes) = bytes.map(bytes_text) else { return };
    match name.as_str() {
        "" => *name = format!("{bytes} each"),
        said if said.contains(&bytes) => {}
        _ => *name += &format!(" ({bytes} each)"),
    }
}

fn unlike_title(timed: &[Source<'_>]) -> String {
    let sizes = || timed.iter().filter_map(|s| operation_bytes(s.cell));
    let text = |bytes: Option<u64>| bytes.map_or_else(String::new, bytes_text);
    let (low, high) = (text(sizes().min()), text(sizes().max()));
    format!("Single operations move from {low} to {high}: their times do not compare")
}

fn timed(source: &Source<'_>) -> bool {
    std::iter::once("").chain(STEPS).any(|step| Line::of(source, step, String::new()).is_some())
}

/// A line a cell, laid out like every other chart.
fn by_cell<'a>(index: &Index<'a>, timed: &[Source<'a>]) -> (Vec<Group<'a>>, Vec<Key>, usize) {
    let facets = index.facets(timed, &[Factor::Latency]);
    let groups = facets.groups.iter().map(|group| {
        let lines = group.series.iter().enumerate().flat_map(|(key, (name, cells))| {
            let name = if name.is_empty() { &group.title } else { name };
            cells.iter().filter_map(move |s| Some((key, Line::of(s, "", name.clone())?)))
        });
        Group { title: group.title.clone(), lines: lines.collect() }
    });
    (groups.collect(), keys(&facets), facets.left_out)
}

/// A line a step, a panel a cell.
fn by_step<'a>(index: &Index<'a>, timed: &[Source<'a>]) -> (Vec<Group<'a>>, Vec<Key>, usize) {
    let varying = index.varying(timed, &[Factor::Latency]);
    let known: Vec<&str> = STEPS
        .into_iter()
        .filter(|step| timed.iter().any(|s| Line::of(s, step, String::new()).is_some()))
        .collect();
    let groups = timed.iter().take(MOST_PANELS).map(|source| {
        let lines = known.iter().enumerate();
        let title: Vec<String> =
            varying.iter().map(|split| index.split_text(*split, source, true)).collect();
        let title = title.join(" · ");
        let of = |(key, step): (usize, &&'static str)| {
            Some((key, Line::of(source, step, (*step).to_owned())?))
        };
        Group { title, lines: lines.filter_map(of).collect() }
    });
    let keys = known.iter().enumerate();
    let keys = keys.map(|(at, step)| Key { name: (*step).to_owned(), ink: Tint::nth(at) });
    (groups.collect(), keys.collect(), timed.len().saturating_sub(MOST_PANELS))
}

impl<'a> Line<'a> {
    fn of(source: &Source<'a>, step: &'static str, name: String) -> Option<Line<'a>> {
        let of = |end: &str| {
            let id = if step.is_empty() { end.to_owned() } else { format!("{step}_{end}") };
            over_rounds(source.cell, &id).filter(|s| s.median > 0.0)
        };
        let points = LADDER.iter().enumerate().filter_map(|(at, (end, ..))| Some((at, of(end)?)));
        let points: Vec<(usize, Summary)> = points.collect();
        let greatest = of(GREATEST);
        (!points.is_empty() || greatest.is_some()).then_some(Line {
            name,
            source: *source,
            step,
            points,
            greatest,
        })
    }

    fn at(&self, rung: usize) -> Option<&Summary> {
        self.points.iter().find(|(at, _)| *at == rung).map(|(_, s)| s)
    }

    fn layers(&self, key: usize, x: &Axis) -> Vec<Layer> {
        let curve = self.points.iter().map(|(at, s)| {
            let (_, name, beyond) = LADDER[*at];
            self.point(beyond, s, name, Mark::Filled)
        });
        let end = x.ticks.last().map_or(x.high, |t| t.at);
        let last = self.greatest.iter().map(|s| self.point(end, s, "the longest", Mark::Hollow));
        let series = |points: Vec<Point>, joined: bool| {
            Layer::Series(Series {
                key: Some(key),
                ink: Tint::nth(key),
                joined,
                band: joined,
                interval: Direction::Y,
                across: false,
                points,
            })
        };
        vec![series(curve.collect(), true), series(last.collect(), false)]
    }

    fn point(&self, x: f64, seen: &Summary, what: &str, mark: Mark) -> Point {
        let step = if self.step.is_empty() { String::new() } else { format!("{}: ", self.step) };
        let each = operation_bytes(self.source.cell).filter(|_| step.is_empty());
        let each = each.map_or_else(String::new, |bytes| format!(" of {}", bytes_text(bytes)));
        let tip = format!(
            "{}\n{step}{what} {}{each}\n{} rounds",
            clean(&self.source.cell.id),
            time_interval(seen.into()),
            seen.n
        );
        Point { x, y: seen.median, low: seen.low, high: seen.high, mark, tip }
    }
}

impl Group<'_> {
    fn panel(&self, x: &Axis, y: &Axis) -> Panel {
        let layers = self.lines.iter().flat_map(|(key, line)| line.layers(*key, x));
        Panel { title: self.title.clone(), x: x.clone(), y: y.clone(), layers: layers.collect() }
    }
}

/// The axis of those percentiles that some line has, and of the greatest beyond them.
fn percentiles(rungs: &BTreeSet<usize>) -> Axis {
    let known = rungs.iter().map(|at| LADDER[*at]);
    let mut ticks: Vec<Tick> =
        known.map(|(_, name, beyond)| Tick { at: beyond, label: name.to_owned() }).collect();
    let end = ticks.last().map_or(1.0, |t| t.at) * 10.0;
    let low = ticks.first().map_or(end, |t| t.at) / 1.3;
    // The guide says of what; a longer word leaves a narrow picture.
    ticks.push(Tick { at: end, label: "max".to_owned() });
    let label = "percentile of the operations".to_owned();
    Axis { label, scale: Scale::Log10, low, high: end * 1.7, ticks }
}

/// How far the tail lies from the median, and where it is longest.
fn title(groups: &[Group<'_>]) -> String {
    let lines: Vec<&Line<'_>> = groups.iter().flat_map(|g| &g.lines).map(|(_, l)| l).collect();
    // The furthest percentile that all lines with a tail have: what one alone has compares with
    // nothing.
    let tailed = || lines.iter().filter(|l| l.points.iter().any(|(at, _)| *at > 0));
    let shared = (1..LADDER.len())
        .rev()
        .find(|at| tailed().count() > 0 && tailed().all(|l| l.at(*at).is_some()));
    let Some(rung) = shared else {
        return "Single operations: too few in a round for the percentiles of a tail".to_owned();
    };
    let name = LADDER[rung].1;
    let tails = || lines.iter().filter_map(|l| Some((*l, l.at(rung)?)));
    let order =
        |a: &(&Line<'_>, &Summary), b: &(&Line<'_>, &Summary)| a.1.median.total_cmp(&b.1.median);
    let (Some((short, low)), Some((long, high))) = (tails().min_by(order), tails().max_by(order))
    else {
        return "Single operations: nothing measured yet".to_owned();
    };
    let times = tails().filter_map(|(l, tail)| Some(tail.median / l.at(0)?.median));
    let times = times_text(times);
    if lines.len() == 1 {
        return format!("{name} is {times} the median: {}", time_text(high.median));
    }
    let apart = low.high.zip(high.low).map(|(low, high)| low < high);
    let (short, long) = (short.label(groups), long.label(groups));
    let (least, most) = (time_text(low.median), time_text(high.median));
    match apart {
        Some(true) => {
            format!("{name} goes from {least} ({short}) to {most} ({long}), {times} the median")
        }
        // Without intervals nothing is said of who is which.
        None => format!("{name} lies between {least} and {most}, {times} the median"),
        Some(false) => format!(
            "Tails are not told apart: {name} {}, {times} the median",
            between_text(low.median, high.median)
        ),
    }
}

impl Line<'_> {
    /// Its name, with its panel's where there are several.
    fn label(&self, groups: &[Group<'_>]) -> String {
        let holds = |g: &&Group<'_>| {
            g.lines
                .iter()
                .any(|(_, l)| l.source.cell.id == self.source.cell.id && l.name == self.name)
        };
        match groups.iter().find(holds) {
            Some(group) if groups.len() > 1 && group.title != self.name => {
                format!("{}, {}", group.title, self.name)
            }
            _ => self.name.clone(),
        }
    }
}

/// `8×`, `2–9×`.
fn times_text(ratios: impl Iterator<Item = f64>) -> String {
    let digits = |v: f64| {
        if v >= 10.0 { format!("{v:.0}") } else { digits_plain((v * 10.0).round() / 10.0) }
    };
    match span(ratios).map(|(low, high)| (digits(low), digits(high))) {
        Some((low, high)) if low != high => format!("{low} to {high} times"),
        Some((one, _)) => format!("{one} times"),
        None => "beyond".to_owned(),
    }
}

/// Which step takes longest, by its median.
fn step_title(groups: &[Group<'_>]) -> String {
    let dearest = |group: &Group<'_>| -> Option<(&'static str, f64)> {
        let medians = group.lines.iter().filter_map(|(_, l)| Some((l.step, l.at(0)?.median)));
        medians.max_by(|a, b| a.1.total_cmp(&b.1))
    };
    let found: Vec<(&str, f64)> = groups.iter().filter_map(dearest).collect();
    let most = STEPS.into_iter().max_by_key(|step| found.iter().filter(|f| f.0 == *step).count());
    let Some(step) = most.filter(|_| !found.is_empty()) else {
        return "Single steps: too few files in a round for percentiles".to_owned();
    };
    let own: Vec<f64> = found.iter().filter(|f| f.0 == step).map(|f| f.1).collect();
    let times = match span(own.iter().copied()) {
        Some((low, high)) if time_text(low) != time_text(high) => between_text(low, high),
        Some((one, _)) => time_text(one),
        None => String::new(),
    };
    let share = match (own.len(), found.len()) {
        (n, all) if n == all => String::new(),
        (n, all) => format!(" in {n} of {all} cells"),
    };
    if groups.iter().all(|g| g.lines.len() < 2) {
        return format!("{step}: half of the files take no longer than {times}");
    }
    format!("Of the steps of a file {step} takes longest{share}: median {times}")
}

fn table(timed: &[Source<'_>]) -> Table {
    let columns = ["cell", "step", "percentile", "time", "low", "high", "rounds"];
    let time = |v: Option<f64>| v.map_or(Datum::default(), |v| Datum::number(v, time_text(v)));
    let row = |line: &Line<'_>, name: &str, s: &Summary| {
        vec![
            Datum::text(clean(&line.source.cell.id)),
            Datum::text(if line.step.is_empty() { "operation" } else { line.step }),
            Datum::text(name),
            time(Some(s.median)),
            time(s.low),
            time(s.high),
            Datum::number(f64::from(s.n), s.n.to_string()),
        ]
    };
    let lines = timed.iter().flat_map(|s| {
        std::iter::once("").chain(STEPS).filter_map(|step| Line::of(s, step, String::new()))
    });
    let rows = lines.flat_map(|line| {
        let points = line.points.iter().map(|(at, s)| row(&line, LADDER[*at].1, s));
        points.chain(line.greatest.iter().map(|s| row(&line, LONGEST, s))).collect::<Vec<_>>()
    });
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.take(MOST_ROWS).collect() }
}

#[cfg(test)]
mod tests {
    use super::chart;
    use crate::drawing::cells::Index;
    use crate::drawing::model::{Chart, Layer, Mark};
    use iolab_model::result::Document;
    use iolab_test::scenes::{blocks, latencies, steps};

    fn of(run: &Document) -> Chart {
        chart(&Index::new(std::slice::from_ref(run))).unwrap()
    }

    #[test]
    fn a_percentile_is_drawn_only_where_a_round_has_the_operations_for_it() {
        let chart = of(&latencies());
        let points = chart.panels[0].layers.iter().filter_map(|l| match l {
            Layer::Series(s) if s.joined => Some((s.key.unwrap(), s.points.len())),
            _ => None,
        });
        // preadv2 makes 512 operations a round: p50, p90 and p99.
        assert_eq!(points.collect::<Vec<_>>(), [(0, 5), (1, 5), (2, 3)]);
        let ticks: Vec<&str> = chart.panels[0].x.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(ticks, ["p50", "p90", "p99", "p99.9", "p99.99", "max"]);
        assert!(chart.title.starts_with("p99 goes from"), "{}", chart.title);
    }

    #[test]
    fn the_longest_stands_apart_and_joins_no_line() {
        for layer in &of(&latencies()).panels[0].layers {
            let Layer::Series(series) = layer else { continue };
            let hollow = series.points.iter().filter(|p| p.mark == Mark::Hollow).count();
            assert_eq!(hollow, if series.joined { 0 } else { series.points.len() });
        }
    }

    #[test]
    fn steps_of_files_have_a_line_each_and_a_panel_a_cell() {
        let chart = of(&steps());
        let keys: Vec<&str> = chart.keys.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(keys, ["open", "transfer", "sync", "close"]);
        assert_eq!(chart.panels.len(), 2);
        assert!(chart.title.starts_with("Of the steps of a file sync takes longest: median 2."));
        // p90 is not recorded of steps, so it has no place on the axis.
        let ticks: Vec<&str> = chart.panels[0].x.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(ticks, ["p50", "p99", "max"]);
    }

    #[test]
    fn without_single_times_there_is_no_chart() {
        assert!(chart(&Index::new(&[blocks()])).is_none());
    }

    /// pread with blocks of 4 KiB was once said to have shorter tails than mmap, of which an
    /// operation touches 1 MiB.
    #[test]
    fn operations_of_unlike_sizes_are_named_by_them_and_not_compared() {
        let mut run = latencies();
        for sample in &mut run.cells[2].samples {
            sample.measurement.bytes *= 256;
        }
        let chart = of(&run);
        let keys: Vec<&str> = chart.keys.iter().map(|k| k.name.as_str()).collect();
        assert_eq!(keys, ["read (4 KiB each)", "pread (4 KiB each)", "preadv2 (1 MiB each)"]);
        assert_eq!(
            chart.title,
            "Single operations move from 4 KiB to 1 MiB: their times do not compare"
        );
    }

    #[test]
    fn the_clock_is_that_of_the_runs_that_are_drawn() {
        let (mut first, mut other) = (blocks(), latencies());
        first.experiment.protocol.clock_cost_ns = 7.0;
        let mut third = latencies();
        let notes = |runs: &[Document]| chart(&Index::new(runs)).unwrap().notes.join(" ");
        other.experiment.protocol.clock_cost_ns = 30.0;
        assert!(notes(&[first, other.clone()]).contains("clock, 30.0 ns;"));
        third.experiment.protocol.clock_cost_ns = 50.0;
        assert!(notes(&[other, third]).contains("clock, 30.0–50.0 ns;"));
    }
}
