//! Cells of several documents brought together: which are the same, and their times.

use std::collections::{BTreeMap, BTreeSet};

use super::again::runs_text;
use super::sitting::distinct;
use iolab_model::catalog::{Fact, Factor, Levels};
use iolab_model::result::{CellRecord, Document, Phase, Sample, Summary};
use iolab_stats::Seen;

/// One cell of one side, over the runs of that side.
pub(super) struct Arm {
    pub(super) seen: Vec<Seen>,
    /// The geometric mean of the runs' medians, of which the ratio of two sides is that of theirs.
    pub(super) level_ns: f64,
}

impl Arm {
    /// Runs of the first sittings, so many of these.
    pub(super) fn of_first_sittings(&self, most: usize) -> Vec<Seen> {
        let mut numbers = distinct(self.seen.iter().map(|run| run.sitting));
        numbers.truncate(most);
        self.seen.iter().filter(|run| numbers.contains(&run.sitting)).cloned().collect()
    }
}

/// A cell that both sides have figures of.
pub(super) struct Common {
    pub(super) name: String,
    pub(super) key: Key,
    pub(super) first: Arm,
    pub(super) second: Arm,
}

/// Cells are the same where workload and levels are.
pub(super) type Key = (String, Levels);

fn key(run: &Document, cell: &CellRecord) -> Key {
    (run.experiment.workload.clone(), cell.factors.clone())
}

/// The cells that both sides have figures of, in the order of the first side; `sittings` of their runs.
pub(super) fn common(
    first: &[Document],
    second: &[Document],
    [of_first, of_second]: &[Vec<u32>; 2],
) -> Vec<Common> {
    let (mut a, mut b) = (arms(first, of_first), arms(second, of_second));
    let mut done = BTreeSet::new();
    let mut found = Vec::new();
    let several = first
        .iter()
        .chain(second)
        .any(|d| first.first().is_some_and(|f| f.experiment.workload != d.experiment.workload));
    for (run, cell) in first.iter().flat_map(|d| d.cells.iter().map(move |c| (d, c))) {
        let key = key(run, cell);
        if !done.insert(key.clone()) {
            continue;
        }
        if let (Some(first), Some(second)) = (a.remove(&key), b.remove(&key)) {
            // A workload and its plainest method often have one name.
            let named = cell.id.split('/').next() == Some(&key.0);
            let name = match several && !named {
                true => format!("{} {}", key.0, cell.id),
                false => cell.id.clone(),
            };
            found.push(Common { name, key, first, second });
        }
    }
    found
}

/// Names of measured cells of one side that are not compared.
pub(super) fn missing(side: &[Document], common: &[Common]) -> Vec<String> {
    let compared: BTreeSet<&Key> = common.iter().map(|c| &c.key).collect();
    let mut names = Vec::new();
    let cells = side.iter().flat_map(|d| d.cells.iter().map(move |c| (d, c)));
    for (run, cell) in cells.filter(|(_, cell)| shown_ns(cell).is_some()) {
        if !compared.contains(&key(run, cell)) && !names.contains(&cell.id) {
            names.push(cell.id.clone());
        }
    }
    names
}

fn arms(side: &[Document], sittings: &[u32]) -> BTreeMap<Key, Arm> {
    let mut runs: BTreeMap<Key, (Vec<Seen>, Vec<f64>)> = BTreeMap::new();
    for (run, &sitting) in side.iter().zip(sittings) {
        let twin = run.twin.as_ref().and_then(|t| t.ratio).map(|r| r.ln().abs());
        for cell in &run.cells {
            let Some(median_ns) = shown_ns(cell) else { continue };
            let y: Vec<f64> = steady(cell).filter_map(|s| Some(unit_ns(cell, s)?.ln())).collect();
            if y.is_empty() {
                continue;
            }
            let arm = runs.entry(key(run, cell)).or_default();
            arm.0.push(Seen { y, twin, sitting });
            arm.1.push(median_ns);
        }
    }
    let arm = |(key, (seen, medians)): (Key, (Vec<Seen>, Vec<f64>))| {
        Some((key, Arm { seen, level_ns: geometric_mean(&medians)? }))
    };
    runs.into_iter().filter_map(arm).collect()
}

fn geometric_mean(times_ns: &[f64]) -> Option<f64> {
    let ln_sum: f64 = times_ns.iter().map(|ns| ns.ln()).sum();
    (!times_ns.is_empty()).then(|| (ln_sum / times_ns.len() as f64).exp())
}

fn steady(cell: &CellRecord) -> impl Iterator<Item = &Sample> {
    cell.samples.iter().filter(|s| s.phase == Phase::Steady)
}

/// Nanoseconds per unit of work, as a run compares its cells: a cell whose job is one call by the
/// call, any other by the byte.
fn unit_ns(cell: &CellRecord, sample: &Sample) -> Option<f64> {
    let measured = &sample.measurement;
    match cell.factors.get(Factor::Operation) {
        Some(_) if sample.counts() && measured.operations > 0 => {
            Some(measured.wall_ns as f64 / measured.operations as f64)
        }
        Some(_) => None,
        None => sample.unit_ns(),
    }
}

/// The median time that is shown, nanoseconds: of a pass where bytes move over a file, else of a
/// call.
pub fn shown_ns(cell: &CellRecord) -> Option<f64> {
    shown(cell).map(|summary| summary.median)
}

/// The same with all that is known of it.
pub(super) fn shown(cell: &CellRecord) -> Option<&Summary> {
    let estimate = cell.estimate.as_ref()?;
    let pass = estimate.bytes_per_second.is_some() && cell.factors.get(Factor::Operation).is_none();
    Some(if pass { &estimate.wall_ns } else { &estimate.ns_per_operation })
}

/// ln times of some cells of one run by steady round, and the epoch of each round.
pub(super) fn by_round(cells: &[&CellRecord]) -> (Vec<Vec<f64>>, Vec<u32>) {
    let epochs: BTreeMap<u32, u32> =
        cells.iter().flat_map(|c| steady(c)).map(|s| (s.round, s.epoch)).collect();
    let one = |cell: &&CellRecord| {
        let times: BTreeMap<u32, f64> =
            steady(cell).filter_map(|s| Some((s.round, unit_ns(cell, s)?.ln()))).collect();
        epochs.keys().map(|round| times.get(round).copied().unwrap_or(f64::NAN)).collect()
    };
    (cells.iter().map(one).collect(), epochs.into_values().collect())
}

/// Whether two cells of one run work on the same file instance.
pub(super) fn share_files(a: &CellRecord, b: &CellRecord) -> bool {
    [Factor::Place, Factor::File, Factor::FileSize, Factor::Files]
        .into_iter()
        .all(|f| a.factors.get(f) == b.factors.get(f))
}

/// `run 17`, `runs 3..5` as a command takes them, or each by its name.
pub(super) fn run_names(runs: &[Document]) -> String {
    match runs {
        [_, _, ..] if runs.iter().all(|run| run.run.id != 0 && !run.is_imported()) => {
            let ids: Vec<u64> = runs.iter().map(|run| run.run.id).collect();
            format!("runs {}", runs_text(&ids))
        }
        _ => runs.iter().map(run_name).collect::<Vec<_>>().join(", "),
    }
}

/// `run 17`, or its file or title where it is in no history.
pub(super) fn run_name(run: &Document) -> String {
    let file = run.environment.text(Fact::ImportFile);
    match (run.run.id, file.unwrap_or(run.run.title.as_str())) {
        (0, "") => "an unnamed run".to_owned(),
        (0, title) => title.to_owned(),
        (id, _) => format!("run {id}"),
    }
}
