//! How the cells of one answer stand to its leader.

use std::collections::HashMap;

use crate::catalog::{Factor, Levels};
use crate::result::{Answer, CellRecord, Document, Verdict};

/// Cells by their levels.
type ByLevels<'a> = HashMap<Levels, Vec<&'a CellRecord>>;

/// The cells of each condition of a run, found once: a run may have thousands of answers.
pub struct Conditions<'a> {
    /// Cells by their levels of the factors that conditions name; one map a set of factors.
    maps: Vec<(Vec<Factor>, ByLevels<'a>)>,
}

impl<'a> Conditions<'a> {
    /// Sorts the cells of a run into the conditions of its answers.
    pub fn of(document: &'a Document) -> Conditions<'a> {
        let mut maps: Vec<(Vec<Factor>, ByLevels<'a>)> = Vec::new();
        for answer in &document.answers {
            let factors = factors_of(&answer.condition);
            if maps.iter().any(|(known, _)| *known == factors) {
                continue;
            }
            let mut map = ByLevels::new();
            for cell in &document.cells {
                let levels = cell.factors.only(|f| factors.contains(&f));
                map.entry(levels).or_default().push(cell);
            }
            maps.push((factors, map));
        }
        Conditions { maps }
    }

    /// The cells that one answer compares.
    pub fn cells(&self, answer: &Answer) -> &[&'a CellRecord] {
        let factors = factors_of(&answer.condition);
        let map = self.maps.iter().find(|(known, _)| *known == factors);
        map.and_then(|(_, map)| map.get(&answer.condition)).map_or(&[], Vec::as_slice)
    }
}

fn factors_of(levels: &Levels) -> Vec<Factor> {
    levels.iter().map(|(factor, _)| factor).collect()
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
        let measured = || cells.iter().copied().filter(|c| unit_time(c).is_some());
        let best = measured().filter(|c| answer.best.contains(&c.id));
        let time = |c: &&CellRecord| unit_time(c).unwrap_or(f64::INFINITY);
        let fastest = |a: &&CellRecord, b: &&CellRecord| time(a).total_cmp(&time(b));
        let leader = best.min_by(fastest).or_else(|| measured().min_by(fastest))?;
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
        Some(Standing { answer, leader, others: others.collect(), delta })
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
