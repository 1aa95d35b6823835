//! Before and after the timed window: directories and trees that a trial needs, checks, and taking
//! everything away again.

use super::assign_files::{passes, segments};
use super::build::{MAKE_BLOCK, clear as clear_tree, make_directories, make_files};
use super::errors::{errno_of, fault};
use super::listing::Listing;
use super::settings::Settings;
use super::task::numbered;
use super::verify;
use crate::sys::remove::remove_tree;
use crate::workload::Trial;
use crate::workload::held_trees::{self, Load};
use iolab_model::catalog::FileOperation;
use iolab_model::catalog::path_to_text;
use iolab_model::result::{Fault, Measurement};

/// The directories of each pass, and the files where the trial is to remove them.
pub(super) fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if !settings.operation.has_own() {
        return Ok(());
    }
    if !settings.shared {
        directories(&settings)?;
    }
    let (FileOperation::Remove, Listing::Made(tree)) = (settings.operation, settings.listing)
    else {
        return Ok(());
    };
    let mut content = tree.content(MAKE_BLOCK);
    for pass in 0..passes(settings.extent) {
        for range in segments(tree.files, settings.extent) {
            let root = numbered(&settings.own, pass);
            make_files(settings.listing, &root, range, &mut content, &|| true)?;
        }
    }
    Ok(())
}

/// The directories of a trial that all ranks make their files in.
pub(super) fn lay(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if settings.operation.has_own() { directories(&settings) } else { Ok(()) }
}

fn directories(settings: &Settings<'_>) -> Result<(), Fault> {
    // All trees of a trial lie together: none of them is removed before the last is made.
    let (together, failed) = (settings.together(), "make a directory for the trees of a trial");
    held_trees::make(together, load(settings))
        .map_err(|error| fault(failed, errno_of(&error), &path_to_text(together)))?;
    for pass in 0..passes(settings.extent) {
        make_directories(settings.listing, &numbered(&settings.own, pass))?;
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

/// Whether its files were made among inodes that are held back.
pub(super) fn is_spoilt(trial: &Trial<'_>) -> Result<bool, Fault> {
    let settings = Settings::of(trial)?;
    if settings.shared || !settings.operation.has_own() {
        return Ok(false);
    }
    let (together, doing) = (settings.together(), "look at the inodes of a trial's files");
    held_trees::is_spoilt(together, load(&settings))
        .map_err(|error| fault(doing, errno_of(&error), &path_to_text(together)))
}

/// Takes away what [`prepare`] and the trial made.
pub(super) fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    if settings.shared || !settings.operation.has_own() {
        return Ok(());
    }
    let together = settings.together();
    let failed = "remove the directory of a trial";
    let named = |error: std::io::Error| fault(failed, errno_of(&error), &path_to_text(together));
    if held_trees::keep(together, load(&settings)).map_err(named)? {
        return Ok(());
    }
    let ranges = segments(settings.listing.files(), settings.extent);
    let clear = |pass| clear_tree(settings.listing, &numbered(&settings.own, pass), &ranges);
    let all: Vec<_> = (0..passes(settings.extent)).map(clear).collect();
    all.into_iter().collect::<Result<(), Fault>>()?;
    match std::fs::remove_dir(together) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(named(error)),
        _ => Ok(()),
    }
}

/// Takes away what all ranks made in the same directories.
pub(super) fn lift(trial: &Trial<'_>) -> Result<(), Fault> {
    let settings = Settings::of(trial)?;
    let together = settings.together();
    let doing = "remove the directory that ranks shared";
    let named = |error: std::io::Error| fault(doing, errno_of(&error), &path_to_text(together));
    if !settings.operation.has_own()
        || held_trees::keep(together, load(&settings)).map_err(named)?
    {
        return Ok(());
    }
    match remove_tree(together) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(named(error)),
        _ => Ok(()),
    }
}

/// What a file may take beside its bytes: the rest of a block, its inode and its name.
const BLOCK_BYTES: u64 = 4096;

/// What a trial leaves.
fn load(settings: &Settings<'_>) -> Load {
    let ranges = segments(settings.listing.files(), settings.extent);
    let files: u64 = ranges.iter().map(|range| range.end - range.start).sum();
    let of_all = settings.listing.files().max(1);
    let bytes = u128::from(settings.listing.bytes()) * u128::from(files) / u128::from(of_all);
    let passes = passes(settings.extent);
    Load {
        files: files.saturating_mul(passes),
        // A file takes whole blocks.
        bytes: (bytes as u64)
            .saturating_add(files.saturating_mul(BLOCK_BYTES))
            .saturating_mul(passes),
        removes: settings.operation == FileOperation::Remove,
    }
}
