//! Where the sentence of a claim and its test part.

use std::collections::BTreeMap;

use super::Study;
use super::claim::Claim;
use super::form::Direction;
use super::select::{Selection, text};
use super::terms::{Measure, Spread};
use super::words::{Number, Sentence, words_of};
use iolab_model::catalog::{Factor, Level};

/// Levels by factor.
type Held = BTreeMap<Factor, Vec<Level>>;

/// What the sentence names and the test does not hold, and the other way round.
pub(super) fn parts(claim: &Claim, study: &Study) -> Vec<String> {
    let sentence = Sentence::new(&claim.says);
    let varied = varied(claim, study);
    let held = held(claim, &varied);
    let mut found = unsaid_levels(claim, &sentence, &varied);
    found.extend(unheld_words(&sentence, &varied, &held));
    found.extend(unsaid_thresholds(claim, &sentence));
    found.extend(unheld_numbers(claim, &sentence, &held));
    found.extend(turned(claim, &sentence));
    found.extend(other_measure(claim, &sentence));
    found
}

/// Which time it is about, where that is not the elapsed time.
fn other_measure(claim: &Claim, sentence: &Sentence) -> Option<String> {
    let (word, name) = match claim.measure {
        Measure::Elapsed => return None,
        Measure::User => ("user", Measure::User.words()),
        Measure::System => ("system", Measure::System.words()),
        Measure::Cpu => ("cpu", Measure::Cpu.words()),
    };
    let said = sentence.place(&[word]).is_some();
    (!said).then(|| format!("the test is of {name}, and the sentence does not say so"))
}

/// The levels of the claim's experiment (of the last one: the others are larger).
fn varied(claim: &Claim, study: &Study) -> Held {
    let last = claim.experiments.last();
    let found = study.experiments.iter().find(|trial| Some(&trial.name) == last);
    found.map(|trial| trial.written.experiment.factors.clone()).unwrap_or_default()
}

/// What the test holds: what it names, what the experiment has one of, and its axis.
fn held(claim: &Claim, varied: &Held) -> Held {
    let mut held = Held::new();
    let mut add = |factor: Factor, levels: &[Level]| {
        held.entry(factor).or_default().extend(levels.iter().cloned());
    };
    for selection in claim.selections() {
        selection.iter().for_each(|(factor, levels)| add(factor, levels));
    }
    let along = [claim.test.axis(), claim.spread.over()];
    for (factor, levels) in varied {
        let named = claim.selections().any(|s| names(s, *factor));
        // Whoever is the fastest is compared with all the others.
        let champion = claim.test.champion();
        let rivals = champion.is_some_and(|a| names(a, *factor)) && !names(&claim.of, *factor);
        if levels.len() == 1 || rivals || (along.contains(&Some(*factor)) && !named) {
            add(*factor, levels);
        }
    }
    if let Some(axis) = claim.test.axis() {
        let marks: Vec<Level> = claim.test.marks().into_iter().map(Level::Number).collect();
        add(axis, &marks);
    }
    held
}

fn names(selection: &Selection, factor: Factor) -> bool {
    selection.iter().any(|(of, _)| of == factor)
}

fn is_said(sentence: &Sentence, factor: Factor, level: &Level) -> Option<usize> {
    match level {
        Level::Number(number) => {
            let said = sentence.numbers.iter().find(|said| said.is_level(factor, *number));
            said.map(|said| said.at)
        }
        _ => {
            let words = words_of(factor, level);
            sentence.place(&words.iter().map(String::as_str).collect::<Vec<_>>())
        }
    }
}

/// Levels of the test that the sentence does not name. Of a row of numbers the ends are enough:
/// `from 512 bytes to 1 MB`.
fn unsaid_levels(claim: &Claim, sentence: &Sentence, varied: &Held) -> Vec<String> {
    let mut found = Vec::new();
    let mut ask = |factor: Factor, levels: &[Level]| {
        let alone = varied.get(&factor).is_some_and(|levels| levels.len() == 1);
        let unsaid: Vec<&Level> =
            levels.iter().filter(|level| is_said(sentence, factor, level).is_none()).collect();
        let numbers = levels.iter().all(|level| matches!(level, Level::Number(_)));
        let ends = [levels.iter().min(), levels.iter().max()];
        let range = numbers
            && levels.len() > 2
            && ends.iter().flatten().all(|end| is_said(sentence, factor, end).is_some());
        if !alone && !range {
            let unsaid = unsaid.into_iter();
            found.extend(unsaid.map(|level| {
                format!(
                    "the test holds {factor} {}, and the sentence does not",
                    text(factor, level)
                )
            }));
        }
    };
    for selection in claim.selections() {
        selection.iter().for_each(|(factor, levels)| ask(factor, levels));
    }
    if let Some(axis) = claim.test.axis() {
        claim.test.marks().into_iter().for_each(|mark| ask(axis, &[Level::Number(mark)]));
    }
    found.dedup();
    found
}

