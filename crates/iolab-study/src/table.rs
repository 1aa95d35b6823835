//! A table in the study's own layout: what was published and what came out here.

use super::evidence::{Evidence, lacking};
use super::quantity::{Quantity, digits};
use super::select::Selection;
use iolab_model::result::Document;

/// A published table.
#[derive(Clone, Debug)]
pub struct Table {
    /// Its name within the study, for files.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The experiment that it is about.
    pub experiment: String,
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
}

impl Table {
    fn quantity(&self, row: &Axis, column: &Axis) -> Option<Quantity> {
        row.quantity.or(column.quantity).or(self.quantity)
    }

    /// The figure that was measured here: of several cells the fastest.
    fn here(&self, run: Option<&Document>, row: &Axis, column: &Axis) -> Option<Here> {
        let quantity = self.quantity(row, column)?;
        let of = self.of.and(&row.of).and(&column.of);
        let best = of
            .cells(run?)
            .into_iter()
            .filter(|cell| lacking(cell).is_none() && cell.estimate.is_some())
            .min_by(|x, y| {
                let wall = |c: &iolab_model::result::CellRecord| {
                    c.estimate.as_ref().map_or(f64::INFINITY, |e| e.wall_ns.median)
                };
                wall(x).total_cmp(&wall(y))
            })?;
        Some(Here { value: quantity.of(best)?, carried_over: Quantity::carried_over(best) })
    }

    fn run<'a>(&self, evidence: &Evidence<'a>) -> Option<&'a Document> {
        evidence.runs.get(&self.experiment)?.as_ref().ok().copied()
    }

    /// Published figure and ours of each place, row by row.
    fn filled(&self, evidence: &Evidence<'_>) -> Vec<Vec<(Option<f64>, Option<Here>)>> {
        let run = self.run(evidence);
        let published = |at: usize, to: usize| {
            self.values.get(at).and_then(|row| row.get(to)).copied().filter(|v| v.is_finite())
        };
        let row = |(at, row): (usize, &Axis)| {
            let columns = self.columns.iter().enumerate();
            columns.map(|(to, column)| (published(at, to), self.here(run, row, column))).collect()
        };
        self.rows.iter().enumerate().map(row).collect()
    }
}

/// A figure of ours.
#[derive(Clone, Copy, Debug)]
struct Here {
    value: f64,
    /// From part of a pass.
    carried_over: bool,
}

impl Here {
    fn text(self) -> String {
        let mark = if self.carried_over { "*" } else { "" };
        format!("{}{mark}", digits(self.value))
    }
}

/// The table as Markdown: two lines for each row, published and here.
pub fn markdown(table: &Table, evidence: &Evidence<'_>) -> String {
    let mut text = format!("**{}**\n\n| {} | |", escape(&table.title), escape(&table.corner));
    for column in &table.columns {
        text.push_str(&format!(" {} |", escape(&column.label)));
    }
    text.push_str(&format!("\n| :-- | :-- |{}\n", " --: |".repeat(table.columns.len())));
    let mut starred = false;
    for (row, figures) in table.rows.iter().zip(table.filled(evidence)) {
        let line = |name: &str, label: &str, cells: Vec<String>| {
            format!("| {label} | {name} | {} |\n", cells.join(" | "))
        };
        let published = figures.iter().map(|(p, _)| p.map_or("–".into(), digits)).collect();
        let here: Vec<String> =
            figures.iter().map(|(_, h)| h.map_or("not measured".into(), Here::text)).collect();
        starred |= figures.iter().any(|(_, h)| h.is_some_and(|h| h.carried_over));
        text.push_str(&line("published", &escape(&row.label), published));
        text.push_str(&line("here", "", here));
    }
    if starred {
        text.push_str("\n\\* carried over from part of a pass: the whole would take too long.\n");
    }
    text
}

/// The table as CSV, tidy: row, column, unit, published, here.
pub fn csv(table: &Table, evidence: &Evidence<'_>) -> String {
    let quote = |text: &str| match text.contains([',', '"', '\n', '\r']) {
        true => format!("\"{}\"", text.replace('"', "\"\"")),
        false => text.to_owned(),
    };
    let mut text = "row,column,unit,published,here,carried_over\n".to_owned();
    for (row, figures) in table.rows.iter().zip(table.filled(evidence)) {
        for (column, (published, here)) in table.columns.iter().zip(figures) {
            let unit = table.quantity(row, column).map_or("", Quantity::unit);
            let number = |value: Option<f64>| value.map_or(String::new(), |v| v.to_string());
            text.push_str(&format!(
                "{},{},{unit},{},{},{}\n",
                quote(&row.label),
                quote(&column.label),
                number(published),
                number(here.map(|h| h.value)),
                here.is_some_and(|h| h.carried_over)
            ));
        }
    }
    text
}

/// Text within a table of Markdown.
pub(super) fn escape(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match c {
            '|' | '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' => {
                out.push('\\');
                out.push(c);
            }
            c if c.is_control() => out.push(' '),
            c => out.push(c),
        }
    }
    out
}
