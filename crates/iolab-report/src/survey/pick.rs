//! What an answer says to take, as a line of the survey says it: its bound against the best, and what
//! is slower by how much.

use crate::verdict_word::is_alone;
use iolab_model::catalog::slower_text;
use iolab_model::result::{Answer, CellRecord, CellStanding, Document};

/// A bound wider than this is no reason to tell somebody to use something.
const ADVISED_UP_TO: f64 = 1.25;

/// A cell that may be taken.
pub(super) struct Pick<'a> {
    pub(super) document: &'a Document,
    pub(super) answer: &'a Answer,
    pub(super) cell: &'a CellRecord,
}

impl<'a> Pick<'a> {
    /// What the answer itself says to take.
    pub(super) fn of(document: &'a Document, answer: &'a Answer) -> Option<Pick<'a>> {
        let leader = answer.leader()?;
        let cell = document.cells.iter().find(|cell| cell.id == leader)?;
        Some(Pick { document, answer, cell })
    }

    /// `best of 3`, `at most 3 % slower than the best of 3`.
    pub(super) fn standing(&self) -> String {
        let of = self.answer.regret.len();
        let best = self.answer.standing_of(&self.cell.id) == CellStanding::Best;
        let high = self.answer.regret_of(&self.cell.id).and_then(|regret| regret.high);
        match high {
            _ if is_alone(self.answer) => "nothing to compare it with".to_owned(),
            _ if best => format!("best of {of}"),
            None => format!("no bound against the best of {of} yet"),
            Some(_) => {
                let bound = slower_text(1.0, high).replace(" as long", " the time");
                let than = if bound.ends_with("slower") { "than" } else { "of" };
                match bound.as_str() {
                    "not slower" => format!("as fast as the best of {of}"),
                    _ => format!("{bound} {than} the best of {of}"),
                }
            }
        }
    }

    /// The one that is shown to be slower by the most: `4 KiB 1.2–1.4× as long`.
    pub(super) fn behind(&self, name: &dyn Fn(&CellRecord) -> String) -> Option<String> {
        let slower = self.answer.regret.iter().filter(|regret| regret.excluded && regret.low > 1.0);
        let slowest = slower.max_by(|a, b| a.low.total_cmp(&b.low))?;
        let cell = self.document.cells.iter().find(|cell| *cell.id == *slowest.cell)?;
        Some(format!("{} {}", name(cell), slower_text(slowest.low, slowest.high)))
    }
}

/// Whether the answer bounds it closely enough.
pub(super) fn is_advised(answer: &Answer, cell: &str) -> bool {
    answer.is_within(cell, ADVISED_UP_TO - 1.0)
}