/// Words of the sentence that are levels which the test does not hold.
fn unheld_words(sentence: &Sentence, varied: &Held, held: &Held) -> Vec<String> {
    let mut found = Vec::new();
    for (factor, levels) in varied.iter().filter(|(_, levels)| levels.len() > 1) {
        for level in levels.iter().filter(|level| !matches!(level, Level::Number(_))) {
            let named = is_said(sentence, *factor, level).is_some();
            let holds =
                held.get(factor).is_some_and(|all| all.iter().any(|h| same(*factor, h, level)));
            if named && !holds {
                found.push(format!(
                    "the sentence names {factor} {}, and the test does not hold it",
                    text(*factor, level)
                ));
            }
        }
    }
    found
}

/// Whether two levels are called by the same name.
fn same(factor: Factor, one: &Level, other: &Level) -> bool {
    words_of(factor, one).first() == words_of(factor, other).first()
}

fn unsaid_thresholds(claim: &Claim, sentence: &Sentence) -> Vec<String> {
    let bounds = claim.test.bounds().into_iter();
    let unsaid = bounds.filter(|bound| !sentence.numbers.iter().any(|said| bound.is(said)));
    unsaid
        .map(|bound| format!("the test holds {}, and the sentence does not", bound.told()))
        .collect()
}

/// Numbers of the sentence that the test does not hold.
fn unheld_numbers(claim: &Claim, sentence: &Sentence, held: &Held) -> Vec<String> {
    let bounds = claim.test.bounds();
    let is_level = |said: &Number| {
        let held = held.iter().flat_map(|(factor, all)| all.iter().map(move |l| (*factor, l)));
        held.into_iter().any(|(factor, level)| match level {
            Level::Number(number) => said.is_level(factor, *number),
            _ => false,
        })
    };
    let mut others: Vec<u64> = claim.needs.processors.into_iter().collect();
    if let Spread::Each(factor, enough) = claim.spread {
        others.extend(enough.map(|enough| enough as u64));
        others.extend(held.get(&factor).map(|levels| levels.len() as u64));
    }
    let known = |said: &Number| {
        is_level(said)
            || bounds.iter().any(|bound| bound.is(said))
            || others.iter().any(|other| said.value == *other as f64)
            || is_plain_one(sentence, said)
    };
    let unheld = sentence.numbers.iter().filter(|said| !known(said));
    unheld
        .map(|said| format!("the sentence names {}, and the test does not hold it", said.written))
        .collect()
}

/// `than one`, `of one`: a pronoun, not a number.
fn is_plain_one(sentence: &Sentence, said: &Number) -> bool {
    said.unit.is_empty() && sentence.words[said.at] == "one"
}

const FASTER: [&str; 9] = [
    "faster",
    "less",
    "cheaper",
    "fastest",
    "falls",
    "better",
    "improves",
    "increase",
    "increases",
];
const SLOWER: [&str; 7] = ["slower", "longer", "long", "more", "dearer", "grows", "rises"];

/// A direction of the sentence that the test turns round.
fn turned(claim: &Claim, sentence: &Sentence) -> Option<String> {
    let (faster, slower) = (sentence.place(&FASTER), sentence.place(&SLOWER));
    let says_faster = match (faster, slower) {
        (Some(_), None) => true,
        (None, Some(_)) => false,
        _ => return None,
    };
    let asks_faster = match claim.test.direction()? {
        Direction::Along { falling } => falling,
        Direction::Sides(a, b) => {
            let (a, b) = (first_of(sentence, a, b)?, first_of(sentence, b, a)?);
            // `a is faster than b`, `b takes longer than a`.
            a < b
        }
    };
    let word = |faster: bool| if faster { "faster" } else { "slower" };
    (says_faster != asks_faster).then(|| {
        format!(
            "the sentence says {}, and the test asks for {}",
            word(says_faster),
            word(asks_faster)
        )
    })
}

/// Where the sentence first names what sets a side apart from the other.
fn first_of(sentence: &Sentence, side: &Selection, other: &Selection) -> Option<usize> {
    let own = |factor: Factor, level: &Level| {
        !other.iter().any(|(of, levels)| of == factor && levels.contains(level))
    };
    let all = side.iter().flat_map(|(factor, levels)| levels.iter().map(move |l| (factor, l)));
    all.filter(|(factor, level)| own(*factor, level))
        .filter_map(|(factor, level)| is_said(sentence, factor, level))
        .min()
}
