//! What the driver asks at the end of a round: which cells may leave, and how much is still needed.

use super::compare::{Comparer, takes_part};
use super::sign::RankTable;
use super::{Observations, Pair, Rules, Standing};
use iolab_model::result::{AnswerKind, Verdict};

/// Screening needs this many steady rounds of both cells.
const FEWEST_TO_SCREEN: usize = 4;
/// Screening drops a cell whose best trial is slower than the leader's worst by this factor.
const SCREEN_RATIO: f64 = 1.5;
/// No estimate looks further ahead than this many rounds.
const FARTHEST: usize = 1 << 22;

/// Why a cell leaves the rounds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Reason {
    /// Proven slower than another cell by more than δ: its time is at least this multiple.
    Proven {
        /// Lower bound of the ratio.
        ratio_low: f64,
    },
    /// Its best trial is slower than the leader's worst by half. A heuristic, outside the guarantee:
    /// the driver must name it in [`Observations::dropped`] from then on.
    Screened,
}

/// δ_eff: what must be exceeded to matter, given how far the same cell measured twice differs.
/// `twin` is ln(second arm / first) by round; missing rounds are NaN.
pub fn delta_eff(delta: f64, twin: &[f64]) -> f64 {
    let off = super::series::median(twin).map_or(0.0, |median| median.abs().exp_m1());
    delta.max(off)
}

/// The pair of two cells, in either order.
pub(crate) fn find(pairs: &[Pair], a: usize, b: usize) -> Option<&Pair> {
    let key = (a.min(b), a.max(b));
    pairs.binary_search_by_key(&key, |p| (p.a, p.b)).ok().map(|at| &pairs[at])
}

/// Cells to leave out from the next round on, with the reason. The leader never is; none is where
/// the number of rounds is fixed.
pub fn eliminations(
    seen: &Observations,
    rules: &Rules,
    standing: &Standing,
) -> Vec<(usize, Reason)> {
    let Some(leader) = standing.leader.filter(|_| !rules.fixed) else { return Vec::new() };
    let rounds = seen.rounds();
    let worst = worst_of(&seen.y[leader]);
    let proven = proven_ratios(seen.y.len(), &standing.pairs);
    (0..seen.y.len())
        .filter(|cell| *cell != leader && seen.y[*cell].len() == rounds && takes_part(seen, *cell))
        .filter_map(|cell| {
            if let Some(ln_low) = proven[cell] {
                return Some((cell, Reason::Proven { ratio_low: ln_low.exp() }));
            }
            let screened = best_of(&seen.y[cell])? > SCREEN_RATIO.ln() + worst?;
            screened.then_some((cell, Reason::Screened))
        })
        .collect()
}

/// By cell: the greatest lower bound (a logarithm) among the pairs that prove it clearly slower.
fn proven_ratios(k: usize, pairs: &[Pair]) -> Vec<Option<f64>> {
    let mut proven: Vec<Option<f64>> = vec![None; k];
    for pair in pairs.iter().filter(|p| p.clear) {
        let (cell, low) = match pair.verdict {
            Verdict::Slower => (pair.a, pair.interval.low),
            Verdict::Faster => (pair.b, pair.interval.high.map(|high| -high)),
            Verdict::Equivalent | Verdict::Undecided => continue,
        };
        if low > proven[cell] {
            proven[cell] = low;
        }
    }
    proven
}

fn finite(y: &[f64]) -> Option<impl Iterator<Item = f64> + '_> {
    let values = || y.iter().copied().filter(|y| y.is_finite());
    (values().count() >= FEWEST_TO_SCREEN).then(values)
}

fn best_of(y: &[f64]) -> Option<f64> {
    finite(y)?.min_by(f64::total_cmp)
}

fn worst_of(y: &[f64]) -> Option<f64> {
    finite(y)?.max_by(f64::total_cmp)
}

