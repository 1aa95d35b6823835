//! What a study says, in a form that can be judged.

use std::sync::Arc;

use super::figures::Figures;
use super::form::Test;
use super::needs::Needs;
use super::select::Selection;
use super::terms::{Choice, Measure, Ours, Per, Spread};
use iolab_model::catalog::{Factor, Level};

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name within the study.
    pub id: String,
    /// The claim in one sentence.
    pub says: String,
    /// The experiments that it may be judged by: the first that was run counts.
    pub experiments: Vec<String>,
    /// Cells that all of it is about.
    pub of: Selection,
    /// What is claimed of them, in its form.
    pub(super) test: Arc<dyn Test>,
    /// Which time is compared.
    pub measure: Measure,
    /// The unit of work that times are divided by.
    pub per: Per,
    /// Of a side with several cells, the best or every one of them.
    pub choice: Choice,
    /// Over which levels it must hold.
    pub spread: Spread,
    /// What a machine must have, that it can be asked there.
    pub needs: Needs,
    /// What of it is ours and not the study's.
    pub ours: Ours,
    /// Where it stands in the study.
    pub place: Option<String>,
    /// Figures that were published for it.
    pub published: Option<Figures>,
    /// What a reader should know: why it stands out, what the study could not see.
    pub note: Option<String>,
}

impl Claim {
    /// Whether a run of this experiment may judge it.
    pub fn is_about(&self, experiment: &str) -> bool {
        self.experiments.iter().any(|name| name == experiment)
    }

    /// Every selection that it makes: what all of it is about, then those of its form.
    pub(super) fn selections(&self) -> impl Iterator<Item = &Selection> {
        std::iter::once(&self.of).chain(self.test.sides())
    }

    /// Levels of a factor that it names, with the places on its axis.
    pub(super) fn names(&self, factor: Factor) -> Vec<Level> {
        let named = self.selections().flat_map(Selection::iter).filter(|(of, _)| *of == factor);
        let mut levels: Vec<Level> = named.flat_map(|(_, levels)| levels.iter().cloned()).collect();
        if self.test.axis() == Some(factor) {
            levels.extend(self.test.marks().into_iter().map(Level::Number));
        }
        levels
    }
}
