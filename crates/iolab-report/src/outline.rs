//! The report as a document: headings, paragraphs, tables and lists in the order of reading.
//! Markdown and AsciiDoc are two ways to mark up the same blocks, so neither can lack what the
//! other has. Text is raw: whoever writes it makes it safe.

use super::view_model::{Row, Section, View};
use iolab_model::result::Document;

/// One block.
#[derive(Debug, PartialEq)]
pub(super) enum Block {
    /// Of the run.
    Title(String),
    /// Of an answer.
    Heading(String),
    /// What stands out: the sentence of an answer.
    Finding(String),
    Paragraph(String),
    Table(Table),
    List(Vec<Item>),
    /// Lines that follow each other closely.
    Lines(Vec<String>),
}

/// A list's item, and the code that leads it.
#[derive(Debug, PartialEq)]
pub(super) struct Item {
    pub(super) code: Option<&'static str>,
    pub(super) text: String,
}

/// Rows have as many fields as there are titles.
#[derive(Debug, PartialEq)]
pub(super) struct Table {
    pub(super) titles: Vec<&'static str>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Whether a column's texts stand to the left: names and verdicts; figures to the right.
    pub(super) fn is_left(titles: &[&str], at: usize) -> bool {
        at == 0 || titles[at] == "against the best"
    }
}

/// The blocks of a run's report.
pub(super) fn blocks(doc: &Document) -> Vec<Block> {
    let view = View::of(&doc.finite());
    let mut all = Vec::new();
    all.extend((!view.title.is_empty()).then(|| Block::Title(view.title.clone())));
    view.sections.iter().for_each(|section| add_section(&mut all, section));
    if view.sections.is_empty() {
        all.push(Block::Paragraph("There are no cells in this run.".to_owned()));
    }
    add_list(&mut all, view.notes.iter().cloned());
    let paragraphs = view.twin.iter().chain(&view.legend).chain(&view.timed);
    all.extend(paragraphs.map(|line| Block::Paragraph(line.clone())));
    if !view.warnings.is_empty() {
        let item =
            |(code, seen): &(&'static str, String)| Item { code: Some(code), text: seen.clone() };
        all.push(Block::List(view.warnings.iter().map(item).collect()));
    }
    let lines = [view.environment, view.protocol, view.next];
    all.push(Block::Lines(lines.into_iter().filter(|line| !line.is_empty()).collect()));
    all
}

fn add_section(all: &mut Vec<Block>, section: &Section) {
    all.extend(section.heading.clone().map(Block::Heading));
    all.extend(section.sentence.clone().map(Block::Finding));
    if !section.rows.is_empty() {
        all.push(Block::Table(table(section)));
    }
    for figures in [&section.rates, &section.latency].into_iter().filter(|f| !f.rows.is_empty()) {
        let (titles, rows) = (figures.titles.clone(), figures.rows.clone());
        all.push(Block::Table(Table { titles, rows }));
    }
    add_list(all, section.why.iter().map(|why| format!("why: {why}")));
    add_list(all, section.missing.iter().map(|(word, reason)| format!("{word}: {reason}")));
    all.extend(section.confidence.clone().map(Block::Paragraph));
}

fn add_list(all: &mut Vec<Block>, items: impl Iterator<Item = String>) {
    let items: Vec<Item> = items.map(|text| Item { code: None, text }).collect();
    if !items.is_empty() {
        all.push(Block::List(items));
    }
}

/// The cells of an answer; without a column for speed where no bytes move.
fn table(section: &Section) -> Table {
    let speed = section.rows.iter().any(|row| !row.speed.is_empty());
    let mut titles = vec!["cell", section.unit, "interval"];
    titles.extend(speed.then_some("speed"));
    titles.push("against the best");
    Table { titles, rows: section.rows.iter().map(|row| fields(row, speed)).collect() }
}

fn fields(row: &Row, speed: bool) -> Vec<String> {
    let mut all = vec![row.id.clone(), row.time.clone(), row.interval.clone()];
    all.extend(speed.then(|| row.speed.clone()));
    all.push(row.against.clone());
    all
}
