//! The history as a run needs it.

use std::fs::DirBuilder;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use super::console::Console;
use super::error::Error;
use iolab_model::catalog::path_to_text;
use iolab_model::result::Document;
use iolab_record::history::{Filter, Store};

/// Opens the history and says what there is to be said about it; `avoid_devices` are under test.
///
/// # Errors
/// It cannot be used, with the fix.
pub fn open(
    path: Option<&Path>,
    avoid_devices: &[u64],
    console: &dyn Console,
) -> Result<Store, Error> {
    let store = Store::open(path, avoid_devices)?;
    store.notices().iter().for_each(|notice| console.say(notice));
    Ok(store)
}

/// Makes the directory of a history that will be written, so that one that cannot be is told
/// before anything is measured and not after.
///
/// # Errors
/// It cannot be made.
pub fn make_room(store: &Store) -> Result<(), Error> {
    let parent = store.path().parent().unwrap_or(store.path());
    DirBuilder::new().recursive(true).mode(0o700).create(parent).map_err(|error| {
        let name = path_to_text(store.path());
        Error::NoHistory { name, error }
    })
}

/// Complete runs with the same workload and title.
fn of_its_kind(run: &Document) -> Filter {
    Filter {
        workload: Some(run.experiment.workload.clone()),
        experiment: Some(run.run.title.clone()),
        complete: Some(true),
        ..Filter::default()
    }
}

/// The newest complete run with the same workload and title that was made after a run.
///
/// # Errors
/// The history cannot be read.
pub fn latest_after(store: &Store, then: &Document) -> Result<Option<Document>, Error> {
    let filter = Filter { limit: Some(1), ..of_its_kind(then) };
    let newest = store.list(&filter)?.into_iter().next();
    let later = newest.filter(|run| run.id > then.run.id);
    Ok(later.map(|run| store.load(run.id)).transpose()?)
}

/// Complete runs with the same workload and title that were made before a run, the newest first: that
/// one with its samples, the others with their figures.
///
/// # Errors
/// The history cannot be read.
pub fn earlier(store: &Store, now: &Document, most: usize) -> Result<Vec<Document>, Error> {
    let runs = store.list(&of_its_kind(now))?;
    let before = runs.iter().filter(|run| run.id < now.run.id).take(most);
    let load = |(at, id): (usize, u64)| match at {
        0 => store.load(id),
        _ => store.figures(id),
    };
    Ok(before.map(|run| run.id).enumerate().map(load).collect::<Result<_, _>>()?)
}

/// The newest run with a title, not newer than a run.
///
/// # Errors
/// The history cannot be read.
pub fn newest(store: &Store, title: &str, until: u64) -> Result<Option<Document>, Error> {
    let filter = Filter { title: Some(title.to_owned()), ..Filter::default() };
    let runs = store.list(&filter)?;
    let Some(run) = runs.iter().find(|run| run.title == title && run.id <= until) else {
        return Ok(None);
    };
    Ok(Some(store.load(run.id)?))
}
