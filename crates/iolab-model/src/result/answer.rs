//! What was concluded.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::finding::Finding;
use super::name::Name;
use crate::catalog::{Code, Levels, SlowerForm};

/// How what would raise a grade ends where going on with the run brings it.
pub const BY_MORE: &str = "(iolab more)";

/// Descriptive statistics of one quantity of one cell over its steady rounds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// Samples.
    pub n: u32,
    /// Median.
    pub median: f64,
    /// Lower end of the exact order-statistic interval of the median; absent under n = 6.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Mean.
    pub mean: f64,
    /// Standard deviation (n − 1).
    pub sd: f64,
    /// Least.
    pub min: f64,
    /// Lower quartile.
    pub q1: f64,
    /// Upper quartile.
    pub q3: f64,
    /// Greatest.
    pub max: f64,
}

/// The verdict on a pair (a, b).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// a takes less time than b.
    Faster,
    /// a takes more time than b.
    Slower,
    /// The interval lies within what does not matter.
    Equivalent,
    /// None of these is shown.
    Undecided,
}

/// One pair of cells of one answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Comparison {
    /// Cell id.
    pub a: Name,
    /// Cell id.
    pub b: Name,
    /// Time of a / time of b per unit of work.
    pub ratio: f64,
    /// Lower end of its interval.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// What the interval shows.
    pub verdict: Verdict,
    /// Whether it exceeds what matters (δ).
    pub clear: bool,
    /// Steady rounds that both cells share.
    pub n: u32,
    /// Rounds in which the two took equal time.
    #[serde(default)]
    pub ties: u32,
}

/// The cell to take, and what that can cost at most.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Pick {
    /// Cell id.
    pub cell: Name,
    /// Its time is at most this multiple of the best's, whoever that is: 1.014 = 1.4 % slower.
    pub at_most: f64,
}

/// How much longer a cell takes than the best of its answer, whoever that is. The intervals of all
/// cells hold together, at every moment of the run, with probability 1 − α.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Regret {
    /// Cell id.
    pub cell: Name,
    /// Its time is at least this multiple of the best's: 1 where it may be the best.
    pub low: f64,
    /// And at most this one; absent where nothing bounds it yet.
    pub high: Option<f64>,
    /// Whether it is shown not to be the best.
    pub excluded: bool,
}

/// The kind of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum AnswerKind {
    /// One cell is best.
    Winner,
    /// Several are best and equivalent.
    Tie,
    /// Not yet shown.
    Undecided,
    /// The measurement is not sound enough to answer.
    Invalid,
}

/// How far the answer can be trusted.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
pub enum Grade {
    /// Good.
    A,
    /// Fair.
    B,
    /// Rough.
    C,
    /// Not at all.
    #[serde(rename = "invalid")]
    Invalid,
}

/// A warning: a stable code and a sentence that reasons from this run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Warning {
    /// The code; `iolab explain CODE` tells more.
    pub code: Code,
    /// What was seen in this run, and what would help.
    pub text: String,
}

/// The answer to one condition: every level of the question factors compared at equal conditions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Answer {
    /// The levels that all its cells share.
    pub condition: Levels,
    /// Winner, tie, undecided or invalid.
    pub kind: AnswerKind,
    /// Ids of the cells that may be the best; empty where nothing may be claimed.
    pub best: Vec<String>,
    /// What to take; absent where nothing may be claimed, and in records of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// One entry a compared cell, in the order of the cells.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub regret: Vec<Regret>,
    /// What is found along ordered factors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<Finding>,
    /// How far to trust it.
    pub grade: Grade,
    /// The one thing that would raise the grade.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub raise: Option<String>,
    /// For people.
    pub sentence: String,
    /// Steady rounds behind it.
    pub rounds: u32,
    /// Smallest ratio that this run could have told apart from 1, where undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub detectable: Option<f64>,
    /// Estimated seconds still needed, where undecided.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub more_seconds: Option<f64>,
    /// What to keep in mind.
    pub warnings: Vec<Warning>,
    /// One entry a pair; beyond 200 cells the pairs of those that can cost least.
    pub comparisons: Vec<Comparison>,
}

