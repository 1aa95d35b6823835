//! A comparison for the terminal, for a pull request, and for programs.

use std::io::{self, Write};

use super::forecast::advice;
use super::{Compared, Difference, Row, Weight};
use crate::TextStyle;
use crate::grid::{self, Column, Field};
use crate::markdown::table;
use crate::style::Tint;
use iolab_model::catalog::{markdown_text, percent_text, ratio_digits, ratio_text, time_text};
use iolab_model::result::Verdict;

/// Most facts that are listed; the rest is counted.
const MOST_FACTS: usize = 12;

/// What a row shows, in a word or two.
fn word(row: &Row) -> &'static str {
    match (row.verdict, row.clear) {
        (Verdict::Slower, true) => "slower",
        (Verdict::Slower, false) => "barely slower",
        (Verdict::Faster, true) => "faster",
        (Verdict::Faster, false) => "barely faster",
        (Verdict::Equivalent, _) => "same",
        (Verdict::Undecided, _) => "undecided",
    }
}

fn ink(row: &Row) -> Option<Tint> {
    match (row.verdict, row.clear) {
        (Verdict::Slower, true) => Some(Tint::Bad),
        (Verdict::Faster, true) => Some(Tint::Good),
        (Verdict::Slower | Verdict::Faster, false) | (Verdict::Undecided, _) => Some(Tint::Caution),
        (Verdict::Equivalent, _) => None,
    }
}

/// `1.02–1.09`; a bound that is not known is a question mark, and neither is nothing.
fn bounds(row: &Row) -> String {
    let bound = |b: Option<f64>| b.map_or_else(|| "?".to_owned(), ratio_digits);
    match (row.low, row.high) {
        (None, None) => String::new(),
        (low, high) => format!("{}–{}", bound(low), bound(high)),
    }
}