/// The pairs whose outcome an undecided answer waits for: the leader against the rest of the tie set.
fn open_pairs(standing: &Standing) -> Vec<&Pair> {
    if standing.kind != AnswerKind::Undecided {
        return Vec::new();
    }
    let leader = standing.leader.filter(|leader| standing.best.contains(leader));
    let Some(hub) = leader.or(standing.best.first().copied()) else { return Vec::new() };
    let rivals = standing.best.iter().filter(|cell| **cell != hub);
    rivals
        .filter_map(|cell| find(&standing.pairs, hub, *cell))
        .filter(|pair| pair.verdict == Verdict::Undecided)
        .collect()
}

/// The smallest ratio (> 1) that would have been told apart from 1 in every pair that is open, from
/// the widths of their intervals. `None` where nothing is open or an interval is unbounded.
pub fn detectable(standing: &Standing) -> Option<f64> {
    let reach = |pair: &Pair| {
        let (low, high) = (pair.interval.low?, pair.interval.high?);
        Some((pair.median - low).max(high - pair.median).exp())
    };
    let reaches: Option<Vec<f64>> = open_pairs(standing).into_iter().map(reach).collect();
    reaches?.into_iter().max_by(f64::total_cmp)
}

/// An estimate of the rounds still needed until the answer is resolved; `None` where it is resolved,
/// or nothing is known of an open pair, or millions would be needed.
pub fn more_rounds(seen: &Observations, rules: &Rules, standing: &Standing) -> Option<u32> {
    let mut comparer = Comparer::new(seen, rules);
    let mut ranks = RankTable::new(rules.alpha, rules.pairs, rules.fixed);
    let needed: Option<Vec<usize>> = open_pairs(standing)
        .into_iter()
        .map(|pair| rounds_for(&mut comparer, &mut ranks, rules, pair))
        .collect();
    let most = needed?.into_iter().max()?;
    let fewest = super::compare::FEWEST_STEADY_ROUNDS.saturating_sub(seen.rounds()).max(1);
    u32::try_from(most.max(fewest)).ok()
}

/// The share of the sample between the ranks of the interval at n: what its width goes with.
fn share_between(ranks: &mut RankTable, n: usize) -> f64 {
    match ranks.rank(n) {
        0 => f64::INFINITY,
        rank => (n + 1 - 2 * rank) as f64 / n as f64,
    }
}

/// Rounds still needed by one pair: until its half-width is below the distance to 1 (it separates)
/// or to δ (it is equivalent), whichever comes first. Between the ranks in question the distribution
/// function is taken as straight.
fn rounds_for(
    comparer: &mut Comparer<'_>,
    ranks: &mut RankTable,
    rules: &Rules,
    pair: &Pair,
) -> Option<usize> {
    comparer.load(pair.a, pair.b);
    let single = comparer.units.len();
    comparer.units.sort();
    let (half_width, share) = match (pair.interval.low, pair.interval.high) {
        (Some(low), Some(high)) => {
            ((high - low) / 2.0, share_between(ranks, pair.n as usize).min(1.0))
        }
        // Nothing is bounded yet: the quartiles tell the spread.
        _ if single >= 4 => {
            let quartile = single / 4;
            ((comparer.units.at(single - 1 - quartile) - comparer.units.at(quartile)) / 2.0, 0.5)
        }
        _ => return None,
    };
    let target = pair.median.abs().max(rules.delta.ln_1p() - pair.median.abs());
    let wanted = share * target / half_width.max(f64::MIN_POSITIVE);
    let n = first_n(ranks, pair.n as usize + 1, wanted)?;
    Some((n - pair.n as usize) * pair.merged as usize * comparer.unit_rounds())
}

/// The first n from `from` on whose interval spans at most the wanted share.
fn first_n(ranks: &mut RankTable, from: usize, wanted: f64) -> Option<usize> {
    let mut high = from;
    while share_between(ranks, high) > wanted {
        high = high * 5 / 4 + 1;
        if high > FARTHEST {
            return None;
        }
    }
    let mut low = from;
    while low < high {
        let middle = low + (high - low) / 2;
        if share_between(ranks, middle) > wanted { low = middle + 1 } else { high = middle }
    }
    Some(low)
}

