//! How deep a text nests, before it is parsed: the parser goes down once for each opening, and its own
//! limit is lost at a table that is never closed (toml_parser 1.1.5: what it skips counts as closed).

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

/// Tables and lists in one another; the deepest of an experiment is four.
pub(super) const MOST_LEVELS: usize = 64;

/// The place of the first opening that nests too deep. Only what was opened is closed here, so that no
/// stray bracket hides a level.
pub(super) fn too_deep(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for token in Source::new(text).lex() {
        match token.kind() {
            TokenKind::LeftCurlyBracket => open.push(TokenKind::RightCurlyBracket),
            TokenKind::LeftSquareBracket => open.push(TokenKind::RightSquareBracket),
            closing if open.last() == Some(&closing) => drop(open.pop()),
            _ => {}
        }
        if open.len() > MOST_LEVELS {
            return Some(token.span().start());
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The parser's own limit did not see these: 200 tables took a megabyte of stack, and the process
    /// was aborted.
    #[test]
    fn tables_that_are_never_closed_are_refused_before_they_are_gone_down_into() {
        let open = "published = { a = 1,\n\n[[claim]]\nid = \"x\"\n";
        let at = too_deep(&open.repeat(400)).unwrap();
        assert_eq!(at, open.len() * (MOST_LEVELS - 2) + open.find("[[").unwrap() + 1);
        assert!(too_deep(&"a = [".repeat(400)).is_some());
        assert!(too_deep(&"{]".repeat(400)).is_some(), "a stray bracket closes nothing");
    }

    #[test]
    fn what_stands_one_after_another_or_in_a_text_is_no_nest() {
        assert_eq!(too_deep(&"[[claim]]\na = { b = [1, 2] }\n".repeat(400)), None);
        assert_eq!(too_deep(&format!("a = '{}' # {}", "[".repeat(400), "{".repeat(400))), None);
    }
}
