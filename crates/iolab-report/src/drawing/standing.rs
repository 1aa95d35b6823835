//! How the cells of one answer stand to its leader.

use std::collections::HashMap;

use crate::reference_cell::reference_cell;
use iolab_model::result::{Answer, CellRecord, Document, Verdict};

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
        let named = pairs.chain(answer.best.iter().map(String::as_str));
        let mut places: Vec<usize> = named.filter_map(|id| self.places.get(id).copied()).collect();
        places.sort_unstable();
        places.dedup();
        places.into_iter().map(|at| &self.document.cells[at]).collect()
    }
}

/// One cell against the leader of its answer, in time: over 1 is slower.
#[derive(Clone, Copy, Debug)]
pub struct Against {
    /// Time of the cell / time of the leader.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

/// An answer as seen from its fastest cell.
pub struct Standing<'a> {
    /// The answer.
    pub answer: &'a Answer,
    /// The fastest of its best cells.
    pub leader: &'a CellRecord,
    /// Every other cell by id.
    pub others: HashMap<&'a str, Against>,
    /// Differences up to this share do not matter.
    pub delta: f64,
}

impl<'a> Standing<'a> {
    /// Looks an answer's pairs up from its leader; none where nothing was measured.
    pub fn of(
        document: &'a Document,
        cells: &[&'a CellRecord],
        answer: &'a Answer,
    ) -> Option<Standing<'a>> {
        let leader = fastest(best(cells, answer)).or_else(|| fastest(timed(cells)))?;
        Some(Standing::from(document, leader, answer))
    }

    /// The same from the cell that the paired ratios put ahead of the other best ones: what ratios
    /// "to the best" are against.
    pub fn ahead(
        document: &'a Document,
        cells: &[&'a CellRecord],
        answer: &'a Answer,
    ) -> Option<Standing<'a>> {
        let best: Vec<(&CellRecord, f64)> = best(cells, answer).collect();
        let leader = reference_cell(answer, &best).or_else(|| fastest(timed(cells)))?;
        Some(Standing::from(document, leader, answer))
    }

    fn from(document: &'a Document, leader: &'a CellRecord, answer: &'a Answer) -> Standing<'a> {
        let others = answer.comparisons.iter().filter_map(|c| {
            let over = |v: Option<f64>| v.filter(|v| *v > 0.0).map(|v| 1.0 / v);
            if c.b == leader.id {
                let (ratio, low, high) = (c.ratio, c.low, c.high);
                Some((c.a.as_str(), Against { ratio, low, high }))
            } else if c.a == leader.id {
                let (low, high) = (over(c.high), over(c.low));
                Some((c.b.as_str(), Against { ratio: over(Some(c.ratio))?, low, high }))
            } else {
                None
            }
        });
        let delta = document.experiment.protocol.delta;
        Standing { answer, leader, others: others.collect(), delta }
    }

    /// Whether a cell is proven to be within what matters of the leader, or is the leader.
    pub fn near(&self, id: &str) -> bool {
        id == self.leader.id
            || self.others.get(id).is_some_and(|a| a.high.is_some_and(|h| h <= 1.0 + self.delta))
    }

    /// Whether a cell is in the tie set: not proven slower than any other.
    pub fn best(&self, id: &str) -> bool {
        self.answer.best.iter().any(|b| b == id)
    }
}

/// Cells with their times.
fn timed<'a>(cells: &[&'a CellRecord]) -> impl Iterator<Item = (&'a CellRecord, f64)> {
    cells.iter().filter_map(|cell| Some((*cell, unit_time(cell)?)))
}

fn best<'a>(
    cells: &[&'a CellRecord],
    answer: &Answer,
) -> impl Iterator<Item = (&'a CellRecord, f64)> {
    timed(cells).filter(|(cell, _)| answer.best.contains(&cell.id))
}

fn fastest<'a>(cells: impl Iterator<Item = (&'a CellRecord, f64)>) -> Option<&'a CellRecord> {
    cells.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| cell)
}

/// The verdict seen from the other cell.
pub fn turned(verdict: Verdict) -> Verdict {
    match verdict {
        Verdict::Faster => Verdict::Slower,
        Verdict::Slower => Verdict::Faster,
        same => same,
    }
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
