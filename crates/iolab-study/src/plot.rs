//! A plot of a study: published as a picture, drawn here from our figures.

use super::evidence::Evidence;
use super::here::Here;
use super::quantity::Quantity;
use super::select::{Selection, short_text};
use super::shown::{lacking, steady};
use super::table::{heading, quoted};
use iolab_model::catalog::{Factor, Kind, Level, markdown_text};
use iolab_model::result::{CellRecord, Document};

/// A published plot.
#[derive(Clone, Debug)]
pub struct Plot {
    /// Its name within the study, for files.
    pub id: String,
    /// Its title.
    pub title: String,
    /// The experiments that may fill it: the first that was run does.
    pub experiments: Vec<String>,
    /// What all of it is about.
    pub of: Selection,
    /// The axis from left to right.
    pub along: Factor,
    /// What each line is a level of (a method or a command, say); empty where each line is a
    /// quantity.
    pub lines: Vec<Factor>,
    /// What is drawn.
    pub quantities: Vec<Quantity>,
    /// Where it stands in the study.
    pub place: String,
    /// How often each point was measured, as the study says.
    pub repetitions: Option<String>,
    /// What a reader should know.
    pub note: Option<String>,
    /// Drawn here and not in the study.
    pub ours: bool,
    /// Points alone, without lines between them.
    pub scatter: bool,
}

/// One line of a plot.
pub(super) struct Line {
    pub name: String,
    /// Level of the axis, as text and as a number, with the figure.
    pub points: Vec<(String, f64, Here)>,
    /// Of a scatter: level and figure of every steady trial.
    pub trials: Vec<(f64, f64)>,
}

impl Plot {
    pub(super) fn run<'a>(&self, evidence: &Evidence<'a>) -> Option<&'a Document> {
        evidence.run(&self.experiments).ok()
    }

    /// The lines as measured here; none where the experiment was not run.
    pub(super) fn lines(&self, evidence: &Evidence<'_>) -> Vec<Line> {
        let Some(run) = self.run(evidence) else { return Vec::new() };
        let several = self.quantities.len() > 1;
        let mut lines = Vec::new();
        for level in self.levels(run) {
            let of = match &level {
                Some((factor, level)) => self.of.at(*factor, level.clone()),
                None => self.of.clone(),
            };
            let named = level.map(|(factor, level)| short_text(factor, &level));
            for quantity in &self.quantities {
                let name = match (&named, several) {
                    (Some(level), true) => format!("{level}, {}", quantity.title()),
                    (Some(level), false) => level.clone(),
                    (None, _) => quantity.title().to_owned(),
                };
                let points = self.points(run, &of, *quantity);
                let trials =
                    if self.scatter { self.trials(run, &of, *quantity) } else { Vec::new() };
                lines.push(Line { name, points, trials });
            }
        }
        lines.retain(|line| !line.points.is_empty());
        lines
    }

    fn levels(&self, run: &Document) -> Vec<Option<(Factor, Level)>> {
        if self.lines.is_empty() {
            return vec![None];
        }
        let cells = self.of.cells(run);
        let of = |factor: &Factor| levels_of_cells(&cells, *factor);
        self.lines.iter().flat_map(|f| of(f).into_iter().map(|level| Some((*f, level)))).collect()
    }

    /// Every steady trial, where the axis has numbers.
    fn trials(&self, run: &Document, of: &Selection, quantity: Quantity) -> Vec<(f64, f64)> {
        let one = |cell: &CellRecord| -> Vec<(f64, f64)> {
            let Some(level) = cell.factors.number(self.along) else { return Vec::new() };
            let figures = steady(cell).filter_map(|sample| quantity.of_trial(sample));
            figures.map(|figure| (level as f64, figure)).collect()
        };
        of.cells(run).into_iter().flat_map(one).collect()
    }

    fn points(
        &self,
        run: &Document,
        of: &Selection,
        quantity: Quantity,
    ) -> Vec<(String, f64, Here)> {
        let wall =
            |cell: &CellRecord| cell.estimate.as_ref().map_or(f64::INFINITY, |e| e.wall_ns.median);
        let mut cells: Vec<&CellRecord> =
            of.cells(run).into_iter().filter(|cell| lacking(cell).is_none()).collect();
        // Of several cells at one place (read with any buffer) the fastest is the point.
        let along = |cell: &CellRecord| cell.factors.get(self.along).cloned();
        cells.sort_by(|x, y| along(x).cmp(&along(y)).then(wall(x).total_cmp(&wall(y))));
        cells.dedup_by_key(|cell| along(cell));
        // A word (a file system) is no place on a line: one after the other, evenly apart.
        let words = levels_of_cells(&self.of.cells(run), self.along);
        let place = |level: &Level| match level {
            Level::Number(number) => Some(*number as f64),
            word => words.iter().position(|w| w == word).map(|at| f64::powi(2.0, at as i32)),
        };
        let point = |cell: &CellRecord| {
            let level = along(cell)?;
            let here = Here::of(cell, quantity, None, None)?;
            Some((short_text(self.along, &level), place(&level)?, here))
        };
        cells.into_iter().filter_map(point).collect()
    }
}

