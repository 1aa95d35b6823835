//! What was shown about a cell, in a few words.

use iolab_model::result::{Answer, AnswerKind, CellRecord, CellStanding, CellStatus, CopyRoute};

/// What was shown about a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    /// The only one that may be the best.
    Best,
    /// One of several that may be, all within what matters.
    Tied,
    /// Shown to be slower, by more than what matters.
    ClearlySlower,
    /// Shown to be slower, by little or by how much is not settled.
    Slower,
    /// It may be the best.
    Open,
    /// Left out without proof, or not comparable.
    NotCompared,
    /// It shares the source's extents: no copy, and no rival of copies.
    Cloned,
    /// There is nothing to compare it with, or nothing may be said.
    None,
}

impl Mark {
    /// Where a cell stands in its answer.
    pub(super) fn of(cell: &CellRecord, answer: &Answer, delta: f64) -> Mark {
        let low = answer.regret_of(&cell.id).map_or(1.0, |regret| regret.low);
        match answer.standing_of(&cell.id) {
            _ if answer.kind == AnswerKind::Invalid => Mark::None,
            // It won against nobody.
            CellStanding::Best if is_alone(answer) => Mark::None,
            CellStanding::Best => Mark::Best,
            CellStanding::AmongBest if answer.kind == AnswerKind::Tie => Mark::Tied,
            CellStanding::AmongBest => Mark::Open,
            CellStanding::Slower if low > 1.0 + delta => Mark::ClearlySlower,
            CellStanding::Slower => Mark::Slower,
            CellStanding::NotCompared if cloned(cell) => Mark::Cloned,
            CellStanding::NotCompared if cell.status == CellStatus::Eliminated => Mark::NotCompared,
            CellStanding::NotCompared => Mark::None,
        }
    }

    /// Best first: those that may be it, those that are slower, those of which nothing is said.
    pub(super) fn order(self) -> u8 {
        match self {
            Mark::Best | Mark::Tied | Mark::Open => 0,
            Mark::ClearlySlower | Mark::Slower => 1,
            Mark::NotCompared | Mark::Cloned | Mark::None => 2,
        }
    }

    /// Against the best, as people say it: `best`, `3–9 % slower`, `may be best; at most 1.7 % slower`.
    pub(super) fn against_best(self, cell: &CellRecord, answer: &Answer) -> String {
        let regret = answer.regret_of(&cell.id);
        let form = answer.slower_form();
        let slower = regret.map(|regret| form.text(regret.low, regret.high));
        match (self, slower) {
            (Mark::Best, _) => "best".to_owned(),
            (Mark::Tied, Some(slower)) => format!("tied, {slower}"),
            (Mark::Open, Some(slower)) => format!("may be best, {slower}"),
            (Mark::Slower, Some(_)) if regret.is_some_and(|r| r.low <= 1.0 && r.high.is_none()) => {
                "slower, not settled by how much".to_owned()
            }
            (Mark::ClearlySlower | Mark::Slower, Some(slower)) => slower,
            (Mark::NotCompared, _) => "not compared".to_owned(),
            (Mark::Cloned, _) => "cloned".to_owned(),
            _ => String::new(),
        }
    }
}

/// Whether there was one cell to compare.
pub(super) fn is_alone(answer: &Answer) -> bool {
    answer.best.len() == 1 && answer.regret.len() <= 1
}

fn cloned(cell: &CellRecord) -> bool {
    let proof = cell.samples.last().and_then(|s| s.measurement.proof.copy.as_ref());
    proof.is_some_and(|proof| proof.route == CopyRoute::Cloned)
}
