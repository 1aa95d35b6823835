//! Many files, for the table: files a second by three definitions, processor time for each file,
//! and how much of their number several workers are worth.

use super::latency::{Latency, over_rounds};
use super::view_model::Section;
use iolab_model::catalog::{Factor, count_text, percent_text, time_text};
use iolab_model::result::CellRecord;

const TITLES: [&str; 6] = ["cell", "files/s", "first", "sum", "CPU a file", "scaling"];

/// What stands under the rows.
pub(super) fn legend(sections: &[Section]) -> Option<String> {
    sections.iter().any(|section| !section.rates.rows.is_empty()).then(|| {
        "files/s: until the last worker has ended; first: until the first has; sum: each worker's \
         own rate, added up. Where first and last lie far apart, workers wait for each other. CPU: \
         processor time of all workers. Scaling: the rate as a share of what the fewest workers \
         would give if each were worth as much."
            .to_owned()
    })
}

/// A row for each cell that has such rates; medians over rounds.
pub(super) fn of(cells: &[&CellRecord]) -> Latency {
    let rows: Vec<Vec<String>> = cells
        .iter()
        .filter_map(|cell| {
            let last = median_of(cell, "rate_last")?;
            let rate = |id| median_of(cell, id).map(rate_text).unwrap_or_default();
            Some(vec![
                cell.id.clone(),
                rate_text(last),
                rate("rate_first"),
                rate("rate_sum"),
                median_of(cell, "processor_ns_per_file").map(time_text).unwrap_or_default(),
                scaling(cell, last, cells).map(percent_text).unwrap_or_default(),
            ])
        })
        .collect();
    Latency { titles: if rows.is_empty() { Vec::new() } else { TITLES.to_vec() }, rows }
}

fn rate_text(rate: f64) -> String {
    count_text(rate.round() as u64)
}

fn median_of(cell: &CellRecord, id: &str) -> Option<f64> {
    over_rounds(cell, id).map(|summary| summary.median)
}

/// (rate / workers) over that of the cell with the fewest workers, all else equal; nothing for that
/// cell itself.
fn scaling(cell: &CellRecord, rate: f64, cells: &[&CellRecord]) -> Option<f64> {
    let alike = |cell: &CellRecord| cell.factors.only(|factor| factor != Factor::Threads);
    let workers = |cell: &CellRecord| cell.factors.number(Factor::Threads);
    let own = workers(cell)?;
    let others = cells.iter().filter(|other| alike(other) == alike(cell));
    let fewest = others.min_by_key(|other| workers(other))?;
    let (least, base) = (workers(fewest)?, median_of(fewest, "rate_last")?);
    (least < own && base > 0.0).then(|| rate / own as f64 / (base / least as f64))
}

#[cfg(test)]
mod tests {
    use super::of;
    use iolab_model::catalog::{Factor, Level, Levels};
    use iolab_model::result::{CellRecord, CellStatus, Measurement, Metrics, Phase, Sample};

    fn cell(workers: u64, rate: f64) -> CellRecord {
        let metrics = Metrics::from([("rate_last", rate), ("processor_ns_per_file", 2_500.0)]);
        let measurement = Measurement { wall_ns: 1000, metrics, ..Measurement::default() };
        let (round, position, epoch, phase) = (3, 0, 0, Phase::Steady);
        let sample = Sample { round, position, phase, epoch, measurement, fault: None };
        CellRecord {
            id: format!("read/threads={workers}"),
            factors: Levels::new().with(Factor::Threads, Level::Number(workers)),
            status: CellStatus::Measured,
            reason: None,
            exclusion: None,
            samples: vec![sample],
            estimate: None,
        }
    }

    #[test]
    fn two_workers_that_do_three_halves_of_one_scale_to_three_quarters() {
        let cells = [cell(1, 1000.0), cell(2, 1500.0), cell(4, 1500.0)];
        let seen = of(&cells.iter().collect::<Vec<_>>());
        assert_eq!(seen.rows[0], ["read/threads=1", "1000", "", "", "2.50 µs", ""]);
        assert_eq!(seen.rows[1][5], "75 %");
        assert_eq!(seen.rows[2][5], "38 %");
        let none = CellRecord { samples: Vec::new(), ..cell(1, 1.0) };
        assert!(of(&[&none]).rows.is_empty());
    }
}
