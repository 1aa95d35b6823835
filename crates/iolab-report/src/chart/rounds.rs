//! Every sample by round, each against its own cell's median: drift, outliers, the first run.

use crate::drawing::cells::Index;
use crate::drawing::labels::clean;
use crate::drawing::model::{
    Chart, Datum, Direction, Key, Layer, Mark, Panel, Point, Series, Table, Tint,
};
use crate::drawing::scale::{Axis, span};
use iolab_model::catalog::{Code, ratio_text, time_text};
use iolab_model::result::{Document, Phase, Sample};

/// Most samples that are drawn; an even choice over the cells where there are more. The figures
/// and the exports always have all of them.
const MOST_POINTS: usize = 700;
/// The slowest round over the fastest beyond which the title tells the two.
const UNSTEADY: f64 = 1.25;
/// Most outliers that are drawn besides.
const MOST_OUTLIERS: usize = 120;

/// The chart, where at least three rounds were measured.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let rounds = steady_rounds(document);
    if rounds.len() < 3 {
        return None;
    }
    let total: usize = document.cells.iter().map(|c| c.samples.len()).sum();
    let stride = total.div_ceil(MOST_POINTS).max(1);
    let mut seen = 0;
    let (mut plain, mut early, mut outliers) = (Vec::new(), Vec::new(), Vec::new());
    for cell in &document.cells {
        let Some(median) = median(cell.samples.iter().filter(|s| s.phase == Phase::Steady)) else {
            continue;
        };
        for sample in &cell.samples {
            seen += 1;
            let Some(time) = sample.unit_ns() else { continue };
            let outlier = sample.measurement.flags.contains(&Code::Outlier);
            if !outlier && seen % stride != 0 {
                continue;
            }
            let (ratio, x) = (time / median, f64::from(sample.round));
            let mark = match (outlier, sample.phase) {
                (true, _) => Mark::Hollow,
                (_, Phase::Steady) => Mark::Faint,
                _ => Mark::Hollow,
            };
            let wall = time_text(sample.measurement.wall_ns as f64);
            let tip = format!(
                "{}\nround {}, {wall}\n{} its median",
                clean(&cell.id),
                sample.round,
                ratio_text(ratio)
            );
            let point = Point { x, y: ratio, low: None, high: None, mark, tip };
            match (outlier, sample.phase) {
                (true, _) if outliers.len() < MOST_OUTLIERS => outliers.push(point),
                (true, _) => {}
                (_, Phase::Steady) => plain.push(point),
                _ => early.push(point),
            }
        }
    }
    let flagged = document.cells.iter().flat_map(|c| &c.samples);
    let flagged = flagged.filter(|s| s.measurement.flags.contains(&Code::Outlier)).count();
    let machine = machine(document, &rounds);
    let notes = match stride {
        1 => Vec::new(),
        n => vec![format!("One of {n} samples is drawn; figures and exports have all {total}")],
    };
    Some(Chart {
        slug: "samples-by-round".to_owned(),
        rows: Vec::new(),
        title: title(document, &machine, flagged),
        subtitle: format!(
            "Each trial over the median of its own cell · {} cells, {total} trials · the line is the median over all cells",
            document.cells.iter().filter(|c| !c.samples.is_empty()).count()
        ),
        panels: vec![panel(plain, early, outliers, &machine, &rounds)],
        keys: keys(flagged > 0),
        notes,
        guide: Vec::new(),
        table: table(document, &machine),
    })
}

fn keys(with_outliers: bool) -> Vec<Key> {
    let mut keys = vec![
        Key { name: "trial".to_owned(), ink: Tint::Series(0) },
        Key { name: "first and warm-up".to_owned(), ink: Tint::Muted },
        Key { name: "all cells".to_owned(), ink: Tint::Plain },
    ];
    if with_outliers {
        keys.push(Key { name: "outlier".to_owned(), ink: Tint::Series(1) });
    }
    keys
}

fn steady_rounds(document: &Document) -> Vec<u32> {
    let all = document.cells.iter().flat_map(|c| &c.samples).filter(|s| s.phase == Phase::Steady);
    let mut rounds: Vec<u32> = all.map(|s| s.round).collect();
    rounds.sort_unstable();
    rounds.dedup();
    rounds
}

fn median<'a>(samples: impl Iterator<Item = &'a Sample>) -> Option<f64> {
    middle(samples.filter_map(Sample::unit_ns).collect())
}

fn middle(mut values: Vec<f64>) -> Option<f64> {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().filter(|m| *m > 0.0)
}

/// The machine's own series: the median over cells of each round.
fn machine(document: &Document, rounds: &[u32]) -> Vec<(u32, f64)> {
    let mut by_round: Vec<Vec<f64>> = vec![Vec::new(); rounds.len()];
    for cell in &document.cells {
        let steady = || cell.samples.iter().filter(|s| s.phase == Phase::Steady);
        let Some(own) = median(steady()) else { continue };
        for sample in steady() {
            if let (Some(t), Ok(at)) = (sample.unit_ns(), rounds.binary_search(&sample.round)) {
                by_round[at].push(t / own);
            }
        }
    }
    let line = rounds.iter().zip(by_round);
    line.filter_map(|(round, values)| Some((*round, middle(values)?))).collect()
}

