//! What can go wrong with the history. Each text names the file and the fix.

use std::io;
use std::path::{Path, PathBuf};

/// Why the history could not be read or written. Nothing is overwritten on any of these.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// The environment names no directory to keep state in.
    #[error(
        "no place for the history: neither XDG_STATE_HOME nor HOME is set; set one, or name a file with --store PATH"
    )]
    NoPlace,
    /// The file or its directory cannot be made, opened or written.
    #[error("cannot {doing} the history {}: {cause}; make it accessible, or name another file with --store PATH", .path.display())]
    Access {
        /// `open`, `write to`, `make`.
        doing: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's word.
        cause: String,
    },
    /// Another process holds the file longer than the wait.
    #[error("the history {} is in use by another process: {cause}; try again when that has ended", .path.display())]
    Busy {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        cause: String,
    },
    /// The disk is full.
    #[error("no space left for the history {}; free some, or name another file with --store PATH", .path.display())]
    NoSpace {
        /// The file.
        path: PathBuf,
    },
    /// The file is damaged, or not SQLite at all.
    #[error("the history {} is damaged or not an iolab history ({cause}); nothing was changed: move it away and a new one is made (`sqlite3 FILE .recover` may save what is in it), or name another file with --store PATH", .path.display())]
    Corrupt {
        /// The file.
        path: PathBuf,
        /// SQLite's word.
        cause: String,
    },
    /// A later iolab wrote it.
    #[error("the history {} was written by a later iolab (format {found}, this one knows {known}); nothing was changed: update iolab, or name another file with --store PATH", .path.display())]
    Newer {
        /// The file.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The greatest version that is known here.
        known: i64,
    },
    /// An SQLite file of another program.
    #[error("{} is a database of another program, not an iolab history; name another file with --store PATH", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
    },
    /// There is no memory file system for the running record.
    #[error("the history {} is on the file system under test and there is no memory file system to keep the record in meanwhile ({tried}); name a file on another disk with --store PATH", .store.display())]
    NoSpool {
        /// The history.
        store: PathBuf,
        /// What was tried, with the reasons.
        tried: String,
    },
    /// The run ended but could not be put into the history. It is kept and taken over later.
    #[error("{cause}. The run is kept in {}; the next iolab command that can write the history takes it over", .spool.display())]
    Kept {
        /// Where the run is now.
        spool: PathBuf,
        /// Why it is not in the history.
        #[source]
        cause: Box<RecordError>,
    },
    /// No run is pinned by this name.
    #[error("no run is called '{}' in {}; `iolab pin RUN --name NAME` gives names, `iolab history --pinned` lists them", .name.escape_debug(), .path.display())]
    NoName {
        /// What was asked for.
        name: String,
        /// The file.
        path: PathBuf,
    },
    /// The name is another run's.
    #[error("run {run} is called '{}' already; choose another name, or `iolab pin {run} --remove` first", .name.escape_debug())]
    NameTaken {
        /// The name.
        name: String,
        /// Whose it is.
        run: u64,
    },
    /// No such run.
    #[error("there is no run {id} in {}; `iolab history` lists those there are", .path.display())]
    NoRun {
        /// What was asked for.
        id: u64,
        /// The file.
        path: PathBuf,
    },
}

impl RecordError {
    /// Gives an error of SQLite its meaning.
    pub(super) fn sql(doing: &'static str, path: &Path, error: rusqlite::Error) -> RecordError {
        use rusqlite::ErrorCode as E;
        let (path, cause) = (path.to_path_buf(), error.to_string());
        match error.sqlite_error_code() {
            Some(E::DatabaseBusy | E::DatabaseLocked) => RecordError::Busy { path, cause },
            Some(E::DiskFull) => RecordError::NoSpace { path },
            Some(E::DatabaseCorrupt | E::NotADatabase) => RecordError::Corrupt { path, cause },
            Some(_) => RecordError::Access { doing, path, cause },
            // Not SQLite's: a value in the file is not what the format says.
            None => RecordError::Corrupt { path, cause },
        }
    }

    pub(super) fn io(doing: &'static str, path: &Path, error: &io::Error) -> RecordError {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                RecordError::NoSpace { path: path.to_path_buf() }
            }
            _ => RecordError::Access { doing, path: path.to_path_buf(), cause: error.to_string() },
        }
    }
}
