//! Ranks of an MPI job by round: who keeps the others waiting, and when.

use super::block::subtitle;
use crate::drawing::cells::{Index, Source};
use crate::drawing::labels::{clean, levels_phrase};
use crate::drawing::model::{
    Chart, Datum, Heat, HeatCell, HeatState, Layer, MOST_PANELS, Panel, Table,
};
use crate::drawing::scale::Axis;
use crate::machines::{BY_CHANCE, Machines, at_least};
use iolab_model::catalog::{Factor, Levels, ratio_text, so_many};
use iolab_model::result::{Document, Sample};
use iolab_stats::median;

/// Most rows and columns; ranks and rounds beyond it lie together.
const MOST: usize = 24;
/// Fewer rounds show no pattern.
const FEWEST: usize = 3;
/// Full colour at twice, or half, of the round's median.
const LIMIT: f64 = 1.0;

const COLUMNS: [&str; 6] = ["cell", "rank", "machine", "time over the median", "last in", "trials"];

/// The chart, where several ranks were timed.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let mut cells: Vec<Ranked<'_>> = {
        let varies = |factor: &Factor| index.levels(*factor).len() > 1;
        let varying: Vec<Factor> = Factor::ALL.into_iter().filter(varies).collect();
        let ranked = |source| Ranked::of(source, &varying);
        index.cells.iter().filter_map(ranked).collect()
    };
    // Among more ranks more is to be seen.
    cells.sort_by_key(|cell| std::cmp::Reverse(cell.ranks));
    let machines = Machines::of(document);
    let most = cells.first()?.ranks;
    let largest = cells.iter().filter(|cell| cell.ranks == most);
    let told = largest.max_by(|a, b| a.worst().total_cmp(&b.worst()))?;
    let shown: Vec<&Ranked<'_>> = cells.iter().take(MOST_PANELS).collect();
    let mut notes = Vec::new();
    if cells.len() > shown.len() {
        notes.push(format!(
            "{} of {} cells are drawn; the table has all",
            shown.len(),
            cells.len()
        ));
    }
    if cells.iter().any(|cell| cell.ranks > MOST || cell.rounds.len() > MOST) {
        notes.push("Ranks and rounds that follow each other lie together: of ranks the latest is drawn, of rounds the median".to_owned());
    }
    Some(Chart {
        slug: "ranks-by-round".to_owned(),
        rows: Vec::new(),
        title: title(told, cells.len(), &machines),
        subtitle: subtitle(index, &[Factor::Ranks]),
        panels: shown.iter().map(|cell| cell.panel(document)).collect(),
        keys: Vec::new(),
        notes,
        guide: vec![
            "Each rank's time from the barrier, over the median of all ranks in that round"
                .to_owned(),
        ],
        table: Table {
            columns: COLUMNS.map(str::to_owned).to_vec(),
            rows: cells.iter().flat_map(|cell| cell.rows(&machines)).collect(),
        },
    })
}

/// A cell with the times of its ranks.
struct Ranked<'a> {
    id: &'a str,
    levels: &'a Levels,
    /// What differs between the cells of the run.
    varying: Vec<Factor>,
    ranks: usize,
    /// A row a round: each rank's time over the median of the round.
    rounds: Vec<(u32, Vec<f64>)>,
}

