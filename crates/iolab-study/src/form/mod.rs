//! The forms that a claim may have: one file each, and a line in the list below.
//!
//! A form is a word with the keys that it has in a file, how those are read, and a [`Test`]: how it
//! is judged, how it is said, and what of it a sentence must name. Nothing else knows a form.

mod crossover;
mod difference;
mod equivalent;
mod faster;
mod fastest;
mod gains_less;
mod gains_nothing;
mod linear;
mod order;
mod ordered;
mod plateau;
mod same_value;
mod scales;
mod share;
mod untested;

use std::fmt::Debug;
use std::sync::Arc;

use super::bench::Bench;
use super::claim_keys::Keys;
use super::ruling::Ruled;
use super::saying::Saying;
use super::select::Selection;
use super::words::Bound;
use iolab_model::catalog::Factor;
use iolab_model::spec::file::FileError;

/// Every form, as messages list them.
pub(super) const FORMS: &[&Form] = &[
    &faster::FORM,
    &fastest::FORM,
    &order::FORM,
    &ordered::FORM,
    &linear::FORM,
    &plateau::FORM,
    &crossover::FORM,
    &equivalent::FORM,
    &difference::FORM,
    &gains_nothing::FORM,
    &gains_less::FORM,
    &share::NEGLIGIBLE,
    &share::FORM,
    &same_value::FORM,
    &scales::FORM,
    &untested::FORM,
];

/// How a form is written.
pub(super) struct Form {
    /// What `kind` says.
    pub(super) word: &'static str,
    /// Its keys, beside those that every claim has.
    pub(super) keys: &'static [&'static str],
    /// Reads them.
    pub(super) read: fn(&Keys<'_, '_>) -> Result<Arc<dyn Test>, FileError>,
}

/// What a claim claims of its cells. Ratios are time of the second over time of the first: how many
/// times faster the first is.
pub(crate) trait Test: Debug + Send + Sync {
    /// Judges it on a run. What cannot be judged is an `Err` with the reason.
    fn judge(&self, bench: &Bench<'_>) -> Ruled;

    /// What is tested, in a sentence.
    fn said(&self, saying: &Saying) -> String;

    /// Every selection that it makes.
    fn sides(&self) -> Vec<&Selection> {
        Vec::new()
    }

    /// The cells whose next rounds may decide it: those of its sides, else all that it is about.
    fn decided_by(&self) -> Vec<Selection> {
        match self.champion() {
            None if !self.sides().is_empty() => self.sides().into_iter().cloned().collect(),
            _ => vec![Selection::default()],
        }
    }

    /// Those of them that close what a side leaves open: where it is asked, not who.
    fn places(&self) -> Vec<&Selection> {
        Vec::new()
    }

    /// Who is compared with all the others, where that is the claim.
    fn champion(&self) -> Option<&Selection> {
        None
    }

    /// The axis that it runs along.
    fn axis(&self) -> Option<Factor> {
        None
    }

    /// Places on its axis that it names.
    fn marks(&self) -> Vec<u64> {
        Vec::new()
    }

    /// Numbers of it that are no levels, and that its sentence must name.
    fn bounds(&self) -> Vec<Bound> {
        Vec::new()
    }

    /// Which way it asks for, where it asks for one.
    fn direction(&self) -> Option<Direction<'_>> {
        None
    }
}

/// A direction that a sentence may turn round.
pub(super) enum Direction<'a> {
    /// Time gets less (or more) along the axis.
    Along { falling: bool },
    /// The first of two sides is the faster.
    Sides(&'a Selection, &'a Selection),
}
