//! Whether cold reads tell of the device's read-ahead and not of their blocks.

use super::super::view_model::divided;
use iolab_model::catalog::{CacheState, Fact, Factor, Readahead};
use iolab_model::result::{CellRecord, Document};

/// Of an answer on blocks of cold files every block is about as large as what is read ahead, or
/// smaller: then each of them is read as the device reads ahead.
pub(super) fn is_measured(doc: &Document) -> bool {
    let Some(window) = doc.environment.number(Fact::DeviceReadAheadBytes) else { return false };
    divided(doc).iter().filter(|(answer, _)| answer.is_some()).any(|(_, cells)| {
        let ahead = cells.iter().filter(|cell| cell.estimate.is_some() && reads_ahead(cell));
        let blocks: Vec<u64> =
            ahead.filter_map(|cell| cell.factors.number(Factor::Block)).collect();
        let around = |block: &u64| *block <= window.saturating_mul(2);
        blocks.iter().all(around) && blocks.iter().any(|block| *block < window)
    })
}

/// A cold file through the page cache, with the read-ahead that the device has.
fn reads_ahead(cell: &CellRecord) -> bool {
    cell.factors.word().is_some_and(CacheState::is_cold)
        && !cell.factors.is_on(Factor::Direct)
        && cell.factors.word() != Some(Readahead::Random)
}
