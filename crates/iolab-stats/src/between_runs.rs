//! Runs of one cell made at different times. They share no rounds, so what a machine does between
//! runs does not cancel, and rounds within a run say little about it: two identical commands
//! measured back to back differ "significantly" in almost half of all pairs. The unit is the run
//! where there are several (Kalibera & Jones 2013); where there is one on each side, what is not
//! known is allowed for. So it is where each side was recorded in one go: runs that follow one another
//! are more alike than runs a quarter of an hour apart, and what changed between the two sides by
//! itself looks like what is asked for.

use std::collections::BTreeMap;

use statrs::function::beta::beta_reg;
use statrs::function::erf::erfc_inv;

use super::series::median;
use super::sign::lower_rank;
use iolab_model::result::Interval;

/// The least that a run of a quiet machine is taken to differ from the next one (standard
/// deviation of ln time), where no repeated runs say more.
const LEAST_BETWEEN: f64 = 0.01;
/// Degrees of freedom from which repeated runs speak for themselves.
const FEWEST_FREEDOM: usize = 2;
/// Stretches of a run whose medians show how far its level wanders.
const STRETCHES: usize = 8;
/// A stretch has no fewer rounds than this.
const STRETCH_ROUNDS: usize = 4;

/// One cell as one run saw it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Seen {
    /// ln(wall time per unit of work) by steady round; missing ones left out.
    pub y: Vec<f64>,
    /// |ln ratio| of the run's twin, where there is one: what the same cell measured twice gave.
    pub twin: Option<f64>,
    /// Runs of a side that were made in one go, with nothing of the other side in between, share a number.
    pub sitting: u32,
}

/// What an interval between runs rests on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Basis {
    /// Repeated runs: their own spread, Student's t.
    RepeatedRuns,
    /// Repeated runs, but each side in one go: their spread, and as much again between the two.
    OneSitting,
    /// Too few runs to show a spread: rounds within them, and an allowance.
    SinglePair,
}

/// Two sides of one cell.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Between {
    /// ln(time of the second side / time of the first).
    pub ln_ratio: f64,
    /// Its interval; unbounded where there are too few rounds.
    pub interval: Interval,
    /// Standard deviation of ln time between runs: seen, or allowed for.
    pub between_sd: f64,
    /// What it rests on.
    pub basis: Basis,
}

/// Compares the second side with the first; `None` where one of them has no round. The interval
/// holds with an error of at most `alpha` (under normal run effects for repeated runs, under the
/// allowance for single ones); divide by the number of cells for a guarantee over all of them.
pub fn between(first: &[Seen], second: &[Seen], alpha: f64) -> Option<Between> {
    let (a, b) = (Side::of(first, alpha)?, Side::of(second, alpha)?);
    let ln_ratio = mean(&b.levels) - mean(&a.levels);
    let by_sitting = Spread::of(&a.sittings, &b.sittings);
    let by_run = Spread::of(&a.levels, &b.levels);
    // Runs that agree by luck are no closer than their rounds allow.
    let within = (a.within() + b.within()) / 2.0;
    let by_spread = |spread: &Spread, basis: Basis| {
        let variance = spread.variance.max(within);
        let apart = match basis {
            Basis::OneSitting => variance.max(LEAST_BETWEEN * LEAST_BETWEEN) * by_sitting.share,
            Basis::RepeatedRuns | Basis::SinglePair => 0.0,
        };
        let error = (variance * spread.share + apart).sqrt();
        let half = student_t(alpha, spread.freedom as f64) * error;
        let interval = Interval { low: Some(ln_ratio - half), high: Some(ln_ratio + half) };
        Some(Between { ln_ratio, interval, between_sd: variance.sqrt(), basis })
    };
    if by_sitting.freedom >= FEWEST_FREEDOM {
        return by_spread(&by_sitting, Basis::RepeatedRuns);
    }
    if by_run.freedom >= FEWEST_FREEDOM {
        return by_spread(&by_run, Basis::OneSitting);
    }
    let sd = [LEAST_BETWEEN, by_run.variance.sqrt(), a.wander, b.wander, a.twin, b.twin];
    let sd = sd.into_iter().fold(0.0, f64::max);
    // Half of the error to the allowance, a quarter to the rounds of each side.
    let half = normal_z(alpha / 2.0) * sd * by_run.share.sqrt();
    let interval = Interval {
        low: b.low().zip(a.high()).map(|(b, a)| b - a - half),
        high: b.high().zip(a.low()).map(|(b, a)| b - a + half),
    };
    Some(Between { ln_ratio, interval, between_sd: sd, basis: Basis::SinglePair })
}

/// How far the levels of both sides lie from the mean of their own side.
struct Spread {
    /// Variance of one level.
    variance: f64,
    freedom: usize,
    /// Variance of the difference of both means, in variances of one level.
    share: f64,
}

