//! A claim against what was measured.

use super::bench::Bench;
use super::claim::Claim;
use super::evidence::{Evidence, unequal};
use super::ruling::{Ruling, Verdict};
use super::select::{Selection, text};
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
    let bench = bench(claim, document, evidence.alpha);
    let ruled = match claim.spread {
        Spread::Each(factor, enough) => {
            each(claim, &bench, factor, enough).map(|(ruling, _)| ruling)
        }
        Spread::Once | Spread::Average(_) => claim.test.judge(&bench),
    };
    let ruling = ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why));
    allowing(claim, document, ruling)
}

/// The run as the claim sees it.
fn bench<'a>(claim: &Claim, document: &'a Document, alpha: f64) -> Bench<'a> {
    let average = match claim.spread {
        Spread::Average(factor) => Some(factor),
        _ => None,
    };
    Bench {
        document,
        of: claim.of.clone(),
        measure: claim.measure,
        per: claim.per,
        choice: claim.choice,
        average,
        alpha,
    }
}

/// By cell of the run, whether more rounds of it may decide a claim that is open: none where all of
/// these claims are decided, or cannot be.
pub fn open_cells(claims: &[&Claim], document: &Document, alpha: f64) -> Vec<bool> {
    let mut open = vec![false; document.cells.len()];
    let tested = claims.iter().filter(|claim| claim.needs.missing(document).is_none());
    for claim in tested {
        let wanted = opened(claim, &bench(claim, document, alpha));
        for (open, cell) in open.iter_mut().zip(&document.cells) {
            *open |= wanted.iter().any(|of| of.takes(&cell.factors));
        }
    }
    open
}

/// What an open claim waits for.
fn opened(claim: &Claim, bench: &Bench<'_>) -> Vec<Selection> {
    let of = match claim.spread {
        Spread::Each(factor, enough) => match each(claim, bench, factor, enough) {
            Ok((ruling, open)) if ruling.verdict == Verdict::Inconclusive => open,
            _ => Vec::new(),
        },
        Spread::Once | Spread::Average(_) => match claim.test.judge(bench) {
            Ok(ruling) if ruling.verdict == Verdict::Inconclusive => vec![claim.of.clone()],
            _ => Vec::new(),
        },
    };
    let sides = claim.test.decided_by();
    of.iter().flat_map(|of| sides.iter().map(|side| of.and(side))).collect()
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
///
/// That it holds at u of n is said wrongly only where it fails at n − u + 1 or more, and holds wrongly
/// at one of these at least: so many share the error, and where all are asked for each has the whole.
/// That it fails is the same turned round: at n − u + 1 of n. With the ruling, the cells of the levels
/// that are open.
fn each(
    claim: &Claim,
    bench: &Bench<'_>,
    factor: Factor,
    enough: Option<usize>,
) -> Result<(Ruling, Vec<Selection>), String> {
    let levels = bench.levels(factor);
    let n = levels.len();
    if n == 0 {
        return Err(format!("no level of {factor} was measured"));
    }
    let enough = enough.unwrap_or(n).clamp(1, n);
    let at = |looks: usize| {
        let one = |level: &Level| {
            let of = bench.of.at(factor, level.clone());
            let alpha = bench.alpha / looks as f64;
            let ruled = claim.test.judge(&Bench { of, alpha, ..bench.clone() });
            let ruling = ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why));
            (text(factor, level), ruling)
        };
        levels.iter().map(one).collect::<Vec<(String, Ruling)>>()
    };
    let fails = n - enough + 1;
    let mut seen = at(fails);
    if fails != enough {
        seen = seen.into_iter().zip(at(enough)).map(settled).collect();
    }
    let count = |verdict| seen.iter().filter(|(_, r)| r.verdict == verdict).count();
    let verdict = match () {
        () if count(Verdict::Replicated) >= enough => Verdict::Replicated,
        () if count(Verdict::Contradicted) >= fails => Verdict::Contradicted,
        () if count(Verdict::NotTested) == n => return Err(seen[0].1.why.clone()),
        () => Verdict::Inconclusive,
    };
    let open = levels.iter().zip(&seen).filter(|(_, (_, r))| r.verdict == Verdict::Inconclusive);
    let open = open.map(|(level, _)| bench.of.at(factor, level.clone())).collect();
    Ok((together(&seen, verdict), open))
}

/// What holds with the error that is meant for that, what fails with the other; else it is open.
fn settled((holding, failing): ((String, Ruling), (String, Ruling))) -> (String, Ruling) {
    match (holding.1.verdict, failing.1.verdict) {
        (Verdict::Replicated | Verdict::NotTested, _) => holding,
        (_, Verdict::Contradicted) => failing,
        (Verdict::Contradicted, _) => {
            let (name, ruling) = holding;
            (name, Ruling { verdict: Verdict::Inconclusive, ..ruling })
        }
        _ => holding,
    }
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
