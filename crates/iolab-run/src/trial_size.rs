//! How much each cell does in a trial: long enough for the clock, short enough for the budget, and
//! the same number of repetitions for all cells of an answer where that is possible. Pure.

use super::work::Work;
use super::{Amount, ClockFacts, Dose};

/// Shortest trial with one thread.
const SHORTEST_NS: f64 = 1e6;
/// Shortest trial with several threads: starting them takes tens of microseconds.
const SHORTEST_THREADED_NS: f64 = 10e6;
/// Longest trial that is not a single operation.
const LONGEST_NS: f64 = 250e6;

/// What a pilot trial told of a cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pilot {
    /// Expected time of one operation.
    pub(super) operation_ns: f64,
    /// What a trial takes however few operations it does: a flush at its end.
    pub(super) fixed_ns: f64,
    /// Time of a trial outside its timed window.
    pub(super) around_ns: f64,
    /// What a trial can be made of.
    pub(super) work: Work,
}

impl Pilot {
    fn pass_ns(&self) -> f64 {
        self.fixed_ns + self.operation_ns * self.work.operations_per_pass as f64
    }
}

/// T_min = max(1000 q, 100 o, 1 ms), at least 10 ms with several threads.
pub(super) fn trial_min_ns(clock: &ClockFacts, threads: u64) -> f64 {
    let shortest = if threads > 1 { SHORTEST_THREADED_NS } else { SHORTEST_NS };
    clock_min_ns(clock).max(shortest)
}

/// What the clock alone asks for: its resolution and cost stay under 0.1 % and 1 %.
fn clock_min_ns(clock: &ClockFacts) -> f64 {
    (1000.0 * clock.resolution_ns).max(100.0 * clock.pair_cost_ns)
}

/// T_max = min(250 ms, 0.9 B / (rounds · k)), with 40 rounds unless they are fixed.
pub(super) fn trial_max_ns(budget_ns: u64, rounds: u32, trials_per_round: usize) -> f64 {
    let share = 0.9 * budget_ns as f64 / (f64::from(rounds) * trials_per_round.max(1) as f64);
    LONGEST_NS.min(share)
}

/// The doses of the cells of one answer.
pub(super) fn doses(pilots: &[Pilot], clock: &ClockFacts, trial_max_ns: f64) -> Vec<Dose> {
    let threads = pilots.iter().map(|p| p.work.threads).max().unwrap_or(1);
    let least = trial_min_ns(clock, threads);
    let most = trial_max_ns.max(least);
    let repeated = || pilots.iter().filter(|p| !p.work.once).map(Pilot::pass_ns);
    let fastest = repeated().fold(f64::INFINITY, f64::min);
    let slowest = repeated().fold(0.0, f64::max);
    let shared = passes(least, fastest);
    let equal = shared as f64 * slowest <= most;
    let mut doses: Vec<Dose> = pilots
        .iter()
        .map(|pilot| {
            let count = match (pilot.work.once, equal) {
                (true, _) => 1,
                (false, true) => shared,
                (false, false) => passes(least, pilot.pass_ns()),
            };
            let Work { least_operations, most_operations, operations_per_pass, .. } = pilot.work;
            // Where a pass is one call, so many of them.
            let calls = if operations_per_pass == 1 { least_operations } else { 1 };
            dose(pilot, count.max(calls).min(most_operations), most, clock)
        })
        .collect();
    let first = doses.iter().find_map(passes_of);
    let unequal = doses.iter().filter_map(passes_of).any(|m| Some(m) != first);
    doses.iter_mut().for_each(|d| d.unequal = unequal && passes_of(d).is_some());
    doses
}

fn passes_of(dose: &Dose) -> Option<u64> {
    match dose.amount {
        Amount::Passes(m) => Some(m),
        Amount::Operations(_) => None,
    }
}

/// m = ⌈T_min / time of a pass⌉.
fn passes(least_ns: f64, pass_ns: f64) -> u64 {
    if pass_ns.is_finite() && pass_ns > 0.0 {
        (least_ns / pass_ns).ceil().max(1.0) as u64
    } else {
        1
    }
}

fn dose(pilot: &Pilot, count: u64, most_ns: f64, clock: &ClockFacts) -> Dose {
    // Where the flush alone takes as long as a trial may, as much again is for what it flushes.
    let fixed_ns = pilot.fixed_ns;
    let fitting = ((most_ns - fixed_ns).max(fixed_ns) / pilot.operation_ns).max(1.0) as u64;
    let fitting = fitting.max(pilot.work.least_operations);
    let bounded = count == 1 && fitting < pilot.work.operations_per_pass;
    let fitting = if pilot.work.flushes { even(fitting, pilot.work.step_bytes) } else { fitting };
    let (amount, wall_ns) = match bounded {
        true => (Amount::Operations(fitting), fixed_ns + fitting as f64 * pilot.operation_ns),
        false => (Amount::Passes(count), count as f64 * pilot.pass_ns()),
    };
    Dose {
        amount,
        unequal: false,
        wall_ns,
        trial_ns: wall_ns + pilot.around_ns,
        timer_limited: pilot.work.once && wall_ns < clock_min_ns(clock),
    }
}

/// As many operations as make a power of two of bytes: cells of about equal speed then write the
/// same amount before their flush, whatever their block, and none has it cheaper by the byte.
fn even(operations: u64, step_bytes: u64) -> u64 {
    let bytes = operations.saturating_mul(step_bytes).max(1);
    ((1 << bytes.ilog2()) / step_bytes).max(1)
}

