//! One study from two places: its claims as two machines, kernels or days have them.

use super::Study;
use super::claim::Claim;
use super::evidence::Ratio;
use super::ruling::{Ruling, Verdict};
use iolab_model::catalog::markdown_text;

/// One of the two.
#[derive(Clone, Debug)]
pub struct Side {
    /// What it is called: the number of a run, a file.
    pub name: String,
    /// The machine in a line.
    pub machine: String,
    /// The study's claims, judged there, in their order.
    pub rulings: Vec<Ruling>,
}

/// Claim by claim, as Markdown: both verdicts with their ratios, and whether they part.
pub fn beside(study: &Study, one: &Side, other: &Side) -> String {
    let mut text = format!(
        "# {}: {} beside {}\n\n",
        study.title,
        markdown_text(&one.name),
        markdown_text(&other.name)
    );
    for side in [one, other] {
        text.push_str(&format!(
            "- {}: {}\n",
            markdown_text(&side.name),
            markdown_text(&side.machine)
        ));
    }
    let pairs = || one.rulings.iter().zip(&other.rulings);
    let parted = pairs().filter(|(x, y)| parts(x, y) == Apart::Verdicts).count();
    text.push_str(&format!(
        "\n{} of {} claims have another verdict on the other side. The runs share no round, so a \
         ratio is called another one only where the two intervals do not touch.\n\n",
        parted,
        study.claims.len()
    ));
    text.push_str(&format!(
        "| claim | {} | {} | |\n| :-- | :-- | :-- | :-- |\n",
        markdown_text(&one.name),
        markdown_text(&other.name)
    ));
    for (claim, (x, y)) in study.claims.iter().zip(pairs()) {
        text.push_str(&row(claim, x, y));
    }
    text
}

fn row(claim: &Claim, x: &Ruling, y: &Ruling) -> String {
    let apart = match parts(x, y) {
        Apart::Verdicts => "**another verdict**",
        Apart::Ratios => "same verdict, another ratio",
        Apart::Untested => "",
        Apart::Nothing => "same",
    };
    format!("| {} | {} | {} | {apart} |\n", markdown_text(&claim.says), cell(x), cell(y))
}

fn cell(ruling: &Ruling) -> String {
    match (&ruling.measured, ruling.verdict) {
        (Some(ratio), _) => format!("{} {ratio}", ruling.verdict.word()),
        (None, Verdict::NotTested) => markdown_text(&format!("not tested: {}", ruling.why)),
        (None, _) => markdown_text(&format!("{}: {}", ruling.verdict.word(), ruling.why)),
    }
}

/// How two rulings of one claim part.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Apart {
    Verdicts,
    Ratios,
    /// One side or both have nothing to compare.
    Untested,
    Nothing,
}

fn parts(x: &Ruling, y: &Ruling) -> Apart {
    let tested = |ruling: &Ruling| ruling.verdict != Verdict::NotTested;
    match (x.verdict == y.verdict, x.measured, y.measured) {
        _ if !tested(x) || !tested(y) => Apart::Untested,
        (false, ..) => Apart::Verdicts,
        (true, Some(x), Some(y)) if disjoint(&x, &y) => Apart::Ratios,
        (true, ..) => Apart::Nothing,
    }
}

fn disjoint(x: &Ratio, y: &Ratio) -> bool {
    let above = |x: &Ratio, y: &Ratio| match (x.interval.low, y.interval.high) {
        (Some(low), Some(high)) => low > high,
        _ => false,
    };
    above(x, y) || above(y, x)
}
