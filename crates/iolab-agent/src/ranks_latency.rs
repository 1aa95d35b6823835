//! How long the single operations of all ranks took. Percentiles of percentiles say nothing: each rank
//! tells how many operations fell into which bucket, and these are added up, which loses nothing.

use std::collections::BTreeMap;

use iolab_io::method::Latencies;
use iolab_model::result::{Metrics, Name};

use super::ranks_proof::Measured;

/// The percentiles of all operations, by step where an operation has several.
pub fn of_operations(all: &[Measured]) -> Metrics {
    let mut sums: BTreeMap<Name, Latencies> = BTreeMap::new();
    for recorded in all.iter().flat_map(|(.., measured)| &measured.recorded) {
        sums.entry(recorded.step).or_default().add_recorded(recorded);
    }
    let mut metrics = Metrics::default();
    for (step, latencies) in sums {
        latencies.put(step, &mut metrics);
    }
    metrics
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{Latencies, Measured, Name, of_operations};
    use iolab_model::result::{Measurement, Metrics};

    const PERCENTILES: [&str; 5] = [
        "latency_p50_ns",
        "latency_p90_ns",
        "latency_p99_ns",
        "latency_p99_9_ns",
        "latency_p99_99_ns",
    ];

    /// What a rank measured whose operations took so long, after its answer went to rank 0 as text.
    fn rank(number: usize, step: &str, times: &[u64]) -> Measured {
        let (mut latencies, mut measurement) = (Latencies::default(), Measurement::default());
        times.iter().for_each(|ns| latencies.record(*ns));
        latencies.tell(step.into(), &mut measurement);
        let text = serde_json::to_string(&measurement).unwrap();
        (number, 0, 0, serde_json::from_str(&text).unwrap())
    }

    fn own(times: &[u64]) -> Metrics {
        let (mut latencies, mut metrics) = (Latencies::default(), Metrics::default());
        times.iter().for_each(|ns| latencies.record(*ns));
        latencies.put(Name::default(), &mut metrics);
        metrics
    }

    proptest! {
        /// The same figures as if one process had recorded them all.
        #[test]
        fn operations_of_all_ranks_are_as_those_of_one(
            ranks in proptest::collection::vec(
                proptest::collection::vec(0_u64..1 << 42, 1..400), 1..6,
            ),
        ) {
            let all: Vec<Measured> =
                (0..).zip(&ranks).map(|(number, times)| rank(number, "", times)).collect();
            let merged = of_operations(&all);
            let sum: usize = ranks.iter().map(Vec::len).sum();
            prop_assert_eq!(merged["timed_operations"], sum as f64);
            prop_assert_eq!(&merged, &own(&ranks.concat()));
            // One of the parts has a greater percentile, or the same, and one a smaller.
            for id in PERCENTILES {
                let parts: Vec<f64> =
                    ranks.iter().filter_map(|times| own(times).get(id).copied()).collect();
                if parts.len() == ranks.len() {
                    let least = parts.iter().copied().fold(f64::MAX, f64::min);
                    let most = parts.iter().copied().fold(0.0, f64::max);
                    prop_assert!((least..=most).contains(&merged[id]), "{id} {parts:?}");
                }
            }
        }
    }

    /// A p99 takes a hundred operations: those of all ranks are these.
    #[test]
    fn a_percentile_is_told_where_the_operations_of_all_support_it() {
        let few: Vec<u64> = (0..50).collect();
        let all: Vec<Measured> = (0..2).map(|number| rank(number, "", &few)).collect();
        assert!(!of_operations(&all[..1]).contains_key("latency_p99_ns"));
        assert!(of_operations(&all).contains_key("latency_p99_ns"));
    }

    /// Steps are put together each by itself, and the operations are counted once.
    #[test]
    fn steps_of_files_stay_apart() {
        let step = |number, name: &str, ns| rank(number, name, &[ns; 3]);
        let all = [step(0, "open", 10), step(1, "open", 30), step(0, "close", 5)];
        let merged = of_operations(&all);
        assert_eq!((merged["open_latency_max_ns"], merged["close_latency_max_ns"]), (30.0, 5.0));
        assert_eq!(merged["timed_operations"], 6.0);
        assert!(!merged.contains_key("open_latency_p90_ns"), "a step tells fewer");
        assert!(of_operations(&[rank(0, "", &[])]).is_empty(), "nothing was timed");
    }

    /// A bucket that there is not comes from no program of ours, and ends none.
    #[test]
    fn a_bucket_beyond_the_last_is_the_last() {
        let mut odd = rank(0, "", &[5]);
        odd.3.recorded[0].counts = [(u32::MAX, u64::MAX)].into();
        assert!(of_operations(&[odd]).contains_key("latency_max_ns"));
    }
}
