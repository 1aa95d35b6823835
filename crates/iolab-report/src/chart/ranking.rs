//! Who is ahead: every cell's time as a ratio to the best with its interval, the tie set
//! bracketed, ranks as what is proven allows ("1–3").

use super::block::subtitle;
use crate::drawing::cells::{Index, Source};
use crate::drawing::labels::{clean, levels_phrase, short};
use crate::drawing::model::{Chart, Datum, Direction, Layer, Mark, Panel, Point, Series, Table};
use crate::drawing::scale::Axis;
use crate::drawing::standing::{Conditions, Standing, unit_time};
use crate::view_model::divided;
use iolab_model::catalog::{Factor, list_text, percent_text, ratio_interval_text, ratio_text};
use iolab_model::result::{Answer, AnswerKind, CellRecord, CellStanding, Document};

/// Most rows of a panel; what is further behind stands in the table.
const MOST_ROWS: usize = 24;
/// Most answers that are drawn; with more, another chart says it better.
const MOST_ANSWERS: usize = 6;

struct Row<'a> {
    cell: &'a CellRecord,
    name: String,
    ranks: (usize, usize),
    ratio: f64,
    low: Option<f64>,
    high: Option<f64>,
    best: bool,
}

/// The chart, where an answer compares at least two cells.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let answers: Vec<&Answer> =
        document.answers.iter().filter(|a| !a.comparisons.is_empty()).collect();
    if answers.is_empty() || answers.len() > MOST_ANSWERS {
        return None;
    }
    let conditions = Conditions::of(document);
    let ranked: Vec<(&Answer, Vec<Row<'_>>)> = answers
        .iter()
        .filter_map(|answer| Some((*answer, rows(index, &conditions, document, answer)?)))
        .filter(|(_, rows)| rows.len() > 1)
        .collect();
    if ranked.is_empty() {
        return None;
    }
    let several = ranked.len() > 1;
    let delta = document.experiment.protocol.delta;
    // What all answers share is in the subtitle.
    let first = &ranked[0].0.condition;
    let varies = |f: Factor| ranked.iter().any(|(a, _)| a.condition.get(f) != first.get(f));
    let panels = ranked.iter().map(|(answer, rows)| {
        let title = levels_phrase(&answer.condition.only(varies));
        panel(title, answer.kind, rows, delta)
    });
    let mut guide = vec![format!(
        "In parentheses: the ranks a cell can have, as far as it is proven. Shaded: differences under {} do not matter",
        percent_text(delta)
    )];
    let mut notes = Vec::new();
    let hidden: usize = ranked.iter().map(|(_, rows)| rows.len().saturating_sub(MOST_ROWS)).sum();
    if hidden > 0 {
        notes.push(format!("{hidden} slower cells are in the table only"));
    }
    if ranked.iter().any(|(_, rows)| rows.iter().take(MOST_ROWS).filter(|r| r.best).count() > 1) {
        guide.push("Bracket: no cell is proven faster than these; a tie where they are proven equal, else open".to_owned());
    }
    if ranked.iter().any(|(_, rows)| rows.iter().take(MOST_ROWS).any(|r| !r.best)) {
        guide.push("Hollow: not among the best".to_owned());
    }
    Some(Chart {
        slug: "ranking".to_owned(),
        rows: Vec::new(),
        title: title(document, &ranked),
        subtitle: format!(
            "{} · time of a cell over time of the best, paired within rounds",
            subtitle(index, &[])
        ),
        panels: panels.collect(),
        keys: Vec::new(),
        notes,
        guide,
        table: table(&ranked, several),
    })
}

