//! The history: list, load, begin a run.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use rusqlite::{Connection, OptionalExtension};

use super::error::RecordError;
use super::list::{self, Filter, RunSummary};
use super::spool::{self, Spool};
use super::writer::{self, Continued, Writer};
use super::{format, rows};
use iolab_model::result::Document;

/// The history of one user, or a file that was named.
#[derive(Clone, Debug)]
pub struct Store {
    path: PathBuf,
    notices: Vec<String>,
}

impl Store {
    /// Opens the history at `path` or the user's own, and takes over runs whose process was
    /// killed. A file that is absent is made by the first run, not by looking.
    ///
    /// `avoid_devices`: device numbers (`st_dev`) under test. Where the history may be on one of
    /// them nothing is written now; killed runs are then taken over by a later command.
    ///
    /// # Errors
    /// No place is known, or the file is damaged, foreign, newer or unreadable.
    pub fn open(path: Option<&Path>, avoid_devices: &[u64]) -> Result<Store, RecordError> {
        let mut store = Store { path: Store::locate(path)?, notices: Vec::new() };
        store.read()?;
        if !spool::shared(&store.path, avoid_devices) {
            store.adopt();
        }
        Ok(store)
    }

    /// Where the history at `path`, or the user's own, is or would be; looks at no content.
    ///
    /// # Errors
    /// No place is known.
    pub fn locate(path: Option<&Path>) -> Result<PathBuf, RecordError> {
        let path = match path {
            Some(path) => path.to_path_buf(),
            None => default_path(std::env::var_os("XDG_STATE_HOME"), std::env::var_os("HOME"))?,
        };
        Ok(identity(&path))
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// What the person should know, one line each: a killed run that was taken over or could not be.
    pub fn notices(&self) -> &[String] {
        &self.notices
    }

    /// Begins the record of a run from the document as far as it is known: run, environment,
    /// experiment and cells. `continues`: the run of this history that it goes on with and will
    /// replace; `opening` then has the samples so far.
    ///
    /// # Errors
    /// The history could not take the run at the end, or there is no place for the spool.
    pub fn begin(
        &self,
        opening: &Document,
        avoid_devices: &[u64],
        continues: Option<u64>,
    ) -> Result<Writer, RecordError> {
        if spool::shared(&self.path, avoid_devices) {
            self.check_writable()?;
        } else {
            writer::make_ready(&self.path)?;
        }
        let continues = continues.map(|id| self.continued(id)).transpose()?;
        Writer::begin(self.path.clone(), opening, avoid_devices, continues)
    }

    /// Inserts a document from elsewhere as a new run and gives its number.
    ///
    /// # Errors
    /// The history cannot be written.
    pub fn insert(&self, document: &Document) -> Result<u64, RecordError> {
        let token =
            spool::random_token().map_err(|e| RecordError::io("write to", &self.path, &e))?;
        writer::insert_into(&self.path, &document.finite(), &token, None)
    }

    /// Runs, newest first.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn list(&self, filter: &Filter) -> Result<Vec<RunSummary>, RecordError> {
        let Some(db) = self.read()? else { return Ok(Vec::new()) };
        list::list(&db, filter).map_err(|e| RecordError::sql("open", &self.path, e))
    }

