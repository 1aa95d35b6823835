//! What a round consists of.

use std::collections::BTreeMap;

use super::rounds::{Driver, Visit};
use super::schedule::{below, stream};
use iolab_stats::claims;

impl Driver<'_, '_> {
    /// Cells of the next round: of those that are far behind, or proven slower and yet wanted, every
    /// fourth one. Known before the round, so no claim depends on it.
    fn due(&self) -> Vec<usize> {
        let all = claims::due(self.out.steady_rounds as usize);
        let mut cells = self.active();
        let often = cells.iter().any(|cell| !self.seldom[*cell]);
        cells.retain(|cell| all || !often || !self.seldom[*cell]);
        cells
    }

    /// The trials of the next round in the order of the plan, the second trial of one cell, drawn at
    /// random, last. Every cell is as likely to be drawn, so none gains by being touched more often.
    pub(super) fn visits(&self) -> Vec<Visit> {
        let cells = self.due();
        let mut visits: Vec<Visit> =
            cells.iter().map(|cell| Visit { cell: *cell, twin: false, aside: false }).collect();
        visits.extend(self.asides(&cells));
        if self.plan.baseline.is_some() && !cells.is_empty() {
            let cell = match self.policy.twin_of {
                Some(cell) => cell,
                None => {
                    let mut draw = stream(self.plan.protocol.seed, "twin", u64::from(self.round));
                    cells[below(&mut draw, cells.len() as u64) as usize]
                }
            };
            visits.push(Visit { cell, twin: true, aside: false });
        }
        visits
    }

    /// What stands in for cells that failed, or cannot be had there: where cells of an answer have
    /// instances of their own, an instance with fewer cells than another is visited as often, by cells
    /// of its own that are drawn, and nothing is kept of it. What is touched more often is faster for
    /// that.
    fn asides(&self, cells: &[usize]) -> Vec<Visit> {
        let mut asides = Vec::new();
        let own = self.plan.conditions.iter().enumerate().filter(|(_, c)| c.own_instances);
        for (at, _) in own.filter(|_| self.policy.equal_traffic) {
            let mut by_instance: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
            for cell in cells.iter().filter(|cell| self.plan.cells[**cell].condition == at) {
                by_instance.entry(self.plan.cells[*cell].instance).or_default().push(*cell);
            }
            let most = by_instance.values().map(Vec::len).max().unwrap_or(0);
            for (instance, own) in by_instance {
                let seed = self.plan.protocol.seed ^ instance.unwrap_or(0) as u64;
                let mut draw = stream(seed, "aside", u64::from(self.round));
                let drawn = |_| own[below(&mut draw, own.len() as u64) as usize];
                let missing = (own.len()..most).map(drawn);
                asides.extend(missing.map(|cell| Visit { cell, twin: false, aside: true }));
            }
        }
        asides
    }
}
