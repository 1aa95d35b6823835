//! Factors × levels → cells: crossed, collapsed where a level makes no difference, and named.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use super::axes::Axes;
use super::contender;
use super::draft::{Does, Draft};
use crate::catalog::{
    Capability, Consume, Factor, Kind, Level, Levels, Part, Touch, command_labels, path_to_text,
};
use crate::spec::{Vocabulary, format_bytes};

/// How many cells the axes make before any is collapsed.
pub(super) fn count(axes: &Axes) -> usize {
    let pair = [Factor::Method, Factor::Contender];
    let others = axes.iter().filter(|(factor, _)| !pair.contains(factor));
    let ways: usize = pair.iter().filter_map(|f| axes.get(f)).map(Vec::len).sum();
    others.map(|(_, levels)| levels.len()).fold(ways.max(1), usize::saturating_mul)
}

/// Crosses all axes, the first of the workload slowest, and keeps one of those cells that differ
/// only in what their method ignores.
pub(super) fn cross(
    axes: &Axes,
    ask: &[Factor],
    vocabulary: Vocabulary<'_>,
    notes: &mut Vec<String>,
) -> Vec<Draft> {
    let mut seen = BTreeSet::new();
    let mut drafts = Vec::new();
    let mut collapsed: BTreeMap<(&'static str, Factor), ()> = BTreeMap::new();
    for mut full in candidates(axes, vocabulary) {
        let (part, does) = (part_of(&full, vocabulary), does(&full, vocabulary));
        settle(&mut full, part);
        let ignored = ignored(&full, vocabulary);
        let ignores = |factor: Factor| {
            ignored.iter().any(|(_, f)| *f == factor)
                || is_moot(&full, factor)
                || contender::ignores(&full, factor, vocabulary)
        };
        // A level that a method ignores stays where it names another answer: the cell must be
        // there to be compared with.
        let drops = |factor: Factor| {
            is_one_touch(&full, factor)
                || ignores(factor)
                    && (ask.contains(&factor) || axes.get(&factor).is_none_or(|l| l.len() == 1))
        };
        let levels = full.only(|factor| !drops(factor));
        if seen.insert(levels.clone()) {
            drafts.push(Draft { full, levels, part, does });
        } else {
            let several = |f: &Factor| drops(*f) && axes.get(f).is_some_and(|l| l.len() > 1);
            let dropped = ignored.iter().filter(|(_, f)| several(f));
            collapsed.extend(dropped.map(|(part, f)| ((part.id, *f), ())));
        }
    }
    notes.extend(collapsed.keys().map(|(part, factor)| {
        format!(
            "{factor} makes no difference to {part}, so {part} is measured once for all of them"
        )
    }));
    drafts
}

/// A method whose bytes no program looks at is consumed by nothing, whatever the others do: it
/// stands in an answer of its own.
fn settle(full: &mut Levels, part: Option<&Part>) {
    let unconsumed = part.is_some_and(|p| p.can(Capability::Unconsumed));
    if unconsumed && full.get(Factor::Consume).is_some() {
        full.set_word(Consume::None);
    }
}

/// Past the page cache neither its state nor its read-ahead makes a difference.
fn is_moot(full: &Levels, factor: Factor) -> bool {
    full.is_on(Factor::Direct) && matches!(factor, Factor::Cache | Factor::Readahead)
}

/// The first and the second touch are one call a file, however many follow in the steady state.
fn is_one_touch(levels: &Levels, factor: Factor) -> bool {
    factor == Factor::Repeats && levels.word().is_some_and(Touch::is_one_call)
}

/// Every method with every level of the other axes, then every command with them.
fn candidates(axes: &Axes, vocabulary: Vocabulary<'_>) -> Vec<Levels> {
    let mut all = product(axes, vocabulary, Factor::Contender);
    if axes.contains_key(&Factor::Contender) {
        all.extend(product(axes, vocabulary, Factor::Method));
    }
    all
}

/// All axes crossed but one.
fn product(axes: &Axes, vocabulary: Vocabulary<'_>, without: Factor) -> Vec<Levels> {
    let mut all = vec![Levels::new()];
    for axis in vocabulary.info.factors.iter().filter(|axis| axis.factor != without) {
        if let Some(levels) = axes.get(&axis.factor) {
            let with_each = |cell: Levels| {
                levels.iter().map(move |level| cell.clone().with(axis.factor, level.clone()))
            };
            all = all.into_iter().flat_map(with_each).collect();
        }
    }
    all
}

/// What makes no difference to a cell, and to which of its parts: an operation that ignores its
/// method is not asked what the method ignores.
fn ignored(levels: &Levels, vocabulary: Vocabulary<'_>) -> Vec<(&'static Part, Factor)> {
    let operation = named(Factor::Operation, levels, vocabulary);
    let method = named(Factor::Method, levels, vocabulary)
        .filter(|_| operation.is_none_or(|part| !part.ignores.contains(&Factor::Method)));
    let of = |part: &'static Part| part.ignores.iter().map(move |factor| (part, *factor));
    operation.into_iter().chain(method).flat_map(of).collect()
}

/// What the cell's operation does with a tree of files.
fn does(levels: &Levels, vocabulary: Vocabulary<'_>) -> Does {
    let operation = named(Factor::Operation, levels, vocabulary);
    let can = |capability| operation.is_some_and(|part| part.can(capability));
    Does { reads: can(Capability::Read), writes: can(Capability::Write) }
}

/// The method, unless the operation ignores it, else the operation.
fn part_of(levels: &Levels, vocabulary: Vocabulary<'_>) -> Option<&'static Part> {
    let operation = named(Factor::Operation, levels, vocabulary);
    named(Factor::Method, levels, vocabulary)
        .filter(|_| operation.is_none_or(|part| !part.ignores.contains(&Factor::Method)))
        .or(operation)
}

fn named(factor: Factor, levels: &Levels, vocabulary: Vocabulary<'_>) -> Option<&'static Part> {
    let id = levels.text(factor)?;
    vocabulary.parts_of(factor).find(|part| part.id == id)
}

/// A name for each cell, from its method and from the levels that vary: `pread/64Ki`.
pub(super) fn names(axes: &Axes, drafts: &[Draft]) -> Vec<String> {
    let short = short_file_names(axes);
    let commands = short_command_names(axes);
    let mut used = BTreeSet::new();
    let name_of = |draft: &Draft| {
        let words: Vec<String> = draft
            .levels
            .iter()
            .filter(|(factor, _)| {
                matches!(factor, Factor::Method | Factor::Contender | Factor::Operation)
                    || axes.get(factor).is_some_and(|levels| levels.len() > 1)
            })
            .map(|(factor, level)| match commands.get(level) {
                Some(name) if factor == Factor::Contender => name.clone(),
                _ => word(factor, level, &short),
            })
            .collect();
        words.join("/")
    };
    let unique = |name: String| {
        let name = if name.is_empty() { "all".to_owned() } else { name };
        let numbered = (2..).map(|n| format!("{name}#{n}"));
        let free = std::iter::once(name.clone()).chain(numbered).find(|n| !used.contains(n));
        let free = free.unwrap_or(name);
        used.insert(free.clone());
        free
    };
    drafts.iter().map(name_of).map(unique).collect()
}

/// A level as it stands in a name. Counts and words that several axes share bring their axis.
fn word(factor: Factor, level: &Level, short: &BTreeMap<&Path, String>) -> String {
    let text = level_text(factor, level);
    match (factor, level) {
        (_, Level::Path(path)) => short.get(path.as_path()).cloned().unwrap_or(text),
        (
            Factor::Host
            | Factor::Place
            | Factor::Operation
            | Factor::Method
            | Factor::Contender
            | Factor::Block
            | Factor::FileSize
            | Factor::Pattern
            | Factor::Cache
            | Factor::Pass,
            _,
        ) => text,
        _ => format!("{factor}={text}"),
    }
}

/// A level as people read it: `64Ki`, `4`, `cold`, a path.
pub fn level_text(factor: Factor, level: &Level) -> String {
    match (level, factor.kind()) {
        (Level::Number(n), Kind::Bytes) => format_bytes(*n),
        _ => level.to_string(),
    }
}

/// What each command is called.
fn short_command_names(axes: &Axes) -> BTreeMap<&Level, String> {
    let levels = axes.get(&Factor::Contender).map_or(&[][..], Vec::as_slice);
    let texts: Vec<String> = levels.iter().map(Level::to_string).collect();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    levels.iter().zip(command_labels(&texts)).collect()
}

/// The last component of each file, where that tells the files apart.
fn short_file_names(axes: &Axes) -> BTreeMap<&Path, String> {
    let paths: Vec<&Path> = axes
        .get(&Factor::File)
        .into_iter()
        .chain(axes.get(&Factor::Trace))
        .flatten()
        .filter_map(|level| match level {
            Level::Path(path) => Some(path.as_path()),
            _ => None,
        })
        .collect();
    let short: Vec<String> =
        paths.iter().map(|p| path_to_text(p.file_name().map_or(*p, Path::new))).collect();
    let distinct = short.iter().collect::<BTreeSet<_>>().len() == short.len();
    match distinct {
        true => paths.into_iter().zip(short).collect(),
        false => BTreeMap::new(),
    }
}
