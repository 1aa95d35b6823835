//! The report as AsciiDoc, for books and Antora pages.

use std::io::{self, Write};

use super::Format;
use super::look::{Look, harmless};
use super::view::{Row, Section, View};
use crate::result::Document;

pub(super) const FORMAT: Format =
    Format { id: "asciidoc", summary: "the report as AsciiDoc, for books and wikis", write };

fn write(doc: &Document, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let view = View::of(&doc.finite());
    let mut text = String::new();
    if !view.title.is_empty() {
        text += &format!("== {}\n\n", escaped(&view.title));
    }
    for section in &view.sections {
        text += &section_text(section);
    }
    if view.sections.is_empty() {
        text += "There are no cells in this run.\n\n";
    }
    for line in view.twin.iter().chain(&view.legend) {
        text += &format!("{}\n\n", escaped(line));
    }
    for (code, seen) in &view.warnings {
        text += &format!("* `{code}` {}\n", escaped(seen));
    }
    if !view.warnings.is_empty() {
        text.push('\n');
    }
    for line in [&view.environment, &view.protocol, &view.next] {
        if !line.is_empty() {
            text += &format!("{} +\n", escaped(line));
        }
    }
    out.write_all(text.trim_end().trim_end_matches(" +").as_bytes())?;
    out.write_all(b"\n")
}

fn section_text(section: &Section) -> String {
    let mut text = String::new();
    if let Some(heading) = &section.heading {
        text += &format!("=== {}\n\n", escaped(heading));
    }
    if let Some(sentence) = &section.sentence {
        text += &format!("{}\n\n", escaped(sentence));
    }
    if !section.rows.is_empty() {
        text += "[cols=\"<2,>1,>1,>1,>1,>1,<1\", options=\"header\"]\n|===\n";
        text += &format!(
            "| cell | {} | interval | speed | ratio | lies in | verdict\n\n",
            section.unit
        );
        section.rows.iter().for_each(|row| text += &row_text(row));
        text += "|===\n\n";
    }
    for (word, reason) in &section.missing {
        text += &format!("* {word}: {}\n", escaped(reason));
    }
    if !section.missing.is_empty() {
        text.push('\n');
    }
    if let Some(confidence) = &section.confidence {
        text += &format!("{}\n\n", escaped(confidence));
    }
    text
}

fn row_text(row: &Row) -> String {
    let fields = [
        &row.id,
        &row.time,
        &row.interval,
        &row.speed,
        &row.ratio,
        &row.bounds,
        &row.mark.word().to_owned(),
    ];
    fields.map(|field| format!("| {}\n", escaped(field))).concat() + "\n"
}

/// Text that AsciiDoc shows as it is: what could begin markup, an attribute, a macro or a cell
/// becomes a character reference. A line never begins with it.
fn escaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in harmless(raw).chars() {
        match c {
            '<' | '>' | '&' | '|' | '{' | '}' | '*' | '_' | '`' | '#' | '^' | '~' | '[' | ']'
            | '+' | '\\' | '"' | '\'' | '@' => out.push_str(&format!("&#{};", c as u32)),
            // `name:` before something is a macro, and `::` begins one.
            ':' => out.push_str("&#58;"),
            c => out.push(c),
        }
    }
    match out.starts_with(['=', '.', '-', '/', '!', ' ']) {
        true => format!("{{empty}}{out}"),
        false => out,
    }
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn nothing_becomes_markup() {
        assert_eq!(escaped("a|b*c*"), "a&#124;b&#42;c&#42;");
        assert_eq!(escaped("link:x[y]\n"), "link&#58;x&#91;y&#93;&#92;n");
        assert_eq!(escaped("== title"), "{empty}== title");
        assert_eq!(escaped("include::/etc/passwd[]"), "include&#58;&#58;/etc/passwd&#91;&#93;");
    }
}
