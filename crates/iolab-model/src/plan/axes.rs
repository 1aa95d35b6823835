//! Every axis with its levels: those named, and for the rest what people mean.

use std::collections::BTreeMap;

use super::{Facts, PlanError};
use crate::catalog::{
    AxisWord, CacheState, Consume, Factor, FactorUse, Level, Part, RECORDED, Role, bytes_text,
    is_held_warm, memory_limit_bytes,
};
use crate::spec::{Experiment, NO_METHOD, Vocabulary, format_bytes};

/// The size of a file that iolab makes where none is asked for.
const USUAL_FILE_BYTES: u64 = 256 << 20;
/// The least that is worth measuring; below it the answer is about calls, not about a file.
const LEAST_FILE_BYTES: u64 = 1 << 20;

/// The levels of every axis, by factor.
pub(super) type Axes = BTreeMap<Factor, Vec<Level>>;

/// Fills in the axes that were left out.
pub(super) fn fill(
    experiment: &Experiment,
    vocabulary: Vocabulary<'_>,
    facts: &Facts,
    (notes, changed): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Axes, PlanError> {
    let mut axes = Axes::new();
    for axis in vocabulary.info.factors {
        let levels = match experiment.factors.get(&axis.factor) {
            // Crossed with no method, only commands are left.
            Some(levels) if is_no_method(axis.factor, levels) => {
                axes.insert(axis.factor, Vec::new());
                continue;
            }
            Some(levels) => with_recorded(levels, axis.factor, vocabulary),
            None => default_levels(axis, experiment, vocabulary, facts, (notes, changed))?,
        };
        if !levels.is_empty() {
            axes.insert(axis.factor, levels);
        }
    }
    if !experiment.factors.contains_key(&Factor::Cache)
        && let Some(note) = state_under_limits(&mut axes, facts)
    {
        changed.push(note);
        changed.extend(one_block(&mut axes, experiment));
    }
    Ok(axes)
}

/// Under a limit that does not hold the file a trial reads more than the limit, so that of seventeen
/// cells a minute bought one round, and no answer: methods are compared with one block, where nobody
/// has named blocks. Gives back the note of it.
fn one_block(axes: &mut Axes, experiment: &Experiment) -> Option<String> {
    let methods = axes.get(&Factor::Method)?.len();
    let blocks = axes.get_mut(&Factor::Block)?;
    let held = methods > 1 && blocks.len() > 1 && !experiment.factors.contains_key(&Factor::Block);
    let block = blocks.get(blocks.len() / 2).cloned().filter(|_| held)?;
    let Level::Number(bytes) = block else { return None };
    *blocks = vec![block];
    Some(format!(
        "block is {} alone: under a limit each trial reads more than the limit holds; name --block \
         for more",
        format_bytes(bytes)
    ))
}

fn is_no_method(factor: Factor, levels: &[Level]) -> bool {
    factor == Factor::Method && matches!(levels, [Level::Word(word)] if word == NO_METHOD)
}

/// What is compared with what the program did must be there: as recorded is always a level.
fn with_recorded(levels: &[Level], factor: Factor, vocabulary: Vocabulary<'_>) -> Vec<Level> {
    let recorded = Level::word(RECORDED);
    // What passes between the calls is a condition under which ways are compared, and none of them.
    let has_one = factor != Factor::Think && vocabulary.words(factor).contains(&RECORDED);
    let before = (has_one && !levels.contains(&recorded)).then_some(recorded);
    before.into_iter().chain(levels.iter().cloned()).collect()
}

/// Nobody has said in which state a file is, and under one of the limits it cannot be warm: under each
/// of them it is as reading it over and over leaves it, all of it in the cache where the limit holds
/// it. That is what a limit costs; of a file that is cold each time it would cost next to nothing. Gives back the note of it.
fn state_under_limits(axes: &mut Axes, facts: &Facts) -> Option<String> {
    let warm = [CacheState::Warm.level()];
    axes.get(&Factor::Cache).filter(|states| **states == warm)?;
    let bytes_of = |level: &Level| match level {
        Level::Path(path) => facts.files.get(path)?.as_ref().ok().copied(),
        Level::Number(bytes) => Some(*bytes),
        Level::Word(_) => None,
    };
    let files = [Factor::File, Factor::FileSize].into_iter().filter_map(|factor| axes.get(&factor));
    let largest = files.flatten().filter_map(bytes_of).max()?;
    let limits = axes.get(&Factor::Memory)?.iter();
    let least = limits.filter_map(|level| memory_limit_bytes(level, largest)).min()?;
    if is_held_warm(largest, least) {
        return None;
    }
    axes.insert(Factor::Cache, vec![CacheState::Any.level()]);
    let (file, limit) = (bytes_text(largest), bytes_text(least));
    Some(format!(
        "cache is what reading leaves there: a file of {file} is never warm within {limit}"
    ))
}

fn default_levels(
    axis: &FactorUse,
    experiment: &Experiment,
    vocabulary: Vocabulary<'_>,
    facts: &Facts,
    (notes, changed): (&mut Vec<String>, &mut Vec<String>),
) -> Result<Vec<Level>, PlanError> {
    match axis.factor {
        factor if nobody_asks(factor, experiment, vocabulary) => Ok(Vec::new()),
        Factor::FileSize | Factor::Files | Factor::Layout | Factor::Fill
            if experiment.factors.contains_key(&Factor::File) =>
        {
            Ok(Vec::new())
        }
        Factor::FileSize if experiment.factors.contains_key(&Factor::Sizes) => Ok(Vec::new()),
        Factor::FileSize if axis.default.is_empty() => {
            Ok(vec![Level::Number(default_file_bytes(experiment, facts, changed)?)])
        }
        Factor::Method | Factor::Operation if axis.default.is_empty() => Ok(vocabulary
            .parts_of(axis.factor)
            .filter(|part| !part.by_name_only)
            .map(|part| Level::word(part.id))
            .collect()),
        _ if axis.default.is_empty() => Ok(Vec::new()),
        Factor::Consume if experiment.factors.contains_key(&Factor::Contender) => {
            notes.push("consume is none: what a command does with the bytes is not known".into());
            Ok(vec![Consume::None.level()])
        }
        factor => {
            let mut levels = vocabulary.levels(factor, axis.default)?;
            if axis.gives_way && asks_by_name(experiment, factor) {
                levels.truncate(1);
            }
            Ok(levels)
        }
    }
}

/// Whether something that was named is compared: rows of a default beside it would hide what was asked.
fn asks_by_name(experiment: &Experiment, held: Factor) -> bool {
    let compared = |(factor, levels): (&Factor, &Vec<Level>)| {
        // A command stands beside methods; tables of open files differ where several workers share them.
        let several = levels.len() > 1 || *factor == Factor::Contender;
        // Of methods the first may know no blocks, and is what a command is compared with.
        let theirs = held == Factor::Method && matches!(factor, Factor::Block | Factor::Contender);
        several && !theirs && *factor != Factor::Descriptors && factor.role() == Role::Question
    };
    experiment.factors.iter().any(compared)
}

/// Whether every operation that is asked for ignores a factor: then it has no level at all.
fn nobody_asks(factor: Factor, experiment: &Experiment, vocabulary: Vocabulary<'_>) -> bool {
    let Some(operations) = experiment.factors.get(&Factor::Operation) else { return false };
    let ignores = |level: &Level| {
        let is = |part: &&'static Part| *level == Level::word(part.id);
        let part = vocabulary.parts_of(Factor::Operation).find(is);
        part.is_some_and(|part| part.ignores.contains(&factor))
    };
    operations.iter().all(ignores)
}

/// 256 MiB, or the largest power of two below it that takes at most half of the free space and of
/// the memory.
fn default_file_bytes(
    experiment: &Experiment,
    facts: &Facts,
    changed: &mut Vec<String>,
) -> Result<u64, PlanError> {
    let fits =
        |bytes: &u64| *bytes <= facts.free_bytes / 2 && *bytes <= facts.available_memory_bytes / 2;
    let halves = std::iter::successors(Some(USUAL_FILE_BYTES), |bytes| Some(bytes / 2));
    let bytes =
        halves.take_while(|bytes| *bytes >= LEAST_FILE_BYTES).find(fits).ok_or_else(|| {
            PlanError::NoSpace {
                directory: experiment.directory.clone(),
                needed: 2 * LEAST_FILE_BYTES,
                free: facts.free_bytes.min(facts.available_memory_bytes),
                copies_theirs: false,
            }
        })?;
    if bytes < USUAL_FILE_BYTES {
        changed.push(format!(
            "file-size is {} instead of {}: {} is free here and {} of memory is available",
            format_bytes(bytes),
            format_bytes(USUAL_FILE_BYTES),
            bytes_text(facts.free_bytes),
            bytes_text(facts.available_memory_bytes)
        ));
    }
    Ok(bytes)
}
