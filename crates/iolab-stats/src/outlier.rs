//! Residuals, the machine's own series, and outliers. Outliers are flagged, never deleted.

use super::Observations;
use super::series::{median, median_in_place};

/// |0.6745 (e − med)/MAD| above this is an outlier (Iglewicz & Hoaglin 1993).
const LIMIT: f64 = 3.5;
/// MAD of a normal distribution with SD 1.
const MAD_OF_NORMAL: f64 = 0.6745;
/// Mean absolute deviation → SD, used where more than half the residuals are equal (MAD = 0).
const MEAN_TO_SD: f64 = 1.253_314;

/// y taken apart: y = median of the cell + b of the round + residual.
#[derive(Clone, Debug, Default)]
pub(crate) struct Parts {
    /// b_r: what all cells of a round share. NaN where a round has no trial.
    pub(crate) machine: Vec<f64>,
    /// e, by cell and round; NaN where missing.
    pub(crate) residuals: Vec<Vec<f64>>,
    /// By cell: MAD of its deviations from the median of the *others*, as if e had it.
    spread: Vec<f64>,
}

/// With more cells than this the median of a round is hardly moved by one of them.
const MANY: usize = 64;

/// Takes observations apart.
pub(crate) fn parts(seen: &Observations) -> Parts {
    let centred: Vec<Vec<f64>> = seen.y.iter().map(|y| less(y, median(y))).collect();
    let mut column = Vec::with_capacity(centred.len());
    let machine: Vec<f64> = (0..seen.rounds())
        .map(|round| {
            column.clear();
            let trials = centred.iter().filter_map(|y| y.get(round));
            column.extend(trials.copied().filter(|y| y.is_finite()));
            median_in_place(&mut column)
        })
        .collect();
    let residual = |y: &Vec<f64>| y.iter().zip(&machine).map(|(y, b)| y - b).collect();
    let residuals = centred.iter().map(residual).collect();
    let spread = if centred.len() <= MANY { spreads(&centred, machine.len()) } else { Vec::new() };
    Parts { machine, residuals, spread }
}

/// MAD by cell of what lies between it and the median of the other cells. The residual itself will not
/// do for a scale: of three cells one is the median of each round, so that a third of all residuals
/// is exactly 0, their MAD is far too small, and 13 % of normal trials would be outliers.
fn spreads(centred: &[Vec<f64>], rounds: usize) -> Vec<f64> {
    let mut away: Vec<Vec<f64>> = vec![Vec::with_capacity(rounds); centred.len()];
    let mut column: Vec<(f64, usize)> = Vec::with_capacity(centred.len());
    for round in 0..rounds {
        column.clear();
        let trials = centred.iter().zip(0..).filter_map(|(y, cell)| Some((*y.get(round)?, cell)));
        column.extend(trials.filter(|(y, _)| y.is_finite()));
        column.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
        let others = column.len().saturating_sub(1);
        if others == 0 {
            continue;
        }
        for (place, (y, cell)) in column.iter().enumerate() {
            let other = |rank: usize| column[rank + usize::from(place <= rank)].0;
            let middle = (other((others - 1) / 2) + other(others / 2)) / 2.0;
            away[*cell].push(y - middle);
        }
    }
    // The median of few cells has noise of its own; of two, it is half the difference.
    let k = centred.len() as f64;
    let share = if centred.len() == 2 { 0.5 } else { (1.0 - 1.0 / k).sqrt() };
    away.iter().map(|away| share * mad(away)).collect()
}

/// Median absolute deviation from the median; 0 where there is nothing.
fn mad(values: &[f64]) -> f64 {
    let Some(centre) = median(values) else { return 0.0 };
    median(&values.iter().map(|v| (v - centre).abs()).collect::<Vec<f64>>()).unwrap_or(0.0)
}

fn less(values: &[f64], centre: Option<f64>) -> Vec<f64> {
    values.iter().map(|v| v - centre.unwrap_or(0.0)).collect()
}

