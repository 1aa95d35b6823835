//! Pilots: how long one operation of a cell takes, found with trials that grow.

use super::calibrate::{Calibrator, FAILURES, SHORTEST_LIMIT_NS};
use super::trial_size::{Pilot, trial_min_ns};
use super::work::{Work, is_touch};
use super::{ExecutorError, TrialOrder};
use iolab_agent::Extent;
use iolab_model::catalog::{Code, Factor};
use iolab_model::plan::Cell;
use iolab_model::result::{Fault, Measurement};

/// A pilot is asked for about this many bytes first, in at most so many operations.
const FIRST_BYTES: u64 = 1 << 20;
const FIRST_OPERATIONS: u64 = 4096;
const FIRST_CALLS: u64 = 256;
/// Where each operation waits for the device, a pilot begins with this many.
const FIRST_SYNCED: u64 = 4;
/// A pilot that ends in one flush is at least this long, for the flush costs what it costs
/// however little was written.
const SHORTEST_FLUSHED_NS: f64 = 20e6;
/// No pilot asks for more, however fast it is.
const MOST_OPERATIONS: u64 = 1 << 40;

/// A trial and what it cost in all.
pub(super) struct Timed {
    pub(super) measurement: Measurement,
    pub(super) trial_ns: f64,
}

impl Calibrator<'_> {
    pub(super) fn hurried(&mut self) -> bool {
        self.executor.elapsed_ns() as f64 >= self.until_ns
    }

    /// Finds the time of one operation, with trials that grow until they are long enough to tell.
    pub(super) fn pilot(&mut self, index: usize) -> Result<Result<Pilot, Fault>, Fault> {
        let cell = &self.plan.cells[index];
        let mut work = Work::of(self.plan, cell);
        let target = match work.flushes {
            true => SHORTEST_FLUSHED_NS,
            false => trial_min_ns(&self.clock, work.threads) / 2.0,
        };
        let mut operations = first_operations(cell, &work);
        // A flush, or the start of many workers, is told from the work by two trials of different
        // length.
        let has_fixed = work.flushes || (work.threads > 1 && work.least_operations > 1);
        let mut shorter: Option<(f64, f64)> = None;
        // The first trial on a place may have made it: the least is what every trial has.
        let mut around_ns = f64::INFINITY;
        loop {
            let timed = match self.tried(cell, extent(operations, &work))? {
                Ok(timed) => timed,
                Err(fault) => return Ok(Err(fault)),
            };
            let wall = timed.measurement.wall_ns as f64;
            around_ns = around_ns.min((timed.trial_ns - wall).max(0.0));
            // A call that uses up its files makes as many as there are, and no more.
            let made = timed.measurement.operations;
            let calls = cell.levels.get(Factor::Operation).is_some();
            let used_up = calls && work.operations_per_pass == 1 && (1..operations).contains(&made);
            if used_up {
                work.most_operations = made;
                operations = made;
            }
            // Where the disk became full in one pass there is no room for another.
            work.once |= timed.measurement.flags.contains(&Code::Truncated);
            let whole = used_up || (work.once && operations >= work.operations_per_pass);
            let done = actual_operations(operations, &work);
            let alone = has_fixed && shorter.is_none() && !whole;
            let enough = wall >= target && !alone;
            if enough || whole || operations >= MOST_OPERATIONS || self.hurried() {
                let (fixed_ns, operation_ns) = parts(shorter, (done, wall));
                return Ok(Ok(Pilot { operation_ns, fixed_ns, around_ns, work }));
            }
            if has_fixed {
                shorter = Some((done, wall));
            }
            let growth = (1.3 * target / wall.max(1.0)).clamp(2.0, 1000.0);
            operations = ((operations as f64 * growth) as u64).max(operations + 1);
            if work.once {
                operations = operations.min(work.operations_per_pass);
            }
        }
    }

    /// One trial, tried again where it fails.
    pub(super) fn tried(
        &mut self,
        cell: &Cell,
        extent: Extent,
    ) -> Result<Result<Timed, Fault>, Fault> {
        let mut failures = 0;
        loop {
            let share = share_of(&extent, failures);
            let limit = (self.plan.protocol.budget_ns as f64 / share).max(SHORTEST_LIMIT_NS);
            let limit_ns = (limit + 3.0 * self.renew_ns) as u64;
            let order = TrialOrder { cell, extent, limit_ns, round: None };
            let before = self.executor.elapsed_ns();
            match self.executor.trial(&order) {
                Ok(measurement) => {
                    let trial_ns = (self.executor.elapsed_ns() - before) as f64;
                    return Ok(Ok(Timed { measurement, trial_ns }));
                }
                Err(ExecutorError::Fatal(fault)) => return Err(fault),
                Err(ExecutorError::Trial(fault)) => {
                    failures += 1;
                    if failures >= FAILURES || (self.interrupted)() {
                        return Ok(Err(fault));
                    }
                }
            }
        }
    }
}

