//! How long single operations take: a recorder that any loop can call, and the watch that a loop is
//! generic over, so that it costs nothing where nobody asks.
//!
//! The recorder is a histogram with 64 linear buckets an octave (the layout of HdrHistogram): a
//! bucket is at most 1/64 = 1.6 % wide, and its middle at most 0.8 % off. It is made and touched
//! before the clock starts; recording is a shift, an addition and a comparison.

use crate::sys::clock::now_ns;
use iolab_model::result::{Measurement, Metrics, Name, Recorded};

/// Linear buckets an octave, as a power of two.
const SUB_BITS: u32 = 6;
/// Times from 2⁴⁰ ns (18 minutes) on share the last bucket; the greatest is kept exactly.
const TOP_BITS: u32 = 40;
const BUCKETS: usize = ((TOP_BITS - SUB_BITS) as usize + 1) << SUB_BITS;

/// The quantiles that are told, the metric of each, and the fewest operations that support it:
/// at least one is expected beyond it (p99 needs 100, p99.9 needs 1000).
const QUANTILES: [(&str, f64, u64); 5] = [
    ("latency_p50_ns", 0.5, 2),
    ("latency_p90_ns", 0.9, 10),
    ("latency_p99_ns", 0.99, 100),
    ("latency_p99_9_ns", 0.999, 1000),
    ("latency_p99_99_ns", 0.9999, 10_000),
];
const GREATEST: &str = "latency_max_ns";
/// Of the figures of a step those that are told: an operation has up to five of them.
const TOLD_OF_A_STEP: [&str; 4] =
    ["latency_p50_ns", "latency_p99_ns", "latency_p99_9_ns", "latency_max_ns"];
/// Operations that the percentiles are of.
pub const TIMED: &str = "timed_operations";

/// Times of operations, counted in buckets.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Latencies {
    counts: Box<[u64]>,
    greatest_ns: u64,
}

impl Default for Latencies {
    fn default() -> Latencies {
        // Written twice, so that no page of it is first touched within the timed window.
        let mut counts = vec![1; BUCKETS].into_boxed_slice();
        std::hint::black_box(&mut counts).fill(0);
        Latencies { counts, greatest_ns: 0 }
    }
}

impl Latencies {
    /// Counts one operation that took this long.
    #[inline(always)]
    pub fn record(&mut self, ns: u64) {
        self.counts[bucket(ns).min(BUCKETS - 1)] += 1;
        self.greatest_ns = self.greatest_ns.max(ns);
    }

    /// Adds what another thread recorded.
    pub fn add(&mut self, other: &Latencies) {
        for (sum, more) in self.counts.iter_mut().zip(&other.counts) {
            *sum += more;
        }
        self.greatest_ns = self.greatest_ns.max(other.greatest_ns);
    }

    /// Operations recorded.
    pub fn count(&self) -> u64 {
        self.counts.iter().fold(0, |sum: u64, count| sum.saturating_add(*count))
    }

    /// The time that a share `q` of the operations did not exceed (nearest rank), within 0.8 %;
    /// nothing where nothing was recorded.
    pub fn quantile_ns(&self, q: f64) -> Option<f64> {
        let count = self.count();
        let rank = ((q * count as f64).ceil() as u64).clamp(1, count.max(1));
        let mut seen: u64 = 0;
        let at = self.counts.iter().position(|n| {
            seen = seen.saturating_add(*n);
            seen >= rank
        })?;
        // The last bucket has no end of its own.
        Some(middle_ns(at).min(self.greatest_ns as f64))
    }

    /// Puts them into a measurement, as figures and as what these are made of.
    pub fn tell(&self, step: Name, measurement: &mut Measurement) {
        if self.count() == 0 {
            return;
        }
        let mut recorded = std::mem::take(&mut measurement.recorded).into_vec();
        recorded.push(self.recorded(step));
        measurement.recorded = recorded.into();
        self.put(step, &mut measurement.metrics);
    }

    /// The figures alone. Every operation has one of its steps at least, so that the step that was
    /// recorded most often was at each of them.
    pub fn put(&self, step: Name, metrics: &mut Metrics) {
        for (id, ns) in self.metrics() {
            let id = match step.as_str() {
                "" => id,
                step if TOLD_OF_A_STEP.contains(&id.as_str()) => {
                    Name::from(format!("{step}_{}", id.as_str()))
                }
                _ => continue,
            };
            metrics.insert(id, ns);
        }
        let count = self.count() as f64;
        let most = metrics.get(TIMED).map_or(count, |other| other.max(count));
        metrics.insert(TIMED.into(), most);
    }

    /// For who puts it together with others.
    fn recorded(&self, step: Name) -> Recorded {
        let counts = (0..).zip(self.counts.iter().copied()).filter(|(_, count)| *count > 0);
        Recorded { step, counts: counts.collect(), greatest_ns: self.greatest_ns }
    }

    /// Adds what another process recorded.
    pub fn add_recorded(&mut self, other: &Recorded) {
        for (bucket, count) in &other.counts {
            let bucket = usize::try_from(*bucket).unwrap_or(BUCKETS).min(BUCKETS - 1);
            self.counts[bucket] = self.counts[bucket].saturating_add(*count);
        }
        self.greatest_ns = self.greatest_ns.max(other.greatest_ns);
    }

