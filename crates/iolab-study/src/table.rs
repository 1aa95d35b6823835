//! A table in the study's own layout: what was published and what came out here.

use super::evidence::Evidence;
use super::here::Here;
use super::quantity::{Quantity, digits};
use super::select::Selection;
use super::shown::lacking;
use iolab_model::catalog::markdown_text;
use iolab_model::result::{CellRecord, Document};

/// A published table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name within the study, for files.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The experiments that may fill it: the first that was run does.
    pub experiments: Vec<String>,
    /// What all of it is about.
    pub of: Selection,
    /// What stands in the corner: the name of the rows.
    pub corner: String,
    /// Its columns.
    pub columns: Vec<Axis>,
    /// Its rows.
    pub rows: Vec<Axis>,
    /// What was published, by row and column; NaN where the table has a gap.
    pub values: Vec<Vec<f64>>,
    /// What the figures are where neither row nor column says so.
    pub quantity: Option<Quantity>,
    /// Where it stands in the study.
    pub place: Option<String>,
    /// How often each figure was measured, as the study says.
    pub repetitions: Option<String>,
    /// What a reader should know.
    pub note: Option<String>,
    /// The bytes that one pass of the study moved, where that is known: times of ours are carried
    /// over to them.
    pub bytes: Option<u64>,
    /// Figures that the study itself got wrong.
    pub slips: Vec<Slip>,
}

/// A row or a column.
#[derive(Clone, Debug)]
pub struct Axis {
    /// Its title.
    pub label: String,
    /// Its cells.
    pub of: Selection,
    /// What its figures are.
    pub quantity: Option<Quantity>,
    /// Operations that a figure is for, where it is the time of so many.
    pub operations: Option<u64>,
}

/// A figure that the study itself got wrong; it stands as published.
#[derive(Clone, Debug)]
pub struct Slip {
    /// Row, from 0.
    pub row: usize,
    /// Column, from 0.
    pub column: usize,
    /// What is wrong with it.
    pub note: String,
}

impl Table {
    pub(super) fn quantity(&self, row: &Axis, column: &Axis) -> Option<Quantity> {
        row.quantity.or(column.quantity).or(self.quantity)
    }

    /// The cell that fills a place: of several the fastest.
    fn cell<'a>(
        &self,
        run: Option<&'a Document>,
        row: &Axis,
        column: &Axis,
    ) -> Option<&'a CellRecord> {
        let of = self.of.and(&row.of).and(&column.of);
        let wall =
            |c: &&CellRecord| c.estimate.as_ref().map_or(f64::INFINITY, |e| e.wall_ns.median);
        let cells = of.cells(run?).into_iter();
        let able = cells.filter(|cell| lacking(cell).is_none() && cell.estimate.is_some());
        able.min_by(|x, y| wall(x).total_cmp(&wall(y)))
    }

    fn here(&self, run: Option<&Document>, row: &Axis, column: &Axis) -> Option<Here> {
        let quantity = self.quantity(row, column)?;
        let operations = row.operations.or(column.operations);
        Here::of(self.cell(run, row, column)?, quantity, self.bytes, operations)
    }

    /// Published figure and ours of each place, row by row.
    fn filled(&self, evidence: &Evidence<'_>) -> Vec<Vec<(Option<f64>, Option<Here>)>> {
        let run = evidence.run(&self.experiments).ok();
        let published = |at: usize, to: usize| {
            self.values.get(at).and_then(|row| row.get(to)).copied().filter(|v| v.is_finite())
        };
        let row = |(at, row): (usize, &Axis)| {
            let columns = self.columns.iter().enumerate();
            columns.map(|(to, column)| (published(at, to), self.here(run, row, column))).collect()
        };
        self.rows.iter().enumerate().map(row).collect()
    }

    /// What all cells behind the table have in common, so that its title is not taken for theirs.
    fn measured(&self, evidence: &Evidence<'_>) -> Option<String> {
        let run = evidence.run(&self.experiments).ok()?;
        let places = self.rows.iter().flat_map(|r| self.columns.iter().map(move |c| (r, c)));
        let cells: Vec<&CellRecord> =
            places.filter_map(|(row, column)| self.cell(Some(run), row, column)).collect();
        super::here::in_common(&cells)
    }

    /// Its slips, numbered, by row and column.
    fn slip(&self, row: usize, column: usize) -> Option<usize> {
        self.slips.iter().position(|slip| slip.row == row && slip.column == column)
    }
}