impl<'a> Ranked<'a> {
    fn of(source: &Source<'a>, varying: &[Factor]) -> Option<Ranked<'a>> {
        let steady = source.cell.samples.iter().filter(|sample| sample.is_steady());
        let rounds: Vec<(u32, Vec<f64>)> = steady.filter_map(relative).collect();
        let ranks = rounds.iter().map(|(_, times)| times.len()).min()?;
        let (id, levels) = (source.cell.id.as_str(), &source.cell.factors);
        let varying = varying.to_vec();
        let enough = ranks > 1 && rounds.len() >= FEWEST;
        enough.then_some(Ranked { id, levels, varying, ranks, rounds })
    }

    /// In how many rounds a rank was the last.
    fn last(&self, rank: usize) -> usize {
        let is_last = |times: &Vec<f64>| times.iter().all(|time| *time <= times[rank]);
        self.rounds.iter().filter(|(_, times)| is_last(times)).count()
    }

    /// The share of rounds in which one rank was the last.
    fn worst(&self) -> f64 {
        let most = (0..self.ranks).map(|rank| self.last(rank)).max().unwrap_or(0);
        most as f64 / self.rounds.len().max(1) as f64
    }

    fn panel(&self, document: &Document) -> Panel {
        let (rows, columns) = (parts(self.ranks), parts(self.rounds.len()));
        let mut cells = Vec::with_capacity(rows.len() * columns.len());
        for (row, ranks) in rows.iter().enumerate() {
            for (column, rounds) in columns.iter().enumerate() {
                let of_round = |(_, times): &(u32, Vec<f64>)| {
                    times[ranks.clone()].iter().copied().fold(0.0, f64::max)
                };
                let all: Vec<f64> = self.rounds[rounds.clone()].iter().map(of_round).collect();
                let ratio = median(&all).unwrap_or(1.0);
                let tip = format!(
                    "rank {}\nround {}\n{} the median of the ranks",
                    span(ranks.start, ranks.end - 1),
                    span(self.rounds[rounds.start].0, self.rounds[rounds.end - 1].0),
                    ratio_text(ratio)
                );
                let (value, text) = (ratio.log2(), ratio_text(ratio));
                cells.push(HeatCell { column, row, value, text, state: HeatState::Seen, tip });
            }
        }
        let rank = |part: &std::ops::Range<usize>| span(part.start, part.end - 1);
        let round = |part: &std::ops::Range<usize>| self.rounds[part.start].0.to_string();
        let several = document.cells.len() > 1;
        Panel {
            title: if several { clean(&levels_of(self)) } else { String::new() },
            x: Axis::category("round", columns.iter().map(round).collect()),
            y: Axis::category("rank", rows.iter().map(rank).collect()),
            layers: vec![Layer::Heat(Heat {
                low_name: "sooner".to_owned(),
                high_name: "later".to_owned(),
                limit: LIMIT,
                cells,
            })],
        }
    }

    fn rows(&self, machines: &Machines) -> Vec<Vec<Datum>> {
        let row = |rank: usize| {
            let times: Vec<f64> = self.rounds.iter().map(|(_, times)| times[rank]).collect();
            let middle = median(&times).unwrap_or(1.0);
            let (last, trials) = (self.last(rank), self.rounds.len());
            vec![
                Datum::text(clean(self.id)),
                Datum::number(rank as f64, rank.to_string()),
                Datum::text(machines.of_rank(rank).map_or("–".to_owned(), clean)),
                Datum::number(middle, ratio_text(middle)),
                Datum::number(last as f64, last.to_string()),
                Datum::number(trials as f64, trials.to_string()),
            ]
        };
        (0..self.ranks).map(row).collect()
    }
}

fn levels_of(cell: &Ranked<'_>) -> String {
    let told = [Factor::Method, Factor::Operation, Factor::Block, Factor::Ranks, Factor::Share];
    let varies = |factor: &Factor| cell.varying.contains(factor);
    let mut levels = Levels::new();
    for (factor, level) in
        cell.levels.iter().filter(|(factor, _)| told.contains(factor) && varies(factor))
    {
        levels.set(factor, level.clone());
    }
    levels_phrase(&levels)
}

/// A round, and each rank's time over the median of all ranks.
fn relative(sample: &Sample) -> Option<(u32, Vec<f64>)> {
    let times: Vec<f64> = sample.measurement.ranks_ns.iter().map(|ns| *ns as f64).collect();
    let middle = median(&times).filter(|middle| *middle > 0.0)?;
    Some((sample.round, times.into_iter().map(|time| time / middle).collect()))
}

/// So many things in at most [`MOST`] parts of neighbours.
fn parts(count: usize) -> Vec<std::ops::Range<usize>> {
    let parts = count.min(MOST);
    (0..parts).map(|part| count * part / parts..count * (part + 1) / parts).collect()
}

fn span<T: PartialEq + std::fmt::Display>(first: T, last: T) -> String {
    if first == last { first.to_string() } else { format!("{first}–{last}") }
}

/// Who is late, where it is the same one far too often.
fn title(cell: &Ranked<'_>, cells: usize, machines: &Machines) -> String {
    let rounds = cell.rounds.len();
    let slowest = (0..cell.ranks).max_by_key(|rank| cell.last(*rank)).unwrap_or(0);
    let last = cell.last(slowest);
    // Of all ranks of all cells one is the last more often than the others whatever they do.
    let by_luck = at_least(rounds, last, 1.0 / cell.ranks as f64) * (cell.ranks * cells) as f64;
    if 2 * last <= rounds || by_luck >= BY_CHANCE {
        return "No rank is the last more often than chance has it".to_owned();
    }
    let on = machines.of_rank(slowest).filter(|_| machines.names().count() > 1);
    let on = on.map_or(String::new(), |name| format!(" on {}", clean(name)));
    let which = if cells > 1 { format!(" ({})", clean(&levels_of(cell))) } else { String::new() };
    format!("Rank {slowest}{on} is the last in {last} of {}{which}", so_many(rounds, "round"))
}

#[cfg(test)]
mod tests {
    use super::{MOST, parts};
    use crate::chart::charts_for;
    use crate::drawing::model::Layer;
    use iolab_model::catalog::{Fact, Factor, Level};
    use iolab_test::documents;

    /// One rank in thirty was late in every round, and hidden among those that are drawn with it.
    #[test]
    fn a_late_rank_is_seen_among_many() {
        let mut doc = documents::winner();
        doc.environment.put(Fact::RunMachines, "a*15,b*15");
        let cell = &mut doc.cells[0];
        cell.factors.set(Factor::Ranks, Level::Number(30));
        for sample in &mut cell.samples {
            let time = |rank: u64| if rank == 17 { 3_000 } else { 1_000 + rank };
            sample.measurement.ranks_ns = (0..30).map(time).collect();
        }
        let charts = charts_for(std::slice::from_ref(&doc));
        let chart = charts.iter().find(|chart| chart.slug == "ranks-by-round").unwrap();
        assert!(chart.title.starts_with("Rank 17 on b is the last in "), "{}", chart.title);
        let Layer::Heat(heat) = &chart.panels[0].layers[0] else { panic!("no heat map") };
        let late: Vec<usize> = heat.cells.iter().filter(|c| c.value > 1.0).map(|c| c.row).collect();
        assert!(!late.is_empty() && late.iter().all(|row| *row == late[0]), "{late:?}");
        let row = &chart.table.rows[17];
        assert_eq!((row[2].text.as_str(), row[1].text.as_str()), ("b", "17"));
        assert!(row[3].value.unwrap() > 2.9);
        assert_eq!((parts(30).len(), parts(3).len()), (MOST, 3));
        // Nothing is drawn of a run on one machine.
        let charts = charts_for(&[documents::winner()]);
        assert!(charts.iter().all(|chart| chart.slug != "ranks-by-round"));
    }
}
