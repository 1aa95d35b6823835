//! The sentence that a claim's test is, made from the test alone: what stands beside the study's
//! sentence, so that a reader sees where the two part.

use super::Study;
use super::claim::Claim;
use super::saying::Saying;
use super::select::{Selection, text};
use super::terms::{Ours, Spread};
use iolab_model::catalog::Factor;

/// What is tested, in a sentence of our own.
pub fn tested(claim: &Claim, study: &Study) -> String {
    let of = scope(&claim.of, claim);
    let (measure, per, choice) = (claim.measure, claim.per, claim.choice);
    let said = claim.test.said(&Saying { measure, per, choice, open: open(claim, study) });
    let mut parts = vec![format!("{of}{said}")];
    match claim.spread {
        Spread::Once => {}
        Spread::Each(factor, None) => parts.push(format!("at each {factor}")),
        Spread::Each(factor, Some(n)) => parts.push(format!("at {n} or more levels of {factor}")),
        Spread::Average(factor) => parts.push(format!("in the mean over {factor}")),
    }
    let needs = claim.needs.text();
    if !needs.is_empty() {
        parts.push(format!("asked only with {needs}"));
    }
    match &claim.ours {
        Ours::Nothing => {}
        Ours::Part(part) => parts.push(format!("ours: {part}")),
        Ours::All => parts.push("a claim of ours".to_owned()),
    }
    parts.join("; ")
}

fn scope(of: &Selection, claim: &Claim) -> String {
    let named: Vec<String> = of
        .iter()
        .map(|(factor, levels)| {
            let levels: Vec<String> = levels.iter().map(|l| text(factor, l)).collect();
            format!("{factor} {}", levels.join(", "))
        })
        .collect();
    let experiment = claim.experiments.join(" or ");
    match named.is_empty() {
        true => format!("[{experiment}] "),
        false => format!("[{experiment}; {}] ", named.join("; ")),
    }
}

/// Factors that the claim's experiment varies and that the claim leaves open: of the cells that
/// differ in them, one is meant that no sentence names.
fn open(claim: &Claim, study: &Study) -> Vec<Factor> {
    let last = claim.experiments.last();
    let Some(trial) = study.experiments.iter().find(|trial| Some(&trial.name) == last) else {
        return Vec::new();
    };
    let levels = trial.written.experiment.factors.iter();
    let varied = levels.filter(|(_, levels)| levels.len() > 1).map(|(factor, _)| *factor);
    let places: Vec<&Selection> = [&claim.of].into_iter().chain(claim.test.places()).collect();
    let fixed = |factor: &Factor| {
        [claim.test.axis(), claim.spread.over()].contains(&Some(*factor))
            || places.iter().any(|place| place.iter().any(|(of, _)| of == *factor))
    };
    varied.filter(|factor| !fixed(factor)).collect()
}
