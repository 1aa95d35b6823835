//! What a command writes is not iolab's to bound, but the disk that it fills is shared with others:
//! while it runs, free space is looked at, and it is ended before the reserve is gone.

use std::path::Path;

use iolab_io::place::space;
use iolab_model::catalog::{bytes_text, path_to_text};
use iolab_model::result::Fault;

/// A command may take so much beside what it is to write: logs, temporary files.
const SLACK_BYTES: u64 = 16 << 20;

/// Free space while a command runs.
#[derive(Debug)]
pub struct SpaceWatch<'a> {
    directory: &'a Path,
    floor_bytes: u64,
}

impl<'a> SpaceWatch<'a> {
    /// Begins, before the command is started that writes about `expected_bytes` below `directory`.
    /// Where less than the reserve is free already, what it is to write is still its own.
    ///
    /// # Errors
    /// Free space cannot be asked for.
    pub fn start(directory: &'a Path, expected_bytes: u64) -> Result<SpaceWatch<'a>, Fault> {
        let now = space(directory)?;
        let least = now.free_bytes.saturating_sub(expected_bytes.saturating_add(SLACK_BYTES));
        Ok(SpaceWatch { directory, floor_bytes: now.reserve_bytes.min(least) })
    }

    /// Whether enough is free. That it cannot be asked for now is no reason to end anything.
    pub fn holds(&self) -> bool {
        space(self.directory).map_or(true, |now| now.free_bytes >= self.floor_bytes)
    }

    /// Why it was ended.
    pub fn fault(&self, doing: String) -> Fault {
        let (least, directory) = (bytes_text(self.floor_bytes), path_to_text(self.directory));
        let cause = format!(
            "it was ended because less than {least} was left free on the file system of \
             {directory}; give it less to write, or free space there"
        );
        Fault::new(doing, cause)
    }
}
