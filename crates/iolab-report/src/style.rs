//! How a report may look, and text made safe for where it goes.

use iolab_model::catalog::{ascii_text, harmless};
use textwrap::{Options, WordSeparator, WordSplitter, WrapAlgorithm};
use unicode_width::UnicodeWidthStr;

/// What the place that a report goes to can show.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TextStyle {
    /// Columns.
    pub width: usize,
    /// Whether the 16 terminal colours may be used.
    pub color: bool,
    /// Whether anything beyond ASCII may be used.
    pub unicode: bool,
    /// Whether a report is told whole; else it is one screen.
    pub details: bool,
    /// Whether what was skipped stands with its reason above the report.
    pub skips_told: bool,
}

impl Default for TextStyle {
    /// A file: 80 columns, no colour, Unicode.
    fn default() -> TextStyle {
        TextStyle { width: 80, color: false, unicode: true, details: false, skips_told: false }
    }
}

/// Colours by meaning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tint {
    Strong,
    Good,
    Caution,
    Bad,
    Faint,
}

impl TextStyle {
    /// Columns to fill: what the terminal says, within reason.
    pub(super) fn columns(&self) -> usize {
        self.width.clamp(20, 160)
    }

    /// Text that is harmless in a terminal: control characters and those that turn the direction
    /// of writing become escapes; ASCII where that is all there is.
    pub(super) fn text(&self, raw: &str) -> String {
        let clean = harmless(raw);
        if self.unicode { clean } else { ascii_text(&clean) }
    }

    /// The text in colour, where there is colour.
    pub(super) fn paint(&self, ink: Tint, text: &str) -> String {
        if !self.color || text.is_empty() {
            return text.to_owned();
        }
        let code = match ink {
            Tint::Strong => "1",
            Tint::Good => "32",
            Tint::Caution => "33",
            Tint::Bad => "31",
            Tint::Faint => "2",
        };
        format!("\x1b[{code}m{text}\x1b[0m")
    }

    /// A thin bar of at most `width` columns for a share of one.
    pub(super) fn bar(&self, share: f64, width: usize) -> String {
        let halves = (share.clamp(0.0, 1.0) * 2.0 * width as f64).round().max(1.0) as usize;
        if self.unicode {
            format!("{}{}", "━".repeat(halves / 2), if halves % 2 == 1 { "╸" } else { "" })
        } else {
            "#".repeat(halves.div_ceil(2))
        }
    }

    /// A line of small bars, from the least to the greatest of the values by their logarithms; a
    /// space where one is missing. Values within 2 % of each other lie level.
    pub(super) fn spark(&self, values: &[Option<f64>]) -> String {
        let bars: &[char] = match self.unicode {
            true => &['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'],
            false => &['_', '.', '-', '=', '+', '*', '#'],
        };
        let logs = || values.iter().flatten().filter(|v| **v > 0.0).map(|v| v.ln());
        let low = logs().fold(f64::INFINITY, f64::min);
        let high = logs().fold(f64::NEG_INFINITY, f64::max);
        let one = |value: &Option<f64>| {
            let Some(value) = value.filter(|v| *v > 0.0) else { return ' ' };
            let share = match high - low {
                width if width < 0.02 => 0.0,
                width => (value.ln() - low) / width,
            };
            bars[((share * bars.len() as f64) as usize).min(bars.len() - 1)]
        };
        values.iter().map(one).collect()
    }

    /// A broken paragraph in colour.
    pub(super) fn paragraph(&self, ink: Tint, text: &str) -> String {
        let wrapped = self.wrap("", text);
        wrapped.lines().map(|line| self.paint(ink, line) + "\n").collect()
    }

