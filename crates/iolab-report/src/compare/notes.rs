//! What to keep in mind of a comparison, one sentence each.

use super::{Likeness, series};
use iolab_model::result::{AnswerKind, Document};

/// What holds of a comparison of which a row rests on one run of a side.
const SINGLE: &str = "One run on a side does not show what the machine does between runs: at least 1 %, and what \
     the runs show of themselves, is allowed for. Two or more runs a side replace the allowance.";

/// What holds where the runs of a side follow one another.
const ONE_SITTING: &str = "Each side was recorded in one go, so what the machine did by itself between the two is in the \
     ratio: for it as much is allowed as runs of one side differ. Runs in turn (`iolab rerun BEFORE AFTER`), or \
     half an hour apart, replace the allowance.";

/// What to keep in mind of runs against runs; `single`: one run of a side speaks for it, `one_sitting`:
/// one row of runs does.
pub(super) fn notes(
    all: &[&Document],
    likeness: Likeness,
    single: bool,
    one_sitting: bool,
) -> Vec<String> {
    let single_note = single.then(|| SINGLE.to_owned());
    let sitting_note = one_sitting.then(|| ONE_SITTING.to_owned());
    let notes = single_note.into_iter().chain(sitting_note).chain(likeness_note(likeness, single));
    notes.chain(unsound(all)).collect()
}

fn likeness_note(likeness: Likeness, single: bool) -> Option<String> {
    match likeness {
        Likeness::Same => None,
        Likeness::Kin if single => Some(
            "The runs come from two machines of one kind (or it is not known from which): from one \
             run on each, no difference is called clear."
                .to_owned(),
        ),
        Likeness::Kin => Some("The runs come from several machines of one kind.".to_owned()),
        Likeness::Other => {
            Some("The machines differ: nothing here is called clear.".to_owned())
        }
    }
}

/// Runs that were interrupted, or whose measurement was not sound.
pub(super) fn unsound(runs: &[&Document]) -> Vec<String> {
    let mut notes = Vec::new();
    for run in runs {
        let name = series::run_name(run);
        if !run.run.complete {
            notes.push(format!("{name} is partial."));
        }
        let invalid = run.answers.iter().filter(|a| a.kind == AnswerKind::Invalid).count();
        if invalid > 0 {
            notes.push(format!(
                "{name}: {invalid} of {} answers were not sound (see its warnings).",
                run.answers.len()
            ));
        }
    }
    notes
}
