//! The table that people know from disk benchmarks, as text.

use unicode_width::UnicodeWidthStr;

use super::TextStyle;
use super::grid::{self, Column, Field};
use iolab_model::catalog::{count_text, digits_text, percent_text};

/// Bytes a second, requests a second, nanoseconds a request, and how far these medians may be off as a
/// share; nothing where it was not measured.
pub type DiskFigures = Option<(f64, f64, f64, Option<f64>)>;

/// One line: its name and the figures of some directions.
type NamedFigures<'a> = (&'a str, Vec<&'a DiskFigures>);

/// Draws the rows: name, read, written. MB are 10⁶ bytes, as such tables have them. Both directions
/// stand beside each other where there is room, else one below the other.
pub fn disk_table(rows: &[(&str, DiskFigures, DiskFigures)], look: &TextStyle) -> String {
    let wide = TextStyle { width: WIDEST, ..*look };
    let both: Vec<NamedFigures<'_>> =
        rows.iter().map(|(name, read, written)| (*name, vec![read, written])).collect();
    let text = directions(&["read MB/s", "write MB/s"], &both, &wide);
    if text.lines().all(|line| line.width() <= look.columns()) {
        return text;
    }
    let read: Vec<_> = rows.iter().map(|(name, read, _)| (*name, vec![read])).collect();
    let written: Vec<_> = rows.iter().map(|(name, _, written)| (*name, vec![written])).collect();
    let read = directions(&["read MB/s"], &read, look);
    format!("{read}\n{}", directions(&["write MB/s"], &written, look))
}

/// More columns than such a table can have.
const WIDEST: usize = 160;

fn directions(speeds: &[&str], rows: &[NamedFigures<'_>], look: &TextStyle) -> String {
    let titles: Vec<String> = speeds
        .iter()
        .flat_map(|speed| [*speed, "IOPS", "µs", "±"])
        .map(|title| look.text(title))
        .collect();
    let name = Column { title: "", right: false, rank: 0 };
    // On a screen that is too narrow for one direction, how far it may be off gives way.
    let figure = |(at, title)| Column { title, right: true, rank: u8::from(at % 4 == 3) };
    let titles = titles.iter().map(String::as_str).enumerate();
    let columns: Vec<Column<'_>> = std::iter::once(name).chain(titles.map(figure)).collect();
    let fields = |(name, of): &NamedFigures<'_>| {
        let name = Field::from(look.text(name));
        let figures = of.iter().flat_map(|of| figures(of));
        std::iter::once(name).chain(figures.map(|text| Field::from(look.text(&text)))).collect()
    };
    let rows: Vec<Vec<Field>> = rows.iter().map(fields).collect();
    grid::draw(look, &columns, &rows)
}

fn figures(figures: &DiskFigures) -> [String; 4] {
    match figures {
        None => ["–"; 4].map(str::to_owned),
        Some((bytes, operations, request_ns, spread)) => [
            digits_text(bytes / 1e6),
            count_text(operations.round() as u64),
            digits_text(request_ns / 1e3),
            spread.map_or_else(|| "–".to_owned(), percent_text),
        ],
    }
}

#[cfg(test)]
mod tests {
    use super::disk_table;
    use crate::TextStyle;
    use unicode_width::UnicodeWidthStr;

    #[test]
    fn the_table_has_both_directions_and_says_what_is_missing() {
        let rows = [
            (
                "SEQ1M Q8T1",
                Some((3.421e9, 3262.0, 2.45e6, Some(0.012))),
                Some((1.1e9, 1049.0, 7.6e6, Some(0.15))),
            ),
            ("RND4K Q32T1", Some((352e6, 386_000.0, 372e3, None)), None),
        ];
        let text = disk_table(&rows, &TextStyle::default());
        assert_eq!(
            text,
            "             read MB/s     IOPS    µs      ±  write MB/s  IOPS    µs     ±\n\
             SEQ1M Q8T1        3421     3262  2450  1.2 %        1100  1049  7600  15 %\n\
             RND4K Q32T1        352  386 000   372      –           –     –     –     –\n"
        );
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
    /// 100 000 MB/s and 12 000 000 IOPS both ways took 88 columns.
    #[test]
    fn large_figures_stand_within_the_width() {
        let most = Some((100e9, 12e6, 7.6e6, Some(0.0035)));
        let names = ["SEQ1M Q8T1", "SEQ1M Q1T1", "RND4K Q32T1", "RND4K Q1T1"];
        let rows: Vec<_> = names.iter().map(|name| (*name, most, most)).collect();
        for (width, lines, error) in [(120, 5, 8), (80, 11, 8), (40, 12, 0)] {
            let text = disk_table(&rows, &TextStyle { width, ..TextStyle::default() });
            assert_eq!(text.lines().count(), lines, "{text}");
            assert!(text.lines().all(|line| line.width() <= width), "{width}\n{text}");
            assert_eq!(text.matches("12 000 000").count(), 8, "{text}");
            assert_eq!(text.matches("100000").count(), 8, "{text}");
            assert_eq!(text.matches("0.35 %").count(), error, "{text}");
        }
    }
}
