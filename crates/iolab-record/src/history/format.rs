//! The database format: its version, how it is made, and how a file is opened without harm.
//!
//! `run` has what a list shows, one slim row a run, so that 10 000 runs are listed in
//! milliseconds; `detail`, `cell`, `answer` and `sample` have the rest. Version 2 gives answers a table
//! of their own, version 3 adds pins and the figure of a trend. Unsigned 64-bit numbers are kept as
//! the signed number of the same bits; levels, proofs and metrics are JSON.
//!
//! The history uses SQLite's rollback journal, never WAL: it stays one file that can be copied,
//! read from a read-only medium and kept on a network file system, where WAL's shared memory does
//! not work. It is written once a run, in one transaction with `synchronous = FULL`, so a power
//! failure loses no finished run. Trials are committed one by one to the spool (see `spool`).

use std::path::Path;
use std::time::Duration;

use rusqlite::{Connection, OpenFlags, TransactionBehavior};

use super::error::RecordError;

/// The version this code writes. A file with a greater one is neither written nor read.
pub const VERSION: i64 = 4;

/// "iolb": tells an iolab history from another program's SQLite file.
const APPLICATION: i64 = 0x696f_6c62;

/// How long a writer waits for another one; a whole run is inserted in well under a second.
const WAIT: Duration = Duration::from_secs(10);

/// Entry n brings a file from version n to n + 1. Entries are never changed, only added.
const MIGRATIONS: [&str; VERSION as usize] = [V1, V2, V3, V4];

const V1: &str = "
CREATE TABLE run (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  token TEXT NOT NULL UNIQUE,
  title TEXT NOT NULL, workload TEXT NOT NULL,
  started TEXT NOT NULL, finished TEXT, complete INTEGER NOT NULL,
  cells INTEGER NOT NULL, samples INTEGER NOT NULL, answer TEXT, seed INTEGER NOT NULL);
CREATE INDEX run_by_start ON run(started);
CREATE TABLE detail (
  run INTEGER PRIMARY KEY REFERENCES run(id),
  schema TEXT NOT NULL, info TEXT NOT NULL, environment TEXT NOT NULL, experiment TEXT NOT NULL,
  twin TEXT, answers TEXT NOT NULL, warnings TEXT NOT NULL);
CREATE TABLE cell (
  run INTEGER NOT NULL REFERENCES run(id), cell INTEGER NOT NULL,
  id TEXT NOT NULL, factors TEXT NOT NULL, status TEXT NOT NULL, reason TEXT, estimate TEXT,
  PRIMARY KEY (run, cell)) WITHOUT ROWID;
CREATE TABLE sample (
  run INTEGER NOT NULL REFERENCES run(id), number INTEGER NOT NULL,
  cell INTEGER NOT NULL, twin INTEGER NOT NULL,
  round INTEGER NOT NULL, position INTEGER NOT NULL, phase TEXT NOT NULL, epoch INTEGER NOT NULL,
  wall_ns INTEGER NOT NULL, user_ns INTEGER NOT NULL, system_ns INTEGER NOT NULL,
  bytes INTEGER NOT NULL, operations INTEGER NOT NULL, repetitions INTEGER NOT NULL,
  rest TEXT NOT NULL,
  PRIMARY KEY (run, number)) WITHOUT ROWID;
";

const V2: &str = "
CREATE TABLE answer (
  run INTEGER NOT NULL REFERENCES run(id), at INTEGER NOT NULL, body TEXT NOT NULL,
  PRIMARY KEY (run, at)) WITHOUT ROWID;
";

/// What must not be pruned, by a name where it has one; and the figure that a list of runs draws
/// its trend from: the least median time of a pass of any cell.
const V3: &str = "
CREATE TABLE pin (
  run INTEGER PRIMARY KEY REFERENCES run(id), name TEXT UNIQUE, since TEXT NOT NULL);
ALTER TABLE run ADD COLUMN best_ns REAL;
UPDATE run SET best_ns = (
  SELECT min(json_extract(estimate, '$.wall_ns.median')) FROM cell WHERE cell.run = run.id);
";

/// Why a cell was left out, as a word: its reason is a sentence for people.
const V4: &str = "
ALTER TABLE cell ADD COLUMN exclusion TEXT;
";

/// Opens a file for reading and leaves it as it is; `None` where it is absent or empty.
///
/// # Errors
/// The file is damaged, foreign, newer, or cannot be opened.
pub(super) fn open(path: &Path) -> Result<Option<Connection>, RecordError> {
    match std::fs::metadata(path) {
        Ok(_) => {}
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => return Ok(None),
        Err(e) => return Err(RecordError::io("open", path, &e)),
    }
    let sql = |e| RecordError::sql("open", path, e);
    // Read-write so that a journal left by a crash can be rolled back; SQLite falls back to
    // read-only where the rights are lacking. No URI flag: a file may be called `file:x`.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags).map_err(sql)?;
    connection.busy_timeout(WAIT).map_err(sql)?;
    let found = check(&connection, path)?;
    Ok((found > 0).then_some(connection))
}

