//! Samples → intervals, comparisons, answer, grade, flags. Pure: numbers in, numbers out.

mod betting;
mod between_runs;
mod bias;
mod carry_over;
mod change;
pub mod claims;
mod compare;
mod describe;
mod drift;
mod finding;
mod findings;
mod outlier;
mod random;
mod rank;
mod regression;
mod series;
mod shape;
mod sides;
mod sign;
mod verdict;

pub use betting::mean_bounds;
pub use between_runs::{Basis, Between, Seen, between, runs_to_rule_out};
pub use change::{Change, changes};
pub use compare::{pairs, verdict};
pub use describe::{summary, summary_at};
pub use drift::{MannKendall, Step, mann_kendall, pettitt, pettitt_p, theil_sen};
pub use finding::{Context, Finding};
pub use rank::{Test, spearman};
pub use regression::{Line, line};
pub use series::median;
pub use shape::{TwoStates, quantised, two_states};
pub use sides::{Sides, bounds_of, sides};
pub use sign::fixed_rank;
pub use verdict::{Judgement, claimed, half_width, judge};

use iolab_model::result::{Interval, Verdict};

use claims::{Round, Table, Trial, Watch};

/// What was seen of the cells of one answer. All outer vectors are by cell (index within the
/// answer), all inner ones by steady round, from the first; a missing trial is NaN / `None`.
/// The series of a cell that was left out ends with its last round, and is so shorter than others.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// y = ln(wall seconds per unit of work); +∞: the trial was lost (it failed, or was killed for
    /// taking too long), NaN: there was none that counts.
    pub y: Vec<Vec<f64>>,
    /// Position of the cell's trial in its round.
    pub position: Vec<Vec<Option<u32>>>,
    /// The cell (of the whole plan; the twin has a number of its own) that ran just before it.
    pub before: Vec<Vec<Option<u32>>>,
    /// Which renewal of the file instances each round used.
    pub epoch: Vec<u32>,
    /// Warm-up rounds by round, then by cell, as `y`: they may choose opponents and prove nothing.
    pub warmup: Vec<Vec<f64>>,
    /// Cells given up without proof: they are not compared.
    pub dropped: Vec<usize>,
}

impl Observations {
    /// The claims after all of these rounds.
    pub fn watch(&self, rules: &Rules) -> Watch {
        let mut watch = self.table(rules.unit_rounds).watch(rules.alpha);
        self.dropped.iter().for_each(|cell| watch.give_up(*cell));
        watch
    }

    /// Warm-up, which is of no epoch, and then the steady rounds.
    fn table(&self, unit_rounds: usize) -> Table {
        let mut table = Table { unit_rounds, ..Table::new(self.y.len()) };
        for round in &self.warmup {
            table.push(round.iter().map(|y| trial(*y)).collect(), false);
        }
        for round in 0..self.rounds() {
            let of = |y: &Vec<f64>| y.get(round).map_or(Trial::Absent, |y| trial(*y));
            let epoch = self.epoch.get(round).copied().unwrap_or(u32::MAX);
            let trials = self.y.iter().map(of).collect();
            table.rounds.push(Round { trials, steady: true, epoch });
        }
        table
    }

    /// Steady rounds seen.
    pub fn rounds(&self) -> usize {
        self.y.iter().map(Vec::len).max().unwrap_or(0)
    }
}

/// What decides a verdict.
#[derive(Clone, Debug)]
pub struct Rules {
    /// Error allowed for the answer.
    pub alpha: f64,
    /// Differences smaller than this share do not matter: δ as asked for.
    pub delta: f64,
    /// Pairs of the answer, fixed at the start: k(k−1)/2.
    pub pairs: f64,
    /// Rounds of one unit of the statistic: 1, or E where cells have instances of their own that are
    /// renewed every E > 1 rounds; the median of the epoch is the unit then.
    pub unit_rounds: usize,
    /// What taking a cell costs beside time, by cell of the answer: less is cheaper (the smallest
    /// block, the fewest threads). Cells beyond its end go by index.
    pub cost: Vec<u64>,
    /// Seed of permutations.
    pub seed: u64,
}

impl Rules {
    /// Those of them that decide a claim.
    pub fn of_claims(&self) -> claims::Rules {
        claims::Rules {
            alpha: self.alpha,
            delta: self.delta,
            cost: self.cost.clone(),
            ..claims::Rules::default()
        }
    }
}

/// A pair of cells (indices within the answer), a < b. Logarithms of ratios.
#[derive(Clone, Debug, PartialEq)]
pub struct Pair {
    /// First cell.
    pub a: usize,
    /// Second cell.
    pub b: usize,
    /// Units (rounds, epochs or merged rounds) that both share.
    pub n: u32,
    /// Units in which d = 0.
    pub ties: u32,
    /// Median of d = y_a − y_b.
    pub median: f64,
    /// Interval of the median of d.
    pub interval: Interval,
    /// a against b.
    pub verdict: Verdict,
    /// Beyond δ.
    pub clear: bool,
    /// How many neighbouring rounds were merged into one unit (1: none).
    pub merged: u32,
}

/// A trial as the claims have it, from y.
pub fn trial(y: f64) -> Trial {
    match y {
        y if y.is_nan() => Trial::Absent,
        y if y.is_infinite() => Trial::Lost,
        y => Trial::Took(y),
    }
}
