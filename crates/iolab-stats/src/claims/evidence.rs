//! The one-sided evidence that all claims rest on, and the counts of wins that reach a bar.
//!
//! Where an event has probability at most ½ given the past, each factor 2pˣ(1 − p)¹⁻ˣ with p ≥ ½
//! has mean at most 1, and so has their mixture over p in [½, 1]. With w events in n rounds
//!
//!
//!   E(n, w) = 2ⁿ·2∫_{½}^{1} pʷ(1 − p)ⁿ⁻ʷ dp = 2ⁿ⁺¹·B(w+1, n−w+1)·I_{½}(n−w+1, w+1)
//!
//! is a non-negative supermartingale from 1: it ever reaches c with probability at most 1/c.

use std::f64::consts::LN_2;

use statrs::function::factorial::ln_binomial;

/// A term this small beside the sum ends a series.
const NEGLIGIBLE: f64 = 1e-17;
/// Not looked up yet.
const UNKNOWN: u32 = u32::MAX;

/// ln E(n, w) for `w` wins among `n` rounds (w ≤ n). Never under −ln(n + 1), which it is for w = 0.
///
/// Counts being whole, I_{½}(n−w+1, w+1) = P(Bin(n+1, ½) ≤ w), hence
/// E = Σ_{j≤w} C(n+1, j) / [(n+1)·C(n, w)]: a short series of ratios on either side of the middle,
/// and nothing to underflow at n = 10⁶.
pub fn ln_evidence(n: u32, w: u32) -> f64 {
    let w = w.min(n);
    if 2 * u64::from(w) <= u64::from(n) {
        return few_wins(f64::from(n), f64::from(w));
    }
    // All of 2ⁿ⁺¹ less the upper tail.
    let whole = f64::from(n) * LN_2 + LN_2 - f64::from(n).ln_1p();
    let whole = whole - ln_binomial(u64::from(n), u64::from(w));
    let (n, w) = (f64::from(n), f64::from(w));
    let first = (-whole).exp() / (w + 1.0);
    whole + (-first * series(n - w, w + 2.0)).ln_1p()
}

/// The sum from w downwards over C(n+1, w), which is (n+1)·C(n, w)/(n+1−w).
fn few_wins(n: f64, w: f64) -> f64 {
    series(w, n + 2.0 - w).ln() - (n + 1.0 - w).ln()
}

/// 1 + a/b·(1 + (a−1)/(b+1)·(1 + …)), until a is used up.
fn series(mut a: f64, mut b: f64) -> f64 {
    let (mut sum, mut term) = (1.0, 1.0);
    while a > 0.0 && term > NEGLIGIBLE * sum {
        term *= a / b;
        sum += term;
        a -= 1.0;
        b += 1.0;
    }
    sum
}

/// The fewest wins among `n` rounds with ln E ≥ `ln_bar`; `None` where not even n wins reach it.
pub fn fewest_wins(n: u32, ln_bar: f64) -> Option<u32> {
    if ln_evidence(n, n) < ln_bar {
        return None;
    }
    // E grows with w, for p/(1 − p) ≥ 1 on all of [½, 1].
    let (mut low, mut high) = (0, n);
    while low < high {
        let middle = low + (high - low) / 2;
        if ln_evidence(n, middle) >= ln_bar { high = middle } else { low = middle + 1 }
    }
    Some(low)
}

/// The fewest rounds in which a unanimous outcome reaches the bar.
pub fn fewest_rounds(ln_bar: f64) -> u32 {
    (0..).find(|n| ln_evidence(*n, *n) >= ln_bar).unwrap_or(u32::MAX)
}

/// [`fewest_wins`] of one bar, each n looked up once.
#[derive(Clone, Debug)]
pub struct Bar {
    ln_bar: f64,
    /// By n; n + 1 where no count reaches the bar.
    known: Vec<u32>,
}

impl Bar {
    /// The bar that E must reach, as a plain number ≥ 1 (`2.0 * k / alpha`, say).
    pub fn new(bar: f64) -> Bar {
        Bar { ln_bar: bar.max(1.0).ln(), known: Vec::new() }
    }

