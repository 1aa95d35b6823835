//! The report on the screen: one screen that ends on the answer, or, with `--details`, all of it.

use std::borrow::Cow;
use std::io::{self, Write};

use super::Format;
use super::grid::{self, Column, Field};
use super::latency::Latency;
use super::one_screen::{Line, MOST_PRICES, Part, Screen};
use super::style::{TextStyle, Tint};
use super::view_model::{Mark, Row, Section, View};
use iolab_model::catalog::{Code, Severity};
use iolab_model::result::Document;

pub(super) const FORMAT: Format =
    Format { id: "table", summary: "the report for the terminal", binary: false, write };

const BAR: usize = 16;

const NO_CELLS: &str = "There are no cells in this run.";

fn write(doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let text = match look.details {
        true => whole(look, &View::of(&doc.finite())),
        false => short(look, &Screen::of(&doc.finite())),
    };
    out.write_all(text.as_bytes())
}

/// The whole report: the figures, what to keep in mind, where and when, and the answer last.
fn whole(look: &TextStyle, view: &View) -> String {
    let line = |text: &String| look.wrap("", &look.text(text));
    let mut blocks = Vec::new();
    if !view.title.is_empty() {
        blocks.push(look.paragraph(Tint::Strong, &look.text(&view.title)));
    }
    blocks.extend(view.sections.iter().map(|s| section_text(look, s)));
    if view.sections.is_empty() {
        blocks.push(look.wrap("", NO_CELLS));
    }
    blocks.push(view.notes.iter().map(line).collect());
    blocks.push(view.twin.iter().chain(&view.legend).chain(&view.timed).map(line).collect());
    blocks.push(warnings(look, &view.warnings));
    let place = [&view.environment, &view.protocol];
    blocks.push(place.into_iter().filter(|line| !line.is_empty()).map(line).collect());
    blocks.push(answers(look, view));
    blocks.retain(|block| !block.is_empty());
    blocks.join("\n")
}

/// Every answer with how far to trust it, and what to do next.
fn answers(look: &TextStyle, view: &View) -> String {
    let told = view.before.iter().map(|line| look.paragraph(Tint::Strong, &look.text(line)));
    let mut text: String = told.collect();
    for section in &view.sections {
        let Some(sentence) = &section.sentence else { continue };
        let said = match &section.heading {
            Some(heading) => format!("{heading}: {sentence}"),
            None => sentence.clone(),
        };
        text += &look.paragraph(Tint::Strong, &look.text(&said));
        if let Some(confidence) = &section.confidence {
            text += &look.wrap("", &look.text(confidence));
        }
    }
    if !view.next.is_empty() {
        text += &look.wrap("", &look.text(&view.next));
    }
    text
}

/// The report of one screen: as many rows as leave room for all else.
fn short(look: &TextStyle, screen: &Screen) -> String {
    let fits = |look: &TextStyle, rows: usize, room: Room| {
        with_rows(look, screen, rows, room).lines().count() <= screen.most_lines()
    };
    let most_in =
        |room: Room| (1..=MOST_PRICES).rev().find(|rows| fits(&look.usual(), *rows, room));
    let whole = most_in(Room::WHOLE).map(|rows| (rows, Room::WHOLE));
    // Names on one line where that shows all rows: of four that were asked for two were "2 more".
    let longest = screen.parts.iter().map(Part::len).max().unwrap_or(0);
    let folded = whole.is_none_or(|(rows, _)| rows < longest);
    let named = most_in(Room::SHORT_NAMES).filter(|rows| folded && *rows >= longest);
    let named = named.map(|rows| (rows, Room::SHORT_NAMES));
    let tight = || most_in(Room::TIGHT).map(|rows| (rows, Room::TIGHT));
    let (most, room) = named.or(whole).or_else(tight).unwrap_or((1, Room::TIGHT));
    // Where the words take more lines the rows give way first, but the best of them stay.
    let rows = (FEWEST_ROWS..=most).rev().find(|rows| fits(look, *rows, room));
    with_rows(look, screen, rows.unwrap_or(FEWEST_ROWS.min(most)), room)
}

/// So many rows stand on a narrow screen too, whatever else does.
const FEWEST_ROWS: usize = 3;

