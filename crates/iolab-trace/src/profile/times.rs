//! What each call on a file took beyond the tracer's part. It is taken off here once, call by call, so
//! that sums of calls by kind, by file and of all of them agree to the nanosecond.

use std::collections::BTreeMap;

use super::cost::Cost;
use crate::call::{Call, CallKind};
use crate::trace::Trace;

/// A call that takes so many times the tracer's cost longer than most of its kind waited: for a device,
/// or for the tracer to be run.
const WAITED_TIMES: u64 = 1;

/// Calls that are alike: of one kind, and of sizes that differ by less than twice.
type Sort = (CallKind, u32);

/// Times of calls.
#[derive(Debug)]
pub(super) struct Times {
    /// Of each call, in the order in which they were given.
    pub(super) calls_ns: Vec<u64>,
    /// Of all, at least, as far as the tracer's cost is known.
    pub(super) low_ns: u64,
    /// Of all, at most.
    pub(super) high_ns: u64,
}

impl Times {
    pub(super) fn of(trace: &Trace, calls: &[&Call], cost: Cost) -> Times {
        let sorts = sorts(trace, calls);
        let mut waited_ns = vec![0.0; calls.len()];
        for sort in sorts.values() {
            let limit_ns = sort.usual_ns.saturating_add(cost.tracer_ns * WAITED_TIMES);
            for at in &sort.calls {
                waited_ns[*at] = calls[*at].took_ns.saturating_sub(limit_ns) as f64;
            }
        }
        let took = calls.iter().zip(&waited_ns);
        let usual_ns: Vec<f64> = took.map(|(call, waited)| call.took_ns as f64 - waited).collect();
        let count = calls.len() as f64;
        let (usual, waited) = (usual_ns.iter().sum::<f64>(), waited_ns.iter().sum::<f64>());
        let beyond = |sum: f64, tracer_ns: u64| (sum - tracer_ns as f64 * count).max(0.0);
        let (most, waits) = (most_ns(trace) as f64, waits_ns(trace) as f64);
        let kept = beyond(usual, cost.tracer_ns);
        let waits_kept = beyond(waited, cost.tail_ns);
        let tail_scale = if waits_kept > waits { waits / waits_kept } else { 1.0 };
        let all = kept + waits_kept * tail_scale;
        let scale = if all > most { most / all } else { 1.0 };
        let mut each = share_out(&usual_ns, &sorts, kept);
        for (ns, tail) in each.iter_mut().zip(share_out(&waited_ns, &sorts, waits_kept)) {
            *ns = (*ns + tail * tail_scale) * scale;
        }
        let calls_ns = whole(&each);
        let middle = calls_ns.iter().fold(0, |sum: u64, ns| sum.saturating_add(*ns));
        let (low, high) = (beyond(usual, cost.high_ns), beyond(usual, cost.low_ns));
        Times {
            low_ns: (low as u64).min(middle),
            high_ns: ((high + waited.min(waits)).min(most) as u64).max(middle),
            calls_ns,
        }
    }
}

/// Calls of a sort, by their indices, and what most of that sort took.
struct OfSort {
    calls: Vec<usize>,
    usual_ns: u64,
}

fn sorts(trace: &Trace, calls: &[&Call]) -> BTreeMap<Sort, OfSort> {
    let sort_of = |call: &Call| (call.kind, call.asked.max(1).ilog2());
    let mut took: BTreeMap<Sort, Vec<u64>> = BTreeMap::new();
    for call in &trace.calls {
        took.entry(sort_of(call)).or_default().push(call.took_ns);
    }
    let mut members: BTreeMap<Sort, Vec<usize>> = BTreeMap::new();
    for (at, call) in calls.iter().enumerate() {
        members.entry(sort_of(call)).or_default().push(at);
    }
    let of_sort = |(sort, calls): (Sort, Vec<usize>)| {
        let mut took = took.remove(&sort).unwrap_or_default();
        took.sort_unstable();
        let usual_ns = took.get(took.len() / 2).copied().unwrap_or(0);
        (sort, OfSort { calls, usual_ns })
    };
    members.into_iter().map(of_sort).collect()
}

