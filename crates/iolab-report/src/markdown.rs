//! The report as Markdown, for an issue, a wiki, a commit message (GitHub's tables).

use std::io::{self, Write};

use super::Format;
use super::outline::{self, Block, Item};
use super::style::TextStyle;
use iolab_model::catalog::markdown_text;
use iolab_model::result::Document;

pub(super) const FORMAT: Format = Format {
    id: "markdown",
    summary: "the report as Markdown, for an issue or a wiki",
    binary: false,
    write,
};

fn write(doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    outline::write(doc, look, out, block_text)
}

/// A block with the empty line after it.
fn block_text(block: &Block) -> String {
    match block {
        Block::Title(text) => format!("## {}\n\n", markdown_text(text)),
        Block::Heading(text) => format!("### {}\n\n", markdown_text(text)),
        Block::Finding(text) => format!("**{}**\n\n", markdown_text(text)),
        Block::Paragraph(text) => format!("{}\n\n", markdown_text(text)),
        Block::Table(found) => table(&found.titles, &found.rows) + "\n",
        Block::List(items) => items.iter().map(item_text).collect::<String>() + "\n",
        Block::Lines(lines) => {
            lines.iter().map(|line| format!("{}  \n", markdown_text(line))).collect::<String>()
                + "\n"
        }
    }
}

fn item_text(item: &Item) -> String {
    let code = item.code.map_or_else(String::new, |code| format!("`{code}` "));
    format!("- {code}{}\n", markdown_text(&item.text))
}

/// A table: the first column and the last word to the left, figures to the right.
pub(super) fn table<S: AsRef<str>>(head: &[S], rows: &[Vec<String>]) -> String {
    let line = |fields: &mut dyn Iterator<Item = String>| {
        format!("| {} |\n", fields.collect::<Vec<_>>().join(" | "))
    };
    let rule = |at: usize| match outline::Table::is_left(head, at) {
        true => "---".to_owned(),
        false => "---:".to_owned(),
    };
    let mut text = line(&mut head.iter().map(|h| markdown_text(h.as_ref())));
    text += &line(&mut (0..head.len()).map(rule));
    for row in rows {
        text += &line(&mut row.iter().map(|f| markdown_text(f)));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{markdown_text, table};

    #[test]
    fn nothing_breaks_out_of_a_table() {
        assert_eq!(markdown_text("a|b`c`\n<b>@me*"), r"a\|b\`c\`\\n&lt;b&gt;&#64;me\*");
        let text = table(&["cell", "time"], &[vec!["a|b\n".into(), "1 ms".into()]]);
        assert_eq!(text, "| cell | time |\n| --- | ---: |\n| a\\|b\\\\n | 1 ms |\n");
    }
}
