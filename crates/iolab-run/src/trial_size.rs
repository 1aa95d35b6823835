//! How much each cell does in a trial: long enough for the clock, short enough for the budget, and
//! the same number of repetitions for all cells of an answer where that is possible. Pure.

use super::work::Work;
use super::{Amount, ClockFacts, Dose};

/// Shortest trial with one thread.
const SHORTEST_NS: f64 = 1e6;
/// Shortest trial with several threads: starting them takes tens of microseconds.
const SHORTEST_THREADED_NS: f64 = 10e6;
/// Where a cell's pass cannot be cut, the others do whole ones too, up to this many times as long:
/// a part and the whole are not compared.
const UNCUT: f64 = 2.0;

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

/// The longest trial with which so many rounds fit into the time that is left: 0.9 of its share.
pub(super) fn trial_max_ns(left_ns: f64, rounds: u32, trials_per_round: usize) -> f64 {
    0.9 * left_ns.max(0.0) / (f64::from(rounds) * trials_per_round.max(1) as f64)
}

/// The doses of the cells of one answer: all do the same, passes or the part of one, wherever that is
/// possible.
pub(super) fn doses(pilots: &[Pilot], clock: &ClockFacts, longest_ns: f64) -> Vec<Dose> {
    let threads = pilots.iter().map(|p| p.work.threads).max().unwrap_or(1);
    let least = trial_min_ns(clock, threads);
    let most = longest_ns.max(least);
    if let Some(part) = shared_part(pilots, most, clock_min_ns(clock)) {
        return pilots.iter().map(|pilot| part_dose(pilot, part, clock)).collect();
    }
    let shared = shared_passes(pilots, least, most);
    let most = most.max(UNCUT * uncut_ns(pilots));
    let mut doses: Vec<Dose> = pilots
        .iter()
        .map(|pilot| {
            let count = match (pilot.work.once, shared) {
                (true, _) => 1,
                (false, Some(shared)) => shared,
                (false, None) => passes(least, pilot.pass_ns()),
            };
            let Work { least_operations, most_operations, operations_per_pass, .. } = pilot.work;
            // Where a pass is one call, so many of them.
            let calls = if operations_per_pass == 1 { least_operations } else { 1 };
            dose(pilot, count.max(calls).min(most_operations), most, clock)
        })
        .collect();
    let first = doses.first().map(|dose| dose.amount);
    let passes: Vec<Option<u64>> = doses.iter().map(passes_of).collect();
    let mixed = doses.iter().any(|d| passes_of(d).is_none());
    let differ = doses.iter().any(|d| Some(d.amount) != first);
    let repeated = |at: usize| passes[at].is_some() && !pilots[at].work.once;
    for (at, dose) in doses.iter_mut().enumerate() {
        dose.unequal = differ && (mixed || repeated(at));
    }
    doses
}

/// The longest pass that cannot be cut (a command's, say).
fn uncut_ns(pilots: &[Pilot]) -> f64 {
    let uncut = pilots.iter().filter(|p| p.work.operations_per_pass == 1);
    uncut.map(Pilot::pass_ns).fold(0.0, f64::max)
}

/// Passes that all repeated cells do: about half of the time is measurement, the fastest is never
/// too short for the clock. `None` where the slowest would pass its share.
fn shared_passes(pilots: &[Pilot], least_ns: f64, most_ns: f64) -> Option<u64> {
    let repeated: Vec<&Pilot> = pilots.iter().filter(|p| !p.work.once).collect();
    let times = || repeated.iter().map(|p| p.pass_ns());
    let fastest = times().fold(f64::INFINITY, f64::min);
    let slowest = times().fold(0.0, f64::max);
    let k = repeated.len().max(1) as f64;
    let mean = times().sum::<f64>() / k;
    let around = repeated.iter().map(|p| p.around_ns).sum::<f64>() / k;
    let least = passes(least_ns, fastest);
    let half = (around / mean.max(1.0)).floor().clamp(1.0, 1e15) as u64;
    let fits = |count: &u64| *count as f64 * slowest <= most_ns;
    [least.max(half), least].into_iter().find(fits)
}