    /// Words broken at the width; the first line begins with `head`, later ones with spaces.
    /// A word that is too long is cut into pieces.
    pub(super) fn wrap(&self, head: &str, text: &str) -> String {
        if head.width() * 2 > self.columns() {
            return format!("{}\n{}", head.trim_end(), self.wrap("  ", text));
        }
        let spaces = " ".repeat(head.width());
        let options = Options::new(self.columns())
            .initial_indent(head)
            .subsequent_indent(&spaces)
            .word_separator(WordSeparator::AsciiSpace)
            .word_splitter(WordSplitter::NoHyphenation)
            .wrap_algorithm(WrapAlgorithm::FirstFit);
        let words = text.split(' ').filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ");
        let words = figures_held(&commands_held(&words));
        let lines = textwrap::wrap(&words, options);
        let lines = lines.iter().map(|line| line.replace(HELD, " "));
        lines.map(|line| format!("{}\n", line.trim_end())).collect()
    }

    /// The same on a screen of this width or, where that is wider, of the usual one: what a person
    /// reads there is chosen for 80 columns, and a narrower terminal has it in more lines.
    pub(super) fn usual(&self) -> TextStyle {
        TextStyle { width: self.width.max(USUAL_WIDTH), ..*self }
    }

    /// Whether a text stands in so many lines of the usual screen.
    pub(super) fn fits(&self, text: &str, lines: usize) -> bool {
        self.usual().wrap("", text).lines().count() <= lines
    }

    /// The sentences from the beginning of a text that stand whole in so many lines of the usual screen;
    /// where not even the first does, as much of it as fits and an ellipsis.
    pub(super) fn whole(&self, text: &str, lines: usize) -> String {
        let ends: Vec<usize> = text.match_indices(". ").map(|(at, _)| at + 1).collect();
        let all = [text.len()].into_iter().chain(ends.into_iter().rev());
        match all.map(|end| &text[..end]).find(|kept| self.fits(kept, lines)) {
            Some(whole) => self.wrap("", whole),
            None => self.wrap("", &self.usual().clip("", text, lines).replace('\n', " ")),
        }
    }

    /// A text in at most so many lines: what does not fit gives way to an ellipsis.
    pub(super) fn clip(&self, head: &str, text: &str, lines: usize) -> String {
        let mut words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        let mut wrapped = self.wrap(head, text);
        while wrapped.lines().count() > lines && words.len() > 1 {
            words.pop();
            let kept = words.join(" ");
            let mark = if self.unicode { " …" } else { " ..." };
            wrapped = self.wrap(
                head,
                &(kept.trim_end_matches([',', ';', ':', '.', '·']).trim_end().to_owned() + mark),
            );
        }
        wrapped
    }
}

/// Columns of a terminal as it is opened.
pub(super) const USUAL_WIDTH: usize = 80;

/// Stands for a space at which no line ends, until lines are made: of a private area, so that no name
/// has it.
const HELD: char = '\u{f8fe}';
/// Longer commands may break.
const LONGEST_HELD: usize = 40;

/// A short command between backticks is copied whole: it stands on one line.
fn commands_held(text: &str) -> String {
    let mut inside = true;
    let part = |part: &str| {
        inside = !inside;
        let whole = inside && part.chars().count() <= LONGEST_HELD;
        if whole { part.replace(' ', HELD.encode_utf8(&mut [0; 4])) } else { part.to_owned() }
    };
    // An odd one is no command's: what follows the last is left alone.
    match text.matches('`').count() % 2 {
        0 => text.split('`').map(part).collect::<Vec<_>>().join("`"),
        _ => text.to_owned(),
    }
}

/// What a number is of: no line ends between them.
const UNITS: [&str; 20] = [
    "B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB", "KiB/s", "MiB/s", "GiB/s", "ns", "µs", "us",
    "ms", "s", "min", "h", "%", "MB/s", "blocks",
];

/// Whether a word is a number, as figures are written here.
pub(super) fn is_number(word: &str) -> bool {
    let word = word.trim_start_matches(['(', '±', '≤', '≈', '`']);
    word.starts_with(|first: char| first.is_ascii_digit())
        && word.chars().all(|c| c.is_ascii_digit() || ['.', '–', '-', '\u{202f}'].contains(&c))
}

