//! Runs a writer: picks the loop once (order × barrier), prepares every partition, times, and takes the
//! times at which the data had returned, were closed, durable, and found by name.

use std::path::Path;

use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;

use super::fill::Pool;
use super::latency::Latencies;
use super::measured_window::MeasuredWindow;
use super::order::{AccessOrder, Forward, Scattered};
use super::ordered_blocks::OrderedBlocks;
use super::partition::{Moved, Partition, Stop};
use super::sync::{Barrier, DataEach, EveryNth, Follow, NoBarrier, Timed, fdatasync, fsync};
use super::target::WriteJob;
use super::worker_threads;
use super::{WriteEntry, the_block};
use crate::sys::clock::now_ns;
use crate::sys::usage::{Usage, usage};
use iolab_model::catalog::{Sync, Until, path_to_text};
use iolab_model::result::Fault;

/// What a method must do to write a file. Everything in `open` is outside the timed window,
/// everything in `write_blocks` inside it: there nothing may be allocated, formatted, shared between
/// threads or asked of the clock per operation.
pub trait Writer: Sized + Send + 'static {
    /// What it leaves beside the descriptor, let go when no time is taken any more.
    type Rest: Send;

    /// Makes ready for one partition.
    fn open(job: &WriteJob<'_>, partition: &Partition) -> Result<Self, Stop>;

    /// Does the operations of one range; `follow` is what surrounds each block.
    fn write_blocks<O: AccessOrder, F: Follow>(
        &mut self,
        range: OrderedBlocks<'_, O>,
        pool: &Pool,
        follow: &mut F,
    ) -> Result<Moved, Stop>;

    /// The descriptor it wrote through, still open (nothing where it has none), and the rest.
    fn into_parts(self) -> (Option<OwnedFd>, Self::Rest);
}

/// What a write trial yields.
#[derive(Clone, Debug)]
pub struct Written {
    /// From the first thread's start until the moment that the job asks for.
    pub wall_ns: u64,
    /// Processor time in user mode until then, all threads.
    pub user_ns: u64,
    /// Processor time in the kernel until then, all threads.
    pub system_ns: u64,
    /// Bytes written.
    pub bytes: u64,
    /// Operations.
    pub operations: u64,
    /// The times since the start.
    pub times: Times,
    /// How long the blocks took, each with the sync that follows it; where that was asked for.
    pub latencies: Option<Latencies>,
}

/// Nanoseconds since the first thread's start. What comes after the moment that the job asks for is
/// absent where it is dear: the flush that `--until return` need not wait for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    /// The last write call had returned.
    pub return_ns: u64,
    /// The one fsync that `--sync end` asks for, without what came before it.
    pub end_sync_ns: Option<u64>,
    /// The file was closed.
    pub close_ns: u64,
    /// Its data were durable.
    pub durable_ns: Option<u64>,
    /// The directory was synced.
    pub namespace_ns: Option<u64>,
}

/// How the method `W` writes: a block by each operation, whatever the levels.
pub(super) const fn entry<W: Writer>() -> WriteEntry {
    WriteEntry { step_bytes: the_block, real: true, lacks: &[], run: write::<W> }
}

/// Writes by the method `W`.
pub fn write<W: Writer>(
    job: &WriteJob<'_>,
    window: &mut dyn MeasuredWindow,
) -> Result<Written, Fault> {
    let (pattern, seed) = (job.layout.pattern, job.layout.seed);
    match job.layout.is_in_file_order() {
        true => in_order::<W, _>(job, window, |_| Forward),
        false => in_order::<W, _>(job, window, |partition| {
            Scattered::new(pattern, partition.count, seed)
        }),
    }
    .map_err(|stop| fault(job.path, stop))
}

/// What stopped a write, with the fix.
pub fn fault(path: &Path, stop: Stop) -> Fault {
    let fix = match stop.errno.map(Errno::from_raw_os_error) {
        Some(Errno::NOSPC) => "; free some space or use a smaller --file-size",
        Some(Errno::DQUOT) => {
            "; your quota here is used up: free some space or use a smaller --file-size"
        }
        Some(Errno::FBIG) => "; a limit (ulimit -f) or the file system forbids this size",
        Some(Errno::ROFS) => "; name a directory that can be written to",
        _ => "",
    };
    let cause = format!("{}{fix}", stop.cause);
    let doing = format!("write {}", path_to_text(path));
    Fault::new(doing, cause).errno(stop.errno)
}

