//! Ranks and Spearman's correlation of them, correct for ties.

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc;

/// A statistic and its two-sided p-value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Test {
    /// Spearman's ρ.
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
