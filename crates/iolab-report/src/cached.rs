//! What is in the page cache, as a table.

use std::io::{self, Write};

use super::TextStyle;
use super::grid::{self, Column, Field};
use super::style::Tint;

const BAR: usize = 12;

/// A file, or several of them summed up.
#[derive(Clone, Debug)]
pub struct CachedRow {
    /// Its name; made safe here.
    pub name: String,
    /// Bytes in the page cache.
    pub resident: String,
    /// Bytes that could be.
    pub total: String,
    /// The one as a share of the other; nothing of an empty file.
    pub share: Option<f64>,
    /// Bytes that are not written back yet, where there are any.
    pub dirty: String,
}

/// Draws the rows.
///
/// # Errors
/// Those of the writer.
pub fn cached_table(rows: &[CachedRow], look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let columns = [
        Column::new("file", false, 0),
        Column::new("cached", true, 0),
        Column::new("of", true, 1),
        Column::new("share", true, 0),
        Column::new("dirty", true, 2),
        Column::new("", false, 3),
    ];
    let fields = |row: &CachedRow| {
        let share = row.share.map_or_else(String::new, share_text);
        let bar = row.share.filter(|share| *share > 0.0).map(|share| look.bar(share, BAR));
        let plain = |text: &str| Field::from(look.text(text));
        vec![
            plain(&row.name),
            plain(&row.resident),
            plain(&row.total),
            plain(&share),
            plain(&row.dirty),
            Field { text: bar.unwrap_or_default(), ink: Some(Tint::Faint) },
        ]
    };
    let rows: Vec<Vec<Field>> = rows.iter().map(fields).collect();
    out.write_all(grid::draw(look, &columns, &rows).as_bytes())
}

/// `0 %` and `100 %` are said of none and of all alone.
fn share_text(share: f64) -> String {
    match share {
        s if s <= 0.0 => "0 %".to_owned(),
        s if s >= 1.0 => "100 %".to_owned(),
        s if s < 0.01 => "under 1 %".to_owned(),
        s if s > 0.99 => "over 99 %".to_owned(),
        s => format!("{:.0} %", 100.0 * s),
    }
}

#[cfg(test)]
mod tests {
    use super::share_text;

    #[test]
    fn none_and_all_are_exact() {
        let said = [0.0, 1e-9, 0.5, 0.999_999, 1.0].map(share_text);
        assert_eq!(said, ["0 %", "under 1 %", "50 %", "over 99 %", "100 %"]);
    }
}