#[cfg(test)]
mod tests {
    use super::{Pilot, doses, trial_max_ns, trial_min_ns};
    use crate::work::Work;
    use crate::{Amount, ClockFacts};

    const CLOCK: ClockFacts = ClockFacts { resolution_ns: 1.0, pair_cost_ns: 40.0 };

    fn pilot(operation_ns: f64, operations_per_pass: u64) -> Pilot {
        let work = Work { operations_per_pass, step_bytes: 4096, ..Work::default() };
        Pilot { operation_ns, fixed_ns: 0.0, around_ns: 5e5, work }
    }

    #[test]
    fn the_shortest_trial_follows_the_clock() {
        assert_eq!(trial_min_ns(&CLOCK, 1), 1e6);
        assert_eq!(trial_min_ns(&CLOCK, 2), 10e6);
        let coarse = ClockFacts { resolution_ns: 1e4, pair_cost_ns: 40.0 };
        assert_eq!(trial_min_ns(&coarse, 1), 1e7);
        let dear = ClockFacts { resolution_ns: 1.0, pair_cost_ns: 5e4 };
        assert_eq!(trial_min_ns(&dear, 1), 5e6);
        assert_eq!(trial_max_ns(60_000_000_000, 40, 4), 250e6);
        assert_eq!(trial_max_ns(4_000_000_000, 40, 10), 9e6);
    }

    #[test]
    fn repetitions_are_shared_and_follow_the_fastest() {
        let doses = doses(&[pilot(100.0, 1), pilot(300.0, 1)], &CLOCK, 250e6);
        assert!(doses.iter().all(|d| d.amount == Amount::Passes(10_000) && !d.unequal));
        assert_eq!(doses[1].wall_ns, 3e6);
        assert_eq!(doses[1].trial_ns, 3.5e6);
    }

    #[test]
    fn a_slow_cell_has_repetitions_of_its_own() {
        let doses = doses(&[pilot(100.0, 1), pilot(1e5, 1)], &CLOCK, 250e6);
        assert_eq!(
            doses.iter().map(|d| d.amount).collect::<Vec<_>>(),
            [Amount::Passes(10_000), Amount::Passes(10)]
        );
        assert!(doses.iter().all(|d| d.unequal));
    }

    #[test]
    fn a_pass_that_is_too_long_is_bounded_and_one_operation_never() {
        let long = pilot(1e6, 10_000);
        let cells = doses(&[long, pilot(1e4, 1000)], &CLOCK, 250e6);
        assert_eq!(cells[0].amount, Amount::Operations(250));
        assert_eq!(cells[1].amount, Amount::Passes(1));
        assert!(!cells[1].unequal);
        assert_eq!(doses(&[pilot(1e9, 1)], &CLOCK, 250e6)[0].amount, Amount::Passes(1));
        assert_eq!(doses(&[pilot(1e9, 7)], &CLOCK, 250e6)[0].amount, Amount::Operations(1));
    }

    #[test]
    fn cells_that_end_in_a_flush_write_the_same_amount() {
        let cell = |operation_ns, step_bytes| {
            let mut cell = pilot(operation_ns, 1 << 30);
            let work = &mut cell.work;
            (work.once, work.flushes, work.step_bytes) = (true, true, step_bytes);
            cell
        };
        // 250 ms at 1.0, 1.1 and 1.3 GB/s are 250, 275 and 325 MB: all write 128 or 256 MiB.
        let cells = [cell(4096.0, 4096), cell(59_578.0, 65_536), cell(806_596.0, 1 << 20)];
        let bytes: Vec<u64> = doses(&cells, &CLOCK, 250e6)
            .iter()
            .zip([4096, 65_536, 1 << 20])
            .map(|(dose, step)| match dose.amount {
                Amount::Operations(operations) => operations * step,
                Amount::Passes(_) => 0,
            })
            .collect();
        assert_eq!(bytes, [128 << 20, 256 << 20, 256 << 20]);
        // A flush of 300 ms leaves room for as much again, not for one block.
        let slow = Pilot { fixed_ns: 300e6, ..cell(4096.0, 4096) };
        let dose = doses(&[slow], &CLOCK, 250e6)[0];
        assert_eq!(dose.amount, Amount::Operations((256 << 20) / 4096));
        assert!(dose.wall_ns > 500e6, "{dose:?}");
        assert_eq!(super::even(5, 1000), 4);
        assert_eq!(super::even(1, 1000), 1);
    }

    /// 100 workers once had one file among them, and a call that uses up its file was made once a
    /// trial beside others that were made thousands of times.
    #[test]
    fn workers_have_files_and_calls_are_many() {
        let mut tree = pilot(1e9, 2000);
        tree.work.least_operations = 400;
        assert_eq!(doses(&[tree], &CLOCK, 250e6)[0].amount, Amount::Operations(400));
        let mut create = pilot(1e6, 1);
        (create.work.least_operations, create.work.most_operations) = (100, 200);
        assert_eq!(doses(&[create], &CLOCK, 250e6)[0].amount, Amount::Passes(100));
        create.operation_ns = 1.0;
        assert_eq!(doses(&[create], &CLOCK, 250e6)[0].amount, Amount::Passes(200));
    }

    #[test]
    fn a_cold_trial_is_one_pass_however_short() {
        let mut cold = pilot(50.0, 4);
        cold.work.once = true;
        let cells = doses(&[cold, pilot(100.0, 10)], &CLOCK, 250e6);
        assert_eq!(cells[0].amount, Amount::Passes(1));
        assert!(cells[0].timer_limited && !cells[1].timer_limited);
        assert_eq!(cells[1].amount, Amount::Passes(1000));
    }
}
