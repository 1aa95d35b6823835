//! Drift: a trend (Mann–Kendall, Theil–Sen) or a step (Pettitt) in a series of rounds.

use super::claims::lag_limit;
use super::random::{generator, shuffle};
use super::rank::{mid_ranks, normal_p};
use super::series::{Series, median_in_place};

/// Permutations of the test for a step.
const PERMUTATIONS: usize = 999;
/// A test flags under this p.
const LEVEL: f64 = 0.01;
/// A step must put this share of later values on one side of the earlier ones.
const SUPERIORITY: f64 = 0.8;
/// Longer series are merged to at most this many neighbours' medians first.
const LONGEST: usize = 512;
/// Shorter series say nothing of drift.
const SHORTEST: usize = 8;

/// Mann–Kendall's test of a monotone trend.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MannKendall {
    /// Rising pairs less falling pairs.
    pub s: f64,
    /// Variance of S without trend, corrected for ties.
    pub variance: f64,
    /// (|S| − 1)/√variance with the sign of S.
    pub z: f64,
    /// Two-sided.
    pub p: f64,
}

/// Mann–Kendall, tie-corrected. O(n log n). Values must be finite.
pub fn mann_kendall(x: &[f64]) -> MannKendall {
    let n = x.len();
    let (ranks, _) = mid_ranks(x);
    // Twice the mid-rank is a whole number that orders the values; a Fenwick tree counts them.
    let mut tree = vec![0i64; 2 * n + 2];
    let mut s = 0i64;
    for (seen, rank) in ranks.iter().enumerate() {
        let at = (2.0 * rank) as usize;
        let (below, up_to) = (prefix(&tree, at - 1), prefix(&tree, at));
        s += below - (seen as i64 - up_to);
        let mut node = at;
        while node < tree.len() {
            tree[node] += 1;
            node += node & node.wrapping_neg();
        }
    }
    let n = n as f64;
    let variance = (n * (n - 1.0) * (2.0 * n + 5.0) - tie_sum(x)) / 18.0;
    let s = s as f64;
    let z = if variance > 0.0 { (s.abs() - 1.0).max(0.0) / variance.sqrt() } else { 0.0 };
    MannKendall { s, variance, z: z.copysign(s), p: normal_p(z) }
}

fn prefix(tree: &[i64], mut node: usize) -> i64 {
    let mut sum = 0;
    while node > 0 {
        sum += tree[node];
        node -= node & node.wrapping_neg();
    }
    sum
}

/// Σ t(t − 1)(2t + 5) over groups of t equal values.
fn tie_sum(x: &[f64]) -> f64 {
    let mut sorted = x.to_vec();
    sorted.sort_unstable_by(f64::total_cmp);
    let term = |t: f64| t * (t - 1.0) * (2.0 * t + 5.0);
    sorted.chunk_by(|a, b| a == b).map(|group| term(group.len() as f64)).sum()
}

/// Theil–Sen: the median of the slopes of all pairs, per step. O(n²). 0 under two values.
pub fn theil_sen(x: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(x.len() * x.len().saturating_sub(1) / 2);
    for (i, first) in x.iter().enumerate() {
        slopes.extend(
            x[i + 1..].iter().zip(1..).map(|(later, gap)| (later - first) / f64::from(gap)),
        );
    }
    if slopes.is_empty() { 0.0 } else { median_in_place(&mut slopes) }
}

/// Where a series steps most, by Pettitt.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Step {
    /// max |U_t|, U_t = Σ_{i ≤ t < j} sgn(x_i − x_j).
    pub k: f64,
    /// The first value after the step.
    pub at: usize,
    /// Median after less median before.
    pub change: f64,
    /// The chance that a later value lies on that side of an earlier one (ties count half).
    pub superiority: f64,
}

/// Twice the mid-rank less its mean: their sum up to t is U_t.
fn centred_ranks(x: &[f64]) -> Vec<i64> {
    let n = x.len() as i64;
    mid_ranks(x).0.iter().map(|rank| (2.0 * rank) as i64 - n - 1).collect()
}

/// The greatest |partial sum| and how many terms it takes.
fn greatest_sum(terms: impl Iterator<Item = i64>) -> (i64, usize) {
    let (mut sum, mut greatest, mut at) = (0i64, 0i64, 0);
    for (i, term) in terms.enumerate() {
        sum += term;
        if sum.abs() > greatest {
            (greatest, at) = (sum.abs(), i + 1);
        }
    }
    (greatest, at)
}

/// Pettitt's statistic. `None` under two values or where nothing varies.
pub fn pettitt(x: &[f64]) -> Option<Step> {
    let (k, at) = greatest_sum(centred_ranks(x).into_iter());
    if k == 0 || at == 0 || at == x.len() {
        return None;
    }
    let (before, after) = (at as f64, (x.len() - at) as f64);
    let change = median_in_place(&mut x[at..].to_vec()) - median_in_place(&mut x[..at].to_vec());
    let k = k as f64;
    // |U_t| = n·m·|2·P − 1| for the two parts.
    Some(Step { k, at, change, superiority: (1.0 + k / (before * after)) / 2.0 })
}

/// p of Pettitt's statistic by 999 permutations.
pub fn pettitt_p(x: &[f64], seed: u64) -> f64 {
    let ranks = [centred_ranks(x)];
    let k = greatest_sum(ranks[0].iter().copied()).0 as f64;
    family_p(&ranks, k / spread(x.len()), seed, PERMUTATIONS + 1)
}

/// What K grows with: its square is about (n³ + n²)/6 at the limit of any p.
fn spread(n: usize) -> f64 {
    let n = n as f64;
    ((n * n * n + n * n) / 6.0).sqrt()
}

