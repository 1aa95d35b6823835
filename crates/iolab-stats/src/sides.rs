//! The best of one side against the best of another, where both were named before anything was
//! measured: how much longer the one takes than the other, at least and at most.
//!
//! Each of the two bounds holds by itself, at every moment, with probability at least 1 − α. "The best
//! of b takes longer than the best of a by more than s" says of every cell of b that some cell of a
//! is faster by more than s. To say so wrongly, the one cell of b that is not slower must be judged
//! wrongly: each cell may have the whole error, and the least of their bounds is the bound. Which cell
//! of a it is may be chosen anew in each unit, as long as only the past is asked: the event then still
//! has probability at most ½, and a choice costs nothing.

use super::bias::{drifts_of, lag1};
use super::carry_over::carry_over;
use super::claims::{Bar, LEVEL, smallest_merge};
use super::drift::step_explains;
use super::outlier::parts;
use super::series::{median, median_in_place};
use super::{Observations, Rules};

/// A cell not seen for this many rounds is nobody's opponent.
const RECENT: usize = 4;

/// How much longer the best of the second side takes than the best of the first: logarithms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// At least; −∞ where too few rounds bound it.
    pub low: f64,
    /// At most; +∞ likewise.
    pub high: f64,
}

/// Bounds of the best of `b` against the best of `a`, each with the whole of `rules.alpha`.
pub fn sides(seen: &Observations, rules: &Rules, a: &[usize], b: &[usize]) -> Sides {
    let material = rules.delta.ln_1p();
    let carried = carry_over(seen, &parts(seen), material / 2.0, rules.seed)
        .filter(|found| found.by_cell && found.p < LEVEL && found.effect.is_finite());
    let mut behind = Behind {
        seen,
        rules,
        bar: Bar::new(1.0 / rules.alpha),
        carried: carried.map_or(0.0, |found| found.effect.max(0.0)),
    };
    let (low, high) = (behind.least(b, a), -behind.least(a, b));
    // Two bounds that cross are one error; the wider reading is the one that is safe.
    Sides { low: low.min(high), high: low.max(high) }
}

/// Lower bounds of how far cells lie behind the best of others.
struct Behind<'a> {
    seen: &'a Observations,
    rules: &'a Rules,
    bar: Bar,
    /// What the cell before can do to a difference.
    carried: f64,
}