/// The table as Markdown: two lines for each row, published and here.
pub fn markdown(table: &Table, evidence: &Evidence<'_>) -> String {
    let mut text = heading(&table.title, table.place.as_deref(), table.repetitions.as_deref());
    text.push_str(&columns(&table.corner, table.columns.iter().map(|c| c.label.as_str())));
    let mut all = Vec::new();
    let run = evidence.run(&table.experiments);
    for (at, (row, figures)) in table.rows.iter().zip(table.filled(evidence)).enumerate() {
        let line = |name: &str, label: &str, cells: Vec<String>| {
            format!("| {label} | {name} | {} |\n", cells.join(" | "))
        };
        let published = figures.iter().enumerate().map(|(to, (figure, _))| {
            let mark = table.slip(at, to).map_or(String::new(), |n| format!(" ({})", n + 1));
            figure.map_or("–".into(), |figure| format!("{}{mark}", digits(figure)))
        });
        let published: Vec<String> = published.collect();
        let here =
            figures.iter().map(|(_, h)| h.map_or("not measured".into(), Here::text)).collect();
        text.push_str(&line("published", &markdown_text(&row.label), published));
        if run.is_ok() {
            text.push_str(&line("here", "", here));
        }
        all.extend(figures.into_iter().filter_map(|(_, here)| here));
    }
    if let Err(why) = run {
        text.push_str(&format!("\nNot measured here: {}.\n", markdown_text(&why)));
    }
    for (number, slip) in table.slips.iter().enumerate() {
        text.push_str(&format!("\n({}) {}\n", number + 1, slip.note.trim()));
    }
    if let Some(measured) = table.measured(evidence) {
        text.push_str(&format!("\nMeasured here: {}.\n", markdown_text(&measured)));
    }
    text.push_str(&super::here::marks(&all, table.bytes));
    if let Some(note) = &table.note {
        text.push_str(&format!("\n{}\n", note.trim()));
    }
    text
}

/// A title with what stands beside it: where it is in the study, how often it was measured there.
pub(super) fn heading(title: &str, place: Option<&str>, repetitions: Option<&str>) -> String {
    let repetitions = repetitions.map(|text| match text {
        "not said" => "how often is not said",
        text => text,
    });
    let beside: Vec<String> =
        [place, repetitions].into_iter().flatten().map(markdown_text).collect();
    match beside.is_empty() {
        true => format!("**{}**\n\n", markdown_text(title)),
        false => format!("**{}** ({})\n\n", markdown_text(title), beside.join("; ")),
    }
}

/// The head of a table with a column for `published` and `here`.
fn columns<'a>(corner: &str, labels: impl Iterator<Item = &'a str>) -> String {
    let labels: Vec<String> = labels.map(markdown_text).collect();
    let rule = " --: |".repeat(labels.len());
    format!("| {} | | {} |\n| :-- | :-- |{rule}\n", markdown_text(corner), labels.join(" | "))
}

/// The table as CSV, tidy: row, column, unit, published, here.
pub fn csv(table: &Table, evidence: &Evidence<'_>) -> String {
    let mut text = "row,column,unit,published,here,carried_over\n".to_owned();
    for (row, figures) in table.rows.iter().zip(table.filled(evidence)) {
        for (column, (published, here)) in table.columns.iter().zip(figures) {
            let unit = table.quantity(row, column).map_or("", Quantity::unit);
            let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
            text.push_str(&format!(
                "{},{},{unit},{},{},{}\n",
                quoted(&row.label),
                quoted(&column.label),
                number(published),
                number(here.map(|h| h.value)),
                here.is_some_and(|h| h.part || h.scaled)
            ));
        }
    }
    text
}

pub(super) fn quoted(text: &str) -> String {
    match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    }
}
