//! What is compared with what: question factors are, at equal level of every condition factor.

use std::collections::BTreeMap;

use super::axes::Axes;
use super::draft::Draft;
use crate::catalog::{Factor, Levels, Role};

/// The factors that are compared where the person does not say: those of each role that vary.
pub(super) fn candidates(axes: &Axes) -> [Vec<Factor>; 2] {
    let varying = |role: Role| {
        let several = axes.iter().filter(|(f, levels)| levels.len() > 1 && f.role() == role);
        several.map(|(factor, _)| *factor).collect()
    };
    [varying(Role::Question), varying(Role::Condition)]
}

/// Groups drafts by their levels of the factors that are not compared: for each draft the index
/// of its group, and the levels of each group.
pub(super) fn group(drafts: &[Draft], ask: &[Factor]) -> (Vec<usize>, Vec<Levels>) {
    let mut index: BTreeMap<Levels, usize> = BTreeMap::new();
    let mut groups: Vec<Levels> = Vec::new();
    let of_draft = drafts.iter().map(|draft| {
        let key = draft.full.only(|factor| !ask.contains(&factor));
        *index.entry(key.clone()).or_insert_with(|| {
            groups.push(key);
            groups.len() - 1
        })
    });
    (of_draft.collect(), groups)
}

/// True where at least two cells are compared.
pub(super) fn compares(of_draft: &[usize]) -> bool {
    let mut seen = std::collections::BTreeSet::new();
    of_draft.iter().any(|group| !seen.insert(group))
}
