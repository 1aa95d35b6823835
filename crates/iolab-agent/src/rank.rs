//! The agent of a rank of an MPI job: what it knows of that, and the start line of its trials.

use std::cell::Cell;
use std::io;
use std::time::Duration;

use iolab_io::place;
use iolab_io::sys::clock::now_ns;
use iolab_io::sys::fork::leave;
use iolab_io::sys::process::{end_after, inherited};
use iolab_model::catalog::{mix, path_from_text};
use iolab_model::result::{Fault, Metrics};
use iolab_mpi::{StartLine, line::Signal};

use super::messages::Beacon;

/// Exit status of a trial that was not started, because another rank's was not.
pub const ABANDONED: i32 = 75;
/// So a trial says why it was not started.
pub const NOT_STARTED: &str = "the trial of another rank could not be started";
/// Beyond its own limit a trial may wait for others: to get ready, and to be done. Where a file is made
/// for each trial one machine may need minutes more than another.
pub const WAITING: Duration = Duration::from_secs(3600);

/// From the barrier to the first call of a rank, and to the end of its work.
pub const LEAD: &str = "rank_lead_ns";
pub const DONE: &str = "rank_done_ns";

/// Which rank this is.
#[derive(Debug)]
pub struct Rank {
    number: u64,
    line: StartLine,
    trial: Cell<u64>,
}

impl Rank {
    /// As the relay told: the number, and the descriptor of the line.
    ///
    /// # Errors
    /// There is no such descriptor.
    pub fn of(number: u64, descriptor: i32) -> io::Result<Rank> {
        Ok(Rank { number, line: StartLine::of(inherited(descriptor)?), trial: Cell::new(0) })
    }

    /// Its number.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Another trial begins.
    pub fn count(&self) {
        self.trial.set(self.trial.get() + 1);
    }

    /// The seed of what this rank makes: ranks do not have the same bytes, nor the same order.
    pub fn seed(&self, seed: u64) -> u64 {
        seed_of(seed, self.number)
    }

    /// In a trial that is prepared: waits until all are. Counters are read then.
    pub fn ready(&self) {
        self.or_leave(|rank| {
            rank.say(Signal::Ready)?;
            rank.line.wait_for(Signal::Set, rank.trial.get()).map(drop)
        });
    }

    /// Waits at the barrier: when it let go, by this machine's clock. From then on the trial has its limit.
    pub fn go(&self, limit: Duration) -> u64 {
        let go_ns = self.or_leave(|rank| {
            rank.say(Signal::Steady)?;
            rank.line.wait_for(Signal::Go, rank.trial.get())
        });
        end_after(Some(limit));
        go_ns
    }

    /// The work is done: waits until it is so at all ranks.
    pub fn done(&self) {
        end_after(None);
        self.or_leave(|rank| {
            rank.say(Signal::Done)?;
            rank.line.wait_for(Signal::Proceed, rank.trial.get()).map(drop)
        });
    }

    fn say(&self, signal: Signal) -> io::Result<()> {
        self.line.say(signal, self.trial.get(), now_ns())
    }

    /// A trial that is abandoned has nothing to tell: its threads may be waiting already.
    fn or_leave<T>(&self, wait: impl FnOnce(&Rank) -> io::Result<T>) -> T {
        wait(self).unwrap_or_else(|_| leave(ABANDONED))
    }
}

/// The seed of what a rank makes.
pub fn seed_of(seed: u64, rank: u64) -> u64 {
    if rank == 0 { seed } else { mix(seed, rank) }
}

/// When a rank's trial began and ended, seen from the barrier.
#[derive(Clone, Copy, Debug, Default)]
pub struct RankTimes {
    /// The barrier let go.
    pub go_ns: u64,
    /// The first call was about to be made.
    pub opened_ns: u64,
    /// The work was done.
    pub closed_ns: u64,
}

impl RankTimes {
    /// As the relay's end hands them on.
    pub fn put(self, metrics: &mut Metrics) {
        let since = |at_ns: u64| at_ns.saturating_sub(self.go_ns) as f64;
        metrics.extend([(LEAD, since(self.opened_ns)), (DONE, since(self.closed_ns).max(1.0))]);
    }
}

/// What tells this agent's scratch directory from any other.
///
/// # Errors
/// It cannot be read.
pub fn beacon(scratch: &place::Scratch) -> Result<Beacon, Fault> {
    let path = iolab_model::catalog::path_to_text(scratch.shown());
    let text = place::marker_text(scratch.shown());
    let text = text.map_err(|error| Fault::of(format!("read the marker in {path}"), &error))?;
    Ok(Beacon { path, text, all: Vec::new() })
}

/// Whether this machine sees the scratch directory of another agent, and no other of its name.
///
/// # Errors
/// It does not.
pub fn sees(beacon: &Beacon) -> Result<(), Fault> {
    let seen = place::marker_text(&path_from_text(&beacon.path));
    if seen.is_ok_and(|text| text == beacon.text) {
        return Ok(());
    }
    let doing = format!("find {}, which rank 0 has made", beacon.path);
    let why = "it is not there: the directory is not on a file system that all ranks share; name \
               one that is";
    Err(Fault::new(doing, why))
}
