//! The rows of one answer, best first, and what the rest of them come to in one line.

use std::collections::BTreeSet;

use super::super::verdict_word::Mark;
use super::super::view_model::missing;
use super::figure::Figure;
use super::pick_reason::{SEEN, pick_reason};
use super::{MOST_PRICES, MOST_ROWS};
use iolab_model::catalog::{ColumnUnit, Factor, Level, Levels, SlowerForm, bytes_text, phrase};
use iolab_model::result::{Answer, CellRecord, CellStatus, Document};

/// One answer's cells; without an answer those that belong to none.
#[derive(Debug)]
pub(crate) struct Part {
    /// The condition, where there are several answers.
    pub(crate) heading: Option<String>,
    /// Titles of the figures.
    pub(crate) titles: Vec<String>,
    rows: Vec<Row>,
    columns: Vec<(Figure, ColumnUnit)>,
    /// How the column against the best is said.
    form: SlowerForm,
    /// Rows that are shown at most.
    most_rows: usize,
    /// Cells without figures, in one line.
    pub(crate) missing: Option<String>,
    /// Whether those were skipped, all of them: a plan may have told of it before.
    pub(crate) only_skipped: bool,
    /// Why what is named first is not what has the least median.
    pub(crate) pick_reason: Option<String>,
    /// Whether a row stands below one that has a greater median: they stand by their bounds.
    pub(crate) by_bound: bool,
    /// Whether times of a pass are worked out from parts of one.
    pub(crate) extrapolated: bool,
}

/// One cell, its figures as numbers.
#[derive(Debug)]
struct Row {
    name: String,
    mark: Mark,
    against: String,
    figures: Vec<Option<f64>>,
    /// Whether its time of a pass is worked out from parts of one, beside others that are not.
    about: bool,
    /// How many times as long as the best: at least, at most; nothing where nothing is said.
    regret: Option<(f64, Option<f64>)>,
}

/// One line of the table.
#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) name: String,
    pub(crate) mark: Mark,
    pub(crate) figures: Vec<String>,
    pub(crate) against: String,
}

impl Part {
    pub(crate) fn of(
        doc: &Document,
        heading: Option<String>,
        answer: Option<&Answer>,
        cells: &[&CellRecord],
    ) -> Part {
        let mut timed: Vec<&CellRecord> =
            cells.iter().copied().filter(|cell| cell.estimate.is_some()).collect();
        let columns = Figure::columns(doc, &timed);
        let delta = doc.experiment.protocol.delta;
        let mark = |cell: &CellRecord| answer.map_or(Mark::None, |a| Mark::of(cell, a, delta));
        // Without a bound the first of those that may be the best is no better than another.
        let bounded = |answer: &&Answer| answer.pick.is_some() || answer.best.len() == 1;
        let leader = answer.filter(bounded).and_then(Answer::leader);
        // What moves bytes is compared by the byte, whatever a write or a block of it is.
        let speed = |cell: &CellRecord| Figure::Speed.of(cell);
        let by_byte = matches!(columns.first(), Some(Figure::Operation(_)))
            && timed.iter().all(|cell| speed(cell).is_some());
        let time = |cell: &CellRecord| match by_byte {
            true => speed(cell).map_or(f64::INFINITY, |speed| 1.0 / speed),
            false => figure(cell, &columns).unwrap_or(f64::INFINITY),
        };
        let order = |cell: &CellRecord| (Some(cell.id.as_str()) != leader, mark(cell).order());
        // The sentence names the next by its bound: so the rows stand by theirs, then by their times.
        let bound = |cell: &CellRecord| answer.map_or(1.0, |a| a.takes_at_least(&cell.id));
        timed.sort_by(|a, b| {
            let bounds = bound(a).total_cmp(&bound(b));
            order(a).cmp(&order(b)).then(bounds).then(time(a).total_cmp(&time(b)))
        });
        let shown = timed.get(1..).unwrap_or_default();
        let by_bound = shown.windows(2).any(|pair| time(pair[0]) > time(pair[1]) * (1.0 + SEEN));
        if timed.len() > MOST_ROWS + 1 {
            commands_in_view(&mut timed);
        }
        let names = names(&timed);
        let passes = columns.contains(&Figure::Pass);
        let parts: Vec<bool> = timed.iter().map(|cell| cell.is_extrapolated()).collect();
        let mixed = passes && parts.contains(&true) && parts.contains(&false);
        let row = |(cell, name): (&&CellRecord, String)| Row {
            name,
            mark: mark(cell),
            against: answer.map_or_else(String::new, |a| {
                // Room for the figures beside it.
                mark(cell).against_best(cell, a).replace("at most ", "≤ ")
            }),
            figures: columns.iter().map(|column| column.of(cell)).collect(),
            about: mixed && cell.is_extrapolated(),
            regret: answer
                .and_then(|a| a.regret_of(&cell.id))
                .filter(|_| !matches!(mark(cell), Mark::None | Mark::NotCompared | Mark::Cloned))
                .map(|regret| (regret.low, regret.high)),
        };
        let pick_reason = answer.zip(leader).and_then(|(answer, leader)| {
            let figures = timed.iter().zip(&names);
            let figures = figures.map(|(cell, name)| (*cell, name.as_str(), time(cell)));
            pick_reason(answer, leader, &figures.collect::<Vec<_>>(), delta)
        });
        // Of a list of prices each is what was asked for.
        let prices = differing(&timed) == [Factor::Operation];
        Part {
            heading,
            most_rows: if prices { MOST_PRICES } else { MOST_ROWS },
            titles: columns.iter().map(|column| column.title(&timed)).collect(),
            rows: timed.iter().zip(names).map(row).collect(),
            missing: without_figures(cells),
            only_skipped: lacking(cells).all(|cell| cell.status == CellStatus::Skipped),
            pick_reason,
            by_bound,
            extrapolated: passes && parts.contains(&true),
            columns: columns.iter().map(|c| (*c, c.unit(doc, &columns))).collect(),
            form: answer.map_or(SlowerForm::Percent, Answer::slower_form),
        }
    }

