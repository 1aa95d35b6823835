//! How the cells of one answer stand to its best.

use std::collections::HashMap;

use iolab_model::result::{Answer, CellRecord, CellStanding, Document};

/// The cells of each answer of a run, found by name: a run may have thousands of both.
pub struct Conditions<'a> {
    document: &'a Document,
    /// Where each cell stands in the run.
    places: HashMap<&'a str, usize>,
}

impl<'a> Conditions<'a> {
    /// Learns the cells of a run by their ids.
    pub fn of(document: &'a Document) -> Conditions<'a> {
        let ids = document.cells.iter().enumerate().map(|(at, cell)| (cell.id.as_str(), at));
        Conditions { document, places: ids.collect() }
    }

    /// The cells that one answer compares, in the order of the run. They are those it names: the
    /// levels of its condition are not all theirs, for a cell lacks what makes no difference to it
    /// (a `pread` has no queue depth).
    pub fn cells(&self, answer: &Answer) -> Vec<&'a CellRecord> {
        let pairs = answer.comparisons.iter().flat_map(|c| [c.a.as_str(), c.b.as_str()]);
        let compared = answer.regret.iter().map(|regret| regret.cell.as_str());
        let named = pairs.chain(compared).chain(answer.best.iter().map(String::as_str));
        let mut places: Vec<usize> = named.filter_map(|id| self.places.get(id).copied()).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|at| &self.document.cells[at]).collect()
    }
}

/// One cell against the best of its answer, in time: over 1 is slower.
#[derive(Clone, Copy, Debug)]
pub struct Against {
    /// Time of the cell / time of the leader, the median of the rounds they share.
    pub ratio: f64,
    /// At least so many times as long as the best.
    pub low: Option<f64>,
    /// And at most.
    pub high: Option<f64>,
}

/// An answer as seen from the cell that the others are held against.
pub struct Standing<'a> {
    /// The answer.
    pub answer: &'a Answer,
    /// The winner, or what the answer says to take; the fastest where it says nothing.
    pub leader: &'a CellRecord,
    /// Every compared cell by id.
    pub others: HashMap<&'a str, Against>,
    /// Differences up to this share do not matter.
    pub delta: f64,
}

impl<'a> Standing<'a> {
    /// Looks up where the cells of an answer stand; none where nothing was measured.
    pub fn of(
        document: &'a Document,
        cells: &[&'a CellRecord],
        answer: &'a Answer,
    ) -> Option<Standing<'a>> {
        let named = answer.leader().and_then(|id| cells.iter().copied().find(|c| c.id == id));
        let leader = named.filter(|cell| unit_time(cell).is_some());
        let leader = leader.or_else(|| fastest(timed(cells)))?;
        let others = answer.regret.iter().map(|regret| {
            let id = regret.cell.as_str();
            let high = regret.high;
            let bounded = |ratio: f64| ratio.max(regret.low).min(high.unwrap_or(f64::INFINITY));
            // What is to be taken need not be among those that may be the best: then it has a bound, too.
            let own = (id == leader.id).then_some(1.0);
            let ratio = bounded(own.or_else(|| answer.ratio_of(id, &leader.id)).unwrap_or(1.0));
            (id, Against { ratio, low: Some(regret.low), high })
        });
        let delta = document.experiment.protocol.delta;
        Some(Standing { answer, leader, others: others.collect(), delta })
    }

    /// Whether a cell is shown to be within what matters of the best.
    pub fn near(&self, id: &str) -> bool {
        self.answer.is_within(id, self.delta)
    }

    /// Whether a cell may be the best.
    pub fn best(&self, id: &str) -> bool {
        matches!(self.answer.standing_of(id), CellStanding::Best | CellStanding::AmongBest)
    }
}

/// Cells with their times.
fn timed<'a>(cells: &[&'a CellRecord]) -> impl Iterator<Item = (&'a CellRecord, f64)> {
    cells.iter().filter_map(|cell| Some((*cell, unit_time(cell)?)))
}

fn fastest<'a>(cells: impl Iterator<Item = (&'a CellRecord, f64)>) -> Option<&'a CellRecord> {
    cells.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| cell)
}

/// Median time of one pass, of one operation where no bytes move; where the cell has one.
pub fn unit_time(cell: &CellRecord) -> Option<f64> {
    let estimate = cell.estimate.as_ref()?;
    let time = match estimate.bytes_per_second {
        Some(_) => estimate.wall_ns.median,
        None => estimate.ns_per_operation.median,
    };
    (time.is_finite() && time > 0.0).then_some(time)
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use crate::drawing::model::Layer;
    use crate::drawing::model::Mark;
    use iolab_model::catalog::Factor;
    use iolab_test::{fakes::number, scenes};

    /// A condition names every level that was asked for; cells keep only those that make a
    /// difference to them. Cells were once looked up by all levels of the condition, and reads,
    /// which have no queue depth, lost their ranking and their plateau in every real run.
    #[test]
    fn an_answer_finds_cells_that_lack_a_level_of_its_condition() {
        let mut run = scenes::blocks();
        for answer in &mut run.answers {
            answer.condition.set(Factor::QueueDepth, number(8));
        }
        let charts = charts_for(&[run]);
        let slugs: Vec<&str> = charts.iter().map(|c| c.slug.as_str()).collect();
        assert!(slugs.contains(&"ranking"), "{slugs:?}");
        let blocks = charts.iter().find(|c| c.slug == "time-by-block").unwrap();
        let flagged = blocks.panels.iter().flat_map(|p| &p.layers).any(|layer| match layer {
            Layer::Series(s) => s.points.iter().any(|p| matches!(p.mark, Mark::Flagged(_))),
            _ => false,
        });
        assert!(flagged, "{}", blocks.title);
    }
}
