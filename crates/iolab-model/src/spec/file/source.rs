//! A text with a name, and what is wrong in it, shown with a caret.

use std::fmt;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use crate::spec::error::brief;

/// Columns of a line that an error shows: one line of an ordinary terminal.
const SHOWN_COLUMNS: usize = 72;
/// Columns before the trouble that are shown of a longer line.
const BEFORE_COLUMNS: usize = 36;

/// A text that errors point into.
#[derive(Clone, Debug)]
pub struct Source<'a> {
    /// The file as a person knows it.
    pub name: &'a str,
    /// All of it.
    pub text: &'a str,
}

/// What is wrong in a file, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileError {
    /// The file as a person knows it.
    pub name: String,
    /// Line, from 1; 0 where the trouble is not in the text.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
    /// What is wrong.
    pub problem: String,
    /// What to write instead; may be empty.
    pub fix: String,
    shown: Option<Box<Shown>>,
}

/// What is shown of the line.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shown {
    /// The line, cut to what a terminal shows, without control characters.
    excerpt: String,
    /// Columns before the first caret.
    indent: usize,
    carets: usize,
}

impl Source<'_> {
    /// Trouble in these bytes of the text.
    pub fn refuse(
        &self,
        at: Range<usize>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> FileError {
        let start = self.floor(at.start);
        let before = &self.text[..start];
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = self.text[line_start..].lines().next().unwrap_or_default();
        let inside = (start - line_start).min(line.len());
        // What stands at the end of a line may be the end itself, which is not of it.
        let end = self.floor(at.end).saturating_sub(line_start).clamp(inside, line.len());
        let shown = window(line, inside, end);
        FileError {
            name: self.name.to_owned(),
            line: before.matches('\n').count() + 1,
            column: line[..inside].chars().count() + 1,
            problem: brief(problem.into()),
            fix: fix.into(),
            shown: Some(Box::new(shown)),
        }
    }

    /// The greatest boundary of a character that is not behind `at`.
    fn floor(&self, at: usize) -> usize {
        let mut at = at.min(self.text.len());
        while !self.text.is_char_boundary(at) {
            at -= 1;
        }
        at
    }
}

/// The part of a line that is shown around the trouble.
fn window(line: &str, from: usize, to: usize) -> Shown {
    let mut first = 0;
    let mut left: usize = line[..from].chars().map(columns).sum();
    if left > BEFORE_COLUMNS {
        for (at, c) in line[..from].char_indices() {
            if left <= BEFORE_COLUMNS {
                break;
            }
            left -= columns(c);
            first = at + c.len_utf8();
        }
    }
    let mut shown = String::new();
    let (mut width, mut carets) = (0, 0);
    for (at, c) in line[first..].char_indices() {
        if width + columns(c) > SHOWN_COLUMNS {
            break;
        }
        shown.push(if c.is_control() { ' ' } else { c });
        width += columns(c);
        let at = first + at;
        carets += if (from..to).contains(&at) { columns(c) } else { 0 };
    }
    Shown { excerpt: shown.trim_end().to_owned(), indent: left, carets: carets.max(1) }
}

/// Columns of a character as it is shown; a control character becomes a blank.
fn columns(c: char) -> usize {
    if c.is_control() { 1 } else { c.width().unwrap_or(1) }
}

impl FileError {
    /// Trouble with a file as a whole: it cannot be read, it is too large.
    pub fn whole(
        name: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> FileError {
        FileError {
            name: name.into(),
            line: 0,
            column: 0,
            problem: problem.into(),
            fix: fix.into(),
            shown: None,
        }
    }
}

impl fmt::Display for FileError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.name)?;
        if self.line > 0 {
            write!(f, ", line {}, column {}", self.line, self.column)?;
        }
        write!(f, ": {}", self.problem)?;
        if !self.fix.is_empty() {
            write!(f, "; {}", self.fix)?;
        }
        let Some(shown) = &self.shown else { return Ok(()) };
        let number = self.line.to_string();
        let gutter = " ".repeat(number.len());
        let (indent, carets) = (" ".repeat(shown.indent), "^".repeat(shown.carets));
        write!(f, "\n  {number} | {}\n  {gutter} | {indent}{carets}", shown.excerpt)
    }
}

impl std::error::Error for FileError {}

#[cfg(test)]
mod tests {
    use super::Source;
    use proptest::prelude::{any, prop_assert, prop_assert_eq, proptest};

    fn shown(text: &str, at: std::ops::Range<usize>) -> String {
        Source { name: "a.toml", text }.refuse(at, "wrong", "write right").to_string()
    }

    /// A text that broke off at the end of a line, `\r\n`, ended the program.
    #[test]
    fn trouble_at_the_very_end_of_a_line_is_shown_there() {
        for text in ["a = \r\n", "a = \r", "a\r\nb = '\r\n", "\r\n", "\n"] {
            for from in 0..=text.len() {
                for to in from..=text.len() + 1 {
                    assert!(shown(text, from..to).contains("wrong"));
                }
            }
        }
    }

    #[test]
    fn the_caret_stands_under_the_trouble() {
        let text = "x = 1\nmethod = \"raed\" # a word\n";
        assert_eq!(
            shown(text, 15..21),
            "a.toml, line 2, column 10: wrong; write right\n  2 | method = \"raed\" # a word\n    |          ^^^^^^"
        );
        assert_eq!(
            shown("ü\t= 漢字", 5..11),
            "a.toml, line 1, column 5: wrong; write right\n  1 | ü = 漢字\n    |     ^^^^"
        );
        assert!(shown("", 0..0).ends_with("1 | \n    | ^"));
    }

    #[test]
    fn a_long_line_is_cut_around_the_trouble() {
        let text = format!("{}bad{}", "a".repeat(5000), "b".repeat(5000));
        let said = shown(&text, 5000..5003);
        assert!(said.contains("column 5001"), "{said}");
        assert!(said.lines().all(|line| line.len() < 90), "{said}");
        let caret = said.lines().last().unwrap().find("^^^").unwrap();
        assert_eq!(&said.lines().nth(1).unwrap()[caret..caret + 3], "bad");
    }

    proptest! {
        #[test]
        fn any_place_in_any_text_can_be_shown(text in any::<String>(), a in 0usize..300, b in 0usize..300) {
            let error = Source { name: "f", text: &text }.refuse(a..b, "p", "x");
            let said = error.to_string();
            prop_assert_eq!(said.lines().count(), 3);
            prop_assert!(!said.replace('\n', "").chars().any(char::is_control));
            prop_assert!(error.line <= text.matches('\n').count() + 1);
        }
    }
}
