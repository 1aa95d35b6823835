//! `iolab history`: the runs that were recorded.

use clap::Args;

use super::store_args::{StoreArgs, failure};
use super::terminal_io::{self, Ending, Failure};
use super::verbosity::Talk;
use iolab_model::catalog::{utc_seconds, utc_text};
use iolab_record::history::Filter;
use iolab_report as report;

/// List the runs that were recorded, newest first
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab history\n  iolab history --limit 5 --workload read\n  iolab history --since 2026-03-01 --status complete\n  iolab history --format json"
)]
pub struct History {
    /// At most so many, the newest
    #[arg(long, value_name = "N")]
    limit: Option<u64>,
    /// Only runs of this workload
    #[arg(long, value_name = "WORKLOAD")]
    workload: Option<String>,
    /// Only runs whose title has these words
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    /// Only runs that started then or later: 2026-03-01
    #[arg(long, value_name = "DATE")]
    since: Option<String>,
    /// Only runs that started before then
    #[arg(long, value_name = "DATE")]
    until: Option<String>,
    /// Only runs of the machine of this name
    #[arg(long, value_name = "NAME")]
    host: Option<String>,
    /// Only complete runs, or only partial ones
    #[arg(long, value_name = "STATUS", value_parser = ["complete", "partial"])]
    status: Option<String>,
    /// Only pinned runs
    #[arg(long)]
    pinned: bool,
    /// What to write: table or json
    #[arg(long, value_name = "FORMAT", default_value = "table", value_parser = ["table", "json"])]
    format: String,
    #[command(flatten)]
    store: StoreArgs,
}

impl History {
    /// Prints a line for each run.
    ///
    /// # Errors
    /// The history cannot be read.
    pub fn run(self, talk: &Talk) -> Ending {
        let store = self.store.open()?;
        let filter = Filter {
            limit: self.limit,
            workload: self.workload,
            complete: self.status.map(|status| status == "complete"),
            title: self.title,
            experiment: None,
            since: self.since.as_deref().map(|text| moment("--since", text)).transpose()?,
            until: self.until.as_deref().map(|text| moment("--until", text)).transpose()?,
            host: self.host,
            pinned: self.pinned,
        };
        let runs = store.list(&filter).map_err(failure)?;
        let others = runs.is_empty() && store.last().map_err(failure)?.is_some();
        terminal_io::data(|out| match self.format.as_str() {
            "json" => report::history_json(&runs, out),
            _ if others => writeln!(out, "No run is like that; without options all are listed."),
            _ => report::history_table(&runs, &talk.look(), out),
        })
    }
}

fn moment(option: &str, text: &str) -> Result<String, Failure> {
    utc_seconds(text).map(utc_text).ok_or_else(|| {
        Failure::usage(format!(
            "{option} '{}': write a date or a moment, as in 2026-03-01 or 2026-03-01T12:00:00Z",
            text.escape_debug()
        ))
    })
}
