//! Pairs of cells and where they leave the answer: the tie set, a winner, a tie, or not yet.

use super::series::{Series, median, median_in_place};
use super::sign::RankTable;
use super::{Observations, Pair, Rules, Standing};
use iolab_model::result::{AnswerKind, Interval, Verdict};

/// No verdict under this many steady rounds.
pub const FEWEST_STEADY_ROUNDS: usize = 10;
/// Under this many units a lag-1 correlation says nothing.
const FEWEST_FOR_LAG: usize = 8;

/// The lag-1 correlation above which neighbouring rounds are merged.
pub(crate) fn lag_limit(n: usize) -> f64 {
    (1.96 / (n as f64).sqrt()).max(0.2)
}

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
    /// How many rounds a whole epoch has.
    epoch_rounds: usize,
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
            epoch_rounds: seen.epoch.chunk_by(|a, b| a == b).map(<[u32]>::len).max().unwrap_or(1),
            ranks: RankTable::new(rules.alpha, rules.pairs, rules.fixed),
            units: Series::default(),
            merged: Series::default(),
            scratch: Vec::new(),
        }
    }

    /// Rounds behind one unit, before any merging.
    pub(crate) fn unit_rounds(&self) -> usize {
        if self.rules.by_epoch { self.epoch_rounds } else { 1 }
    }

    /// Loads d = y_a − y_b of every unit that both share.
    pub(crate) fn load(&mut self, a: usize, b: usize) {
        let (a, b) = (&self.seen.y[a], &self.seen.y[b]);
        self.units.values.clear();
        if self.rules.by_epoch {
            self.load_epochs(a, b);
        } else {
            let d = a.iter().zip(b).map(|(a, b)| a - b).filter(|d| d.is_finite());
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
            if range.is_empty() || (start == rounds && epoch.len() < self.epoch_rounds) {
                continue;
            }
            let d = a[range.clone()].iter().zip(&b[range]).map(|(a, b)| a - b);
            self.scratch.clear();
            self.scratch.extend(d.filter(|d| d.is_finite()));
            if !self.scratch.is_empty() {
                self.units.values.push(median_in_place(&mut self.scratch));
            }
        }
    }

    /// Compares two cells; `None` where they share no unit.
    pub(crate) fn pair(&mut self, a: usize, b: usize) -> Option<Pair> {
        self.load(a, b);
        let n = self.units.len();
        if n == 0 {
            return None;
        }
        self.units.sort();
        let ties = self.units.values.iter().filter(|d| **d == 0.0).count() as u32;
        let median = self.units.median();
        let rank = self.ranks.rank(n);
        let mut interval = self.units.between(rank);
        let mut merged = 1;
        if n >= FEWEST_FOR_LAG && self.units.lag1() > lag_limit(n) {
            (merged, interval) = self.merge(&interval);
        }
        let (verdict, clear) = verdict(&interval, self.rules.delta);
        let units = (n / merged) as u32;
        let merged = merged as u32;
        Some(Pair { a, b, n: units, ties, median, interval, verdict, clear, merged })
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

/// The smallest interval that contains both.
fn hull(a: &Interval, b: &Interval) -> Interval {
    let both = |a: Option<f64>, b: Option<f64>, pick: fn(f64, f64) -> f64| Some(pick(a?, b?));
    Interval { low: both(a.low, b.low, f64::min), high: both(a.high, b.high, f64::max) }
}

/// Every pair (a < b) that shares at least one unit. Intervals hold at every stopping time,
/// together for the whole answer (`rules.pairs`), with probability ≥ 1 − α.
pub fn pairs(seen: &Observations, rules: &Rules) -> Vec<Pair> {
    let k = seen.y.len();
    let mut comparer = Comparer::new(seen, rules);
    let mut pairs = Vec::with_capacity(k * k.saturating_sub(1) / 2);
    for a in 0..k {
        pairs.extend((a + 1..k).filter_map(|b| comparer.pair(a, b)));
    }
    pairs
}

/// Where the cells of one answer stand after the rounds seen so far.
pub fn standing(seen: &Observations, rules: &Rules) -> Standing {
    let pairs = pairs(seen, rules);
    let rounds = seen.rounds();
    let leader = leader(seen);
    let best = tie_set(seen, &pairs);
    let kind =
        if rounds < FEWEST_STEADY_ROUNDS { AnswerKind::Undecided } else { kind(&best, &pairs) };
    // Every cell proven slower than another: the ratios run in a circle, and none may be dropped for it.
    let best = if best.is_empty() { leader.into_iter().collect() } else { best };
    Standing { kind, best, leader, pairs, rounds: rounds as u32 }
}

/// Kind and tie set as [`standing`] has them, without every pair: a cell that is proven slower is
/// compared with no further one. Much cheaper where few of many cells are best.
pub fn resolve(seen: &Observations, rules: &Rules) -> (AnswerKind, Vec<usize>) {
    let mut comparer = Comparer::new(seen, rules);
    let mut order: Vec<(usize, f64)> =
        (0..seen.y.len()).filter_map(|cell| Some((cell, median(&seen.y[cell])?))).collect();
    order.sort_by(|a, b| a.1.total_cmp(&b.1));
    let mut slower = vec![false; seen.y.len()];
    // Cells compared with every other: nothing about them is left to find out.
    let mut known = vec![false; seen.y.len()];
    let mut equivalent = Vec::new();
    for (cell, _) in &order {
        for (rival, _) in order.iter().filter(|(rival, _)| rival != cell) {
            if slower[*cell] {
                break;
            }
            if known[*rival] {
                continue;
            }
            let Some(pair) = comparer.pair(*cell.min(rival), *cell.max(rival)) else { continue };
            match pair.verdict {
                Verdict::Slower => slower[pair.a] = true,
                Verdict::Faster => slower[pair.b] = true,
                Verdict::Equivalent => equivalent.push(pair),
                Verdict::Undecided => {}
            }
        }
        known[*cell] = !slower[*cell];
    }
    let best: Vec<usize> =
        (0..slower.len()).filter(|c| !slower[*c] && takes_part(seen, *c)).collect();
    let kind = match seen.rounds() < FEWEST_STEADY_ROUNDS {
        true => AnswerKind::Undecided,
        false => kind(&best, &equivalent),
    };
    if best.is_empty() { (kind, leader(seen).into_iter().collect()) } else { (kind, best) }
}

/// Whether a cell takes part: something was measured, and it was not left out without proof.
pub(crate) fn takes_part(seen: &Observations, cell: usize) -> bool {
    !seen.dropped.contains(&cell) && seen.y[cell].iter().any(|y| y.is_finite())
}

/// The cell still in the rounds with the smallest median. Medians of cells that left earlier come
/// from other rounds and do not compare.
fn leader(seen: &Observations) -> Option<usize> {
    let rounds = seen.rounds();
    (0..seen.y.len())
        .filter(|cell| seen.y[*cell].len() == rounds && takes_part(seen, *cell))
        .filter_map(|cell| Some((cell, median(&seen.y[cell])?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))
        .map(|(cell, _)| cell)
}

/// Cells not proven slower than any other: it holds the true best with probability ≥ 1 − α.
fn tie_set(seen: &Observations, pairs: &[Pair]) -> Vec<usize> {
    let mut slower = vec![false; seen.y.len()];
    for pair in pairs {
        match pair.verdict {
            Verdict::Slower => slower[pair.a] = true,
            Verdict::Faster => slower[pair.b] = true,
            Verdict::Equivalent | Verdict::Undecided => {}
        }
    }
    (0..slower.len()).filter(|cell| !slower[*cell] && takes_part(seen, *cell)).collect()
}

fn kind(best: &[usize], pairs: &[Pair]) -> AnswerKind {
    if best.len() == 1 {
        return AnswerKind::Winner;
    }
    let inside = |cell: usize| best.binary_search(&cell).is_ok();
    let equivalent = pairs
        .iter()
        .filter(|p| p.verdict == Verdict::Equivalent && inside(p.a) && inside(p.b))
        .count();
    let all = best.len() * best.len().saturating_sub(1) / 2;
    if all > 0 && equivalent == all { AnswerKind::Tie } else { AnswerKind::Undecided }
}

#[cfg(test)]
#[path = "compare_tests.rs"]
pub(crate) mod tests;
