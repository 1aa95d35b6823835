//! `iolab history`, and what all commands that look into the history share.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;

use clap::Args;

use super::edge::{self, Ending, Failure, say};
use super::output::Talk;
use crate::catalog::path_to_text;
use crate::record::{Filter, RecordError, Store};
use crate::report;
use crate::result::Document;

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
        RecordError::NoRun { .. } => Failure::usage(error),
        RecordError::Kept { .. } => Failure::internal(error),
        _ => Failure::refused(error),
    }
}

/// The run that is meant by a number or by `last`.
///
/// # Errors
/// There is no such run.
pub fn load(store: &Store, text: &str) -> Result<Document, Failure> {
    let id = match text {
        "last" => match store.last().map_err(failure)? {
            Some(run) => run.id,
            None => return Err(Failure::usage("the history is empty: measure something first")),
        },
        number => number.parse().map_err(|_| {
            let text = number.escape_debug();
            Failure::usage(format!(
                "'{text}' is not a run: write its number or last; see iolab history"
            ))
        })?,
    };
    store.load(id).map_err(failure)
}

/// List the runs that were recorded, newest first
#[derive(Args, Clone, Debug)]
#[command(
    after_help = "Examples:\n  iolab history\n  iolab history --limit 5 --workload read\n  iolab history --format json"
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
            complete: None,
            title: self.title,
        };
        let runs = store.list(&filter).map_err(failure)?;
        edge::data(|out| match self.format.as_str() {
            "json" => report::history_json(&runs, out),
            _ => report::history_table(&runs, &talk.look(), out),
        })
    }
}
