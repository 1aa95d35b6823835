//! What stays in a history: pins, retention, and runs from elsewhere.

use std::collections::HashMap;

use rusqlite::{OptionalExtension, TransactionBehavior, params};

use super::error::RecordError;
use super::list::{Filter, RunStatus, RunSummary, list};
use super::store::Store;
use super::{rows, writer};
use iolab_model::catalog::Fact;
use iolab_model::result::Document;

/// Which runs are removed: those that meet everything that is asked. Pinned ones never are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Retention {
    /// Of each experiment (workload and title) the newest so many stay.
    pub keep: Option<u64>,
    /// Only runs that started before then, RFC 3339 in UTC.
    pub before: Option<String>,
    /// Only partial runs.
    pub partial: bool,
}

/// Where an imported run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Imported {
    /// Its number here.
    pub id: u64,
    /// It was here before: the same file was imported earlier.
    pub already: bool,
}

impl Store {
    /// Inserts a document from elsewhere as a new run; one with the same content is found again
    /// and not taken twice.
    ///
    /// # Errors
    /// The history cannot be written.
    pub fn import(&self, document: &Document) -> Result<Imported, RecordError> {
        let document = document.finite();
        let content = fingerprint(&document);
        if let Some(id) = self.same(&document, content)? {
            return Ok(Imported { id, already: true });
        }
        let token = format!("import-{content:032x}");
        let id = writer::insert_into(self.path(), &document, &token, None)?;
        Ok(Imported { id, already: false })
    }

    /// The run of this content: one that was imported before, or that was made here and has come
    /// back from elsewhere.
    fn same(&self, document: &Document, content: u128) -> Result<Option<u64>, RecordError> {
        let Some(db) = self.read()? else { return Ok(None) };
        let sql = |e| RecordError::sql("open", self.path(), e);
        let alike = "SELECT id FROM run WHERE started = ? AND seed = ? AND cells = ?";
        let of =
            params![document.run.started, document.run.seed as i64, document.cells.len() as i64];
        let mut statement = db.prepare(alike).map_err(sql)?;
        let ids = statement.query_map(of, |row| row.get::<_, i64>(0)).map_err(sql)?;
        for id in ids {
            let id = id.map_err(sql)?;
            let known = rows::load(&db, id as u64).map_err(sql)?;
            if known.is_some_and(|known| fingerprint(&known) == content) {
                return Ok(Some(id as u64));
            }
        }
        Ok(None)
    }

    /// Keeps a run whatever is pruned, under a name where one is given. `since`: now.
    ///
    /// # Errors
    /// There is no such run, the name is another's, or the history cannot be written.
    pub fn pin(&self, id: u64, name: Option<&str>, since: &str) -> Result<(), RecordError> {
        self.load_summary(id)?;
        let sql = |e| RecordError::sql("write to", self.path(), e);
        let mut db = writer::make_ready(self.path())?;
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        if let Some(name) = name {
            let whose = "SELECT run FROM pin WHERE name = ?";
            let whose = change.query_row(whose, [name], |r| r.get::<_, i64>(0)).optional();
            let whose = whose.map_err(sql)?.map(|run| run as u64);
            if let Some(run) = whose.filter(|run| *run != id) {
                return Err(RecordError::NameTaken { name: name.to_owned(), run });
            }
        }
        let put = "INSERT INTO pin(run, name, since) VALUES (?1, ?2, ?3)
                   ON CONFLICT(run) DO UPDATE SET name = coalesce(?2, name)";
        change.execute(put, params![id as i64, name, since]).map_err(sql)?;
        change.commit().map_err(sql)
    }

    /// Lets go of a pinned run; whether it was pinned.
    ///
    /// # Errors
    /// There is no such run, or the history cannot be written.
    pub fn unpin(&self, id: u64) -> Result<bool, RecordError> {
        self.load_summary(id)?;
        let db = writer::make_ready(self.path())?;
        let gone = db.execute("DELETE FROM pin WHERE run = ?", [id as i64]);
        Ok(gone.map_err(|e| RecordError::sql("write to", self.path(), e))? > 0)
    }

    /// The run that is pinned by this name.
    ///
    /// # Errors
    /// There is none, or the file cannot be read.
    pub fn named(&self, name: &str) -> Result<u64, RecordError> {
        let pinned = Filter { pinned: true, ..Filter::default() };
        let runs = self.list(&pinned)?;
        let found = runs.iter().find(|run| run.name.as_deref() == Some(name)).map(|run| run.id);
        found.ok_or_else(|| RecordError::NoName {
            name: name.to_owned(),
            path: self.path().to_path_buf(),
        })
    }

    /// The runs that a retention would remove, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn expired(&self, retention: &Retention) -> Result<Vec<RunSummary>, RecordError> {
        Ok(expired(self.list(&Filter::default())?, retention))
    }

    /// Removes the runs that a retention names and gives the room back; which they were.
    ///
    /// # Errors
    /// The history cannot be written; then nothing was removed.
    pub fn prune(&self, retention: &Retention) -> Result<Vec<RunSummary>, RecordError> {
        if self.read()?.is_none() {
            return Ok(Vec::new());
        }
        let sql = |e| RecordError::sql("write to", self.path(), e);
        let mut db = writer::make_ready(self.path())?;
        // Looked at under the lock: a run that was pinned meanwhile stays.
        let change = db.transaction_with_behavior(TransactionBehavior::Immediate).map_err(sql)?;
        let gone = expired(list(&change, &Filter::default()).map_err(sql)?, retention);
        for run in &gone {
            rows::delete(&change, run.id).map_err(sql)?;
        }
        change.commit().map_err(sql)?;
        if !gone.is_empty() {
            // Needs as much free space as the file; without it the room is used by later runs.
            let _ = db.execute_batch("VACUUM");
        }
        Ok(gone)
    }

    fn load_summary(&self, id: u64) -> Result<(), RecordError> {
        let missing = || RecordError::NoRun { id, path: self.path().to_path_buf() };
        let db = self.read()?.ok_or_else(missing)?;
        let there = "SELECT count(*) FROM run WHERE id = ?";
        let there = db.query_row(there, [id as i64], |r| r.get::<_, i64>(0));
        match there.map_err(|e| RecordError::sql("open", self.path(), e))? {
            0 => Err(missing()),
            _ => Ok(()),
        }
    }
}

/// Runs come newest first.
fn expired(runs: Vec<RunSummary>, retention: &Retention) -> Vec<RunSummary> {
    let mut seen: HashMap<(String, String), u64> = HashMap::new();
    let goes = |run: &RunSummary| {
        let newer = seen.entry((run.workload.clone(), run.title.clone())).or_default();
        *newer += 1;
        !run.pinned
            && retention.keep.is_none_or(|keep| *newer > keep)
            && retention.before.as_ref().is_none_or(|before| run.started < *before)
            && (!retention.partial || run.status == RunStatus::Partial)
    };
    runs.into_iter().filter(goes).collect()
}

/// FNV-1a over the content without its number and the name of its file, 128 bits: the same run is
/// found again wherever it was copied to.
fn fingerprint(document: &Document) -> u128 {
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    let mut plain = document.clone();
    plain.run.id = 0;
    plain.environment.remove(Fact::ImportFile);
    // Of a partial run they are made anew whenever it is looked at.
    if !plain.run.complete {
        plain.cells.iter_mut().for_each(|cell| cell.estimate = None);
    }
    let mut hash = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d_u128;
    let text = serde_json::to_vec(&plain).unwrap_or_default();
    for byte in text {
        hash = (hash ^ u128::from(byte)).wrapping_mul(PRIME);
    }
    hash
}
