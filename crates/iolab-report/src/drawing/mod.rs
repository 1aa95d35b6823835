//! What every chart is drawn with: one model, scales and labels, one back-end for SVG from which
//! PNG is rendered, and one for terminals.

pub(crate) mod block_title;
pub(crate) mod cells;
pub(crate) mod estimate;
pub mod export;
pub(crate) mod labels;
pub(crate) mod model;
#[cfg(feature = "png")]
mod outlines;
mod padding;
pub(crate) mod plateau;
#[cfg(feature = "png")]
pub mod png;
pub(crate) mod scale;
pub(crate) mod speedup;
pub(crate) mod spread;
pub(crate) mod standing;
pub(crate) mod svg;
pub mod terminal;
mod terminal_heat;
pub(crate) mod throughput;
