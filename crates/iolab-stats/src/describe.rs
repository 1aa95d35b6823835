//! Descriptive figures, for comparison with published tables. "Fixed-n, not stop-adjusted".

use super::sign::fixed_rank;
use iolab_model::result::{Interval, Summary};

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

/// [`summary_at`] 95 %, from n = 6 on: of what has no error of its own.
pub fn summary(values: &[f64]) -> Option<Summary> {
    summary_at(values, 0.05)
}

/// Figures of one quantity; values that are not finite are left out. The interval of the median is
/// the exact order-statistic one with an error of at most `alpha`. `None` where there is no value.
pub fn summary_at(values: &[f64], alpha: f64) -> Option<Summary> {
    let sorted = sorted(values);
    let n = sorted.len();
    let (min, max) = (*sorted.first()?, *sorted.last()?);
    let mean = sorted.iter().sum::<f64>() / n as f64;
    let squares: f64 = sorted.iter().map(|v| (v - mean) * (v - mean)).sum();
    let bounds = order_interval(&sorted, alpha);
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
