//! `iolab history`, and what all commands that look into the history share.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use clap::Args;

use super::output::Talk;
use super::terminal_io::{self, Ending, Failure, say};
use iolab_model::catalog::{path_to_text, utc_seconds, utc_text};
use iolab_model::result::Document;
use iolab_record::history::{Filter, RecordError, Store};
use iolab_report as report;
use iolab_run::fill_estimates;

/// Which history.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreArgs {
    /// The file of the history [default: under the XDG state directory]
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens the history; `avoid_devices` are under test.
    ///
    /// # Errors
    /// It cannot be used, with the fix.
    pub fn open(&self, avoid_devices: &[u64]) -> Result<Store, Failure> {
        let store = Store::open(self.store.as_deref(), avoid_devices).map_err(failure)?;
        store.notices().iter().for_each(|notice| say(notice));
        Ok(store)
    }

    /// Makes the directory of a history that will be written, so that one that cannot be is told
    /// before anything is measured and not after.
    ///
    /// # Errors
    /// It cannot be made.
    pub fn make_room(store: &Store) -> Result<(), Failure> {
        let parent = store.path().parent().unwrap_or(store.path());
        DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|error| {
            let name = path_to_text(store.path());
            Failure::refused(format!(
                "cannot make the history {name}: {error}; name another file with --store PATH"
            ))
        })
    }

    /// The directory of the history, where one is known.
    pub fn directory(&self) -> Option<PathBuf> {
        let path = match &self.store {
            Some(path) => path.clone(),
            None => Store::open(None, &[]).ok()?.path().to_owned(),
        };
        path.parent().map(PathBuf::from)
    }
}

/// The failure that a history gives.
pub fn failure(error: RecordError) -> Failure {
    match error {
        RecordError::NoRun { .. } | RecordError::NoName { .. } | RecordError::NameTaken { .. } => {
            Failure::usage(error)
        }
        RecordError::Kept { .. } => Failure::internal(error),
        _ => Failure::refused(error),
    }
}

/// The run that is meant by a number, a pinned name or `last`.
///
/// # Errors
/// There is no such run.
pub fn load(store: &Store, text: &str) -> Result<Document, Failure> {
    let mut document = store.load(number(store, text)?).map_err(failure)?;
    if !document.run.complete {
        fill_estimates(&mut document);
    }
    Ok(document)
}

/// The number of the run that is meant.
///
/// # Errors
/// There is no such name, or no run at all.
pub fn number(store: &Store, text: &str) -> Result<u64, Failure> {
    if let Ok(number) = text.parse() {
        return Ok(number);
    }
    if text == "last" {
        let last = store.last().map_err(failure)?;
        return last
            .map(|run| run.id)
            .ok_or_else(|| Failure::usage("the history is empty: measure something first"));
    }
    store.named(text).map_err(|error| match error {
        RecordError::NoName { .. } => Failure::usage(format!(
            "'{}' is not a run: write its number, the name it is pinned by, or last; see iolab history",
            text.escape_debug()
        )),
        other => failure(other),
    })
}

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
        let store = self.store.open(&[])?;
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
