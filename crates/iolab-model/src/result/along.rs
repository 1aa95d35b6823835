//! What is found along ordered factors (sizes, numbers of workers, depths of queues): within an
//! answer the least level that is good enough, across answers where one way gives way to another.
//! All of it follows from who may be the best and from the bounds against the best; no median is
//! looked at.

use std::collections::BTreeMap;

use super::answer::{Answer, AnswerKind, CellStanding};
use super::finding::{Finding, FindingKind, Interval};
use crate::catalog::{
    Factor, Kind, Level, Levels, bytes_text, is_plural, percent_text, phrase, so_many,
};

/// Fewer levels of sizes than this are no axis; of workers and queues two are one.
const FEWEST_SIZES: usize = 3;

/// The levels of cells by their ids.
pub type LevelsOf<'a> = BTreeMap<&'a str, &'a Levels>;

fn is_ordered(factor: Factor) -> bool {
    matches!(factor.kind(), Kind::Bytes | Kind::Count)
}

fn level_text(factor: Factor, level: u64) -> String {
    match factor.kind() {
        Kind::Bytes => bytes_text(level),
        _ => Level::Number(level).to_string(),
    }
}

/// Along the ordered factors that were asked about: the least level that is shown to be within what
/// matters (`delta`, a share) of the best, of the series that the answer's pick is in.
pub fn within(answer: &Answer, levels: &LevelsOf<'_>, ask: &[Factor], delta: f64) -> Vec<Finding> {
    let factors = ask.iter().copied().filter(|factor| is_ordered(*factor));
    factors.filter_map(|factor| along(answer, levels, factor, delta)).collect()
}

/// Compared cells of a series by their level of the factor.
type Axis<'a> = Vec<(u64, &'a str)>;

fn along(answer: &Answer, levels: &LevelsOf<'_>, factor: Factor, delta: f64) -> Option<Finding> {
    if answer.kind == AnswerKind::Invalid {
        return None;
    }
    let taken = answer.pick.as_ref().map(|pick| pick.cell.as_str()).or_else(|| answer.leader())?;
    let kin = levels.get(taken)?.only(|f| f != factor);
    let mut axis: Axis<'_> = answer
        .regret
        .iter()
        .map(|regret| regret.cell.as_str())
        .filter(|id| levels.get(id).is_some_and(|own| own.only(|f| f != factor) == kin))
        .filter_map(|id| Some((levels.get(id)?.number(factor)?, id)))
        .collect();
    axis.sort_unstable();
    let fewest = if factor.kind() == Kind::Bytes { FEWEST_SIZES } else { 2 };
    if axis.len() < fewest {
        return None;
    }
    let (level, cell) = *axis.iter().find(|(_, id)| answer.is_within(id, delta))?;
    let near = format!("within {} of the best", percent_text(delta));
    let level_text = level_text(factor, level);
    let mut found = Finding {
        kind: FindingKind::Plateau,
        factor: factor.name().to_owned(),
        cell: cell.into(),
        at_most: answer.regret_of(cell).and_then(|regret| regret.high),
        after: None,
        fewest: None,
        sentence: match factor {
            Factor::QueueDepth => format!("{level_text} is the shallowest queue {near}"),
            _ => format!("{level_text} is the smallest {} {near}", factor.name().replace('-', " ")),
        },
        level: level_text,
    };
    let workers = [(Factor::Threads, "thread"), (Factor::Ranks, "rank")];
    if let Some((_, one)) = workers.into_iter().find(|(workers, _)| *workers == factor) {
        scaling(&mut found, answer, (&axis, one), level, &near);
    }
    Some(found)
}

