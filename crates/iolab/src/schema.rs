//! `iolab schema`: the JSON schema of results.

use clap::Args;

use super::output;
use super::terminal_io::Ending;
use iolab_report as report;

/// Print the JSON schema of results (iolab.run/1)
#[derive(Args, Clone, Debug)]
#[command(after_help = "Examples:\n  iolab schema > iolab.run.schema.json")]
pub struct Schema {}

impl Schema {
    /// Prints it.
    ///
    /// # Errors
    /// What stdout met.
    pub fn run(self) -> Ending {
        output::text(&report::schema::text())
    }
}
