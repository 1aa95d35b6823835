//! JSON as Google Benchmark writes it, for its `tools/compare.py` and whatever else reads that.
//! Rounds are its repetitions, repetitions within a trial its iterations, times are per iteration: of a
//! whole pass, also where a trial does a part of one.

use std::io::{self, BufWriter, Write};

use serde_json::{Map, Value, json};

use super::{Format, TextStyle};
use iolab_model::catalog::{Code, Fact, Factor, Levels};
use iolab_model::result::{CellRecord, Document, Sample};
use iolab_stats::median;

pub(super) const FORMAT: Format = Format {
    id: "google-benchmark",
    summary: "JSON of Google Benchmark, for its compare.py",
    binary: false,
    write,
};

/// Which rows are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BenchmarkRows {
    /// Each repetition, and the aggregates where there are at least two.
    #[default]
    All,
    /// Aggregates alone, where there are any.
    Aggregates,
}

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    write_benchmarks(std::slice::from_ref(doc), BenchmarkRows::All, out)
}

/// Writes several runs as the one file that a benchmark program makes.
///
/// # Errors
/// What the writer says, unchanged.
pub fn write_benchmarks(
    runs: &[Document],
    which: BenchmarkRows,
    out: &mut dyn Write,
) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let cells = runs.iter().flat_map(|doc| doc.cells.iter().map(move |c| (doc, c)));
    let cells = cells.map(|(d, c)| (d, c, steady(c))).filter(|(_, _, s)| !s.is_empty());
    let mut rows: Vec<Value> = cells
        .enumerate()
        .flat_map(|(family, (doc, cell, samples))| family_rows(doc, cell, &samples, family))
        .collect();
    if which == BenchmarkRows::Aggregates && rows.iter().any(is_aggregate) {
        rows.retain(is_aggregate);
    }
    let context = runs.first().map_or(Value::Null, context);
    let all = json!({"context": context, "benchmarks": rows});
    serde_json::to_writer_pretty(&mut *out, &all).map_err(io::Error::from)?;
    out.write_all(b"\n")?;
    out.flush()
}

fn is_aggregate(row: &Value) -> bool {
    row["run_type"] == "aggregate"
}

fn steady(cell: &CellRecord) -> Vec<&Sample> {
    let counts = |s: &&Sample| s.is_steady() && s.measurement.repetitions > 0;
    cell.samples.iter().filter(counts).collect()
}

/// What Google Benchmark says of the machine; what is not known is left out.
fn context(doc: &Document) -> Value {
    let fact = |fact| doc.environment.get(fact).cloned();
    let mut context = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            context.insert(name.to_owned(), value);
        }
    };
    put("date", Some(doc.run.started.clone().into()));
    put("host_name", Some(fact(Fact::HostName).unwrap_or_else(|| "".into())));
    put("executable", doc.run.argv.first().map(|a| a.clone().into()));
    put("num_cpus", fact(Fact::CpuCount));
    put(
        "mhz_per_cpu",
        fact(Fact::CpuMhz).and_then(|v| v.as_f64()).map(|v| (v.round() as u64).into()),
    );
    let governor = fact(Fact::CpuGovernor);
    put("cpu_scaling_enabled", governor.map(|g| (g.as_str() != Some("performance")).into()));
    put("caches", Some(Value::Array(caches(doc))));
    let load = [Fact::Load1, Fact::Load5, Fact::Load15].into_iter().filter_map(fact).collect();
    put("load_avg", Some(Value::Array(load)));
    put("library_build_type", Some(fact(Fact::IolabBuild).unwrap_or_else(|| "release".into())));
    put("library_version", fact(Fact::IolabVersion));
    put("json_schema_version", Some(1.into()));
    Value::Object(context)
}

fn caches(doc: &Document) -> Vec<Value> {
    let levels = [
        (Fact::CpuL1dBytes, "Data", 1),
        (Fact::CpuL1iBytes, "Instruction", 1),
        (Fact::CpuL2Bytes, "Unified", 2),
        (Fact::CpuLlcBytes, "Unified", 3),
    ];
    let one = |(fact, kind, level): (Fact, &str, u32)| {
        let size = doc.environment.number(fact)?;
        Some(json!({"type": kind, "level": level, "size": size, "num_sharing": 1}))
    };
    levels.into_iter().filter_map(one).collect()
}

/// `read/pread/block:4096/real_time/threads:2`: the workload, words, other levels, then the
/// endings that Google Benchmark itself writes.
pub fn benchmark_name(workload: &str, levels: &Levels) -> String {
    let mut parts = vec![workload.to_owned()];
    parts.extend(levels.text(Factor::Method).map(str::to_owned));
    let own = |f: Factor| !matches!(f, Factor::Method | Factor::Threads);
    parts.extend(levels.iter().filter(|(f, _)| own(*f)).map(|(f, l)| format!("{f}:{l}")));
    parts.push("real_time".to_owned());
    parts.push(format!("threads:{}", threads(levels)));
    parts.join("/")
}

