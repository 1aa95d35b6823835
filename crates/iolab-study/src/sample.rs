//! A study within a budget: which levels are measured where not all of them fit.

use std::collections::BTreeSet;

use super::claim::Claim;
use super::select::text;
use iolab_model::catalog::{Factor, Level};
use iolab_model::spec::Experiment;

/// Time below which a cell says too little: some thirty rounds of short trials.
const CELL_NS: u64 = 600_000_000;

/// Rounds that a claim wants: an interval needs about ten, a narrow one several times as many.
const ENOUGH_ROUNDS: u32 = 40;

/// What was left out of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct LeftOut {
    /// The axis.
    pub factor: Factor,
    /// Its levels, as people write them.
    pub levels: Vec<String>,
}

/// Leaves out levels until what is left can be measured in the experiment's budget: always of the
/// axis that has most of them; never its ends, never a level that a claim names.
pub fn sample(experiment: &mut Experiment, claims: &[&Claim]) -> Vec<LeftOut> {
    let most = (experiment.protocol.budget_ns / CELL_NS).max(4);
    let mut left_out = Vec::new();
    thin(experiment, claims, most, &mut left_out);
    left_out
}

/// Leaves out more where the plan has shown that only `rounds` fit. False where nothing else can
/// go, or nothing has to.
pub fn resample(
    experiment: &mut Experiment,
    claims: &[&Claim],
    rounds: u32,
    left_out: &mut Vec<LeftOut>,
) -> bool {
    let before = cells(experiment);
    let most = before.saturating_mul(u64::from(rounds)) / u64::from(ENOUGH_ROUNDS);
    thin(experiment, claims, most.max(4), left_out);
    cells(experiment) < before
}

fn thin(experiment: &mut Experiment, claims: &[&Claim], most: u64, left_out: &mut Vec<LeftOut>) {
    while cells(experiment) > most {
        let Some((factor, at)) = dispensable(experiment, claims) else { break };
        let Some(levels) = experiment.factors.get_mut(&factor) else { break };
        let gone = text(factor, &levels.remove(at));
        match left_out.iter_mut().find(|l| l.factor == factor) {
            Some(of) => of.levels.push(gone),
            None => left_out.push(LeftOut { factor, levels: vec![gone] }),
        }
    }
}

fn cells(experiment: &Experiment) -> u64 {
    let levels = experiment.factors.values().map(|levels| levels.len() as u64);
    levels.fold(1, u64::saturating_mul)
}

/// The level that is missed least: on the longest axis that has one, the one whose neighbours are
/// nearest to each other. A number is a point on a line, which its neighbours stand for; a word (a
/// file system, a method) is a thing of its own and stays.
fn dispensable(experiment: &Experiment, claims: &[&Claim]) -> Option<(Factor, usize)> {
    let mut axes: Vec<(&Factor, &Vec<Level>)> = experiment.factors.iter().collect();
    axes.retain(|(_, levels)| levels.iter().all(|level| matches!(level, Level::Number(_))));
    axes.sort_by_key(|(_, levels)| std::cmp::Reverse(levels.len()));
    axes.into_iter().find_map(|(factor, levels)| {
        let named = named(*factor, claims);
        let free = (1..levels.len().saturating_sub(1)).filter(|at| !named.contains(&levels[*at]));
        let number = |at: usize| match &levels[at] {
            Level::Number(number) => (*number).max(1) as f64,
            _ => 1.0,
        };
        let gap = |at: &usize| (number(at + 1) / number(at - 1) * 1e6) as u64;
        free.min_by_key(gap).map(|at| (*factor, at))
    })
}

/// Levels of a factor that a claim needs.
fn named(factor: Factor, claims: &[&Claim]) -> BTreeSet<Level> {
    claims.iter().flat_map(|claim| claim.names(factor)).collect()
}
