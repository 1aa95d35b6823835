//! Runs a reader: picks the loop once (order × consumer), prepares every lane, times, adds up.

use std::ops::Range;

use super::consume::{Consume, CrcStream, CrcSum, Fold, Nothing, Partial, Xor};
use super::gate::Gate;
use super::histogram::Histogram;
use super::lane::{Lane, Moved, ReadJob, Stop};
use super::order::{Backward, Forward, Order, Pattern, Shuffled, Strided};
use super::window::Window;
use crate::catalog::path_to_text;
use crate::result::Fault;
use crate::sys::clock::now_ns;
use crate::sys::usage::{Usage, usage};

/// What a method must do to read a file. Everything in `open` is outside the timed window,
/// everything in `leg` inside it: there nothing may be allocated, formatted, shared between
/// threads or asked of the clock per operation.
pub trait Reader: Sized + Send {
    /// Makes ready for one lane.
    fn open(job: &ReadJob<'_>, lane: &Lane) -> Result<Self, Stop>;

    /// Does the operations of one leg in this order and hands every block to the consumer.
    fn leg<O: Order, F: Fold>(
        &mut self,
        lane: &Lane,
        order: O,
        leg: Range<u64>,
        fold: &mut F,
    ) -> Result<Moved, Stop>;
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
}

/// Reads by the method `R`.
pub fn read<R: Reader>(job: &ReadJob<'_>, window: &mut dyn Window) -> Result<Outcome, Fault> {
    let seed = job.layout.seed;
    match job.layout.pattern {
        Pattern::Sequential => in_order::<R, _>(job, window, |_| Forward),
        Pattern::Random => in_order::<R, _>(job, window, |l| Shuffled::new(l.count, seed)),
        Pattern::Reverse => in_order::<R, _>(job, window, |l| Backward { count: l.count }),
        Pattern::Stride(stride) => {
            in_order::<R, _>(job, window, |l| Strided { count: l.count, stride })
        }
    }
    .map_err(|stop| Fault {
        doing: format!("read {}", path_to_text(job.path)),
        cause: stop.cause,
        errno: stop.errno,
        signal: None,
    })
}

fn in_order<R: Reader, O: Order>(
    job: &ReadJob<'_>,
    window: &mut dyn Window,
    order: impl Fn(&Lane) -> O + Sync,
) -> Result<Outcome, Stop> {
    match job.consume {
        Consume::None => lanes::<R, O, Nothing>(job, window, order),
        Consume::Xor => lanes::<R, O, Xor>(job, window, order),
        Consume::Histogram => lanes::<R, O, Histogram>(job, window, order),
        Consume::Crc32c if O::CONTIGUOUS => lanes::<R, O, CrcStream>(job, window, order),
        Consume::Crc32c => lanes::<R, O, CrcSum>(job, window, order),
    }
}

/// One lane of work, ready to start.
struct Ready<'a, R, O, F> {
    reader: R,
    lane: &'a Lane,
    order: O,
    fold: F,
}

/// What a lane did and when.
struct Done {
    start_ns: u64,
    end_ns: u64,
    moved: Moved,
    partial: Option<Partial>,
}

impl<R: Reader, O: Order, F: Fold> Ready<'_, R, O, F> {
    /// The timed part: two clock reads and the work between them.
    fn run(mut self) -> Result<Done, Stop> {
        let start_ns = now_ns();
        let moved = self.work();
        let end_ns = now_ns();
        Ok(Done { start_ns, end_ns, moved: moved?, partial: self.fold.finish() })
    }

    #[inline(never)]
    fn work(&mut self) -> Result<Moved, Stop> {
        let mut moved = Moved::default();
        for _ in 0..self.lane.passes {
            for leg in &self.lane.legs {
                moved += self.reader.leg(self.lane, self.order, leg.clone(), &mut self.fold)?;
            }
            self.fold.end_pass();
        }
        Ok(moved)
    }
}

fn lanes<R: Reader, O: Order, F: Fold + Default>(
    job: &ReadJob<'_>,
    window: &mut dyn Window,
    order: impl Fn(&Lane) -> O + Sync,
) -> Result<Outcome, Stop> {
    let prepare = |lane| {
        let reader = R::open(job, lane)?;
        Ok(Ready { reader, lane, order: order(lane), fold: F::default() })
    };
    let Some((own, others)) = job.layout.lanes.split_first() else {
        return Err(Stop::new("no thread to read with"));
    };
    let own: Ready<'_, R, O, F> = prepare(own)?;
    if others.is_empty() {
        // No thread, no gate: with a second thread every descriptor look-up would be atomic.
        let before = opened(window);
        let done = own.run();
        return sum(vec![done], before, closed(window));
    }
    let gate = Gate::default();
    std::thread::scope(|scope| {
        let (gate, prepare) = (&gate, &prepare);
        let behind_gate = move |lane| {
            let ready: Result<Ready<'_, R, O, F>, Stop> = prepare(lane);
            match (gate.wait(), ready) {
                (true, ready) => ready.and_then(Ready::run),
                (false, _) => Err(Stop::new("another thread could not be started")),
            }
        };
        let mut threads = Vec::new();
        for lane in others {
            match std::thread::Builder::new().spawn_scoped(scope, move || behind_gate(lane)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    gate.release(false);
                    let cause = format!("start thread {}: {error}", threads.len() + 2);
                    return Err(Stop { cause, errno: error.raw_os_error() });
                }
            }
        }
        gate.until_ready(threads.len());
        let before = opened(window);
        gate.release(true);
        let mut done = vec![own.run()];
        for thread in threads {
            let ended = thread.join();
            done.push(ended.unwrap_or_else(|_| Err(Stop::new("a thread of the trial panicked"))));
        }
        sum(done, before, closed(window))
    })
}

fn opened(window: &mut dyn Window) -> Usage {
    window.open();
    usage()
}

fn closed(window: &mut dyn Window) -> Usage {
    let after = usage();
    window.close();
    after
}

fn sum(done: Vec<Result<Done, Stop>>, before: Usage, after: Usage) -> Result<Outcome, Stop> {
    let done = done.into_iter().collect::<Result<Vec<Done>, Stop>>()?;
    let start = done.iter().map(|d| d.start_ns).min().unwrap_or(0);
    let end = done.iter().map(|d| d.end_ns).max().unwrap_or(0);
    let mut moved = Moved::default();
    done.iter().for_each(|d| moved += d.moved);
    let partial =
        done.into_iter().map(|d| d.partial).reduce(|a, b| Some(a?.followed_by(b?))).flatten();
    Ok(Outcome {
        // A window shorter than the clock's step still took time.
        wall_ns: end.saturating_sub(start).max(1),
        user_ns: after.user_ns.saturating_sub(before.user_ns),
        system_ns: after.system_ns.saturating_sub(before.system_ns),
        bytes: moved.bytes,
        operations: moved.operations,
        partial,
    })
}
