//! Tidy CSV: one row a sample, one column a factor, a metric, a fact (RFC 4180 quoting, lines end
//! in LF). Figures have a decimal point and no group separator. Text is left as it is: names that
//! a spreadsheet would take for a formula are quoted, not changed.

use std::collections::BTreeSet;
use std::io::{self, BufWriter, Write};

use super::{Format, Look};
use crate::catalog::Factor;
use crate::result::{CellRecord, CellStatus, Document, Name, Phase, Sample};

pub(super) const FORMAT: Format =
    Format { id: "csv", summary: "tidy CSV, one row a sample, the twin's too", write };

const BEFORE: [&str; 3] = ["run", "workload", "cell"];
const AFTER: [&str; 22] = [
    "status",
    "twin",
    "round",
    "position",
    "phase",
    "epoch",
    "wall_ns",
    "user_ns",
    "system_ns",
    "bytes",
    "operations",
    "repetitions",
    "counts",
    "flags",
    "cache",
    "cache_proven",
    "resident_bytes",
    "device_bytes",
    "digest_kind",
    "digest",
    "digest_matches",
    "fault",
];

fn write(doc: &Document, _: &Look, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let factors = factors(doc);
    let metrics = metrics(doc);
    let names = BEFORE.iter().copied().chain(factors.iter().map(|f| f.name()));
    let names = names.chain(AFTER).map(str::to_owned);
    line(out, names.chain(metrics.iter().map(|m| (*m).to_owned())))?;
    let arms = doc.cells.iter().flat_map(|c| c.samples.iter().map(move |s| (c, false, s)));
    for (cell, twin, sample) in arms {
        line(out, fields(doc, cell, twin, sample, &factors, &metrics))?;
    }
    let Some(twin) = &doc.twin else { return out.flush() };
    // A twin whose cell is not in the run still has its name.
    let lone = CellRecord {
        id: twin.cell.clone(),
        factors: Default::default(),
        status: CellStatus::Measured,
        reason: None,
        samples: Vec::new(),
        estimate: None,
    };
    let cell = doc.cells.iter().find(|c| c.id == twin.cell).unwrap_or(&lone);
    for sample in &twin.samples {
        line(out, fields(doc, cell, true, sample, &factors, &metrics))?;
    }
    out.flush()
}

fn fields(
    doc: &Document,
    cell: &CellRecord,
    twin: bool,
    sample: &Sample,
    factors: &[Factor],
    metrics: &[&str],
) -> Vec<String> {
    let mut all = vec![doc.run.id.to_string(), doc.experiment.workload.clone(), cell.id.clone()];
    let level = |f: &Factor| cell.factors.get(*f).map_or_else(String::new, ToString::to_string);
    all.extend(factors.iter().map(level));
    all.extend([status(cell.status).to_owned(), twin.to_string()]);
    all.extend(measured(sample));
    all.extend(proof(sample));
    let metric = |m: &&str| sample.measurement.metrics.get(m).filter(|v| v.is_finite());
    all.extend(metrics.iter().map(|m| metric(m).map_or_else(String::new, ToString::to_string)));
    all
}

fn measured(sample: &Sample) -> Vec<String> {
    let m = &sample.measurement;
    let phase = match sample.phase {
        Phase::First => "first",
        Phase::Warmup => "warmup",
        Phase::Steady => "steady",
    };
    let flags: Vec<&str> = m.flags.iter().map(|f| f.id()).collect();
    vec![
        sample.round.to_string(),
        sample.position.to_string(),
        phase.to_owned(),
        sample.epoch.to_string(),
        m.wall_ns.to_string(),
        m.user_ns.to_string(),
        m.system_ns.to_string(),
        m.bytes.to_string(),
        m.operations.to_string(),
        m.repetitions.to_string(),
        sample.counts().to_string(),
        flags.join(" "),
    ]
}

fn proof(sample: &Sample) -> Vec<String> {
    let proof = &sample.measurement.proof;
    let cache = proof.cache.as_ref();
    let digest = proof.digest.as_ref();
    let number = |n: Option<u64>| n.map_or_else(String::new, |n| n.to_string());
    let truth = |b: Option<bool>| b.map_or_else(String::new, |b| b.to_string());
    vec![
        cache.map_or_else(String::new, |c| c.wanted.to_string()),
        truth(cache.map(|c| c.proven)),
        number(cache.and_then(|c| c.before.as_ref()).map(|r| r.resident_bytes)),
        number(cache.and_then(|c| c.device_bytes)),
        digest.map_or_else(String::new, |d| d.kind.to_string()),
        digest.map_or_else(String::new, |d| d.hex.clone()),
        truth(digest.and_then(|d| d.matches)),
        sample.fault.as_ref().map_or_else(String::new, ToString::to_string),
    ]
}

/// The factors that any cell has, in column order.
fn factors(doc: &Document) -> Vec<Factor> {
    let used: BTreeSet<Factor> =
        doc.cells.iter().flat_map(|c| c.factors.iter().map(|(f, _)| f)).collect();
    used.into_iter().collect()
}

fn metrics(doc: &Document) -> Vec<&str> {
    let twins = doc.twin.iter().flat_map(|t| &t.samples);
    let samples = doc.cells.iter().flat_map(|c| &c.samples).chain(twins);
    let names = samples.flat_map(|s| s.measurement.metrics.keys().map(Name::as_str));
    names.collect::<BTreeSet<_>>().into_iter().collect()
}

/// The word of a status.
pub(super) fn status(status: CellStatus) -> &'static str {
    match status {
        CellStatus::Measured => "measured",
        CellStatus::Eliminated => "eliminated",
        CellStatus::Skipped => "skipped",
        CellStatus::Failed => "failed",
    }
}

/// Writes one line.
pub(super) fn line(
    out: &mut dyn Write,
    fields: impl IntoIterator<Item = String>,
) -> io::Result<()> {
    let fields: Vec<String> = fields.into_iter().map(|f| quoted(&f)).collect();
    writeln!(out, "{}", fields.join(","))
}

/// A field as it must stand: quoted where it has a separator, and where a spreadsheet would take
/// it for a formula. Control characters but line ends do not pass a CSV file unharmed.
fn quoted(field: &str) -> String {
    let special = |c: char| matches!(c, ',' | '"') || c.is_control();
    let formula = field.starts_with(['=', '+', '-', '@']) && field.parse::<f64>().is_err();
    let blank = field.starts_with(' ') || field.ends_with(' ');
    if formula || blank || field.contains(special) {
        format!("\"{}\"", field.replace('"', "\"\""))
    } else {
        field.to_owned()
    }
}
