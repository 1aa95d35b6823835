//! The first paragraph of a page, for somebody who has the study in hand: what holds here, what
//! does not, and why, in five sentences.

use super::claim::Claim;
use super::outcome::Page;
use super::ruling::{Ruling, Verdict};
use super::terms::Ours;
use iolab_model::catalog::capital_text;

/// Claims that are named in full; the table below has the rest.
const NAMED: usize = 3;

/// Five sentences.
pub(super) fn opening(page: &Page<'_>) -> String {
    let pairs: Vec<(&Claim, &Ruling)> = page.study.claims.iter().zip(page.rulings).collect();
    // The study's own claims first: they are what its reader looks for.
    let of = |verdict: Verdict| -> Vec<(&Claim, &Ruling)> {
        let found = pairs.iter().copied().filter(|(_, ruling)| ruling.verdict == verdict);
        let mut found: Vec<_> = found.collect();
        found.sort_by_key(|(claim, _)| claim.ours == Ours::All);
        found
    };
    let sentences = [
        counted(&pairs),
        holding(&of(Verdict::Replicated)),
        failing(&of(Verdict::Contradicted)),
        open(&of(Verdict::Inconclusive), &of(Verdict::NotTested)),
        machines(page),
    ];
    sentences.join(" ")
}

fn counted(pairs: &[(&Claim, &Ruling)]) -> String {
    let ours = pairs.iter().filter(|(claim, _)| claim.ours == Ours::All).count();
    let holds = pairs.iter().filter(|(_, r)| r.verdict == Verdict::Replicated).count();
    let whose = match ours {
        0 => String::new(),
        1 => ", one of them ours and not the study's".to_owned(),
        n => format!(", {n} of them ours and not the study's"),
    };
    let hold = if holds == 1 { "holds" } else { "hold" };
    format!("Of {} claims{whose}, {holds} {hold} on this machine.", pairs.len())
}

fn holding(pairs: &[(&Claim, &Ruling)]) -> String {
    match pairs.is_empty() {
        true => "None could be shown to hold.".to_owned(),
        false => format!("It holds here: {}.", named(pairs, |_, _| String::new())),
    }
}

fn failing(pairs: &[(&Claim, &Ruling)]) -> String {
    match pairs.is_empty() {
        true => "Nothing of it is contradicted.".to_owned(),
        false => format!("It does not hold here: {}.", named(pairs, why)),
    }
}

/// What was seen instead, and what the file says of it.
fn why(claim: &Claim, ruling: &Ruling) -> String {
    let mut parts: Vec<String> =
        ruling.measured.iter().map(|measured| format!("here {measured}")).collect();
    parts.push(ruling.why.clone());
    parts.extend(claim.note.as_deref().map(first_sentence));
    format!(" ({})", parts.join("; "))
}

/// The first sentence of a note, without its stop: what stands first is what matters.
fn first_sentence(note: &str) -> String {
    let note = note.split_whitespace().collect::<Vec<_>>().join(" ");
    let end = note.find(". ").unwrap_or(note.len());
    note[..end].trim_end_matches('.').to_owned()
}

fn open(inconclusive: &[(&Claim, &Ruling)], untested: &[(&Claim, &Ruling)]) -> String {
    let mut parts = Vec::new();
    if !inconclusive.is_empty() {
        let what = named(inconclusive, |_, _| String::new());
        parts.push(format!("not settled within the rounds that were measured: {what}"));
    }
    if let Some((_, first)) = untested.first() {
        let why = first.why.trim_end_matches('.');
        parts.push(match untested.len() {
            1 => format!("one claim is not tested: {why}"),
            n => format!("{n} claims are not tested, the first because {why}"),
        });
    }
    match parts.is_empty() {
        true => "Every claim came to a verdict.".to_owned(),
        false => format!("{}.", capital_text(&parts.join("; "))),
    }
}

fn machines(page: &Page<'_>) -> String {
    let fact = |name: &str| {
        page.study.source.iter().find(|(fact, _)| fact == name).map(|(_, fact)| fact.as_str())
    };
    let theirs = fact("machine").unwrap_or("a machine that is not described");
    let kernel = fact("kernel").map_or(String::new(), |kernel| format!(", {kernel}"));
    format!(
        "The study was made on {theirs}{kernel}; here it ran on {}, and where the two part, that \
         is the first thing to look at.",
        page.machine
    )
}

/// The first few in their own words, and how many more there are.
fn named(pairs: &[(&Claim, &Ruling)], beside: impl Fn(&Claim, &Ruling) -> String) -> String {
    let one =
        |(claim, ruling): &(&Claim, &Ruling)| format!("{}{}", claim.says, beside(claim, ruling));
    let some: Vec<String> = pairs.iter().take(NAMED).map(one).collect();
    let rest = match pairs.len().saturating_sub(NAMED) {
        0 => String::new(),
        n => format!("; and {n} more"),
    };
    format!("{}{rest}", some.join("; "))
}
