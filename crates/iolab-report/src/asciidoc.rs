//! The report as AsciiDoc, for books and Antora pages.

use std::io::{self, Write};

use super::Format;
use super::outline::{self, Block, Item, Table};
use super::style::TextStyle;
use iolab_model::catalog::harmless;
use iolab_model::result::Document;

pub(super) const FORMAT: Format = Format {
    id: "asciidoc",
    summary: "the report as AsciiDoc, for books and wikis",
    binary: false,
    write,
};

fn write(doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    outline::write(doc, look, out, block_text)
}

/// A block with the empty line after it.
fn block_text(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("== {}\n\n", escaped(text)),
        Block::Heading(text) => format!("=== {}\n\n", escaped(text)),
        Block::Finding(text) => format!("**{}**\n\n", escaped(text)),
        Block::Paragraph(text) => format!("{}\n\n", escaped(text)),
        Block::Table(table) => table_text(table),
        Block::List(items) => items.iter().map(item_text).collect::<String>() + "\n",
        // A plus sign keeps a line's end, and has none to keep after the last.
        Block::Lines(lines) => {
            let lines: Vec<String> = lines.iter().map(|line| escaped(line)).collect();
            lines.join(" +\n") + "\n\n"
        }
    }
}

fn item_text(item: &Item) -> String {
    let code = item.code.map_or_else(String::new, |code| format!("`{code}` "));
    format!("* {code}{}\n", escaped(&item.text))
}

fn table_text(table: &Table) -> String {
    let titles = &table.titles;
    let width = |at: usize| match (at, Table::is_left(titles, at)) {
        (0, _) => "<2",
        (_, true) => "<1",
        (_, false) => ">1",
    };
    let widths: Vec<&str> = (0..titles.len()).map(width).collect();
    let head: Vec<String> = titles.iter().map(|title| format!("| {}", escaped(title))).collect();
    let row = |row: &Vec<String>| {
        row.iter().map(|field| format!("| {}\n", escaped(field))).collect::<String>() + "\n"
    };
    let rows: String = table.rows.iter().map(row).collect();
    let widths = widths.join(",");
    let head = head.join(" ");
    format!("[cols=\"{widths}\", options=\"header\"]\n|===\n{head}\n\n{rows}|===\n\n")
}

/// Text that AsciiDoc shows as it is: what could begin markup, an attribute, a macro, a cell or a
/// replacement becomes a character reference. What is harmless where it stands stays readable.
fn escaped(raw: &str) -> String {
    let text: Vec<char> = harmless(raw).chars().collect();
    let mut out = String::with_capacity(text.len());
    if begins_block(&text) {
        out.push_str("{empty}");
    }
    for (at, c) in text.iter().enumerate() {
        let before = at.checked_sub(1).map(|before| text[before]);
        match is_markup(*c, before, text.get(at + 1).copied()) {
            true => out.push_str(&format!("&#{};", *c as u32)),
            false => out.push(*c),
        }
    }
    out
}

/// What a line's beginning may be taken for: a title, a list, a comment, a literal block, a note.
fn begins_block(text: &[char]) -> bool {
    let word = text.iter().take_while(|c| c.is_ascii_alphanumeric()).count();
    match (text.first(), text.get(word)) {
        (Some('=' | '.' | '-' | '/' | '!' | ' ' | '%' | '\''), _) => true,
        // `NOTE: `, `1. `, `a. `, `iv) `
        (Some(_), Some(':' | '.' | ')')) => word > 0,
        _ => false,
    }
}

fn is_markup(c: char, before: Option<char>, after: Option<char>) -> bool {
    let beside = |other: char| before == Some(other) || after == Some(other);
    match c {
        '<' | '>' | '&' | '|' | '{' | '}' | '*' | '_' | '`' | '#' | '^' | '~' | '[' | ']' | '+'
        | '\\' | '"' | '\'' | '@' => true,
        // `name:target` is a macro, `term:: ` and `term;; ` begin a list; `time: 5 ms` is neither.
        ':' => beside(':') || after.is_some_and(|c| !c.is_whitespace()),
        ';' | '-' | '.' | '$' => beside(c),
        // ((index terms)), (C), (R) and (TM).
        '(' => beside('(') || matches!(after, Some('C' | 'R' | 'T')),
        ')' => beside(')'),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escaped("a|b*c*"), "a&#124;b&#42;c&#42;");
        assert_eq!(escaped("link:x[y]\n"), "{empty}link&#58;x&#91;y&#93;&#92;n");
        assert_eq!(escaped("== title"), "{empty}== title");
        assert_eq!(
            escaped("include::/etc/passwd[]"),
            "{empty}include&#58;&#58;/etc/passwd&#91;&#93;"
        );
        assert_eq!(escaped("grade (C), a--b"), "grade &#40;C), a&#45;&#45;b");
        assert_eq!(escaped("1. NOTE: x"), "{empty}1. NOTE: x");
        assert_eq!(escaped("the time: 5 ms; 1.5 GiB/s"), "the time: 5 ms; 1.5 GiB/s");
    }
}