impl Behind<'_> {
    /// How far each of these lies behind the best of the rivals, at least.
    fn least(&mut self, cells: &[usize], rivals: &[usize]) -> f64 {
        let able: Vec<usize> = rivals.iter().copied().filter(|cell| self.is_able(*cell)).collect();
        if cells.is_empty() || able.is_empty() || !cells.iter().all(|cell| self.is_able(*cell)) {
            return f64::NEG_INFINITY;
        }
        let opponents = self.opponents(&able);
        let all: Vec<Vec<f64>> = cells.iter().map(|cell| self.units(*cell, &opponents)).collect();
        let mut low: Vec<f64> = all.iter().map(|d| self.bound(d)).collect();
        let finite = |d: &Vec<f64>| d.iter().copied().filter(|d| d.is_finite()).collect();
        let series: Vec<(usize, Vec<f64>)> = all.iter().map(finite).enumerate().collect();
        let material = self.rules.delta.ln_1p();
        for drift in drifts_of(&series, 0, material, self.rules.seed) {
            if drift.matters(self.rules.delta) {
                low[drift.cell] = low[drift.cell].min(drift.at_start).min(drift.at_end);
            }
        }
        let least = low.into_iter().fold(f64::INFINITY, f64::min);
        beyond(least, self.carried)
    }

    /// Something is known of it: a trial ended, and it was not given up without proof.
    fn is_able(&self, cell: usize) -> bool {
        let y = self.seen.y.get(cell);
        !self.seen.dropped.contains(&cell) && y.is_some_and(|y| y.iter().any(|y| y.is_finite()))
    }

    /// By steady round: the rival with the smallest median of the rounds before its unit, warm-up
    /// included, among those that were measured of late.
    fn opponents(&self, rivals: &[usize]) -> Vec<Option<usize>> {
        if let [only] = rivals {
            return vec![Some(*only); self.seen.rounds()];
        }
        let mut past = vec![Past::default(); rivals.len()];
        let remember = |past: &mut Vec<Past>, at: usize, y: &dyn Fn(usize) -> f64| {
            past.iter_mut().zip(rivals).for_each(|(past, cell)| past.push(y(*cell), at));
        };
        let warmup = self.seen.warmup.len();
        for (at, round) in self.seen.warmup.iter().enumerate() {
            let y = |cell: usize| round.get(cell).copied().unwrap_or(f64::NAN);
            remember(&mut past, at, &y);
        }
        let mut opponents = Vec::with_capacity(self.seen.rounds());
        for unit in self.unit_ends() {
            let chosen = fastest(&past, warmup + opponents.len()).map(|at| rivals[at]);
            for round in opponents.len()..unit {
                remember(&mut past, warmup + round, &|cell| self.y(cell, round));
            }
            opponents.resize(unit, chosen);
        }
        opponents
    }

    fn y(&self, cell: usize, round: usize) -> f64 {
        self.seen.y[cell].get(round).copied().unwrap_or(f64::NAN)
    }

    /// Ends (exclusive) of the complete units. The one under way would be looked at before it is
    /// whole, and a unit that can still change breaks the guarantee.
    fn unit_ends(&self) -> Vec<usize> {
        let (rounds, size) = (self.seen.rounds(), self.rules.unit_rounds.max(1));
        if size == 1 {
            return (1..=rounds).collect();
        }
        let mut ends = Vec::new();
        for epoch in self.seen.epoch.chunk_by(|a, b| a == b) {
            let start = ends.last().copied().unwrap_or(0);
            let end = (start + epoch.len()).min(rounds);
            if end < rounds || end - start >= size {
                ends.push(end);
            }
        }
        ends
    }

    /// How much longer the cell took than its opponent, by unit: ±∞ where one of the two was lost,
    /// nothing where both were.
    fn units(&self, cell: usize, opponents: &[Option<usize>]) -> Vec<f64> {
        let mut start = 0;
        let mut units = Vec::new();
        for end in self.unit_ends() {
            let d = |round: usize| {
                let opponent = opponents.get(round).copied().flatten();
                opponent.map_or(f64::NAN, |rival| self.y(cell, round) - self.y(rival, round))
            };
            let mut unit: Vec<f64> = (start..end).map(d).filter(|d| !d.is_nan()).collect();
            start = end;
            units.push(median_in_place(&mut unit));
        }
        units.retain(|d| !d.is_nan());
        units
    }

    /// The largest s of which E for "d > s" ever reached the bar: what was once shown holds, and
    /// whoever stopped then would have said so. On merged units too where neighbours are alike.
    fn bound(&mut self, d: &[f64]) -> f64 {
        let ever = (1..=d.len()).filter_map(|n| self.reached(&d[..n]));
        let single = ever.fold(f64::NEG_INFINITY, f64::max);
        let finite: Vec<f64> = d.iter().copied().filter(|d| d.is_finite()).collect();
        let size = if step_explains(&finite) { 1 } else { smallest_merge(&finite, lag1) };
        if size == 1 {
            return single;
        }
        let mut merged: Vec<f64> = d.chunks_exact(size).map(|d| middle(d.to_vec())).collect();
        merged.retain(|d| !d.is_nan());
        // Where merging leaves too few: all rounds, and as far again as they lie apart.
        let wave = || {
            let least = d.iter().copied().fold(f64::INFINITY, f64::min);
            let most = d.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            least - (most - least)
        };
        single.min(self.reached(&merged).unwrap_or_else(wave))
    }

    /// Just under the wins-th largest; `None` where not even all of them reach the bar.
    fn reached(&mut self, d: &[f64]) -> Option<f64> {
        let wins = self.bar.wins(d.len())?;
        let mut d = d.to_vec();
        let at = d.len() - wins;
        Some(*d.select_nth_unstable_by(at, f64::total_cmp).1)
    }
}

/// A bound with what the cell before may have done to it: it moves away by so much, and a difference
/// no larger than that is none.
fn beyond(low: f64, carried: f64) -> f64 {
    match low {
        low if low > carried => low,
        low if low > 0.0 => 0.0,
        low => low - carried,
    }
}

/// What a rival took in all earlier rounds, sorted.
#[derive(Clone, Debug, Default)]
struct Past {
    y: Vec<f64>,
    last: usize,
}

impl Past {
    fn push(&mut self, y: f64, round: usize) {
        if !y.is_nan() {
            self.y.insert(self.y.partition_point(|other| *other < y), y);
            self.last = round;
        }
    }
}

fn fastest(past: &[Past], round: usize) -> Option<usize> {
    let recent = |past: &Past| !past.y.is_empty() && past.last + RECENT >= round;
    let middle = |past: &Past| past.y[(past.y.len() - 1) / 2];
    let able = past.iter().enumerate().filter(|(_, past)| recent(past));
    able.min_by(|x, y| middle(x.1).total_cmp(&middle(y.1))).map(|(at, _)| at)
}

fn middle(mut values: Vec<f64>) -> f64 {
    median_in_place(&mut values)
}

/// Bounds of the median of one series of values, each with the whole of `rules.alpha`, and the median.
pub fn bounds_of(values: &[f64], epoch: &[u32], rules: &Rules) -> Option<(f64, Sides)> {
    let seen = Observations {
        y: vec![vec![0.0; values.len()], values.to_vec()],
        position: vec![vec![None; values.len()]; 2],
        before: vec![vec![None; values.len()]; 2],
        epoch: epoch.to_vec(),
        ..Observations::default()
    };
    Some((median(values)?, sides(&seen, rules, &[0], &[1])))
}

#[cfg(test)]
#[path = "sides_tests.rs"]
mod tests;
