//! Carry-over: whether a residual depends on the cell that ran before, or on the place in the round.
//!
//! The statistics are Kruskal–Wallis' and Spearman's; the tables of χ² and t are not used. They need
//! independent residuals, and those of one round are not: what they share was taken out, and a
//! machine that wanders within the round makes neighbours alike. What rounds have in common is only
//! the order's effect, so p is found by turning the signs of whole rounds at random.

use rand_core::Rng;

use super::Observations;
use super::outlier::Parts;
use super::random::generator;
use super::rank::mid_ranks;
use super::series::median;

/// Draws of the signs.
const PERMUTATIONS: usize = 999;
/// A test flags under this p.
const LEVEL: f64 = 0.01;
/// A group with fewer members says nothing of the size of an effect.
const FEWEST_IN_GROUP: usize = 5;

/// A dependence that was found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct CarryOver {
    /// By the preceding cell; otherwise by the position in the round.
    pub(crate) by_cell: bool,
    /// Size, in logarithms of time.
    pub(crate) effect: f64,
    /// By turning the signs of rounds.
    pub(crate) p: f64,
}

/// One trial with its residual, centred by cell.
struct Trial {
    cell: usize,
    round: usize,
    residual: f64,
    /// Rank of the residual among all, less the mean rank of its cell.
    rank: f64,
}

/// Looks for both kinds; `material` is the effect (a logarithm) that matters.
pub(crate) fn carry_over(
    seen: &Observations,
    parts: &Parts,
    material: f64,
    seed: u64,
) -> Option<CarryOver> {
    let trials = trials(seen, parts);
    by_cell(seen, &trials, material, seed).or_else(|| by_position(seen, &trials, material, seed))
}

/// Trials that have a position, so that their order is known, by round.
fn trials(seen: &Observations, parts: &Parts) -> Vec<Trial> {
    let mut trials = Vec::new();
    for (cell, residuals) in parts.residuals.iter().enumerate() {
        let Some(centre) = median(residuals) else { continue };
        let known = residuals
            .iter()
            .enumerate()
            .filter(|(round, e)| e.is_finite() && position(seen, cell, *round).is_some());
        trials.extend(known.map(|(round, e)| Trial {
            cell,
            round,
            residual: e - centre,
            rank: 0.0,
        }));
    }
    let (ranks, _) = mid_ranks(&trials.iter().map(|t| t.residual).collect::<Vec<f64>>());
    trials.iter_mut().zip(ranks).for_each(|(trial, rank)| trial.rank = rank);
    // A cell never follows itself, so cells of different skew would pass for an effect of the order.
    for cell in trials.chunk_by_mut(|a, b| a.cell == b.cell) {
        let mean = cell.iter().map(|t| t.rank).sum::<f64>() / cell.len() as f64;
        cell.iter_mut().for_each(|t| t.rank -= mean);
    }
    trials.sort_by_key(|t| t.round);
    trials
}

fn position(seen: &Observations, cell: usize, round: usize) -> Option<u32> {
    seen.position.get(cell)?.get(round).copied().flatten()
}

fn before(seen: &Observations, cell: usize, round: usize) -> Option<u32> {
    seen.before.get(cell)?.get(round).copied().flatten()
}

/// The share of draws in which the statistic reaches the observed one; `statistic` is given the sign
/// of each round. Ends early once p cannot be under the level any more.
fn p_of_signs(rounds: usize, seed: u64, statistic: impl Fn(&[f64]) -> f64) -> f64 {
    let mut signs = vec![1.0; rounds];
    let observed = statistic(&signs) * (1.0 - 1e-12);
    let mut random = generator(seed, 0x4f52);
    let enough = (LEVEL * PERMUTATIONS as f64) as usize + 1;
    let mut reached = 0;
    for done in 1..=PERMUTATIONS {
        for signs in signs.chunks_mut(64) {
            let bits = random.next_u64();
            let turned = |i: usize| if bits >> i & 1 == 1 { -1.0 } else { 1.0 };
            signs.iter_mut().enumerate().for_each(|(i, sign)| *sign = turned(i));
        }
        reached += usize::from(statistic(&signs) >= observed);
        if reached >= enough {
            return (1 + reached) as f64 / (1 + done) as f64;
        }
    }
    (1 + reached) as f64 / (1 + PERMUTATIONS) as f64
}

