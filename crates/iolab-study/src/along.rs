//! The cells along an axis.

use super::bench::Bench;
use super::select::{Selection, text};
use iolab_model::catalog::{Factor, Kind, Level};
use iolab_model::result::CellRecord;

/// The cells at one level of an axis.
pub(super) type Step<'a> = (u64, Vec<&'a CellRecord>);

impl<'a> Bench<'a> {
    /// The cells along an axis, from the smallest level on: at least two levels.
    pub(super) fn along(&self, axis: Factor, of: &Selection) -> Result<Vec<Step<'a>>, String> {
        let of = self.of.and(of);
        let mut levels: Vec<u64> =
            of.cells(self.document).iter().filter_map(|c| c.factors.number(axis)).collect();
        levels.sort_unstable();
        levels.dedup();
        let at = |level: u64| Ok((level, self.cells(&of.at(axis, Level::Number(level)))?));
        let able: Vec<_> = levels.iter().filter_map(|level| at(*level).ok()).collect();
        match able.len() {
            0 | 1 => {
                let first = levels.first().map(|level| at(*level)).transpose();
                let why: String = first.err().unwrap_or_default();
                let because = if why.is_empty() { String::new() } else { format!(": {why}") };
                Err(format!("fewer than two levels of {axis} were measured{because}"))
            }
            _ => Ok(able),
        }
    }
}

/// `from 1 KiB to 64 KiB`.
pub(super) fn span(axis: Factor, from: u64, to: u64) -> String {
    format!("from {} to {}", place(axis, from), place(axis, to))
}

/// A level of the axis with its name where it has no unit: `64 KiB`, `4 threads`.
pub(super) fn place(axis: Factor, level: u64) -> String {
    match axis.kind() {
        Kind::Bytes => text(axis, &Level::Number(level)),
        _ => format!("{level} {axis}"),
    }
}
