//! A document as rows and back. What is read often has a column; the rest is JSON.

use rusqlite::{Connection, OptionalExtension, Row, params};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::format;
use iolab_model::catalog::Code;
use iolab_model::result::{
    Answer, CellRecord, Document, ExclusionReason, Fault, Measurement, Metrics, Proof, RunInfo,
    Sample, Shared, Twin,
};

type Sql<T> = Result<T, rusqlite::Error>;

/// What of a sample has no column of its own.
#[derive(Serialize)]
struct RestOut<'a> {
    metrics: &'a Metrics,
    proof: &'a Proof,
    flags: &'a [Code],
    fault: &'a Option<Fault>,
    #[serde(skip_serializing_if = "<[u64]>::is_empty")]
    ranks_ns: &'a [u64],
}

#[derive(Deserialize)]
struct Rest {
    #[serde(default)]
    metrics: Metrics,
    #[serde(default)]
    proof: Shared<Proof>,
    #[serde(default)]
    flags: Vec<Code>,
    #[serde(default)]
    fault: Option<Fault>,
    #[serde(default)]
    ranks_ns: Box<[u64]>,
}

/// The twin without its samples, which are rows.
#[derive(Serialize, Deserialize)]
struct TwinRow {
    cell: String,
    ratio: Option<f64>,
    low: Option<f64>,
    high: Option<f64>,
}

/// The arm that a sample belongs to.
#[derive(Clone, Copy)]
pub(super) struct Arm {
    /// Index of the cell; −1 where the twin names a cell that the run does not have.
    pub(super) cell: i64,
    /// The second trial of a cell that its round measured twice.
    pub(super) twin: bool,
}

/// Inserts a document (which must be finite) under a new id, or under `id`, replacing that run.
pub(super) fn insert(db: &Connection, doc: &Document, token: &str, id: Option<u64>) -> Sql<u64> {
    if let Some(id) = id {
        delete(db, id)?;
    }
    let id = insert_run(db, doc, token, id)?;
    insert_detail(db, doc, id)?;
    for (index, cell) in doc.cells.iter().enumerate() {
        insert_cell(db, id, index, cell)?;
    }
    let index = |id: &str| doc.cells.iter().position(|c| c.id == id).map_or(-1, |at| at as i64);
    let arms = doc.cells.iter().enumerate().flat_map(|(index, cell)| {
        cell.samples.iter().map(move |s| (Arm { cell: index as i64, twin: false }, s))
    });
    let twins = doc.twin.iter().flat_map(Twin::trials);
    let twins = twins.map(|(cell, sample)| (Arm { cell: index(cell), twin: true }, sample));
    for (number, (arm, sample)) in arms.chain(twins).enumerate() {
        insert_sample(db, id, number as u64, arm, sample)?;
    }
    Ok(id)
}

fn insert_run(db: &Connection, doc: &Document, token: &str, id: Option<u64>) -> Sql<u64> {
    let samples: usize = doc.cells.iter().map(|c| c.samples.len()).sum();
    let run = &doc.run;
    db.prepare_cached(
        "INSERT INTO run(id, token, title, workload, started, finished, complete, cells, samples,
         answer, seed, best_ns) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
    )?
    .execute(params![
        id.map(|id| id as i64),
        token,
        run.title,
        doc.experiment.workload,
        run.started,
        run.finished,
        run.complete,
        doc.cells.len() as i64,
        samples as i64,
        answer_line(&doc.answers),
        run.seed as i64,
        best_ns(&doc.cells),
    ])?;
    Ok(db.last_insert_rowid() as u64)
}

/// The least median time of a pass.
fn best_ns(cells: &[CellRecord]) -> Option<f64> {
    let medians = cells.iter().filter_map(|c| Some(c.estimate.as_ref()?.wall_ns.median));
    medians.min_by(f64::total_cmp)
}

/// One line for the list: the answer's sentence, with the number of further answers.
fn answer_line(answers: &[Answer]) -> Option<String> {
    let first = answers.first()?;
    Some(match answers.len() {
        1 => first.sentence.clone(),
        n => format!("{} (and {} more)", first.sentence, n - 1),
    })
}

fn insert_detail(db: &Connection, doc: &Document, id: u64) -> Sql<()> {
    // Named one by one so that a new field cannot be forgotten here.
    let Document { schema, run, environment, experiment, cells: _, twin, answers, warnings } = doc;
    let twin = twin.as_ref().map(|t| TwinRow {
        cell: t.cell.clone(),
        ratio: t.ratio,
        low: t.low,
        high: t.high,
    });
    db.prepare_cached("INSERT INTO detail VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?.execute(params![
        id as i64,
        schema,
        json(run)?,
        json(environment)?,
        json(experiment)?,
        twin.as_ref().map(json).transpose()?,
        // In a table of their own since version 2: thousands of comparisons as one text would
        // be held three times over.
        "[]",
        json(warnings)?,
    ])?;
    let mut insert = db.prepare_cached("INSERT INTO answer VALUES (?, ?, ?)")?;
    for (at, answer) in answers.iter().enumerate() {
        insert.execute(params![id as i64, at as i64, json(answer)?])?;
    }
    Ok(())
}

