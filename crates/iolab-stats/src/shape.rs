//! The shape of a cell's samples: too few values for a clock that resolves them, or two clusters.

/// Fewer samples than this have no shape.
const FEWEST: usize = 10;
/// A cell is quantised where distinct values are under this share of its samples.
const DISTINCT_SHARE: f64 = 0.5;
/// Distance of two clusters in standard deviations within them. The best split of a normal sample
/// lies at 2.7, of a uniform one at 3.5.
const SEPARATION: f64 = 5.0;
/// Clusters nearer than this ratio are nobody's concern.
const RATIO: f64 = 1.1;

/// Whether times repeat a few values only.
pub fn quantised(y: &[f64]) -> bool {
    let sorted = sorted(y);
    if sorted.len() < FEWEST {
        return false;
    }
    let distinct = sorted.chunk_by(|a, b| (b - a).abs() < 1e-12).count();
    (distinct as f64) < DISTINCT_SHARE * sorted.len() as f64
}

/// Two clusters of samples.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TwoStates {
    /// Time in the slow state / time in the fast one.
    pub ratio: f64,
    /// Share of samples in the slow state.
    pub slow_share: f64,
}

/// Whether logarithms of time fall into two clusters: the split with the least variance within, with
/// at least 3 samples and a tenth on each side.
pub fn two_states(y: &[f64]) -> Option<TwoStates> {
    let sorted = sorted(y);
    let n = sorted.len();
    let least = n.div_ceil(10).max(3);
    if n < FEWEST {
        return None;
    }
    let sums = |values: &[f64]| {
        let mean = values.iter().sum::<f64>() / values.len() as f64;
        (mean, values.iter().map(|v| (v - mean) * (v - mean)).sum::<f64>())
    };
    let split = |at: usize| {
        let (fast, slow) = (sums(&sorted[..at]), sums(&sorted[at..]));
        (at, slow.0 - fast.0, fast.1 + slow.1)
    };
    let best = (least..=n - least).map(split).min_by(|a, b| a.2.total_cmp(&b.2));
    let (at, distance, within) = best?;
    let sd = (within / (n - 2) as f64).sqrt();
    let clusters = distance > RATIO.ln() && distance > SEPARATION * sd;
    clusters.then(|| TwoStates { ratio: distance.exp(), slow_share: (n - at) as f64 / n as f64 })
}

fn sorted(y: &[f64]) -> Vec<f64> {
    let mut sorted: Vec<f64> = y.iter().copied().filter(|y| y.is_finite()).collect();
    sorted.sort_unstable_by(f64::total_cmp);
    sorted
}

#[cfg(test)]
mod tests {
    use super::{quantised, two_states};
    use crate::compare::tests::noise;

    #[test]
    fn a_coarse_clock_shows_and_a_fine_one_does_not() {
        let coarse: Vec<f64> = (0..50).map(|r| (100.0 + noise(1, r)).round().ln()).collect();
        let fine: Vec<f64> = (0..50).map(|r| (1e6 + 1e4 * noise(1, r)).round().ln()).collect();
        assert!(quantised(&coarse));
        assert!(!quantised(&fine));
        assert!(!quantised(&[1.0; 5]));
    }

    #[test]
    fn two_clusters_show_and_one_does_not() {
        let mixed: Vec<f64> =
            (0..40).map(|r| 0.05 * noise(1, r) + if r % 4 == 0 { 1.0 } else { 0.0 }).collect();
        let found = two_states(&mixed).unwrap();
        assert!((found.slow_share - 0.25).abs() < 1e-9);
        assert!((found.ratio / 1f64.exp() - 1.0).abs() < 0.05);
        let one = |seed: u64| -> Vec<f64> {
            // A sum of four uniform values: near enough to a normal one.
            (0..30).map(|r| (0..4).map(|i| noise(seed * 4 + i, r)).sum()).collect()
        };
        let false_alarms = (0..400).filter(|seed| two_states(&one(*seed)).is_some()).count();
        assert!(false_alarms <= 8, "{false_alarms}");
        assert_eq!(two_states(&[0.0; 30]), None);
    }
}
