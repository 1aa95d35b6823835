//! What was measured: trials of cells by round.

use crate::series::{halfway, median_in_place};

/// One cell in one round.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Trial {
    /// Not on this round's schedule: counts for nothing. Whether a cell is on it must be settled
    /// before the round begins; what was begun and did not end is [`Trial::Lost`].
    #[default]
    Absent,
    /// Killed for taking too long, or failed: slower than every cell that finished in this round.
    Lost,
    /// y = ln(wall seconds per unit of work).
    Took(f64),
}

impl Trial {
    /// NaN for absent and +∞ for lost, so that y_i − y_j is NaN exactly where a round counts for
    /// neither (one absent, or both lost), and ±∞ where one of them lost. A figure that is no
    /// number is a loss, not a gap: nothing vanishes in silence.
    pub fn y(self) -> f64 {
        match self {
            Trial::Absent => f64::NAN,
            Trial::Took(y) if y.is_finite() => y,
            Trial::Lost | Trial::Took(_) => f64::INFINITY,
        }
    }
}

/// One round of all cells of an answer.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Round {
    /// By cell; cells beyond its end are absent.
    pub trials: Vec<Trial>,
    /// Warm-up rounds (false) may choose opponents but carry no evidence.
    pub steady: bool,
    /// Which renewal of the file instances it used.
    pub epoch: u32,
}

/// Cells × rounds of one answer, in the order they were measured, warm-up included. Warm-up may
/// come again in the middle, as where a finished run is gone on with.
#[derive(Clone, Debug, PartialEq)]
pub struct Table {
    /// Cells of the answer, fixed at the start: guarantees are shared by them all.
    pub cells: usize,
    /// From the first.
    pub rounds: Vec<Round>,
    /// Steady rounds behind one unit of the statistic: 1, or as many as an epoch has where cells
    /// have instances of their own that are not renewed every round.
    pub unit_rounds: usize,
}

impl Table {
    /// An empty table whose unit is the round.
    pub fn new(cells: usize) -> Table {
        Table { cells, rounds: Vec::new(), unit_rounds: 1 }
    }

    /// From trials by round and cell; rounds before `steady_from` are warm-up.
    pub fn from_rounds(cells: usize, rounds: Vec<Vec<Trial>>, steady_from: usize) -> Table {
        let mut table = Table::new(cells);
        for (at, trials) in rounds.into_iter().enumerate() {
            table.push(trials, at >= steady_from);
        }
        table
    }

    /// One more round, of the epoch of the last one.
    pub fn push(&mut self, trials: Vec<Trial>, steady: bool) {
        let epoch = self.rounds.last().map_or(0, |round| round.epoch);
        self.rounds.push(Round { trials, steady, epoch });
    }

    /// d = y_a − y_b of the steady rounds that count for both (±∞ where one was lost).
    pub fn contrast(&self, a: usize, b: usize) -> Vec<f64> {
        let y = |round: &Round, cell: usize| round.trials.get(cell).map_or(f64::NAN, |t| t.y());
        let steady = self.rounds.iter().filter(|round| round.steady);
        steady.map(|round| y(round, a) - y(round, b)).filter(|d| !d.is_nan()).collect()
    }
}

/// The median of sorted values; NaN where empty.
pub(crate) fn median_of_sorted(sorted: &[f64]) -> f64 {
    match sorted.len() {
        0 => f64::NAN,
        n if n % 2 == 1 => sorted[n / 2],
        n => halfway(sorted[n / 2 - 1], sorted[n / 2]),
    }
}

/// Replaces the values by the medians of each `size` neighbours; what is left over at the end, and
/// a group half lost and half won, drops out.
pub(crate) fn merge(values: &mut Vec<f64>, size: usize) {
    if size > 1 {
        let merged = values.chunks_exact_mut(size).map(median_in_place);
        *values = merged.filter(|median| !median.is_nan()).collect();
    }
}

#[cfg(test)]
mod tests {
    use super::{Table, Trial, median_in_place, median_of_sorted, merge};

    #[test]
    fn a_loss_is_endless_and_absence_or_a_shared_loss_is_nothing() {
        let (gone, lost, took) = (Trial::Absent, Trial::Lost, Trial::Took(1.0));
        assert_eq!(lost.y() - took.y(), f64::INFINITY);
        assert_eq!(took.y() - lost.y(), f64::NEG_INFINITY);
        assert!((lost.y() - lost.y()).is_nan() && (lost.y() - gone.y()).is_nan());
        assert!((took.y() - gone.y()).is_nan());
        assert_eq!(Trial::Took(f64::NAN).y(), f64::INFINITY);
        let rounds = vec![vec![took, took], vec![lost, took], vec![lost, lost], vec![took]];
        assert_eq!(Table::from_rounds(2, rounds, 1).contrast(0, 1), [f64::INFINITY]);
    }

    #[test]
    fn medians() {
        assert_eq!(median_in_place(&mut [3.0, 1.0, 2.0]), 2.0);
        assert_eq!(median_in_place(&mut [4.0, 1.0, 2.0, f64::INFINITY]), 3.0);
        assert_eq!(median_of_sorted(&[1.0, 2.0, 4.0, f64::INFINITY]), 3.0);
        let mut values = vec![1.0, 9.0, 2.0, 5.0, 5.0, 6.0, 7.0];
        merge(&mut values, 3);
        assert_eq!(values, [2.0, 5.0]);
    }
}
