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
}

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
    Parts { machine, residuals }
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
        let scale = scale(&away);
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
