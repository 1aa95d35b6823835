//! Synthetic runs with more to tell than time: costs by file size and touch, percentiles of single
//! operations, rates and steps of many files.

use crate::fakes::{Fake, document, fake, levels, number};
use iolab_model::catalog::{Factor, Level, Levels};
use iolab_model::result::{CellRecord, CellStatus, Document, Measurement};

const KI: u64 = 1024;
const MI: u64 = 1024 * KI;

/// A metadata call: `operations` of them take so long each.
fn call(levels: Levels, ns: f64, noise: f64) -> Fake {
    let operations = 20;
    let mut cell = fake(levels, ns * operations as f64, 0);
    (cell.operations, cell.cpu, cell.noise) = (operations, (0.1, 0.8), noise);
    cell
}

/// chmod on an overlay: the first touch copies the file up, with metacopy it does not.
pub fn costs() -> Document {
    let sizes = [64 * KI, 512 * KI, 2 * MI, 8 * MI];
    costs_of(&sizes, 30, |place, pass, bytes| match (place, pass) {
        ("overlay:on=[ext4]", "first") => 900e3 + 700e3 * (bytes as f64 / MI as f64),
        (_, "first") => 35e3,
        _ => 850.0,
    })
}

/// chmod on two places, first touch and steady, at a cost by place, pass and size.
pub fn costs_of(sizes: &[u64], rounds: u32, ns: impl Fn(&str, &str, u64) -> f64) -> Document {
    let mut cells = Vec::new();
    for place in ["overlay:on=[ext4]", "overlay+metacopy:on=[ext4]"] {
        for (at, size) in sizes.iter().enumerate() {
            for pass in ["first", "steady"] {
                let level = levels(&[
                    (Factor::Place, Level::word(place)),
                    (Factor::FileSize, number(*size)),
                    (Factor::Files, number(20)),
                    (Factor::Operation, Level::word("chmod")),
                    (Factor::Pass, Level::word(pass)),
                ]);
                let mut cell = call(level, ns(place, pass, *size), 0.05);
                if at == 1 && place.contains("metacopy") && pass == "steady" {
                    cell.gone = Some((CellStatus::Failed, "chmod f17: Read-only file system"));
                }
                cells.push(cell);
            }
        }
    }
    document(13, "meta", &[Factor::Place], rounds, cells)
}

/// Sets metrics of every trial; `nth` counts the trials of a cell.
fn with_metrics(mut run: Document, set: impl Fn(&CellRecord, usize, &mut Measurement)) -> Document {
    for cell in &mut run.cells {
        let mut samples = std::mem::take(&mut cell.samples);
        for (nth, sample) in samples.iter_mut().enumerate() {
            set(cell, nth, &mut sample.measurement);
        }
        cell.samples = samples;
    }
    run
}

/// A little higher or lower by trial, the same each time.
fn wobble(nth: usize) -> f64 {
    1.0 + 0.06 * ((nth * 7 % 11) as f64 - 5.0) / 5.0
}

/// Reads of 4 KiB timed one by one: as many percentiles as the operations of a round support.
pub fn latencies() -> Document {
    let cells = [("read", 1.0), ("pread", 0.95), ("preadv2", 1.9)].map(|(method, share)| {
        let bytes = if method == "preadv2" { 2 * MI } else { 64 * MI };
        let at = [
            (Factor::FileSize, number(64 * MI)),
            (Factor::Method, Level::word(method)),
            (Factor::Block, number(4 * KI)),
            (Factor::Cache, Level::word("warm")),
            (Factor::Latency, Level::word("on")),
        ];
        fake(levels(&at), 800.0 * share * (bytes / (4 * KI)) as f64, bytes)
    });
    let run = document(14, "read", &[Factor::Method], 20, cells.to_vec());
    with_metrics(run, |_, nth, m| {
        let one = m.wall_ns as f64 / m.operations as f64;
        let rungs = [
            ("latency_p50_ns", 0.97, 2),
            ("latency_p90_ns", 1.3, 10),
            ("latency_p99_ns", 2.6, 100),
            ("latency_p99_9_ns", 9.0, 1000),
            ("latency_p99_99_ns", 60.0, 10_000),
        ];
        for (id, times, fewest) in rungs {
            if m.operations >= fewest {
                m.metrics.insert(id.into(), one * times * wobble(nth));
            }
        }
        m.metrics.insert("latency_max_ns".into(), one * 900.0 * wobble(nth * 3));
    })
}

/// Many files read and created by one, two and four workers.
pub fn files() -> Document {
    let mut cells = Vec::new();
    for (operation, ns) in [("read", 19e3), ("create", 170e3)] {
        for threads in [1, 2, 4_u64] {
            let at = [
                (Factor::Files, number(300)),
                (Factor::Operation, Level::word(operation)),
                (Factor::Threads, number(threads)),
            ];
            let gain = match (operation, threads) {
                ("read", 2) => 1.9,
                ("read", 4) => 2.1,
                (_, n) => 1.0 + 0.02 * n as f64,
            };
            let bytes = if operation == "read" { 300 * 16 * KI } else { 0 };
            let mut cell = fake(levels(&at), 300.0 * ns / gain, bytes);
            (cell.operations, cell.cpu) = (300, (0.3 * gain, 0.6 * gain));
            cells.push(cell);
        }
    }
    rated(document(15, "files", &[Factor::Threads], 24, cells))
}

/// Files created with one number of workers in two layouts, each step timed.
pub fn steps() -> Document {
    let cells = ["shared", "sharded"].map(|layout| {
        let at = [
            (Factor::Files, number(200)),
            (Factor::Layout, Level::word(layout)),
            (Factor::Operation, Level::word("create")),
            (Factor::Sync, Level::word("each")),
            (Factor::Latency, Level::word("on")),
        ];
        let mut cell = fake(levels(&at), 200.0 * 2.9e6, 0);
        (cell.operations, cell.noise) = (200, 0.05);
        cell
    });
    let run = rated(document(16, "files", &[Factor::Layout], 12, cells.to_vec()));
    with_metrics(run, |_, nth, m| {
        for (step, ns) in [("open", 50e3), ("transfer", 8e3), ("sync", 2.8e6), ("close", 2e3)] {
            for (id, times) in [("p50_ns", 1.0), ("p99_ns", 3.5), ("max_ns", 12.0)] {
                let id = format!("{step}_latency_{id}");
                m.metrics.insert(id.as_str().into(), ns * times * wobble(nth));
            }
        }
    })
}

fn rated(run: Document) -> Document {
    with_metrics(run, |_, _, m| {
        let rate = m.operations as f64 / m.wall_ns.max(1) as f64 * 1e9;
        let processor = (m.user_ns + m.system_ns) as f64 / m.operations.max(1) as f64;
        for (id, value) in [("rate_last", rate), ("processor_ns_per_file", processor)] {
            m.metrics.insert(id.into(), value);
        }
    })
}
