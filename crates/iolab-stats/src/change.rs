//! Where a series of runs changes its level for good: the best partition into constant levels,
//! then Pettitt's test of each step between the two levels that it parts.

use super::drift::{pettitt, pettitt_p};
use super::rank::spearman;
use super::series::median;

/// Where a series of runs changed.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Change {
    /// Index of the first run at the new level.
    pub at: usize,
    /// Median after less median before, of ln time: of the levels on both sides.
    pub amount: f64,
}

/// A level lasts for at least so many runs: one odd run is no level.
const SHORTEST: usize = 4;
/// The test calls a step under this p.
const LEVEL: f64 = 0.01;
/// This share of later values lies on one side of the earlier ones.
const SUPERIORITY: f64 = 0.8;
/// Longer series are looked at from here on only: the partition takes n².
const LONGEST: usize = 2000;

/// The changes of level in ln times of runs, oldest first. A step is called where Pettitt's test
/// of the two levels beside it gives p < 0.01 (neighbours that are alike taken into account), it
/// is larger than `delta` (a share), and four of five later values lie on one side of the earlier
/// ones. A dozen runs are the fewest that can be relied on to show one.
pub fn changes(x: &[f64], delta: f64, seed: u64) -> Vec<Change> {
    let offset = x.len().saturating_sub(LONGEST);
    let x = &x[offset..];
    let phi = likeness(x);
    let alike = (1.0 + phi) / (1.0 - phi);
    let mut cuts = partition(x, phi);
    // The least sure step goes first; what it parted is one level then, and looked at again.
    loop {
        let steps: Vec<(f64, Option<Change>)> =
            (0..cuts.len()).map(|at| step(x, &cuts, at, delta.ln_1p(), alike, seed)).collect();
        let weakest = steps.iter().enumerate().filter(|(_, (_, change))| change.is_none());
        match weakest.max_by(|a, b| a.1.0.total_cmp(&b.1.0)).map(|(at, _)| at) {
            Some(at) => drop(cuts.remove(at)),
            None => {
                let found = steps.into_iter().filter_map(|(_, change)| change);
                return found.map(|c| Change { at: c.at + offset, ..c }).collect();
            }
        }
    }
}

/// p of the step at a cut, and the step where it is one.
fn step(
    x: &[f64],
    cuts: &[usize],
    at: usize,
    material: f64,
    alike: f64,
    seed: u64,
) -> (f64, Option<Change>) {
    let cut = cuts[at];
    let start = if at == 0 { 0 } else { cuts[at - 1] };
    let end = cuts.get(at + 1).copied().unwrap_or(x.len());
    let window = &x[start..end];
    let Some(seen) = pettitt(window) else { return (1.0, None) };
    let n = window.len() as f64;
    // Pettitt's limit, for neighbours that are alike; exact permutations where they are not.
    let p = match alike > 1.0 {
        true => (2.0 * (-6.0 * seen.k * seen.k / alike / (n * n * n + n * n)).exp()).min(1.0),
        false => pettitt_p(window, seed),
    };
    let level = |part: &[f64]| median(part).unwrap_or(0.0);
    let amount = level(&x[cut..end]) - level(&x[start..cut]);
    let called = p < LEVEL && amount.abs() > material && seen.superiority >= SUPERIORITY;
    (p, called.then_some(Change { at: cut, amount }))
}

/// How alike neighbours are: φ of an autoregression of the first order, 0 where it may be none.
/// From the steps between neighbours, whose correlation is −(1 − φ)/2: a change of level is one step
/// of many there, while it would make all values look alike.
fn likeness(x: &[f64]) -> f64 {
    let steps: Vec<f64> = x.windows(2).map(|w| w[1] - w[0]).collect();
    if steps.len() < 2 * SHORTEST {
        return 0.0;
    }
    let correlation =
        spearman(&steps[1..], &steps[..steps.len() - 1]).map_or(-0.5, |t| t.statistic);
    let phi = (1.0 + 2.0 * correlation).min(0.9);
    if phi > 2.0 / (steps.len() as f64).sqrt() { phi } else { 0.0 }
}

