//! read against mmap over file size and block: who is faster, by how much, and where it is a tie.

use std::collections::HashMap;

use super::block::subtitle;
use crate::drawing::cells::{Index, Part, Source, Split};
use crate::drawing::labels::{clean, level_phrase, level_text};
use crate::drawing::model::{
    Chart, Datum, Heat, HeatCell, HeatState, Layer, MOST_PANELS, Panel, Table,
};
use crate::drawing::scale::Axis;
use crate::drawing::standing::Conditions;
use iolab_model::catalog::{
    Factor, Level, MethodClass, bytes_text, ratio_interval_text, ratio_text,
};
use iolab_model::result::{Answer, Apart, Document, Verdict};

/// Most columns and rows; a larger map would be unreadable.
const MOST: usize = 24;

const COLUMNS: [&str; 7] = ["file size", "block", "faster", "ratio", "low", "high", "verdict"];

/// The chart, where two methods were compared over at least two file sizes.
pub fn chart(index: &Index<'_>) -> Option<Chart> {
    let [document] = index.documents else { return None };
    let (a, b) = contest(index)?;
    let sizes = index.levels(Factor::FileSize);
    if !(2..=MOST).contains(&sizes.len()) {
        return None;
    }
    let answered = answered(document);
    let delta = document.experiment.protocol.delta;
    let of = |method: &str| -> Vec<Source<'_>> {
        let has = |s: &&Source<'_>| s.cell.factors.text(Factor::Method) == Some(method);
        index.cells.iter().filter(has).copied().collect()
    };
    let (left, right) = (of(&a), of(&b));
    let columns = columns(index, &left)?;
    let rest: Vec<Split> = index
        .varying(&index.cells, &[Factor::Method, Factor::FileSize, Factor::Block])
        .into_iter()
        .take(2)
        .collect();
    let mut panels: Vec<(Vec<Part>, String, Vec<HeatCell>)> = Vec::new();
    let mut table = Vec::new();
    for cell in left {
        let (Some(row), Some(column)) = (
            sizes.iter().position(|l| Some(*l) == cell.cell.factors.get(Factor::FileSize)),
            columns.iter().position(|c| *c == cell.cell.factors.get(Factor::Block)),
        ) else {
            continue;
        };
        let rival = right.iter().find(|r| same_job(&cell, r));
        let met = rival.and_then(|r| {
            between(answered.get(cell.cell.id.as_str())?, &cell.cell.id, &r.cell.id, delta)
        });
        let drawn = heat_cell(&cell, met, (column, row), (&a, &b));
        table.push(row_of(&cell, met, &drawn));
        let key: Vec<Part> = rest.iter().map(|split| index.part(*split, &cell)).collect();
        match panels.iter_mut().find(|(known, _, _)| *known == key) {
            Some((_, _, cells)) => cells.push(drawn),
            None => {
                let words: Vec<String> =
                    rest.iter().map(|split| index.split_text(*split, &cell, true)).collect();
                panels.push((key, words.join(" · "), vec![drawn]));
            }
        }
    }
    let all: Vec<&HeatCell> = panels.iter().flat_map(|(_, _, cells)| cells).collect();
    if all.iter().all(|c| c.state == HeatState::Missing) {
        return None;
    }
    let title = title(&all, &sizes, (&a, &b));
    let limit = full_colour(&all);
    let x_names = columns.iter().map(|c| level_text(Factor::Block, *c)).collect();
    let y_names = sizes.iter().map(|l| level_text(Factor::FileSize, Some(l))).collect();
    let (x, y) = (Axis::category("bytes per call", x_names), Axis::category("file size", y_names));
    let draw = |(_, title, cells)| Panel {
        title,
        x: x.clone(),
        y: y.clone(),
        layers: vec![heat((&a, &b), limit, cells)],
    };
    Some(Chart {
        slug: "method-by-size".to_owned(),
        rows: Vec::new(),
        title,
        subtitle: subtitle(index, &[Factor::Method, Factor::FileSize, Factor::Block]),
        panels: panels.into_iter().take(MOST_PANELS).map(draw).collect(),
        keys: Vec::new(),
        notes: Vec::new(),
        guide: vec![format!("Figures: how many times as long the slower of {a} and {b} takes")],
        table: Table { columns: COLUMNS.map(str::to_owned).to_vec(), rows: table },
    })
}