    /// Metric id → nanoseconds: the quantiles that the number of operations supports, and the
    /// greatest time.
    fn metrics(&self) -> impl Iterator<Item = (Name, f64)> {
        let count = self.count();
        let supported = QUANTILES.iter().filter(move |(.., fewest)| count >= *fewest);
        let quantiles =
            supported.filter_map(|(id, q, _)| Some((Name::from(*id), self.quantile_ns(*q)?)));
        let greatest = (count > 0).then(|| (Name::from(GREATEST), self.greatest_ns as f64));
        quantiles.chain(greatest)
    }
}

/// Times below 64 have a bucket each; above, 64 buckets share each octave.
#[inline(always)]
fn bucket(ns: u64) -> usize {
    let shift = (63 - (ns | 1).leading_zeros()).saturating_sub(SUB_BITS);
    ((shift as usize) << SUB_BITS) + (ns >> shift) as usize
}

fn middle_ns(at: usize) -> f64 {
    let shift = (at >> SUB_BITS).saturating_sub(1);
    let low = ((at - (shift << SUB_BITS)) as u64) << shift;
    low as f64 + ((1_u64 << shift) - 1) as f64 / 2.0
}

/// Whether and how the operations of a loop are timed. Loops are generic over it.
pub trait Watch: Default + 'static {
    /// An operation begins: what [`Watch::end`] must be given.
    fn begin(&self) -> u64;
    /// The operation that began then has ended.
    fn end(&mut self, began: u64);
    /// The operation that began then has ended and the next one begins, by one reading of the
    /// clock for both: when the next one began. For operations that follow each other at once.
    fn turn(&mut self, began: u64) -> u64;
    /// What was recorded, where anything was.
    fn finish(self) -> Option<Latencies>;
}

/// Times nothing and costs nothing.
#[derive(Debug, Default)]
pub struct Unwatched;

impl Watch for Unwatched {
    #[inline(always)]
    fn begin(&self) -> u64 {
        0
    }
    #[inline(always)]
    fn end(&mut self, _: u64) {}
    #[inline(always)]
    fn turn(&mut self, _: u64) -> u64 {
        0
    }
    fn finish(self) -> Option<Latencies> {
        None
    }
}

/// Records every operation, between two readings of the clock.
#[derive(Debug, Default)]
pub struct Watched(Latencies);

impl Watch for Watched {
    #[inline(always)]
    fn begin(&self) -> u64 {
        now_ns()
    }
    #[inline(always)]
    fn end(&mut self, began: u64) {
        self.0.record(now_ns().saturating_sub(began));
    }
    #[inline(always)]
    fn turn(&mut self, began: u64) -> u64 {
        let now = now_ns();
        self.0.record(now.saturating_sub(began));
        now
    }
    fn finish(self) -> Option<Latencies> {
        Some(self.0)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::{BUCKETS, Latencies, TOP_BITS, Unwatched, Watch, Watched, bucket, middle_ns};

    proptest! {
        #[test]
        fn a_bucket_tells_a_time_within_its_error(ns in 1_u64..1 << TOP_BITS) {
            let at = bucket(ns);
            prop_assert!(at < BUCKETS);
            prop_assert!((middle_ns(at) / ns as f64 - 1.0).abs() <= 0.008, "{ns}: {}", middle_ns(at));
            prop_assert!(bucket(ns - 1) == at || bucket(ns - 1) + 1 == at, "buckets have no gap");
        }

        #[test]
        fn quantiles_are_those_of_the_sorted_times(
            mut times in proptest::collection::vec(0_u64..1 << 36, 1..500), q in 0.0_f64..=1.0,
        ) {
            let mut all = Latencies::default();
            times.iter().for_each(|ns| all.record(*ns));
            times.sort_unstable();
            let rank = ((q * times.len() as f64).ceil() as usize).max(1);
            let (right, told) = (times[rank - 1] as f64, all.quantile_ns(q).unwrap());
            prop_assert!((told - right).abs() <= 0.016 * right, "{told} for {right}");
        }
    }

    #[test]
    fn quantiles_are_told_only_where_the_count_supports_them() {
        let told = |n: u64| {
            let mut all = Latencies::default();
            (0..n).for_each(|ns| all.record(ns));
            all.metrics().map(|(id, ns)| (id.as_str(), ns)).collect::<BTreeMap<_, _>>()
        };
        assert!(told(0).is_empty());
        assert_eq!(told(1).len(), 1, "the greatest alone");
        assert!(!told(99).contains_key("latency_p99_ns"));
        assert!(told(100).contains_key("latency_p99_ns"));
        assert!(!told(999).contains_key("latency_p99_9_ns"));
        assert!(told(1000).contains_key("latency_p99_9_ns"));
        assert_eq!(told(10_000).len(), 6);
        assert_eq!(told(10_000)["latency_max_ns"], 9999.0, "the greatest is exact");
    }

    #[test]
    fn threads_add_up_and_hours_do_not_panic() {
        let (mut one, mut two) = (Latencies::default(), Latencies::default());
        one.record(10);
        two.record(u64::MAX);
        one.add(&two);
        assert_eq!((one.count(), one.quantile_ns(0.5), one.greatest_ns), (2, Some(10.0), u64::MAX));
        assert!(one.quantile_ns(1.0).unwrap() > 1e12);
    }

    #[test]
    fn a_watch_records_and_its_absence_does_not() {
        let mut watched = Watched::default();
        for _ in 0..3 {
            let began = watched.begin();
            std::thread::sleep(std::time::Duration::from_millis(1));
            watched.end(began);
        }
        let seen = watched.finish().unwrap();
        assert!(seen.count() == 3 && seen.quantile_ns(0.1).unwrap() >= 1e6, "{seen:?}");
        assert!(Unwatched.finish().is_none());
    }
}