fn threads(levels: &Levels) -> u64 {
    levels.number(Factor::Threads).unwrap_or(1)
}

/// The times of one iteration, in nanoseconds.
struct Times {
    real: f64,
    cpu: f64,
    bytes_per_second: Option<f64>,
    items_per_second: f64,
}

/// Operations of a whole pass, as the estimate carried parts over to it.
fn pass_operations(cell: &CellRecord) -> Option<f64> {
    let estimate = cell.estimate.as_ref()?;
    let all = estimate.wall_ns.median / estimate.ns_per_operation.median;
    (all.is_finite() && all > 0.0).then_some(all)
}

impl Times {
    fn of(sample: &Sample, cell: &CellRecord) -> Times {
        let m = &sample.measurement;
        let iterations = match pass_operations(cell).filter(|_| m.flags.contains(&Code::Bounded)) {
            Some(all) => m.operations as f64 / all,
            None => m.repetitions as f64,
        };
        let seconds = m.wall_ns as f64 / 1e9;
        Times {
            real: m.wall_ns as f64 / iterations,
            cpu: (m.user_ns as f64 + m.system_ns as f64) / iterations,
            bytes_per_second: (m.bytes > 0).then(|| m.bytes as f64 / seconds),
            items_per_second: m.operations as f64 / seconds,
        }
    }

    fn put(&self, row: &mut Map<String, Value>, unit: &str) {
        row.insert("real_time".into(), self.real.into());
        row.insert("cpu_time".into(), self.cpu.into());
        row.insert("time_unit".into(), unit.into());
        if let Some(rate) = self.bytes_per_second {
            row.insert("bytes_per_second".into(), rate.into());
        }
        row.insert("items_per_second".into(), self.items_per_second.into());
    }
}

fn family_rows(
    doc: &Document,
    cell: &CellRecord,
    samples: &[&Sample],
    family: usize,
) -> Vec<Value> {
    let name = benchmark_name(&doc.experiment.workload, &cell.factors);
    let head = |suffix: &str, kind: &str| {
        let row = json!({
            "name": format!("{name}{suffix}"),
            "family_index": family,
            "per_family_instance_index": 0,
            "run_name": name,
            "run_type": kind,
            "repetitions": samples.len(),
            "threads": threads(&cell.factors),
        });
        match row {
            Value::Object(map) => map,
            _ => Map::new(),
        }
    };
    let times: Vec<Times> = samples.iter().map(|s| Times::of(s, cell)).collect();
    let mut rows = Vec::new();
    for (index, (sample, times)) in samples.iter().zip(&times).enumerate() {
        let mut row = head("", "iteration");
        row.insert("repetition_index".into(), index.into());
        row.insert("iterations".into(), sample.measurement.repetitions.into());
        times.put(&mut row, "ns");
        rows.push(Value::Object(row));
    }
    if samples.len() < 2 {
        return rows;
    }
    for (aggregate, unit, f) in AGGREGATES {
        let mut row = head(&format!("_{aggregate}"), "aggregate");
        row.insert("aggregate_name".into(), (*aggregate).into());
        row.insert("aggregate_unit".into(), (*unit).into());
        row.insert("iterations".into(), samples.len().into());
        let of = |get: &dyn Fn(&Times) -> f64| f(&times.iter().map(get).collect::<Vec<_>>());
        let has_bytes = times.iter().all(|t| t.bytes_per_second.is_some());
        let aggregated = Times {
            real: of(&|t| t.real),
            cpu: of(&|t| t.cpu),
            bytes_per_second: has_bytes.then(|| of(&|t| t.bytes_per_second.unwrap_or(0.0))),
            items_per_second: of(&|t| t.items_per_second),
        };
        aggregated.put(&mut row, "ns");
        rows.push(Value::Object(row));
    }
    rows
}

type Aggregate = fn(&[f64]) -> f64;

const AGGREGATES: &[(&str, &str, Aggregate)] = &[
    ("mean", "time", mean),
    ("median", "time", |values| median(values).unwrap_or(f64::NAN)),
    ("stddev", "time", deviation),
    ("cv", "percentage", variation),
];

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn deviation(values: &[f64]) -> f64 {
    let mean = mean(values);
    let square: f64 = values.iter().map(|v| (v - mean).powi(2)).sum();
    (square / (values.len() - 1) as f64).sqrt()
}

/// 0 where the mean is 0: JSON has no NaN.
fn variation(values: &[f64]) -> f64 {
    let mean = mean(values);
    if mean == 0.0 { 0.0 } else { deviation(values) / mean }
}