/// How much of a screen its words may take.
#[derive(Clone, Copy)]
struct Room {
    /// Lines of a warning or a reason.
    each: usize,
    /// Names of one line.
    short_names: bool,
}

impl Room {
    const WHOLE: Room = Room { each: 2, short_names: false };
    const SHORT_NAMES: Room = Room { each: 2, short_names: true };
    const TIGHT: Room = Room { each: 1, short_names: true };

    /// Where names are to stand on one line, the figures beside them are two.
    fn table(self, look: &TextStyle, titles: &[String], mut rows: Vec<Vec<Field>>) -> String {
        let most = if self.short_names { titles.len().min(2) } else { titles.len() };
        for row in &mut rows {
            let more = (1 + most).min(row.len())..(1 + titles.len()).min(row.len());
            row.drain(more);
        }
        table(look, &titles[..most], &rows)
    }
}

/// Columns of such a name.
const TIGHT_NAME: usize = 30;

/// A long name without its middle: what tells it from the others stands at either end.
fn tight_name(name: &str) -> String {
    let letters: Vec<char> = name.chars().collect();
    if letters.len() <= TIGHT_NAME {
        return name.to_owned();
    }
    let (begin, end) = (TIGHT_NAME / 2, TIGHT_NAME / 2 - 1);
    letters[..begin].iter().chain(&['…']).chain(&letters[letters.len() - end..]).collect()
}

fn with_rows(look: &TextStyle, screen: &Screen, rows: usize, room: Room) -> String {
    let each = room.each;
    let mut head = look.whole(&look.text(&screen.asked), 2);
    if !screen.held.is_empty() {
        head += &look.whole(&look.text(&screen.held), 3);
    }
    let mut parts = parts_text(look, screen, rows, room);
    let mut tail: String = screen.careful.iter().map(|w| careful(look, w, each)).collect();
    if let Some(confidence) = &screen.confidence {
        tail += &look.whole(&look.text(confidence), each);
    }
    for answer in &screen.answers {
        let clipped = look.whole(&look.text(answer), 3);
        tail += &clipped.lines().map(|l| look.paint(Tint::Strong, l) + "\n").collect::<String>();
    }
    if !screen.next.is_empty() {
        tail += &look.whole(&look.text(&screen.next), 2);
    }
    if screen.parts.is_empty() {
        parts = look.wrap("", NO_CELLS);
    }
    let mut blocks = vec![head, parts, tail];
    blocks.retain(|block| !block.trim().is_empty());
    blocks.join("\n")
}

/// The best rows of each answer, the rest in one line, and what has no figures: one table where all
/// have the same columns.
fn parts_text(look: &TextStyle, screen: &Screen, rows: usize, room: Room) -> String {
    let missing = |part: &Part| {
        if look.skips_told && part.only_skipped {
            return String::new();
        }
        let text = part.missing.as_ref().map(|why| look.whole(&look.text(why), room.each));
        text.unwrap_or_default()
    };
    if let Some(titles) = screen.common_titles().filter(|_| screen.parts.len() > 1) {
        let rows: Vec<Vec<Field>> =
            screen.parts.iter().flat_map(|part| part_rows(look, part, rows, room)).collect();
        let missing: String = screen.parts.iter().map(missing).collect();
        return room.table(look, &titles, rows) + &missing;
    }
    let alone = |part: &Part| {
        let rows = part_rows(look, part, rows, room);
        let missing = missing(part);
        if rows.is_empty() { missing } else { room.table(look, &part.titles, rows) + &missing }
    };
    screen.parts.iter().map(alone).collect()
}

/// A condition stands above its rows.
fn part_rows(look: &TextStyle, part: &Part, rows: usize, room: Room) -> Vec<Vec<Field>> {
    let heading = part.heading.as_ref().filter(|_| part.len() > 0);
    let heading = heading.map(|heading| vec![Field::from(look.text(heading))]);
    let indent = if heading.is_some() { "  " } else { "" };
    let mut lines = part.lines(rows);
    if room.short_names {
        lines.iter_mut().for_each(|line| line.name = tight_name(&line.name));
    }
    heading.into_iter().chain(lines.iter().map(|line| line_fields(look, indent, line))).collect()
}

