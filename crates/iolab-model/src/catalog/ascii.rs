//! Text as a screen can show it: nothing that moves the cursor, and ASCII where that is all there is.

/// The signs that our own texts use in the letters they stand for, and `?` for the rest.
pub fn ascii_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            c if c.is_ascii() => out.push(c),
            '×' => out.push('x'),
            '–' | '—' | '−' | '─' | '╌' => out.push('-'),
            '·' => out.push('|'),
            'µ' | 'μ' => out.push('u'),
            '±' => out.push_str("+/-"),
            '≥' => out.push_str(">="),
            '≤' => out.push_str("<="),
            '≈' => out.push('~'),
            '…' => out.push_str("..."),
            '→' => out.push_str("->"),
            '●' => out.push('*'),
            '✓' => out.push_str("ok:"),
            '“' | '”' => out.push('"'),
            '‘' | '’' => out.push('\''),
            'δ' => out.push_str("delta"),
            c if c.is_whitespace() => out.push(' '),
            _ => out.push('?'),
        }
    }
    out
}

/// Escapes what would move the cursor, colour the screen, break the line or reorder the text.
pub fn harmless(raw: &str) -> String {
    let mut out = String::with_capacity(raw.len());
    for c in raw.chars() {
        match c {
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{feff}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_default()),
            c => out.push(c),
        }
    }
    out
}

/// The same of a text of several lines, whose columns may mean something.
pub fn harmless_lines(raw: &str) -> String {
    let piece = |piece: &str| match piece.strip_suffix(['\n', '\t']) {
        Some(text) => harmless(text) + &piece[text.len()..],
        None => harmless(piece),
    };
    raw.split_inclusive(['\n', '\t']).map(piece).collect()
}

#[cfg(test)]
mod tests {
    use super::{ascii_text, harmless, harmless_lines};

    #[test]
    fn nothing_reaches_the_terminal_that_moves_it() {
        assert_eq!(harmless_lines("a\n\tb\x1b[2J\r\n"), "a\n\tb\\u{1b}[2J\\r\n");
        let text = harmless("a\nb\x1b[31m\u{202e}\u{9b}é×\t");
        assert_eq!(text, "a\\nb\\u{1b}[31m\\u{202e}\\u{9b}é×\\t");
    }

    #[test]
    fn what_we_say_ourselves_can_be_read_in_ascii() {
        assert_eq!(ascii_text("1.3× (1.2–1.4) ≥ 5 µs ± é"), "1.3x (1.2-1.4) >= 5 us +/- ?");
        assert!(ascii_text("×–·µ±≥≤≈…→●✓“’δ\u{a0}日").is_ascii());
    }
}
