//! Several runs beside each other: each cell that at least two of them have, a dot a run. Runs
//! share no rounds, so nothing is proven across them; the title counts what a comparison of
//! the first with the last shows.

use super::block::subtitle;
use crate::compare::{Terms, compare};
use crate::drawing::cells::{Index, Source, Split, run_name};
use crate::drawing::estimate::{Estimated, Value, curve_table, missing_reason, point};
use crate::drawing::labels::short;
use crate::drawing::model::{
    Chart, Direction, Key, Layer, MOST_SERIES, Panel, Point, Series, Tint,
};
use crate::drawing::scale::Axis;
use crate::drawing::spread::abreast;
use iolab_model::catalog::Levels;
use iolab_model::result::{Document, Verdict};

/// Most cells that are drawn.
const MOST_ROWS: usize = 30;

/// One cell and those runs that have it.
type Row<'a> = (&'a Levels, Vec<Source<'a>>);

/// Cells that at least two runs have, in the order of their first one.
fn common<'a>(index: &Index<'a>) -> Vec<Row<'a>> {
    let mut rows: Vec<Row<'a>> = Vec::new();
    let mut places = std::collections::HashMap::new();
    for source in &index.cells {
        let next = rows.len();
        let at = *places.entry(&source.cell.factors).or_insert(next);
        if at == next {
            rows.push((&source.cell.factors, Vec::new()));
        }
        rows[at].1.push(*source);
    }
    rows.retain(|(_, cells)| cells.iter().any(|s| s.run != cells[0].run));
    rows
}

/// What sets a row apart from the others.
fn row_name(index: &Index<'_>, cells: &[Source<'_>], factors: &[Split]) -> String {
    cells.first().map_or_else(String::new, |s| index.name(s, factors))
}

fn factors_of(index: &Index<'_>) -> Vec<Split> {
    index.varying(&index.cells, &[]).into_iter().filter(|s| *s != Split::Run).collect()
}

/// The cells that runs have in common, as figures beside each other.
#[derive(Debug)]
pub struct Beside {
    /// What the intervals show.
    pub title: String,
    /// The name of each run.
    pub runs: Vec<String>,
    /// Cells that only one run has.
    pub alone: usize,
    /// `time of a pass` or `time of a call`.
    pub unit: &'static str,
    /// Name of the cell, and its value in each run.
    pub rows: Vec<(String, Vec<Option<Value>>)>,
}

impl Beside {
    /// Of two runs or more.
    pub fn of(documents: &[Document]) -> Beside {
        let index = Index::new(documents);
        let (rows, measure) = (common(&index), Estimated::of(&index));
        let factors = factors_of(&index);
        let value = |cells: &[Source<'_>], run: usize| {
            measure.of_cell(cells.iter().find(|s| s.run == run)?.cell)
        };
        let seen: usize = rows.iter().map(|(_, cells)| cells.len()).sum();
        Beside {
            title: title(&index, &rows),
            runs: documents.iter().map(|d| format!("run {}", d.run.id)).collect(),
            alone: index.cells.len() - seen,
            unit: if measure == Estimated::Pass { "time of a pass" } else { "time of a call" },
            rows: rows
                .iter()
                .map(|(_, cells)| {
                    let values = (0..documents.len()).map(|run| value(cells, run));
                    (row_name(&index, cells, &factors), values.collect())
                })
                .collect(),
        }
    }
}

/// The chart, where runs have cells in common.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let mut rows = common(index);
    if index.documents.len() < 2 || rows.is_empty() {
        return None;
    }
    let measure = Estimated::of(index);
    let hidden = rows.len().saturating_sub(MOST_ROWS);
    let title = title(index, &rows);
    rows.truncate(MOST_ROWS);
    let factors = factors_of(index);
    let name = |cells: &[Source<'_>]| short(&row_name(index, cells, &factors));
    let names = rows.iter().map(|(_, cells)| name(cells)).collect();
    let ends = rows.iter().flat_map(|(_, cells)| cells).filter_map(|s| measure.of_cell(s.cell));
    let ends = ends.flat_map(|v| [Some(v.median), v.low, v.high]).flatten();
    let shown = index.documents.iter().enumerate().take(MOST_SERIES);
    let panel = Panel {
        title: String::new(),
        x: Axis::times(measure.axis(), ends),
        y: Axis::category("", names),
        layers: (0..index.documents.len().min(MOST_SERIES))
            .map(|run| dots(run, index.documents.len().min(MOST_SERIES), &rows, measure))
            .collect(),
    };
    let mut notes =
        vec!["Runs share no rounds: intervals beside each other are no verdict".to_owned()];
    if index.documents.len() > MOST_SERIES {
        notes.push(format!("The first {MOST_SERIES} runs are drawn, all are in the table"));
    }
    if hidden > 0 {
        notes.push(format!("{hidden} more cells are in the table only"));
    }
    Some(Chart {
        slug: "runs-side-by-side".to_owned(),
        rows: Vec::new(),
        title,
        subtitle: subtitle(index, &[]),
        panels: vec![panel],
        keys: shown.map(|(at, d)| Key { name: run_name(d), ink: Tint::nth(at) }).collect(),
        notes,
        guide: Vec::new(),
        table: curve_table(index, measure),
    })
}

