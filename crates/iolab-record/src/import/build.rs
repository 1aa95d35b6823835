//! A document from what another tool says.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use iolab_model::catalog::{Fact, Factor, Level, Levels};
use iolab_model::result::{
    CellRecord, CellStatus, Document, Environment, Estimate, ExperimentRecord, ProtocolRecord,
    RunInfo, SCHEMA, Sample,
};
use iolab_stats::summary;

/// A cell before the document is known.
#[derive(Default)]
pub(super) struct Draft {
    pub(super) levels: Levels,
    pub(super) samples: Vec<Sample>,
    pub(super) failed: Option<String>,
    /// Why it was not measured, by its own word.
    pub(super) skipped: Option<String>,
    /// Figures, where the tool gives no single values.
    pub(super) estimate: Option<Estimate>,
}

/// What a tool says of a whole run.
pub(super) struct Head {
    /// With its version: `fio-3.33`.
    pub(super) tool: String,
    pub(super) workload: String,
    pub(super) title: String,
    pub(super) started: String,
    pub(super) facts: Environment,
}

/// The document. Cells are named by the levels that vary.
pub(super) fn document(head: Head, drafts: Vec<Draft>) -> Document {
    let factors = factors(&drafts);
    let names = names(&drafts, &factors);
    let rounds = drafts.iter().map(|d| d.samples.len()).max().unwrap_or(0);
    let mut facts = head.facts;
    facts.put(Fact::ImportTool, head.tool.clone());
    let ask = factors.iter().filter(|(_, l)| l.len() > 1).map(|(f, _)| *f).collect();
    Document {
        schema: SCHEMA.to_owned(),
        run: RunInfo {
            title: head.title,
            finished: Some(head.started.clone()),
            started: head.started,
            complete: true,
            ..RunInfo::default()
        },
        environment: facts,
        experiment: ExperimentRecord {
            workload: head.workload,
            directory: None,
            factors: factors
                .into_iter()
                .map(|(f, levels)| (f, levels.iter().map(json_level).collect()))
                .collect(),
            ask,
            protocol: ProtocolRecord {
                alpha: 0.05,
                delta: 0.02,
                rounds: Some(rounds as u32),
                steady_rounds: rounds as u32,
                stopped: format!("measured by {}, not interleaved", head.tool),
                ..ProtocolRecord::default()
            },
        },
        cells: drafts.into_iter().zip(names).map(|(draft, id)| cell(draft, id)).collect(),
        twin: None,
        answers: Vec::new(),
        warnings: Vec::new(),
    }
}

fn json_level(level: &Level) -> Value {
    serde_json::to_value(level).unwrap_or_default()
}

fn factors(drafts: &[Draft]) -> BTreeMap<Factor, Vec<Level>> {
    let mut factors: BTreeMap<Factor, BTreeSet<Level>> = BTreeMap::new();
    for (factor, level) in drafts.iter().flat_map(|d| d.levels.iter()) {
        factors.entry(factor).or_default().insert(level.clone());
    }
    factors.into_iter().map(|(f, levels)| (f, levels.into_iter().collect())).collect()
}

fn names(drafts: &[Draft], factors: &BTreeMap<Factor, Vec<Level>>) -> Vec<String> {
    let mut used = BTreeSet::new();
    let name = |draft: &Draft| {
        let varies = |f: &Factor| {
            matches!(f, Factor::Method | Factor::Contender)
                || factors.get(f).is_some_and(|l| l.len() > 1)
        };
        let words: Vec<String> =
            draft.levels.iter().filter(|(f, _)| varies(f)).map(|(f, l)| word(f, l)).collect();
        let plain = if words.is_empty() { "all".to_owned() } else { words.join("/") };
        let mut id = plain.clone();
        let mut number = 2;
        while !used.insert(id.clone()) {
            id = format!("{plain}#{number}");
            number += 1;
        }
        id
    };
    drafts.iter().map(name).collect()
}

/// A level in a name: `64Ki`, `io_uring`, `threads=4`.
fn word(factor: Factor, level: &Level) -> String {
    match (factor, level) {
        (Factor::Block | Factor::FileSize, Level::Number(bytes)) => short_bytes(*bytes),
        (Factor::Method | Factor::Contender | Factor::Pattern | Factor::Cache, _) => {
            level.to_string()
        }
        _ => format!("{factor}={level}"),
    }
}

fn short_bytes(bytes: u64) -> String {
    const UNITS: [&str; 6] = ["", "Ki", "Mi", "Gi", "Ti", "Pi"];
    let unit = (0..UNITS.len()).rev().find(|u| bytes > 0 && bytes.is_multiple_of(1 << (10 * u)));
    let unit = unit.unwrap_or(0);
    format!("{}{}", bytes >> (10 * unit), UNITS[unit])
}

fn cell(draft: Draft, id: String) -> CellRecord {
    let estimate = draft.estimate.or_else(|| estimate(&draft.samples));
    let status = match (&draft.failed, &draft.skipped, &estimate) {
        (None, _, Some(_)) => CellStatus::Measured,
        (None, Some(_), None) => CellStatus::Skipped,
        _ => CellStatus::Failed,
    };
    CellRecord {
        id,
        factors: draft.levels,
        reason: draft
            .failed
            .or_else(|| draft.skipped.filter(|_| estimate.is_none()))
            .or_else(|| estimate.is_none().then(|| "nothing was measured".to_owned())),
        status,
        exclusion: None,
        samples: draft.samples,
        estimate,
    }
}

/// Figures over the samples, as a run of iolab has them.
fn estimate(samples: &[Sample]) -> Option<Estimate> {
    let counting = || samples.iter().filter(|s| s.is_steady());
    let per = |value: &dyn Fn(&Sample) -> f64| summary(&counting().map(value).collect::<Vec<_>>());
    let passes = |s: &Sample| s.measurement.repetitions.max(1) as f64;
    let operations = |s: &Sample| s.measurement.operations.max(1) as f64;
    let moves = counting().any(|s| s.measurement.bytes > 0);
    let rate = |s: &Sample| s.measurement.bytes as f64 / (s.measurement.wall_ns as f64 / 1e9);
    Some(Estimate {
        wall_ns: per(&|s| s.measurement.wall_ns as f64 / passes(s))?,
        user_ns: per(&|s| s.measurement.user_ns as f64 / passes(s))?,
        system_ns: per(&|s| s.measurement.system_ns as f64 / passes(s))?,
        bytes_per_second: moves.then(|| per(&rate)).flatten(),
        ns_per_operation: per(&|s| s.measurement.wall_ns as f64 / operations(s))?,
    })
}
