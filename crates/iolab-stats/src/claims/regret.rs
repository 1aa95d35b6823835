//! How much it costs: [L_i, U_i] covers the regret of every cell at once, at
//! every moment, with probability at least 1 − α.
//!
//! ρ_i = max_j median(d_ij), against the best cell b, so U fails only in one of the k − 1 pairs
//! (i, b), each with α/(2(k−1)); L fails only where P(d > ρ_i) ≤ ½ is refuted, k times α/(2k).
//!
//! Which j enter the maximum of U_i: every compared cell, but those whose own lower bound was ever
//! above 0 (`settled`). That b is among these is one of the events that the α/2 of the lower bounds
//! has paid for already, so it costs nothing, and a cell may leave the rounds without leaving the
//! others' bounds endless. Exclusion alone is no ground to leave the maximum: it has its own α.

use super::evidence::Bar;
use super::series::merge;

/// What bounds are made from.
pub(crate) struct Seen<'a> {
    /// y by cell and steady round: NaN absent, +∞ lost.
    pub(crate) y: &'a [Vec<f64>],
    /// Ends (exclusive, in steady rounds) of the complete units; empty where each round is one.
    pub(crate) ends: Option<&'a [usize]>,
    /// By cell: neighbouring units merged into one; cells beyond its end have 1.
    pub(crate) merged: &'a [usize],
    /// What the cell before can do to a difference of logarithms.
    pub(crate) carry_over: f64,
    pub(crate) alpha: f64,
}

/// How much a cell may cost.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Upper {
    /// ln regret at most; +∞ where there are too few shared rounds.
    pub(crate) high: f64,
    /// The cell that made it so.
    pub(crate) rival: Option<usize>,
}

/// Computes bounds; keeps its buffers and its tables of ranks.
pub(crate) struct Bounds<'a> {
    seen: Seen<'a>,
    low_bar: Bar,
    high_bar: Bar,
    d: Vec<f64>,
    unit: Vec<f64>,
}

