//! Before and after the timed window: directories and trees that a trial needs, checks, and taking
//! everything away again.

use super::assign_files::{passes, segments};
use super::build::{MAKE_BLOCK, clear as clear_tree, make_directories, make_files};
use super::errors::{errno_of, fault};
use super::listing::Listing;
use super::settings::Settings;
use super::task::numbered;
use super::verify;
use crate::workload::Trial;
use crate::workload::spread_directories::make_apart;
use iolab_model::catalog::FileOperation;
use iolab_model::catalog::path_to_text;
use iolab_model::result::{Fault, Measurement};

/// The directories of each pass, and the files where the trial is to remove them.
pub(super) fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if !settings.operation.has_own() {
        return Ok(());
    }
    // All trees of a trial lie together: none of them is removed before the last is made.
    let (together, failed) = (settings.together(), "make a directory for the trees of a trial");
    make_apart(together)
        .map_err(|error| fault(failed, errno_of(&error), &path_to_text(together)))?;
    for pass in 0..passes(settings.extent) {
        let root = numbered(&settings.own, pass);
        make_directories(settings.listing, &root)?;
        if let (FileOperation::Remove, Listing::Made(tree)) = (settings.operation, settings.listing)
        {
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
    all.into_iter().collect::<Result<(), Fault>>()?;
    let together = settings.together();
    match std::fs::remove_dir(together) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(fault("remove the directory of a trial", errno_of(&error), &path_to_text(together)))
        }
        _ => Ok(()),
    }
}
