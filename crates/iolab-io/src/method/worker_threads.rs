//! Work on threads: made ready by the thread that will do it, started together.

use super::measured_window::MeasuredWindow;
use super::start_barrier::StartBarrier;
use super::stop::Stop;
use crate::sys::usage::{Usage, usage};

/// Stack of a thread: it calls little, and there may be thousands.
const STACK_BYTES: usize = 256 << 10;

/// Does every job and gives back what each left, in order, and the usage when the window opened. A job
/// alone runs on the calling thread: with a second thread every descriptor look-up would be atomic.
/// The window is open when this returns, unless nothing was run.
pub fn run<'a, J: std::marker::Sync, R, D: Send>(
    jobs: &'a [J],
    window: &mut dyn MeasuredWindow,
    ready: impl Fn(&'a J) -> Result<R, Stop> + std::marker::Sync,
    work: impl Fn(R) -> Result<D, Stop> + std::marker::Sync,
) -> Result<(Vec<Result<D, Stop>>, Usage), Stop> {
    let Some((own, others)) = jobs.split_first() else {
        return Err(Stop::new("no thread to work with"));
    };
    let gate = StartBarrier::default();
    std::thread::scope(|scope| {
        let (gate, ready, work) = (&gate, &ready, &work);
        let behind_gate = move |job| {
            let made = ready(job);
            match gate.wait() {
                true => made.and_then(work),
                false => Err(Stop::new("another thread could not be started")),
            }
        };
        let mut threads = Vec::with_capacity(others.len());
        for job in others {
            let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
            match builder.spawn_scoped(scope, move || behind_gate(job)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    gate.release(false);
                    let number = threads.len() + 2;
                    let fix = "take fewer --threads, or raise ulimit -u";
                    let cause = format!("start thread {number}: {error}; {fix}");
                    return Err(Stop { cause, errno: error.raw_os_error() });
                }
            }
        }
        // Only now: what this thread opens would be copied into the tables of the others.
        let mine = ready(own);
        gate.until_ready(threads.len());
        if mine.is_err() {
            gate.release(false);
        }
        let mine = mine?;
        window.open();
        let before = usage();
        gate.release(true);
        let mut done = vec![work(mine)];
        for thread in threads {
            let ended = thread.join();
            done.push(ended.unwrap_or_else(|_| Err(Stop::new("a thread of the trial panicked"))));
        }
        Ok((done, before))
    })
}
