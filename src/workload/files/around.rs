//! Before and after the timed window: directories and trees that a trial needs, checks, and taking
//! everything away again.

use super::build::{MAKE_BLOCK, clear as clear_tree, make_directories_apart, make_files};
use super::listing::Listing;
use super::operation::{Operation, Settings};
use super::share::{passes, segments};
use super::task::numbered;
use super::verify;
use crate::result::{Fault, Measurement};
use crate::workload::Trial;

/// The directories of each pass, and the files where the trial is to remove them.
pub(super) fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if !settings.operation.has_own() {
        return Ok(());
    }
    for pass in 0..passes(settings.extent) {
        let root = numbered(&settings.own, pass);
        make_directories_apart(settings.listing, &root)?;
        if let (Operation::Remove, Listing::Made(tree)) = (settings.operation, settings.listing) {
            let mut content = tree.content(MAKE_BLOCK);
            for range in segments(tree.files, settings.extent) {
                make_files(settings.listing, &root, range, &mut content, &|| true)?;
            }
        }
    }
    Ok(())
}

/// Whether what the trial says lies on the disk.
pub(super) fn verify(trial: &Trial<'_>, measurement: &mut Measurement) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    match settings.operation.has_own() {
        true => verify::own_trees(&settings, measurement),
        false => Ok(()),
    }
}

/// Takes away what [`prepare`] and the trial made.
pub(super) fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if !settings.operation.has_own() {
        return Ok(());
    }
    let ranges = segments(settings.listing.files(), settings.extent);
    let clear = |pass| clear_tree(settings.listing, &numbered(&settings.own, pass), &ranges);
    let all: Vec<_> = (0..passes(settings.extent)).map(clear).collect();
    all.into_iter().collect()
}
