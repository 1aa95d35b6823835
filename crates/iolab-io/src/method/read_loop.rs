//! Runs a reader: picks the loop once (order × consumer), prepares every partition, times, adds up.

use super::consume::{CrcStream, CrcSum, Fold, Nothing, Partial, Xor};
use super::histogram::Histogram;
use super::latency::{Latencies, Unwatched, Watch, Watched};
use super::measured_window::MeasuredWindow;
use super::order::{AccessOrder, Forward, Scattered};
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, ReadJob, Stop};
use super::worker_threads;
use super::{ReadEntry, the_block};
use crate::sys::clock::now_ns;
use crate::sys::usage::{Usage, usage};
use iolab_model::catalog::{Consume, path_to_text};
use iolab_model::result::Fault;

/// What a method must do to read a file. Everything in `open` is outside the timed window,
/// everything in `read_blocks` inside it: there nothing may be allocated, formatted, shared between
/// threads or asked of the clock per operation, but for what the watch does.
pub trait Reader: Sized + 'static {
    /// Makes ready for one partition, in the thread that will work on it.
    fn open(job: &ReadJob<'_>, partition: &Partition) -> Result<Self, Stop>;

    /// Does the operations of one range and hands every block to the consumer. The watch is told when each operation begins and when its bytes are there.
    fn read_blocks<O: AccessOrder, F: Fold, W: Watch>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        to: &mut Sink<F, W>,
    ) -> Result<Moved, Stop>;
}

/// Where the blocks of one partition go.
#[derive(Debug, Default)]
pub struct Sink<F, W> {
    /// Consumes them.
    pub fold: F,
    /// Times each operation, or does nothing.
    pub watch: W,
}

/// What a read trial yields.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// From the first thread's start to the last one's end.
    pub wall_ns: u64,
    /// Processor time in user mode, all threads.
    pub user_ns: u64,
    /// Processor time in the kernel, all threads.
    pub system_ns: u64,
    /// Bytes that were handed to the consumer.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
    /// What one pass left, or nothing where two passes differed.
    pub partial: Option<Partial>,
    /// How long the operations took, where that was asked for.
    pub latencies: Option<Latencies>,
}

/// How the method `R` reads: a block by each operation, every byte of it the file's.
pub(super) const fn entry<R: Reader>() -> ReadEntry {
    ReadEntry { step_bytes: the_block, real: true, run: read::<R> }
}

/// Reads by the method `R`.
pub fn read<R: Reader>(
    job: &ReadJob<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Outcome, Fault> {
    let (pattern, seed) = (job.layout.pattern, job.layout.seed);
    match job.layout.is_in_file_order() {
        true => in_order::<R, _>(job, window, |_| Forward),
        false => in_order::<R, _>(job, window, |partition| {
            Scattered::new(pattern, partition.count, seed)
        }),
    }
    .map_err(|stop| stop.fault(format!("read {}", path_to_text(job.path))))
}

fn in_order<R: Reader, O: AccessOrder + 'static>(
    job: &ReadJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: impl Fn(&Partition) -> O + Sync,
) -> Result<Outcome, Stop> {
    let order = &order;
    match job.latency {
        false => consumed::<R, O, Unwatched>(job, window, order),
        true => consumed::<R, O, Watched>(job, window, order),
    }
}

fn consumed<R: Reader, O: AccessOrder + 'static, W: Watch>(
    job: &ReadJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: &(dyn Fn(&Partition) -> O + Sync),
) -> Result<Outcome, Stop> {
    match job.consume {
        Consume::None => run::<R, O, Nothing, W>(job, window, order),
        Consume::Xor => run::<R, O, Xor, W>(job, window, order),
        Consume::Histogram => run::<R, O, Histogram, W>(job, window, order),
        Consume::Crc32c if O::CONTIGUOUS => run::<R, O, CrcStream, W>(job, window, order),
        Consume::Crc32c => run::<R, O, CrcSum, W>(job, window, order),
    }
}

