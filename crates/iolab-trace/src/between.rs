//! What passes between calls, of several runs under the tracer.

use crate::trace::Trace;

/// Takes what passed between two calls from whichever run it was shorter in, where a program of one thread
/// did the same twice. The tracer takes longer for a while and then no more, 50 µs a call for 33: a python
/// that reads lines had 16 µs between its reads for 23 where that was while it started, for its own time
/// in all is known.
pub fn shorten_between(trace: &mut Trace, again: &Trace) {
    if trace.threads.len() != 1 || !is_alike(trace, again) {
        return;
    }
    let (mut ended_ns, mut again_ended_ns, mut saved_ns) = (None, None, 0_u64);
    for (call, other) in trace.calls.iter_mut().zip(&again.calls) {
        let gap_ns = call.at_ns.saturating_sub(ended_ns.unwrap_or(call.at_ns));
        let again_gap_ns = other.at_ns.saturating_sub(again_ended_ns.unwrap_or(other.at_ns));
        ended_ns = Some(call.at_ns.saturating_add(call.took_ns));
        again_ended_ns = Some(other.at_ns.saturating_add(other.took_ns));
        saved_ns += gap_ns.saturating_sub(again_gap_ns);
        call.at_ns = call.at_ns.saturating_sub(saved_ns);
    }
    trace.wall_ns = trace.wall_ns.saturating_sub(saved_ns);
}

/// Whether both made the same calls for the same.
fn is_alike(trace: &Trace, again: &Trace) -> bool {
    let same = |(a, b): (&crate::Call, &crate::Call)| (a.kind, a.asked) == (b.kind, b.asked);
    let counts = (again.threads.len(), again.calls.len());
    counts == (trace.threads.len(), trace.calls.len())
        && trace.calls.iter().zip(&again.calls).all(same)
}

#[cfg(test)]
mod tests {
    use super::shorten_between;
    use crate::{Limits, Trace, parse};

    /// When each call began and how long it took, in µs.
    fn trace(calls: &[(u64, u64)], read: &str) -> Trace {
        let call = |(at, took): &(u64, u64)| {
            format!("7 1.{at:06} {read}(3</a>, \"\"..., 10) = 10 <0.{took:06}>\n")
        };
        let log: String = calls.iter().map(call).collect();
        parse(log.as_bytes(), &Limits::default()).unwrap()
    }

    fn begins_us(trace: &Trace) -> Vec<u64> {
        trace.calls.iter().map(|call| call.at_ns / 1000).collect()
    }

    #[test]
    fn each_time_between_calls_is_the_shorter_one() {
        let mut first = trace(&[(0, 5), (55, 5), (110, 40), (180, 5)], "read");
        let again = trace(&[(0, 9), (39, 1), (100, 1), (121, 5)], "read");
        shorten_between(&mut first, &again);
        // Between them 50, 50 and 30 µs, and 30, 60 and 20 in the other; the calls stay as they were.
        assert_eq!(begins_us(&first), [0, 35, 90, 150]);
        assert_eq!(first.calls.iter().map(|call| call.took_ns).sum::<u64>(), 55_000);
        assert_eq!(first.wall_ns, 155_000);
    }

    #[test]
    fn a_run_that_did_something_else_says_nothing() {
        let slow = trace(&[(0, 5), (55, 5)], "read");
        for again in [trace(&[(0, 5), (9, 5)], "write"), trace(&[(0, 5), (9, 5), (20, 5)], "read")]
        {
            let mut first = slow.clone();
            shorten_between(&mut first, &again);
            assert_eq!(first, slow);
        }
    }
}
