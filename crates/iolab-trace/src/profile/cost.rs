//! What the tracer takes of a call's time, and how sure that is.

use crate::call::CallKind;
use crate::trace::{Trace, TracerCost};

/// Fewer cheap calls than these say nothing of the tracer.
const LEAST_CHEAP_CALLS: usize = 8;
/// From here on a program's own cheap calls say something of the tracer, too.
const MANY_CHEAP_CALLS: usize = 200;
/// A cheap call that takes so many times as long again as most waited for the tracer to be run.
const WAITED_TIMES: u64 = 1;

/// Calls of one turn of a calibration.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Turn {
    /// What each call took by the tracer's clock.
    pub traced_ns: Vec<u64>,
    /// What a call took by the program's own clock, under the tracer.
    pub traced_wall_ns: u64,
    /// What a call took by the program's own clock, without the tracer.
    pub untraced_ns: u64,
}

impl TracerCost {
    /// The cost by turns with the tracer and without; nothing where there was no call.
    pub fn of_turns(turns: &[Turn]) -> Option<TracerCost> {
        let (mut costs, mut tails, mut untraced, mut walls) = (vec![], vec![], vec![], vec![]);
        for turn in turns.iter().filter(|turn| !turn.traced_ns.is_empty()) {
            let (usual_ns, tail_ns) = usual(&turn.traced_ns);
            costs.push(usual_ns.saturating_sub(turn.untraced_ns));
            tails.push(tail_ns);
            untraced.push(turn.untraced_ns);
            walls.push(turn.traced_wall_ns.saturating_sub(turn.untraced_ns));
        }
        let ns = median(&mut costs)?;
        // The least and the greatest of many are those of a busy moment.
        let outer = costs.len() / 5;
        Some(TracerCost {
            ns,
            low_ns: *costs.get(outer)?,
            high_ns: *costs.get(costs.len() - 1 - outer)?,
            // What is rare has no median.
            tail_ns: tails.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns))
                / tails.len() as u64,
            untraced_ns: median(&mut untraced)?,
            wall_ns: median(&mut walls)?,
        })
    }
}

/// The mean of calls without what those that waited took beyond others, and that, for each call.
fn usual(took_ns: &[u64]) -> (u64, u64) {
    let mut sorted = took_ns.to_vec();
    let middle_ns = median(&mut sorted).unwrap_or(0);
    let limit_ns = middle_ns.saturating_mul(1 + WAITED_TIMES);
    let calls = took_ns.len().max(1) as u64;
    let sum = |of: fn(u64, u64) -> u64| {
        took_ns.iter().fold(0, |sum: u64, ns| sum.saturating_add(of(*ns, limit_ns)))
    };
    (sum(u64::min) / calls, sum(u64::saturating_sub) / calls)
}

/// The values are in order afterwards.
fn median(values: &mut [u64]) -> Option<u64> {
    values.sort_unstable();
    values.get(values.len() / 2).copied()
}

/// How a time is made out of strace's.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Cost {
    /// What the tracer adds to a call.
    pub(super) tracer_ns: u64,
    /// At least.
    pub(super) low_ns: u64,
    /// At most.
    pub(super) high_ns: u64,
    /// What calls that waited for the tracer add to each.
    pub(super) tail_ns: u64,
    /// What the tracer adds to the program for each call.
    pub(super) wall_ns: u64,
}

impl Cost {
    /// The tracer's cost: measured beside, or seen in calls that take a fraction of a microsecond, as
    /// those that only look at a descriptor.
    pub(super) fn of(trace: &Trace) -> Cost {
        let kinds = [CallKind::Seek, CallKind::StatHandle, CallKind::Duplicate, CallKind::Other];
        let cheap =
            trace.calls.iter().filter(|call| call.result >= 0 && kinds.contains(&call.kind));
        let mut cheap: Vec<u64> = cheap.map(|call| call.took_ns).collect();
        let seen = (cheap.len() >= LEAST_CHEAP_CALLS).then(|| usual(&cheap));
        cheap.sort_unstable();
        let quarter = |quarters: usize| cheap.get(cheap.len() * quarters / 4).copied();
        let cost = |ns, low_ns, high_ns, tail_ns, wall_ns| Cost {
            tracer_ns: ns,
            low_ns,
            high_ns,
            tail_ns,
            wall_ns,
        };
        match (trace.tracer_cost, seen) {
            (Some(known), Some((_, tail_ns))) if cheap.len() >= MANY_CHEAP_CALLS => {
                // Calls here and there cost the tracer more than those one after another.
                let middle = quarter(2).unwrap_or(known.ns).saturating_sub(known.untraced_ns);
                let (low, high) = (known.low_ns.min(middle), known.high_ns.max(middle));
                cost(known.ns, low, high, tail_ns.max(known.tail_ns), known.wall_ns)
            }
            (Some(known), _) => {
                cost(known.ns, known.low_ns, known.high_ns, known.tail_ns, known.wall_ns)
            }
            (None, Some((ns, tail_ns))) => {
                let (low, high) = (quarter(1).unwrap_or(ns), quarter(3).unwrap_or(ns));
                cost(ns, low.min(ns), high.max(ns), tail_ns, ns)
            }
            (None, None) => {
                let took = trace.calls.iter().map(|call| call.took_ns).filter(|ns| *ns > 0);
                let mut took: Vec<u64> = took.collect();
                // Of few calls the usual one is taken for one that costs nothing, at most.
                let high = median(&mut took).unwrap_or(0);
                let low = took.first().copied().unwrap_or(0);
                cost(low, low, high, 0, low)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;

    use super::{Cost, TracerCost, Turn};
    use crate::strace::{Limits, parse};

    /// A turn of a hundred calls that the tracer makes 7 µs longer, of which one waits a millisecond.
    fn turn(adds_ns: u64) -> Turn {
        let mut traced_ns = vec![adds_ns + 200; 99];
        traced_ns.push(1_000_000);
        Turn { traced_ns, traced_wall_ns: 25_200, untraced_ns: 200 }
    }

    #[test]
    fn one_call_that_waited_moves_no_cost() {
        let cost = TracerCost::of_turns(&[turn(7_100), turn(6_900), turn(7_000)]).unwrap();
        // The hundredth call counts as two usual ones: 1 % more.
        assert!((7_000..7_300).contains(&cost.ns), "{cost:?}");
        assert!(cost.low_ns < cost.ns && cost.ns < cost.high_ns, "{cost:?}");
        assert_eq!((cost.untraced_ns, cost.wall_ns), (200, 25_000));
        assert!((9_000..10_000).contains(&cost.tail_ns), "the millisecond, by a hundred: {cost:?}");
        assert_eq!(TracerCost::of_turns(&[Turn::default()]), None);
    }

    /// Calls here and there cost the tracer more than those of a loop: the bounds hold both.
    #[test]
    fn the_programs_own_cheap_calls_widen_the_bounds() {
        let line = |at: u32| format!("1 100.{at:06} lseek(3</d/a>, 0, SEEK_CUR) = 0 <0.000012>\n");
        let cost = |calls: u32| {
            let text: String = (0..calls).map(line).collect();
            let mut trace = parse(Cursor::new(text), &Limits::default()).unwrap();
            trace.tracer_cost = TracerCost::of_turns(&[turn(7_000)]);
            Cost::of(&trace)
        };
        let (few, many) = (cost(20), cost(300));
        assert_eq!((few.low_ns, few.high_ns), (few.tracer_ns, few.tracer_ns));
        assert_eq!((many.tracer_ns, many.low_ns), (few.tracer_ns, few.low_ns));
        assert_eq!(many.high_ns, 12_000 - 200);
    }
}