/// How far more workers help: what the fewest of them take, where that is shown to be longer.
fn scaling(
    found: &mut Finding,
    answer: &Answer,
    (axis, one): (&Axis<'_>, &str),
    level: u64,
    near: &str,
) {
    found.kind = FindingKind::Scaling;
    let workers = |n: u64| so_many(usize::try_from(n).unwrap_or(usize::MAX), one);
    let (first, base) = axis[0];
    if first == level {
        let verb = if first == 1 { "is" } else { "are" };
        found.sentence =
            format!("{} {verb} {near}, more gain nothing that matters", workers(first));
        return;
    }
    found.sentence = format!("{} are the fewest {near}", workers(level));
    let Some(regret) = answer.regret_of(base).filter(|regret| regret.excluded && regret.low > 1.0)
    else {
        return;
    };
    found.fewest = Some(Interval { low: Some(regret.low), high: regret.high });
    let slower = answer.slower_form().text(regret.low, regret.high);
    let verb = match (slower.ends_with("as long"), first) {
        (true, 1) => "takes",
        (true, _) => "take",
        (false, 1) => "is",
        (false, _) => "are",
    };
    found.sentence += &format!("; {} {verb} {slower}", workers(first));
}

/// Where one way gives way to another along an ordered factor of the conditions: by the index of the
/// first answer that it wins.
///
/// A crossing is named only where each side of it is shown: the new way holds all that may be the
/// best at one level, and every cell of it is shown not to be the best, with a lower bound, at a
/// level before; the old way likewise the other way round. Each side is a claim of its own answer at
/// α, and a crossing that is not there needs one of the two to be false: so the chance of it is at
/// most α as well, without a correction (an intersection–union test).
pub fn crossings(
    answers: &[Answer],
    levels: &LevelsOf<'_>,
    ask: &[Factor],
) -> Vec<(usize, Finding)> {
    let ways: Vec<Factor> = ask.iter().copied().filter(|factor| !is_ordered(*factor)).collect();
    if ways.is_empty() || answers.len() < 2 {
        return Vec::new();
    }
    let seen: Vec<Seen> = answers.iter().map(|answer| Seen::of(answer, levels, &ways)).collect();
    let factors = Factor::ALL.into_iter().filter(|f| is_ordered(*f) && !ask.contains(f));
    factors.flat_map(|factor| crossings_along(answers, &seen, factor)).collect()
}

fn crossings_along(answers: &[Answer], seen: &[Seen], factor: Factor) -> Vec<(usize, Finding)> {
    // Answers that differ in this level alone, in its order.
    let mut lines: Vec<(Levels, Vec<(u64, usize)>)> = Vec::new();
    for (at, answer) in answers.iter().enumerate() {
        let Some(level) = answer.condition.number(factor) else { continue };
        let rest = answer.condition.only(|f| f != factor);
        match lines.iter_mut().find(|(known, _)| *known == rest) {
            Some((_, line)) => line.push((level, at)),
            None => lines.push((rest, vec![(level, at)])),
        }
    }
    let mut found = Vec::new();
    for (_, mut line) in lines {
        line.sort_unstable();
        crossings_of(seen, factor, &line, &mut found);
    }
    found
}

fn crossings_of(
    seen: &[Seen],
    factor: Factor,
    line: &[(u64, usize)],
    found: &mut Vec<(usize, Finding)>,
) {
    let mut last: Option<&Levels> = None;
    for (place, (level, at)) in line.iter().enumerate() {
        let Some((way, cell)) = &seen[*at].best else { continue };
        let old = last.replace(way).filter(|old| *old != way);
        if !old.is_some_and(|old| seen[*at].beaten.contains(old)) {
            continue;
        }
        let mut before = line[..place].iter().rev();
        let Some((after, _)) = before.find(|(_, at)| seen[*at].beaten.contains(way)) else {
            continue;
        };
        let later = || line[place + 1..].iter().map(|(_, at)| &seen[*at]);
        let stays = later().all(|seen| {
            let other = seen.best.as_ref().is_some_and(|(best, _)| best != way);
            !other && !seen.beaten.contains(way)
        });
        let name = way_text(way);
        let (after, level) = (level_text(factor, *after), level_text(factor, *level));
        let wins = if is_plural(way.iter()) { "win" } else { "wins" };
        let verb = format!("{wins} {}", if stays { "from" } else { "at" });
        let (low, high) = (shortened(&after, &level), with_unit(factor, &level));
        let finding = Finding {
            kind: FindingKind::Crossover,
            factor: factor.name().to_owned(),
            cell: cell.as_str().into(),
            at_most: None,
            fewest: None,
            sentence: format!("{name} {verb} {high} (crossing between {low} and {level})"),
            after: Some(after),
            level,
        };
        found.push((*at, finding));
    }
}

/// `mmap`, `pread 64 KiB blocks`.
fn way_text(way: &Levels) -> String {
    let word = |(factor, level): (Factor, &Level)| match factor {
        Factor::Host | Factor::Place => level.to_string(),
        _ => phrase(factor, level),
    };
    way.iter().map(word).collect::<Vec<_>>().join(" ")
}

/// `4 threads`; bytes have their unit.
fn with_unit(factor: Factor, level: &str) -> String {
    match factor {
        _ if factor.kind() == Kind::Bytes => level.to_owned(),
        Factor::Threads => format!("{level} threads"),
        Factor::Ranks => format!("{level} ranks"),
        Factor::Files => format!("{level} files"),
        _ => format!("{} {level}", factor.name().replace('-', " ")),
    }
}

/// `1` of `1 MiB` where the other is in MiB too.
fn shortened(low: &str, high: &str) -> String {
    match (low.rsplit_once(' '), high.rsplit_once(' ')) {
        (Some((number, unit)), Some((_, other))) if unit == other => number.to_owned(),
        _ => low.to_owned(),
    }
}

/// What one answer shows of the ways that are compared in it.
struct Seen {
    /// The way that holds all that may be the best, and its first cell, where others were compared.
    best: Option<(Levels, String)>,
    /// Ways of which every compared cell is shown to be slower, with a bound.
    beaten: Vec<Levels>,
}

impl Seen {
    fn of(answer: &Answer, levels: &LevelsOf<'_>, ways: &[Factor]) -> Seen {
        let way = |id: &str| Some(levels.get(id)?.only(|f| ways.contains(&f)));
        let mut all: Vec<(Levels, bool)> = Vec::new();
        for regret in &answer.regret {
            let Some(way) = way(&regret.cell) else { continue };
            let beaten =
                answer.standing_of(&regret.cell) == CellStanding::Slower && regret.low > 1.0;
            match all.iter_mut().find(|(known, _)| *known == way) {
                Some((_, all_beaten)) => *all_beaten &= beaten,
                None => all.push((way, beaten)),
            }
        }
        let sound = answer.kind != AnswerKind::Invalid;
        let mut best = answer.best.iter().filter_map(|id| Some((way(id)?, id.clone())));
        let first = best.next().filter(|_| sound && all.len() > 1);
        let alone = first.filter(|(way, _)| best.all(|(other, _)| other == *way));
        let beaten = all.into_iter().filter(|(_, beaten)| *beaten && sound).map(|(way, _)| way);
        Seen { best: alone, beaten: beaten.collect() }
    }
}

#[cfg(test)]
#[path = "along_tests.rs"]
mod tests;