impl<'a> Bounds<'a> {
    pub(crate) fn new(seen: Seen<'a>) -> Bounds<'a> {
        let k = seen.y.len() as f64;
        let low_bar = Bar::new(2.0 * k / seen.alpha);
        let high_bar = Bar::new(2.0 * (k - 1.0).max(1.0) / seen.alpha);
        Bounds { seen, low_bar, high_bar, d: Vec::new(), unit: Vec::new() }
    }

    fn merged(&self, cell: usize) -> usize {
        self.seen.merged.get(cell).copied().unwrap_or(1).max(1)
    }

    /// The largest s ≥ 0 with E for "d > s" at the bar, on single units: just under the wins-th
    /// largest d. 0 where nothing is shown.
    fn raw_low(&mut self, d: &[f64]) -> f64 {
        self.d.clear();
        self.d.extend_from_slice(d);
        self.low_of_buffer()
    }

    /// L_i: on merged units too where neighbours are alike, and 0 where carry-over could be all.
    pub(crate) fn low(&mut self, cell: usize, d: &[f64]) -> f64 {
        let mut low = self.raw_low(d);
        let size = self.merged(cell);
        if size > 1 {
            self.d.clear();
            self.d.extend_from_slice(d);
            let wave = wave(&self.d);
            merge(&mut self.d, size);
            low = low.min(match self.low_bar.wins(self.d.len()) {
                Some(_) => self.low_of_buffer(),
                None => wave.0.max(0.0),
            });
        }
        if low <= self.seen.carry_over { 0.0 } else { low }
    }

    fn low_of_buffer(&mut self) -> f64 {
        let n = self.d.len();
        let Some(wins) = self.low_bar.wins(n) else { return 0.0 };
        nth(&mut self.d, n - wins).max(0.0)
    }

    /// U_i over these rivals. Those that are likely to be the best come first by preference: once
    /// the maximum is found, the rest is counting.
    pub(crate) fn high(&mut self, cell: usize, rivals: &[usize]) -> Upper {
        let mut upper = Upper { high: 0.0, rival: None };
        for rival in rivals.iter().copied().filter(|rival| *rival != cell) {
            let high = self.pair_high(cell, rival, upper.high);
            if high > upper.high || upper.rival.is_none() {
                upper = Upper { high, rival: Some(rival) };
            }
            if high == f64::INFINITY {
                break;
            }
        }
        if upper.rival.is_some() {
            upper.high += self.seen.carry_over;
        }
        upper
    }

    /// The greater of `known` and the bound of this pair: the smallest s with E for "d < s" at the
    /// bar is just above the wins-th smallest d.
    fn pair_high(&mut self, cell: usize, rival: usize, known: f64) -> f64 {
        let size = self.merged(cell).max(self.merged(rival));
        if self.seen.ends.is_none() && size == 1 {
            let (n, within) = count(&self.seen.y[cell], &self.seen.y[rival], known);
            match self.high_bar.wins(n) {
                None => return f64::INFINITY,
                Some(wins) if within >= wins => return known,
                Some(_) => {}
            }
        }
        self.load(cell, rival);
        let mut high = known.max(self.high_of_buffer());
        if size > 1 {
            self.load(cell, rival);
            let wave = wave(&self.d);
            merge(&mut self.d, size);
            high = high.max(match self.high_bar.wins(self.d.len()) {
                Some(_) => self.high_of_buffer(),
                None => wave.1,
            });
        }
        high
    }

    fn high_of_buffer(&mut self) -> f64 {
        match self.high_bar.wins(self.d.len()) {
            Some(wins) => nth(&mut self.d, wins - 1),
            None => f64::INFINITY,
        }
    }

    /// d of every unit that counts for both, in time.
    fn load(&mut self, a: usize, b: usize) {
        let d = self.seen.y[a].iter().zip(&self.seen.y[b]).map(|(a, b)| a - b);
        self.d.clear();
        let Some(ends) = self.seen.ends else {
            self.d.extend(d.filter(|d| !d.is_nan()));
            return;
        };
        let d: Vec<f64> = d.collect();
        let mut start = 0;
        for end in ends {
            self.unit.clear();
            self.unit.extend(d[start..*end].iter().filter(|d| !d.is_nan()));
            start = *end;
            let median = crate::series::median_in_place(&mut self.unit);
            if !median.is_nan() {
                self.d.push(median);
            }
        }
    }
}

/// How many rounds count for both, and in how many of them a − b ≤ s. Without a branch, for an
/// answer of a thousand cells asks this a million times.
fn count(a: &[f64], b: &[f64], s: f64) -> (usize, usize) {
    let (mut n, mut within) = (0u32, 0u32);
    for (a, b) in a.iter().zip(b) {
        let d = a - b;
        n += u32::from(!d.is_nan());
        within += u32::from(d <= s);
    }
    (n as usize, within as usize)
}

/// What stands in where merging leaves too few units to bound anything: all rounds, and beyond them
/// as far again as they lie apart. A slow wave of that size is covered, and cannot hide a difference
/// that is many times larger. No guarantee of its own; the bound on single rounds holds beside it.
fn wave(d: &[f64]) -> (f64, f64) {
    let least = d.iter().copied().fold(f64::INFINITY, f64::min);
    let most = d.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    (least - (most - least), most + (most - least))
}

/// The value of a rank from 0, reordering the slice.
fn nth(values: &mut [f64], rank: usize) -> f64 {
    *values.select_nth_unstable_by(rank, f64::total_cmp).1
}

#[cfg(test)]
mod tests {
    use super::{Bounds, Seen};
    use crate::claims::evidence::ln_evidence;
    use proptest::prelude::*;

    fn seen(y: &[Vec<f64>]) -> Seen<'_> {
        Seen { y, ends: None, merged: &[], carry_over: 0.0, alpha: 0.05 }
    }

