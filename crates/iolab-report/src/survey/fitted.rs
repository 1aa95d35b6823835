//! Lines in so much room: what has none goes whole, from the end, and is never cut in half.

use crate::style::TextStyle;

/// A labelled line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Line {
    /// What must stand: the pick and its bound.
    must: String,
    /// What may go, the last first.
    more: Vec<String>,
}

impl Line {
    pub(super) fn of(must: impl Into<String>) -> Line {
        Line { must: must.into(), more: Vec::new() }
    }

    /// Figures one after another.
    pub(super) fn list(parts: Vec<String>) -> Line {
        let mut parts = parts.into_iter();
        Line { must: parts.next().unwrap_or_default(), more: parts.collect() }
    }

    pub(super) fn with(mut self, more: Option<String>) -> Line {
        self.more.extend(more);
        self
    }

    /// As much of it as stands in so many rows.
    fn in_rows(&self, look: &TextStyle, label: &str, rows: usize) -> Shown {
        let head = format!("{label:<10}");
        let row = format!("\n{:10}", "");
        let mark = format!("{row}{} ", look.text("·"));
        let parts = |count: usize| {
            let parts = std::iter::once(&self.must).chain(&self.more[..count]);
            look.text(&parts.map(String::as_str).collect::<Vec<_>>().join(" · "))
        };
        let whole = |count: &usize| {
            // A part that begins a row needs nothing that parts it from the one before.
            let text = look.wrap(&head, &parts(*count)).replace(&mark, &row);
            (text.lines().count() <= rows).then_some(Shown { text, left: self.more.len() - count })
        };
        (0..=self.more.len()).rev().find_map(|count| whole(&count)).unwrap_or_else(|| Shown {
            text: look.clip(&head, &parts(0), rows),
            left: self.more.len() + 1,
        })
    }
}

/// A line as it is shown.
struct Shown {
    text: String,
    /// Parts that found no room.
    left: usize,
}

/// The lines in `room` rows: each has one, then what would be cut a second, then what would lose a
/// part, from above.
pub(super) fn fitted(look: &TextStyle, lines: &[(&str, &Line)], room: usize) -> String {
    let mut rows = vec![1; lines.len()];
    let mut spare = room.saturating_sub(lines.len());
    let shown = |at: usize, rows: usize| lines[at].1.in_rows(look, lines[at].0, rows);
    for cut_ones in [true, false] {
        for at in 0..lines.len() {
            while spare > 0 {
                let left = shown(at, rows[at]).left;
                let wanted = if cut_ones { left > lines[at].1.more.len() } else { left > 0 };
                if !wanted {
                    break;
                }
                rows[at] += 1;
                spare -= 1;
            }
        }
    }
    (0..lines.len()).map(|at| shown(at, rows[at]).text).collect()
}

#[cfg(test)]
mod tests {
    use super::{Line, fitted};
    use crate::style::TextStyle;

    /// "read-write with 256 KiB blocks: at most 9.5 % slower than the best of …" once stood there.
    #[test]
    fn nothing_is_cut_in_half() {
        let look = TextStyle { width: 40, ..TextStyle::default() };
        let words = |text: &str| Line::of(text);
        let pick = words("64 KiB: best of 3").with(Some("4 KiB takes 2.0× as long".to_owned()));
        let long = words("at most 9.5 % slower than the best of all five of them");
        let list =
            Line::list(["lseek 224 ns", "read 535 ns", "write 798 ns"].map(str::to_owned).to_vec());
        let lines = [("Reading", &pick), ("", &long), ("Calls", &list)];
        let tight = "Reading   64 KiB: best of 3\n          at most 9.5 % slower than the\n          \
                     best of all five of them\nCalls     lseek 224 ns · read 535 ns\n";
        assert_eq!(fitted(&look, &lines, 4), tight);
        let ample = fitted(&look, &lines, 10);
        assert!(ample.contains("2.0× as long") && ample.contains("write 798 ns"), "{ample}");
        assert_eq!(ample.lines().count(), 6);
        assert!(fitted(&look, &lines, 3).contains('…'), "where there is no room at all");
    }
}
