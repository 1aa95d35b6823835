//! Text for a screen that shows ASCII only.

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

#[cfg(test)]
mod tests {
    use super::ascii_text;

    #[test]
    fn what_we_say_ourselves_can_be_read_in_ascii() {
        assert_eq!(ascii_text("1.3× (1.2–1.4) ≥ 5 µs ± é"), "1.3x (1.2-1.4) >= 5 us +/- ?");
        assert!(ascii_text("×–·µ±≥≤≈…→●✓“’δ\u{a0}日").is_ascii());
    }
}
