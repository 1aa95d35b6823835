//! Trials under a memory limit: pages are charged to whoever touches them first, so the file is
//! evicted and brought back from within the limit, and the kernel's counters say what came of it.

use std::fs::File;
use std::time::Duration;

use iolab_io::cache::{self};
use iolab_io::place::memory::{Evidence, Limit};
use iolab_io::sys::fork::{End, run_forked};
use iolab_model::catalog::{CacheState, bytes_text, is_held_warm};
use iolab_model::result::{Fault, Measurement, Metrics};

const PRIME_LIMIT: Duration = Duration::from_secs(120);

/// Evicts the file, and where the state is not cold has a child read it twice within the limit.
pub fn prepare(limit: &Limit, file: &File, bytes: u64, wanted: CacheState) -> Result<(), Fault> {
    let doing = "reach a cache state under a memory limit";
    if wanted == CacheState::Warm && !is_held_warm(bytes, limit.limit_bytes()) {
        let cause = format!(
            "a file of {} cannot be warm within {}; use --cache any or --cache cold",
            bytes_text(bytes),
            bytes_text(limit.limit_bytes())
        );
        return Err(Fault::new(doing, cause));
    }
    cache::evict(file)?;
    if wanted.is_cold() {
        return Ok(());
    }
    let work = || {
        let primed = limit.enter().and_then(|()| match is_held_warm(bytes, limit.limit_bytes()) {
            // Pages that are seen twice are kept (the active list of mm/swap.c).
            true => cache::prime(file).and_then(|_| cache::prime(file)),
            // Of a file that does not fit its end is what a reading leaves.
            false => cache::prime_end(file, limit.limit_bytes() / 4 * 5),
        });
        primed.err().map(|fault| fault.to_string()).unwrap_or_default().into_bytes()
    };
    match run_forked(work, PRIME_LIMIT, None) {
        Ok(End::Done(said)) if said.is_empty() => Ok(()),
        Ok(End::Done(said)) => Err(Fault::new(doing, String::from_utf8_lossy(&said))),
        other => Err(Fault::new(doing, format!("the reader ended: {other:?}"))),
    }
}

/// Adds what the kernel counted during the trial.
pub fn record(measurement: &mut Measurement, before: Evidence, after: Evidence) {
    let metrics: &mut Metrics = &mut measurement.metrics;
    let refaults = after.refaults.saturating_sub(before.refaults);
    metrics.insert("limit_refaults".into(), refaults as f64);
    metrics.insert("limit_peak_bytes".into(), after.peak_bytes as f64);
}