/// Opens a file for writing, makes it where it is absent and brings it up to [`VERSION`].
///
/// # Errors
/// As [`open`]; or the file cannot be made or written.
pub(super) fn open_for_writing(path: &Path) -> Result<Connection, RecordError> {
    let sql = |e| RecordError::sql("write to", path, e);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE
        | OpenFlags::SQLITE_OPEN_CREATE
        | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(sql)?;
    connection.busy_timeout(WAIT).map_err(sql)?;
    let found = check(&connection, path)?;
    connection.pragma_update(None, "synchronous", "FULL").map_err(sql)?;
    if found < VERSION {
        migrate(&mut connection, path)?;
    }
    Ok(connection)
}

/// So many pages of a spool on a disk are written back at once, 256 KiB. What is dirty on any disk is
/// waited for before a trial: a record that left a mebibyte to the kernel made each trial wait for it.
const SPOOL_PAGES: u32 = 64;

/// Makes a spool in an empty file that one process owns. WAL, so that a kill in the middle of a
/// commit harms nothing and a commit needs no sync. A killed process loses nothing with
/// `synchronous = OFF` either: what it wrote is with the kernel.
pub(super) fn open_spool(path: &Path, in_memory: bool) -> Result<Connection, RecordError> {
    let sql = |e| RecordError::sql("write to", path, e);
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let mut connection = Connection::open_with_flags(path, flags).map_err(sql)?;
    let synchronous = if in_memory { "OFF" } else { "NORMAL" };
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE").map_err(sql)?;
    connection.pragma_update(None, "journal_mode", "WAL").map_err(sql)?;
    connection.pragma_update(None, "synchronous", synchronous).map_err(sql)?;
    if !in_memory {
        connection.pragma_update(None, "wal_autocheckpoint", SPOOL_PAGES).map_err(sql)?;
    }
    migrate(&mut connection, path)?;
    Ok(connection)
}

/// The version of an open history.
pub(super) fn version_of(connection: &Connection) -> Result<i64, rusqlite::Error> {
    connection.query_row("PRAGMA user_version", [], |row| row.get(0))
}

/// The version of a file, which is left as it is; 0 where the file is empty. In one transaction:
/// another process may be making the file.
fn check(connection: &Connection, path: &Path) -> Result<i64, RecordError> {
    let sql = |e| RecordError::sql("open", path, e);
    let snapshot = connection.unchecked_transaction().map_err(sql)?;
    let found = version(&snapshot, path)?;
    snapshot.finish().map_err(sql)?;
    Ok(found)
}

fn version(connection: &Connection, path: &Path) -> Result<i64, RecordError> {
    let sql = |e| RecordError::sql("open", path, e);
    let number = |query: &str| connection.query_row(query, [], |row| row.get::<_, i64>(0));
    let found = number("PRAGMA user_version").map_err(sql)?;
    let application = number("PRAGMA application_id").map_err(sql)?;
    let objects = number("SELECT count(*) FROM sqlite_schema").map_err(sql)?;
    if application == 0 && found == 0 && objects == 0 {
        return Ok(0);
    }
    if application != APPLICATION {
        return Err(RecordError::Foreign { path: path.to_path_buf() });
    }
    if found > VERSION {
        return Err(RecordError::Newer { path: path.to_path_buf(), found, known: VERSION });
    }
    Ok(found)
}

fn migrate(connection: &mut Connection, path: &Path) -> Result<(), RecordError> {
    let sql = |e| RecordError::sql("write to", path, e);
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    // Read again under the lock: another process may have done it meanwhile.
    let found = version(&transaction, path)?;
    for step in MIGRATIONS.iter().skip(found.max(0) as usize) {
        transaction.execute_batch(step).map_err(sql)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION).map_err(sql)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(sql)?;
    transaction.commit().map_err(sql)
}

#[cfg(test)]
mod tests {
    use super::open_spool;

    /// A record beside the history left all to the kernel: after a hundred trials a mebibyte was dirty, and
    /// each trial on another disk waited 50 ms for it in vain.
    #[test]
    fn what_a_spool_on_a_disk_leaves_to_the_kernel_is_bounded() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("run.sqlite");
        std::fs::write(&path, "").unwrap();
        let spool = open_spool(&path, false).unwrap();
        spool.execute_batch("CREATE TABLE trial (bytes BLOB)").unwrap();
        for _ in 0..400 {
            spool.execute("INSERT INTO trial VALUES (zeroblob(5000))", ()).unwrap();
        }
        let log = std::fs::metadata(home.path().join("run.sqlite-wal")).unwrap();
        assert!(log.len() < 512 << 10, "{} bytes", log.len());
        assert!(std::fs::metadata(&path).unwrap().len() > 1 << 20, "the rest is in the file");
    }
}
