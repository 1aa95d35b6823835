//! What was held constant, in words: a figure means nothing to who does not know it.

use super::super::view_model::{ground, level_text};
use super::Part;
use std::collections::BTreeSet;

use iolab_model::catalog::{
    Factor, Family, Level, Target, bytes_text, held_phrase, list_text, so_many,
};
use iolab_model::result::{CellRecord, Document};

/// All in one line: where, every level that all cells share, how often.
pub(super) fn held_constant(doc: &Document, parts: &[Part]) -> String {
    let place = ground(&doc.environment);
    // Images and limits are places of their own.
    let place = place.filter(|_| !doc.cells.iter().any(|c| c.factors.get(Factor::Place).is_some()));
    let rounds = doc.experiment.protocol.steady_rounds as usize;
    let extrapolated = parts.iter().any(|part| part.extrapolated);
    let mut all: Vec<String> = place.into_iter().chain(images(doc)).collect();
    all.extend(Factor::ALL.into_iter().filter_map(|factor| shared(doc, factor)));
    all.extend((rounds > 0).then(|| so_many(rounds, "round")));
    let preallocates = |cell: &CellRecord| cell.factors.word() == Some(Target::Preallocated);
    // Whoever weighs it up against files that grow has to add it.
    let allocated = doc.cells.iter().any(preallocates);
    all.extend(allocated.then(|| "the time of fallocate itself is not included".to_owned()));
    all.extend(
        parts
            .iter()
            .any(|part| part.by_bound)
            .then(|| "rows by the least that each can cost".to_owned()),
    );
    all.extend(extrapolated.then(|| "≈ worked out from parts of a pass".to_owned()));
    all.join(" · ")
}

/// How large the images are that places are made in: a file system is slower in a small one. And how
/// often they were made: where they lie on the disk is a matter of chance.
fn images(doc: &Document) -> Option<String> {
    fn sizes(place: &serde_json::Value, all: &mut BTreeSet<u64>) {
        all.extend(place.get("image_bytes").and_then(serde_json::Value::as_u64));
        let layers = place.get("layers").and_then(serde_json::Value::as_array);
        layers.into_iter().flatten().for_each(|layer| sizes(layer, all));
    }
    let prefix = Family::Place.key("");
    let places = doc.environment.0.iter().filter(|(key, _)| key.starts_with(&prefix));
    let mut all = BTreeSet::new();
    let makings = places.clone().filter_map(|(_, place)| place.get("makings")?.as_u64()).max();
    places.for_each(|(_, place)| sizes(place, &mut all));
    let often = makings.map_or_else(String::new, |n| format!(", made {n} times"));
    let texts: Vec<String> = all.into_iter().map(bytes_text).collect();
    (!texts.is_empty()).then(|| format!("images of {}{often}", list_text(&texts)))
}

/// What a title tells of, where it does.
fn in_title(factor: Factor) -> bool {
    matches!(
        factor,
        Factor::FileSize | Factor::Files | Factor::Sizes | Factor::Operation | Factor::Method
    )
}

/// The one level that all cells have which have any; a file stands in the title.
fn shared(doc: &Document, factor: Factor) -> Option<String> {
    let mut levels = doc.cells.iter().filter_map(|cell| cell.factors.get(factor));
    let first = levels.next()?;
    let named = matches!(first, Level::Path(_));
    // Of several methods and one command the command is no constant.
    let among = factor == Factor::Contender
        || factor == Factor::Method
            && doc.cells.iter().any(|cell| cell.factors.get(Factor::Contender).is_some());
    let same = levels.all(|level| level == first);
    let text = level_text(factor, first);
    let named = named || in_title(factor) && doc.run.title.contains(&text);
    let held = (same && !named && !among).then(|| held_phrase(factor, first)).flatten()?;
    Some(match factor {
        Factor::QueueDepth => format!("{held}{}", of_some(doc, factor)),
        _ => held,
    })
}

/// Whose level it is, where others have none: a read has one request under way, whatever the depth.
fn of_some(doc: &Document, factor: Factor) -> String {
    let has = |cell: &&CellRecord| cell.factors.get(factor).is_some();
    if doc.cells.iter().all(|cell| has(&cell)) {
        return String::new();
    }
    let methods = doc.cells.iter().filter(has).filter_map(|cell| cell.factors.get(Factor::Method));
    let methods: BTreeSet<String> = methods.map(ToString::to_string).collect();
    format!(" ({})", list_text(&methods.into_iter().collect::<Vec<_>>()))
}
