//! Which runs there are.

use rusqlite::{Connection, params_from_iter, types::Value};
use serde::Serialize;

use super::format;
use iolab_model::catalog::Fact;

/// Which runs to list. The default is all of them.
#[derive(Clone, Debug, Default)]
pub struct Filter {
    /// At most so many, the newest.
    pub limit: Option<u64>,
    /// Only runs of this workload.
    pub workload: Option<String>,
    /// Only complete ones, or only partial ones.
    pub complete: Option<bool>,
    /// Only runs whose title has these words, in any case of ASCII letters.
    pub title: Option<String>,
    /// Only runs with exactly this title.
    pub experiment: Option<String>,
    /// Only runs that started then or later, RFC 3339 in UTC.
    pub since: Option<String>,
    /// Only runs that started before then.
    pub until: Option<String>,
    /// Only runs made on the machine of this name.
    pub host: Option<String>,
    /// Only pinned ones.
    pub pinned: bool,
}

/// Whether a run ended by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RunStatus {
    /// It did.
    Complete,
    /// It was interrupted or killed; what it measured is there.
    Partial,
}

/// One line of the list.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RunSummary {
    /// Its number.
    pub id: u64,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End; absent where the process was killed.
    pub finished: Option<String>,
    /// Complete or partial.
    pub status: RunStatus,
    /// What it is about.
    pub title: String,
    /// `read`, `syscall`, …
    pub workload: String,
    /// Cells of the plan, skipped ones too.
    pub cells: u64,
    /// Trials, the twin's not counted.
    pub samples: u64,
    /// The first answer in a sentence; absent where none was reached.
    pub answer: Option<String>,
    /// Whether it is kept whatever is pruned.
    pub pinned: bool,
    /// The name it is pinned by.
    pub name: Option<String>,
    /// The least median time of a pass of any cell, in nanoseconds.
    pub best_ns: Option<f64>,
}

/// Runs, newest first. A history of an older format is read as it is.
pub(super) fn list(db: &Connection, filter: &Filter) -> Result<Vec<RunSummary>, rusqlite::Error> {
    let old = format::version_of(db)? < 3;
    let (more, pins) = match old {
        true => ("0, NULL, NULL", ""),
        false => ("pin.run IS NOT NULL, pin.name, best_ns", " LEFT JOIN pin ON pin.run = run.id"),
    };
    let mut query = format!(
        "SELECT id, started, finished, complete, title, workload, cells, samples, answer, {more}
         FROM run{pins} WHERE 1"
    );
    let mut values: Vec<Value> = Vec::new();
    let mut only = |condition: &str, value: Option<Value>| {
        if let Some(value) = value {
            query.push_str(" AND ");
            query.push_str(condition);
            values.push(value);
        }
    };
    let text = |value: &Option<String>| value.clone().map(Value::from);
    only("workload = ?", text(&filter.workload));
    only("complete = ?", filter.complete.map(Value::from));
    only("instr(lower(title), lower(?)) > 0", text(&filter.title));
    only("title = ?", text(&filter.experiment));
    only("started >= ?", text(&filter.since));
    only("started < ?", text(&filter.until));
    let host = format!(
        "(SELECT json_extract(environment, '$.\"{}\"') FROM detail WHERE run = run.id) = ?",
        Fact::HostName
    );
    only(&host, text(&filter.host));
    if filter.pinned {
        query.push_str(if old { " AND 0" } else { " AND pin.run IS NOT NULL" });
    }
    // Numbers are given in the order in which runs end; a run that was taken over comes later.
    query.push_str(" ORDER BY started DESC, id DESC");
    if let Some(limit) = filter.limit {
        query.push_str(" LIMIT ?");
        values.push(i64::try_from(limit).unwrap_or(i64::MAX).into());
    }
    let mut statement = db.prepare(&query)?;
    let rows = statement.query_map(params_from_iter(values), |row| {
        let number = |column: usize| row.get::<_, i64>(column).map(|n| n as u64);
        let complete: bool = row.get(3)?;
        Ok(RunSummary {
            id: number(0)?,
            started: row.get(1)?,
            finished: row.get(2)?,
            status: if complete { RunStatus::Complete } else { RunStatus::Partial },
            title: row.get(4)?,
            workload: row.get(5)?,
            cells: number(6)?,
            samples: number(7)?,
            answer: row.get(8)?,
            pinned: row.get(9)?,
            name: row.get(10)?,
            best_ns: row.get(11)?,
        })
    })?;
    rows.collect()
}
