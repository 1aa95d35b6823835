//! Which history, as an option, and which run of it is meant.

use std::path::PathBuf;

use clap::Args;

use super::terminal_io::{Failure, say};
use iolab_controller::Error;
use iolab_model::result::Document;
use iolab_record::history::{RecordError, Store};
use iolab_run::fill_estimates;

/// Which history.
#[derive(Args, Clone, Debug, Default)]
pub struct StoreArgs {
    /// The file of the history [default: under the XDG state directory]
    #[arg(long, value_name = "PATH")]
    pub store: Option<PathBuf>,
}

impl StoreArgs {
    /// Opens the history to look into it.
    ///
    /// # Errors
    /// It cannot be used, with the fix.
    pub fn open(&self) -> Result<Store, Failure> {
        let store = Store::open(self.store.as_deref(), &[]).map_err(failure)?;
        store.notices().iter().for_each(|notice| say(notice));
        Ok(store)
    }

    /// The same, wherever the working directory will be.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn absolute(&self) -> Result<StoreArgs, Failure> {
        let store = self.store.as_deref().map(std::path::absolute).transpose();
        let store = store.map_err(|error| Failure::usage(format!("--store: {error}")))?;
        Ok(StoreArgs { store })
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
    Error::Record(error).into()
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
