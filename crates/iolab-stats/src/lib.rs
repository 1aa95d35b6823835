//! Samples → intervals, comparisons, answer, grade, flags. Pure: numbers in, numbers out.

mod between_runs;
mod carry_over;
mod change;
mod compare;
mod contrast;
mod describe;
mod drift;
mod findings;
mod grade;
mod outlier;
mod random;
mod rank;
mod regression;
mod series;
mod shape;
mod sign;
mod stopping;
mod verdict;

pub use between_runs::{Basis, Between, Seen, between};
pub use change::{Change, changes};
pub use compare::{FEWEST_STEADY_ROUNDS, pairs, resolve, standing, verdict};
pub use describe::{
    MedianRatio, median_ratio, percentile, percentile_over_rounds, summary, variation,
};
pub use drift::{MannKendall, Step, mann_kendall, pettitt, pettitt_p, theil_sen};
pub use rank::{Test, kruskal_wallis, mann_whitney, mid_ranks, spearman};
pub use regression::{Line, line};
pub use series::median;
pub use shape::{TwoStates, quantised, two_states};
pub use sign::{fewest_rounds, fixed_rank, ln_e_value, ln_evidence, lower_rank};
pub use stopping::{Reason, delta_eff, detectable, eliminations, more_rounds};
pub use verdict::{Context, Finding, Judgement, TwinFigures, judge, twin_figures};

use iolab_model::result::{AnswerKind, Interval, Verdict};

/// What was seen of the cells of one answer. All outer vectors are by cell (index within the
/// answer), all inner ones by steady round, from the first; a missing trial is NaN / `None`.
/// The series of a cell that was left out ends with its last round, and is so shorter than others.
#[derive(Clone, Debug, Default)]
pub struct Observations {
    /// y = ln(wall seconds per unit of work).
    pub y: Vec<Vec<f64>>,
    /// Position of the cell's trial in its round.
    pub position: Vec<Vec<Option<u32>>>,
    /// The cell (of the whole plan; the twin has a number of its own) that ran just before it.
    pub before: Vec<Vec<Option<u32>>>,
    /// Which renewal of the file instances each round used.
    pub epoch: Vec<u32>,
    /// Cells left out without proof (screened, or given up): they are in no tie set.
    pub dropped: Vec<usize>,
}

impl Observations {
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
    /// Differences smaller than this share do not matter ([`standing`]: δ_eff where a twin is
    /// known; [`judge`]: δ as asked for, it derives δ_eff itself).
    pub delta: f64,
    /// Pairs of the answer, fixed at the start: k(k−1)/2.
    pub pairs: f64,
    /// Rounds fixed in advance: exact fixed-n interval instead of the sequence.
    pub fixed: bool,
    /// The unit is the epoch's median instead of the round (own instances renewed every E > 1 rounds).
    pub by_epoch: bool,
    /// Seed of the bootstrap and of permutations.
    pub seed: u64,
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

/// Where the cells of one answer stand. Cheap: computed at the end of every round.
#[derive(Clone, Debug, PartialEq)]
pub struct Standing {
    /// Winner, tie or undecided (never invalid: that is the judgement's to say).
    pub kind: AnswerKind,
    /// The tie set C: cells not proven slower than any other.
    pub best: Vec<usize>,
    /// The cell with the smallest median, which is never eliminated.
    pub leader: Option<usize>,
    /// Every pair.
    pub pairs: Vec<Pair>,
    /// Steady rounds so far.
    pub rounds: u32,
}