/// (cell, round) of every outlier. The scale is each cell's own: cells differ in noise.
pub(crate) fn outliers(parts: &Parts) -> Vec<(usize, usize)> {
    let mut found = Vec::new();
    for (cell, residuals) in parts.residuals.iter().enumerate() {
        let Some(centre) = median(residuals) else { continue };
        let away: Vec<f64> = residuals.iter().map(|e| (e - centre).abs()).collect();
        let others = parts.spread.get(cell).copied().unwrap_or(0.0);
        let scale = scale(&away).max(others / MAD_OF_NORMAL);
        // Differences that are rounding and no more.
        if scale < 1e-12 {
            continue;
        }
        let far = away.iter().enumerate().filter(|(_, away)| **away > LIMIT * scale);
        found.extend(far.map(|(round, _)| (cell, round)));
    }
    found
}

/// The robust SD of absolute deviations.
fn scale(away: &[f64]) -> f64 {
    let mad = median(away).unwrap_or(0.0) / MAD_OF_NORMAL;
    if mad > 1e-12 {
        return mad;
    }
    let finite = away.iter().filter(|v| v.is_finite());
    let (sum, n) = finite.fold((0.0, 0u32), |(sum, n), v| (sum + v, n + 1));
    MEAN_TO_SD * sum / f64::from(n.max(1))
}

/// The observations without some trials.
pub(crate) fn without(seen: &Observations, trials: &[(usize, usize)]) -> Observations {
    let mut rest = seen.clone();
    for (cell, round) in trials {
        rest.y[*cell][*round] = f64::NAN;
    }
    rest
}

#[cfg(test)]
mod tests {
    use super::{outliers, parts, without};
    use crate::bias::tests::Normal;
    use crate::compare::tests::seen;

    /// Normal noise around a wandering machine, with one spike.
    fn normal(k: usize, seed: u64) -> Vec<Vec<f64>> {
        let mut normal = Normal::new(seed);
        let machine: Vec<f64> = (0..40).map(|_| 0.2 * normal.draw()).collect();
        let cell =
            |cell: usize| machine.iter().map(|b| cell as f64 + b + 0.02 * normal.draw()).collect();
        (0..k).map(cell).collect()
    }

    #[test]
    fn normal_trials_are_hardly_ever_outliers_however_many_cells() {
        for k in [2, 3, 4, 5, 12, 80] {
            let runs = 3200 / k as u64;
            let flagged: usize =
                (0..runs).map(|s| outliers(&parts(&seen(normal(k, s)))).len()).sum();
            let share = flagged as f64 / (runs * 40 * k as u64) as f64;
            assert!(share < 0.01, "k {k}: {share}");
        }
    }

    #[test]
    fn a_spike_is_found_where_it_is() {
        for k in [3, 4, 12, 80] {
            let mut y = normal(k, 7);
            y[1][20] += 0.5;
            let found = outliers(&parts(&seen(y.clone())));
            assert!(found.contains(&(1, 20)), "k {k}: {found:?}");
            let rest = without(&seen(y), &found);
            assert!(rest.y[1][20].is_nan());
        }
        // Of two cells nobody can say which one it was.
        let mut y = normal(2, 7);
        y[1][20] += 0.5;
        assert!(outliers(&parts(&seen(y))).ends_with(&[(1, 20)]));
    }

    /// One bad trial moved the median of its round, and every cell of that round was flagged.
    #[test]
    fn a_spike_does_not_make_its_neighbours_outliers() {
        let rounds = [9, 22, 31];
        for k in [3, 4, 5, 8] {
            let (mut spikes, mut beside) = (0, 0);
            for seed in 0..200 {
                let mut y = normal(k, seed);
                for round in rounds {
                    y[round % k][round] += 1.0;
                }
                let found = outliers(&parts(&seen(y)));
                for (cell, round) in found.iter().filter(|(_, round)| rounds.contains(round)) {
                    *(if *cell == round % k { &mut spikes } else { &mut beside }) += 1;
                }
            }
            assert_eq!(spikes, 600, "k {k}");
            assert!(beside * 50 <= 600 * (k - 1), "k {k}: {beside} of {}", 600 * (k - 1));
        }
    }

    #[test]
    fn rounding_is_no_outlier_and_few_values_are_weighed_by_their_mean_deviation() {
        assert!(outliers(&parts(&seen(vec![vec![0.1 + 0.2; 30], vec![0.3; 30]]))).is_empty());
        let mut y = vec![vec![0.0; 30], vec![0.0; 30], vec![0.0; 30]];
        y[0][3] = 1.0;
        assert_eq!(outliers(&parts(&seen(y))), [(0, 3)]);
    }
}