/// These times less as much of each call as leaves `kept_ns` of all. What calls of a sort took together
/// is known better than what one took, so sorts are first told apart and then their calls; a sort, and a
/// call, that has less than the tracer's part has nothing, and the others give what it lacks.
fn share_out(took_ns: &[f64], sorts: &BTreeMap<Sort, OfSort>, kept_ns: f64) -> Vec<f64> {
    let mean = |sort: &OfSort| {
        let sum: f64 = sort.calls.iter().map(|at| took_ns[*at]).sum();
        (sum / sort.calls.len() as f64, sort.calls.len() as f64)
    };
    let means: Vec<(f64, f64)> = sorts.values().map(mean).collect();
    let of_sorts = part_of_each(means.clone(), kept_ns);
    let mut kept = vec![0.0; took_ns.len()];
    for (sort, (mean, count)) in sorts.values().zip(means) {
        let each = sort.calls.iter().map(|at| (took_ns[*at], 1.0)).collect();
        let of_calls = part_of_each(each, (mean - of_sorts).max(0.0) * count);
        for at in &sort.calls {
            kept[*at] = (took_ns[*at] - of_calls).max(0.0);
        }
    }
    kept
}

/// What is to be taken off each of these, which stand for so many calls, so that `kept` is left of all
/// where none is left with less than nothing.
pub(crate) fn part_of_each(mut means: Vec<(f64, f64)>, kept: f64) -> f64 {
    means.sort_unstable_by(|(a, _), (b, _)| b.total_cmp(a));
    let (mut sum, mut count, mut part) = (0.0, 0.0, f64::INFINITY);
    for (mean, calls) in means {
        if count > 0.0 && mean <= part {
            break;
        }
        sum += mean * calls;
        count += calls;
        part = (sum - kept) / count;
    }
    part
}

/// In whole nanoseconds; what one is rounded by goes to the next.
fn whole(each_ns: &[f64]) -> Vec<u64> {
    let (mut exact, mut told) = (0.0_f64, 0_u64);
    let round = |ns: &f64| {
        exact += ns;
        let rounded = (exact.round() as u64).saturating_sub(told);
        told += rounded;
        rounded
    };
    each_ns.iter().map(round).collect()
}

/// What file calls can have taken at most.
fn most_ns(trace: &Trace) -> u64 {
    let Some(run) = trace.middle_run() else { return u64::MAX };
    match trace.threads.len() {
        // File calls that never meet are none of the time in which the program's own code ran, and
        // a shell that waits for its children makes none.
        threads if threads > 1 && calls_meet(trace) => run.wall_ns.saturating_mul(threads as u64),
        _ => run.wall_ns.saturating_sub(run.user_ns),
    }
}

/// How long calls can have waited at most: a program that computes, or the kernel for it, waits for
/// nothing meanwhile.
fn waits_ns(trace: &Trace) -> u64 {
    let Some(run) = trace.middle_run() else { return u64::MAX };
    match trace.threads.len() {
        threads if threads > 1 => run.wall_ns.saturating_mul(threads as u64),
        _ => run.wall_ns.saturating_sub(run.user_ns.saturating_add(run.system_ns)),
    }
}

/// Whether calls on files of several threads were under way at once for more than a tenth of the time
/// that they took: then their sum may be longer than the program.
fn calls_meet(trace: &Trace) -> bool {
    let calls = trace.calls.iter().filter(|call| trace.is_of_files(call));
    let mut spans: Vec<(u64, u64)> =
        calls.map(|call| (call.at_ns, call.at_ns.saturating_add(call.took_ns))).collect();
    spans.sort_unstable();
    let (mut sum, mut covered, mut end) = (0_u64, 0_u64, 0_u64);
    for (from, to) in spans {
        sum = sum.saturating_add(to - from);
        covered = covered.saturating_add(to.saturating_sub(from.max(end)));
        end = end.max(to);
    }
    sum > covered.saturating_add(covered / 10)
}

#[cfg(test)]
mod tests {
    use super::{part_of_each, whole};

    #[test]
    fn what_is_left_is_what_was_asked_for_and_none_is_below_nothing() {
        let means = vec![(12.0, 10.0), (3.0, 100.0), (900.0, 1.0), (9.0, 5.0)];
        for kept in [0.0, 1.0, 300.0, 905.0, 1000.0] {
            let part = part_of_each(means.clone(), kept);
            let left: f64 = means.iter().map(|(mean, n)| (mean - part).max(0.0) * n).sum();
            assert!((left - kept).abs() < 1e-6, "{left} of {kept}");
        }
        assert_eq!(whole(&[0.4, 0.4, 0.4, 0.4, 0.4]), [0, 1, 0, 1, 0]);
    }
}