fn insert_cell(db: &Connection, run: u64, index: usize, cell: &CellRecord) -> Sql<()> {
    let CellRecord { id, factors, status, reason, exclusion, samples: _, estimate } = cell;
    db.prepare_cached("INSERT INTO cell VALUES (?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            run as i64,
            index as i64,
            id,
            json(factors)?,
            word(status)?,
            reason,
            estimate.as_ref().map(json).transpose()?,
            exclusion.as_ref().map(word).transpose()?,
        ])
        .map(drop)
}

/// Records that a cell is left out from now on, and why.
pub(super) fn leave_out(
    db: &Connection,
    cell: usize,
    why: ExclusionReason,
    reason: &str,
) -> Sql<()> {
    db.execute(
        "UPDATE cell SET status = ?, reason = ?, exclusion = ? WHERE cell = ?",
        params![word(&why.status())?, reason, word(&why)?, cell as i64],
    )
    .map(drop)
}

/// Inserts one sample. Fields are named one by one so that a new one cannot be forgotten here.
pub(super) fn insert_sample(
    db: &Connection,
    run: u64,
    number: u64,
    arm: Arm,
    sample: &Sample,
) -> Sql<()> {
    let Sample { round, position, phase, epoch, measurement, fault } = sample;
    let Measurement {
        wall_ns,
        user_ns,
        system_ns,
        bytes,
        operations,
        repetitions,
        metrics,
        proof,
        flags,
        ranks_ns,
        // A rank's, on its way to the others'.
        recorded: _,
    } = measurement;
    db.prepare_cached("INSERT INTO sample VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")?
        .execute(params![
            run as i64,
            number as i64,
            arm.cell,
            arm.twin,
            round,
            position,
            phase.word(),
            epoch,
            *wall_ns as i64,
            *user_ns as i64,
            *system_ns as i64,
            *bytes as i64,
            *operations as i64,
            *repetitions as i64,
            json(&RestOut { metrics, proof, flags, fault, ranks_ns })?,
        ])
        .map(drop)
}

/// Removes a run with everything that belongs to it.
pub(super) fn delete(db: &Connection, id: u64) -> Sql<()> {
    for table in ["sample", "cell", "answer", "detail"] {
        db.execute(&format!("DELETE FROM {table} WHERE run = ?"), [id as i64])?;
    }
    db.execute("DELETE FROM run WHERE id = ?", [id as i64]).map(drop)
}

/// The whole of a run, `None` where there is no such id.
pub(super) fn load(db: &Connection, id: u64) -> Sql<Option<Document>> {
    let Some(mut doc) = load_figures(db, id)? else { return Ok(None) };
    load_answers(db, id, &mut doc)?;
    load_samples(db, id, &mut doc)?;
    Ok(Some(doc))
}

/// A run without its samples and answers: what a trend is made of.
pub(super) fn load_figures(db: &Connection, id: u64) -> Sql<Option<Document>> {
    let head = db
        .query_row(
            "SELECT schema, info, environment, experiment, twin, answers, warnings FROM detail
             WHERE run = ?",
            [id as i64],
            |row| head(row, id),
        )
        .optional()?;
    let Some(mut doc) = head else { return Ok(None) };
    // A file that is only read may be older than the column.
    let exclusion = if format::version_of(db)? < 4 { "NULL" } else { "exclusion" };
    let mut cells = db.prepare(&format!(
        "SELECT id, factors, status, reason, estimate, {exclusion}
         FROM cell WHERE run = ? ORDER BY cell"
    ))?;
    doc.cells = cells.query_map([id as i64], cell)?.collect::<Sql<_>>()?;
    Ok(Some(doc))
}

/// A file of version 1 that is only read has no such table: its answers stand in the detail.
fn load_answers(db: &Connection, id: u64, doc: &mut Document) -> Sql<()> {
    if !db.table_exists(None, "answer")? {
        return Ok(());
    }
    let mut answers = db.prepare("SELECT body FROM answer WHERE run = ? ORDER BY at")?;
    for answer in answers.query_map([id as i64], |row| from_json(row, 0))? {
        doc.answers.push(answer?);
    }
    Ok(())
}

