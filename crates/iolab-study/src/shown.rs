//! Whether a cell shows anything.

use iolab_model::result::{CellRecord, CellStatus, Sample};

/// Why a cell shows nothing.
pub(super) fn lacking(cell: &CellRecord) -> Option<String> {
    let reason = || cell.reason.clone().unwrap_or_else(|| "no reason is recorded".into());
    match cell.status {
        CellStatus::Skipped => Some(format!("{} was skipped: {}", cell.id, reason())),
        CellStatus::Failed => Some(format!("{} failed: {}", cell.id, reason())),
        _ if steady(cell).next().is_none() => Some(format!("{} has no steady round", cell.id)),
        _ => None,
    }
}

/// The trials that say what a cell is like.
pub(super) fn steady(cell: &CellRecord) -> impl Iterator<Item = &Sample> {
    cell.samples.iter().filter(|s| s.is_steady())
}
