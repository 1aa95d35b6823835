//! Commands of the person's among the cells: they stand where a method would, take part in every
//! condition that they can meet, and are compared with the methods.

use super::axes::Axes;
use super::draft::Draft;
use crate::catalog::{Contender, Factor, Levels, Role, Slot};
use crate::spec::Vocabulary;

/// Conditions that hold for a command whatever it is, for they are made around it.
const MADE_AROUND: [Factor; 12] = [
    Factor::Sizes,
    Factor::Place,
    Factor::SourcePlace,
    Factor::File,
    Factor::FileSize,
    Factor::Files,
    Factor::Operation,
    Factor::Consume,
    Factor::Cache,
    Factor::Memory,
    Factor::Fill,
    Factor::Until,
];

/// The command of a cell.
fn of(levels: &Levels, vocabulary: Vocabulary<'_>) -> Option<Contender> {
    let text = levels.text(Factor::Contender)?;
    Contender::parse(text, vocabulary.info.capability).ok()
}

/// Whether this axis makes no difference to the command of a cell.
pub(super) fn ignores(levels: &Levels, factor: Factor, vocabulary: Vocabulary<'_>) -> bool {
    let told = |slot| of(levels, vocabulary).is_some_and(|contender| contender.uses(slot));
    match factor {
        _ if levels.get(Factor::Contender).is_none() => false,
        Factor::Block => !told(Slot::Block),
        Factor::Threads => !told(Slot::Threads),
        Factor::Place | Factor::Layout | Factor::Contender => false,
        _ => factor.role() == Role::Question,
    }
}

/// Methods and commands are compared with each other.
pub(super) fn together(mut ask: Vec<Factor>, axes: &Axes, always: bool) -> Vec<Factor> {
    let pair = [Factor::Method, Factor::Contender];
    if axes.contains_key(&Factor::Contender)
        && (always || pair.iter().any(|factor| ask.contains(factor)))
    {
        ask.extend(pair);
        ask.sort_unstable();
        ask.dedup();
    }
    ask
}

/// Why a command cannot meet the conditions of its cell, and what to do instead: what it cannot be
/// told must be as it is by default.
pub(super) fn refuses(draft: &Draft, vocabulary: Vocabulary<'_>) -> Option<String> {
    let name = of(&draft.full, vocabulary)?.name();
    vocabulary.info.factors.iter().find_map(|axis| {
        let level = draft.full.text(axis.factor)?;
        let usual = axis.default.split(',').next().unwrap_or_default();
        let met = axis.factor.role() == Role::Question
            || MADE_AROUND.contains(&axis.factor)
            || level == usual;
        let instead = match usual {
            "" => format!("leave --{} out", axis.factor),
            usual => format!("take --{} {usual}", axis.factor),
        };
        (!met).then(|| {
            format!(
                "{name}: iolab cannot tell a command of --{} {level}; write that into the command and {instead}",
                axis.factor
            )
        })
    })
}

/// Whether the command of a write reads what it writes from a file.
pub(super) fn reads_source(levels: &Levels) -> bool {
    let text = levels.text(Factor::Contender);
    let parsed =
        text.and_then(|text| Contender::parse(text, crate::catalog::Capability::Write).ok());
    parsed.is_some_and(|contender| contender.uses(Slot::Source))
}