#[cfg(test)]
mod tests {
    use super::{Reason, delta_eff, detectable, eliminations, more_rounds};
    use crate::compare::tests::{cells, noise, rules, seen};
    use crate::{Observations, Rules, standing};

    #[test]
    fn the_twin_raises_what_matters() {
        assert_eq!(delta_eff(0.02, &[]), 0.02);
        assert_eq!(delta_eff(0.02, &[0.01, 0.0, f64::NAN]), 0.02);
        for off in [0.05f64, -0.05] {
            assert!((delta_eff(0.02, &[off, off, f64::NAN]) - 0.05f64.exp_m1()).abs() < 1e-12);
        }
    }

    #[test]
    fn the_proven_and_the_hopeless_leave_but_never_the_leader() {
        let rules = rules(3);
        let seen = seen(cells(5, &[0.0, 0.2, 0.9], 0.01));
        let left = eliminations(&seen, &rules, &standing(&seen, &rules));
        assert_eq!(left, [(2, Reason::Screened)]);
    }

    #[test]
    fn a_proof_carries_its_lower_bound_and_the_departed_are_not_named_again() {
        let rules = rules(3);
        let mut y = cells(20, &[0.0, 0.2, 0.3], 0.01);
        y[2].truncate(15);
        let seen = seen(y);
        let left = eliminations(&seen, &rules, &standing(&seen, &rules));
        let [(1, Reason::Proven { ratio_low })] = left[..] else { panic!("{left:?}") };
        assert!((0.18f64.exp()..0.2f64.exp()).contains(&ratio_low));
        let fixed = Rules { fixed: true, ..rules };
        assert!(eliminations(&seen, &fixed, &standing(&seen, &fixed)).is_empty());
    }

    #[test]
    fn a_slower_cell_within_delta_stays() {
        let rules = rules(2);
        let seen = seen(cells(40, &[0.0, 0.01], 0.001));
        let standing = standing(&seen, &rules);
        assert_eq!(standing.best, [0]);
        assert!(eliminations(&seen, &rules, &standing).is_empty());
    }

    /// Uniform noise of ±0.2 in each cell and a shift of 0.08, seen for n rounds.
    fn shifted(run: u64, n: u64) -> Observations {
        let cell = |cell: u64| {
            (0..n).map(|r| 0.08 * cell as f64 + 0.2 * noise(2 * run + cell, r)).collect()
        };
        seen(vec![cell(0), cell(1)])
    }

    #[test]
    fn what_is_still_needed_is_about_what_is_then_needed() {
        let rules = rules(2);
        let (mut told, mut took) = (Vec::new(), Vec::new());
        for run in 0..40 {
            let early = shifted(run, 20);
            let at_first = standing(&early, &rules);
            let Some(more) = more_rounds(&early, &rules, &at_first) else { continue };
            assert!(detectable(&at_first).unwrap() > 1.0);
            told.push(more);
            let resolved = |n: &u64| standing(&shifted(run, *n), &rules).best.len() == 1;
            took.push((21..2000).find(resolved).unwrap() as u32 - 20);
        }
        assert!(told.len() > 20);
        told.sort_unstable();
        took.sort_unstable();
        let (told, took) = (told[told.len() / 2], took[took.len() / 2]);
        assert!((took / 2..=took * 2).contains(&told), "told {told}, took {took}");
        let end = shifted(0, 2000);
        let resolved = standing(&end, &rules);
        assert_eq!(detectable(&resolved), None);
        assert_eq!(more_rounds(&end, &rules, &resolved), None);
    }

    #[test]
    fn before_the_first_bounded_interval_the_quartiles_tell() {
        let rules = rules(2);
        let seen = seen(cells(6, &[0.0, 0.5], 0.01));
        let standing = standing(&seen, &rules);
        assert_eq!(detectable(&standing), None);
        assert_eq!(more_rounds(&seen, &rules, &standing), Some(4));
    }
}
