//! Why the cell that an answer names is not the one with the least median: without a word on it the
//! table and the answer seem to disagree.

use iolab_model::catalog::percent_text;
use iolab_model::result::{Answer, AnswerKind, CellRecord};

/// Medians that differ by less look alike in a table of three digits.
pub(super) const SEEN: f64 = 0.005;

/// One short sentence; nothing where the least median is what is named (`leader`). `cells` have their
/// names and their times, in any one unit.
pub(super) fn pick_reason(
    answer: &Answer,
    leader: &str,
    cells: &[(&CellRecord, &str, f64)],
    delta: f64,
) -> Option<String> {
    if answer.kind == AnswerKind::Invalid {
        return None;
    }
    let (.., own) = cells.iter().find(|(cell, ..)| cell.id == leader)?;
    let own = Some(*own).filter(|time| time.is_finite())?;
    let compared = cells.iter().filter(|(cell, ..)| answer.regret_of(&cell.id).is_some());
    let (_, least_name, least) = compared.min_by(|a, b| a.2.total_cmp(&b.2))?;
    let ahead = own / least - 1.0;
    let is_bounded = answer.pick.as_ref().is_some_and(|pick| pick.at_most <= 1.0 + delta);
    let within = is_bounded || answer.kind == AnswerKind::Tie;
    (*least > 0.0 && ahead > SEEN).then(|| {
        let median =
            format!("The median of {least_name} is {} less", percent_text(1.0 - least / own));
        match answer.kind {
            AnswerKind::Winner => format!("{median}, but round for round it is slower"),
            _ if within => format!(
                "{median}, but of those within {} the simplest is taken",
                percent_text(delta)
            ),
            _ => format!("{median}, but what it may lose is bounded less well"),
        }
    })
}