/// The answer that each cell is compared in.
fn answered(document: &Document) -> HashMap<&str, &Answer> {
    let conditions = Conditions::of(document);
    let cells =
        |answer| conditions.cells(answer).into_iter().map(move |cell| (cell.id.as_str(), answer));
    document.answers.iter().flat_map(cells).collect()
}

/// Full colour at 2× or 4×: beyond that it no longer matters how much, and small ratios show.
fn full_colour(cells: &[&HeatCell]) -> f64 {
    let seen = cells.iter().filter(|c| c.state != HeatState::Missing).map(|c| c.value.abs());
    seen.fold(1.0, f64::max).ceil().min(2.0)
}

fn heat((a, b): (&str, &str), limit: f64, cells: Vec<HeatCell>) -> Layer {
    let (low_name, high_name) = (format!("{a} faster"), format!("{b} faster"));
    Layer::Heat(Heat { low_name, high_name, limit, cells })
}

/// The two methods: one that maps and one that reads, else the only two there are.
fn contest(index: &Index<'_>) -> Option<(String, String)> {
    let words: Vec<String> = index
        .levels(Factor::Method)
        .into_iter()
        .filter_map(|l| match l {
            Level::Word(word) if MethodClass::of(word) != MethodClass::Nothing => Some(clean(word)),
            _ => None,
        })
        .collect();
    let maps = |w: &&String| MethodClass::of(w) == MethodClass::Maps;
    match (words.iter().find(|w| !maps(w)), words.iter().find(maps)) {
        (Some(read), Some(mmap)) => Some((read.clone(), mmap.clone())),
        _ => match words.as_slice() {
            [a, b] => Some((a.clone(), b.clone())),
            _ => None,
        },
    }
}