/// Cells of an answer, the fastest first.
fn rows<'a>(
    index: &Index<'a>,
    conditions: &Conditions<'a>,
    document: &'a Document,
    answer: &'a Answer,
) -> Option<Vec<Row<'a>>> {
    let inside = conditions.cells(answer);
    let standing = Standing::of(document, &inside, answer)?;
    let cells: Vec<&'a CellRecord> =
        inside.iter().copied().filter(|c| unit_time(c).is_some()).collect();
    let source = |cell: &'a CellRecord| Source { run: 0, document, cell };
    let sources: Vec<Source<'a>> = cells.iter().map(|c| source(c)).collect();
    let varying = index.varying(&sources, &[]);
    let ranks = Ranks::of(answer);
    let mut rows: Vec<Row<'_>> = cells
        .into_iter()
        .filter_map(|cell| {
            let leads = cell.id == standing.leader.id;
            let good = |v: f64| v.is_finite() && v > 0.0;
            let (ratio, low, high) = match standing.others.get(cell.id.as_str()) {
                Some(a) if good(a.ratio) => {
                    (a.ratio, a.low.filter(|v| good(*v)), a.high.filter(|v| good(*v)))
                }
                _ if leads => (1.0, None, None),
                _ => return None,
            };
            let name = short(&index.name(&source(cell), &varying));
            Some(Row {
                cell,
                name,
                ranks: ranks.of_cell(answer, &cell.id),
                ratio,
                low,
                high,
                best: standing.best(&cell.id),
            })
        })
        .collect();
    // As the table has them, and the sentence that names the next: first what the answer says to take,
    // which need not be among those that may be the best while nothing of these is bounded.
    let order = |row: &Row<'_>| {
        let leads = row.cell.id == standing.leader.id;
        (!leads, !row.best, answer.takes_at_least(&row.cell.id), row.ratio)
    };
    rows.sort_by(|a, b| order(a).partial_cmp(&order(b)).unwrap_or(std::cmp::Ordering::Equal));
    Some(rows)
}

/// The ranks that cells can have, as far as their bounds against the best show it.
struct Ranks {
    /// At least so many times as long as the best, of every compared cell, ascending.
    lows: Vec<f64>,
    /// And at most.
    highs: Vec<f64>,
}

impl Ranks {
    fn of(answer: &Answer) -> Ranks {
        let bounds = answer.regret.iter();
        let mut lows: Vec<f64> = bounds.clone().map(|regret| regret.low).collect();
        let mut highs: Vec<f64> =
            bounds.map(|regret| regret.high.unwrap_or(f64::INFINITY)).collect();
        lows.sort_by(f64::total_cmp);
        highs.sort_by(f64::total_cmp);
        Ranks { lows, highs }
    }

    /// The highest and the lowest that one cell can have.
    fn of_cell(&self, answer: &Answer, id: &str) -> (usize, usize) {
        let all = self.lows.len();
        let (low, high) = answer
            .regret_of(id)
            .map_or((1.0, f64::INFINITY), |r| (r.low, r.high.unwrap_or(f64::INFINITY)));
        let ahead = self.highs.partition_point(|other| *other < low);
        let behind = all - self.lows.partition_point(|other| *other <= high);
        match answer.standing_of(id) {
            CellStanding::Best => (1, 1),
            CellStanding::Slower => (ahead.max(1) + 1, (all - behind).max(ahead.max(1) + 1)),
            _ => (1, (all - behind).max(1)),
        }
    }
}

fn rank_text(ranks: (usize, usize)) -> String {
    match ranks {
        (a, b) if a >= b => a.to_string(),
        (a, b) => format!("{a}–{b}"),
    }
}

