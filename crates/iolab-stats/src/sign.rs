//! The sign e-process and the ranks of the order-statistic intervals that follow from it.
//!
//! For n rounds of which w show d > s, E_n(s) = 2ⁿ / [(n + 1)·C(n, w)]. If each sign is a fair coin
//! given the past, E is a martingale, so by Ville's inequality the chance that it ever reaches 1/α
//! is at most α, whenever one looks (Ramdas et al. 2023; Howard & Ramdas 2022).

use std::f64::consts::LN_2;

use statrs::function::factorial::ln_binomial;

/// ln E_n for `w` wins among `n` rounds (w ≤ n): the two-sided evidence that a coin which fell on one
/// side `w` times is not fair. In logarithms, so that n = 10⁶ is as safe as 10.
pub fn ln_e_value(n: u32, w: u32) -> f64 {
    let (n, w) = (u64::from(n), u64::from(w.min(n)));
    n as f64 * LN_2 - ((n + 1) as f64).ln() - ln_binomial(n, w)
}

/// The rank l of the confidence sequence [d_(l), d_(n+1−l)]: how many c in 0..=n/2 have
/// E_n(c) ≥ M/α (`m_over_alpha`). 0: the data bound nothing yet.
pub fn lower_rank(n: u32, m_over_alpha: f64) -> u32 {
    let bar = m_over_alpha.ln();
    // E_n(c) falls as c grows towards n/2, so the c that pass are a prefix.
    count_prefix(n / 2 + 1, |c| ln_e_value(n, c) >= bar)
}

/// The rank of the exact fixed-n order-statistic interval: the greatest l with
/// 2·P(Bin(n, ½) ≤ l − 1) ≤ α. 0: n is too small for this α.
pub fn fixed_rank(n: u32, alpha: f64) -> u32 {
    let mut cumulative = 0.0;
    let mut rank = 0;
    for c in 0..=n / 2 {
        cumulative += (ln_binomial(u64::from(n), u64::from(c)) - f64::from(n) * LN_2).exp();
        if 2.0 * cumulative > alpha {
            break;
        }
        rank = c + 1;
    }
    // d_(l) must not pass the middle.
    rank.min(n.div_ceil(2))
}

fn count_prefix(len: u32, holds: impl Fn(u32) -> bool) -> u32 {
    let (mut low, mut high) = (0, len);
    while low < high {
        let middle = low + (high - low) / 2;
        if holds(middle) { low = middle + 1 } else { high = middle }
    }
    low
}

/// Ranks by n for one set of rules, each computed once.
#[derive(Clone, Debug)]
pub(crate) struct RankTable {
    alpha: f64,
    pairs: f64,
    known: Vec<Option<u32>>,
}

impl RankTable {
    pub(crate) fn new(alpha: f64, pairs: f64) -> RankTable {
        RankTable { alpha, pairs: pairs.max(1.0), known: Vec::new() }
    }

    pub(crate) fn rank(&mut self, n: usize) -> usize {
        if n >= self.known.len() {
            self.known.resize(n + 1, None);
        }
        if let Some(rank) = self.known[n] {
            return rank as usize;
        }
        let rank = lower_rank(n as u32, self.pairs / self.alpha);
        self.known[n] = Some(rank);
        rank as usize
    }
}

#[cfg(test)]
mod tests {
    use super::{fixed_rank, ln_e_value, lower_rank};

    const N: [u32; 6] = [20, 30, 40, 60, 100, 200];

    fn m(k: f64) -> f64 {
        k * (k - 1.0) / 2.0
    }

    #[test]
    fn ranks_are_those_of_the_table() {
        assert_eq!(N.map(|n| fixed_rank(n, 0.05)), [6, 10, 14, 22, 40, 86]);
        assert_eq!(N.map(|n| lower_rank(n, m(2.0) / 0.05)), [4, 7, 11, 19, 35, 77]);
        assert_eq!(N.map(|n| lower_rank(n, m(12.0) / 0.05)), [2, 4, 8, 14, 29, 70]);
    }

    #[test]
    fn fewest_rounds_are_those_of_the_protocol() {
        let fewest = |k: f64| (1..).find(|n| lower_rank(*n, m(k) / 0.05) > 0).unwrap();
        assert_eq!([2.0, 6.0, 12.0, 24.0].map(fewest), [8, 12, 15, 17]);
    }

    /// The chance that a fair walk has left the interval at 0 by round n, by dynamic programming
    /// over the walks that have not; `rank(n)` is the interval looked at after round n.
    fn error_by(last: u32, first: u32, rank: impl Fn(u32) -> u32) -> f64 {
        let mut alive = vec![1.0];
        for n in 1..=last {
            let mut next = vec![0.0; n as usize + 1];
            for (w, p) in alive.iter().enumerate() {
                next[w] += p / 2.0;
                next[w + 1] += p / 2.0;
            }
            if n >= first {
                let l = rank(n) as usize;
                for (w, p) in next.iter_mut().enumerate() {
                    // low > 0 iff fewer than l rounds are not above 0; the mirror for high.
                    if n as usize - w < l || w < l {
                        *p = 0.0;
                    }
                }
            }
            alive = next;
        }
        1.0 - alive.iter().sum::<f64>()
    }

    #[test]
    fn looking_every_round_errs_as_rarely_as_promised() {
        for (n, want) in [(50, 0.023), (100, 0.028), (400, 0.033)] {
            let error = error_by(n, 1, |n| lower_rank(n, 20.0));
            assert!((error - want).abs() < 0.0005, "n {n}: {error}");
        }
    }

    #[test]
    fn the_fixed_interval_would_err_while_peeking() {
        for (n, want) in [(50, 0.151), (100, 0.208), (200, 0.266)] {
            let error = error_by(n, 10, |n| fixed_rank(n, 0.05));
            assert!((error - want).abs() < 0.0005, "n {n}: {error}");
        }
    }

    #[test]
    fn e_values_are_exact_and_safe_for_a_million_rounds() {
        assert!((ln_e_value(8, 0).exp() - 256.0 / 9.0).abs() < 1e-9);
        for w in [2, 18] {
            assert!((ln_e_value(20, w).exp() - 1_048_576.0 / (21.0 * 190.0)).abs() < 1e-9);
        }
        assert!(ln_e_value(1_000_000, 500_000).is_finite());
        assert!(ln_e_value(1_000_000, 490_000) > 20f64.ln());
        let l = lower_rank(1_000_000, 20.0);
        assert!((495_000..500_000).contains(&l), "{l}");
        assert_eq!(ln_e_value(0, 0), 0.0);
        assert_eq!(lower_rank(0, 20.0), 0);
    }

    #[test]
    fn the_mean_of_e_is_one_under_a_fair_coin() {
        for n in [1u32, 7, 30] {
            let mean: f64 = (0..=n)
                .map(|w| {
                    let ln_p = statrs::function::factorial::ln_binomial(n.into(), w.into())
                        - f64::from(n) * std::f64::consts::LN_2;
                    (ln_p + ln_e_value(n, w)).exp()
                })
                .sum();
            assert!((mean - 1.0).abs() < 1e-9);
        }
    }
}
