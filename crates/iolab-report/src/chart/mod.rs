//! Pictures of runs: one model, builders that fill it (a file each), one back-end for SVG from
//! which PNG is rendered, and one for terminals.

mod block;
mod cold_warm;
mod cost;
mod files;
mod heat;
pub mod history;
mod ladder;
mod latency;
mod numeric_axis;
mod ranking;
mod rounds;
mod runs;
mod scaling;
mod stack;
mod stragglers;

#[cfg(test)]
mod same_rows;

pub use crate::drawing::labels::{clean, levels_phrase as condition_text};
pub use crate::drawing::model::{Chart, Datum, Table};
pub use crate::drawing::svg::{NARROW, Style, Theme, WIDE, chart_style, draw, standalone_style};
pub use runs::Beside;

use crate::drawing::cells::Index;
use iolab_model::result::Document;

type Builder = fn(&Index<'_>) -> Vec<Chart>;

/// The builders in the order a report shows their charts; each decides for itself whether the
/// factors that vary give it something to show.
const BUILDERS: &[Builder] = &[
    |index| history::chart(index.documents).into_iter().collect(),
    |index| runs::chart(index).into_iter().collect(),
    |index| cold_warm::chart(index).into_iter().collect(),
    |index| heat::chart(index).into_iter().collect(),
    |index| block::chart(index).into_iter().collect(),
    |index| scaling::chart(index).into_iter().collect(),
    |index| files::chart(index).into_iter().collect(),
    |index| ladder::chart(index).into_iter().collect(),
    |index| cost::chart(index).into_iter().collect(),
    numeric_axis::charts,
    |index| latency::chart(index).into_iter().collect(),
    |index| ranking::chart(index).into_iter().collect(),
    |index| stack::chart(index).into_iter().collect(),
    |index| stragglers::chart(index).into_iter().collect(),
    |index| rounds::chart(index).into_iter().collect(),
];

/// The charts that say something about a run, the most telling first. Several runs are laid over
/// each other where their cells have a common axis.
pub fn charts_for(documents: &[Document]) -> Vec<Chart> {
    let completed = Document::all_completed(documents);
    let index = Index::new(&completed);
    BUILDERS.iter().flat_map(|build| build(&index)).collect()
}
