//! Whether cold reads tell of the device's read-ahead and not of their blocks.

use iolab_model::catalog::{AxisWord, CacheState, Fact, Factor, Readahead};
use iolab_model::result::{CellRecord, Document};

/// Of an answer on blocks of cold files every block is about as large as what is read ahead, or
/// smaller: then each of them is read as the device reads ahead.
pub(super) fn is_measured(doc: &Document) -> bool {
    let Some(window) = doc.environment.number(Fact::DeviceReadAheadBytes) else { return false };
    doc.answers.iter().any(|answer| {
        let cells = doc.cells.iter().filter(|cell| {
            cell.estimate.is_some()
                && answer.condition.iter().all(|(f, level)| cell.factors.get(f) == Some(level))
        });
        let blocks: Vec<u64> = cells
            .filter(|cell| reads_ahead(cell))
            .filter_map(|cell| cell.factors.number(Factor::Block))
            .collect();
        let around = |block: &u64| *block <= window.saturating_mul(2);
        blocks.iter().all(around) && blocks.iter().any(|block| *block < window)
    })
}

/// A cold file through the page cache, with the read-ahead that the device has.
fn reads_ahead(cell: &CellRecord) -> bool {
    let cold = [CacheState::Cold, CacheState::Remount].map(|state| state.level());
    let advice = cell.factors.get(Factor::Readahead);
    cell.factors.get(Factor::Cache).is_some_and(|state| cold.contains(state))
        && !cell.factors.is_on(Factor::Direct)
        && advice.is_none_or(|level| *level != Readahead::Random.level())
}