fn run<R: Reader, O: AccessOrder + 'static, F: Fold + Default + 'static, W: Watch>(
    job: &ReadJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: &(dyn Fn(&Partition) -> O + Sync),
) -> Result<Outcome, Stop> {
    partitions(&job.layout.partitions, window, &|partition| {
        let reader = R::open(job, partition)?;
        let to = Sink { fold: F::default(), watch: W::default() };
        Ok(Box::new(Ready { reader, partition, order: order(partition), to }))
    })
}

/// One partition of work, ready to start; its loop is chosen already.
trait Work {
    /// The timed part: two clock reads and the work between them.
    fn run(self: Box<Self>) -> Result<Done, Stop>;
}

struct Ready<'a, R, O, F, W> {
    reader: R,
    partition: &'a Partition,
    order: O,
    to: Sink<F, W>,
}

/// What a partition did and when.
struct Done {
    start_ns: u64,
    end_ns: u64,
    moved: Moved,
    partial: Option<Partial>,
    latencies: Option<Latencies>,
}

impl<R: Reader, O: AccessOrder, F: Fold, W: Watch> Work for Ready<'_, R, O, F, W> {
    fn run(mut self: Box<Self>) -> Result<Done, Stop> {
        let start_ns = now_ns();
        let moved = self.work();
        let end_ns = now_ns();
        let Sink { fold, watch } = self.to;
        let (partial, latencies) = (fold.finish(), watch.finish());
        Ok(Done { start_ns, end_ns, moved: moved?, partial, latencies })
    }
}

impl<R: Reader, O: AccessOrder, F: Fold, W: Watch> Ready<'_, R, O, F, W> {
    #[inline(never)]
    fn work(&mut self) -> Result<Moved, Stop> {
        let mut moved = Moved::default();
        for _ in 0..self.partition.passes {
            for steps in &self.partition.block_ranges {
                let (partition, order, steps) = (self.partition, self.order, steps.clone());
                let range = OrderedBlocks { partition, order, steps };
                moved += self.reader.read_blocks(range, &mut self.to)?;
            }
            self.to.fold.end_pass();
        }
        Ok(moved)
    }
}

fn partitions<'a>(
    partitions: &'a [Partition],
    window: &mut dyn MeasuredWindow,
    prepare: &(dyn Fn(&'a Partition) -> Result<Box<dyn Work + 'a>, Stop> + Sync),
) -> Result<Outcome, Stop> {
    let (done, before) = worker_threads::run(partitions, window, prepare, |work| work.run())?;
    let after = usage();
    window.close();
    let done = done.into_iter().collect::<Result<Vec<Done>, Stop>>()?;
    done.iter().zip(partitions).try_for_each(|(done, partition)| as_planned(done, partition))?;
    Ok(sum(done, before, after))
}

/// A file that grew meanwhile fills the last block, which was to be a short one, and a kernel may say
/// that it did: more bytes than there were would be counted.
fn as_planned(done: &Done, partition: &Partition) -> Result<(), Stop> {
    let steps: u64 = partition.block_ranges.iter().map(|range| range.end - range.start).sum();
    let planned = partition.passes.saturating_mul(partition.bytes());
    if steps != partition.count || done.moved.bytes == planned {
        return Ok(());
    }
    Err(Stop::new(format!(
        "{} bytes were read instead of {planned}: the file changed during the run",
        done.moved.bytes
    )))
}

fn sum(done: Vec<Done>, before: Usage, after: Usage) -> Outcome {
    let start = done.iter().map(|d| d.start_ns).min().unwrap_or(0);
    let end = done.iter().map(|d| d.end_ns).max().unwrap_or(0);
    let mut moved = Moved::default();
    done.iter().for_each(|d| moved += d.moved);
    let (mut partials, mut latencies) = (Vec::new(), None::<Latencies>);
    for partition in done {
        partials.push(partition.partial);
        match (&mut latencies, partition.latencies) {
            (Some(all), Some(more)) => all.add(&more),
            (_, first) => latencies = first,
        }
    }
    let partial = partials.into_iter().reduce(|a, b| Some(a?.followed_by(b?))).flatten();
    Outcome {
        // A window shorter than the clock's step still took time.
        wall_ns: end.saturating_sub(start).max(1),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        bytes: moved.bytes,
        operations: moved.operations,
        partial,
        latencies,
    }
}
