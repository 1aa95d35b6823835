//! The report on the screen: the answer first, then its cells, then what to keep in mind.

use std::io::{self, Write};

use super::Format;
use super::grid::{self, Column, Field};
use super::latency::Latency;
use super::style::{TextStyle, Tint};
use super::view_model::{Mark, Row, Section, View};
use iolab_model::catalog::{Code, Severity};
use iolab_model::result::Document;

pub(super) const FORMAT: Format =
    Format { id: "table", summary: "the report for the terminal", binary: false, write };

const BAR: usize = 16;

fn write(doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let view = View::of(&doc.finite());
    // The answer first; what was asked only where there is none.
    let answered = view.sections.iter().any(|s| s.sentence.is_some());
    let mut blocks = Vec::new();
    if !answered && !view.title.is_empty() {
        blocks.push(look.paragraph(Tint::Strong, &look.text(&view.title)));
    }
    blocks.extend(view.sections.iter().map(|s| section_text(look, s)));
    if view.sections.is_empty() {
        blocks.push(look.wrap("", "There are no cells in this run."));
    }
    blocks.push(view.notes.iter().map(|l| look.wrap("", &look.text(l))).collect());
    blocks.push(
        view.twin
            .iter()
            .chain(&view.legend)
            .chain(&view.timed)
            .map(|l| look.wrap("", &look.text(l)))
            .collect(),
    );
    blocks.push(warnings(look, &view.warnings));
    let asked = if answered { view.title.as_str() } else { "" };
    let tail = [asked, &view.environment, &view.protocol, &view.next];
    let tail = tail.iter().filter(|line| !line.is_empty());
    blocks.push(tail.map(|line| look.wrap("", &look.text(line))).collect());
    blocks.retain(|block| !block.is_empty());
    out.write_all(blocks.join("\n").as_bytes())
}

fn section_text(look: &TextStyle, section: &Section) -> String {
    let mut text = String::new();
    if let Some(heading) = &section.heading {
        text += &look.wrap("", &look.text(heading));
    }
    if let Some(sentence) = &section.sentence {
        text += &look.paragraph(Tint::Strong, &look.text(sentence));
    }
    if !section.rows.is_empty() {
        if section.sentence.is_some() {
            text.push('\n');
        }
        text += &rows(look, section);
    }
    text += &latency(look, &section.rates);
    text += &latency(look, &section.latency);
    for why in &section.why {
        text += &look.wrap("why  ", &look.text(why));
    }
    for (word, reason) in &section.missing {
        text += &look.wrap(&format!("{word}  "), &look.text(reason));
    }
    if let Some(confidence) = &section.confidence {
        text.push('\n');
        text += &look.wrap("", &look.text(confidence));
    }
    text
}

fn rows(look: &TextStyle, section: &Section) -> String {
    let column = |title, right, rank| Column { title, right, rank };
    let columns = [
        column("cell", false, 0),
        column(section.unit, true, 0),
        column("interval", true, 4),
        column("speed", true, 3),
        column("against the best", false, 0),
        // A bar says again what the time says.
        column("", false, 5),
    ];
    let rows: Vec<Vec<Field>> = section.rows.iter().map(|r| fields(look, r)).collect();
    grid::draw(look, &columns, &rows)
}

/// Figures beside the time, such as percentiles of single operations; nothing where there are none.
fn latency(look: &TextStyle, latency: &Latency) -> String {
    if latency.rows.is_empty() {
        return String::new();
    }
    // Intervals give way first, then the percentiles from the middle outwards.
    let rank = |at: usize| match (at, latency.titles[at]) {
        (0, _) | (_, "step" | "p50" | "p99" | "files/s" | "scaling") => 0,
        (_, "95 %") => 3,
        (_, "max of a round") => 1,
        _ => 2,
    };
    let columns: Vec<Column> = (0..latency.titles.len())
        .map(|at| Column {
            title: latency.titles[at],
            right: at > 0 && latency.titles[at] != "step",
            rank: rank(at),
        })
        .collect();
    let field = |text: &String| Field::from(look.text(text));
    let rows: Vec<Vec<Field>> =
        latency.rows.iter().map(|row| row.iter().map(field).collect()).collect();
    format!("\n{}", grid::draw(look, &columns, &rows))
}

fn fields(look: &TextStyle, row: &Row) -> Vec<Field> {
    let ink = match row.mark {
        Mark::Best | Mark::Tied => Some(Tint::Good),
        Mark::ClearlySlower => Some(Tint::Bad),
        Mark::Slower | Mark::Open => Some(Tint::Caution),
        Mark::NotCompared | Mark::Cloned | Mark::None => None,
    };
    let plain = |text: &str| Field::from(look.text(text));
    vec![
        Field { text: look.text(&row.id), ink: ink.filter(|i| *i == Tint::Good) },
        plain(&row.time),
        plain(&row.interval),
        plain(&row.speed),
        Field { text: look.text(&row.against), ink },
        Field {
            text: look.bar(row.share, if look.columns() < 100 { BAR / 2 } else { BAR }),
            ink: Some(Tint::Faint),
        },
    ]
}

fn warnings(look: &TextStyle, warnings: &[(&'static str, String)]) -> String {
    let mut text = String::new();
    let mut known = "";
    for (code, seen) in warnings {
        let grave = code.parse::<Code>().is_ok_and(|c| c.severity() >= Severity::Caution);
        let head = format!("{code}  ");
        let wrapped = look.wrap(&head, &look.text(seen));
        let ink = if grave { Tint::Caution } else { Tint::Faint };
        text += &wrapped.replacen(code, &look.paint(ink, code), 1);
        known = code;
    }
    if !known.is_empty() {
        text += &look.wrap("", &format!("`iolab explain {known}` tells more."));
    }
    text
}
