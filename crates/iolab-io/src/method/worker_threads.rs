//! Lanes of work on threads: made ready by the thread that will do them, started together.

use super::measured_window::MeasuredWindow;
use super::partition::{Partition, Stop};
use super::start_barrier::StartBarrier;
use crate::sys::usage::{Usage, usage};

/// Runs every partition and gives back what each left, in order, and the usage when the window opened.
/// One partition runs on the calling thread alone: with a second thread every descriptor look-up would
/// be atomic. The window is open when this returns, unless nothing was run.
pub fn run<'a, R, D: Send>(
    partitions: &'a [Partition],
    window: &mut dyn MeasuredWindow,
    ready: impl Fn(&'a Partition) -> Result<R, Stop> + std::marker::Sync,
    work: impl Fn(R) -> Result<D, Stop> + std::marker::Sync,
) -> Result<(Vec<Result<D, Stop>>, Usage), Stop> {
    let Some((own, others)) = partitions.split_first() else {
        return Err(Stop::new("no thread to work with"));
    };
    let mine = ready(own)?;
    let open = |window: &mut dyn MeasuredWindow| {
        window.open();
        usage()
    };
    if others.is_empty() {
        let before = open(window);
        return Ok((vec![work(mine)], before));
    }
    let gate = StartBarrier::default();
    std::thread::scope(|scope| {
        let (gate, ready, work) = (&gate, &ready, &work);
        let behind_gate = move |partition| {
            let made = ready(partition);
            match gate.wait() {
                true => made.and_then(work),
                false => Err(Stop::new("another thread could not be started")),
            }
        };
        let mut threads = Vec::new();
        for partition in others {
            match std::thread::Builder::new().spawn_scoped(scope, move || behind_gate(partition)) {
                Ok(thread) => threads.push(thread),
                Err(error) => {
                    gate.release(false);
                    let cause = format!("start thread {}: {error}", threads.len() + 2);
                    return Err(Stop { cause, errno: error.raw_os_error() });
                }
            }
        }
        gate.until_ready(threads.len());
        let before = open(window);
        gate.release(true);
        let mut done = vec![work(mine)];
        for thread in threads {
            let ended = thread.join();
            done.push(ended.unwrap_or_else(|_| Err(Stop::new("a thread of the trial panicked"))));
        }
        Ok((done, before))
    })
}
