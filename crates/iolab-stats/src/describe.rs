//! Descriptive figures, for comparison with published tables. "Fixed-n, not stop-adjusted".

use super::random::{below, generator};
use super::series::median_in_place;
use super::sign::fixed_rank;
use iolab_model::result::{Interval, Summary};

/// Resamples of the bootstrap.
const RESAMPLES: usize = 10_000;
/// Under this many rounds the bootstrap says nothing.
const FEWEST_FOR_BOOTSTRAP: usize = 20;

fn sorted(values: &[f64]) -> Vec<f64> {
    let mut values: Vec<f64> = values.iter().copied().filter(|v| v.is_finite()).collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

/// The quantile of sorted values by linear interpolation between order statistics (Hyndman & Fan 7).
fn quantile(sorted: &[f64], q: f64) -> f64 {
    let at = q * (sorted.len() - 1) as f64;
    let (below, above) = (at.floor() as usize, at.ceil() as usize);
    sorted[below] + (sorted[above] - sorted[below]) * (at - below as f64)
}

/// Figures of one quantity; values that are not finite are left out. The interval of the median is
/// the exact order-statistic one at 95 %, from n = 6 on. `None` where there is no value.
pub fn summary(values: &[f64]) -> Option<Summary> {
    let sorted = sorted(values);
    let n = sorted.len();
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let squares: f64 = sorted.iter().map(|v| (v - mean) * (v - mean)).sum();
    let bounds = order_interval(&sorted, 0.05);
    Some(Summary {
        n: n as u32,
        median: quantile(&sorted, 0.5),
        low: bounds.low,
        high: bounds.high,
        mean,
        sd: if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 },
        min,
        q1: quantile(&sorted, 0.25),
        q3: quantile(&sorted, 0.75),
        max,
    })
}

/// Exact interval of the median of sorted values with error at most `alpha`; unbounded where n is
/// too small.
fn order_interval(sorted: &[f64], alpha: f64) -> Interval {
    match fixed_rank(sorted.len() as u32, alpha) as usize {
        0 => Interval::default(),
        l => Interval { low: Some(sorted[l - 1]), high: Some(sorted[sorted.len() - l]) },
    }
}

/// Standard deviation / mean; `None` under two values or where the mean is 0.
pub fn variation(values: &[f64]) -> Option<f64> {
    let summary = summary(values)?;
    (summary.n > 1 && summary.mean != 0.0).then(|| summary.sd / summary.mean.abs())
}

/// The ratio of two medians with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MedianRatio {
    /// median(a) / median(b).
    pub ratio: f64,
    /// 95 %, fixed-n: not stop-adjusted.
    pub interval: Interval,
}

/// Ratio of medians by percentile bootstrap over whole rounds: a round is drawn with both its
/// trials, so that what they share stays shared. `a` and `b` are times by round (positive; missing
/// ones are NaN); `stream` tells pairs apart. The interval is unbounded under 20 shared rounds.
pub fn median_ratio(a: &[f64], b: &[f64], seed: u64, stream: u64) -> Option<MedianRatio> {
    let shared = a.iter().zip(b).filter(|(a, b)| a.is_finite() && b.is_finite());
    let (a, b): (Vec<f64>, Vec<f64>) = shared.map(|(a, b)| (*a, *b)).unzip();
    let n = a.len();
    if n == 0 {
        return None;
    }
    let ratio = median_in_place(&mut a.clone()) / median_in_place(&mut b.clone());
    if n < FEWEST_FOR_BOOTSTRAP {
        return Some(MedianRatio { ratio, interval: Interval::default() });
    }
    let mut random = generator(seed, stream);
    let (a, b) = (Ordered::new(&a), Ordered::new(&b));
    let mut times = vec![0u32; n];
    let mut ratios: Vec<f64> = (0..RESAMPLES)
        .map(|_| {
            times.fill(0);
            (0..n).for_each(|_| times[below(&mut random, n)] += 1);
            a.median(&times) / b.median(&times)
        })
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    let interval =
        Interval { low: Some(quantile(&ratios, 0.025)), high: Some(quantile(&ratios, 0.975)) };
    Some(MedianRatio { ratio, interval })
}

/// Values in order, each with its round: the median of a resample is found by walking, not sorting.
struct Ordered(Vec<(f64, usize)>);

impl Ordered {
    fn new(values: &[f64]) -> Ordered {
        let mut pairs: Vec<(f64, usize)> = values.iter().copied().zip(0..).collect();
        pairs.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        Ordered(pairs)
    }

    /// The median where round r was drawn `times[r]` times; as many draws as rounds.
    fn median(&self, times: &[u32]) -> f64 {
        let n = times.len();
        let (mut seen, mut lower) = (0, f64::NAN);
        for (value, round) in &self.0 {
            seen += times[*round] as usize;
            if lower.is_nan() && seen * 2 >= n {
                lower = *value;
            }
            if seen * 2 > n {
                return if n % 2 == 1 { *value } else { (lower + value) / 2.0 };
            }
        }
        lower
    }
}

/// A percentile (0 < share < 1) by nearest rank. `None` where the samples cannot support it: one
/// in a hundred needs 100 samples (p99), one in a thousand 1000 (p99.9).
pub fn percentile(values: &[f64], share: f64) -> Option<f64> {
    let tail = share.min(1.0 - share);
    let sorted = sorted(values);
    let n = sorted.len();
    // Counted with a little room: 1 − 0.99 is not exactly 0.01.
    if n == 0 || tail <= 0.0 || (n as f64) * tail < 1.0 - 1e-9 {
        return None;
    }
    let rank = (share * n as f64 - 1e-9).ceil().max(1.0) as usize;
    Some(sorted[rank.min(n) - 1])
}

/// The percentile within each round, summed up over rounds: its interval is over rounds, because
/// samples within one round are not independent. `None` where no round supports it.
pub fn percentile_over_rounds<R: AsRef<[f64]>>(rounds: &[R], share: f64) -> Option<Summary> {
    let each: Vec<f64> = rounds.iter().filter_map(|r| percentile(r.as_ref(), share)).collect();
    summary(&each)
}
