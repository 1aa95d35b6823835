//! Bounds of a mean of values from 0 to 1, whose distribution nobody knows: a gambler bets on each
//! value that the mean is less than m. Where it is not, no bet gains in the mean, so that his capital
//! ever grows twentyfold with probability at most 1/20 (Waudby-Smith & Ramdas 2024).

use super::Sides;

/// Shares of the greatest bet that cannot ruin him, each with a part of his capital: small ones gain
/// by many values that lie a little under m, large ones by few that lie far under it.
const BETS: [f64; 2] = [0.25, 0.9];
/// Halvings of the interval in which a bound lies.
const STEPS: usize = 30;

/// Both bounds of the mean of values in [0, 1], each with the whole of `alpha`, at every moment. What
/// lies outside is cut off.
pub fn mean_bounds(values: &[f64], alpha: f64) -> Sides {
    let cut: Vec<f64> = values.iter().map(|x| x.clamp(0.0, 1.0)).collect();
    let turned: Vec<f64> = cut.iter().map(|x| 1.0 - x).collect();
    Sides { low: 1.0 - at_most(&turned, alpha), high: at_most(&cut, alpha) }
}

/// The least m with enough capital; 1 where none has.
fn at_most(values: &[f64], alpha: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..STEPS {
        let middle = (low + high) / 2.0;
        // It grows with m.
        match capital(values, middle) >= 1.0 / alpha {
            true => high = middle,
            false => low = middle,
        }
    }
    high
}

/// What has become of 1, bet on a mean less than m.
fn capital(values: &[f64], m: f64) -> f64 {
    let grown = |bet: &f64| {
        let factors = values.iter().map(|x| (bet * (m - x) / (1.0 - m)).ln_1p());
        factors.sum::<f64>().exp()
    };
    BETS.iter().map(grown).sum::<f64>() / BETS.len() as f64
}

#[cfg(test)]
mod tests {
    use super::mean_bounds;
    use crate::compare::tests::noise;

    #[test]
    fn nothing_is_known_of_nothing_and_more_of_more() {
        let of = |n: usize| mean_bounds(&vec![0.0; n], 0.05);
        assert_eq!((of(0).low, of(0).high > 0.999), (0.0, true));
        assert!(of(10).high > 0.2 && of(90).high < 0.05, "{:?} {:?}", of(10), of(90));
        let half = mean_bounds(&[0.4, 0.6].repeat(60), 0.05);
        assert!(half.low > 0.35 && half.low < 0.5 && half.high > 0.5 && half.high < 0.65);
    }

    /// Ticks: a trial as long as one is all user time or none. Whoever looks after each trial says
    /// of a mean of exactly m in at most 5 % of runs that it is less.
    #[test]
    fn a_mean_of_exactly_the_bound_is_rarely_called_less() {
        let run = |run: u64| -> Vec<f64> {
            let tick = |at| if noise(run, at) < 0.2 - 1.0 { 1.0 } else { 0.0 };
            (0..150).map(tick).collect()
        };
        let wrong = |runs: &u64| {
            let values = run(*runs);
            (10..=150).step_by(5).any(|n| mean_bounds(&values[..n], 0.05).high < 0.1)
        };
        let wrong = (0..300).filter(wrong).count();
        assert!(wrong <= 26, "{wrong} of 300");
    }
}
