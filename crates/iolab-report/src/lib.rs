//! What people and programs read: one file a format, each a row in [`FORMATS`].

mod asciidoc;
mod bencher;
mod cached;
mod cells;
pub mod chart;
pub mod compare;
mod csv;
mod disk_table;
pub mod drawing;
mod explain;
mod export;
mod google_benchmark;
mod grid;
mod history;
pub mod html;
mod json;
mod latency;
mod machines;
mod markdown;
mod metadata_table;
mod one_screen;
mod outline;
#[cfg(feature = "parquet")]
mod parquet;
mod published;
mod ranks;
mod rates;
mod remarks;
mod replayed;
mod samples;
pub mod schema;
mod shares;
mod shell;
mod side_by_side;
mod style;
pub mod survey;
mod table;
mod toml;
mod trace_charts;
pub mod trend;
mod verdict_word;
mod view_model;
mod warning_summary;
mod whole_file;

#[cfg(test)]
mod renderers_tests;
#[cfg(test)]
mod rows_tests;
#[cfg(test)]
mod since_tests;

use std::io::{self, Write};

pub use cached::{CachedRow, cached_table};
pub use disk_table::{DiskFigures, disk_table};
pub use drawing::export::FOLDERS;
pub use export::{ExportError, export, export_charts, export_page, export_several, export_with};
pub use google_benchmark::{BenchmarkRows, benchmark_name, write_benchmarks};
pub use history::{history_json, history_table};
pub use side_by_side::beside_table;
pub use style::TextStyle;
pub use trace_charts::trace_charts;
pub use trend::{Trend, trend, trend_json, trend_table};

use iolab_model::result::Document;

/// A way to write a run.
#[derive(Clone, Copy, Debug)]
pub struct Format {
    /// As written on the command line: `--format ID`, `--export ID=PATH`.
    pub id: &'static str,
    /// One line for lists and help.
    pub summary: &'static str,
    /// Whether it is no text: nothing for a terminal.
    pub binary: bool,
    /// Writes the document. Errors are those of the writer alone, `BrokenPipe` among them.
    pub write: fn(&Document, &TextStyle, &mut dyn Write) -> io::Result<()>,
}

/// Every format, in the order of lists.
pub const FORMATS: &[Format] = &[
    table::FORMAT,
    markdown::FORMAT,
    asciidoc::FORMAT,
    csv::FORMAT,
    cells::FORMAT,
    #[cfg(feature = "parquet")]
    parquet::FORMAT,
    json::FORMAT,
    published::TABLE,
    published::MARKDOWN,
    published::CSV,
    google_benchmark::FORMAT,
    bencher::FORMAT,
    html::FORMAT,
    toml::FORMAT,
];

/// Formats that this build was made without, and the feature that brings each.
pub const LEFT_OUT: &[(&str, &str)] = &[
    #[cfg(not(feature = "parquet"))]
    ("parquet", "parquet"),
];

/// The format of that name.
pub fn format(id: &str) -> Option<&'static Format> {
    FORMATS.iter().find(|f| f.id == id)
}

/// Writes a run in the format of that name.
///
/// # Errors
/// `InvalidInput` for an unknown name, else what the writer says, unchanged.
pub fn write(id: &str, doc: &Document, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let format = format(id).ok_or_else(|| {
        let known: Vec<&str> = FORMATS.iter().map(|f| f.id).collect();
        let text = format!("unknown format {id:?}; known are {}", known.join(", "));
        io::Error::new(io::ErrorKind::InvalidInput, text)
    })?;
    (format.write)(doc, look, out)
}