    /// Whether this column tells of a pass over the data, however many bytes it has.
    pub(super) fn is_of_a_pass(&self, column: usize) -> bool {
        self.columns.get(column).is_some_and(|(figure, _)| *figure == Figure::Pass)
    }

    /// How many rows there are.
    pub(crate) fn len(&self) -> usize {
        self.rows.len()
    }

    /// At most `most` rows and, where there are more, one line for the rest.
    pub(crate) fn lines(&self, most: usize) -> Vec<Line> {
        let most = most.min(self.most_rows);
        // A line for the rest would be no shorter than the one row that it stands for.
        let shown = if self.rows.len() <= most + 1 { self.rows.len() } else { most };
        let (first, rest) = self.rows.split_at(shown);
        let mut lines: Vec<Line> = first
            .iter()
            .map(|row| Line {
                name: row.name.clone(),
                mark: row.mark,
                figures: Vec::new(),
                against: row.against.clone(),
            })
            .collect();
        lines.extend((!rest.is_empty()).then(|| self.rest(rest)));
        for (at, (column, unit)) in self.columns.iter().enumerate() {
            let text = |value: Option<f64>| column.text(value, *unit);
            let mut texts: Vec<String> = first.iter().map(|row| text(row.figures[at])).collect();
            texts.extend((!rest.is_empty()).then(|| between(&ends(rest, at).map(text))));
            if *column == Figure::Pass {
                let about = first.iter().map(|row| row.about);
                let about = about.chain([rest.iter().any(|row| row.about)]);
                let marked = texts.iter_mut().zip(about).filter(|(_, about)| *about);
                marked.for_each(|(text, _)| *text = format!("≈ {text}"));
            }
            lines.iter_mut().zip(texts).for_each(|(line, text)| line.figures.push(text));
        }
        lines
    }

    fn rest(&self, rest: &[Row]) -> Line {
        let known: Vec<(f64, Option<f64>)> = rest.iter().filter_map(|row| row.regret).collect();
        let low = known.iter().map(|(low, _)| *low).fold(f64::INFINITY, f64::min);
        let high = known.iter().try_fold(1.0, |most: f64, (_, high)| Some(most.max((*high)?)));
        let against = match known.len() {
            0 => String::new(),
            n if n < rest.len() => "not all compared".to_owned(),
            _ => self.form.text(low, high).replace("at most ", "≤ "),
        };
        Line {
            name: format!("{} more", rest.len()),
            mark: Mark::None,
            figures: Vec::new(),
            against,
        }
    }
}