    /// The newest run, `None` where there is none.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn last(&self) -> Result<Option<RunSummary>, RecordError> {
        let newest = Filter { limit: Some(1), ..Filter::default() };
        Ok(self.list(&newest)?.pop())
    }

    /// The whole of a run: also all that is needed to resume it (seed, arguments, levels, and the
    /// samples by cell and round).
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn load(&self, id: u64) -> Result<Document, RecordError> {
        let loaded = match self.read()? {
            Some(db) => rows::load(&db, id).map_err(|e| RecordError::sql("open", &self.path, e))?,
            None => None,
        };
        loaded.ok_or_else(|| RecordError::NoRun { id, path: self.path.clone() })
    }

    /// A run without its samples and answers: enough for a trend.
    ///
    /// # Errors
    /// There is no such run, or the file cannot be read.
    pub fn figures(&self, id: u64) -> Result<Document, RecordError> {
        let sql = |e| RecordError::sql("open", &self.path, e);
        let loaded = match self.read()? {
            Some(db) => rows::load_figures(&db, id).map_err(sql)?,
            None => None,
        };
        loaded.ok_or_else(|| RecordError::NoRun { id, path: self.path.clone() })
    }

    pub(super) fn read(&self) -> Result<Option<Connection>, RecordError> {
        format::open(&self.path)
    }

    fn continued(&self, id: u64) -> Result<Continued, RecordError> {
        let missing = || RecordError::NoRun { id, path: self.path.clone() };
        let db = self.read()?.ok_or_else(missing)?;
        let token = "SELECT token FROM run WHERE id = ?";
        let token = db.query_row(token, [id as i64], |r| r.get(0)).optional();
        let token = token.map_err(|e| RecordError::sql("open", &self.path, e))?;
        Ok(Continued { id, token: token.ok_or_else(missing)? })
    }

    /// Asks for the right to write without writing, so that a run does not end in a refusal.
    fn check_writable(&self) -> Result<(), RecordError> {
        use rustix::fs::{Access, access};
        let existing = self.path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("/"));
        let mut targets = vec![existing];
        // The rollback journal is made beside the file.
        targets.extend(self.path.parent().filter(|p| p.exists()));
        for target in targets {
            access(target, Access::WRITE_OK)
                .map_err(|e| RecordError::io("write to", &self.path, &e.into()))?;
        }
        Ok(())
    }

    fn adopt(&mut self) {
        for place in spool::known(&self.path) {
            for spool in Spool::abandoned(&place) {
                self.adopt_one(&spool);
            }
        }
    }

    fn adopt_one(&mut self, spool: &Spool) {
        let found = match writer::read_abandoned(spool, &self.path) {
            Ok(Some(found)) => found,
            Ok(None) => return spool.remove(),
            Err(None) => return,
            Err(Some(e)) => {
                return self.notices.push(format!("a run could not be taken over: {e}"));
            }
        };
        let continues = found.continues.as_ref();
        match writer::insert_into(&self.path, &found.document, &spool.token, continues) {
            Ok(id) => {
                spool.remove();
                self.notices.push(format!(
                    "run {id} ({}) was taken over from a process that ended early",
                    found.document.run.title.escape_debug()
                ));
            }
            Err(e) => self.notices.push(format!(
                "a run is kept in {} until the history can be written: {e}",
                spool.path.display()
            )),
        }
    }
}

/// `$XDG_STATE_HOME/iolab/history.sqlite`, else `~/.local/state/…`. Relative paths in the
/// variable are to be ignored (XDG Base Directory Specification).
fn default_path(state: Option<OsString>, home: Option<OsString>) -> Result<PathBuf, RecordError> {
    let absolute = |value: Option<OsString>| value.map(PathBuf::from).filter(|p| p.is_absolute());
    let base = absolute(state).or_else(|| absolute(home).map(|home| home.join(".local/state")));
    Ok(base.ok_or(RecordError::NoPlace)?.join("iolab").join("history.sqlite"))
}

/// One spelling of a path, so that a spool finds its history again: symbolic links resolved as far
/// as the path exists.
fn identity(path: &Path) -> PathBuf {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    for ancestor in path.ancestors() {
        if let Ok(real) = std::fs::canonicalize(ancestor) {
            let rest = path.strip_prefix(ancestor).unwrap_or(Path::new(""));
            // `join("")` would add a slash.
            return if rest.as_os_str().is_empty() { real } else { real.join(rest) };
        }
    }
    path
}

#[cfg(test)]
mod tests {
    use super::{default_path, identity};
    use std::path::Path;

    #[test]
    fn the_default_place_follows_xdg_and_ignores_relative_paths() {
        let at = |state: Option<&str>, home: Option<&str>| {
            default_path(state.map(Into::into), home.map(Into::into))
                .map(|p| p.to_str().unwrap().to_owned())
        };
        assert_eq!(at(Some("/s"), Some("/h")).unwrap(), "/s/iolab/history.sqlite");
        let home = "/h/.local/state/iolab/history.sqlite";
        assert_eq!(at(None, Some("/h")).unwrap(), home);
        assert_eq!(at(Some("rel"), Some("/h")).unwrap(), home);
        assert_eq!(at(Some(""), Some("/h")).unwrap(), home);
        let error = at(None, None).unwrap_err().to_string();
        assert!(error.contains("--store"), "{error}");
    }

    #[test]
    fn links_are_resolved_as_far_as_the_path_exists() {
        let dir = tempfile::tempdir().unwrap();
        let real = std::fs::canonicalize(dir.path()).unwrap();
        std::fs::create_dir(real.join("state")).unwrap();
        std::os::unix::fs::symlink(real.join("state"), real.join("link")).unwrap();
        assert_eq!(identity(&real.join("link/a/b.sqlite")), real.join("state/a/b.sqlite"));
        assert_eq!(identity(Path::new("/")), Path::new("/"));
    }
}
