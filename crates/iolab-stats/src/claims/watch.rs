//! The claims of one answer as rounds come in.

use super::exclusion::Exclusion;
use super::series::{Table, Trial};

/// Follows one answer: push a round, ask for claims whenever they are wanted. A push is O(k) and
/// cheap; claims compare every pair that matters.
#[derive(Clone, Debug)]
pub struct Watch {
    pub(crate) exclusion: Exclusion,
    /// y by cell and steady round: NaN absent, +∞ lost.
    pub(crate) y: Vec<Vec<f64>>,
    /// Ends (exclusive, in steady rounds) of the complete units, where a unit is not a round.
    pub(crate) ends: Option<Vec<usize>>,
    pub(crate) alpha: f64,
    row: Vec<f64>,
}

impl Watch {
    /// An answer of so many cells, all that were planned: the error `alpha` is shared by them.
    /// `unit_rounds` is [`Table::unit_rounds`].
    pub fn new(cells: usize, alpha: f64, unit_rounds: usize) -> Watch {
        Watch {
            exclusion: Exclusion::new(cells, alpha, unit_rounds),
            y: vec![Vec::new(); cells],
            ends: (unit_rounds > 1).then(Vec::new),
            alpha,
            row: Vec::new(),
        }
    }

    /// A whole round by cell; cells beyond its end were absent. Warm-up (`steady` false) may choose
    /// opponents and is evidence of nothing.
    pub fn push(&mut self, trials: &[Trial], steady: bool) {
        let absent = self.y.len().saturating_sub(trials.len());
        self.row.clear();
        self.row.extend(trials.iter().take(self.y.len()).map(|trial| trial.y()));
        self.row.extend(std::iter::repeat_n(f64::NAN, absent));
        if steady {
            for (y, new) in self.y.iter_mut().zip(&self.row) {
                y.push(*new);
            }
        }
        let row = std::mem::take(&mut self.row);
        let whole = self.exclusion.push(&row, steady);
        self.row = row;
        self.end_unit(whole);
    }

    /// Instances are renewed: the unit under way ends here, whole or not.
    pub fn renew(&mut self) {
        if self.ends.is_some() {
            let ended = self.exclusion.close();
            self.end_unit(ended);
        }
    }

    fn end_unit(&mut self, ended: bool) {
        let rounds = self.rounds();
        if let Some(ends) = self.ends.as_mut().filter(|_| ended) {
            ends.push(rounds);
        }
    }

    /// A cell is given up without proof: it is not compared from here on, whatever came before.
    pub fn give_up(&mut self, cell: usize) {
        self.exclusion.lines[cell].dropped = true;
    }

    /// Steady rounds so far.
    pub fn rounds(&self) -> usize {
        self.y.first().map_or(0, Vec::len)
    }

    /// Cells that are proven not to be the best. Once in, a cell stays in.
    pub fn excluded(&self) -> Vec<usize> {
        let lines = self.exclusion.lines.iter().enumerate();
        lines.filter(|(_, line)| line.excluded && line.compared()).map(|(cell, _)| cell).collect()
    }

    /// ln E of each cell that it is not the best.
    pub fn ln_evidence(&self) -> Vec<f64> {
        self.exclusion.lines.iter().map(|line| line.ln_e).collect()
    }

    /// d = y_a − y_b by unit, in time: what tests of drift and of neighbours are made on.
    pub fn contrast(&self, a: usize, b: usize) -> Vec<f64> {
        let d: Vec<f64> = self.y[a].iter().zip(&self.y[b]).map(|(a, b)| a - b).collect();
        let Some(ends) = &self.ends else { return d.into_iter().filter(|d| !d.is_nan()).collect() };
        let mut start = 0;
        let mut units = Vec::with_capacity(ends.len());
        for end in ends {
            let mut unit: Vec<f64> =
                d[start..*end].iter().copied().filter(|d| !d.is_nan()).collect();
            start = *end;
            units.push(crate::series::median_in_place(&mut unit));
        }
        units.retain(|d| !d.is_nan());
        units
    }
}

impl Table {
    /// A watch that has seen this table.
    pub fn watch(&self, alpha: f64) -> Watch {
        let mut watch = Watch::new(self.cells, alpha, self.unit_rounds);
        let mut epoch = None;
        for round in &self.rounds {
            if epoch.replace(round.epoch).is_some_and(|last| last != round.epoch) {
                watch.renew();
            }
            watch.push(&round.trials, round.steady);
        }
        watch
    }
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
