//! What passes between calls: the time that a program spent in its own code.

use super::step::{Act, Action, Step};
use crate::call::Call;
use crate::trace::Trace;

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
    /// By thread: when its last call ended.
    ends_ns: Vec<Option<u64>>,
    owed_ns: Vec<u64>,
}

impl Own<'_> {
    fn of(trace: &Trace) -> Own<'_> {
        let cost = trace.tracer_cost;
        let between = cost.map(|cost| cost.wall_ns.saturating_sub(cost.ns + cost.tail_ns));
        Own {
            trace,
            tracer_ns: between.unwrap_or(0),
            ends_ns: vec![None; trace.threads.len()],
            owed_ns: vec![0; trace.threads.len()],
        }
    }

    fn met(&mut self, call: &Call) {
        let thread = call.thread as usize;
        let (Some(end_ns), Some(owed_ns)) =
            (self.ends_ns.get_mut(thread), self.owed_ns.get_mut(thread))
        else {
            return;
        };
        let ended_ns = |call: &Call| call.at_ns.saturating_add(call.took_ns);
        let started_by = self.trace.threads[thread].started_by;
        let started = || self.trace.calls.get(started_by as usize).map(ended_ns);
        let from_ns = end_ns.or_else(started).unwrap_or(call.at_ns);
        let between_ns = call.at_ns.saturating_sub(from_ns).saturating_sub(self.tracer_ns);
        *owed_ns = owed_ns.saturating_add(between_ns);
        *end_ns = Some(ended_ns(call));
    }

    fn take(&mut self, thread: u32) -> u64 {
        self.owed_ns.get_mut(thread as usize).map_or(0, std::mem::take)
    }
}
