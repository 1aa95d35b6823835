//! A table of text in so many columns: what does not fit is left out by rank, never cut in half;
//! the first column breaks over several lines, within a word only where nothing is left to go. Own code, for the colours of a table library are
//! those of 256, and its widths give way in no order.

use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

use super::style::{TextStyle, Tint, is_number};

const GAP: usize = 2;
/// The first column is not made narrower than this, nor than its longest word, before another
/// column goes.
const FIRST: usize = 14;
/// A longer word of the first column is cut: figures are worth more than a name in one piece.
const LONGEST_WORD: usize = 40;

/// A column. `rank` 0 stays always; of the others the greatest rank goes first.
#[derive(Clone, Copy, Debug)]
pub(super) struct Column<'a> {
    pub(super) title: &'a str,
    pub(super) right: bool,
    pub(super) rank: u8,
}

impl<'a> Column<'a> {
    pub(super) fn new(title: &'a str, right: bool, rank: u8) -> Column<'a> {
        Column { title, right, rank }
    }
}

/// Text that is safe for the terminal, and its colour.
#[derive(Clone, Debug, Default)]
pub(super) struct Field {
    pub(super) text: String,
    pub(super) ink: Option<Tint>,
}

impl From<String> for Field {
    fn from(text: String) -> Field {
        Field { text, ink: None }
    }
}

/// Draws the rows under their titles. Each row has one field a column; a row of a single field is a
/// heading over all of them.
pub(super) fn draw(look: &TextStyle, columns: &[Column<'_>], rows: &[Vec<Field>]) -> String {
    let widths: Vec<usize> = (0..columns.len()).map(|c| width(columns, rows, c)).collect();
    let shown = fit(look.columns(), columns, &widths, least(rows));
    let others: usize = shown.iter().skip(1).map(|&c| widths[c] + GAP).sum();
    let first = widths[0].min(look.columns().saturating_sub(others).max(1));
    let mut out = String::new();
    let titles: Vec<Field> = columns
        .iter()
        .map(|c| Field { text: c.title.to_owned(), ink: Some(Tint::Faint) })
        .collect();
    for row in std::iter::once(&titles).chain(rows) {
        if let ([heading], 2..) = (row.as_slice(), columns.len()) {
            out += &look.wrap("", &heading.text);
            continue;
        }
        line(look, &mut out, columns, row, &shown, &widths, first);
    }
    out
}

fn width(columns: &[Column<'_>], rows: &[Vec<Field>], at: usize) -> usize {
    let rows = rows.iter().filter(|row| row.len() > 1 || columns.len() == 1);
    let fields = rows.filter_map(|r| r.get(at)).map(|f| f.text.width());
    match fields.max().unwrap_or(0) {
        // A column without content goes with its title, but for the first.
        0 if at > 0 => 0,
        widest => widest.max(columns[at].title.width()),
    }
}

/// Columns that the names need so that they break only between their words.
fn least(rows: &[Vec<Field>]) -> usize {
    let names = rows.iter().filter(|row| row.len() > 1).filter_map(|row| row.first());
    let words = names.flat_map(|name| words(&name.text).map(UnicodeWidthStr::width));
    words.filter(|width| *width <= LONGEST_WORD).max().unwrap_or(0).max(FIRST)
}

/// The columns that fit.
fn fit(room: usize, columns: &[Column<'_>], widths: &[usize], least: usize) -> Vec<usize> {
    let mut shown: Vec<usize> = (0..columns.len()).filter(|&c| c == 0 || widths[c] > 0).collect();
    loop {
        let first = widths[0].min(least);
        let needed = first + shown.iter().skip(1).map(|&c| widths[c] + GAP).sum::<usize>();
        let last = shown.iter().skip(1).copied().max_by_key(|&c| columns[c].rank);
        match last {
            Some(c) if needed > room && (columns[c].rank > 0 || needed >= room + first) => {
                shown.retain(|&s| s != c);
            }
            _ => return shown,
        }
    }
}

fn line(
    look: &TextStyle,
    out: &mut String,
    columns: &[Column<'_>],
    row: &[Field],
    shown: &[usize],
    widths: &[usize],
    first: usize,
) {
    let pieces = cut(row.first().map_or("", |f| f.text.as_str()), first);
    for (at, piece) in pieces.iter().enumerate() {
        let mut text = String::new();
        for &c in shown {
            let blank = Field::default();
            let field = row.get(c).unwrap_or(&blank);
            let (content, width) = match c {
                0 => (piece.as_str(), first),
                // Figures stand beside the first piece of the name.
                _ if at > 0 => continue,
                _ => (field.text.as_str(), widths[c]),
            };
            let pad = " ".repeat(width.saturating_sub(content.width()));
            let content =
                field.ink.map_or_else(|| content.to_owned(), |ink| look.paint(ink, content));
            let gap = if c == 0 { 0 } else { GAP };
            text.push_str(&" ".repeat(gap));
            text.push_str(&if columns[c].right { pad + &content } else { content + &pad });
        }
        out.push_str(text.trim_end());
        out.push('\n');
    }
}

/// What a name may break after.
const BREAKS: [char; 3] = [' ', '/', '='];

/// Where a name may break: behind these bytes, after this sign. Not between a number and what it
/// counts: `64 KiB`.
fn breaks(text: &str) -> impl Iterator<Item = (usize, char)> {
    let mut word = 0;
    let signs = text.char_indices().filter(|(_, c)| BREAKS.contains(c));
    signs.filter_map(move |(at, sign)| {
        let number = sign == ' ' && is_number(&text[word..at]);
        word = at + 1;
        (!number).then_some((word, sign))
    })
}

/// What stays in one piece where there is room.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let ends = breaks(text).map(|(end, _)| end).chain([text.len()]);
    let mut begin = 0;
    ends.map(move |end| &text[std::mem::replace(&mut begin, end)..end])
}

/// Pieces of at most `room` columns; breaks after a space, else after a slash, else after an equals
/// sign, else anywhere.
fn cut(text: &str, room: usize) -> Vec<String> {
    let mut pieces = vec![String::new()];
    for c in text.chars() {
        let width = c.width().unwrap_or(0);
        let full = pieces.last().is_some_and(|p| !p.is_empty() && p.width() + width > room);
        if full {
            let line = pieces.pop().unwrap_or_default();
            let last = |sign: &char| breaks(&line).filter(|(_, at)| at == sign).last();
            let near = BREAKS.iter().find_map(last).map(|(end, _)| end);
            let (head, rest) = line.split_at(near.unwrap_or(line.len()));
            let rest = rest.to_owned();
            pieces.push(head.to_owned());
            pieces.push(rest);
        }
        if let Some(last) = pieces.last_mut() {
            last.push(c);
        }
    }
    pieces
}

#[cfg(test)]
mod tests {
    use super::{Column, Field, cut, draw};
    use crate::TextStyle;
    use unicode_width::UnicodeWidthStr;

    fn column(title: &'static str, right: bool, rank: u8) -> Column<'static> {
        Column { title, right, rank }
    }

    #[test]
    fn what_does_not_fit_goes_by_rank_and_names_break() {
        let columns = [
            column("cell", false, 0),
            column("time", true, 0),
            column("speed", true, 2),
            column("verdict", false, 1),
        ];
        let row = |cells: [&str; 4]| cells.map(|c| Field::from(c.to_owned())).to_vec();
        let rows = [row(["a/rather/long/name/of/a/cell", "32.0 ms", "7.91 GiB/s", "best"])];
        let at = |width| draw(&TextStyle { width, ..TextStyle::default() }, &columns, &rows);
        assert_eq!(
            at(80),
            "cell                             time       speed  verdict\n\
             a/rather/long/name/of/a/cell  32.0 ms  7.91 GiB/s  best\n"
        );
        assert_eq!(
            at(36),
            "cell                   time  verdict\n\
             a/rather/long/      32.0 ms  best\n\
             name/of/a/cell\n"
        );
        for width in 20..90 {
            assert!(at(width).lines().all(|l| l.width() <= width), "{width}\n{}", at(width));
        }
    }

    /// At 80 columns a name once broke within its number: `create/threads=1`, `6`, `00`.
    #[test]
    fn a_name_breaks_between_its_words() {
        assert_eq!(cut("create/threads=1600", 16), ["create/", "threads=1600"]);
        assert_eq!(cut("threads=1600", 9), ["threads=", "1600"]);
        // "pread 64", "KiB".
        assert_eq!(cut("pread 64 KiB", 10), ["pread ", "64 KiB"]);
        assert_eq!(cut("on ext4 pread 4 threads", 16), ["on ext4 pread ", "4 threads"]);
        assert_eq!(cut("pread 64 KiB", 9), ["pread ", "64 KiB"]);
        assert_eq!(cut("64 KiB", 4), ["64 K", "iB"]);
        let columns = [column("cell", false, 0), column("time", true, 0), column("", false, 5)];
        let name = "create/consume=checksum/threads=1600";
        let row = [name, "32.0 ms", "----------------"].map(|c| Field::from(c.to_owned()));
        for width in 30..80 {
            let drawn =
                draw(&TextStyle { width, ..TextStyle::default() }, &columns, &[row.to_vec()]);
            let whole = |word: &str| drawn.contains(word);
            assert!(whole("1600") && whole("checksum/"), "{width}\n{drawn}");
        }
        let narrow =
            draw(&TextStyle { width: 36, ..TextStyle::default() }, &columns, &[row.to_vec()]);
        assert!(!narrow.contains("----"), "the bar goes first\n{narrow}");
    }

    #[test]
    fn pieces_are_the_text() {
        for (text, room) in [("", 5), ("日本語日本語", 3), ("abcdef", 1), ("日", 1)] {
            let pieces = cut(text, room);
            assert_eq!(pieces.concat(), text);
            assert!(pieces.iter().all(|p| p.width() <= room.max(2)));
        }
    }
}
