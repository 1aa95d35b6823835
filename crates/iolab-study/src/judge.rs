//! A claim against what was measured.

use super::bench::Bench;
use super::claim::Claim;
use super::evidence::{Evidence, unequal};
use super::ruling::{Ruled, Ruling, Verdict};
use super::select::text;
use super::terms::Spread;
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellRecord, Document};

/// Judges one claim.
pub fn judge(claim: &Claim, evidence: &Evidence<'_>) -> Ruling {
    let document = match evidence.run(&claim.experiments) {
        Ok(document) => document,
        Err(why) => return Ruling::new(Verdict::NotTested, why),
    };
    if let Some(missing) = claim.needs.missing(document) {
        return Ruling::new(Verdict::NotTested, missing);
    }
    let average = match claim.spread {
        Spread::Average(factor) => Some(factor),
        _ => None,
    };
    let bench = Bench {
        document,
        of: claim.of.clone(),
        measure: claim.measure,
        per: claim.per,
        choice: claim.choice,
        average,
        alpha: evidence.alpha,
    };
    let ruled = match claim.spread {
        Spread::Each(factor, enough) => each(claim, &bench, factor, enough),
        Spread::Once | Spread::Average(_) => claim.test.judge(&bench),
    };
    let ruling = ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why));
    allowing(claim, document, ruling)
}

/// Says so where the cells did parts of unequal length, and something was allowed for it.
fn allowing(claim: &Claim, document: &Document, ruling: Ruling) -> Ruling {
    let sides = claim.test.sides().into_iter();
    let mut cells: Vec<&CellRecord> =
        sides.flat_map(|side| claim.of.and(side).cells(document)).collect();
    if cells.is_empty() {
        cells = claim.of.cells(document);
    }
    if ruling.measured.is_none() || !unequal(&cells) {
        return ruling;
    }
    let why = format!(
        "{}; its cells did parts of unequal length, for which 30 % are allowed",
        ruling.why
    );
    Ruling { why, ..ruling }
}

/// The claim at each level of a factor. It holds where it holds at `enough` of them, at all where
/// nothing is said; it does not where too many are left at which it is shown not to.
fn each(claim: &Claim, bench: &Bench<'_>, factor: Factor, enough: Option<usize>) -> Ruled {
    let levels = bench.levels(factor);
    let enough = enough.unwrap_or(levels.len());
    let at = |looks: usize| -> Vec<(String, Ruling)> {
        let one = |level: &Level| {
            let of = bench.of.at(factor, level.clone());
            let alpha = bench.alpha / looks.max(1) as f64;
            let ruled = claim.test.judge(&Bench { of, alpha, ..bench.clone() });
            let ruling = ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why));
            (text(factor, level), ruling)
        };
        levels.iter().map(one).collect()
    };
    // To say wrongly that all of them hold, the one level at which it does not must be judged
    // wrongly: each may have the whole error. Every other verdict picks levels, and shares it.
    let mut seen = at(1);
    let all = seen.iter().all(|(_, ruling)| ruling.verdict == Verdict::Replicated);
    if !all || enough < levels.len() {
        seen = at(levels.len());
    }
    let count = |verdict| seen.iter().filter(|(_, r)| r.verdict == verdict).count();
    let holds = count(Verdict::Replicated);
    let verdict = match () {
        () if seen.is_empty() => return Err(format!("no level of {factor} was measured")),
        () if holds >= enough => Verdict::Replicated,
        () if levels.len() - count(Verdict::Contradicted) < enough => Verdict::Contradicted,
        () if count(Verdict::NotTested) == seen.len() => return Err(seen[0].1.why.clone()),
        () => Verdict::Inconclusive,
    };
    Ok(together(&seen, verdict))
}

/// One ruling of many: the level that decides gives its ratio, and all are named.
fn together(seen: &[(String, Ruling)], verdict: Verdict) -> Ruling {
    let decides = |(_, ruling): &&(String, Ruling)| ruling.verdict == verdict;
    let weight = |ruling: &Ruling| ruling.measured.map_or(0.0, |m| m.ratio.ln().abs());
    let least =
        |x: &&(String, Ruling), y: &&(String, Ruling)| weight(&x.1).total_cmp(&weight(&y.1));
    let deciding = seen.iter().filter(decides).min_by(least);
    let mut parts = Vec::new();
    for verdict in
        [Verdict::Replicated, Verdict::Contradicted, Verdict::Inconclusive, Verdict::NotTested]
    {
        let names: Vec<&str> =
            seen.iter().filter(|(_, r)| r.verdict == verdict).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{} at {}", verdict.word(), names.join(", ")));
        }
    }
    if let Some((name, ruling)) = deciding {
        parts.push(format!("nearest at {name}: {}", ruling.why));
    }
    let measured = deciding.and_then(|(_, ruling)| ruling.measured);
    Ruling { verdict, why: parts.join("; "), measured }
}
