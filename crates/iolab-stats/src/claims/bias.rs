//! What can bias a claim, judged claim by claim. The tests themselves are
//! elsewhere (Kruskal–Wallis, Mann–Kendall, Theil–Sen, Pettitt, Spearman); their results come in
//! here, and claims go out wider.

use super::series::merge;

/// A test under this p is acted on.
pub const LEVEL: f64 = 0.01;

/// What the cell before does (Kruskal–Wallis of residuals by the cell that ran before).
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct CarryOver {
    /// p of the test.
    pub p: f64,
    /// Greatest difference between the groups' medians (a logarithm, ≥ 0).
    pub effect: f64,
}

/// How the difference of two cells moved over the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Drift {
    /// d = y_cell − y_against.
    pub cell: usize,
    /// The other: the pick, as a rule.
    pub against: usize,
    /// p of Mann–Kendall or Pettitt, adjusted over the rivals that were tested (Holm): of 23 rivals
    /// at 0.01 each, one run in five would show one.
    pub p: f64,
    /// Fitted d at the start of the run.
    pub at_start: f64,
    /// Fitted d at its end.
    pub at_end: f64,
}

impl Drift {
    /// A trend: the line of this median and Theil–Sen slope (per unit) over n units.
    pub fn trend(cell: usize, against: usize, p: f64, median: f64, slope: f64, n: usize) -> Drift {
        let half = slope * n.saturating_sub(1) as f64 / 2.0;
        Drift { cell, against, p, at_start: median - half, at_end: median + half }
    }

    /// A step: the medians before and after it.
    pub fn step(cell: usize, against: usize, p: f64, before: f64, after: f64) -> Drift {
        Drift { cell, against, p, at_start: before, at_end: after }
    }

    /// d as either of the two sees it, at least and at most over the run.
    fn sides(&self) -> [Side; 2] {
        let least = self.at_start.min(self.at_end);
        let most = self.at_start.max(self.at_end);
        let other = Side { cell: self.against, least: -most, most: -least };
        [Side { cell: self.cell, least, most }, other]
    }

    /// Whether it is acted on: shown, and larger than δ (a share).
    pub fn matters(&self, delta: f64) -> bool {
        self.p < LEVEL && (self.at_end - self.at_start).abs() > delta.ln_1p()
    }
}

/// A drift as one of its two cells sees it.
#[derive(Clone, Copy)]
struct Side {
    cell: usize,
    least: f64,
    most: f64,
}

/// What is known against the claims of one answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bias {
    /// The cell before, where tested.
    pub carry_over: Option<CarryOver>,
    /// Differences that moved.
    pub drifts: Vec<Drift>,
    /// By cell: neighbouring units merged into one for its bounds (from [`smallest_merge`]); empty
    /// or 1 for none. A pair takes the greater of its two.
    pub merged: Vec<usize>,
}

impl Bias {
    /// Units that are merged into one where these two are compared.
    pub(crate) fn size(&self, a: usize, b: usize) -> usize {
        let of = |cell: usize| self.merged.get(cell).copied().unwrap_or(1);
        of(a).max(of(b)).max(1)
    }

    /// c: what the cell before can do to a difference, 0 where nothing is shown.
    pub fn carried(&self) -> f64 {
        let shown = self.carry_over.filter(|c| c.p < LEVEL && c.effect.is_finite());
        shown.map_or(0.0, |c| c.effect.max(0.0))
    }
}

/// Why a cell that was slower in most rounds is not called slower.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Withdrawn {
    /// The cell before can do as much.
    CarryOver,
    /// One was faster at first, the other later.
    Drift,
    /// Neighbouring rounds are alike, and on rounds that are not (merged ones) nothing is shown. A
    /// sign that is a fair coin given the past has no memory, so this memory belongs to the cells.
    Alike,
}

/// The lag-1 correlation from which neighbouring units are merged.
pub fn lag_limit(n: usize) -> f64 {
    (1.96 / (n.max(1) as f64).sqrt()).max(0.2)
}