/// The A/A control: a cell that was measured twice in a round, against itself.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Twin {
    /// Id of the cell that was measured twice; [`Twin::ANY`] where each round drew another.
    pub cell: String,
    /// The second trials.
    pub samples: Vec<super::Sample>,
    /// By sample: the cell that the round drew. Empty where it was always the same.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drawn: Vec<Name>,
    /// Time under the one label / time under the other.
    pub ratio: Option<f64>,
    /// Lower end of its interval (M = 1).
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
}

impl Twin {
    /// What stands for the cell where each round drew another.
    pub const ANY: &'static str = "*";

    /// Every second trial with the id of its cell.
    pub fn trials(&self) -> impl Iterator<Item = (&str, &super::Sample)> {
        let cell = |at: usize| self.drawn.get(at).map_or(self.cell.as_str(), |name| name.as_str());
        self.samples.iter().enumerate().map(move |(at, sample)| (cell(at), sample))
    }
}

/// Where a cell stands in its answer. Everything that speaks of an answer asks this, so that no table
/// contradicts a headline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CellStanding {
    /// The only one that may be the best.
    Best,
    /// One of several that may be the best.
    AmongBest,
    /// Shown not to be the best.
    Slower,
    /// Nothing is said of it: it failed, was left out without proof, or the answer is not sound.
    NotCompared,
}

impl Answer {
    /// What is said of a cell's time against the best; absent where it is not compared.
    pub fn regret_of(&self, cell: &str) -> Option<&Regret> {
        self.regret.iter().find(|regret| *regret.cell == *cell)
    }

    /// How all that stands beside this answer says by how much a cell is slower.
    pub fn slower_form(&self) -> SlowerForm {
        SlowerForm::of(self.regret.iter().map(|regret| regret.high.unwrap_or(regret.low)))
    }

    /// Where a cell stands.
    pub fn standing_of(&self, cell: &str) -> CellStanding {
        let best = self.best.iter().any(|id| id == cell);
        match (self.kind, best) {
            (AnswerKind::Invalid, _) => CellStanding::NotCompared,
            (_, true) if self.best.len() == 1 => CellStanding::Best,
            (_, true) => CellStanding::AmongBest,
            (_, false) => match self.regret_of(cell).is_some_and(|regret| regret.excluded) {
                true => CellStanding::Slower,
                false => CellStanding::NotCompared,
            },
        }
    }

    /// The cell that others are held against: the winner, else what the answer says to take, else the
    /// first of the best.
    pub fn leader(&self) -> Option<&str> {
        let pick = self.pick.as_ref().map(|pick| pick.cell.as_str());
        let first = self.best.first().map(String::as_str);
        if self.best.len() == 1 { first } else { pick.or(first) }
    }

    /// What the cells of an answer are sorted by wherever one is called the next: how many times as long
    /// as the best each takes at least, so that the winner is ahead of all by what is said of the next.
    /// Whoever may be the best takes 1; nothing is known of who was not compared.
    pub fn takes_at_least(&self, cell: &str) -> f64 {
        self.regret_of(cell).map_or(f64::INFINITY, |regret| regret.low.max(1.0))
    }

    /// Whether a cell is shown to take at most 1 + δ of the best's time (`delta` a share).
    pub fn is_within(&self, cell: &str, delta: f64) -> bool {
        let high = self.regret_of(cell).and_then(|regret| regret.high);
        high.is_some_and(|high| high <= 1.0 + delta)
    }

    /// Fills in what records of earlier versions lack, from their pairs: who may be the best stands
    /// there; how much longer each takes is that of the pair with the first of the best.
    pub fn complete(&mut self) {
        if !self.regret.is_empty() || self.kind == AnswerKind::Invalid {
            return;
        }
        // The one that can cost least: against every other of the best.
        let widest = |id: &&String| self.widest(id).unwrap_or(f64::INFINITY);
        let leader = self.best.iter().min_by(|a, b| widest(a).total_cmp(&widest(b))).cloned();
        let Some(leader) = leader else { return };
        let mut cells: Vec<Name> = vec![leader.as_str().into()];
        cells.extend(self.comparisons.iter().flat_map(|pair| [pair.a, pair.b]));
        let mut known = std::collections::BTreeSet::new();
        cells.retain(|cell| known.insert(cell.as_str().to_owned()));
        self.regret =
            cells.into_iter().filter_map(|cell| self.regret_by_pairs(cell, &leader)).collect();
        let pick = self.regret.iter().find(|regret| *regret.cell == *leader);
        self.pick = pick.and_then(|regret| Some(Pick { cell: regret.cell, at_most: regret.high? }));
    }

