//! Contrasts: d of every cell still in the rounds against the leader. Drift in them breaks the claim.
//!
//! They are tested as one family. With 23 rivals a p of 0.01 each would cry wolf in one run of five,
//! so trends are held to 1 % by Holm over the family, steps by the permutation of the greatest
//! statistic, and the lag-1 flag by Bonferroni. NONSTATIONARY needs nothing: the intervals hold
//! together already.

use statrs::function::erf::erfc_inv;

use super::compare::{Comparer, takes_part};
use super::drift::{Suspect, find_drift, step_explains};
use super::findings::{p_text, percent};
use super::series::Series;
use super::sign::RankTable;
use super::stopping::find;
use super::verdict::Finding;
use super::{Observations, Rules, Standing};
use iolab_model::catalog::Code;

/// Between cells that differ by a factor, a drift matters from this share of the difference on: the
/// ratio 40 may become 41 and the claim stands.
const SHARE_OF_DIFFERENCE: f64 = 0.1;

/// One contrast with the leader.
pub(crate) struct Contrast {
    /// The cell beside the leader.
    cells: Vec<usize>,
    /// d by unit (round or epoch).
    d: Vec<f64>,
    /// Spearman's correlation of neighbours.
    pub(crate) lag1: f64,
    /// Rounds that were merged for its interval.
    merged: u32,
    /// A change in d (a logarithm) that matters.
    material: f64,
    /// How far the intervals of the past lie apart, at most; negative where they meet.
    gap: f64,
}

/// Every contrast with the leader of cells measured to the end.
pub(crate) fn contrasts(seen: &Observations, rules: &Rules, standing: &Standing) -> Vec<Contrast> {
    let Some(hub) = standing.leader else { return Vec::new() };
    let rounds = seen.rounds();
    let mut comparer = Comparer::new(seen, rules);
    let mut ranks = RankTable::new(rules.alpha, rules.pairs, rules.fixed);
    (0..seen.y.len())
        .filter(|cell| *cell != hub && seen.y[*cell].len() == rounds && takes_part(seen, *cell))
        .filter_map(|cell| {
            let pair = find(&standing.pairs, hub, cell)?;
            comparer.load(pair.a, pair.b);
            comparer.units.sort();
            let d = comparer.units.values.clone();
            let material = rules.delta.ln_1p().max(SHARE_OF_DIFFERENCE * pair.median.abs());
            Some(Contrast {
                cells: vec![pair.a, pair.b],
                lag1: comparer.units.lag1(),
                merged: pair.merged,
                material,
                // With a number of rounds fixed in advance there was one interval, not many.
                gap: if rules.fixed { -1.0 } else { gap(&d, pair.merged, &mut ranks) },
                d,
            })
        })
        .collect()
}

/// Greatest lower bound less least upper bound over all intervals of the past. Rounds are merged as
/// they are for the last of them, unless neighbours are alike because of a step, which is what is
/// looked for.
fn gap(d: &[f64], merged: u32, ranks: &mut RankTable) -> f64 {
    let size = if merged > 1 && step_explains(d) { 1 } else { merged as usize };
    let mut units = Series::default();
    units.merge_from(d, size, &mut Vec::new());
    let mut sorted: Vec<f64> = Vec::with_capacity(units.len());
    let (mut low, mut high) = (f64::NEG_INFINITY, f64::INFINITY);
    for d in units.values {
        sorted.insert(sorted.partition_point(|other| *other < d), d);
        if let rank @ 1.. = ranks.rank(sorted.len()) {
            low = low.max(sorted[rank - 1]);
            high = high.min(sorted[sorted.len() - rank]);
        }
    }
    low - high
}

/// What is wrong with the contrasts, at most one finding of a kind.
pub(crate) fn contrast_findings(contrasts: &[Contrast], rules: &Rules) -> Vec<Finding> {
    let mut found = Vec::new();
    let suspects: Vec<Suspect> = contrasts.iter().map(|c| Suspect::new(&c.d, c.material)).collect();
    if let Some(drift) = find_drift(&suspects, rules.seed) {
        let size = percent(drift.amount.abs().exp_m1());
        let how = match drift.step {
            Some(at) => format!("a step of {size} after {at} of"),
            None => format!("a trend of {size} over"),
        };
        let contrast = &contrasts[drift.series];
        let detail = format!("{how} {} units (p {})", contrast.d.len(), p_text(drift.p));
        found.push(Finding::new(Code::ContrastDrift, contrast.cells.clone(), detail));
    }
    let apart = |c: &&Contrast| c.gap > c.material / 2.0;
    if let Some(worst) = contrasts.iter().filter(apart).max_by(|a, b| a.gap.total_cmp(&b.gap)) {
        let detail = format!("intervals of the past lie {} apart", percent(worst.gap.exp_m1()));
        found.push(Finding::new(Code::NonStationary, worst.cells.clone(), detail));
    }
    found.extend(autocorrelated(contrasts));
    found
}

fn autocorrelated(contrasts: &[Contrast]) -> Option<Finding> {
    let level = 0.05 / contrasts.len().max(1) as f64;
    let z = std::f64::consts::SQRT_2 * erfc_inv(level);
    let alike = |c: &&Contrast| c.merged > 1 && c.lag1 > (z / (c.d.len() as f64).sqrt()).max(0.2);
    let worst = contrasts.iter().filter(alike).max_by(|a, b| a.lag1.total_cmp(&b.lag1))?;
    let detail =
        format!("lag-1 correlation {:.2}, {} rounds merged into one", worst.lag1, worst.merged);
    Some(Finding::new(Code::Autocorrelated, worst.cells.clone(), detail))
}
