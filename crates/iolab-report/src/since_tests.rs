//! The line on how a run compares with the last one says what the bounds of both runs, and the
//! comparison of the two, say: over generated runs that were made twice.

use std::collections::BTreeMap;

use crate::compare::contradiction::ratio;
use crate::compare::{Compared, Row, Terms, compare, since_text};
use iolab_model::catalog::ratio_text;
use iolab_model::result::{Answer, AnswerKind, Document, Regret, Verdict};
use iolab_test::generated::{again, run, turned};

const RUNS: u64 = 200;

/// At least and at most so many times as long as another cell, by the bounds of one answer.
fn apart(answer: &Answer, a: &Regret, b: &Regret) -> (Option<f64>, Option<f64>) {
    let sole = |r: &Regret| answer.best.len() == 1 && *r.cell == *answer.best[0];
    let most = |r: &Regret| if sole(r) { Some(1.0) } else { r.high };
    (most(b).map(|high| a.low.max(1.0) / high), most(a).map(|high| high / b.low.max(1.0)))
}

fn pairs_of_answers<'a>(
    then: &'a Document,
    now: &'a Document,
) -> impl Iterator<Item = (&'a Answer, &'a Answer)> {
    let earlier = |of: &Answer| then.answers.iter().find(|a| a.condition == of.condition);
    now.answers.iter().filter_map(move |later| Some((earlier(later)?, later)))
}

/// Every way to say that one of the runs proves what the other rules out.
fn contradictions(then: &Document, now: &Document) -> Vec<String> {
    let delta = now.experiment.protocol.delta;
    let mut all = Vec::new();
    for (before, after) in pairs_of_answers(then, now) {
        if [before, after].iter().any(|answer| answer.kind == AnswerKind::Invalid) {
            continue;
        }
        for (a, b) in after.regret.iter().flat_map(|a| after.regret.iter().map(move |b| (a, b))) {
            let old = before.regret_of(&a.cell).zip(before.regret_of(&b.cell));
            let Some((old_a, old_b)) = old.filter(|_| *a.cell != *b.cell) else { continue };
            let (there, here) = (apart(before, old_a, old_b), apart(after, a, b));
            let rules_out = |shown: (Option<f64>, Option<f64>),
                             other: (Option<f64>, Option<f64>)| {
                shown.0.zip(other.1).is_some_and(|(low, high)| low > 1.0 + delta && low > high)
            };
            if rules_out(there, here) || rules_out(here, there) {
                let (a, b) = (a.cell.as_str(), b.cell.as_str());
                let (there, here) = (ratio(there), ratio(here));
                all.push(format!("there {a} took {there} as long as {b}, here {here}"));
            }
        }
    }
    all
}

/// Whether another cell is taken than the last time, and, of the first answer where it is, whether
/// either will do.
fn moved(then: &Document, now: &Document) -> Option<bool> {
    let delta = now.experiment.protocol.delta;
    let taken = |answer: &Answer| match (&answer.pick, &answer.best[..]) {
        (_, [one]) => Some(one.clone()),
        (pick, _) => pick.as_ref().map(|pick| pick.cell.as_str().to_owned()),
    };
    pairs_of_answers(then, now).find_map(|(before, after)| {
        let (old, new) = (taken(before)?, taken(after)?);
        let near = |answer: &Answer, cell: &str| {
            answer.regret_of(cell).and_then(|r| r.high).is_some_and(|high| high <= 1.0 + delta)
        };
        let all = [before, after].iter().all(|answer| near(answer, &old) && near(answer, &new));
        (old != new).then_some(all)
    })
}

fn is_clear(row: &&Row) -> bool {
    row.clear && matches!(row.verdict, Verdict::Slower | Verdict::Faster)
}

fn changes_agree(seed: u64, compared: &Compared, said: &str) {
    let clear = compared.rows.iter().filter(is_clear).count();
    let all = compared.rows.len();
    assert_eq!(said.contains("no clear change"), clear == 0, "{seed}: {said}");
    let words = if all == 1 { "a clear change" } else { "clearly changed" };
    assert_eq!(said.contains(words), clear > 0, "{seed}: {said}");
    if clear > 0 && all > 1 {
        assert!(said.contains(&format!("{clear} of {all} cells clearly")), "{seed}: {said}");
    }
    // The one that is named is a row of the comparison, with its own figure, and none lies farther.
    let far = |row: &&Row| row.ratio.ln().abs();
    let named = compared.rows.iter().filter(|row| clear == 0 || is_clear(row));
    let farthest = named.max_by(|a, b| far(a).total_cmp(&far(b))).unwrap();
    let wanted = format!("{} took {} as long", farthest.cell, ratio_text(farthest.ratio));
    assert!(said.contains(&wanted), "{seed}: {wanted} in {said}");
}

/// What was found is counted, so that nothing is held that never happens.
fn line_agrees(seed: u64, seen: &mut BTreeMap<&'static str, u32>) {
    let then = run(seed).unwrap();
    let now = if seed.is_multiple_of(3) { turned(seed) } else { again(seed) }.unwrap();
    let protocol = &now.experiment.protocol;
    let terms = Terms { alpha: protocol.alpha, delta: protocol.delta, anyway: false };
    let said = since_text(std::slice::from_ref(&then), &now);
    let compared = compare(std::slice::from_ref(&then), std::slice::from_ref(&now), &terms);
    let Ok(compared) = compared else { return assert_eq!(said, None, "{seed}") };
    let said = said.unwrap_or_else(|| panic!("{seed}: nothing is said"));
    let found = contradictions(&then, &now);
    assert_eq!(said.starts_with("this contradicts run"), !found.is_empty(), "{seed}: {said}");
    assert!(
        found.is_empty() || found.iter().any(|words| said.contains(words)),
        "{seed}: {said}, not one of {found:?}"
    );
    changes_agree(seed, &compared, &said);
    let moved = moved(&then, &now);
    assert_eq!(said.contains(" is taken now and "), moved.is_some(), "{seed}: {said}");
    assert_eq!(said.contains("either will do"), moved == Some(true), "{seed}: {said}");
    for (what, holds) in [
        ("contradiction", !found.is_empty()),
        ("another pick", moved.is_some()),
        ("either will do", moved == Some(true)),
        ("no clear change", said.contains("no clear change")),
    ] {
        *seen.entry(what).or_default() += u32::from(holds);
    }
}

/// The line was written of itself: a pick that moved within bounds, a proof against what the last run
/// had ruled out, and a change between runs are three things, and each has its own bounds.
#[test]
fn the_line_on_the_last_run_says_no_more_than_both_runs_do() {
    let mut seen = BTreeMap::new();
    for seed in 0..RUNS {
        line_agrees(seed, &mut seen);
    }
    let rare = ["another pick", "no clear change", "contradiction"];
    assert!(rare.iter().all(|what| seen[what] >= 10), "{seen:?}");
}