    /// The fewest wins among `n` rounds that reach the bar.
    pub fn wins(&mut self, n: usize) -> Option<usize> {
        if n >= self.known.len() {
            self.known.resize(n + 1, UNKNOWN);
        }
        if self.known[n] == UNKNOWN {
            self.known[n] = fewest_wins(n as u32, self.ln_bar).unwrap_or(n as u32 + 1);
        }
        Some(self.known[n] as usize).filter(|wins| *wins <= n)
    }
}

#[cfg(test)]
mod tests {
    use super::{Bar, fewest_rounds, fewest_wins, ln_evidence};

    #[test]
    fn golden_values_of_the_protocol() {
        for (n, w, e) in [
            (5, 5, 10.5),
            (7, 7, 31.875),
            (8, 8, 56.7778),
            (10, 9, 18.5091),
            (12, 11, 52.4231),
            (16, 14, 64.1755),
            (20, 16, 20.5377),
            (30, 24, 116.615),
            (50, 35, 19.5712),
            (50, 40, 4298.23),
            (100, 70, 854.59),
        ] {
            let seen = ln_evidence(n, w).exp();
            assert!((seen / e - 1.0).abs() < 5e-6, "E({n}, {w}) = {seen}, not {e}");
        }
        assert_eq!(ln_evidence(0, 0), 0.0);
    }

    /// The formula of the page, by the regularised incomplete beta.
    #[test]
    fn the_series_is_the_incomplete_beta() {
        use statrs::function::beta::{beta_reg, ln_beta};
        for n in [1u32, 2, 9, 40, 150, 600] {
            for w in (0..=n).step_by(1 + n as usize / 40) {
                let (a, b) = (f64::from(w) + 1.0, f64::from(n - w) + 1.0);
                let share = beta_reg(b, a, 0.5);
                if share < 1e-250 {
                    continue;
                }
                let page = f64::from(n + 1) * std::f64::consts::LN_2 + ln_beta(a, b) + share.ln();
                assert!((ln_evidence(n, w) - page).abs() < 1e-8, "{n} {w}");
            }
        }
    }

    #[test]
    fn a_million_rounds_are_as_safe_as_ten() {
        let n = 1_000_000;
        let mut last = f64::NEG_INFINITY;
        for w in (0..=n).step_by(1009).chain([n / 2 - 1, n / 2, n / 2 + 1, n]) {
            assert!(ln_evidence(n, w).is_finite(), "{w}");
        }
        for w in (n / 2 - 3000..n / 2 + 3000).step_by(7) {
            let e = ln_evidence(n, w);
            assert!(e > last, "{w}: {e} after {last}");
            last = e;
        }
        assert!((ln_evidence(n, 0) + f64::from(n + 1).ln()).abs() < 1e-9);
        let wins = fewest_wins(n, 20f64.ln()).unwrap();
        assert!((501_500..502_500).contains(&wins), "{wins}");
    }

    #[test]
    fn under_a_fair_coin_the_mean_is_one() {
        for n in [1u32, 7, 30, 100] {
            let mean: f64 = (0..=n)
                .map(|w| {
                    let ln_p = statrs::function::factorial::ln_binomial(n.into(), w.into())
                        - f64::from(n) * std::f64::consts::LN_2;
                    (ln_p + ln_evidence(n, w)).exp()
                })
                .sum();
            assert!((mean - 1.0).abs() < 1e-9, "{n}: {mean}");
        }
    }

    #[test]
    fn wins_needed_grow_by_at_most_one_a_round() {
        let mut bar = Bar::new(440.0);
        assert_eq!(fewest_rounds(20f64.ln()), 7);
        assert_eq!(fewest_rounds(40f64.ln()), 8);
        assert_eq!(fewest_rounds(440f64.ln()), 12);
        assert_eq!((bar.wins(0), bar.wins(11), bar.wins(12)), (None, None, Some(12)));
        for n in 12..400 {
            let (now, next) = (bar.wins(n).unwrap(), bar.wins(n + 1).unwrap());
            assert!(next == now || next == now + 1, "{n}");
            assert!(ln_evidence(n as u32, now as u32) >= 440f64.ln());
            assert!(ln_evidence(n as u32, now as u32 - 1) < 440f64.ln());
        }
    }
}
