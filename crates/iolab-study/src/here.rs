//! A figure of ours beside a published one, in the same definition.

use super::quantity::{Quantity, digits};
use super::select::text;
use iolab_model::catalog::{Factor, bytes_text};
use iolab_model::result::CellRecord;

/// A figure of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Here {
    pub value: f64,
    /// The median, where it parts from the mean.
    pub median: Option<f64>,
    /// From part of a pass.
    pub part: bool,
    /// Carried over to the bytes or calls of the study.
    pub scaled: bool,
}

/// A median further from the mean than this is shown beside it.
const PARTS: f64 = 0.05;

impl Here {
    /// The figure of a cell: a time is carried over to the bytes that the study's pass moved.
    pub fn of(
        cell: &CellRecord,
        quantity: Quantity,
        bytes: Option<u64>,
        operations: Option<u64>,
    ) -> Option<Here> {
        let (mean, median) = quantity.of(cell)?;
        let pass = pass_bytes(cell).filter(|_| quantity.grows_with_bytes());
        let (factor, scaled) = match (bytes, pass, operations) {
            (_, _, Some(operations)) if quantity == Quantity::OperationsS => {
                (operations as f64, true)
            }
            (Some(theirs), Some(ours), _) if !same(theirs, ours) => {
                (theirs as f64 / ours as f64, true)
            }
            _ => (1.0, false),
        };
        let parts = median.filter(|median| (mean / median - 1.0).abs() > PARTS);
        Some(Here {
            value: mean * factor,
            median: parts.map(|median| median * factor),
            part: Quantity::carried_over(cell) && quantity.grows_with_bytes(),
            scaled,
        })
    }

    pub fn text(self) -> String {
        let median = self.median.map_or(String::new(), |m| format!(" (median {})", digits(m)));
        let star = if self.part { "\\*" } else { "" };
        let dagger = if self.scaled { "†" } else { "" };
        format!("{}{star}{dagger}{median}", digits(self.value))
    }
}

/// 5 GiB in 10 000 files of whole bytes are as many but for a few: nothing is carried over.
fn same(theirs: u64, ours: u64) -> bool {
    theirs.abs_diff(ours) <= theirs / 1000
}

/// Bytes of one pass: of the file, or of all files.
fn pass_bytes(cell: &CellRecord) -> Option<u64> {
    let size = cell.factors.number(Factor::FileSize)?;
    size.checked_mul(cell.factors.number(Factor::Files).unwrap_or(1))
}

/// What the marks of these figures mean.
pub(super) fn marks(all: &[Here], bytes: Option<u64>) -> String {
    let mut text = String::new();
    if all.iter().any(|here| here.part) {
        text.push_str("\n\\* carried over from part of a pass: the whole would take too long.\n");
    }
    if all.iter().any(|here| here.scaled) {
        let to = bytes.map_or("the number of calls that the study made".to_owned(), |bytes| {
            format!("the {} that the study moved", bytes_text(bytes))
        });
        text.push_str(&format!("\n† carried over to {to}, from what was measured here.\n"));
    }
    text
}

/// The levels that all of these cells have in common: `file-size 64 MiB, method read`.
pub(super) fn in_common(cells: &[&CellRecord]) -> Option<String> {
    let first = cells.first()?;
    let common = first.factors.iter().filter(|(factor, level)| {
        cells.iter().all(|cell| cell.factors.get(*factor) == Some(*level))
    });
    let levels: Vec<String> =
        common.map(|(factor, level)| format!("{factor} {}", text(factor, level))).collect();
    (!levels.is_empty()).then(|| levels.join(", "))
}