/// A number and its unit stand on one line.
fn figures_held(text: &str) -> String {
    let is_unit =
        |word: &str| UNITS.contains(&word.trim_end_matches([',', ';', ':', '.', ')', '?']));
    let mut words = text.split(' ').peekable();
    let mut held = String::with_capacity(text.len());
    while let Some(word) = words.next() {
        held.push_str(word);
        if let Some(next) = words.peek() {
            held.push(if is_number(word) && is_unit(next) { HELD } else { ' ' });
        }
    }
    held
}

#[cfg(test)]
mod tests {
    use super::TextStyle;
    use unicode_width::UnicodeWidthStr;

    const ASCII: TextStyle =
        TextStyle { width: 80, color: false, unicode: false, details: false, skips_told: false };

    /// `iolab rerun 1` stood at the end of a line and `2 --times 4` on the next.
    #[test]
    fn a_command_stands_on_one_line() {
        let text =
            "Twenty rounds more would show it, says `iolab more 6 10s`, and no file is made.";
        let narrow = TextStyle { width: 44, ..ASCII };
        let lines = narrow.wrap("", text);
        assert!(lines.contains("\n`iolab more 6 10s`, and"), "{lines}");
        let long = format!("`{}`", "word ".repeat(20));
        assert!(narrow.wrap("", &long).lines().all(|line| line.width() <= 44));
        assert_eq!(ASCII.wrap("", "one ` alone"), "one ` alone\n");
    }

    /// "64" stood at the end of a line, "KiB" on the next.
    #[test]
    fn a_number_and_its_unit_stand_on_one_line() {
        for width in 20..60 {
            let lines = TextStyle { width, ..ASCII }
                .wrap("", "pread with 64 KiB blocks takes 3-9 % more, 1.43 ms (at 7.9 GiB/s).");
            for whole in ["64 KiB", "3-9 % more", "1.43 ms", "7.9 GiB/s)."] {
                assert!(lines.contains(whole.trim_end_matches(" more")), "{width}: {lines}");
            }
        }
    }

    /// A warning ended in the middle of its sentence, on a narrow terminal the answer itself.
    #[test]
    fn what_is_clipped_ends_with_a_sentence() {
        let text = "It is slow. What would raise it is a machine on which trials differ less, or more \
                    of them than anybody waits for";
        assert_eq!(ASCII.whole(text, 1), "It is slow.\n");
        let narrow = TextStyle { width: 40, ..ASCII };
        assert_eq!(narrow.whole(text, 1), "It is slow.\n");
        assert_eq!(narrow.whole(text, 2), narrow.wrap("", text));
        assert!(ASCII.whole(&"word ".repeat(40), 1).ends_with("word ...\n"));
    }

    #[test]
    fn ascii_is_ascii() {
        assert_eq!(ASCII.text("1.3× (1.2–1.4) ≥ 5 µs ± é"), "1.3x (1.2-1.4) >= 5 us +/- ?");
        assert_eq!(ASCII.bar(0.5, 8), "####");
        assert_eq!(TextStyle::default().bar(0.45, 10), "━━━━╸");
        assert_eq!(TextStyle::default().bar(0.0, 10), "╸");
        let values = [Some(1.0), Some(2.0), None, Some(4.0), Some(0.0)];
        assert_eq!(TextStyle::default().spark(&values), "▁▅ █ ");
        assert_eq!(ASCII.spark(&values), "_= # ");
        assert_eq!(TextStyle::default().spark(&[Some(100.0), Some(101.0)]), "▁▁");
    }

    #[test]
    fn wrapped_text_never_passes_the_width() {
        let look = TextStyle { width: 24, ..TextStyle::default() };
        let text = look
            .wrap("  CODE  ", "a few words and averyverylongwordwithoutanyend 日本語日本語日本語");
        assert!(text.lines().all(|l| l.width() <= 24), "{text}");
        assert!(text.replace(['\n', ' '], "").contains("averyverylongwordwithoutanyend"));
        assert_eq!(look.wrap("", ""), "\n");
    }
}