fn panel(
    plain: Vec<Point>,
    early: Vec<Point>,
    outliers: Vec<Point>,
    machine: &[(u32, f64)],
    rounds: &[u32],
) -> Panel {
    let all = || plain.iter().chain(&early).chain(&outliers);
    let y = Axis::ratios("time over the cell's median (log)", all().map(|p| p.y));
    let last = rounds.last().copied().unwrap_or(1);
    let x = Axis::whole("round", [0.0, f64::from(last)]);
    let mut layers = Vec::new();
    if let Some(first) = rounds.first().filter(|r| **r > 0) {
        layers.push(Layer::Shade {
            axis: Direction::X,
            from: x.low,
            to: f64::from(*first) - 0.5,
            label: "warm-up".to_owned(),
        });
    }
    layers.push(Layer::Rule { axis: Direction::Y, at: 1.0, label: String::new() });
    let line = machine.iter().map(|(round, ratio)| Point {
        x: f64::from(*round),
        y: *ratio,
        low: None,
        high: None,
        mark: Mark::Faint,
        tip: format!("round {round}\nall cells: {} their medians", ratio_text(*ratio)),
    });
    for (key, joined, points) in
        [(0, false, plain), (1, false, early), (2, true, line.collect()), (3, false, outliers)]
    {
        layers.push(Layer::Series(Series {
            key: Some(key),
            ink: Tint::Plain,
            joined,
            band: false,
            interval: Direction::Y,
            across: false,
            points,
        }));
    }
    Panel { title: String::new(), x, y, layers }
}

fn title(document: &Document, machine: &[(u32, f64)], outliers: usize) -> String {
    let all = document.answers.iter().flat_map(|a| &a.warnings).chain(&document.warnings);
    let mut codes = all.map(|w| w.code);
    let drift = codes.find(|c| {
        matches!(
            c,
            Code::MachineDrift
                | Code::MachineShifted
                | Code::ContrastDrift
                | Code::NonStationary
                | Code::CarryOver
        )
    });
    let rounds = machine.iter().map(|(_, ratio)| *ratio);
    let usual = |(low, high): (f64, f64)| {
        format!("rounds took {} to {} the usual", ratio_text(low), ratio_text(high))
    };
    let words = match drift {
        // What it came back from is no shift from the first rounds to the last.
        Some(Code::MachineDrift | Code::MachineShifted) => match span(rounds) {
            Some(span) => format!("The machine changed speed during the run: {}", usual(span)),
            None => "The machine changed speed during the run".to_owned(),
        },
        Some(code) => format!("{}: {}", code.id(), code.summary()),
        // Up and down without a direction is no drift, and yet nothing steady.
        None => match span(rounds).filter(|(low, high)| *high > UNSTEADY * low) {
            Some(span) => format!("No drift was found, yet {}", usual(span)),
            None => "No drift was found".to_owned(),
        },
    };
    let steady: usize = document.experiment.protocol.steady_rounds as usize;
    match outliers {
        0 => format!("{words}; {steady} rounds, no outlier"),
        1 => format!("{words}; {steady} rounds, one outlier"),
        n => format!("{words}; {steady} rounds, {n} outliers"),
    }
}

fn table(document: &Document, machine: &[(u32, f64)]) -> Table {
    let rows = machine.iter().map(|(round, ratio)| {
        let of = |s: &&Sample| s.round == *round;
        let samples = || document.cells.iter().flat_map(|c| &c.samples).filter(of);
        let outliers = samples().filter(|s| s.measurement.flags.contains(&Code::Outlier)).count();
        let count = samples().count();
        vec![
            Datum::number(f64::from(*round), round.to_string()),
            Datum::number(*ratio, ratio_text(*ratio)),
            Datum::number(count as f64, count.to_string()),
            Datum::number(outliers as f64, outliers.to_string()),
        ]
    });
    let columns = ["round", "all cells over their medians", "trials", "outliers"];
    Table { columns: columns.map(str::to_owned).to_vec(), rows: rows.collect() }
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use iolab_model::result::Phase;
    use iolab_test::scenes;

    /// "No drift was found" once stood over rounds that took from 0.4 to 1.8 times the usual.
    #[test]
    fn rounds_that_go_up_and_down_are_not_called_steady() {
        let title = |unsteady: bool| {
            let mut run = scenes::ranking();
            for sample in run.cells.iter_mut().flat_map(|c| &mut c.samples) {
                if unsteady && sample.phase == Phase::Steady && sample.round % 3 == 0 {
                    sample.measurement.wall_ns = sample.measurement.wall_ns * 18 / 10;
                }
            }
            let charts = charts_for(&[run]);
            charts.into_iter().find(|c| c.slug == "samples-by-round").unwrap().title
        };
        assert!(title(false).starts_with("No drift was found; "), "{}", title(false));
        let told = title(true);
        assert!(
            told.starts_with("No drift was found, yet rounds took ") && told.contains("1.8"),
            "{told}"
        );
    }
}
