//! The tidy table: a row a sample, the twin's last; a column a factor, a figure, a metric. CSV and
//! Parquet are two ways to write it.

use std::collections::{BTreeMap, BTreeSet};

use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellRecord, CellStatus, Document, Name, Sample, Twin};

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Text,
    /// Whole, from 0 to 2⁶⁴ − 1.
    Number,
    Real,
    Truth,
}

/// What stands in a row.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Text(String),
    Number(u64),
    Real(f64),
    Truth(bool),
    None,
}

impl From<Option<u64>> for Value {
    fn from(number: Option<u64>) -> Value {
        number.map_or(Value::None, Value::Number)
    }
}

impl From<Option<bool>> for Value {
    fn from(truth: Option<bool>) -> Value {
        truth.map_or(Value::None, Value::Truth)
    }
}

impl From<Option<String>> for Value {
    fn from(text: Option<String>) -> Value {
        text.map_or(Value::None, Value::Text)
    }
}

const BEFORE: [(&str, Kind); 3] =
    [("run", Kind::Number), ("workload", Kind::Text), ("cell", Kind::Text)];
const AFTER: [(&str, Kind); 22] = [
    ("status", Kind::Text),
    ("twin", Kind::Truth),
    ("round", Kind::Number),
    ("position", Kind::Number),
    ("phase", Kind::Text),
    ("epoch", Kind::Number),
    ("wall_ns", Kind::Number),
    ("user_ns", Kind::Number),
    ("system_ns", Kind::Number),
    ("bytes", Kind::Number),
    ("operations", Kind::Number),
    ("repetitions", Kind::Number),
    ("counts", Kind::Truth),
    ("flags", Kind::Text),
    // Not `cache`, which is the axis.
    ("cache_wanted", Kind::Text),
    ("cache_proven", Kind::Truth),
    ("resident_bytes", Kind::Number),
    ("device_bytes", Kind::Number),
    ("digest_kind", Kind::Text),
    ("digest", Kind::Text),
    ("digest_matches", Kind::Truth),
    ("fault", Kind::Text),
];

/// The columns of a run and its rows.
pub(super) struct Table<'a> {
    doc: &'a Document,
    factors: Vec<(Factor, Kind)>,
    metrics: Vec<&'a str>,
    /// Second trials whose cell is not in the run still have its name.
    lone: Vec<CellRecord>,
}

