//! Experiments written in a file: TOML in, experiments out, and what is wrong with a caret.
//!
//! Pure: files that are included are read by the caller. Whoever has experiments inside of a
//! larger file calls [`experiments`] with its table.

mod experiment;
mod include;
mod nest;
mod source;
mod table;
#[cfg(test)]
mod tests;
mod write;

pub use experiment::{Words, Written, experiments};
pub use include::{Loaded, MOST_BYTES, read};
pub use source::{FileError, Source};
pub use table::{Parsed, Table, Value, parse};
pub use write::{from_document, write};

/// A commented file with every key that there is.
pub const EXAMPLE: &str = include_str!("example.toml");