/// Block levels of the reading side; one empty column where it has none.
fn columns<'a>(index: &Index<'a>, left: &[Source<'a>]) -> Option<Vec<Option<&'a Level>>> {
    let has =
        |level: &&Level| left.iter().any(|s| s.cell.factors.get(Factor::Block) == Some(level));
    let found: Vec<Option<&Level>> =
        index.levels(Factor::Block).into_iter().filter(has).map(Some).collect();
    // With a single block a heat map is a column: a line says it better.
    (2..=MOST).contains(&found.len()).then_some(found)
}

/// Every level but the method equal, where both have it: mmap has no block.
fn same_job(a: &Source<'_>, b: &Source<'_>) -> bool {
    Factor::ALL.into_iter().filter(|f| *f != Factor::Method).all(|factor| {
        match (a.cell.factors.get(factor), b.cell.factors.get(factor)) {
            (Some(a), Some(b)) => a == b,
            (_, None) => factor == Factor::Block || a.cell.factors.get(factor).is_none(),
            (None, Some(_)) => false,
        }
    })
}

/// Time of a over time of b with its interval and the verdict on a.
type Met = (f64, Option<f64>, Option<f64>, Verdict);

/// As far as the answer shows it; the ratio is that of the rounds, within what is shown.
fn between(answer: &Answer, a: &str, b: &str, delta: f64) -> Option<Met> {
    let Apart { low, high, verdict } = answer.apart(a, b, delta)?;
    let bounded = |ratio: f64| ratio.max(low.unwrap_or(0.0)).min(high.unwrap_or(f64::INFINITY));
    let ratio = bounded(answer.ratio_of(a, b)?);
    (ratio.is_finite() && ratio > 0.0).then_some((ratio, low, high, verdict))
}

fn heat_cell(
    source: &Source<'_>,
    met: Option<Met>,
    (column, row): (usize, usize),
    (a, b): (&str, &str),
) -> HeatCell {
    let id = clean(&source.cell.id);
    let Some((ratio, low, high, verdict)) = met else {
        let why = source.cell.reason.as_deref().map_or_else(|| "not compared".to_owned(), clean);
        let (value, text) = (0.0, String::new());
        return HeatCell {
            column,
            row,
            value,
            text,
            state: HeatState::Missing,
            tip: format!("{id}\n{why}"),
        };
    };
    let state = match verdict {
        Verdict::Equivalent => HeatState::Tie,
        Verdict::Undecided => HeatState::Undecided,
        _ => HeatState::Proven,
    };
    let over = |v: Option<f64>| v.filter(|v| *v > 0.0).map(|v| 1.0 / v);
    let slower = verdict == Verdict::Slower || verdict != Verdict::Faster && ratio >= 1.0;
    let (winner, by) = match slower {
        true => (b, ratio_interval_text(ratio, low, high)),
        false => (a, ratio_interval_text(1.0 / ratio, over(high), over(low))),
    };
    let said = match state {
        HeatState::Proven => format!("{winner} is faster: {by}"),
        HeatState::Tie => format!("equivalent: {by}"),
        _ => format!("undecided: {by}"),
    };
    HeatCell {
        column,
        row,
        // Over 1: a takes longer, so b is faster: the orange side.
        value: ratio.log2(),
        text: ratio_text(ratio.max(1.0 / ratio)),
        state,
        tip: format!("{id}\n{said}"),
    }
}

fn row_of(source: &Source<'_>, met: Option<Met>, cell: &HeatCell) -> Vec<Datum> {
    let field = |factor| {
        let level = source.cell.factors.get(factor);
        let value = source.cell.factors.number(factor).map(|n| n as f64);
        Datum { text: level.map_or("–".to_owned(), |l| level_text(factor, Some(l))), value }
    };
    let ratio = |v: Option<f64>| v.map_or(Datum::default(), |v| Datum::number(v, ratio_text(v)));
    let said = cell.tip.split('\n').nth(1).unwrap_or_default();
    vec![
        field(Factor::FileSize),
        field(Factor::Block),
        Datum::text(said.split(" is faster").next().filter(|w| *w != said).unwrap_or("–")),
        ratio(met.map(|m| m.0)),
        ratio(met.and_then(|m| m.1)),
        ratio(met.and_then(|m| m.2)),
        Datum::text(match cell.state {
            HeatState::Proven => "proven",
            HeatState::Tie => "equivalent",
            HeatState::Undecided => "undecided",
            HeatState::Missing | HeatState::Seen => said,
        }),
    ]
}

/// Who wins where, read off the proven cells.
fn title(cells: &[&HeatCell], sizes: &[&Level], (a, b): (&str, &str)) -> String {
    let proven = |side: f64| {
        let rows =
            cells.iter().filter(move |c| c.state == HeatState::Proven && c.value * side > 0.0);
        rows.map(|c| c.row).collect::<Vec<usize>>()
    };
    let (wins_a, wins_b) = (proven(-1.0), proven(1.0));
    let seen = cells.iter().filter(|c| c.state != HeatState::Missing).count();
    let beats = |one: &str, other: &str, at: usize| {
        format!("{one} beats {other} at {at} of {seen} sizes and blocks, {other} at none")
    };
    let size = |row: usize| match sizes.get(row) {
        Some(Level::Number(n)) => bytes_text(*n),
        Some(level) => level_phrase(Factor::FileSize, Some(level)),
        None => String::new(),
    };
    // Rows where one side wins at every block that was decided.
    let last_a = wins_a.iter().filter(|r| !wins_b.contains(r)).max();
    let first_b = wins_b.iter().filter(|r| !wins_a.contains(r)).min();
    let decided = |rows: &dyn Fn(usize) -> bool| {
        let open = |c: &&&HeatCell| c.state == HeatState::Undecided && rows(c.row);
        if cells.iter().any(|c| open(&c)) { "Where it is decided, " } else { "" }
    };
    match (wins_a.is_empty(), wins_b.is_empty(), last_a, first_b) {
        (true, true, _, _) => format!("No difference shown between {a} and {b}"),
        (false, true, _, _) => beats(a, b, wins_a.len()),
        (true, false, _, _) => beats(b, a, wins_b.len()),
        (_, _, Some(last), Some(first)) if last < first => {
            let who = decided(&|row| row <= *last || row >= *first);
            let (last, first) = (size(*last), size(*first));
            format!("{who}{a} wins up to {last}, {b} from {first}, whatever the block")
        }
        (_, _, Some(last), None) => {
            let who = decided(&|row| row <= *last);
            format!("{who}{a} wins up to {}; above it depends on the block", size(*last))
        }
        (_, _, None, Some(first)) => {
            let who = decided(&|row| row >= *first);
            format!("{who}{b} wins from {}; below it depends on the block", size(*first))
        }
        _ => format!("Whether {a} or {b} is faster depends on file size and block"),
    }
}