/// The finding: how many cells are what.
pub(super) fn headline(c: &Compared) -> String {
    let of = |verdict, clear| c.count(|r| r.verdict == verdict && r.clear == clear);
    let (slower, faster) = (of(Verdict::Slower, true), of(Verdict::Faster, true));
    let same = c.count(|r| r.verdict == Verdict::Equivalent);
    let open = c.rows.len() - slower - faster - same;
    let counts = [
        (slower, "clearly slower"),
        (faster, "clearly faster"),
        (same, "the same"),
        (open, "not decided"),
    ];
    // Of one cell no number is said: "of 1 cell 1 not decided".
    let words = counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| match c.rows.len() {
        1 => (*what).to_owned(),
        _ => format!("{n} {what}"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match c.rows.len() {
        1 => format!("{} against {}: {words}.", c.second, c.first),
        n => format!("{} against {}: of {n} cells {words}.", c.second, c.first),
    }
}

fn legend(c: &Compared) -> String {
    let (over, under) = (&c.second, &c.first);
    // The medians beside it are those of each side: over wild rounds theirs is another ratio.
    let ratio = match c.within_one_run() {
        true => "ratio: of the two times in one round, the median over all rounds".to_owned(),
        false => format!("ratio: time of {over} over time of {under}"),
    };
    format!(
        "{ratio}; above 1 it is slower. All intervals hold together with {}; differences under {} count \
         as none.",
        percent_text(1.0 - c.alpha),
        percent_text(c.delta)
    )
}

/// For the terminal.
///
/// # Errors
/// What the writer says, unchanged.
pub fn compared_table(c: &Compared, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let mut text = whole(c, look, &|_| None);
    if let Some(advice) = advice(c) {
        text += &format!("\n{}", look.paragraph(Tint::Caution, &look.text(&advice)));
    }
    out.write_all(text.as_bytes())
}

/// All of it; `most`: how many times as long each row may take at most, where that is asked.
pub(super) fn whole(c: &Compared, look: &TextStyle, most: &dyn Fn(&Row) -> Option<f64>) -> String {
    let mut columns = vec![
        Column::new("cell", false, 0),
        Column::new("before", true, 2),
        Column::new("after", true, 2),
        Column::new("ratio", true, 0),
        Column::new("lies in", true, 1),
        Column::new("verdict", false, 0),
    ];
    let asked = c.rows.iter().any(|row| most(row).is_some());
    if asked {
        columns.insert(5, Column::new("at most", true, 0));
    }
    let rows: Vec<Vec<Field>> = c
        .rows
        .iter()
        .map(|r| {
            let text = |raw: &str| Field::from(look.text(raw));
            let mut fields = vec![
                text(&r.cell),
                text(&time_text(r.first_ns)),
                text(&time_text(r.second_ns)),
                text(&ratio_text(r.ratio)),
                text(&bounds(r)),
                Field { text: word(r).to_owned(), ink: ink(r) },
            ];
            if asked {
                let most = most(r).map(|most| ratio_digits(most.max(1.0)));
                fields.insert(5, text(&most.unwrap_or_else(|| "?".to_owned())));
            }
            fields
        })
        .collect();
    let mut text = look.paragraph(Tint::Strong, &look.text(&headline(c)));
    text.push('\n');
    text += &grid::draw(look, &columns, &rows);
    text.push('\n');
    for (side, names) in [(&c.first, &c.only_first), (&c.second, &c.only_second)] {
        if !names.is_empty() {
            text += &look.wrap("", &look.text(&format!("Only in {side}: {}.", some(names))));
        }
    }
    for note in &c.notes {
        text += &look.wrap("", &look.text(note));
    }
    text += &look.wrap("", &look.text(&legend(c)));
    if asked {
        let each = "at most: by how much more time each cell may take, asked for itself alone.";
        text += &look.wrap("", each);
    }
    if !c.differences.is_empty() {
        text += "\nWhat differs between the machines:\n";
        for difference in c.differences.iter().take(MOST_FACTS) {
            let mark = mark(difference);
            text += &look.wrap("  ", &look.text(&format!("{}{mark}", difference.text())));
        }
        if let Some(more) = more(c) {
            text += &look.wrap("  ", &more);
        }
    }
    text
}

fn mark(difference: &Difference) -> &'static str {
    match difference.weight {
        Weight::Machine => " (another machine)",
        _ => "",
    }
}

fn more(c: &Compared) -> Option<String> {
    let hidden = c.differences.len().saturating_sub(MOST_FACTS);
    (hidden > 0).then(|| format!("and {hidden} more; --format json has them all"))
}

fn some(names: &[String]) -> String {
    match names.len() {
        0..=6 => names.join(", "),
        n => format!("{} and {} more", names[..5].join(", "), n - 5),
    }
}

/// For a pull request: the finding, what is clear, and the rest folded away.
///
/// # Errors
/// What the writer says, unchanged.
pub fn compared_markdown(c: &Compared, out: &mut dyn Write) -> io::Result<()> {
    let mut text = format!("**{}**\n\n", markdown_text(&headline(c)));
    let (clear, rest): (Vec<&Row>, Vec<&Row>) = c.rows.iter().partition(|r| r.clear);
    if !clear.is_empty() {
        text += &rows_markdown(&clear);
        text.push('\n');
    }
    if !rest.is_empty() {
        let folded = clear.len() + rest.len() > 8;
        if folded {
            text += &format!("<details><summary>{} more cells</summary>\n\n", rest.len());
        }
        text += &rows_markdown(&rest);
        text += if folded { "\n</details>\n\n" } else { "\n" };
    }
    for (side, names) in [(&c.first, &c.only_first), (&c.second, &c.only_second)] {
        if !names.is_empty() {
            text +=
                &format!("Only in {}: {}.\n\n", markdown_text(side), markdown_text(&some(names)));
        }
    }
    for note in &c.notes {
        text += &format!("{}\n\n", markdown_text(note));
    }
    text += &format!("{}\n", markdown_text(&legend(c)));
    if !c.differences.is_empty() {
        text += "\n| what differs | |\n| --- | --- |\n";
        for d in c.differences.iter().take(MOST_FACTS) {
            let values = d.values.join(" → ");
            text += &format!(
                "| {} | {}{} |\n",
                markdown_text(&d.fact),
                markdown_text(&values),
                mark(d)
            );
        }
        if let Some(more) = more(c) {
            text += &format!("\n{more}\n");
        }
    }
    out.write_all(text.as_bytes())
}

fn rows_markdown(rows: &[&Row]) -> String {
    let fields = |r: &&Row| {
        vec![
            r.cell.clone(),
            time_text(r.first_ns),
            time_text(r.second_ns),
            ratio_text(r.ratio),
            bounds(r),
            word(r).to_owned(),
        ]
    };
    let rows: Vec<Vec<String>> = rows.iter().map(fields).collect();
    table(&["cell", "before", "after", "ratio", "lies in", "verdict"], &rows)
}

/// For programs: the schema is `iolab.compare/1`.
///
/// # Errors
/// What the writer says, unchanged.
pub fn compared_json(c: &Compared, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, c).map_err(io::Error::from)?;
    out.write_all(b"\n")
}