fn in_order<W: Writer, O: AccessOrder>(
    job: &WriteJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: impl Fn(&Partition) -> O + std::marker::Sync,
) -> Result<Written, Stop> {
    match job.sync {
        Sync::Fsync => timed::<W, O, _>(job, window, order, || EveryNth::new(1)),
        Sync::Fdatasync => timed::<W, O, _>(job, window, order, || DataEach),
        Sync::Every(blocks) => timed::<W, O, _>(job, window, order, || EveryNth::new(blocks)),
        Sync::None | Sync::End | Sync::Each | Sync::Dsync | Sync::Sync => {
            timed::<W, O, _>(job, window, order, || NoBarrier)
        }
    }
}

fn timed<W: Writer, O: AccessOrder, B: Barrier>(
    job: &WriteJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: impl Fn(&Partition) -> O + std::marker::Sync,
    barrier: impl Fn() -> B + std::marker::Sync,
) -> Result<Written, Stop> {
    match job.latency {
        true => partitions::<W, O, _>(job, window, order, || Timed::new(barrier())),
        false => partitions::<W, O, _>(job, window, order, barrier),
    }
}

/// What a partition did and when, and the descriptor it leaves open.
struct Done<R> {
    start_ns: u64,
    end_ns: u64,
    moved: Moved,
    file: Option<OwnedFd>,
    rest: R,
    latencies: Option<Latencies>,
}

/// One partition of work, ready to start; its loop is chosen already.
trait Work<R> {
    /// The timed part: two clock reads and the work between them.
    fn run(self: Box<Self>) -> Result<Done<R>, Stop>;
}

struct Ready<'a, W, O, F> {
    writer: W,
    partition: &'a Partition,
    order: O,
    pool: &'a Pool,
    follow: F,
}

impl<W: Writer, O: AccessOrder, F: Follow> Work<W::Rest> for Ready<'_, W, O, F> {
    fn run(mut self: Box<Self>) -> Result<Done<W::Rest>, Stop> {
        let start_ns = now_ns();
        let moved = self.work();
        let end_ns = now_ns();
        let Ready { writer, follow, .. } = *self;
        let (moved, (file, rest), latencies) = (moved?, writer.into_parts(), follow.latencies());
        Ok(Done { start_ns, end_ns, moved, file, rest, latencies })
    }
}

impl<W: Writer, O: AccessOrder, F: Follow> Ready<'_, W, O, F> {
    #[inline(never)]
    fn work(&mut self) -> Result<Moved, Stop> {
        let mut moved = Moved::default();
        for _ in 0..self.partition.passes {
            for steps in &self.partition.block_ranges {
                let (partition, order, steps) = (self.partition, self.order, steps.clone());
                let range = OrderedBlocks { partition, order, steps };
                moved += self.writer.write_blocks(range, self.pool, &mut self.follow)?;
            }
        }
        Ok(moved)
    }
}

fn partitions<W: Writer, O: AccessOrder, F: Follow>(
    job: &WriteJob<'_>,
    window: &mut dyn MeasuredWindow,
    order: impl Fn(&Partition) -> O + std::marker::Sync,
    follow: impl Fn() -> F + std::marker::Sync,
) -> Result<Written, Stop> {
    run_ready(job, window, &|partition| {
        let (writer, pool) = (W::open(job, partition)?, job.pool);
        Ok(Box::new(Ready { writer, partition, order: order(partition), pool, follow: follow() }))
    })
}

/// The same for every loop: only what is between the clock reads is made for each.
fn run_ready<'a, R: Send>(
    job: &'a WriteJob<'_>,
    window: &mut dyn MeasuredWindow,
    prepare: &(dyn Fn(&'a Partition) -> Result<Box<dyn Work<R> + 'a>, Stop> + std::marker::Sync),
) -> Result<Written, Stop> {
    let after = After::open(job)?;
    let work = |ready: Box<dyn Work<R> + 'a>| ready.run();
    let (done, before) = worker_threads::run(&job.layout.partitions, window, prepare, work)?;
    let done = done.into_iter().collect::<Result<Vec<Done<R>>, Stop>>()?;
    after.finish(job, done, before, window)
}

/// Descriptors for what follows the last write, opened before the first.
struct After {
    /// Outlives the writer's own, which is closed for the last time in between; a reader's, for a
    /// second writer would hold back what the file system does at the last close.
    file: Option<OwnedFd>,
    directory: Option<OwnedFd>,
}

impl After {
    fn open(job: &WriteJob<'_>) -> Result<After, Stop> {
        let read = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NOCTTY;
        if job.until < Until::Durable {
            return Ok(After { file: None, directory: None });
        }
        let directory = job.path.parent().unwrap_or(Path::new("."));
        Ok(After {
            file: Some(rustix::fs::open(job.path, read, Mode::empty())?),
            directory: Some(rustix::fs::open(directory, read | OFlags::DIRECTORY, Mode::empty())?),
        })
    }

