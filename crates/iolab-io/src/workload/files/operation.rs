//! What the workload `files` can do, and how a trial's levels become workers.

use rustix::fs::syncfs;

use super::assign_files::{BlockRange, assign_files, passes};
use super::build::open_root;
use super::bytes::{Copy, FileStat, Read, Remove, Write};
use super::errors::fault;
use super::listing::Listing;
use super::settings::Settings;
use super::step_timer::{NoTimer, StepTimer, StepTimes};
use super::task::Task;
use super::verify;
use super::worker_threads::{self, WorkerJob};
use crate::method::{Buffer, MeasuredWindow, Stop, copy};
use iolab_model::catalog::{Capability, Factor, FileOperation, Part, Sync, list_text};
use iolab_model::result::{Fault, Measurement};

const fn operation(
    operation: FileOperation,
    summary: &'static str,
    capabilities: &'static [Capability],
    ignores: &'static [Factor],
) -> Part {
    Part::operation(operation.word(), summary).with(capabilities).ignoring(ignores)
}

/// On a tree that is there; on one that each trial makes; on both.
const READS: &[Capability] = &[Capability::Files, Capability::Read];
const WRITES: &[Capability] = &[Capability::Files, Capability::Write];
const COPIES: &[Capability] = &[Capability::Files, Capability::Read, Capability::Write];

/// The operations.
pub const OPERATIONS: &[Part] = &[
    operation(
        FileOperation::Read,
        "of files: open, read to the end, close",
        READS,
        &[Factor::Method, Factor::Sync],
    ),
    operation(
        FileOperation::Write,
        "of files: create, write, close",
        WRITES,
        &[Factor::Method, Factor::Cache, Factor::Consume],
    ),
    operation(
        FileOperation::Copy,
        "of files: open, create, move the bytes, close both",
        COPIES,
        &[Factor::Consume],
    ),
    operation(
        FileOperation::Create,
        "of files: create without bytes, close",
        WRITES,
        &[
            Factor::Method,
            Factor::Cache,
            Factor::Consume,
            Factor::Block,
            Factor::FileSize,
            Factor::Sizes,
            Factor::Fill,
        ],
    ),
    operation(
        FileOperation::Stat,
        "of files: look at each (fstatat)",
        READS,
        &[Factor::Method, Factor::Consume, Factor::Block, Factor::Sync],
    ),
    operation(
        FileOperation::Remove,
        "of files: unlink each (unlinkat)",
        WRITES,
        &[Factor::Method, Factor::Cache, Factor::Consume, Factor::Block],
    ),
];

/// Runs the trial.
pub(super) fn run(
    settings: &Settings<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    crate::sys::process::raise_descriptor_limit();
    let block_ranges = assign_files(settings.listing, settings.extent, settings.workers);
    let mut measurement = match settings.operation {
        FileOperation::Read => read(settings, &block_ranges, window)?,
        FileOperation::Stat => stat(settings, &block_ranges, window)?,
        FileOperation::Copy => copy_files(settings, &block_ranges, window)?,
        FileOperation::Write | FileOperation::Create => write(settings, &block_ranges, window)?,
        FileOperation::Remove => {
            workers(settings, &block_ranges, |_| Ok(Remove { site: settings.own() }), window)?.0
        }
    };
    measurement.repetitions = passes(settings.extent);
    verify::done_as_planned(settings, &mut measurement);
    Ok(measurement)
}

type Worked<T> = Result<(Measurement, Vec<T>), Fault>;

fn workers<T: Task>(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    make: impl Fn(usize) -> Result<T, Stop> + std::marker::Sync,
    window: &mut dyn MeasuredWindow,
) -> Worked<T> {
    match settings.latency {
        true => watched::<T, StepTimes>(settings, block_ranges, make, window),
        false => watched::<T, NoTimer>(settings, block_ranges, make, window),
    }
}

fn watched<T: Task, L: StepTimer>(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    make: impl Fn(usize) -> Result<T, Stop> + std::marker::Sync,
    window: &mut dyn MeasuredWindow,
) -> Worked<T> {
    let all_durable = || {
        let failed = |errno| fault("make the files durable", errno, "");
        let root = open_root(settings.together()).map_err(failed)?;
        syncfs(root).map_err(failed)
    };
    let finish: Option<&dyn Fn() -> Result<(), Fault>> = match settings.sync {
        Sync::End if settings.operation.has_own() => Some(&all_durable),
        _ => None,
    };
    let (operation, listing) = (settings.operation.word(), settings.listing);
    let order = WorkerJob {
        operation,
        listing,
        block_ranges,
        own_descriptors: settings.own_descriptors,
        finish,
    };
    let (mut measurement, done) = worker_threads::run::<T, L>(&order, make, window)?;
    let (mut times, mut tasks) = (StepTimes::default(), Vec::with_capacity(done.len()));
    for one in done {
        one.laps.add_to(&mut times);
        tasks.push(one.task);
    }
    times.tell(&mut measurement);
    Ok((measurement, tasks))
}

fn read(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let files = |worker: usize| {
        let first = |block_range: &&BlockRange| block_range.pass == 0;
        let block_ranges = block_ranges[worker].iter().filter(first);
        block_ranges.map(|block_range| block_range.files.end - block_range.files.start).sum()
    };
    let make = |worker: usize| {
        let buffer = Buffer::new(settings.block)?;
        Ok(Read::new(settings, buffer, files(worker)))
    };
    let (mut measurement, readers) = workers(settings, block_ranges, make, window)?;
    let seen: Vec<(u64, u32)> = readers.into_iter().flat_map(|reader| reader.seen).collect();
    verify::read(settings, &seen, settings.touches, &mut measurement)?;
    Ok(measurement)
}

fn stat(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let make = |_| Ok(FileStat { site: settings.standing(), bytes: 0 });
    let (mut measurement, looked) = workers(settings, block_ranges, make, window)?;
    let bytes = looked.iter().fold(0_u64, |sum, look| sum.wrapping_add(look.bytes));
    verify::sizes(settings, "sizes", bytes, &mut measurement);
    Ok(measurement)
}

fn write(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let Listing::Made(tree) = settings.listing else {
        return Err(Fault::new("write files", "only a tree that iolab describes is written"));
    };
    let each = settings.sync == Sync::Each;
    let empty = settings.operation == FileOperation::Create;
    let block = if empty { 1 } else { settings.piece() };
    let make = |_| {
        let (site, content) = (settings.own(), tree.content(block));
        Ok(Write { site, content, block, each, empty })
    };
    Ok(workers(settings, block_ranges, make, window)?.0)
}

fn copy_files(
    settings: &Settings<'_>,
    block_ranges: &[Vec<BlockRange>],
    window: &mut dyn MeasuredWindow,
) -> Result<Measurement, Fault> {
    let chosen = copy::find(&settings.method).and_then(|method| method.files.as_ref());
    let Some(chosen) = chosen else {
        let names: Vec<&str> = copy::files_methods().map(|part| part.id).collect();
        let cause = format!("no way {:?}; there are {}", settings.method, list_text(&names));
        return Err(Fault::new("copy files", cause));
    };
    let each = settings.sync == Sync::Each;
    let make = |_| {
        let (from, to, way) = (settings.standing(), settings.own(), (chosen.make)(settings.block)?);
        Ok(Copy { from, to, way, each, quiet: settings.quiet })
    };
    Ok(workers(settings, block_ranges, make, window)?.0)
}
