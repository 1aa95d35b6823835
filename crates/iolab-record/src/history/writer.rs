//! The record of one run while it is made.

use std::borrow::Cow;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension, TransactionBehavior, params};

use super::error::RecordError;
use super::spool::{self, Spool};
use super::{format, lost, rows};
use iolab_model::catalog::Code;
use iolab_model::result::{
    CellStatus, Document, ExclusionReason, ExperimentRecord, Phase, Sample, Warning,
};

/// The spool has one run, and this is its number there.
const SPOOLED: u64 = 1;

/// What a spool knows beside the run: which history it is for and which run it goes on with.
const LIVE: &str =
    "CREATE TABLE live (store BLOB NOT NULL, continues INTEGER, replaces TEXT, ended INTEGER)";

/// Writes a run trial by trial. Dropped without [`Writer::finish`] the run is a partial one, which
/// the next [`super::Store::open`] takes over.
#[derive(Debug)]
pub struct Writer {
    store: PathBuf,
    spool: Spool,
    db: Connection,
    next_number: u64,
    shared: bool,
    continues: Option<Continued>,
}

/// The run that a resumed one goes on with, and its token at that time.
#[derive(Clone, Debug)]
pub(super) struct Continued {
    pub(super) id: u64,
    pub(super) token: String,
}

impl Writer {
    /// Makes the spool and writes the opening document (with the samples so far of a resumed run).
    pub(super) fn begin(
        store: PathBuf,
        opening: &Document,
        avoid_devices: &[u64],
        continues: Option<Continued>,
    ) -> Result<Writer, RecordError> {
        let shared = spool::shared(&store, avoid_devices);
        let place = spool::choose(&store, avoid_devices)?;
        if place.in_memory {
            lost::sweep_empty(&place.directory);
        }
        let spool =
            Spool::create(&place).map_err(|e| RecordError::io("write to", &place.directory, &e))?;
        let db = format::open_spool(&spool.path, place.in_memory)?;
        let mut writer = Writer { store, spool, db, next_number: 0, shared, continues };
        writer.write_opening(opening).inspect_err(|_| writer.spool.remove())?;
        Ok(writer)
    }

    fn write_opening(&mut self, opening: &Document) -> Result<(), RecordError> {
        let opening = opening.finite();
        let (id, replaces) = self.continues.clone().map(|c| (c.id as i64, c.token)).unzip();
        let path = &self.spool.path;
        let sql = |e| RecordError::sql("write to", path, e);
        let transaction = self.db.transaction().map_err(sql)?;
        transaction.execute_batch(LIVE).map_err(sql)?;
        rows::insert(&transaction, &opening, &self.spool.token, Some(SPOOLED)).map_err(sql)?;
        transaction
            .execute(
                "INSERT INTO live VALUES (?, ?, ?, 0)",
                params![path_bytes(&self.store), id, replaces],
            )
            .map_err(sql)?;
        transaction.commit().map_err(sql)?;
        self.next_number = sample_count(&opening);
        Ok(())
    }

    /// Commits one trial of the cell with this index. `twin`: the second arm of the baseline.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn trial(&mut self, cell: usize, twin: bool, sample: &Sample) -> Result<(), RecordError> {
        let mut sample = Cow::Borrowed(sample);
        if !sample.is_finite() {
            sample.to_mut().make_finite();
        }
        let arm = rows::Arm { cell: cell as i64, twin };
        rows::insert_sample(&self.db, SPOOLED, self.next_number, arm, &sample)
            .map_err(|e| self.sql(e))?;
        self.next_number += 1;
        Ok(())
    }

    /// Records that a cell is left out from now on, and why.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn left_out(
        &mut self,
        cell: usize,
        why: ExclusionReason,
        reason: &str,
    ) -> Result<(), RecordError> {
        rows::leave_out(&self.db, cell, why, reason).map_err(|e| self.sql(e))
    }

    /// Records what became known of the experiment since it began: the clock, the epoch length.
    ///
    /// # Errors
    /// The spool cannot be written.
    pub fn experiment(&mut self, experiment: &ExperimentRecord) -> Result<(), RecordError> {
        let json = serde_json::to_string(experiment)
            .map_err(|e| self.sql(rusqlite::Error::ToSqlConversionFailure(Box::new(e))))?;
        self.db
            .execute("UPDATE detail SET experiment = ?", [json])
            .map(drop)
            .map_err(|e| self.sql(e))
    }

    /// The note that the record is kept in memory during the run, where it is.
    pub fn warning(&self) -> Option<Warning> {
        self.shared.then(|| Warning {
            code: Code::StoreOnTarget,
            text: format!(
                "the history {} may be on the file system under test; the record is kept in {} \
                 until the run ends, which survives a kill but not a power failure",
                self.store.display(),
                self.spool.path.parent().unwrap_or(&self.spool.path).display()
            ),
        })
    }

    /// Puts the finished (or stopped) run into the history and gives its number there. The
    /// document replaces what was written trial by trial.
    ///
    /// # Errors
    /// The history cannot be written: the run is kept in the spool and taken over later
    /// ([`RecordError::Kept`]).
    pub fn finish(mut self, document: &Document) -> Result<u64, RecordError> {
        let document = document.finite();
        // First here: if the history is full or locked, the answers are not lost either. An error
        // (memory is full) leaves the trials, which is what the history then gets.
        let _ = self.rewrite(&document);
        let moved = insert_into(&self.store, &document, &self.spool.token, self.continues.as_ref());
        match moved {
            Ok(id) => {
                self.spool.remove();
                Ok(id)
            }
            Err(cause) => {
                Err(RecordError::Kept { spool: self.spool.path.clone(), cause: Box::new(cause) })
            }
        }
    }

    /// Forgets the run: nothing of it enters the history.
    pub fn discard(self) {
        self.spool.remove();
    }

    fn rewrite(&mut self, document: &Document) -> Result<(), rusqlite::Error> {
        let transaction = self.db.transaction()?;
        rows::insert(&transaction, document, &self.spool.token, Some(SPOOLED))?;
        transaction.execute("UPDATE live SET ended = 1", [])?;
        transaction.commit()
    }

    fn sql(&self, error: rusqlite::Error) -> RecordError {
        RecordError::sql("write to", &self.spool.path, error)
    }
}