    /// From the last write to the name's durability, as far as the job asks.
    fn finish<R>(
        self,
        job: &WriteJob<'_>,
        mut done: Vec<Done<R>>,
        before: Usage,
        window: &mut dyn MeasuredWindow,
    ) -> Result<Written, Stop> {
        let start_ns = done.iter().map(|d| d.start_ns).min().unwrap_or(0);
        let end_ns = done.iter().map(|d| d.end_ns).max().unwrap_or(0);
        let mut moved = Moved::default();
        done.iter().for_each(|d| moved += d.moved);
        let files: Vec<OwnedFd> = done.iter_mut().filter_map(|d| d.file.take()).collect();
        let since = |at_ns: u64| at_ns.saturating_sub(start_ns).max(1);
        let mut end = End { until: job.until, after: None, window };
        let mut times = Times { return_ns: since(end_ns), ..Times::default() };
        end.reached(Until::Return);
        if job.sync.durable_on_return() {
            times.durable_ns = Some(times.return_ns);
            end.reached(Until::Durable);
        }
        if let (Sync::End | Sync::Each, Some(file)) = (job.sync, files.first()) {
            let from_ns = now_ns();
            fsync(file.as_fd()).map_err(Stop::of_sync)?;
            let now = now_ns();
            times.end_sync_ns = Some(now.saturating_sub(from_ns).max(1));
            times.durable_ns = Some(since(now));
            end.reached(Until::Durable);
        }
        drop(files);
        times.close_ns = since(now_ns());
        end.reached(Until::Close);
        if let (None, Some(file)) = (times.durable_ns, &self.file) {
            fdatasync(file.as_fd()).map_err(Stop::of_sync)?;
            times.durable_ns = Some(since(now_ns()));
            end.reached(Until::Durable);
        }
        if let Some(directory) = &self.directory {
            sync_directory(directory)?;
            times.namespace_ns = Some(since(now_ns()));
            end.reached(Until::Namespace);
        }
        let after = end.after.unwrap_or(before);
        Ok(Written {
            wall_ns: times.at(job.until),
            user_ns: after.user_ns.saturating_sub(before.user_ns),
            system_ns: after.system_ns.saturating_sub(before.system_ns),
            bytes: moved.bytes,
            operations: moved.operations,
            times,
            latencies: together(done),
        })
    }
}

/// The latencies of all threads; what else they left is let go here, untimed.
fn together<R>(done: Vec<Done<R>>) -> Option<Latencies> {
    let mut all: Option<Latencies> = None;
    for Done { latencies, rest, .. } in done {
        drop(rest);
        match (&mut all, latencies) {
            (Some(sum), Some(more)) => sum.add(&more),
            (None, more) => all = more,
            (Some(_), None) => {}
        }
    }
    all
}

/// Some file systems cannot sync a directory (EINVAL, fsync(2)): their names are as durable as
/// they get.
fn sync_directory(directory: &OwnedFd) -> Result<(), Stop> {
    match fsync(directory.as_fd()) {
        Ok(()) | Err(Errno::INVAL) => Ok(()),
        Err(errno) => Err(Stop::of_sync(errno)),
    }
}

/// Closes the window at the moment that the job asks for, and once.
struct End<'w> {
    until: Until,
    after: Option<Usage>,
    window: &'w mut dyn MeasuredWindow,
}

impl End<'_> {
    fn reached(&mut self, moment: Until) {
        if moment == self.until && self.after.is_none() {
            self.after = Some(usage());
            self.window.close();
        }
    }
}

impl Times {
    fn at(&self, until: Until) -> u64 {
        match until {
            Until::Return => self.return_ns,
            Until::Close => self.close_ns,
            Until::Durable => self.durable_ns.unwrap_or(self.close_ns),
            Until::Namespace => self.namespace_ns.unwrap_or(self.close_ns),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Errno, Path, fault};

    #[test]
    fn what_has_a_fix_names_it() {
        let said = |errno: Errno| fault(Path::new("/d/f"), errno.into()).to_string();
        assert!(said(Errno::DQUOT).contains("quota") && said(Errno::DQUOT).contains("/d/f"));
        assert!(said(Errno::NOSPC).contains("--file-size"));
        assert!(said(Errno::FBIG).contains("ulimit -f"));
        assert!(said(Errno::ROFS).contains("name a directory"));
    }
}