/// Every level that cells have of a factor, from the smallest on.
fn levels_of_cells(cells: &[&CellRecord], factor: Factor) -> Vec<Level> {
    let mut levels: Vec<Level> =
        cells.iter().filter_map(|cell| cell.factors.get(factor).cloned()).collect();
    levels.sort();
    levels.dedup();
    levels
}

/// The plot as a table of what was measured here, with a link to its drawing. What the study has in
/// figures too stands in a table of its own.
pub(super) fn markdown(plot: &Plot, study: &str, evidence: &Evidence<'_>) -> String {
    // What the study does not draw it has not measured so and so often either.
    let repetitions = plot.repetitions.as_deref().filter(|_| !plot.ours);
    let mut text = heading(&plot.title, Some(&plot.place), repetitions);
    let lines = plot.lines(evidence);
    let published = match plot.ours {
        true => "Not drawn in the study",
        false => "Published as a picture",
    };
    if lines.is_empty() {
        let why = evidence.run(&plot.experiments).err();
        let why = why.map_or(String::new(), |why| format!(": {}", markdown_text(&why)));
        text.push_str(&format!("{published}; not measured here{why}.\n"));
        return text;
    }
    let unit = plot.quantities.first().map_or("", |quantity| quantity.unit());
    text.push_str(&format!(
        "{published}. Measured here, in {unit}:\n\n![{}]({study}-{}.svg)\n\n",
        markdown_text(&plot.title),
        plot.id
    ));
    let names: Vec<String> = lines.iter().map(|line| markdown_text(&line.name)).collect();
    text.push_str(&format!("| {} | {} |\n", plot.along, names.join(" | ")));
    text.push_str(&format!("| :-- |{}\n", " --: |".repeat(lines.len())));
    for level in levels_of(&lines) {
        let at = |line: &Line| {
            let found = line.points.iter().find(|(name, ..)| *name == level.0);
            found.map_or("–".to_owned(), |(_, _, here)| here.text())
        };
        let row: Vec<String> = lines.iter().map(at).collect();
        text.push_str(&format!("| {} | {} |\n", level.0, row.join(" | ")));
    }
    let all: Vec<Here> = lines.iter().flat_map(|l| l.points.iter().map(|(.., h)| *h)).collect();
    text.push_str(&super::here::marks(&all, None));
    if let Some(note) = &plot.note {
        text.push_str(&format!("\n{}\n", note.trim()));
    }
    text
}

/// Every level of the axis that a line has, from the smallest on.
pub(super) fn levels_of(lines: &[Line]) -> Vec<(String, f64)> {
    let mut levels: Vec<(String, f64)> =
        lines.iter().flat_map(|line| line.points.iter().map(|(n, x, _)| (n.clone(), *x))).collect();
    levels.sort_by(|x, y| x.1.total_cmp(&y.1));
    levels.dedup_by(|x, y| x.0 == y.0);
    levels
}

/// The plot as CSV, tidy.
pub fn plot_csv(plot: &Plot, evidence: &Evidence<'_>) -> String {
    let mut text = format!("{},line,here,carried_over\n", plot.along);
    for line in plot.lines(evidence) {
        for (name, level, here) in &line.points {
            let level = match plot.along.kind() {
                Kind::Bytes | Kind::Count => level.to_string(),
                _ => quoted(name),
            };
            text.push_str(&format!(
                "{level},{},{},{}\n",
                quoted(&line.name),
                here.value,
                here.part || here.scaled
            ));
        }
    }
    text
}
