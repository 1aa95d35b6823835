//! The targets of a trial: new each time, in iolab's own directory, removed afterwards.

use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use crate::workload::{Extent, Trial};
use iolab_model::catalog::path_to_text;
use iolab_model::result::Fault;

/// More copies than this are not made in one trial: each takes an inode.
const MOST_COPIES: u64 = 4096;

/// One for each copy of the trial. Names fit the fourteen bytes that bfs allows.
pub(super) fn paths(trial: &Trial<'_>) -> Vec<PathBuf> {
    let copies = match trial.extent {
        Extent::Passes(passes) => passes.min(MOST_COPIES),
        Extent::Part { .. } => 1,
    };
    (0..copies).map(|copy| trial.scratch.join(format!("copy-{copy}"))).collect()
}

/// Nothing of an earlier trial may stand where the copies go.
pub(super) fn prepare(trial: &Trial<'_>) -> Result<(), Fault> {
    if let Extent::Passes(passes) = trial.extent
        && passes > MOST_COPIES
    {
        let cause = format!("{passes} copies in one trial are more than {MOST_COPIES}");
        return Err(Fault::new(super::DOING, cause));
    }
    clear(trial)
}

/// Removes the targets, those that a killed trial has left too.
pub(super) fn clear(trial: &Trial<'_>) -> Result<(), Fault> {
    for path in paths(trial) {
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(Fault::of(format!("remove the copy {}", path_to_text(&path)), &error));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Permission bits of the source.
pub(super) fn mode_of(source: &Path) -> Result<u32, Fault> {
    let about = std::fs::metadata(source)
        .map_err(|e| Fault::of(format!("look at {}", path_to_text(source)), &e))?;
    Ok(about.permissions().mode() & 0o7777)
}