/// The part of a pass that every cell of an answer does, in steps that are whole operations of each,
/// where a pass of one is longer than its share: sized for the slowest, a whole number of parts to a
/// pass. `None` where all do whole passes, where a cell knows no parts, or where the same part would
/// be too short for the clock in the fastest.
fn shared_part(pilots: &[Pilot], most_ns: f64, clock_ns: f64) -> Option<u64> {
    let divisible = |p: &&Pilot| p.work.operations_per_pass > 1;
    let too_long = pilots.iter().filter(divisible).any(|p| p.pass_ns() > most_ns);
    if !too_long || !pilots.iter().all(|p| divisible(&p)) {
        return None;
    }
    let step = whole_steps(pilots)?;
    let fitting = |p: &Pilot| {
        let operations = ((most_ns - p.fixed_ns).max(p.fixed_ns) / p.operation_ns).max(1.0);
        (operations as u64).max(p.work.least_operations).saturating_mul(p.work.part_step)
    };
    let pass = |p: &Pilot| p.work.operations_per_pass.saturating_mul(p.work.part_step);
    let fitting = pilots.iter().map(fitting).min()?.max(step);
    let whole = pilots.iter().map(pass).min()?;
    if fitting >= whole || step > whole {
        return None;
    }
    let part = match pilots.iter().any(|p| p.work.flushes) {
        // A power of two, so that runs with other blocks write the same amount before their flush.
        true => 1 << fitting.ilog2(),
        false => whole.div_ceil(whole.div_ceil(fitting)),
    };
    let part = part.div_ceil(step) * step;
    let even = |p: &Pilot| part.is_multiple_of(p.work.part_step) || part / p.work.part_step >= EVEN;
    if !pilots.iter().all(even) {
        return None;
    }
    let shortest = |p: &Pilot| p.fixed_ns + (part / p.work.part_step) as f64 * p.operation_ns;
    if pilots.iter().map(shortest).fold(0.0, f64::max) > TOO_LONG_NS.max(most_ns) {
        return None;
    }
    pilots.iter().all(|p| shortest(p) >= clock_ns).then_some(part)
}

/// A part that takes the slowest longer than this, because it holds a whole block of the largest, is
/// none: 64 KiB written byte by byte, each on the disk before the next, took a minute and a half, and
/// the run ended without a round.
const TOO_LONG_NS: f64 = 1e9;

/// Operations of a part from which on a part of one operation makes no length of its own: whatever a
/// trial costs once is spread over the same length but for 1 %.
const EVEN: u64 = 100;

/// What a part is a whole number of: the operations of all cells, or, where an odd block has no
/// common multiple with the rest within a pass (16284 bytes beside 64 KiB), of those of the others.
fn whole_steps(pilots: &[Pilot]) -> Option<u64> {
    let steps = || pilots.iter().map(|p| p.work.part_step);
    let whole = pilots.iter().map(|p| p.work.operations_per_pass.saturating_mul(p.work.part_step));
    let whole = whole.min()?;
    let all = |mut steps: Box<dyn Iterator<Item = u64> + '_>| steps.try_fold(1, common_multiple);
    all(Box::new(steps()))
        .filter(|step| *step <= whole)
        .or_else(|| all(Box::new(steps().filter(|step| step.is_power_of_two()))))
}

/// The least common multiple, where it is no larger than a part could be.
fn common_multiple(a: u64, b: u64) -> Option<u64> {
    let (mut x, mut y) = (a.max(1), b.max(1));
    while y > 0 {
        (x, y) = (y, x % y);
    }
    (a.max(1) / x).checked_mul(b.max(1)).filter(|step| *step <= 1 << 40)
}