/// Inserts a run into the history, made where it is absent; a run that is there already is left.
pub(super) fn insert_into(
    store: &Path,
    document: &Document,
    token: &str,
    continues: Option<&Continued>,
) -> Result<u64, RecordError> {
    let mut db = make_ready(store)?;
    let sql = |e| RecordError::sql("write to", store, e);
    let transaction = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
    let by_token = "SELECT id FROM run WHERE token = ?";
    let here = transaction.query_row(by_token, [token], |r| r.get::<_, i64>(0)).optional();
    if let Some(id) = here.map_err(sql)? {
        return Ok(id as u64);
    }
    // Replaced only if it is still what was resumed: of two resumed at once both are kept.
    let replaced = continues.filter(|c| {
        let found = transaction.query_row(by_token, [&c.token], |r| r.get::<_, i64>(0));
        found.is_ok_and(|id| id as u64 == c.id)
    });
    let id = rows::insert(&transaction, document, token, replaced.map(|c| c.id)).map_err(sql)?;
    transaction.commit().map_err(sql)?;
    Ok(id)
}

/// Opens the history for writing, made with its directory where it is absent.
pub(super) fn make_ready(store: &Path) -> Result<Connection, RecordError> {
    if let Some(parent) = store.parent() {
        std::fs::DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(parent)
            .map_err(|e| RecordError::io("make", store, &e))?;
    }
    format::open_for_writing(store)
}

/// What an abandoned spool holds.
pub(super) struct Abandoned {
    pub(super) document: Document,
    pub(super) continues: Option<Continued>,
}

/// Reads an abandoned spool; `None` where it holds no trial. `Err(None)`: of another history.
pub(super) fn read_abandoned(
    spool: &Spool,
    store: &Path,
) -> Result<Option<Abandoned>, Option<RecordError>> {
    let sql = |e| Some(RecordError::sql("open", &spool.path, e));
    let Some(db) = format::open(&spool.path).map_err(Some)? else { return Ok(None) };
    let begun = "SELECT count(*) FROM sqlite_schema WHERE name = 'live'";
    if db.query_row(begun, [], |r| r.get::<_, i64>(0)).map_err(sql)? == 0 {
        return Ok(None);
    }
    let (of, id, token, ended): (Vec<u8>, Option<i64>, Option<String>, bool) = db
        .query_row("SELECT * FROM live", [], |r| Ok((r.get(0)?, r.get(1)?, r.get(2)?, r.get(3)?)))
        .map_err(sql)?;
    if of != path_bytes(store) {
        return Err(None);
    }
    let Some(mut document) = rows::load(&db, SPOOLED).map_err(sql)? else { return Ok(None) };
    if !ended {
        settle(&mut document);
        if sample_count(&document) == 0 {
            return Ok(None);
        }
    }
    let continues = id.zip(token).map(|(id, token)| Continued { id: id as u64, token });
    Ok(Some(Abandoned { document, continues }))
}

/// Makes the record of a killed run say what is true of it.
fn settle(doc: &mut Document) {
    doc.run.complete = false;
    doc.run.finished = None;
    let steady = doc.cells.iter().flat_map(|c| &c.samples).filter(|s| s.phase == Phase::Steady);
    let rounds: std::collections::BTreeSet<u32> = steady.map(|s| s.round).collect();
    doc.experiment.protocol.steady_rounds = rounds.len() as u32;
    doc.experiment.protocol.stopped = "the process ended before the run did".to_owned();
    for cell in doc.cells.iter_mut().filter(|c| c.status == CellStatus::Measured) {
        let (status, reason) = if cell.samples.is_empty() {
            (CellStatus::Skipped, "the run ended before it was measured")
        } else if cell.samples.iter().all(|s| s.fault.is_some()) {
            (CellStatus::Failed, "every trial failed")
        } else {
            continue;
        };
        cell.status = status;
        cell.reason = Some(reason.to_owned());
    }
}

fn sample_count(doc: &Document) -> u64 {
    let twins = doc.twin.as_ref().map_or(0, |t| t.samples.len());
    (doc.cells.iter().map(|c| c.samples.len()).sum::<usize>() + twins) as u64
}

fn path_bytes(path: &Path) -> &[u8] {
    std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str())
}
