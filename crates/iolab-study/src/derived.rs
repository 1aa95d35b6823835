//! The sentence that a claim's test is, made from the test alone: what stands beside the study's
//! sentence, so that a reader sees where the two part.

use super::Study;
use super::claim::{Choice, Claim, Kind, Measure, Ours, Per, Spread};
use super::evidence::figure;
use super::judge::range_text;
use super::select::{Selection, text};
use iolab_model::catalog::{Factor, Kind as LevelKind, Level, time_text};

/// What is tested, in a sentence of our own.
pub fn tested(claim: &Claim, study: &Study) -> String {
    let of = scope(&claim.of, claim);
    let said = said(claim, &open(claim, study));
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

fn said(claim: &Claim, open: &[Factor]) -> String {
    let time = time_word(claim);
    let side = |selection: &Selection| side(selection, claim.choice, open);
    match &claim.kind {
        Kind::Faster { a, b, by: None } => {
            format!("{time} of {} is less than that of {}", side(a), side(b))
        }
        Kind::Faster { a, b, by: Some((from, to)) } => {
            format!("{time} of {} is {} that of {}", side(b), range_text(*from, *to), side(a))
        }
        Kind::Fastest { a } => {
            format!("{time} of {} is less than that of every other cell", side(a))
        }
        Kind::Order { sides } => {
            let sides: Vec<String> = sides.iter().map(side).collect();
            format!("{time} is in this order, each less than the next: {}", sides.join(" < "))
        }
        Kind::Equivalent { a, b, tolerance } => {
            format!(
                "{time} of {} and of {} differ by at most {}",
                side(a),
                side(b),
                percent(*tolerance)
            )
        }
        Kind::Difference { a, b, most_ns } => {
            format!(
                "{time} of {} and of {} differ by at most {}",
                side(a),
                side(b),
                time_text(*most_ns)
            )
        }
        Kind::GainsNothing { a, b, tolerance } => format!(
            "{time} of {} is at most {} more than that of {}",
            side(b),
            percent(*tolerance),
            side(a)
        ),
        Kind::GainsLess { a, b, at, than } => {
            format!("{} gains less over {} at {at} than at {than}", side(a), side(b))
        }
        Kind::Share { from, to } => share(claim.measure, *from, *to),
        Kind::SameValue => "every cell found the same value".to_owned(),
        Kind::Untested => "nothing is tested".to_owned(),
        _ => along(claim, time),
    }
}

fn along(claim: &Claim, time: &str) -> String {
    match &claim.kind {
        Kind::Ordered { axis, falling } => {
            let way = if *falling { "less" } else { "more" };
            format!("{time} gets {way} as {axis} grows, no step shown to go back")
        }
        Kind::Linear { axis, tolerance } => format!(
            "{time} of a unit of work is the same at every {axis}, within {}",
            percent(*tolerance)
        ),
        Kind::Plateau { axis, from, tolerance } => format!(
            "no larger {axis} than {} is faster by more than {}",
            level(*axis, *from),
            percent(*tolerance)
        ),
        Kind::Crossover { axis, a, b, between: (from, to) } => format!(
            "below {axis} {} {a} is faster, above {} {b}; they change places in between",
            level(*axis, *from),
            level(*axis, *to)
        ),
        Kind::Scales { axis, from, to, by } => format!(
            "from {} to {} {axis} the rate grows {}",
            level(*axis, *from),
            level(*axis, *to),
            range_text(by.0, by.1)
        ),
        _ => String::new(),
    }
}

fn share(measure: Measure, from: f64, to: f64) -> String {
    let word = match measure {
        Measure::Elapsed | Measure::User => "user time",
        Measure::System => "system time",
        Measure::Cpu => "CPU time",
    };
    let bounds = match (from > 0.0, to < f64::INFINITY) {
        (true, true) => format!("{} to {}", percent(from), percent(to)),
        (true, false) => format!("at least {}", percent(from)),
        _ => format!("at most {}", percent(to)),
    };
    format!("{word} is {bounds} of the elapsed time in every cell")
}

/// Factors that the claim's experiment varies and that the claim leaves open: of the cells that
/// differ in them, one is meant that no sentence names.
fn open(claim: &Claim, study: &Study) -> Vec<Factor> {
    let last = claim.experiments.last();
    let Some(trial) = study.experiments.iter().find(|trial| Some(&trial.name) == last) else {
        return Vec::new();
    };
    let over = match claim.spread {
        Spread::Each(factor, _) | Spread::Average(factor) => Some(factor),
        Spread::Once => None,
    };
    let levels = trial.written.experiment.factors.iter();
    let varied = levels.filter(|(_, levels)| levels.len() > 1).map(|(factor, _)| *factor);
    let places = match &claim.kind {
        Kind::GainsLess { at, than, .. } => vec![&claim.of, at, than],
        _ => vec![&claim.of],
    };
    let fixed = |factor: &Factor| {
        [claim.axis(), over].contains(&Some(*factor))
            || places.iter().any(|place| place.iter().any(|(of, _)| of == *factor))
    };
    varied.filter(|factor| !fixed(factor)).collect()
}

fn side(selection: &Selection, choice: Choice, open: &[Factor]) -> String {
    if selection.iter().next().is_none() {
        return "the others".to_owned();
    }
    let named = |factor: &&Factor| selection.iter().any(|(of, _)| of == **factor);
    // A command and a method are two names for who does it: either closes the other.
    let who = [Factor::Method, Factor::Contender];
    let by_name = selection.iter().any(|(of, _)| who.contains(&of));
    let left: Vec<&str> = open
        .iter()
        .filter(|factor| !(named(factor) || by_name && who.contains(factor)))
        .map(|factor| factor.name())
        .collect();
    let several = selection.iter().any(|(_, levels)| levels.len() > 1) || !left.is_empty();
    let whatever = match left.is_empty() {
        true => String::new(),
        false => format!(", whatever its {}", left.join(" and ")),
    };
    match (several, choice) {
        (true, Choice::Best) => format!("the best of {selection}{whatever}"),
        (_, Choice::Every) => {
            format!("every {}{whatever}", selection.to_string().replace(" or ", ", "))
        }
        (false, Choice::Best) => selection.to_string(),
    }
}

fn time_word(claim: &Claim) -> &'static str {
    match (claim.measure, claim.per) {
        (Measure::User, _) => "user time",
        (Measure::System, _) => "system time",
        (Measure::Cpu, _) => "CPU time",
        (Measure::Elapsed, Per::Operation) => "time of a call",
        (Measure::Elapsed, Per::Pass) => "time of a pass",
        (Measure::Elapsed, Per::Work) => "time",
    }
}

fn level(axis: Factor, at: u64) -> String {
    match axis.kind() {
        LevelKind::Bytes => text(axis, &Level::Number(at)),
        _ => at.to_string(),
    }
}

fn percent(share: f64) -> String {
    format!(
        "{} %",
        figure(100.0 * share)
            .trim_end_matches(".000")
            .trim_end_matches(".00")
            .trim_end_matches(".0")
    )
}
