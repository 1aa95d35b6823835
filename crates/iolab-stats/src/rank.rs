//! Rank tests: Spearman, Kruskal–Wallis, Mann–Whitney. All correct for ties.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;
use statrs::function::gamma::gamma_ur;

/// A statistic and its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// Spearman's ρ, Kruskal–Wallis' H, Mann–Whitney's U of the first sample.
    pub statistic: f64,
    /// The chance of one at least as extreme where nothing is there.
    pub p: f64,
}

/// Mid-ranks from 1, and Σ(t³ − t) over groups of t equal values. All values must be finite.
pub fn mid_ranks(values: &[f64]) -> (Vec<f64>, f64) {
    let mut order: Vec<usize> = (0..values.len()).collect();
    order.sort_unstable_by(|a, b| values[*a].total_cmp(&values[*b]));
    let mut ranks = vec![0.0; values.len()];
    let (mut ties, mut start) = (0.0, 0);
    for group in order.chunk_by(|a, b| values[*a] == values[*b]) {
        let end = start + group.len();
        for index in group {
            ranks[*index] = (start + end + 1) as f64 / 2.0;
        }
        let t = group.len() as f64;
        ties += t * t * t - t;
        start = end;
    }
    (ranks, ties)
}

/// Two-sided p of a standard normal.
pub(crate) fn normal_p(z: f64) -> f64 {
    erfc(z.abs() / std::f64::consts::SQRT_2).min(1.0)
}

/// Upper tail of χ² with `df` degrees of freedom.
fn chi_squared_p(x: f64, df: f64) -> f64 {
    if x <= 0.0 { 1.0 } else { gamma_ur(df / 2.0, x / 2.0) }
}

/// Pearson's correlation; 0 where one side does not vary.
fn pearson(x: &[f64], y: &[f64]) -> f64 {
    let n = x.len() as f64;
    let (mean_x, mean_y) = (x.iter().sum::<f64>() / n, y.iter().sum::<f64>() / n);
    let (mut cross, mut xx, mut yy) = (0.0, 0.0, 0.0);
    for (x, y) in x.iter().zip(y) {
        cross += (x - mean_x) * (y - mean_y);
        xx += (x - mean_x) * (x - mean_x);
        yy += (y - mean_y) * (y - mean_y);
    }
    if xx * yy > 0.0 { (cross / (xx * yy).sqrt()).clamp(-1.0, 1.0) } else { 0.0 }
}

/// Spearman's rank correlation, p by Student's t with n − 2 degrees of freedom. `None` under 3
/// values or unequal lengths.
pub fn spearman(x: &[f64], y: &[f64]) -> Option<Test> {
    let n = x.len();
    if n < 3 || n != y.len() {
        return None;
    }
    let rho = pearson(&mid_ranks(x).0, &mid_ranks(y).0);
    let df = (n - 2) as f64;
    // P(|T| ≥ t) = I_{df/(df+t²)}(df/2, 1/2), and df/(df + t²) = 1 − ρ².
    let rest = 1.0 - rho * rho;
    let p = if rest <= 0.0 { 0.0 } else { beta_reg(df / 2.0, 0.5, rest.min(1.0)) };
    Some(Test { statistic: rho, p })
}

/// Kruskal–Wallis over groups, p by χ². Empty groups are left out; `None` under two groups, or
/// where all values are equal.
pub fn kruskal_wallis(groups: &[Vec<f64>]) -> Option<Test> {
    let groups: Vec<&Vec<f64>> = groups.iter().filter(|g| !g.is_empty()).collect();
    let all: Vec<f64> = groups.iter().flat_map(|g| g.iter().copied()).collect();
    let n = all.len() as f64;
    let (ranks, ties) = mid_ranks(&all);
    let correction = 1.0 - ties / (n * n * n - n);
    if groups.len() < 2 || correction <= 0.0 || correction.is_nan() {
        return None;
    }
    let mut rest = ranks.as_slice();
    let mut sum = 0.0;
    for group in &groups {
        let (mine, others) = rest.split_at(group.len());
        sum += mine.iter().sum::<f64>().powi(2) / group.len() as f64;
        rest = others;
    }
    let h = (12.0 / (n * (n + 1.0)) * sum - 3.0 * (n + 1.0)) / correction;
    Some(Test { statistic: h, p: chi_squared_p(h, (groups.len() - 1) as f64) })
}

/// Mann–Whitney's U of the first sample, p by the normal approximation with continuity. U/(n·m) is
/// the probability of superiority of the first. `None` where a sample is empty.
pub fn mann_whitney(x: &[f64], y: &[f64]) -> Option<Test> {
    if x.is_empty() || y.is_empty() {
        return None;
    }
    let all: Vec<f64> = x.iter().chain(y).copied().collect();
    let (ranks, ties) = mid_ranks(&all);
    let (n, m) = (x.len() as f64, y.len() as f64);
    let total = n + m;
    let u = ranks[..x.len()].iter().sum::<f64>() - n * (n + 1.0) / 2.0;
    let variance = n * m / 12.0 * (total + 1.0 - ties / (total * (total - 1.0)));
    let distance = ((u - n * m / 2.0).abs() - 0.5).max(0.0);
    let p = if variance > 0.0 { normal_p(distance / variance.sqrt()) } else { 1.0 };
    Some(Test { statistic: u, p })
}
