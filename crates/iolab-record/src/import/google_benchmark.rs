//! JSON of Google Benchmark: repetitions become rounds, iterations repetitions within a trial.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::ImportError;
use super::build::{Draft, Head, document};
use super::name::{self, Named};
use super::number;
use iolab_model::catalog::{Fact, Factor, Level, utc_seconds, utc_text};
use iolab_model::result::{Document, Environment, Estimate, Measurement, Phase, Sample, Summary};

#[derive(Deserialize)]
struct File {
    #[serde(default)]
    context: BTreeMap<String, Value>,
    benchmarks: Vec<Row>,
}

#[derive(Deserialize)]
struct Row {
    name: String,
    run_name: Option<String>,
    run_type: Option<String>,
    aggregate_name: Option<String>,
    #[serde(default, deserialize_with = "number::or_zero")]
    iterations: f64,
    real_time: Option<f64>,
    cpu_time: Option<f64>,
    time_unit: Option<String>,
    bytes_per_second: Option<f64>,
    items_per_second: Option<f64>,
    #[serde(default)]
    error_occurred: bool,
    error_message: Option<String>,
    #[serde(default)]
    skipped: bool,
    skip_message: Option<String>,
}

/// One benchmark with its rows.
#[derive(Default)]
struct Family {
    samples: Vec<Sample>,
    aggregates: BTreeMap<String, f64>,
    failed: Option<String>,
    skipped: Option<String>,
    repetitions: f64,
}

/// The runs: one for each workload that the names speak of.
pub(super) fn read(json: &str, file: &str) -> Result<Vec<Document>, ImportError> {
    let bad = |what: String| ImportError::Bad { file: file.to_owned(), what };
    let all: File = serde_json::from_str(json).map_err(|e| bad(e.to_string()))?;
    let mut order: Vec<String> = Vec::new();
    let mut families: BTreeMap<String, Family> = BTreeMap::new();
    for row in &all.benchmarks {
        let name = row.run_name.clone().unwrap_or_else(|| row.name.clone());
        if !families.contains_key(&name) {
            order.push(name.clone());
        }
        take(families.entry(name).or_default(), row).map_err(bad)?;
    }
    let mut workloads: Vec<(String, Vec<Draft>)> = Vec::new();
    for name in order {
        let Some(family) = families.remove(&name) else { continue };
        let Named { workload, levels } = name::parse(&name);
        let workload = workload.unwrap_or_else(|| "benchmark".to_owned());
        let draft = Draft {
            levels,
            estimate: family.samples.is_empty().then(|| aggregated(&family)).flatten(),
            samples: family.samples,
            failed: family.failed,
            skipped: family.skipped,
        };
        match workloads.iter_mut().find(|(w, _)| *w == workload) {
            Some((_, drafts)) => drafts.push(draft),
            None => workloads.push((workload, vec![draft])),
        }
    }
    if workloads.is_empty() {
        let why = "its list of benchmarks is empty; was the filter too narrow?".to_owned();
        return Err(ImportError::Empty { file: file.to_owned(), why });
    }
    let head = |workload: &str| head(&all.context, workload);
    Ok(workloads.into_iter().map(|(w, drafts)| document(head(&w), same_levels(drafts))).collect())
}

fn take(family: &mut Family, row: &Row) -> Result<(), String> {
    if row.error_occurred {
        let message = row.error_message.clone();
        family.failed = Some(message.unwrap_or_else(|| "the benchmark failed".to_owned()));
        return Ok(());
    }
    // It has times all the same, and they are 0.
    if row.skipped {
        let message = row.skip_message.clone();
        family.skipped = Some(message.unwrap_or_else(|| "the benchmark skipped itself".to_owned()));
        return Ok(());
    }
    let unit = match row.time_unit.as_deref() {
        None | Some("ns") => 1.0,
        Some("us") => 1e3,
        Some("ms") => 1e6,
        Some("s") => 1e9,
        Some(other) => return Err(format!("{:?} has the unknown unit {other:?}", row.name)),
    };
    // Big-O and RMS rows, and those of complexity, have no time of their own.
    let Some(real_ns) = row.real_time.map(|t| t * unit) else { return Ok(()) };
    if !(0.0..1e18).contains(&real_ns) {
        return Err(format!("{:?} took {real_ns} ns an iteration", row.name));
    }
    if row.run_type.as_deref() == Some("aggregate") {
        if let Some(aggregate) = &row.aggregate_name {
            family.aggregates.insert(aggregate.clone(), real_ns);
            family.repetitions = row.iterations;
        }
        return Ok(());
    }
    let iterations = row.iterations.clamp(1.0, 1e15).round();
    let wall_ns = real_ns * iterations;
    let whole = |value: f64| value.clamp(0.0, 9e18).round() as u64;
    let seconds = wall_ns / 1e9;
    family.samples.push(Sample {
        round: family.samples.len() as u32,
        position: 0,
        phase: Phase::Steady,
        epoch: 0,
        measurement: Measurement {
            wall_ns: whole(wall_ns),
            user_ns: whole(row.cpu_time.unwrap_or(0.0) * unit * iterations),
            bytes: whole(row.bytes_per_second.unwrap_or(0.0) * seconds),
            operations: row.items_per_second.map_or(iterations as u64, |r| whole(r * seconds)),
            repetitions: iterations as u64,
            ..Measurement::default()
        },
        fault: None,
    });
    Ok(())
}

/// Figures from aggregates alone: enough to look at, too little to compare.
fn aggregated(family: &Family) -> Option<Estimate> {
    let of = |name: &str| family.aggregates.get(name).copied();
    let median = of("median").or_else(|| of("mean"))?;
    let mean = of("mean").unwrap_or(median);
    let summary = Summary {
        n: family.repetitions.clamp(0.0, 1e9) as u32,
        median,
        mean,
        sd: of("stddev").unwrap_or(0.0),
        min: of("min").unwrap_or(median),
        q1: median,
        q3: median,
        max: of("max").unwrap_or(median),
        ..Summary::default()
    };
    Some(Estimate { wall_ns: summary.clone(), ns_per_operation: summary, ..Estimate::default() })
}

/// Names that say the same become contenders by their order.
fn same_levels(mut drafts: Vec<Draft>) -> Vec<Draft> {
    for at in 1..drafts.len() {
        let before = drafts[..at].iter().filter(|d| d.levels == drafts[at].levels).count();
        if before > 0 {
            let name = format!("#{}", before + 1);
            drafts[at].levels.set(Factor::Contender, Level::word(name));
        }
    }
    drafts
}

fn head(context: &BTreeMap<String, Value>, workload: &str) -> Head {
    let text = |name: &str| context.get(name).and_then(Value::as_str).map(str::to_owned);
    let version = text("library_version").map_or_else(String::new, |v| format!(" {v}"));
    let mut facts = Environment::default();
    for (theirs, ours) in
        [("host_name", Fact::HostName), ("num_cpus", Fact::CpuCount), ("mhz_per_cpu", Fact::CpuMhz)]
    {
        if let Some(value) = context.get(theirs).filter(|v| v.as_str() != Some("")) {
            facts.put(ours, value.clone());
        }
    }
    let program = text("executable").map(|e| e.rsplit('/').next().unwrap_or("").to_owned());
    let date = text("date").as_deref().and_then(utc_seconds).unwrap_or(0);
    Head {
        tool: format!("Google Benchmark{version}"),
        workload: workload.to_owned(),
        title: match program.filter(|p| !p.is_empty()) {
            Some(program) => format!("{workload} by {program}"),
            None => format!("{workload} by Google Benchmark"),
        },
        started: utc_text(date),
        facts,
    }
}