fn panel(title: String, kind: AnswerKind, rows: &[Row<'_>], delta: f64) -> Panel {
    let shown = &rows[..rows.len().min(MOST_ROWS)];
    let names = shown.iter().map(|r| format!("{} ({})", r.name, rank_text(r.ranks)));
    let ends = shown.iter().flat_map(|r| [Some(r.ratio), r.low, r.high]).flatten();
    let x = Axis::ratios("time as a ratio to the best (log)", ends);
    let points = shown.iter().enumerate().map(|(at, row)| Point {
        x: row.ratio,
        y: at as f64,
        low: row.low,
        high: row.high,
        mark: if row.best { Mark::Filled } else { Mark::Hollow },
        tip: format!(
            "{}\n{} the time of the best\nrank {}",
            clean(&row.cell.id),
            ratio_interval_text(row.ratio, row.low, row.high),
            rank_text(row.ranks)
        ),
    });
    let mut layers = vec![
        Layer::Shade {
            axis: Direction::X,
            from: (1.0 / (1.0 + delta)).max(x.low),
            to: (1.0 + delta).min(x.high),
            label: String::new(),
        },
        Layer::Rule { axis: Direction::X, at: 1.0, label: String::new() },
        Layer::Series(Series::marks(points.collect())),
    ];
    let best = shown.iter().filter(|r| r.best).count();
    if let Some(from) = shown.iter().position(|r| r.best).filter(|_| best > 1) {
        let label = if kind == AnswerKind::Tie { "tie" } else { "open" }.to_owned();
        layers.push(Layer::Bracket { from, to: from + best - 1, label });
    }
    Panel { title, x, y: Axis::category("", names.collect()), layers }
}

/// Who is shown to be the best, as the answers have it.
fn title(document: &Document, ranked: &[(&Answer, Vec<Row<'_>>)]) -> String {
    match ranked {
        [(_, rows)] if rows.iter().all(|r| !r.best) => "No ranking: no cell is ahead".to_owned(),
        [(answer, rows)] => {
            let of = divided(document).into_iter().find(|(known, _)| *known == Some(*answer));
            let left_out = of.is_some_and(|(_, cells)| cells.len() > answer.regret.len());
            title_of_one(answer, rows, if left_out { " of those compared" } else { "" })
        }
        many => {
            let won = many.iter().filter(|(a, _)| a.kind == AnswerKind::Winner).count();
            match (won, many.len()) {
                (0, all) => format!("No winner is proven in any of {all} conditions"),
                (won, all) if won == all => format!("Each of {all} conditions has one winner"),
                (1, all) => format!("1 of {all} conditions has a proven winner"),
                (won, all) => format!("{won} of {all} conditions have a proven winner"),
            }
        }
    }
}

fn title_of_one(answer: &Answer, rows: &[Row<'_>], of: &str) -> String {
    let best: Vec<&str> = rows.iter().filter(|r| r.best).map(|r| r.name.as_str()).collect();
    let names = match best.len() {
        0..=3 => list_text(&best),
        n => format!("{} and {} more", best[..2].join(", "), n - 2),
    };
    let form = answer.slower_form();
    let bound = |row: &Row<'_>| form.text(row.low.unwrap_or(1.0), row.high);
    match answer.kind {
        AnswerKind::Winner => {
            // The first of the others, as the rows stand.
            match rows.iter().find(|row| !row.best) {
                Some(next) if next.low.is_some_and(|low| low > 1.0) => {
                    format!("{names} is the fastest{of}, the next, {}: {}", next.name, bound(next))
                }
                Some(next) => format!(
                    "{names} is the fastest{of}, by how much over {} is not settled",
                    next.name
                ),
                None => format!("{names} is the fastest of those compared"),
            }
        }
        AnswerKind::Tie => format!("No difference shown among {names}"),
        AnswerKind::Undecided => {
            let taken = rows
                .iter()
                .find(|row| answer.pick.as_ref().is_some_and(|pick| *pick.cell == *row.cell.id));
            match taken {
                Some(row) => {
                    format!("Which of {names} is best is open; {}: {}", row.name, bound(row))
                }
                None => format!("Which of {names} is best is open"),
            }
        }
        AnswerKind::Invalid => "No ranking: the measurement is not sound".to_owned(),
    }
}

fn table(ranked: &[(&Answer, Vec<Row<'_>>)], several: bool) -> Table {
    let mut columns = vec!["cell", "rank", "time to the best", "low", "high", "tie set"];
    if several {
        columns.insert(0, "condition");
    }
    let ratio = |v: Option<f64>| v.map_or(Datum::default(), |v| Datum::number(v, ratio_text(v)));
    let rows = ranked.iter().flat_map(|(answer, rows)| {
        rows.iter().map(move |row| {
            let mut fields = vec![
                Datum::text(clean(&row.cell.id)),
                Datum { text: rank_text(row.ranks), value: Some(row.ranks.0 as f64) },
                ratio(Some(row.ratio)),
                ratio(row.low),
                ratio(row.high),
                Datum::text(if row.best { "yes" } else { "no" }),
            ];
            if several {
                fields.insert(0, Datum::text(levels_phrase(&answer.condition)));
            }
            fields
        })
    });
    Table {
        columns: columns.into_iter().map(str::to_owned).collect(),
        rows: rows.take(2000).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Ranks, chart, rank_text};
    use crate::drawing::cells::Index;
    use iolab_model::catalog::{Factor, Level};
    use iolab_model::result::{AnswerKind, Document, Regret, Verdict};
    use iolab_test::fakes::{document, fake, levels};

    /// Rivals that were screened out have a ratio without an interval; "each of 2 conditions has
    /// one winner" once counted them as beaten.
    #[test]
    fn a_winner_over_cells_that_were_screened_out_is_not_proven() {
        let cells = ["warm", "cold"].into_iter().flat_map(|cache| {
            [("read", 1e8), ("mmap", 3e8)].map(|(method, wall)| {
                let cache = (Factor::Cache, Level::word(cache));
                fake(levels(&[(Factor::Method, Level::word(method)), cache]), wall, 1 << 28)
            })
        });
        let mut run = document(3, "read", &[Factor::Method], 24, cells.collect());
        let title = |run: &Document| {
            let run = run.completed().into_owned();
            chart(&Index::new(std::slice::from_ref(&run))).unwrap().title
        };
        assert_eq!(title(&run), "Each of 2 conditions has one winner");
        for pair in &mut run.answers[0].comparisons {
            (pair.low, pair.high) = (None, None);
        }
        assert!(
            title(&run).starts_with("read is the fastest, the next, mmap: "),
            "{}",
            title(&run)
        );
        // Nothing is said of the rival: there is no ranking of one.
        run.answers.truncate(1);
        assert!(chart(&Index::new(&[run.completed().into_owned()])).is_none());
    }

    /// A cell that is shown to be the only one that may be the best stood there with "(1–16)", for its
    /// rank came from pairs, which have intervals of their own.
    #[test]
    fn ranks_are_those_that_the_bounds_against_the_best_leave() {
        let cells = [("read", 1e8), ("pread", 1.0e8), ("mmap", 3e8), ("splice", 5e8)];
        let cells = cells.map(|(method, wall)| {
            fake(levels(&[(Factor::Method, Level::word(method))]), wall, 1 << 28)
        });
        let mut run = document(3, "read", &[Factor::Method], 24, cells.to_vec());
        let answer = &mut run.answers[0];
        let regret = |cell: &str, low, high, excluded| Regret {
            cell: cell.into(),
            low,
            high: Some(high),
            excluded,
        };
        answer.kind = AnswerKind::Winner;
        answer.best = vec!["read".to_owned()];
        answer.regret = vec![
            regret("read", 1.0, 1.5, false),
            regret("pread", 1.0, 1.2, true),
            regret("mmap", 2.9, 3.1, true),
            regret("splice", 4.9, 5.1, true),
        ];
        answer.comparisons.iter_mut().for_each(|pair| pair.verdict = Verdict::Undecided);
        let ranks = Ranks::of(&run.answers[0]);
        let of = |id: &str| rank_text(ranks.of_cell(&run.answers[0], id));
        assert_eq!(["read", "pread", "mmap", "splice"].map(of), ["1", "2", "3", "4"]);
        run.answers[0].best.push("pread".to_owned());
        run.answers[0].kind = AnswerKind::Undecided;
        run.answers[0].regret[1].excluded = false;
        let of = |id: &str| rank_text(ranks.of_cell(&run.answers[0], id));
        assert_eq!(["read", "pread", "mmap"].map(of), ["1–2", "1–2", "3"]);
    }
}
