//! What a killed agent leaves is taken away at once, not by the next run: a small process waits
//! for its end.

use std::path::Path;
use std::time::{Duration, Instant};

use super::marker::{self, Marker};
use super::{fault, memory, sweep, sweep_loops};
use crate::sys::child;
use iolab_model::result::Fault;

/// The waiting process; it acts when the agent and its trials have ended.
#[derive(Debug)]
pub struct CleanupWatchdog {
    _heir: child::CleanupWatchdog,
}

impl CleanupWatchdog {
    /// Leaves a process that sweeps `directory`, loop devices and memory limits when this process
    /// has ended. Call it before [`super::Mounts::enter`]: the heir must hold no mount.
    ///
    /// # Errors
    /// No process can be made.
    pub fn leave(directory: &Path) -> Result<CleanupWatchdog, Fault> {
        let owner = Marker::of_this_process();
        let act = || {
            await_end(&owner);
            let _ = sweep(directory);
            sweep_loops();
            memory::sweep_groups();
        };
        let heir = child::leave_heir(act).map_err(|e| fault("leave an heir", &e, ""))?;
        Ok(CleanupWatchdog { _heir: heir })
    }
}

/// Descriptors are closed a moment before the process is gone.
fn await_end(owner: &Marker) {
    let start = Instant::now();
    while marker::start_ticks(&owner.pid.to_string()) == Some(owner.start_ticks)
        && start.elapsed() < Duration::from_secs(10)
    {
        std::thread::sleep(Duration::from_millis(1));
    }
}
