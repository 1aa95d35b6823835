//! The table that people know from disk benchmarks, as text.

use super::TextStyle;
use super::grid::{self, Column, Field};
use iolab_model::catalog::{count_text, digits_text, percent_text};

/// Bytes a second, requests a second, nanoseconds a request, and how far these medians may be off as a
/// share; nothing where it was not measured.
pub type DiskFigures = Option<(f64, f64, f64, Option<f64>)>;

/// Draws the rows: name, read, written. MB are 10⁶ bytes, as such tables have them.
pub fn disk_table(rows: &[(&str, DiskFigures, DiskFigures)], look: &TextStyle) -> String {
    let titles = ["read MB/s", "IOPS", "µs", "±", "write MB/s", "IOPS", "µs", "±"];
    let titles = titles.map(|title| look.text(title));
    let name = Column { title: "", right: false, rank: 0 };
    let figure = |title| Column { title, right: true, rank: 0 };
    let columns: Vec<Column<'_>> =
        std::iter::once(name).chain(titles.iter().map(|title| figure(title))).collect();
    let fields = |(name, read, written): &(&str, DiskFigures, DiskFigures)| {
        let name = Field::from(look.text(name));
        let figures = figures(read).into_iter().chain(figures(written));
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
}