impl Spread {
    fn of(a: &[f64], b: &[f64]) -> Spread {
        let squares = |levels: &[f64]| -> f64 {
            let level = mean(levels);
            levels.iter().map(|l| (l - level) * (l - level)).sum()
        };
        let freedom = a.len() + b.len() - 2;
        let variance = (squares(a) + squares(b)) / freedom.max(1) as f64;
        Spread { variance, freedom, share: 1.0 / a.len() as f64 + 1.0 / b.len() as f64 }
    }
}

/// More runs a side than these are no advice.
const MOST_RUNS: usize = 50;
/// The chance that so many runs as are forecast do not do.
const FALLS_SHORT: f64 = 0.15;

/// Runs on each side from which on, were nothing changed, it would be shown of all `cells` that none is
/// slower by more than `limit` (a share), each with an error of at most `alpha`, in four cases of five or more;
/// where levels of runs have this standard deviation. `None` where fifty runs would not do.
pub fn runs_to_rule_out(between_sd: f64, cells: usize, limit: f64, alpha: f64) -> Option<usize> {
    let luck = normal_z(2.0 * FALLS_SHORT / cells.max(1) as f64);
    let does = |runs: &usize| {
        let error = between_sd * (2.0 / *runs as f64).sqrt();
        let bound = student_t(2.0 * alpha, (2 * runs - 2) as f64);
        error * (bound + luck) <= limit.ln_1p()
    };
    (2..=MOST_RUNS).find(does)
}

/// One side, run by run.
#[derive(Default)]
struct Side {
    levels: Vec<f64>,
    /// Means of the levels of each sitting.
    sittings: Vec<f64>,
    lows: Vec<Option<f64>>,
    highs: Vec<Option<f64>>,
    /// Standard deviation of the medians of stretches, the greatest of any run.
    wander: f64,
    twin: f64,
}

impl Side {
    fn of(runs: &[Seen], alpha: f64) -> Option<Side> {
        let mut side = Side::default();
        let mut sittings: BTreeMap<u32, Vec<f64>> = BTreeMap::new();
        for run in runs {
            let mut sorted: Vec<f64> = run.y.iter().copied().filter(|y| y.is_finite()).collect();
            let Some(level) = median(&sorted) else { continue };
            side.wander = side.wander.max(wander(&sorted));
            sorted.sort_unstable_by(f64::total_cmp);
            // The sequence's rank: a run may have stopped because of what it saw.
            let rank = lower_rank(sorted.len() as u32, 4.0 / alpha) as usize;
            let bound = |at: usize| (rank > 0).then(|| sorted[at]);
            side.levels.push(level);
            sittings.entry(run.sitting).or_default().push(level);
            side.lows.push(bound(rank.saturating_sub(1)));
            side.highs.push(bound(sorted.len() - rank.max(1)));
            side.twin = side.twin.max(run.twin.filter(|t| t.is_finite()).unwrap_or(0.0).abs());
        }
        side.sittings = sittings.values().map(|levels| mean(levels)).collect();
        (!side.levels.is_empty()).then_some(side)
    }

    /// Variance of one run's median by its own rounds, from the width of its interval.
    fn within(&self) -> f64 {
        let widths = self.lows.iter().zip(&self.highs).filter_map(|(l, h)| Some((*h)? - (*l)?));
        let halves: Vec<f64> = widths.map(|w| w / 2.0 / 3.0).collect();
        halves.iter().map(|h| h * h).sum::<f64>() / halves.len().max(1) as f64
    }

    fn low(&self) -> Option<f64> {
        mean_of_known(&self.lows)
    }

    fn high(&self) -> Option<f64> {
        mean_of_known(&self.highs)
    }
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean; unknown where one is.
fn mean_of_known(values: &[Option<f64>]) -> Option<f64> {
    let known: Option<Vec<f64>> = values.iter().copied().collect();
    known.filter(|known| !known.is_empty()).map(|known| mean(&known))
}

/// How far the level of a run wanders: the standard deviation of the medians of its stretches.
fn wander(y: &[f64]) -> f64 {
    let length = y.len().div_ceil(STRETCHES).max(STRETCH_ROUNDS);
    let medians: Vec<f64> =
        y.chunks(length).filter(|c| c.len() >= STRETCH_ROUNDS).filter_map(median).collect();
    if medians.len() < 3 {
        return 0.0;
    }
    let mean = mean(&medians);
    let squares: f64 = medians.iter().map(|m| (m - mean) * (m - mean)).sum();
    (squares / (medians.len() - 1) as f64).sqrt()
}

/// The value that a standard normal passes on either side with this chance.
fn normal_z(alpha: f64) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(alpha.clamp(1e-12, 1.0))
}

/// The value that Student's t passes on either side with this chance, by bisection of
/// P(|T| > t) = I_x(ν/2, 1/2) with x = ν/(ν + t²).
fn student_t(alpha: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0_f64, 1.0_f64);
    for _ in 0..200 {
        let middle = (low + high) / 2.0;
        match beta_reg(freedom / 2.0, 0.5, middle) > alpha {
            true => high = middle,
            false => low = middle,
        }
    }
    (freedom * (1.0 / high - 1.0)).sqrt()
}

#[cfg(test)]
#[path = "between_runs_tests.rs"]
mod tests;
