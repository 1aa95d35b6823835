//! A limit on what the library does by itself: it may wait for a daemon that nobody reaches any more.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rustix::process::{Signal, getpid, kill_process};

/// Ends this process after so long, unless the count has moved. No MPI is called there, nor is the
/// library asked whether it wants to end: it is what stands still. The agent ends with its stream.
pub fn ends_after(seconds: u64, why: &'static str) -> Arc<AtomicUsize> {
    let moved = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&moved);
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        if seen.load(Ordering::Relaxed) == 0 {
            eprintln!("iolab: {seconds} s passed: {why}");
            let _ = kill_process(getpid(), Signal::KILL);
        }
    });
    moved
}

/// Ends this process with its own code after so long: all is done, and the library alone is not.
pub fn leaves_after(seconds: u64, code: u8) {
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_secs(seconds));
        signal_hook::low_level::exit(i32::from(code));
    });
}