fn head(row: &Row<'_>, id: u64) -> Sql<Document> {
    let twin: Option<TwinRow> = optional_json(row, 4)?;
    Ok(Document {
        schema: row.get(0)?,
        run: RunInfo { id, ..from_json(row, 1)? },
        environment: from_json(row, 2)?,
        experiment: from_json(row, 3)?,
        cells: Vec::new(),
        twin: twin.map(|t| Twin {
            cell: t.cell,
            samples: Vec::new(),
            drawn: Vec::new(),
            ratio: t.ratio,
            low: t.low,
            high: t.high,
        }),
        answers: from_json(row, 5)?,
        warnings: from_json(row, 6)?,
    })
}

fn cell(row: &Row<'_>) -> Sql<CellRecord> {
    Ok(CellRecord {
        id: row.get(0)?,
        factors: from_json(row, 1)?,
        status: from_word(row, 2)?,
        reason: row.get(3)?,
        exclusion: optional_word(row, 5)?,
        samples: Vec::new(),
        estimate: optional_json(row, 4)?,
    })
}

fn load_samples(db: &Connection, id: u64, doc: &mut Document) -> Sql<()> {
    let mut statement = db.prepare(
        "SELECT cell, twin, round, position, phase, epoch, wall_ns, user_ns, system_ns, bytes,
         operations, repetitions, rest FROM sample WHERE run = ? ORDER BY number",
    )?;
    let mut rows = statement.query([id as i64])?;
    while let Some(row) = rows.next()? {
        let (index, twin): (i64, bool) = (row.get(0)?, row.get(1)?);
        let sample = sample(row)?;
        let cell = usize::try_from(index).ok().and_then(|index| doc.cells.get_mut(index));
        match (twin, cell) {
            (false, Some(cell)) => cell.samples.push(sample),
            (true, cell) => {
                let name = cell.map_or_else(String::new, |c| c.id.clone());
                second_trial(&mut doc.twin, name, sample);
            }
            (false, None) => return Err(bad(0, "a sample of a cell that the run does not have")),
        }
    }
    Ok(())
}

/// Adds the second trial of a cell. A run that was killed has such trials, but no row of the twin yet.
fn second_trial(twin: &mut Option<Twin>, cell: String, sample: Sample) {
    let twin = twin.get_or_insert_with(|| Twin { cell: Twin::ANY.to_owned(), ..Twin::default() });
    // Earlier versions measured one cell twice, always the same.
    if twin.cell == Twin::ANY {
        twin.drawn.push(cell.into());
    }
    twin.samples.push(sample);
}

fn sample(row: &Row<'_>) -> Sql<Sample> {
    let number = |column: usize| row.get::<_, i64>(column).map(|n| n as u64);
    let rest: Rest = from_json(row, 12)?;
    Ok(Sample {
        round: row.get(2)?,
        position: row.get(3)?,
        phase: from_word(row, 4)?,
        epoch: row.get(5)?,
        measurement: Measurement {
            wall_ns: number(6)?,
            user_ns: number(7)?,
            system_ns: number(8)?,
            bytes: number(9)?,
            operations: number(10)?,
            repetitions: number(11)?,
            metrics: rest.metrics,
            proof: rest.proof,
            flags: rest.flags,
            ranks_ns: rest.ranks_ns,
            recorded: [].into(),
        },
        fault: rest.fault,
    })
}

fn json<T: Serialize>(value: &T) -> Sql<String> {
    serde_json::to_string(value).map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))
}

/// The word that JSON has for a plain enumeration: `measured`.
fn word<T: Serialize>(value: &T) -> Sql<String> {
    json(value).map(|quoted| quoted.trim_matches('"').to_owned())
}

fn from_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Sql<T> {
    let text = row.get_ref(column)?.as_str().map_err(|e| bad(column, e))?;
    serde_json::from_str(text).map_err(|e| bad(column, e))
}

fn optional_json<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Sql<Option<T>> {
    match row.get_ref(column)? {
        rusqlite::types::ValueRef::Null => Ok(None),
        _ => from_json(row, column).map(Some),
    }
}

fn from_word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Sql<T> {
    let word: String = row.get(column)?;
    serde_json::from_value(word.into()).map_err(|e| bad(column, e))
}

fn optional_word<T: DeserializeOwned>(row: &Row<'_>, column: usize) -> Sql<Option<T>> {
    let word: Option<String> = row.get(column)?;
    let parsed = word.map(|word| serde_json::from_value(word.into()));
    parsed.transpose().map_err(|e| bad(column, e))
}

fn bad(
    column: usize,
    error: impl Into<Box<dyn std::error::Error + Send + Sync>>,
) -> rusqlite::Error {
    rusqlite::Error::FromSqlConversionFailure(column, rusqlite::types::Type::Text, error.into())
}