    /// The greatest ratio that the intervals leave a cell against any other of the best.
    fn widest(&self, id: &str) -> Option<f64> {
        let inside = |other: &str| other != id && self.best.iter().any(|best| best == other);
        let highs = self.comparisons.iter().filter_map(|pair| match (&*pair.a, &*pair.b) {
            (a, b) if a == id && inside(b) => Some(pair.high),
            (a, b) if b == id && inside(a) => Some(reciprocal(pair.low)),
            _ => None,
        });
        highs.into_iter().try_fold(1.0, |most: f64, high| Some(most.max(high?)))
    }

    /// Nothing is said of a cell that was left out without proof.
    fn regret_by_pairs(&self, cell: Name, leader: &str) -> Option<Regret> {
        let excluded = !self.best.iter().any(|id| *id == *cell);
        if !excluded {
            let high = self.widest(&cell);
            return Some(Regret { cell, low: 1.0, high, excluded });
        }
        let against = |best: &str| {
            self.comparisons.iter().find_map(|pair| match (&*pair.a, &*pair.b) {
                (a, b) if a == &*cell && b == best => Some((pair.low?, pair.high)),
                (a, b) if a == best && b == &*cell => {
                    Some((reciprocal(pair.high)?, reciprocal(pair.low)))
                }
                _ => None,
            })
        };
        // Against the leader, or any other of the best where those two were not compared.
        let (low, high) =
            against(leader).or_else(|| self.best.iter().find_map(|best| against(best)))?;
        let low = low.max(1.0);
        Some(Regret { cell, low, high: high.map(|high| high.max(low)), excluded })
    }
}

fn reciprocal(bound: Option<f64>) -> Option<f64> {
    bound.filter(|bound| *bound > 0.0).map(|bound| 1.0 / bound)
}

#[cfg(test)]
mod tests {
    use super::{Answer, AnswerKind, CellStanding, Comparison, Grade, Verdict};
    use crate::catalog::Levels;

    fn old(kind: AnswerKind, best: &[&str]) -> Answer {
        let pair = |a: &str, b: &str, low, high, verdict| Comparison {
            a: a.into(),
            b: b.into(),
            ratio: 1.0,
            low: Some(low),
            high: Some(high),
            verdict,
            clear: true,
            n: 40,
            ties: 0,
        };
        Answer {
            condition: Levels::new(),
            kind,
            best: best.iter().map(|id| (*id).to_owned()).collect(),
            pick: None,
            regret: Vec::new(),
            findings: Vec::new(),
            grade: Grade::A,
            raise: None,
            sentence: String::new(),
            rounds: 40,
            detectable: None,
            more_seconds: None,
            warnings: Vec::new(),
            comparisons: vec![
                pair("a", "b", 0.5, 0.8, Verdict::Faster),
                pair("c", "a", 0.99, 1.01, Verdict::Equivalent),
            ],
        }
    }

    #[test]
    fn an_old_answer_says_the_same_in_the_new_words() {
        let mut winner = old(AnswerKind::Winner, &["a"]);
        winner.comparisons.pop();
        winner.complete();
        assert_eq!(
            (winner.standing_of("a"), winner.standing_of("b")),
            (CellStanding::Best, CellStanding::Slower)
        );
        let b = winner.regret_of("b").unwrap();
        assert_eq!((b.low, b.high), (1.25, Some(2.0)));
        assert_eq!(winner.leader(), Some("a"));
        assert_eq!(winner.pick.as_ref().unwrap().at_most, 1.0);
        assert_eq!(winner.standing_of("nobody"), CellStanding::NotCompared);

        let mut tie = old(AnswerKind::Tie, &["a", "c"]);
        tie.complete();
        assert_eq!(
            (tie.standing_of("a"), tie.standing_of("b")),
            (CellStanding::AmongBest, CellStanding::Slower)
        );
        assert!(tie.is_within("c", 0.02) && !tie.is_within("b", 0.02));
        assert!((tie.pick.as_ref().unwrap().at_most - 1.01).abs() < 1e-12);
        let mut unsound = old(AnswerKind::Invalid, &[]);
        unsound.complete();
        assert!(unsound.regret.is_empty() && unsound.leader().is_none());
    }
}