fn dots(run: usize, count: usize, rows: &[Row<'_>], measure: Estimated) -> Layer {
    let place = |(row, (_, cells)): (usize, &Row<'_>)| {
        let source = cells.iter().find(|s| s.run == run)?;
        let y = abreast(row, run, count);
        Some(match measure.of_cell(source.cell) {
            Some(value) => Point { y, x: value.median, ..point(source, measure, value, 0.0) },
            None => Point::missing(f64::NAN, y, missing_reason(source)),
        })
    };
    Layer::Series(Series {
        key: Some(run),
        ink: Tint::nth(run),
        joined: false,
        band: false,
        interval: Direction::X,
        across: false,
        points: rows.iter().enumerate().filter_map(place).collect(),
    })
}

/// How many cells of the last run lie clear of the first one's interval, and on which side.
fn title(index: &Index<'_>, rows: &[Row<'_>]) -> String {
    let Some(last) = index.documents.len().checked_sub(1) else {
        return "No run".to_owned();
    };
    let terms = Terms {
        alpha: index.documents[last].experiment.protocol.alpha,
        delta: index.documents[last].experiment.protocol.delta,
        anyway: true,
    };
    let compared = compare(&index.documents[..1], &index.documents[last..], &terms);
    let count = |verdict: Verdict| match &compared {
        Ok(compared) => compared.count(|row| row.verdict == verdict && row.clear),
        Err(_) => 0,
    };
    let (faster, slower) = (count(Verdict::Faster), count(Verdict::Slower));
    let open = compared.as_ref().map_or(0, |compared| compared.rows.len()) - faster - slower;
    let [first, last] = [0, last].map(|at| index.documents[at].run.id);
    let all = faster + slower + open;
    let none = |n: usize| if n == 0 { "none".to_owned() } else { n.to_string() };
    let cells = |n: usize| match n {
        0 => "no cell".to_owned(),
        1 => "1 cell".to_owned(),
        n => format!("{n} cells"),
    };
    match (rows.len(), all) {
        (0, _) => "These runs have no cell in common".to_owned(),
        (_, 0) => format!("Run {last} beside run {first}: too few rounds for intervals"),
        _ if open == all => {
            format!("Run {last} beside run {first}: no clear difference in {}", all_text(all))
        }
        _ => format!(
            "Run {last} beside run {first}: {} faster, {} slower, {open} without a clear difference",
            cells(faster),
            none(slower)
        ),
    }
}

fn all_text(cells: usize) -> String {
    match cells {
        1 => "the one cell".to_owned(),
        2 => "both cells".to_owned(),
        n => format!("all {n} cells"),
    }
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use iolab_model::catalog::{Factor, Level};
    use iolab_model::result::Document;
    use iolab_test::fakes::{document, fake, levels, number};

    fn run(seed: u64, cache: &'static str) -> Document {
        let cells = [1, 2, 4].map(|mib: u64| {
            let at = [
                (Factor::Method, Level::word("pread")),
                (Factor::FileSize, number(mib << 20)),
                (Factor::Cache, Level::word(cache)),
            ];
            fake(levels(&at), 1e6 * mib as f64 * seed as f64, mib << 20)
        });
        document(seed, "read", &[Factor::Method], 12, cells.to_vec())
    }

    /// A warm run beside a cold one once stood under "warm cache", and one title spoke of the cells
    /// of both as if they were of one run.
    #[test]
    fn charts_of_several_runs_say_what_holds_for_all_of_them() {
        let charts = charts_for(&[run(1, "warm"), run(2, "cold")]);
        for chart in &charts {
            assert!(!chart.subtitle.contains("cache"), "{}: {}", chart.slug, chart.subtitle);
        }
        let size = charts.iter().find(|c| c.slug == "by-file-size").unwrap();
        assert_eq!(size.title, "Throughput by file size in 2 runs");
        assert!(size.subtitle.starts_with("Reading · "), "{}", size.subtitle);

        assert_eq!([1, 2, 3].map(super::all_text), ["the one cell", "both cells", "all 3 cells"]);
        let alike = charts_for(&[run(1, "warm"), run(2, "warm")]);
        assert!(alike.iter().any(|c| c.subtitle.contains("warm cache")));
    }
}
