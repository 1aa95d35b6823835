//! `iolab show RUN` and `iolab export RUN FORMAT=PATH`: a recorded run again.

use std::ffi::OsString;
use std::path::Path;

use clap::Args;

use super::output::{self, OutputArgs};
use super::store_args::{StoreArgs, load};
use super::terminal_io::{Ending, Failure, say};
use super::verbosity::Talk;
use super::{trace_export, trace_file};
use iolab_controller::latest_after;
use iolab_report::compare::disagrees_text;

/// Show a recorded run again, in any format
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab show last\n  iolab show 17 --details              all of it\n  iolab show 17 --format markdown\n  iolab show 17 --format json --export csv=run.csv"
)]
pub struct Show {
    /// The run's number, or last
    #[arg(value_name = "RUN", default_value = "last")]
    run: String,
    #[command(flatten)]
    output: OutputArgs,
}

impl Show {
    /// Prints the run.
    ///
    /// # Errors
    /// There is no such run, or no such format.
    pub fn run(self, talk: &Talk) -> Ending {
        let output = self.output.read()?;
        let store = output.store.open()?;
        let document = load(&store, &self.run)?;
        if self.output.format == "table" && !talk.quiet && document.run.id != 0 {
            let later = latest_after(&store, &document)?;
            if let Some(line) = later.and_then(|later| disagrees_text(&document, &later)) {
                say(&line);
            }
        }
        output.write(&document, talk)
    }
}

/// Write a recorded run, or a trace, to files
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab export last json=run.json\n  iolab export 17 csv=run.csv google-benchmark=gb.json\n  iolab export dd.trace fio-iolog=dd.iolog fio-files=dd.sh    of iolab record"
)]
pub struct Export {
    /// The run's number, or last; or the file of a trace
    #[arg(value_name = "RUN")]
    run: String,
    /// Files to write; the formats are those of iolab list formats
    #[arg(value_name = "FORMAT=PATH", required = true)]
    exports: Vec<OsString>,
    /// Write whole reports: every cell, interval, warning and fact of the machine
    #[arg(long)]
    details: bool,
    #[command(flatten)]
    store: StoreArgs,
}

impl Export {
    /// Writes the files.
    ///
    /// # Errors
    /// There is no such run or format, or a file cannot be written.
    pub fn run(self, talk: &Talk) -> Ending {
        if trace_file::is_trace(Path::new(&self.run)) {
            return trace_export::run(Path::new(&self.run), &self.exports, talk);
        }
        let exports = self.exports.iter().map(|text| output::export(text));
        let exports = exports.collect::<Result<Vec<_>, Failure>>()?;
        let document = load(&self.store.open()?, &self.run)?;
        output::write_exports(&exports, &document, self.details, talk)
    }
}