impl<'a> Table<'a> {
    pub(super) fn of(doc: &'a Document) -> Table<'a> {
        let known = |id: &str| doc.cells.iter().any(|c| c.id == id);
        let names: BTreeSet<&str> =
            doc.twin.iter().flat_map(Twin::trials).map(|(cell, _)| cell).collect();
        let lone = names.into_iter().filter(|id| !known(id)).map(|id| CellRecord {
            id: id.to_owned(),
            factors: Default::default(),
            status: CellStatus::Measured,
            reason: None,
            exclusion: None,
            samples: Vec::new(),
            estimate: None,
        });
        let lone = lone.collect();
        Table { doc, factors: factors(doc), metrics: metrics(doc), lone }
    }

    /// Names, each once, and what they hold.
    pub(super) fn columns(&self) -> Vec<(String, Kind)> {
        let factors = self.factors.iter().map(|(factor, kind)| (factor.name(), *kind));
        let metrics = self.metrics.iter().map(|metric| (*metric, Kind::Real));
        let mut used = BTreeSet::new();
        let once = |(name, kind): (&str, Kind)| {
            let mut unique = name.to_owned();
            while !used.insert(unique.clone()) {
                unique.push('_');
            }
            (unique, kind)
        };
        BEFORE.into_iter().chain(factors).chain(AFTER).chain(metrics).map(once).collect()
    }

    /// A row has a value for each column, of its kind or none.
    pub(super) fn rows(&self) -> impl Iterator<Item = Vec<Value>> {
        let cells = self.doc.cells.iter();
        let arms = cells.flat_map(|c| c.samples.iter().map(move |s| (c, false, s)));
        let known: BTreeMap<&str, &CellRecord> =
            self.doc.cells.iter().chain(&self.lone).map(|cell| (cell.id.as_str(), cell)).collect();
        let twins = self.doc.twin.iter().flat_map(Twin::trials);
        let twins = twins.filter_map(move |(cell, s)| Some((*known.get(cell)?, true, s)));
        arms.chain(twins).map(|(cell, twin, sample)| self.row(cell, twin, sample))
    }

    fn row(&self, cell: &CellRecord, twin: bool, sample: &Sample) -> Vec<Value> {
        let text = |text: &str| Value::Text(text.to_owned());
        let mut all = vec![
            Value::Number(self.doc.run.id),
            text(&self.doc.experiment.workload),
            text(&cell.id),
        ];
        let level = |(factor, kind): &(Factor, Kind)| match (cell.factors.get(*factor), kind) {
            (None, _) => Value::None,
            (Some(Level::Number(number)), Kind::Number) => Value::Number(*number),
            (Some(level), _) => Value::Text(level.to_string()),
        };
        all.extend(self.factors.iter().map(level));
        all.extend([text(cell.status.word()), Value::Truth(twin)]);
        all.extend(measured(sample));
        all.extend(proof(sample));
        let metric = |m: &&str| sample.measurement.metrics.get(m).filter(|v| v.is_finite());
        all.extend(self.metrics.iter().map(|m| metric(m).map_or(Value::None, |v| Value::Real(*v))));
        all
    }
}

fn measured(sample: &Sample) -> [Value; 12] {
    let m = &sample.measurement;
    let phase = sample.phase.word();
    let flags: Vec<&str> = m.flags.iter().map(|f| f.id()).collect();
    [
        Value::Number(sample.round.into()),
        Value::Number(sample.position.into()),
        Value::Text(phase.to_owned()),
        Value::Number(sample.epoch.into()),
        Value::Number(m.wall_ns),
        Value::Number(m.user_ns),
        Value::Number(m.system_ns),
        Value::Number(m.bytes),
        Value::Number(m.operations),
        Value::Number(m.repetitions),
        Value::Truth(sample.counts()),
        Value::Text(flags.join(" ")),
    ]
}

fn proof(sample: &Sample) -> [Value; 8] {
    let proof = &sample.measurement.proof;
    let cache = proof.cache.as_ref();
    let digest = proof.digest.as_ref();
    [
        cache.map(|c| c.wanted.to_string()).into(),
        cache.map(|c| c.proven).into(),
        cache.and_then(|c| c.before.as_ref()).map(|r| r.resident_bytes).into(),
        cache.and_then(|c| c.device_bytes).into(),
        digest.map(|d| d.kind.to_string()).into(),
        digest.map(|d| d.hex.clone()).into(),
        digest.and_then(|d| d.matches).into(),
        sample.fault.as_ref().map(ToString::to_string).into(),
    ]
}

/// The factors that any cell has, in column order: numbers where all levels are.
fn factors(doc: &Document) -> Vec<(Factor, Kind)> {
    let levels = || doc.cells.iter().flat_map(|c| c.factors.iter());
    let used: BTreeSet<Factor> = levels().map(|(f, _)| f).collect();
    let words: BTreeSet<Factor> =
        levels().filter(|(_, l)| !matches!(l, Level::Number(_))).map(|(f, _)| f).collect();
    let kind = |f: &Factor| if words.contains(f) { Kind::Text } else { Kind::Number };
    used.into_iter().map(|f| (f, kind(&f))).collect()
}

fn metrics(doc: &Document) -> Vec<&str> {
    let twins = doc.twin.iter().flat_map(|t| &t.samples);
    let samples = doc.cells.iter().flat_map(|c| &c.samples).chain(twins);
    let names = samples.flat_map(|s| s.measurement.metrics.keys().map(Name::as_str));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}
