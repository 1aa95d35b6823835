//! Bencher's metric format, for continuous benchmarking: name → measure → value with its bounds.

use std::io::{self, Write};

use serde_json::{Map, Value, json};

use super::google_benchmark::benchmark_name;
use super::{Format, TextStyle};
use iolab_model::catalog::Factor;
use iolab_model::result::{CellRecord, Document, Summary};

pub(super) const FORMAT: Format = Format {
    id: "bencher",
    summary: "JSON in Bencher's metric format (BMF)",
    binary: false,
    write,
};

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let doc = &*doc.finite();
    let mut all = Map::new();
    for cell in &doc.cells {
        if let Some(measures) = measures(cell) {
            all.insert(benchmark_name(&doc.experiment.workload, &cell.factors), measures);
        }
    }
    serde_json::to_writer_pretty(&mut *out, &Value::Object(all)).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// Bencher's own measures: `latency` in nanoseconds (of a pass where bytes move, else of a call),
/// `throughput` in operations per second; `bytes-per-second` beside them.
fn measures(cell: &CellRecord) -> Option<Value> {
    let estimate = cell.estimate.as_ref()?;
    let pass = estimate.bytes_per_second.is_some() && cell.factors.get(Factor::Operation).is_none();
    let latency = if pass { &estimate.wall_ns } else { &estimate.ns_per_operation };
    let mut measures = Map::new();
    measures.insert("latency".to_owned(), metric(latency));
    let per_second = |ns: f64| (ns > 0.0).then(|| 1e9 / ns);
    let operation = &estimate.ns_per_operation;
    if let Some(value) = per_second(operation.median) {
        measures.insert(
            "throughput".to_owned(),
            bounded(value, operation.high.and_then(per_second), operation.low.and_then(per_second)),
        );
    }
    if let Some(speed) = &estimate.bytes_per_second {
        measures.insert("bytes-per-second".to_owned(), metric(speed));
    }
    Some(Value::Object(measures))
}

fn metric(summary: &Summary) -> Value {
    bounded(summary.median, summary.low, summary.high)
}

/// A bound that is not known is left out.
fn bounded(value: f64, low: Option<f64>, high: Option<f64>) -> Value {
    let mut metric = Map::new();
    metric.insert("value".to_owned(), json!(value));
    for (name, bound) in [("lower_value", low), ("upper_value", high)] {
        if let Some(bound) = bound.filter(|b| b.is_finite()) {
            metric.insert(name.to_owned(), json!(bound));
        }
    }
    Value::Object(metric)
}
