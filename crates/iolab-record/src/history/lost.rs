//! Spools in memory whose history is gone for good: nothing would ever take them over.
//!
//! Beside a spool its lock says where its history is to be: the nearest directory that was there when
//! the run began, and the device of that. Where the directory is gone and what is above it lies on the
//! same device, it was removed, and no disk that comes back brings it.

use std::ffi::OsStr;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::format;
use super::spool::{self, Spool, nearest_existing};

/// A run that was killed and whose history is no more.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    /// Where its trials are kept.
    pub spool: PathBuf,
    /// What was left of the way to its history when it began.
    pub directory: PathBuf,
    /// Trials in it.
    pub trials: u64,
    /// Whether it was removed.
    pub removed: bool,
}

/// Finds this user's runs that no history will take over any more, and removes them but for a look.
#[must_use]
pub fn sweep_lost(only_look: bool) -> Vec<Lost> {
    let places = spool::memory_directories();
    places.iter().flat_map(|directory| sweep(directory, |_| !only_look)).collect()
}

/// Of those in a directory the ones in which nothing was measured: no one misses them.
pub(super) fn sweep_empty(directory: &Path) {
    sweep(directory, |trials| trials == 0);
}

fn sweep(directory: &Path, removes: impl Fn(u64) -> bool) -> Vec<Lost> {
    let mut found = Vec::new();
    for name in fs::read_dir(directory).into_iter().flatten().flatten() {
        let lock = name.path();
        // Its own history would miss a spool that is held here, if only for a moment: what is not
        // lost is not touched.
        let Some(gone) = fs::read(&lock).ok().and_then(|note| gone(&note)) else { continue };
        let Some(spool) = Spool::take_whosever(&lock) else { continue };
        let trials = trials(&spool.path);
        let removed = removes(trials);
        if removed {
            spool.remove();
        }
        found.push(Lost { spool: spool.path.clone(), directory: gone, trials, removed });
    }
    found
}

/// The directory of a note, where it was removed.
fn gone(note: &[u8]) -> Option<PathBuf> {
    let end = note.iter().position(|byte| *byte == b'\n')?;
    let device: u64 = std::str::from_utf8(&note[..end]).ok()?.parse().ok()?;
    let directory = Path::new(OsStr::from_bytes(&note[end + 1..]));
    let missing =
        fs::symlink_metadata(directory).is_err_and(|e| e.kind() == io::ErrorKind::NotFound);
    let above = nearest_existing(directory)?;
    let same = fs::metadata(above).is_ok_and(|about| about.dev() == device);
    (directory.is_absolute() && missing && same).then(|| directory.to_owned())
}

fn trials(spool: &Path) -> u64 {
    let count = |db: rusqlite::Connection| {
        db.query_row("SELECT count(*) FROM sample", [], |row| row.get::<_, i64>(0)).ok()
    };
    format::open(spool).ok().flatten().and_then(count).unwrap_or(0) as u64
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::super::spool::{Place, Spool, note};
    use super::{gone, sweep, sweep_empty};

    /// Runs that were killed lay in memory until the machine was started anew, once the directory of
    /// their history was gone.
    #[test]
    fn what_no_history_takes_over_is_found_and_nothing_else() {
        let dir = tempfile::tempdir().unwrap();
        let (memory, home) = (dir.path().join("memory"), dir.path().join("home"));
        std::fs::create_dir(&memory).unwrap();
        std::fs::create_dir(&home).unwrap();
        let place = |name: &str| Place::in_memory(memory.clone(), &home.join(name));
        let living = Spool::create(&place("a/h.sqlite")).unwrap();
        let dead = Spool::create(&place("b/h.sqlite")).unwrap().path.clone();
        // Its first run makes the directory of a history: that it is not there yet says nothing.
        assert_eq!(sweep(&memory, |_| true), []);
        std::fs::remove_dir(&home).unwrap();
        let found = || sweep(&memory, |_| false);
        while found().is_empty() {
            // A child that another test forked holds the lock as well, until it ends.
            std::thread::yield_now();
        }
        let found = found();
        assert_eq!((found.len(), &found[0].spool), (1, &dead), "one of them lives");
        assert_eq!((&found[0].directory, found[0].trials), (&home, 0));
        sweep_empty(&memory);
        assert!(!dead.exists() && living.path.exists());
        assert_eq!(std::fs::read_dir(&memory).unwrap().count(), 2, "a spool and its lock");
    }

    #[test]
    fn a_disk_that_is_not_mounted_is_not_gone() {
        let dir = tempfile::tempdir().unwrap();
        let home = dir.path().join("home");
        std::fs::create_dir(&home).unwrap();
        let noted = note(&home.join("state/h.sqlite")).unwrap();
        assert_eq!(gone(&noted), None);
        std::fs::remove_dir(&home).unwrap();
        assert_eq!(gone(&noted), Some(home.clone()));
        // It was on another device than what is there now.
        let other = [b"9999999\n", home.to_str().unwrap().as_bytes()].concat();
        assert_eq!(gone(&other), None);
        for nonsense in [&b""[..], b"7", b"x\n/gone", b"7\nrelative", b"\n"] {
            assert_eq!(gone(nonsense), None);
        }
        assert!(note(Path::new("/no/such/h.sqlite")).unwrap().ends_with(b"\n/"));
    }
}
