//! The keys of a claim, as its form reads them.

use super::Trial;
use super::keys::{must, optional, share, whole};
use super::needs::Needs;
use super::read::Reader;
use super::select::Selection;
use iolab_model::catalog::{Factor, Kind as LevelKind, Level};
use iolab_model::spec::file::{self, FileError, Value};
use iolab_model::spec::parse_bytes;

/// Differences that a claim of "no difference" allows where it says nothing.
const TOLERANCE: f64 = 0.1;

/// A claim while it is read.
pub(super) struct Keys<'a, 'r> {
    pub(super) reader: &'r Reader<'r>,
    /// The experiments that may judge it.
    pub(super) trials: Vec<&'r Trial>,
    pub(super) table: file::Table<'a>,
}

impl Keys<'_, '_> {
    /// A side, which must be named.
    pub(super) fn side(&self, key: &str) -> Result<Selection, FileError> {
        must(self.table, key)?;
        self.reader.selection(&self.trials, self.table, key)
    }

    /// A side of a list.
    pub(super) fn chosen(&self, value: Value<'_>) -> Result<Selection, FileError> {
        self.reader.chosen(&self.trials, value)
    }

    /// An axis of all its experiments.
    pub(super) fn factor(&self, key: &str) -> Result<Factor, FileError> {
        let value = must(self.table, key)?;
        let mut factor = Err(value.refuse("no experiment", ""));
        for trial in &self.trials {
            factor = Ok(self.reader.factor(trial, value.text()?, value)?);
        }
        factor
    }

    pub(super) fn tolerance(&self) -> Result<f64, FileError> {
        Ok(share(self.table, "tolerance")?.unwrap_or(TOLERANCE))
    }

    /// A level of an axis of numbers, which its experiments must have.
    pub(super) fn level(&self, key: &str, axis: Factor) -> Result<u64, FileError> {
        let value = must(self.table, key)?;
        let mut levels = Vec::new();
        for trial in &self.trials {
            levels = self.reader.levels(trial, axis, value)?;
        }
        match levels.first() {
            Some(Level::Number(number)) => Ok(*number),
            _ => {
                Err(value
                    .refuse(format!("{axis} has no numbers"), "name an axis of sizes or counts"))
            }
        }
    }

    /// What a machine must have.
    pub(super) fn needs(&self) -> Result<Needs, FileError> {
        Ok(self.table.get("needs").map(needs_of).transpose()?.unwrap_or_default())
    }
}

/// A place on an axis, which need not be a level.
pub(super) fn place_of(axis: Factor, value: Value<'_>) -> Result<u64, FileError> {
    match (value.text(), axis.kind()) {
        (Ok(text), LevelKind::Bytes) => {
            parse_bytes(text).map_err(|error| value.refuse_spec(&error))
        }
        _ => value.number(),
    }
}

fn needs_of(value: Value<'_>) -> Result<Needs, FileError> {
    let needs = value.table()?;
    needs.only(&["processors", "memory", "file-system", "also"])?;
    let bytes =
        |value: Value<'_>| parse_bytes(value.text()?).map_err(|error| value.refuse_spec(&error));
    let places = needs.get("file-system").map(|value| value.texts()).transpose()?;
    Ok(Needs {
        processors: whole(needs, "processors")?,
        memory_bytes: needs.get("memory").map(bytes).transpose()?,
        file_systems: places.unwrap_or_default().into_iter().map(str::to_owned).collect(),
        also: optional(needs, "also")?,
    })
}
