//! What passes between calls: the time that a program spent in its own code.

use super::step::{Act, Action, Step};
use crate::call::Call;
use crate::profile::part_of_each;
use crate::trace::Trace;

/// A thread that makes no call for so long may wait for something.
const WAITS_NS: u64 = 1_000_000;
/// What all but one of so many times between calls have is the tracer's.
const NEARLY_ALL: usize = 20;

/// The acts, each with the time before it that its thread was in none of its calls. Calls that are not
/// replayed (pipes, sockets, waiting for a child) are calls all the same.
pub(super) fn with_think(acts: Vec<Act>, trace: &Trace) -> Vec<Act> {
    let mut own = Own::of(trace);
    let mut all = Vec::with_capacity(2 * acts.len());
    let mut acts = acts.into_iter().peekable();
    for (index, call) in trace.calls.iter().enumerate() {
        own.met(call);
        while let Some(act) = acts.next_if(|act| act.step.call as usize <= index) {
            let asked = own.take(act.thread);
            if asked > 0 {
                let step = Step { asked, ..Step::new(Action::Think, act.step.call) };
                all.push(Act::new(step, act.thread));
            }
            all.push(act);
        }
    }
    all.extend(acts);
    all
}

/// Neighbours as one: calls between them are made no more.
pub(super) fn joined(lane: Vec<Step>) -> Vec<Step> {
    let mut all: Vec<Step> = Vec::with_capacity(lane.len());
    for step in lane {
        match all.last_mut() {
            Some(last) if last.action == Action::Think && step.action == Action::Think => {
                last.asked = last.asked.saturating_add(step.asked);
            }
            _ => all.push(step),
        }
    }
    all
}

/// Time of their own that threads have had and not yet had again.
struct Own<'a> {
    trace: &'a Trace,
    /// What the tracer adds to a program between two calls.
    tracer_ns: u64,
    /// What is the program's of each time beyond that: under a tracer its own code runs more slowly, too.
    share: f64,
    /// Of those that are shorter than this; in the others it waited.
    waits_ns: u64,
    /// By thread: when its last call ended.
    ends_ns: Vec<Option<u64>>,
    owed_ns: Vec<u64>,
}

impl Own<'_> {
    fn of(trace: &Trace) -> Own<'_> {
        let cost = trace.tracer_cost;
        let between = cost.map(|cost| cost.wall_ns.saturating_sub(cost.ns + cost.tail_ns));
        let threads = trace.threads.len();
        let mut own = Own {
            trace,
            tracer_ns: between.unwrap_or(0),
            share: 1.0,
            waits_ns: u64::MAX,
            ends_ns: vec![None; threads],
            owed_ns: vec![0; threads],
        };
        own.learn();
        own.ends_ns.fill(None);
        own
    }

    /// What the tracer adds to each beyond what it is known to, and the program's share of the rest, where
    /// the program was run without it: its own code took no longer. Of a `grep -r` with 0.4 µs between its
    /// calls 12 µs were left. What nearly all have is the tracer's; where more is left than the program
    /// took, all of it was slower. A python took 26 ms until it read lines and 28 ms for these in 2048
    /// reads; under strace 37 ms each. With equal parts taken off 3 to 11 µs were left of the 14 between
    /// two reads, and 36 to 40 of the 26 ms.
    fn learn(&mut self) {
        let runs = &self.trace.runs;
        let user_ns: u64 = runs.iter().map(|run| run.user_ns).sum();
        let Some(own_ns) = user_ns.checked_div(runs.len() as u64) else { return };
        let gaps = self.trace.calls.iter().filter_map(|call| self.gap_ns(call));
        let mut gaps: Vec<u64> = gaps.filter(|gap| *gap > 0).collect();
        // In the long ones it has worked, too, unless they are longer than it worked in all: then it waited.
        // Of 30 ms of a gcc 20 are three gaps of its compiler, and all 30 were given to the others.
        let long = gaps.iter().filter(|gap| **gap >= WAITS_NS);
        let waited = long.fold(0, |sum: u64, gap| sum.saturating_add(*gap)) > own_ns;
        if waited {
            gaps.retain(|gap| *gap < WAITS_NS);
        }
        gaps.sort_unstable();
        let own_ns = own_ns as f64;
        let each: Vec<(f64, f64)> = gaps.iter().map(|gap| (*gap as f64, 1.0)).collect();
        if each.iter().map(|(gap, _)| gap).sum::<f64>() <= own_ns {
            return;
        }
        let usual_ns = gaps[gaps.len() / NEARLY_ALL];
        let beyond_ns = usual_ns.min(part_of_each(each, own_ns) as u64);
        self.tracer_ns = self.tracer_ns.saturating_add(beyond_ns);
        if beyond_ns == usual_ns {
            let left: f64 = gaps.iter().map(|gap| gap.saturating_sub(usual_ns) as f64).sum();
            self.share = (own_ns / left).min(1.0);
            self.waits_ns = if waited { WAITS_NS - usual_ns } else { u64::MAX };
        }
    }

    fn met(&mut self, call: &Call) {
        let between_ns = self.gap_ns(call).unwrap_or(0);
        if let Some(owed_ns) = self.owed_ns.get_mut(call.thread as usize) {
            *owed_ns = owed_ns.saturating_add(between_ns);
        }
    }

    /// From the call before it in its thread to this one, without the tracer's part.
    fn gap_ns(&mut self, call: &Call) -> Option<u64> {
        let thread = call.thread as usize;
        let end_ns = self.ends_ns.get_mut(thread)?;
        let ended_ns = |call: &Call| call.at_ns.saturating_add(call.took_ns);
        let started_by = self.trace.threads[thread].started_by;
        let started = || self.trace.calls.get(started_by as usize).map(ended_ns);
        let from_ns = end_ns.or_else(started).unwrap_or(call.at_ns);
        *end_ns = Some(ended_ns(call));
        let beyond_ns = call.at_ns.saturating_sub(from_ns).saturating_sub(self.tracer_ns);
        let share = if beyond_ns < self.waits_ns { self.share } else { 1.0 };
        Some((beyond_ns as f64 * share) as u64)
    }

    fn take(&mut self, thread: u32) -> u64 {
        self.owed_ns.get_mut(thread as usize).map_or(0, std::mem::take)
    }
}