/// A command was named for its figure: it stands among the first rows, however slow, and the slowest of
/// them stand in the line for the rest.
fn commands_in_view(cells: &mut [&CellRecord]) {
    let is_command = |cell: &&CellRecord| cell.factors.get(Factor::Contender).is_some();
    let commands = cells.iter().filter(|cell| is_command(cell)).count();
    let room = MOST_ROWS.saturating_sub(commands);
    let mut others = 0;
    cells.sort_by_cached_key(|cell| {
        others += usize::from(!is_command(cell));
        !is_command(cell) && others > room
    });
}

fn figure(cell: &CellRecord, columns: &[Figure]) -> Option<f64> {
    columns.first().and_then(|column| column.of(cell))
}

/// The least and the greatest of a column.
fn ends(rows: &[Row], at: usize) -> [Option<f64>; 2] {
    let known = || rows.iter().filter_map(|row| row.figures[at]);
    [known().min_by(f64::total_cmp), known().max_by(f64::total_cmp)]
}

/// Two figures, the unit once where both have it: `13.1–25.1 ms`.
fn between([low, high]: &[String; 2]) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        _ if low == high => low.clone(),
        (Some((number, unit)), Some((_, other))) if unit == other => format!("{number}–{high}"),
        _ => format!("{low}–{high}"),
    }
}

/// Names by the levels that differ: `pread 64 KiB`, `on ext4 pread`; ids where those are not enough.
fn names(cells: &[&CellRecord]) -> Vec<String> {
    let factors = differing(cells);
    let name = |cell: &&CellRecord| match name(cell, &factors) {
        none if none.is_empty() => cell.id.clone(),
        name => name,
    };
    let names: Vec<String> = cells.iter().map(name).collect();
    let unlike: BTreeSet<&String> = names.iter().collect();
    match unlike.len() == cells.len() {
        true => names,
        false => cells.iter().map(|cell| cell.id.clone()).collect(),
    }
}

fn differing(cells: &[&CellRecord]) -> Vec<Factor> {
    Levels::differing(&cells.iter().map(|cell| &cell.factors).collect::<Vec<_>>())
}

fn name(cell: &CellRecord, factors: &[Factor]) -> String {
    let said = |(factor, level): (Factor, &Level)| match (factor, level) {
        // Beside a method it is clear what the size is of.
        (Factor::Block, Level::Number(bytes)) if factors.len() > 1 => bytes_text(*bytes),
        (Factor::File, Level::Path(path)) => {
            phrase(factor, &Level::Path(path.file_name().map_or_else(|| path.clone(), Into::into)))
        }
        _ => phrase(factor, level),
    };
    let levels = factors.iter().filter_map(|factor| Some((*factor, cell.factors.get(*factor)?)));
    let all: Vec<String> = levels.map(said).collect();
    all.join(" ")
}

/// A reason often begins with the name.
fn reason_of(id: &str, why: &str) -> String {
    if why.starts_with(id) { why.to_owned() } else { format!("{id}: {why}") }
}

/// Cells without figures, or not all of them.
fn lacking<'a>(cells: &[&'a CellRecord]) -> impl Iterator<Item = &'a CellRecord> {
    let lacks = |cell: &&CellRecord| cell.estimate.is_none() || cell.status == CellStatus::Failed;
    cells.iter().copied().filter(lacks)
}

/// `skipped: reflink: not supported; btrfs can clone`, the alike together; the first reason alone.
fn without_figures(cells: &[&CellRecord]) -> Option<String> {
    let all: Vec<(&str, &str, String)> = lacking(cells)
        .filter_map(|cell| missing(cell).map(|(word, why)| (word, cell.id.as_str(), why)))
        .collect();
    let (word, _, why) = all.first()?;
    let alike = all.iter().filter(|(w, _, reason)| w == word && reason == why);
    let names: Vec<&str> = alike.map(|(_, id, _)| *id).collect();
    let listed = match names[..] {
        [one, ..] if names.len() > 3 => format!("{one} and {} more", names.len() - 1),
        _ => names.join(", "),
    };
    Some(match all.len() {
        1 => format!("{word}: {}", reason_of(&listed, why)),
        n if n == names.len() && n <= 3 => format!("{word}: {listed}: {why}"),
        n if n <= 3 => {
            let each: Vec<String> = all.iter().map(|(_, id, why)| reason_of(id, why)).collect();
            format!("{n} cells have no figures: {}", each.join("; "))
        }
        n => format!("{n} cells have no figures: {listed}: {why}"),
    })
}
