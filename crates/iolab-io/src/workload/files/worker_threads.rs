//! Workers: a thread each, timed each for itself.

use super::assign_files::BlockRange;
use super::errors::fault;
use super::listing::Listing;
use super::step_timer::StepTimer;
use super::task::{Counter, Round, Shared, Tally, Task};
use crate::method::{MeasuredWindow, Stop, run_threads};
use crate::sys::clock::now_ns;
use crate::sys::process::own_descriptors;
use crate::sys::usage::usage;
use iolab_model::catalog::{Code, path_to_text};
use iolab_model::result::{Fault, Measurement};

/// What is to be done.
pub(super) struct WorkerJob<'a> {
    /// `read`, `copy`, …
    pub(super) operation: &'static str,
    pub(super) listing: &'a Listing,
    /// By worker.
    pub(super) block_ranges: &'a [Vec<BlockRange>],
    /// Each worker but the first, which is the calling thread, takes a table of its own.
    pub(super) own_descriptors: bool,
    /// What makes everything durable after the last worker has ended, within the window.
    pub(super) finish: Option<&'a dyn Fn() -> Result<(), Fault>>,
}

/// One worker after its work.
pub(super) struct Done<T, L> {
    pub(super) task: T,
    pub(super) laps: L,
    pub(super) tally: Tally,
    start_ns: u64,
    end_ns: u64,
}

/// Lets the workers work. `make` is called in each worker's thread, before the clock starts.
pub(super) fn run<T: Task, L: StepTimer>(
    order: &WorkerJob<'_>,
    make: impl Fn(usize) -> Result<T, Stop> + Sync,
    window: &mut dyn MeasuredWindow,
) -> Result<(Measurement, Vec<Done<T, L>>), Fault> {
    let workers = order.block_ranges.len();
    let done = (0..workers).map(|_| Counter::default()).collect();
    let shared = Shared::new(done);
    let stopped =
        |stop: Stop| stop.fault(format!("{} files with {workers} workers", order.operation));
    let one = |worker: usize, task: T| {
        let lasting = matches!(order.listing, Listing::Made(_));
        let block_ranges = &order.block_ranges[worker];
        let round =
            Round { listing: order.listing, block_ranges, lasting, shared: &shared, worker };
        timed(&round, task)
    };
    let (done, timing) = all(order, &make, &one, window).map_err(stopped)?;
    let synced = timing.finished.clone()?;
    let mut measurement = sum(order, &done, &timing)?;
    if let Some(ns) = synced {
        measurement.metrics.insert("sync_ns".into(), ns as f64);
    }
    Ok((measurement, done))
}

fn timed<T: Task, L: StepTimer>(round: &Round<'_>, mut task: T) -> Done<T, L> {
    let mut laps = L::default();
    let start_ns = now_ns();
    let tally = round.work(&mut task, &mut laps);
    let end_ns = now_ns();
    task.leave();
    Done { task, laps, tally, start_ns, end_ns }
}

/// What belongs to no single worker.
struct Timing {
    user_ns: u64,
    system_ns: u64,
    /// When everything was durable, where that was asked for.
    end_ns: Option<u64>,
    finished: Result<Option<u64>, Fault>,
}

type Worked<D> = Result<(Vec<D>, Timing), Stop>;

/// Worker 0 is this thread: alone it shares its descriptors with nobody.
fn all<T, D: Send>(
    order: &WorkerJob<'_>,
    make: &(impl Fn(usize) -> Result<T, Stop> + Sync),
    one: &(impl Fn(usize, T) -> D + Sync),
    window: &mut dyn MeasuredWindow,
) -> Worked<D> {
    let apart = order.own_descriptors;
    let numbers: Vec<usize> = (0..order.block_ranges.len()).collect();
    let ready = |worker: &usize| {
        if *worker > 0 && apart {
            own_descriptors()?;
        }
        Ok((*worker, make(*worker)?))
    };
    let work = |(worker, task): (usize, T)| Ok(one(worker, task));
    let (done, before) = run_threads(&numbers, window, ready, work)?;
    let from_ns = now_ns();
    let finished = order.finish.map(|finish| finish()).transpose();
    let end_ns = order.finish.map(|_| now_ns());
    let after = usage();
    window.close();
    let timing = Timing {
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        end_ns,
        finished: finished.map(|_| end_ns.map(|end| end.saturating_sub(from_ns))),
    };
    Ok((done.into_iter().collect::<Result<_, Stop>>()?, timing))
}

fn sum<T, L>(
    order: &WorkerJob<'_>,
    done: &[Done<T, L>],
    timing: &Timing,
) -> Result<Measurement, Fault> {
    let files: u64 = done.iter().map(|d| d.tally.files).sum();
    refuse_failure(order, done, files)?;
    let start_ns = done.iter().map(|d| d.start_ns).min().unwrap_or(0);
    let last_ns = done.iter().map(|d| d.end_ns).max().unwrap_or(0);
    // A window shorter than the clock's step still took time.
    let wall_ns = timing.end_ns.unwrap_or(last_ns).saturating_sub(start_ns).max(1);
    let mut measurement = Measurement {
        wall_ns,
        user_ns: timing.user_ns,
        system_ns: timing.system_ns,
        bytes: done.iter().map(|d| d.tally.bytes).sum(),
        operations: files,
        ..Measurement::default()
    };
    let first = done.iter().find_map(|d| Some((d.tally.at_first_end?, d.end_ns)));
    let per_second = |count: u64, ns: u64| count as f64 * 1e9 / ns.max(1) as f64;
    let own = |d: &Done<T, L>| per_second(d.tally.files, d.end_ns.saturating_sub(d.start_ns));
    let failed: u64 = done.iter().flat_map(|d| &d.tally.failures).map(|(_, count)| count).sum();
    let metrics = [
        ("rate_last", Some(per_second(files, wall_ns))),
        ("rate_first", first.map(|(count, end)| per_second(count, end.saturating_sub(start_ns)))),
        ("rate_sum", Some(done.iter().map(own).sum())),
        ("processor_ns_per_file", Some((timing.user_ns + timing.system_ns) as f64 / files as f64)),
        ("failed_operations", (failed > 0).then_some(failed as f64)),
    ];
    for (id, value) in metrics {
        if let Some(value) = value {
            measurement.metrics.insert(id.into(), value);
        }
    }
    if done.iter().any(|d| d.tally.full) {
        measurement.flags.push(Code::Truncated);
    } else if failed > 0 {
        measurement.flags.push(Code::TreeChanged);
    }
    Ok(measurement)
}

/// A failure is the trial's, where nothing was done or nothing may fail.
fn refuse_failure<T, L>(
    order: &WorkerJob<'_>,
    done: &[Done<T, L>],
    files: u64,
) -> Result<(), Fault> {
    let fatal = done.iter().find(|d| d.tally.fatal);
    let chosen = fatal.or_else(|| done.iter().find(|d| d.tally.first_failure.is_some()));
    match chosen.and_then(|d| d.tally.first_failure) {
        Some((file, errno)) if fatal.is_some() || files == 0 => {
            let name = path_to_text(&order.listing.path(file));
            Err(fault(format!("{} files", order.operation), errno, &name))
        }
        _ if files == 0 => Err(Fault::new("work on a tree", "there is no file in it")),
        _ => Ok(()),
    }
}
