//! Names from outside in a format of somebody else: shown as they are, and never taken for markup.

use super::ascii::harmless;

/// Text that Markdown shows as it is: no table cell ends, no markup begins, nobody is mentioned.
pub fn markdown_text(raw: &str) -> String {
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

/// Text as XML character data and attribute value; what XML 1.0 cannot hold becomes U+FFFD.
/// Used for HTML too: it never leaves `<`, `>`, `&`, `"` or `'`.
pub fn xml_text(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}
