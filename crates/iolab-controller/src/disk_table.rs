//! The table that people know from disk benchmarks: large blocks in order and small ones at random,
//! many requests under way and one at a time, past the page cache, read and written.

use std::collections::BTreeMap;

use super::error::Error;
use super::placement::Placement;
use super::prepared::Prepared;
use super::quick::QuickOrder;
use super::survey_parts::{KIB, MIB};
use iolab_agent::catalog;
use iolab_model::catalog::{
    AxisWord, Capability, Factor, Level, Part, PartKind, Pattern, Switch, Target, Until, WorkloadId,
};
use iolab_model::result::{CellRecord, Document};
use iolab_model::spec::{Experiment, Protocol};

/// The file that is worked on, at most.
const FILE_BYTES: u64 = 256 * MIB;

/// What one row has for one direction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DiskFigure {
    /// Bytes a second.
    pub bytes_per_second: f64,
    /// Requests a second.
    pub operations_per_second: f64,
    /// Nanoseconds from a request to its end, on average: those under way over those a second.
    pub request_ns: f64,
    /// How far the median may be off, as a share of it; absent after few rounds.
    pub spread: Option<f64>,
}

/// One row of the table.
#[derive(Clone, Debug)]
pub struct DiskRow {
    /// `SEQ1M Q8T1`.
    pub name: &'static str,
    /// Nothing where it could not be measured.
    pub read: Option<DiskFigure>,
    /// The same of writing.
    pub write: Option<DiskFigure>,
}

/// The table, and why a figure is missing.
#[derive(Clone, Debug, Default)]
pub struct DiskTable {
    /// In the order in which people know them.
    pub rows: Vec<DiskRow>,
    /// What could not be had, each reason once.
    pub missing: Vec<String>,
    /// Bytes of the file.
    pub file_bytes: u64,
    /// The numbers of the runs.
    pub runs: Vec<u64>,
    /// Whether the person ended it.
    pub interrupted: bool,
}

/// One run: two rows of one direction, with many requests under way and with one.
struct Job {
    names: [&'static str; 2],
    writes: bool,
    block_bytes: u64,
    pattern: Pattern,
    depth: u64,
}

const fn job(writes: bool, random: bool) -> Job {
    match random {
        false => Job {
            names: ["SEQ1M Q8T1", "SEQ1M Q1T1"],
            writes,
            block_bytes: MIB,
            pattern: Pattern::Sequential,
            depth: 8,
        },
        true => Job {
            names: ["RND4K Q32T1", "RND4K Q1T1"],
            writes,
            block_bytes: 4 * KIB,
            pattern: Pattern::Random,
            depth: 32,
        },
    }
}

const JOBS: [Job; 4] = [job(false, false), job(false, true), job(true, false), job(true, true)];

impl Job {
    /// Without an fsync at the end, as such tables have it.
    fn factors(&self, file_bytes: u64) -> BTreeMap<Factor, Vec<Level>> {
        let capability = if self.writes { Capability::Write } else { Capability::Read };
        let mut methods: Vec<Level> = deep(capability).map(Level::word).collect();
        methods.push(Level::word(catalog::plain(capability)));
        let mut factors = BTreeMap::from([
            (Factor::Method, methods),
            (Factor::Block, vec![Level::Number(self.block_bytes)]),
            (Factor::Pattern, vec![self.pattern.level()]),
            (Factor::Direct, vec![Level::word(Switch::On.word())]),
            (Factor::QueueDepth, vec![Level::Number(self.depth)]),
            (Factor::FileSize, vec![Level::Number(file_bytes)]),
        ]);
        if self.writes {
            factors.insert(Factor::Target, vec![Target::Overwrite.level()]);
            factors.insert(Factor::Until, vec![Until::Return.level()]);
        }
        factors
    }

    /// Of the two cells the one with requests under way comes first.
    fn figures(&self, document: &Document) -> [Option<DiskFigure>; 2] {
        let deep = |cell: &CellRecord| cell.factors.number(Factor::QueueDepth).is_some();
        [true, false].map(|wanted| {
            let cell = document.cells.iter().find(|cell| deep(cell) == wanted)?;
            let estimate = cell.estimate.as_ref()?;
            let each = &estimate.ns_per_operation;
            let operation_ns = each.median;
            let depth = if wanted { self.depth } else { 1 };
            (operation_ns > 0.0).then_some(())?;
            Some(DiskFigure {
                bytes_per_second: estimate.bytes_per_second.as_ref()?.median,
                operations_per_second: 1e9 / operation_ns,
                request_ns: operation_ns * depth as f64,
                spread: each
                    .low
                    .zip(each.high)
                    .map(|(low, high)| (high - low) / 2.0 / operation_ns),
            })
        })
    }
}

/// Methods that have several requests under way.
fn deep(capability: Capability) -> impl Iterator<Item = &'static str> {
    let method = move |part: &&&Part| {
        part.kind == PartKind::Method && part.can(capability) && !part.by_name_only
    };
    let deep = |part: &&&Part| !part.ignores.contains(&Factor::QueueDepth);
    catalog::all().iter().filter(method).filter(deep).map(|part| part.id)
}

/// What will be run: the plan of each of its runs.
///
/// # Errors
/// The directory cannot be used.
pub fn plans(order: &QuickOrder<'_>, file_bytes: u64) -> Result<Vec<Prepared>, Error> {
    let file_bytes = file_bytes.min(FILE_BYTES);
    let share = |job: &Job| {
        let direction = if job.writes { WorkloadId::Write } else { WorkloadId::Read };
        let experiment = Experiment {
            title: Some(format!("quick: {} and {}", job.names[0], job.names[1])),
            workload: direction.to_string(),
            directory: order.directory.to_owned(),
            factors: job.factors(file_bytes),
            protocol: Protocol {
                budget_ns: order.protocol.budget_ns / JOBS.len() as u64,
                ..order.protocol.clone()
            },
        };
        Prepared::of(&experiment, &Placement::default())
    };
    JOBS.iter().map(share).collect()
}

/// Measures the table.
///
/// # Errors
/// What ended a run.
pub fn measure(
    order: &QuickOrder<'_>,
    plans: &[Prepared],
    file_bytes: u64,
) -> Result<DiskTable, Error> {
    let mut table = DiskTable { file_bytes: file_bytes.min(FILE_BYTES), ..DiskTable::default() };
    let names = JOBS[..2].iter().flat_map(|job| job.names);
    table.rows = names.map(|name| DiskRow { name, read: None, write: None }).collect();
    for (job, prepared) in JOBS.iter().zip(plans) {
        let mut miss = |why: &str| {
            if !table.missing.iter().any(|known| known == why) {
                table.missing.push(why.to_owned());
            }
        };
        prepared.plan.cells.iter().filter_map(|cell| cell.skip.as_deref()).for_each(&mut miss);
        if prepared.plan.baseline.is_none() {
            continue;
        }
        let measured = order.run(prepared, None)?;
        let document = &measured.document;
        let failed = document.cells.iter().filter(|cell| cell.estimate.is_none());
        failed.filter_map(|cell| cell.reason.as_deref()).for_each(&mut miss);
        table.runs.push(document.run.id);
        for (name, figure) in job.names.into_iter().zip(job.figures(document)) {
            if let Some(row) = table.rows.iter_mut().find(|row| row.name == name) {
                *if job.writes { &mut row.write } else { &mut row.read } = figure;
            }
        }
        table.interrupted = measured.is_interrupted();
        measured.failure.map_or(Ok(()), Err)?;
        if table.interrupted {
            break;
        }
    }
    Ok(table)
}
