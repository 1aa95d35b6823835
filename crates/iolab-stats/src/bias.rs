//! What can bias a claim, found in the data and handed to the claims (`docs/protocol.md`): what the
//! cell before leaves behind, differences that drift, neighbouring rounds that are alike.

use super::Observations;
use super::carry_over::{self, CarryOver};
use super::claims::{Bias, Claims, Drift, Watch, smallest_merge};
use super::drift::{Suspect, find_drift, step_explains};
use super::finding::Finding;
use super::findings::{p_text, percent};
use super::outlier::Parts;
use super::series::{Series, median};
use iolab_model::catalog::Code;

/// Between cells that differ by a factor, a drift matters from this share of the difference on: the
/// ratio 40 may become 41 and the claim stands.
const SHARE_OF_DIFFERENCE: f64 = 0.1;

/// What was found, for the claims and in words.
pub(crate) struct Found {
    pub(crate) bias: Bias,
    pub(crate) findings: Vec<Finding>,
}

/// Looks for all of it. `claims` are those without any bias: their pick is what rivals are held
/// against.
pub(crate) fn found(
    seen: &Observations,
    watch: &Watch,
    claims: &Claims,
    parts: &Parts,
    seed: u64,
) -> Found {
    let mut findings = Vec::new();
    let material = claims.delta.ln_1p();
    let carried = carry_over::carry_over(seen, parts, material / 2.0, seed);
    findings.extend(carried.as_ref().map(carry_over_finding));
    let hub = claims.pick.map(|pick| pick.cell).or_else(|| watch.leader());
    let contrasts = hub.map_or(Vec::new(), |hub| contrasts(watch, claims, hub));
    let mut drifts = hub.map_or(Vec::new(), |hub| drifts_of(&contrasts, hub, material, seed));
    findings.extend(drifts.iter().map(drift_finding));
    drifts.extend(behind_the_moved(watch, claims, &drifts, &contrasts, material, seed));
    let mut merged = vec![1; claims.cells.len()];
    for (cell, d) in &contrasts {
        // A step makes neighbours alike, and is acted on as a drift.
        merged[*cell] = if step_explains(d) { 1 } else { smallest_merge(d, lag1) };
    }
    findings.extend(alike_finding(&merged));
    let carry_over = carried
        .filter(|found| found.by_cell)
        .map(|found| super::claims::CarryOver { p: found.p, effect: found.effect });
    Found { bias: Bias { carry_over, drifts, merged }, findings }
}

/// d of every compared cell against the hub, by unit.
fn contrasts(watch: &Watch, claims: &Claims, hub: usize) -> Vec<(usize, Vec<f64>)> {
    let rivals = claims.compared().into_iter().filter(|cell| *cell != hub);
    rivals
        .map(|cell| {
            let d = watch.contrast(cell, hub).into_iter().filter(|d| d.is_finite()).collect();
            (cell, d)
        })
        .collect()
}

pub(crate) fn lag1(d: &[f64]) -> f64 {
    let mut series = Series::new(d.to_vec());
    series.sort();
    series.lag1()
}

/// What moved against the pick moved against the others as well, and some of them may have been
/// excluded while it was the fastest: the same tests against each cell that moved. Where most did,
/// it was the pick that moved, and all is said.
fn behind_the_moved(
    watch: &Watch,
    claims: &Claims,
    drifts: &[Drift],
    tested: &[(usize, Vec<f64>)],
    material: f64,
    seed: u64,
) -> Vec<Drift> {
    if 2 * drifts.len() > tested.len() {
        return Vec::new();
    }
    let known = |hub: usize, cell: usize| drifts.iter().any(|d| (d.cell, d.against) == (hub, cell));
    let mut more = Vec::new();
    for hub in drifts.iter().map(|drift| drift.cell) {
        let mut contrasts = contrasts(watch, claims, hub);
        contrasts.retain(|(cell, _)| !known(hub, *cell));
        more.extend(drifts_of(&contrasts, hub, material, seed));
    }
    more
}

/// Every drift among the contrasts, each tested within the family of those that are left.
pub(crate) fn drifts_of(
    contrasts: &[(usize, Vec<f64>)],
    hub: usize,
    material: f64,
    seed: u64,
) -> Vec<Drift> {
    let centre = |d: &[f64]| median(d).unwrap_or(0.0);
    let suspect =
        |d: &Vec<f64>| Suspect::new(d, material.max(SHARE_OF_DIFFERENCE * centre(d).abs()));
    let mut suspects: Vec<Suspect> = contrasts.iter().map(|(_, d)| suspect(d)).collect();
    let mut drifts = Vec::new();
    while let Some(drift) = find_drift(&suspects, seed) {
        let (cell, d) = &contrasts[drift.series];
        drifts.push(match drift.step {
            Some(at) => {
                let (before, after) = d.split_at(at.min(d.len()));
                Drift::step(*cell, hub, drift.p, centre(before), centre(after))
            }
            None => {
                let n = d.len();
                Drift::trend(*cell, hub, drift.p, centre(d), drift.amount / n as f64, n)
            }
        });
        suspects[drift.series] = Suspect::new(&[], material);
    }
    drifts
}

fn drift_finding(drift: &Drift) -> Finding {
    let change = percent((drift.at_end - drift.at_start).abs().exp_m1());
    let crossed = drift.at_start.min(drift.at_end) < 0.0 && drift.at_start.max(drift.at_end) > 0.0;
    let how = match crossed {
        true => "one was faster at first, the other later: the difference changed",
        false => "the difference between them changed",
    };
    let detail = format!("{how} by {change} over the run (p {})", p_text(drift.p));
    Finding::new(Code::ContrastDrift, vec![drift.against, drift.cell], detail)
}

/// A dependence on the order, in words.
fn carry_over_finding(found: &CarryOver) -> Finding {
    let (size, p) = (percent(found.effect.exp_m1()), p_text(found.p));
    let detail = match found.by_cell {
        true => format!(
            "the cell before it changes it by up to {size} (p {p}): smaller differences are not claimed"
        ),
        false => format!(
            "its place in the round changes it by up to {size} (p {p}): places are drawn, so it favours \
             nobody"
        ),
    };
    Finding::new(Code::CarryOver, vec![], detail)
}

fn alike_finding(merged: &[usize]) -> Option<Finding> {
    let cells: Vec<usize> = (0..merged.len()).filter(|cell| merged[*cell] > 1).collect();
    let most = *merged.iter().max().filter(|most| **most > 1)?;
    let detail = format!("bounds are computed on up to {most} rounds merged into one");
    Some(Finding::new(Code::Autocorrelated, cells, detail))
}

#[cfg(test)]
#[path = "bias_tests.rs"]
pub(crate) mod tests;