/// Where the levels of the cheapest partition begin, but for the first: squares about the mean of
/// each level, and a price for each further level (Schwarz's, with the noise between neighbours).
fn partition(x: &[f64], phi: f64) -> Vec<usize> {
    let n = x.len();
    if n < 2 * SHORTEST {
        return Vec::new();
    }
    let steps: Vec<f64> = x.windows(2).map(|w| (w[1] - w[0]).abs()).collect();
    // MAD of differences of neighbours, as a standard deviation of one value.
    let sd = (median(&steps).unwrap_or(0.0) * 1.4826 / std::f64::consts::SQRT_2).max(1e-9);
    // Of values that are alike the steps are smaller than they, and their means vary more.
    let variance = sd * sd / (1.0 - phi) * (1.0 + phi) / (1.0 - phi);
    let price = 3.0 * variance * (n as f64).ln();
    let mut sums = vec![(0.0, 0.0); n + 1];
    for (at, value) in x.iter().enumerate() {
        sums[at + 1] = (sums[at].0 + value, sums[at].1 + value * value);
    }
    let squares = |from: usize, to: usize| {
        let (sum, square) = (sums[to].0 - sums[from].0, sums[to].1 - sums[from].1);
        (square - sum * sum / (to - from) as f64).max(0.0)
    };
    let mut best = vec![(f64::INFINITY, 0); n + 1];
    best[0] = (0.0, 0);
    for to in SHORTEST..=n {
        for from in (0..=to - SHORTEST).filter(|f| *f == 0 || *f >= SHORTEST) {
            let cost = best[from].0 + squares(from, to) + price;
            if cost < best[to].0 {
                best[to] = (cost, from);
            }
        }
    }
    let mut cuts = Vec::new();
    let mut at = best[n].1;
    while at > 0 {
        cuts.push(at);
        at = best[at].1;
    }
    cuts.reverse();
    cuts
}

#[cfg(test)]
mod tests {
    use super::super::random::generator;
    use super::changes;
    use rand_core::Rng;

    fn noise(n: usize, stream: u64) -> Vec<f64> {
        let mut random = generator(5, stream);
        let mut unit = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
        (0..n).map(|_| (0..12).map(|_| unit()).sum::<f64>() - 6.0).collect()
    }

    fn found(x: &[f64]) -> Vec<usize> {
        changes(x, 0.02, 1).iter().map(|c| c.at).collect()
    }

    #[test]
    fn steps_are_found_where_they_are() {
        let level = |i: usize| match i {
            0..14 => 0.0,
            14..30 => 0.1,
            _ => 0.0,
        };
        let x: Vec<f64> =
            noise(45, 0).iter().enumerate().map(|(i, e)| level(i) + 0.01 * e).collect();
        let changes = changes(&x, 0.02, 1);
        // A regression, and its repair.
        assert_eq!(changes.iter().map(|c| c.at).collect::<Vec<_>>(), [14, 30]);
        assert!((changes[0].amount - 0.1).abs() < 0.02, "{changes:?}");
        assert!((changes[1].amount + 0.1).abs() < 0.02, "{changes:?}");
        assert_eq!(found(&x[8..20]), [6]);
    }

    #[test]
    fn odd_runs_small_steps_and_short_series_show_none() {
        let mut x: Vec<f64> = noise(60, 1).iter().map(|e| 0.01 * e).collect();
        x[20] = 0.5;
        x[41] = -0.4;
        assert_eq!(found(&x), [0_usize; 0]);
        let small = noise(60, 2);
        let small =
            small.iter().enumerate().map(|(i, e)| 0.001 * e + if i < 30 { 0.0 } else { 0.01 });
        assert_eq!(found(&small.collect::<Vec<f64>>()), [0_usize; 0]);
        let short: Vec<f64> = (0..8).map(|i| if i < 4 { 0.0 } else { 1.0 }).collect();
        assert_eq!(found(&short), [0_usize; 0]);
        assert_eq!(found(&[]), [0_usize; 0]);
        assert_eq!(found(&[1.0; 50]), [0_usize; 0]);
    }

    #[test]
    fn noise_alone_is_rarely_called_a_change() {
        let alarms = |phi: f64| {
            let series = (0..200).map(|stream| {
                let mut last = 0.0;
                noise(50, 100 + stream)
                    .iter()
                    .map(|e| {
                        last = phi * last + 0.05 * e;
                        last
                    })
                    .collect::<Vec<f64>>()
            });
            series.filter(|x| !found(x).is_empty()).count()
        };
        assert!(alarms(0.0) <= 6, "{}", alarms(0.0));
        assert!(alarms(0.6) <= 16, "{}", alarms(0.6));
    }
}