fn table(look: &TextStyle, titles: &[String], rows: &[Vec<Field>]) -> String {
    let (rows, last) = match look.columns() < NARROW {
        true => {
            let factors = rows.iter().any(|row| row.iter().any(|f| f.text.ends_with(AS_LONG)));
            let rows = rows.iter().map(|row| narrowed(row)).collect();
            (Cow::Owned(rows), if factors { AS_LONG } else { SLOWER }.trim_start())
        }
        false => (Cow::Borrowed(rows), "against the best"),
    };
    let name = Column { title: "", right: false, rank: 0 };
    let figures = titles.iter().enumerate().map(|(at, title)| Column {
        title,
        right: true,
        rank: at.min(9) as u8,
    });
    let against = Column { title: last, right: false, rank: 0 };
    let columns: Vec<Column<'_>> = std::iter::once(name).chain(figures).chain([against]).collect();
    grid::draw(look, &columns, &rows)
}

/// A screen of fewer columns has no room for the words of the last one.
const NARROW: usize = 60;
const AS_LONG: &str = " as long";
const SLOWER: &str = " slower";

/// A row without the words that the title says, and without those that the colour does.
fn narrowed(row: &[Field]) -> Vec<Field> {
    let mut row = row.to_vec();
    if let [_, .., against] = &mut row[..] {
        let text = against.text.trim_end_matches(AS_LONG).trim_end_matches(SLOWER);
        let text = ["may be best, ", "tied, "]
            .iter()
            .find_map(|word| text.strip_prefix(word))
            .unwrap_or(text);
        against.text = text.to_owned();
    }
    row
}

fn line_fields(look: &TextStyle, indent: &str, line: &Line) -> Vec<Field> {
    let ink = ink(line.mark);
    let text = look.text(&format!("{indent}{}", line.name));
    let name = Field { text, ink: ink.filter(|i| *i == Tint::Good) };
    let figures = line.figures.iter().map(|figure| Field::from(look.text(figure)));
    let against = Field { text: look.text(&line.against), ink };
    std::iter::once(name).chain(figures).chain([against]).collect()
}

/// A warning that changes how the answer may be used.
/// A whole sentence: where what was seen does not fit, the short one.
fn careful(look: &TextStyle, (code, seen): &(Code, String), each: usize) -> String {
    let said = |text: &str| look.text(&format!("{code}: {text}"));
    let whole = Some(said(seen)).filter(|text| look.fits(text, each));
    let text = look.wrap("", &whole.unwrap_or_else(|| said(code.on_screen())));
    text.replacen(code.id(), &look.paint(Tint::Caution, code.id()), 1)
}

fn section_text(look: &TextStyle, section: &Section) -> String {
    let mut text = String::new();
    if let Some(heading) = &section.heading {
        text += &look.wrap("", &look.text(heading));
    }
    if !section.rows.is_empty() {
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
    text
}

fn rows(look: &TextStyle, section: &Section) -> String {
    let columns = [
        Column::new("cell", false, 0),
        Column::new(section.unit, true, 0),
        Column::new("interval", true, 4),
        Column::new("speed", true, 3),
        Column::new("against the best", false, 0),
        // A bar says again what the time says.
        Column::new("", false, 5),
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

fn ink(mark: Mark) -> Option<Tint> {
    match mark {
        Mark::Best | Mark::Tied => Some(Tint::Good),
        Mark::ClearlySlower => Some(Tint::Bad),
        Mark::Slower | Mark::Open => Some(Tint::Caution),
        Mark::NotCompared | Mark::Cloned | Mark::None => None,
    }
}

fn fields(look: &TextStyle, row: &Row) -> Vec<Field> {
    let ink = ink(row.mark);
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

fn warnings(look: &TextStyle, warnings: &[(Code, String)]) -> String {
    let mut text = String::new();
    for (code, seen) in warnings {
        let grave = code.severity() >= Severity::Caution;
        let head = format!("{code}  ");
        let wrapped = look.wrap(&head, &look.text(seen));
        let ink = if grave { Tint::Caution } else { Tint::Faint };
        text += &wrapped.replacen(code.id(), &look.paint(ink, code.id()), 1);
    }
    if let Some((known, _)) = warnings.last() {
        text += &look.wrap("", &format!("`iolab explain {known}` tells more."));
    }
    text
}
