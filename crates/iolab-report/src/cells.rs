//! One row a cell: every level, also those that all cells share, the median with its interval, the
//! speed, and how much longer than the best of its answer it takes. What figures of a paper or a
//! spreadsheet are made from; a row a sample is the format csv.

use std::io::{self, BufWriter, Write};

use super::csv::line;
use super::latency::over_rounds;
use super::view_model::divided;
use super::{Format, TextStyle};
use iolab_model::catalog::{Fact, Factor};
use iolab_model::result::{Answer, CellRecord, CellStanding, Document, Summary};

pub(super) const FORMAT: Format = Format {
    id: "cells",
    summary: "CSV, one row a cell: median, interval, regret, speed, all that was held constant",
    binary: false,
    write,
};

const BEFORE: [&str; 4] = ["run", "workload", "answer", "cell"];
const AFTER: [&str; 26] = [
    "status",
    "n",
    "wall_ns",
    "wall_ns_low",
    "wall_ns_high",
    "ns_per_operation",
    "ns_per_operation_low",
    "ns_per_operation_high",
    "bytes_per_second",
    "bytes_per_second_low",
    "bytes_per_second_high",
    "operations_per_second",
    "files_per_second",
    "files_per_second_low",
    "files_per_second_high",
    "processor_ns_per_file",
    "processor_ns_per_file_low",
    "processor_ns_per_file_high",
    "standing",
    "pick",
    "regret_low",
    "regret_high",
    "rounds",
    "file_system",
    "device",
    "kernel",
];

/// The metrics of many files, as they are called in samples: files a second until the last worker has
/// ended, and what one takes of a processor.
const OF_FILES: [&str; 2] = ["rate_last", "processor_ns_per_file"];

fn write(doc: &Document, _: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let out = &mut BufWriter::new(out);
    let (finite, factors) = (doc.finite(), factors(doc));
    let doc = &*finite.completed();
    let names = factors.iter().map(|factor| factor.name());
    line(out, BEFORE.into_iter().chain(names).chain(AFTER).map(str::to_owned))?;
    for (number, (answer, cells)) in divided(doc).into_iter().enumerate() {
        let number = answer.map(|_| number + 1);
        for cell in cells {
            line(out, row(doc, number, answer, cell, &factors))?;
        }
    }
    out.flush()
}

/// Every factor of any cell, in column order.
fn factors(doc: &Document) -> Vec<Factor> {
    let used = |factor: &Factor| doc.cells.iter().any(|cell| cell.factors.get(*factor).is_some());
    Factor::ALL.into_iter().filter(used).collect()
}

fn row(
    doc: &Document,
    number: Option<usize>,
    answer: Option<&Answer>,
    cell: &CellRecord,
    factors: &[Factor],
) -> Vec<String> {
    let number = number.map(|number| number.to_string()).unwrap_or_default();
    let run = doc.run.id.to_string();
    let mut all = vec![run, doc.experiment.workload.clone(), number, cell.id.clone()];
    let level = |factor: &Factor| cell.factors.get(*factor).map(ToString::to_string);
    all.extend(factors.iter().map(|factor| level(factor).unwrap_or_default()));
    all.push(cell.status.word().to_owned());
    all.extend(figures(cell));
    all.extend(judged(answer, cell));
    all.push(doc.experiment.protocol.steady_rounds.to_string());
    let facts = [Fact::MountFsType, Fact::DeviceName, Fact::KernelRelease];
    all.extend(facts.map(|fact| doc.environment.shown(fact).unwrap_or_default()));
    all
}

fn figures(cell: &CellRecord) -> Vec<String> {
    let Some(estimate) = &cell.estimate else { return vec![String::new(); 17] };
    let three = |summary: Option<&Summary>| {
        let ends =
            [summary.map(|s| s.median), summary.and_then(|s| s.low), summary.and_then(|s| s.high)];
        ends.map(number)
    };
    let rate = Some(estimate.ns_per_operation.median).filter(|ns| *ns > 0.0).map(|ns| 1e9 / ns);
    let mut all = vec![estimate.wall_ns.n.to_string()];
    all.extend(three(Some(&estimate.wall_ns)));
    all.extend(three(Some(&estimate.ns_per_operation)));
    all.extend(three(estimate.bytes_per_second.as_ref()));
    all.push(number(rate));
    for metric in OF_FILES {
        all.extend(three(over_rounds(cell, metric).as_ref()));
    }
    all
}

/// Where it stands, whether it is what to take, and how many times as long as the best it takes.
fn judged(answer: Option<&Answer>, cell: &CellRecord) -> [String; 4] {
    let Some(answer) = answer else { return Default::default() };
    let standing = match answer.standing_of(&cell.id) {
        CellStanding::Best => "best",
        CellStanding::AmongBest => "may be best",
        CellStanding::Slower => "slower",
        CellStanding::NotCompared => "",
    };
    let pick = answer.pick.as_ref().is_some_and(|pick| *pick.cell == *cell.id);
    let regret = answer.regret_of(&cell.id);
    [
        standing.to_owned(),
        pick.to_string(),
        number(regret.map(|regret| regret.low)),
        number(regret.and_then(|regret| regret.high)),
    ]
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use crate::{TextStyle, write};
    use iolab_test::{documents, scenes};

    #[test]
    fn a_cell_is_a_row_with_all_that_was_held_constant() {
        for (name, doc) in documents::all().into_iter().chain(scenes::all()) {
            let mut out = Vec::new();
            write("cells", &doc, &TextStyle::default(), &mut out).unwrap();
            let mut read = csv::Reader::from_reader(out.as_slice());
            let titles = read.headers().unwrap().clone();
            let rows: Vec<csv::StringRecord> = read.records().map(Result::unwrap).collect();
            assert_eq!(rows.len(), doc.cells.len(), "{name}");
            assert!(rows.iter().all(|row| row.len() == titles.len()), "{name}");
        }
        let doc = documents::winner();
        let mut out = Vec::new();
        write("cells", &doc, &TextStyle::default(), &mut out).unwrap();
        let mut read = csv::Reader::from_reader(out.as_slice());
        let titles = read.headers().unwrap().clone();
        let at = |name: &str| titles.iter().position(|title| title == name).unwrap();
        let rows: Vec<csv::StringRecord> = read.records().map(Result::unwrap).collect();
        let best = rows.iter().find(|row| &row[at("cell")] == "pread/64Ki").unwrap();
        assert_eq!((&best[at("standing")], &best[at("regret_low")]), ("best", "1"));
        assert_eq!((&best[at("cache")], &best[at("threads")]), ("warm", "1"));
        let median = doc.cells.iter().find(|c| c.id == "pread/64Ki").unwrap();
        let median = median.estimate.as_ref().unwrap().wall_ns.median;
        assert_eq!(best[at("wall_ns")].parse::<f64>().unwrap(), median);
    }
}
