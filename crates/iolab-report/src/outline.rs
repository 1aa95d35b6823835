//! The report as a document: headings, paragraphs, tables and lists in the order of reading.
//! Markdown and AsciiDoc are two ways to mark up the same blocks, so neither can lack what the
//! other has. Text is raw: whoever writes it makes it safe.

use std::io::{self, Write};

use super::TextStyle;
use super::one_screen::{Line, MOST_PRICES, Part, Screen};
use super::view_model::{Row, Section, View};
use iolab_model::catalog::Code;
use iolab_model::result::Document;

const AGAINST: &str = "against the best";
const NO_CELLS: &str = "There are no cells in this run.";

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
    pub(super) titles: Vec<String>,
    pub(super) rows: Vec<Vec<String>>,
}

impl Table {
    /// Whether a column's texts stand to the left: names and verdicts; figures to the right.
    pub(super) fn is_left<S: AsRef<str>>(titles: &[S], at: usize) -> bool {
        at == 0 || titles[at].as_ref() == AGAINST
    }
}

/// The blocks of a run's report, one screen of it or the whole.
fn blocks(doc: &Document, whole: bool) -> Vec<Block> {
    match whole {
        true => whole_blocks(&View::of(&doc.finite())),
        false => short_blocks(&Screen::of(&doc.finite())),
    }
}

/// Writes the blocks, each as its format has it.
pub(super) fn write(
    doc: &Document,
    look: &TextStyle,
    out: &mut dyn Write,
    block_text: fn(&Block) -> String,
) -> io::Result<()> {
    let text: String = blocks(doc, look.details).iter().map(block_text).collect();
    out.write_all(text.trim_end().as_bytes())?;
    out.write_all(b"\n")
}

fn short_blocks(screen: &Screen) -> Vec<Block> {
    let mut all = Vec::new();
    all.extend((!screen.asked.is_empty()).then(|| Block::Title(screen.asked.clone())));
    all.extend((!screen.held.is_empty()).then(|| Block::Paragraph(screen.held.clone())));
    for part in &screen.parts {
        all.extend(part.heading.clone().map(Block::Heading));
        all.extend((part.len() > 0).then(|| Block::Table(short_table(part))));
        add_list(&mut all, part.missing.iter().cloned());
    }
    if screen.parts.is_empty() {
        all.push(Block::Paragraph(NO_CELLS.to_owned()));
    }
    add_warnings(&mut all, &screen.careful);
    all.extend(screen.confidence.clone().map(Block::Paragraph));
    all.extend(screen.answers.iter().cloned().map(Block::Finding));
    all.extend((!screen.next.is_empty()).then(|| Block::Lines(vec![screen.next.clone()])));
    all
}

fn short_table(part: &Part) -> Table {
    let titles = part.titles.iter().cloned();
    let titles = std::iter::once("cell".to_owned()).chain(titles).chain([AGAINST.to_owned()]);
    let row = |line: Line| {
        let name = std::iter::once(line.name);
        name.chain(line.figures).chain([line.against]).collect()
    };
    let rows = part.lines(MOST_PRICES).into_iter().map(row).collect();
    Table { titles: titles.collect(), rows }
}

fn whole_blocks(view: &View) -> Vec<Block> {
    let mut all = Vec::new();
    all.extend((!view.title.is_empty()).then(|| Block::Title(view.title.clone())));
    view.sections.iter().for_each(|section| add_section(&mut all, section));
    if view.sections.is_empty() {
        all.push(Block::Paragraph(NO_CELLS.to_owned()));
    }
    add_list(&mut all, view.notes.iter().cloned());
    let paragraphs = view.twin.iter().chain(&view.legend).chain(&view.timed);
    all.extend(paragraphs.map(|line| Block::Paragraph(line.clone())));
    add_warnings(&mut all, &view.warnings);
    let lines = [&view.environment, &view.protocol];
    let lines = lines.into_iter().filter(|line| !line.is_empty());
    all.push(Block::Lines(lines.cloned().collect()));
    all.extend(view.before.iter().cloned().map(Block::Finding));
    for section in &view.sections {
        let said = |sentence: &String| match &section.heading {
            Some(heading) => format!("{heading}: {sentence}"),
            None => sentence.clone(),
        };
        all.extend(section.sentence.as_ref().map(|sentence| Block::Finding(said(sentence))));
        all.extend(section.confidence.clone().map(Block::Paragraph));
    }
    all.extend((!view.next.is_empty()).then(|| Block::Lines(vec![view.next.clone()])));
    all
}

fn add_warnings(all: &mut Vec<Block>, warnings: &[(Code, String)]) {
    let item = |(code, seen): &(Code, String)| Item { code: Some(code.id()), text: seen.clone() };
    if !warnings.is_empty() {
        all.push(Block::List(warnings.iter().map(item).collect()));
    }
}

fn add_section(all: &mut Vec<Block>, section: &Section) {
    all.extend(section.heading.clone().map(Block::Heading));
    if !section.rows.is_empty() {
        all.push(Block::Table(table(section)));
    }
    for figures in [&section.rates, &section.latency].into_iter().filter(|f| !f.rows.is_empty()) {
        let titles = figures.titles.iter().map(|title| (*title).to_owned()).collect();
        let rows = figures.rows.clone();
        all.push(Block::Table(Table { titles, rows }));
    }
    add_list(all, section.why.iter().map(|why| format!("why: {why}")));
    add_list(all, section.missing.iter().map(|(word, reason)| format!("{word}: {reason}")));
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
    titles.push(AGAINST);
    let titles = titles.into_iter().map(str::to_owned).collect();
    Table { titles, rows: section.rows.iter().map(|row| fields(row, speed)).collect() }
}

fn fields(row: &Row, speed: bool) -> Vec<String> {
    let mut all = vec![row.id.clone(), row.time.clone(), row.interval.clone()];
    all.extend(speed.then(|| row.speed.clone()));
    all.push(row.against.clone());
    all
}