/// The chance that the greatest standardised K of the whole family reaches `observed` where rounds
/// are exchangeable. One permutation moves all series alike, so that what they share (the leader)
/// is taken into account (Westfall & Young 1993). Ends early after `enough` exceedances.
fn family_p(ranks: &[Vec<i64>], observed: f64, seed: u64, enough: usize) -> f64 {
    let longest = ranks.iter().map(Vec::len).max().unwrap_or(0);
    let mut order: Vec<usize> = (0..longest).collect();
    let mut random = generator(seed, 0x5045);
    let mut reached = 0;
    for done in 1..=PERMUTATIONS {
        shuffle(&mut random, &mut order);
        let reaches = ranks.iter().any(|ranks| {
            let terms = order.iter().filter_map(|i| ranks.get(*i).copied());
            greatest_sum(terms).0 as f64 >= observed * spread(ranks.len()) * (1.0 - 1e-12)
        });
        reached += usize::from(reaches);
        if reached >= enough {
            return (1 + reached) as f64 / (1 + done) as f64;
        }
    }
    (1 + reached) as f64 / (1 + PERMUTATIONS) as f64
}

/// A drift that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Drift {
    /// Which series.
    pub(crate) series: usize,
    /// Change over the run (trend) or at the step.
    pub(crate) amount: f64,
    /// The unit after which it stepped; absent for a trend.
    pub(crate) step: Option<usize>,
    /// Family-wise p.
    pub(crate) p: f64,
}

/// One series under test with what would matter in it.
pub(crate) struct Suspect {
    values: Vec<f64>,
    /// How many units of the caller one value stands for.
    size: usize,
    material: f64,
}

impl Suspect {
    pub(crate) fn new(values: &[f64], material: f64) -> Suspect {
        let size = values.len().div_ceil(LONGEST).max(1);
        let mut merged = Series::default();
        merged.merge_from(values, size, &mut Vec::new());
        Suspect { values: merged.values, size, material }
    }
}

/// How much the variance of a rank statistic grows with the autocorrelation that is left once the
/// found change is taken out: (1 + ρ)/(1 − ρ), from the size on that merges rounds. Without it
/// a wandering but stationary series would pass for a trend (Hamed & Rao 1998).
fn inflation(rest: Vec<f64>) -> f64 {
    match excess_lag1(rest) {
        Some(rho) => (1.0 + rho) / (1.0 - rho.min(0.99)),
        None => 1.0,
    }
}

/// The lag-1 correlation, where it is above the limit that merges rounds.
fn excess_lag1(values: Vec<f64>) -> Option<f64> {
    let n = values.len();
    let mut series = Series::new(values);
    series.sort();
    Some(series.lag1()).filter(|rho| *rho > lag_limit(n))
}

/// A series less its step.
fn without_step(x: &[f64], step: &Step) -> Vec<f64> {
    let level = |i: usize| if i < step.at { 0.0 } else { step.change };
    x.iter().enumerate().map(|(i, v)| v - level(i)).collect()
}

/// Whether neighbours are alike for no other reason than one step.
pub(crate) fn step_explains(x: &[f64]) -> bool {
    pettitt(x).is_some_and(|step| excess_lag1(without_step(x, &step)).is_none())
}

/// The most telling trend or step among a family of series, or none; false alarms of each of the
/// two tests are held to 1 % for the whole family.
pub(crate) fn find_drift(family: &[Suspect], seed: u64) -> Option<Drift> {
    find_trend(family).or_else(|| find_step(family, seed))
}

fn find_trend(family: &[Suspect]) -> Option<Drift> {
    let count = family.iter().filter(|s| s.values.len() >= SHORTEST).count() as f64;
    let trend = |(series, suspect): (usize, &Suspect)| {
        let x = &suspect.values;
        let test = mann_kendall(x);
        // Holm's first step; the smallest p decides whether anything is flagged.
        if x.len() < SHORTEST || test.p * count >= LEVEL {
            return None;
        }
        let slope = theil_sen(x);
        let amount = slope * x.len() as f64;
        let rest = x.iter().enumerate().map(|(i, v)| v - slope * i as f64).collect();
        let p = normal_p(test.z / inflation(rest).sqrt()) * count;
        (amount.abs() > suspect.material && p < LEVEL).then_some(Drift {
            series,
            amount,
            step: None,
            p,
        })
    };
    family.iter().enumerate().filter_map(trend).min_by(|a, b| a.p.total_cmp(&b.p))
}

fn find_step(family: &[Suspect], seed: u64) -> Option<Drift> {
    let candidate = |(series, suspect): (usize, &Suspect)| {
        let x = &suspect.values;
        let step = pettitt(x).filter(|_| x.len() >= SHORTEST)?;
        if step.change.abs() <= suspect.material || step.superiority < SUPERIORITY {
            return None;
        }
        let rest = without_step(x, &step);
        Some((series, step, step.k / spread(x.len()) / inflation(rest).sqrt()))
    };
    let (series, step, observed) =
        family.iter().enumerate().filter_map(candidate).max_by(|a, b| a.2.total_cmp(&b.2))?;
    let tested = family.iter().filter(|s| s.values.len() >= SHORTEST);
    let ranks: Vec<Vec<i64>> = tested.map(|s| centred_ranks(&s.values)).collect();
    let p = family_p(&ranks, observed, seed, (LEVEL * PERMUTATIONS as f64) as usize + 1);
    let at = step.at * family[series].size;
    (p < LEVEL).then_some(Drift { series, amount: step.change, step: Some(at), p })
}
