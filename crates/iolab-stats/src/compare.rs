//! Pairs of cells, for whoever wants one pair: the two-sided sequence. Claims do not rest on it.

use super::claims::{Claims, lag_limit};
use super::series::{Series, median_in_place};
use super::sign::RankTable;
use super::{Observations, Pair, Rules};
use iolab_model::result::{Interval, Verdict};

/// Answers of up to so many cells have every pair: 19 900.
const MOST_PAIRED: usize = 200;
/// In larger ones so many cells stand beside every other. All pairs of 4096 cells would be 8 million.
const MOST_LEADERS: usize = 16;

/// Under this many units a lag-1 correlation says nothing.
const FEWEST_FOR_LAG: usize = 8;

/// What an interval of ln(time of a / time of b) shows of a, and whether it lies beyond δ.
pub fn verdict(interval: &Interval, delta: f64) -> (Verdict, bool) {
    let matters = delta.ln_1p();
    match (interval.low, interval.high) {
        (Some(low), _) if low > 0.0 => (Verdict::Slower, low > matters),
        (_, Some(high)) if high < 0.0 => (Verdict::Faster, high < -matters),
        (Some(low), Some(high)) if low >= -matters && high <= matters => {
            (Verdict::Equivalent, false)
        }
        _ => (Verdict::Undecided, false),
    }
}

/// Compares pairs of one answer; keeps its buffers.
pub(crate) struct Comparer<'a> {
    seen: &'a Observations,
    rules: &'a Rules,
    ranks: RankTable,
    pub(crate) units: Series,
    merged: Series,
    scratch: Vec<f64>,
}

impl<'a> Comparer<'a> {
    pub(crate) fn new(seen: &'a Observations, rules: &'a Rules) -> Comparer<'a> {
        Comparer {
            seen,
            rules,
            ranks: RankTable::new(rules.alpha, rules.pairs),
            units: Series::default(),
            merged: Series::default(),
            scratch: Vec::new(),
        }
    }

    /// Rounds behind one unit, before any merging.
    pub(crate) fn unit_rounds(&self) -> usize {
        self.rules.unit_rounds.max(1)
    }

    /// Loads d = y_a − y_b of every unit that both share: ±∞ where one of the two was lost, nothing
    /// where both were.
    pub(crate) fn load(&mut self, a: usize, b: usize) {
        let (a, b) = (&self.seen.y[a], &self.seen.y[b]);
        self.units.values.clear();
        if self.rules.unit_rounds > 1 {
            self.load_epochs(a, b);
        } else {
            let d = a.iter().zip(b).map(|(a, b)| a - b).filter(|d| !d.is_nan());
            self.units.values.extend(d);
        }
    }

    /// The median of each whole epoch. The one under way would be looked at before it is whole, and
    /// a unit that can still change breaks the guarantee.
    fn load_epochs(&mut self, a: &[f64], b: &[f64]) {
        let rounds = self.seen.epoch.len();
        let mut start = 0;
        for epoch in self.seen.epoch.chunk_by(|a, b| a == b) {
            let range = start..(start + epoch.len()).min(a.len()).min(b.len());
            start += epoch.len();
            if range.is_empty() || (start == rounds && epoch.len() < self.unit_rounds()) {
                continue;
            }
            let d = a[range.clone()].iter().zip(&b[range]).map(|(a, b)| a - b);
            self.scratch.clear();
            self.scratch.extend(d.filter(|d| !d.is_nan()));
            if !self.scratch.is_empty() {
                self.units.values.push(median_in_place(&mut self.scratch));
            }
        }
    }

    /// Compares two cells; `None` where they share no unit.
    pub(crate) fn pair(&mut self, a: usize, b: usize) -> Option<Pair> {
        self.load(a, b);
        let n = self.units.len();
        let finite = ends(&self.units.values)?;
        self.units.sort();
        let ties = self.units.values.iter().filter(|d| **d == 0.0).count() as u32;
        let median = self.median();
        let rank = self.ranks.rank(n);
        let mut interval = self.units.between(rank);
        let mut merged = 1;
        if n >= FEWEST_FOR_LAG && self.units.lag1() > lag_limit(n) {
            (merged, interval) = self.merge(&interval);
        }
        let interval = within(&interval, finite);
        let (verdict, clear) = verdict(&interval, self.rules.delta);
        let units = (n / merged) as u32;
        let merged = merged as u32;
        Some(Pair { a, b, n: units, ties, median, interval, verdict, clear, merged })
    }

    /// The median; where that is of lost trials, of those that both took.
    fn median(&mut self) -> f64 {
        match self.units.median() {
            median if median.is_finite() => median,
            _ => {
                self.scratch.clear();
                self.scratch.extend(self.units.values.iter().filter(|d| d.is_finite()));
                median_in_place(&mut self.scratch)
            }
        }
    }

    /// Merges neighbours with the smallest size that clears the correlation. The result is never
    /// narrower than the sequence on single rounds: that one holds at every stopping time, and the
    /// size is chosen from the data. Where so few merged units remain that they bound nothing, the
    /// range of all rounds stands in, so that a small slow wave cannot hide a unanimous difference.
    fn merge(&mut self, single: &Interval) -> (usize, Interval) {
        let n = self.units.len();
        let mut size = 2;
        loop {
            self.merged.merge_from(&self.units.values, size, &mut self.scratch);
            let units = self.merged.len();
            self.merged.sort();
            let rank = self.ranks.rank(units);
            if rank == 0 {
                let range = match single.low {
                    Some(_) => self.units.between(1),
                    None => *single,
                };
                return (size, range);
            }
            if self.merged.lag1() <= lag_limit(units) {
                return (size, hull(single, &self.merged.between(rank)));
            }
            debug_assert!(size < n);
            size += 1;
        }
    }
}