/// The smallest number of neighbours whose medians are no longer alike; 1 where they are not.
/// `lag1` is Spearman's correlation of a series with itself one unit later. Ends where under eight
/// merged units remain, which say nothing about their own correlation.
pub fn smallest_merge(d: &[f64], lag1: impl Fn(&[f64]) -> f64) -> usize {
    let mut size = 1;
    loop {
        let mut units = d.to_vec();
        merge(&mut units, size);
        if units.len() < 8 || lag1(&units) <= lag_limit(units.len()) {
            return size;
        }
        size += 1;
    }
}

/// The cells that were slower than one of the best at one end of the run and faster at the other:
/// that they are slower is withdrawn. A swap between two that are both slower than a third takes
/// nothing back.
pub(crate) fn crossed(drifts: &[Drift], delta: f64, slower: &[bool]) -> Vec<bool> {
    let mut crossed = vec![false; slower.len()];
    for [a, b] in drifts.iter().filter(|drift| drift.matters(delta)).map(Drift::sides) {
        for (this, other) in [(a, b), (b, a)] {
            crossed[this.cell] |=
                slower[this.cell] && !slower[other.cell] && this.least <= 0.0 && this.most >= 0.0;
        }
    }
    crossed
}

/// Widens [L, U] to what drifts cover at both ends of the run. Against a cell that is slower itself
/// a difference says nothing about the regret at least.
pub(crate) fn widen(
    drifts: &[Drift],
    delta: f64,
    slower: &[bool],
    low: &mut [f64],
    high: &mut [f64],
) {
    for [a, b] in drifts.iter().filter(|drift| drift.matters(delta)).map(Drift::sides) {
        for (this, other) in [(a, b), (b, a)] {
            high[this.cell] = high[this.cell].max(this.most);
            if !slower[other.cell] && this.most > 0.0 {
                low[this.cell] = low[this.cell].min(this.least.max(0.0));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Bias, CarryOver, Drift, crossed, lag_limit, smallest_merge, widen};

    #[test]
    fn only_what_is_shown_is_acted_on() {
        let bias = |p| Bias { carry_over: Some(CarryOver { p, effect: 0.03 }), ..Bias::default() };
        assert_eq!((bias(0.02).carried(), bias(0.001).carried()), (0.0, 0.03));
        assert!(!Drift::step(1, 0, 0.02, 0.0, 0.5).matters(0.02));
        assert!(!Drift::step(1, 0, 0.001, 0.10, 0.11).matters(0.02));
        assert!(Drift::step(1, 0, 0.001, 0.1, 0.2).matters(0.02));
    }

    #[test]
    fn a_drift_widens_and_withdraws_only_where_it_crosses() {
        let drift = Drift::trend(1, 0, 0.001, 0.3, 0.01, 21);
        assert!((drift.at_start - 0.2).abs() < 1e-12 && (drift.at_end - 0.4).abs() < 1e-12);
        let (mut low, mut high) = ([0.0, 0.28], [0.0, 0.32]);
        let slower = [false, true];
        assert_eq!(crossed(&[drift], 0.02, &slower), [false, false]);
        widen(&[drift], 0.02, &slower, &mut low, &mut high);
        assert!((low[1] - 0.2).abs() < 1e-12 && (high[1] - 0.4).abs() < 1e-12 && high[0] == 0.0);
        let crossing = Drift::step(1, 0, 0.001, 0.3, -0.1);
        assert_eq!(crossed(&[crossing], 0.02, &slower), [false, true]);
        assert_eq!(crossed(&[crossing], 0.02, &[true, true]), [false, false]);
        widen(&[crossing], 0.02, &slower, &mut low, &mut high);
        assert_eq!((low[1], high[0]), (0.0, 0.1));
    }

    #[test]
    fn merging_stops_where_it_clears_or_says_nothing() {
        assert_eq!(smallest_merge(&[0.0; 40], |_| 0.0), 1);
        assert_eq!(smallest_merge(&[0.0; 40], |_| 1.0), 6);
        assert_eq!(smallest_merge(&[0.0; 40], |d| if d.len() > 10 { 1.0 } else { 0.0 }), 4);
        assert!(lag_limit(0).is_finite() && lag_limit(400) == 0.2);
    }
}
