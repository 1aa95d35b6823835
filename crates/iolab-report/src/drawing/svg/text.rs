//! Text in SVG: escaping, and widths without a font at hand.

use iolab_model::catalog::xml_text;
use std::fmt::Write as _;

use crate::drawing::labels::kept_together;

/// Estimated width in pixels; errs on the wide side for the usual sans-serif typefaces.
pub fn width(text: &str, size: f64) -> f64 {
    let share = |c: char| match c {
        'i' | 'l' | 'j' | '.' | ',' | ':' | ';' | '|' | '\'' | '!' | 'I' => 0.29,
        ' ' | 'f' | 't' | 'r' | '(' | ')' | '[' | ']' | '/' | '-' | '·' | '"' => 0.37,
        'm' | 'w' | 'M' | 'W' | '%' | '@' | '…' => 0.89,
        'A'..='Z' | '×' | '±' | '≥' | '≤' => 0.66,
        c if (c as u32) >= 0x1100 => 1.05,
        _ => 0.555,
    };
    // DejaVu Sans, the widest of the usual ones, is a tenth wider than these shares.
    text.chars().map(share).sum::<f64>() * size * 1.1
}

/// Words broken into lines of at most `limit` pixels; a word that is too long is cut.
pub fn wrap(text: &str, size: f64, limit: f64) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut line = String::new();
    let words = kept_together(text).into_iter().flat_map(|word| match width(&word, size) > limit {
        true => word.split(' ').map(str::to_owned).collect(),
        false => vec![word],
    });
    for word in words {
        let word = fit(&word, size, limit);
        let longer = if line.is_empty() { word.clone() } else { format!("{line} {word}") };
        if !line.is_empty() && width(&longer, size) > limit {
            lines.push(std::mem::replace(&mut line, word));
        } else {
            line = longer;
        }
    }
    if !line.is_empty() {
        lines.push(line);
    }
    lines
}

/// The same number of lines, as even as they can be: a single word does not end a heading.
pub fn balanced(text: &str, size: f64, limit: f64) -> Vec<String> {
    let lines = wrap(text, size, limit);
    // A word that is too long would be cut shorter by a narrower limit.
    let longest = kept_together(text).iter().map(|word| width(word, size)).fold(0.0, f64::max);
    let (mut narrow, mut wide) = (longest.min(limit), limit);
    if lines.len() < 2 {
        return lines;
    }
    for _ in 0..12 {
        let middle = (narrow + wide) / 2.0;
        match wrap(text, size, middle).len() > lines.len() {
            true => narrow = middle,
            false => wide = middle,
        }
    }
    wrap(text, size, wide)
}

/// Text cut in its middle until it fits.
pub fn fit(text: &str, size: f64, limit: f64) -> String {
    if width(text, size) <= limit {
        return text.to_owned();
    }
    let chars: Vec<char> = text.chars().collect();
    let mut keep = chars.len().saturating_sub(1);
    loop {
        let (head, tail) = (keep.div_ceil(2), keep / 2);
        let cut: String =
            chars[..head].iter().chain(&['…']).chain(&chars[chars.len() - tail..]).collect();
        if keep <= 2 || width(&cut, size) <= limit {
            return cut;
        }
        keep -= 1;
    }
}

/// Where a text stands relative to its point.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Anchor {
    /// It begins there.
    Start,
    /// It is centred there.
    Middle,
    /// It ends there.
    End,
}

/// One line of text.
#[derive(Clone, Copy, Debug)]
pub struct Label<'a> {
    /// Pixels.
    pub x: f64,
    /// Baseline, pixels.
    pub y: f64,
    /// Pixels.
    pub size: f64,
    /// Alignment.
    pub anchor: Anchor,
    /// Classes.
    pub class: &'a str,
}

/// Writes one `<text>`.
pub fn write(out: &mut String, label: Label<'_>, text: &str) {
    let anchor = match label.anchor {
        Anchor::Start => "",
        Anchor::Middle => " text-anchor=\"middle\"",
        Anchor::End => " text-anchor=\"end\"",
    };
    let class = match label.class {
        "" => String::new(),
        class => format!(" class=\"{class}\""),
    };
    let (x, y) = (px(label.x), px(label.y));
    let _ = write!(
        out,
        "<text{class} x=\"{x}\" y=\"{y}\" font-size=\"{}\"{anchor}>{}</text>",
        px(label.size),
        xml_text(text)
    );
}

/// A coordinate with at most one decimal.
pub fn px(value: f64) -> String {
    let text = format!("{value:.1}");
    match text.strip_suffix(".0") {
        Some("-0") => "0".to_owned(),
        Some(whole) => whole.to_owned(),
        None => text,
    }
}

#[cfg(test)]
mod tests {
    use super::{balanced, fit, px, width, wrap, xml_text};
    use proptest::prelude::*;

    #[test]
    fn markup_is_harmless() {
        assert_eq!(xml_text("</script>&\"'"), "&lt;/script&gt;&amp;&quot;&#39;");
        assert_eq!(xml_text("a\0b"), "a\u{fffd}b");
    }

    #[test]
    fn coordinates_are_short() {
        assert_eq!((px(1.04), px(-0.01), px(3.25)), ("1".into(), "0".into(), "3.2".into()));
    }

    proptest! {
        #[test]
        fn lines_fit(text in "\\PC{0,80}", limit in 60.0..400.0f64) {
            for line in wrap(&text, 12.0, limit) {
                prop_assert!(width(&line, 12.0) <= limit, "{line:?}");
            }
            let (plain, even) = (wrap(&text, 12.0, limit), balanced(&text, 12.0, limit));
            prop_assert_eq!(plain.len(), even.len());
            prop_assert_eq!(plain.join(" "), even.join(" "));
            prop_assert!(fit(&text, 12.0, limit).chars().count() <= text.chars().count());
        }
    }
}