/// The least and the greatest that was seen of two trials that both ended; `None` where no two did.
fn ends(values: &[f64]) -> Option<(f64, f64)> {
    let finite = || values.iter().copied().filter(|d| d.is_finite());
    let low = finite().min_by(f64::total_cmp)?;
    Some((low, finite().max_by(f64::total_cmp)?))
}

/// An end among lost trials bounds nothing, or no less than all that was seen.
fn within(interval: &Interval, (least, greatest): (f64, f64)) -> Interval {
    let low = interval.low.filter(|low| *low > f64::NEG_INFINITY);
    let high = interval.high.filter(|high| *high < f64::INFINITY);
    Interval { low: low.map(|low| low.min(greatest)), high: high.map(|high| high.max(least)) }
}

/// The smallest interval that contains both.
fn hull(a: &Interval, b: &Interval) -> Interval {
    let both = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| Some(pick(a?, b?));
    Interval { low: both(a.low, b.low, f64::min), high: both(a.high, b.high, f64::max) }
}

/// Every pair (a < b) that shares at least one unit. Intervals hold at every stopping time,
/// together for the whole answer (`rules.pairs`), with probability ≥ 1 − α.
pub fn pairs(seen: &Observations, rules: &Rules) -> Vec<Pair> {
    pairs_where(seen, rules, |_, _| true)
}

/// Every pair of a small answer; of a large one the pairs of those cells that can cost least.
pub(crate) fn pairs_of_use(seen: &Observations, rules: &Rules, claims: &Claims) -> Vec<Pair> {
    let k = seen.y.len();
    if k <= MOST_PAIRED {
        return pairs(seen, rules);
    }
    let high = claims.high();
    let mut order: Vec<usize> = (0..k).collect();
    order.sort_by(|a, b| high[*a].total_cmp(&high[*b]));
    let mut leads = vec![false; k];
    let pick = claims.pick.map(|pick| pick.cell);
    pick.into_iter().chain(order.into_iter().take(MOST_LEADERS)).for_each(|c| leads[c] = true);
    pairs_where(seen, rules, |a, b| leads[a] || leads[b])
}

fn pairs_where(
    seen: &Observations,
    rules: &Rules,
    wanted: impl Fn(usize, usize) -> bool,
) -> Vec<Pair> {
    let k = seen.y.len();
    let mut comparer = Comparer::new(seen, rules);
    let mut pairs = Vec::new();
    for a in 0..k {
        let others = (a + 1..k).filter(|b| wanted(a, *b));
        pairs.extend(others.filter_map(|b| comparer.pair(a, b)));
    }
    pairs
}

#[cfg(test)]
#[path = "compare_tests.rs"]
pub(crate) mod tests;