fn part_dose(pilot: &Pilot, part: u64, clock: &ClockFacts) -> Dose {
    let operations = (part / pilot.work.part_step.max(1)).max(1);
    let wall_ns = pilot.fixed_ns + operations as f64 * pilot.operation_ns;
    Dose {
        amount: Amount::Operations(operations),
        unequal: false,
        wall_ns,
        trial_ns: wall_ns + pilot.around_ns,
        timer_limited: pilot.work.once && wall_ns < clock_min_ns(clock),
    }
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

/// The dose of a cell that does what no other does.
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
        let work =
            Work { operations_per_pass, step_bytes: 4096, part_step: 4096, ..Work::default() };
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
        assert_eq!(trial_max_ns(4e9, 40, 10), 9e6);
    }

    /// One byte with O_SYNC beside 64 KiB: the least that both can do alike took the one 90 s.
    #[test]
    fn a_part_that_takes_the_slowest_too_long_is_not_shared() {
        let at = |operation_ns: f64, part_step: u64| {
            let operations_per_pass = (1 << 20) / part_step;
            let work =
                Work { operations_per_pass, step_bytes: part_step, part_step, ..Work::default() };
            Pilot { operation_ns, fixed_ns: 0.0, around_ns: 5e5, work }
        };
        let amounts = |byte_ns: f64| -> Vec<Amount> {
            let all = [at(byte_ns, 1), at(4e6, 1 << 16)];
            doses(&all, &CLOCK, 50e6).into_iter().map(|dose| dose.amount).collect()
        };
        assert_eq!(amounts(2e3), [Amount::Operations(1 << 16), Amount::Operations(1)]);
        assert_eq!(amounts(4e5)[0], Amount::Operations(125), "as long as a trial may be");
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

    /// Bounded cells once did ranges of lengths of their own: with a fixed cost a trial, identical
    /// cells came out different in up to 47 % of simulated runs.
    #[test]
    fn where_one_pass_is_too_long_all_do_the_same_part() {
        let bytes = |doses: &[super::Dose], steps: &[u64]| -> Vec<u64> {
            let each = doses.iter().zip(steps);
            each.map(|(dose, step)| match dose.amount {
                Amount::Operations(operations) => operations * step,
                Amount::Passes(_) => 0,
            })
            .collect()
        };
        let mut coarse = pilot(1e5, 625);
        (coarse.work.step_bytes, coarse.work.part_step) = (65_536, 65_536);
        let cells = doses(&[pilot(1e6, 10_000), coarse], &CLOCK, 250e6);
        let all = bytes(&cells, &[4096, 65_536]);
        assert_eq!(all[0], all[1]);
        // 250 operations of the slowest fit; the next multiple of both blocks, and 40 parts a pass.
        assert_eq!(all[0], 256 * 4096);
        assert!(cells.iter().all(|dose| !dose.unequal));
        // An odd block has no multiple with the others within a pass, and does the same but for a
        // block: 16284 bytes beside 64 KiB once made every cell of an answer do its own length.
        let mut odd = pilot(1.2e5, 6440);
        (odd.work.step_bytes, odd.work.part_step) = (16_284, 16_284);
        coarse.work.operations_per_pass = 1600;
        let cells = doses(&[pilot(1e5, 25_600), odd, coarse], &CLOCK, 1.5e9);
        let all = bytes(&cells, &[4096, 16_284, 65_536]);
        assert!(all[0] == all[2] && all[0].abs_diff(all[1]) < 16_284, "{all:?}");
        assert!(cells.iter().all(|dose| !dose.unequal));
        // Of a short part one odd block is too much.
        let cells = doses(&[pilot(1e6, 25_600), odd, coarse], &CLOCK, 250e6);
        assert!(cells.iter().any(|dose| dose.unequal));
        // Seven operations of a second: one each.
        assert_eq!(doses(&[pilot(1e9, 7)], &CLOCK, 250e6)[0].amount, Amount::Operations(1));
        // One operation is never cut, and a cell without parts has the other do its own.
        assert_eq!(doses(&[pilot(1e9, 1)], &CLOCK, 250e6)[0].amount, Amount::Passes(1));
        let mixed = doses(&[pilot(1e6, 10_000), pilot(1e7, 1)], &CLOCK, 250e6);
        assert_eq!(mixed[0].amount, Amount::Operations(250));
        assert!(mixed[0].unequal && mixed[1].unequal);
        // A pass that fits is whole, however long.
        assert_eq!(doses(&[pilot(1e6, 10_000)], &CLOCK, 11e9)[0].amount, Amount::Passes(1));
    }

    /// A command does the whole file; beside it parts of the file would be compared with all of it.
    #[test]
    fn where_one_pass_cannot_be_cut_the_others_are_whole() {
        let cells = doses(&[pilot(1e5, 5000), pilot(4e8, 1)], &CLOCK, 250e6);
        assert!(cells.iter().all(|dose| dose.amount == Amount::Passes(1) && !dose.unequal));
    }

    #[test]
    fn half_of_the_time_is_measurement() {
        let mut cell = pilot(100.0, 1000);
        cell.around_ns = 8e6;
        assert_eq!(doses(&[cell, cell], &CLOCK, 250e6)[0].amount, Amount::Passes(80));
        assert_eq!(doses(&[cell, cell], &CLOCK, 5e6)[0].amount, Amount::Passes(10));
    }

    #[test]
    fn cells_that_end_in_a_flush_write_the_same_amount() {
        let cell = |operation_ns, step_bytes| {
            let mut cell = pilot(operation_ns, (1 << 40) / step_bytes);
            let work = &mut cell.work;
            (work.once, work.flushes, work.step_bytes) = (true, true, step_bytes);
            work.part_step = step_bytes;
            cell
        };
        // 250 ms at 1.0, 1.1 and 1.3 GB/s are 250, 275 and 325 MB: all write 128 MiB.
        let cells = [cell(4096.0, 4096), cell(59_578.0, 65_536), cell(806_596.0, 1 << 20)];
        let bytes: Vec<u64> = doses(&cells, &CLOCK, 250e6)
            .iter()
            .zip([4096, 65_536, 1 << 20])
            .map(|(dose, step)| match dose.amount {
                Amount::Operations(operations) => operations * step,
                Amount::Passes(_) => 0,
            })
            .collect();
        assert_eq!(bytes, [128 << 20; 3]);
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