    /// The rule as the page has it, on a grid of all d.
    fn by_page(d: &[f64], bar: f64) -> f64 {
        let reaches = |s: f64| {
            let w = d.iter().filter(|d| **d <= s).count() as u32;
            ln_evidence(d.len() as u32, w) >= bar.ln()
        };
        let grid = d.iter().copied().chain([0.0]).filter(|s| *s >= 0.0 && reaches(*s));
        grid.fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_maximum_is_that_over_all_pairs(
            y in prop::collection::vec(prop::collection::vec(-1.0..1.0f64, 30), 2..6)
        ) {
            let k = y.len();
            let all: Vec<usize> = (0..k).collect();
            let mut bounds = Bounds::new(seen(&y));
            for i in 0..k {
                let page = all.iter().filter(|j| **j != i).map(|j| {
                    let d: Vec<f64> = y[i].iter().zip(&y[*j]).map(|(a, b)| a - b).collect();
                    by_page(&d, 2.0 * (k as f64 - 1.0) / 0.05)
                });
                prop_assert_eq!(bounds.high(i, &all).high, page.fold(0.0, f64::max));
            }
        }
    }

    #[test]
    fn bounds_of_a_plain_difference() {
        let y = vec![vec![0.0; 20], (0..20).map(|r| 0.5 + 0.01 * f64::from(r)).collect()];
        let mut bounds = Bounds::new(seen(&y));
        assert_eq!(bounds.high(0, &[0, 1]).high, 0.0);
        // E(20, w) ≥ 80 from w = 17 on, ≥ 40 from 17 on too: ranks 3 and 16 from 0.
        let low = bounds.low(1, &y[1]);
        let high = bounds.high(1, &[0, 1]);
        assert_eq!(high.rival, Some(0));
        assert!((low - 0.53).abs() < 1e-12 && (high.high - 0.66).abs() < 1e-12, "{low} {high:?}");
        // Nobody left to compare with: nothing to lose.
        assert_eq!(bounds.high(1, &[]).high, 0.0);
    }

    #[test]
    fn losses_absences_and_few_rounds() {
        let (mut a, b) = (vec![0.1; 10], vec![0.0; 10]);
        a[3] = f64::INFINITY;
        let y = vec![a, b];
        let mut bounds = Bounds::new(seen(&y));
        // E(10, 9) = 18.5 is too little, so the loss is the bound.
        assert_eq!(bounds.high(0, &[1]).high, f64::INFINITY);
        let y = vec![vec![0.1; 7], vec![0.0; 7]];
        assert_eq!(Bounds::new(seen(&y)).high(0, &[1]).high, f64::INFINITY);
        let y = vec![vec![f64::NAN, 0.1], vec![0.0, f64::NAN]];
        assert_eq!(Bounds::new(seen(&y)).high(0, &[1]).high, f64::INFINITY);
    }

    #[test]
    fn carry_over_and_merging_only_widen() {
        let y: Vec<Vec<f64>> =
            vec![vec![0.0; 60], (0..60).map(|r| 0.05 + 0.001 * f64::from(r % 7)).collect()];
        let at = |carry_over, merged: &[usize]| {
            let mut bounds = Bounds::new(Seen { carry_over, merged, ..seen(&y) });
            (bounds.low(1, &y[1]), bounds.high(1, &[0]).high)
        };
        let plain = at(0.0, &[]);
        let (low, high) = at(0.03, &[]);
        assert_eq!(low, plain.0);
        assert!((high - plain.1 - 0.03).abs() < 1e-12);
        assert_eq!(at(0.06, &[]).0, 0.0);
        let merged = at(0.0, &[1, 4]);
        assert!(merged.0 <= plain.0 && merged.1 >= plain.1);
        // Two units bound nothing: the rounds lie in 0.05 … 0.056.
        let few = at(0.0, &[1, 30]);
        assert!((few.0 - 0.044).abs() < 1e-12 && (few.1 - 0.062).abs() < 1e-12, "{few:?}");
    }

    #[test]
    fn the_unit_may_be_the_epoch() {
        let y = vec![vec![0.0; 60], (0..60).map(|r| f64::from(r / 5) * 0.01).collect()];
        let ends: Vec<usize> = (1..=11).map(|e| e * 5).collect();
        let mut bounds = Bounds::new(Seen { ends: Some(&ends), ..seen(&y) });
        // 11 whole epochs, E(11, w) ≥ 40 for w = 11 only: the greatest.
        assert!((bounds.high(1, &[0]).high - 0.10).abs() < 1e-12);
    }
}