/// Kruskal–Wallis by the preceding cell.
fn by_cell(seen: &Observations, trials: &[Trial], material: f64, seed: u64) -> Option<CarryOver> {
    let mut names: Vec<u32> = seen.before.iter().flatten().copied().flatten().collect();
    names.sort_unstable();
    names.dedup();
    let mut groups: Vec<Vec<f64>> = vec![Vec::new(); names.len()];
    let mut known: Vec<(usize, usize, f64)> = Vec::with_capacity(trials.len());
    for trial in trials {
        let Some(name) = before(seen, trial.cell, trial.round) else { continue };
        let Ok(group) = names.binary_search(&name) else { continue };
        groups[group].push(trial.residual);
        known.push((trial.round, group, trial.rank));
    }
    let sizes: Vec<f64> = groups.iter().map(|g| g.len().max(1) as f64).collect();
    let effect = range_of_levels(&mut groups)?;
    if effect <= material {
        return None;
    }
    let p = p_of_signs(seen.rounds(), seed, |signs| {
        let mut sums = vec![0.0; sizes.len()];
        known.iter().for_each(|(round, group, rank)| sums[*group] += signs[*round] * rank);
        sums.iter().zip(&sizes).map(|(sum, n)| sum * sum / n).sum()
    });
    (p < LEVEL).then_some(CarryOver { by_cell: true, effect, p })
}

/// Greatest less least level of the groups that are large enough.
fn range_of_levels(groups: &mut [Vec<f64>]) -> Option<f64> {
    let large = groups.iter_mut().filter(|g| g.len() >= FEWEST_IN_GROUP);
    let levels: Vec<f64> = large.map(|g| midmean(g)).collect();
    let least = levels.iter().copied().min_by(f64::total_cmp)?;
    let greatest = levels.iter().copied().max_by(f64::total_cmp)?;
    Some(greatest - least)
}

/// Mean of the middle half. A median would jump between the clusters where only some trials of a
/// group pay, and a mean would follow a spike.
fn midmean(values: &mut [f64]) -> f64 {
    values.sort_unstable_by(f64::total_cmp);
    let cut = values.len() / 4;
    let middle = &values[cut..values.len() - cut];
    middle.iter().sum::<f64>() / middle.len() as f64
}

/// Spearman by the position in the round.
fn by_position(
    seen: &Observations,
    trials: &[Trial],
    material: f64,
    seed: u64,
) -> Option<CarryOver> {
    let place = |t: &Trial| position(seen, t.cell, t.round).map_or(0.0, f64::from);
    let places: Vec<f64> = trials.iter().map(place).collect();
    let middle = median(&places)?;
    let level = |late: bool| -> Option<f64> {
        let on_side = |place: f64| if late { place > middle } else { place < middle };
        let mine = trials.iter().zip(&places).filter(|(_, place)| on_side(**place));
        let mut mine: Vec<f64> = mine.map(|(trial, _)| trial.residual).collect();
        (mine.len() >= FEWEST_IN_GROUP).then(|| midmean(&mut mine))
    };
    let effect = (level(true)? - level(false)?).abs();
    if effect <= material {
        return None;
    }
    let mut sums = vec![0.0; seen.rounds()];
    for (trial, place) in trials.iter().zip(&places) {
        sums[trial.round] += trial.rank * (place - middle);
    }
    let p = p_of_signs(seen.rounds(), seed ^ 1, |signs| {
        sums.iter().zip(signs).map(|(sum, sign)| sum * sign).sum::<f64>().abs()
    });
    (p < LEVEL).then_some(CarryOver { by_cell: false, effect, p })
}
