//! The report as Markdown, for an issue, a wiki, a commit message (GitHub's tables).

use std::io::{self, Write};

use super::Format;
use super::look::{Look, harmless};
use super::view::{Row, Section, View};
use crate::result::Document;

pub(super) const FORMAT: Format =
    Format { id: "markdown", summary: "the report as Markdown, for an issue or a wiki", write };

fn write(doc: &Document, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let view = View::of(&doc.finite());
    let mut text = String::new();
    if !view.title.is_empty() {
        text += &format!("## {}\n\n", escaped(&view.title));
    }
    for section in &view.sections {
        text += &section_text(section);
    }
    if view.sections.is_empty() {
        text += "There are no cells in this run.\n\n";
    }
    for note in &view.notes {
        text += &format!("- {}\n", escaped(note));
    }
    if !view.notes.is_empty() {
        text.push('\n');
    }
    for line in view.twin.iter().chain(&view.legend).chain(&view.timed) {
        text += &format!("{}\n\n", escaped(line));
    }
    for (code, seen) in &view.warnings {
        text += &format!("- `{code}` {}\n", escaped(seen));
    }
    if !view.warnings.is_empty() {
        text.push('\n');
    }
    for line in [&view.environment, &view.protocol, &view.next] {
        if !line.is_empty() {
            text += &format!("{}  \n", escaped(line));
        }
    }
    out.write_all(text.trim_end().as_bytes())?;
    out.write_all(b"\n")
}

fn section_text(section: &Section) -> String {
    let mut text = String::new();
    if let Some(heading) = &section.heading {
        text += &format!("### {}\n\n", escaped(heading));
    }
    if let Some(sentence) = &section.sentence {
        text += &format!("**{}**\n\n", escaped(sentence));
    }
    if !section.rows.is_empty() {
        let speed = section.rows.iter().any(|r| !r.speed.is_empty());
        let mut head = vec!["cell", section.unit, "interval"];
        head.extend(speed.then_some("speed"));
        head.extend(["ratio", "lies in", "verdict"]);
        let rows = section.rows.iter().map(|r| fields(r, speed)).collect::<Vec<_>>();
        text += &table(&head, &rows);
        text.push('\n');
    }
    for figures in [&section.rates, &section.latency] {
        if figures.rows.is_empty() {
            continue;
        }
        text += &table(&figures.titles, &figures.rows);
        text.push('\n');
    }
    for why in &section.why {
        text += &format!("- why: {}\n", escaped(why));
    }
    if !section.why.is_empty() {
        text.push('\n');
    }
    for (word, reason) in &section.missing {
        text += &format!("- {word}: {}\n", escaped(reason));
    }
    if !section.missing.is_empty() {
        text.push('\n');
    }
    if let Some(confidence) = &section.confidence {
        text += &format!("{}\n\n", escaped(confidence));
    }
    text
}

fn fields(row: &Row, speed: bool) -> Vec<String> {
    let mut all = vec![row.id.clone(), row.time.clone(), row.interval.clone()];
    all.extend(speed.then(|| row.speed.clone()));
    all.extend([row.ratio.clone(), row.bounds.clone(), row.mark.word().to_owned()]);
    all
}

/// A table: the first column and the last word to the left, figures to the right.
pub(super) fn table(head: &[&str], rows: &[Vec<String>]) -> String {
    let line = |fields: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", fields.collect::<Vec<_>>().join(" | "))
    };
    let rule = |(at, title): (usize, &&str)| match (at, *title) {
        (0, _) | (_, "verdict") => "---".to_owned(),
        _ => "---:".to_owned(),
    };
    let mut text = line(&mut head.iter().map(|h| escaped(h)));
    text += &line(&mut head.iter().enumerate().map(rule));
    for row in rows {
        text += &line(&mut row.iter().map(|f| escaped(f)));
    }
    text
}

/// Text that Markdown shows as it is: no table cell ends, no markup begins, nobody is mentioned.
pub(super) fn escaped(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in harmless(raw).chars() {
        match c {
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '&' => out.push_str("&amp;"),
            '@' => out.push_str("&#64;"),
            '\\' | '`' | '*' | '_' | '[' | ']' | '|' | '~' | '#' | '$' => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{escaped, table};

    #[test]
    fn nothing_breaks_out_of_a_table() {
        assert_eq!(escaped("a|b`c`\n<b>@me*"), r"a\|b\`c\`\\n&lt;b&gt;&#64;me\*");
        let text = table(&["cell", "time"], &[vec!["a|b\n".into(), "1 ms".into()]]);
        assert_eq!(text, "| cell | time |\n| --- | ---: |\n| a\\|b\\\\n | 1 ms |\n");
    }
}