/// A pilot may take this part of the budget: one over the number. There is nothing shorter than one pass of
/// what cannot be parted, a command or the replay of a program: it takes what it takes, and one of its
/// trials may. What hangs is to leave the others most of the time.
fn share_of(extent: &Extent, failures: u32) -> f64 {
    if *extent == Extent::Passes(1) && failures == 1 { 3.0 } else { 30.0 }
}

/// What a trial costs however short, and what each operation adds, from operations and time of two
/// trials. Each operation adds at least a tenth of its mean: two trials are noisy.
fn parts(shorter: Option<(f64, f64)>, (done, wall): (f64, f64)) -> (f64, f64) {
    let mean = (wall / done).max(1e-3);
    let slope = shorter.filter(|(before, _)| *before < done).map(|(before, wall_before)| {
        ((wall - wall_before) / (done - before)).clamp(mean / 10.0, mean)
    });
    let operation_ns = slope.unwrap_or(mean);
    ((mean - operation_ns) * done, operation_ns)
}

fn first_operations(cell: &Cell, work: &Work) -> u64 {
    let call = cell.instance.is_none() || cell.levels.get(Factor::Operation).is_some();
    match work.operations_per_pass {
        // Starting a process takes long enough to tell.
        _ if cell.levels.get(Factor::Contender).is_some() => 1,
        // A tree that is cold in all of its names and inodes is so once.
        1 if work.once => 1,
        1 if call => FIRST_CALLS,
        all if is_touch(cell) => all.min(FIRST_OPERATIONS),
        all if cell.syncs_each_operation() => FIRST_SYNCED.min(all),
        // Half of a file at most, so that there is a longer trial to hold it against.
        all if work.flushes => {
            (FIRST_BYTES / work.step_bytes).clamp(1, FIRST_OPERATIONS).min(all.div_ceil(2))
        }
        all => {
            let first = (FIRST_BYTES / work.step_bytes).clamp(1, FIRST_OPERATIONS);
            first.max(work.least_operations).min(all)
        }
    }
}

/// So many operations as a trial can be asked for.
fn extent(operations: u64, work: &Work) -> Extent {
    if operations >= work.operations_per_pass {
        Extent::Passes(operations / work.operations_per_pass)
    } else {
        Extent::Part { first_operation: 0, operations }
    }
}

fn actual_operations(operations: u64, work: &Work) -> f64 {
    match extent(operations, work) {
        Extent::Passes(passes) => (passes * work.operations_per_pass) as f64,
        Extent::Part { operations, .. } => operations as f64,
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn the_flush_is_told_from_the_writes() {
        // 20 ms and 1 µs for each operation.
        let (fixed, each) = parts(Some((1000.0, 21e6)), (5000.0, 25e6));
        assert!((fixed - 20e6).abs() < 1.0 && (each - 1000.0).abs() < 1e-6, "{fixed} {each}");
        assert_eq!(parts(None, (10.0, 500.0)), (0.0, 50.0));
        // Noise: the longer trial was the shorter one in time, or all of it is in proportion.
        let (fixed, each) = parts(Some((10.0, 900.0)), (20.0, 600.0));
        assert!(each > 0.0 && fixed > 0.0 && (fixed + 20.0 * each - 600.0).abs() < 1e-9);
        assert_eq!(parts(Some((10.0, 100.0)), (20.0, 400.0)), (0.0, 20.0));
    }
}
