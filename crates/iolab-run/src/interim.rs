//! The looks between rounds: who leaves, and which answers may stop.

use std::collections::BTreeMap;

use super::budget::units_to_bound;
use super::clone_class::clones_among_copies;
use super::conclude::doubted;
use super::observations::RoundLog;
use super::policy::DOUBTED;
use super::rounds::{Driver, Halt};
use super::{Event, ExclusionReason, Left};
use iolab_model::result::{Phase, SCREENED};
use iolab_stats::claims::{
    Claims, Pace, Progress, QUARTER, Verdict, given_up, hopeless, leaving, rounds_to_settle,
    wanting,
};
use iolab_stats::{Observations, half_width};

impl Driver<'_, '_> {
    pub(super) fn leave(&mut self, cell: usize, left: Left) -> Result<(), Halt> {
        let (round, why, reason) = (left.round, left.why, left.reason.clone());
        if left.why != ExclusionReason::Proven {
            self.tracks.iter_mut().for_each(|track| track.give_up(cell));
        }
        self.out.cells[cell].left = Some(left);
        self.tell(&Event::Eliminated { cell, round, why, reason })
    }

    /// Takes a finished round into account; true where every answer may stop.
    pub(super) fn conclude_round(&mut self, log: &RoundLog) -> Result<bool, Halt> {
        if self.phase() == Phase::First {
            return Ok(false);
        }
        let steady = self.phase() == Phase::Steady;
        if steady {
            self.out.steady_rounds += 1;
            self.out.last_round_ns = self.trials_ns() as u64;
        }
        let cells = &self.out.cells;
        for (track, condition) in self.tracks.iter_mut().zip(&self.plan.conditions) {
            track.append(log);
            for cell in clones_among_copies(&condition.cells, cells) {
                track.set_apart(cell);
            }
        }
        if !steady {
            return Ok(false);
        }
        if self.plan.protocol.rounds.is_none() && self.policy.aim.is_some() {
            return Ok(self.reached_aim());
        }
        let mut open = false;
        for index in 0..self.plan.conditions.len() {
            open |= !self.retired[index] && !self.may_stop(index)?;
        }
        Ok(!open && self.plan.protocol.rounds.is_none())
    }

    /// Looks at one answer: who leaves, who is measured more seldom, and whether it may stop.
    fn may_stop(&mut self, index: usize) -> Result<bool, Halt> {
        let condition = &self.plan.conditions[index];
        if !condition.cells.iter().any(|c| self.is_active(*c)) {
            return Ok(true);
        }
        let log = &self.tracks[index];
        let rules = &log.rules;
        let n = log.watch.rounds() as u32;
        let fixed = self.plan.protocol.rounds.is_some();
        if fixed || !self.policy.looks_after(n, rules.pairs, self.trials_ns()) {
            return Ok(false);
        }
        let claims = (self.policy.judge)(&log.watch, &rules.of_claims());
        self.slow_down(index, &claims)?;
        let stops = self.is_enough(index, &claims, n);
        self.retired[index] = stops && self.plan.eliminate;
        Ok(stops)
    }

    /// Cells that are settled leave, or stay at a quarter of the rounds where every one is wanted;
    /// so do those that are far behind. Where cells have instances of their own, every instance
    /// keeps as many visits as any other: what is touched more often is faster for that.
    fn slow_down(&mut self, index: usize, claims: &Claims) -> Result<(), Halt> {
        let condition = &self.plan.conditions[index];
        let equal = condition.own_instances && self.policy.equal_traffic;
        let settled = self.settled(index, claims);
        let leaving = if equal { self.balanced(index, &settled) } else { settled };
        for at in leaving {
            let cell = condition.cells[at];
            if self.plan.eliminate {
                let left = self.proven_slower();
                self.leave(cell, left)?;
            } else if !equal {
                self.seldom[cell] = true;
            }
        }
        if equal {
            return Ok(());
        }
        let behind = hopeless(&self.tracks[index].watch);
        let behind: Vec<usize> =
            behind.into_iter().filter(|at| self.is_active(condition.cells[*at])).collect();
        self.set_pace(index, claims, &behind);
        for at in self.too_dear(index, &behind) {
            let cell = condition.cells[at];
            let reason = format!(
                "{SCREENED} at round {}: its trials alone would have kept the rest from {} rounds; \
                 dropped, not compared",
                self.round, self.policy.fewest_rounds
            );
            let why = ExclusionReason::Screened;
            self.leave(cell, Left { round: self.round, why, reason })?;
        }
        Ok(())
    }

    /// Who is far behind is measured every fourth round, unless that would leave it unsettled at the end:
    /// the bounds of all others wait for it, and a run of 21 rounds ended without any. Nor where it cannot
    /// be settled any more, as long as so many rounds are left that it can be bounded beside the rest.
    fn set_pace(&mut self, index: usize, claims: &Claims, behind: &[usize]) {
        let cells = &self.plan.conditions[index].cells;
        let is_slow = |at: &usize| self.seldom[cells[*at]] || behind.contains(at);
        let slow = (0..cells.len()).filter(is_slow).filter(|at| !claims.cells[*at].settled);
        let slow: Vec<usize> = slow.collect();
        if slow.is_empty() {
            return;
        }
        let rules = &self.tracks[index].rules;
        let unit_rounds = rules.unit_rounds as f64;
        let wanted = f64::from(rounds_to_settle(cells.len(), rules.alpha)) * unit_rounds;
        let bounded = f64::from(units_to_bound(rules.alpha, cells.len())) * unit_rounds;
        let active = self.active();
        let round: f64 = active.iter().map(|cell| self.arms[*cell].cost_ns()).sum();
        let left = (self.usable_ns() - self.elapsed_ns()) / round.max(1.0);
        for at in slow {
            let met = f64::from(claims.cells[at].met) * unit_rounds;
            let (settles, bounds) = (left / QUARTER as f64 >= wanted - met, left >= bounded - met);
            self.seldom[cells[at]] = settles || !bounds;
        }
    }

    /// Cells that may leave. What can bias a claim is asked first: one that left and was then in doubt
    /// could be settled by nothing, and its answer stayed open to the end of the budget. Of hundreds
    /// of cells that would take longer than the rounds themselves.
    fn settled(&self, index: usize, claims: &Claims) -> Vec<usize> {
        let cells = &self.plan.conditions[index].cells;
        let is_here = |at: usize| self.is_active(cells[at]);
        let mut settled = leaving(claims, self.plan.protocol.precision, &is_here);
        if !settled.is_empty() && cells.len() <= DOUBTED {
            // Not only slower: as narrow as was asked for, too, for nothing narrows it later.
            let stand = leaving(self.doubted(index), self.plan.protocol.precision, &is_here);
            settled.retain(|at| stand.contains(at));
        }
        settled
    }

    fn doubted(&self, index: usize) -> &Claims {
        doubted(self.plan, &self.out, index, &self.tracks[index])
    }

    /// Of the settled cells those that may go so that all instances still visited are visited alike:
    /// an instance leaves with all of its cells, or every other one loses as many as it does.
    fn balanced(&self, index: usize, settled: &[usize]) -> Vec<usize> {
        let condition = &self.plan.conditions[index];
        let mut by_instance: BTreeMap<Option<usize>, Vec<usize>> = BTreeMap::new();
        for (at, cell) in condition.cells.iter().enumerate() {
            if self.is_active(*cell) {
                by_instance.entry(self.plan.cells[*cell].instance).or_default().push(at);
            }
        }
        let settled_of = |cells: &Vec<usize>| -> Vec<usize> {
            cells.iter().copied().filter(|at| settled.contains(at)).collect()
        };
        let whole = |cells: &&Vec<usize>| settled_of(cells).len() == cells.len();
        let stay = || by_instance.values().filter(|cells| !whole(cells));
        let each = stay().map(|cells| settled_of(cells).len()).min().unwrap_or(0);
        let some = stay().flat_map(|cells| settled_of(cells).into_iter().take(each));
        by_instance.values().filter(whole).flatten().copied().chain(some).collect()
    }

    /// Of the cells far behind those that would keep the rest from their rounds.
    fn too_dear(&mut self, index: usize, behind: &[usize]) -> Vec<usize> {
        let condition = &self.plan.conditions[index];
        // What they cost at the pace that they have, told as a quarter of it is.
        let cost = |at: &usize| {
            let cell = condition.cells[*at];
            let pace = if self.seldom[cell] { 1 } else { QUARTER };
            self.arms[cell].cost_ns() * pace as f64
        };
        let dear: Vec<(usize, f64)> = behind.iter().map(|at| (*at, cost(at))).collect();
        let often: f64 = self
            .active()
            .into_iter()
            .filter(|cell| !self.seldom[*cell])
            .filter(|cell| !behind.iter().any(|at| condition.cells[*at] == *cell))
            .map(|cell| self.arms[cell].cost_ns())
            .sum();
        let left = self.usable_ns() - self.elapsed_ns();
        let done = self.out.steady_rounds as usize;
        given_up(&Pace { done, left, round: often }, &dear)
    }

    /// By how much is the answer's to say: a bound of this moment stood beside another one of the end,
    /// and as one over the pick, which need not be the best.
    fn proven_slower(&self) -> Left {
        let round = self.round;
        let reason = format!("proven slower at round {round}; the answer says by how much");
        Left { round, why: ExclusionReason::Proven, reason }
    }

    /// Whether the figure of a cell that is compared with nothing is as narrow as was asked for:
    /// another run, or another day, will be compared with it.
    fn is_precise(&self, claims: &Claims, seen: &Observations) -> bool {
        let cell = claims.compared().first().copied();
        let half = cell.and_then(|cell| half_width(&seen.y[cell]));
        half.is_some_and(|half| half <= self.plan.protocol.precision.ln_1p())
    }

    /// Whether an answer may stop at the end of this round. What was found with the rounds alone is
    /// judged once more with all that can bias it before the run ends on it.
    fn is_enough(&self, index: usize, claims: &Claims, n: u32) -> bool {
        let condition = &self.plan.conditions[index];
        let seen = &self.tracks[index].seen;
        let instances = seen.epoch.chunk_by(|a, b| a == b).count();
        let renewed = self.out.calibration.epoch_rounds > 0 && condition.cells.len() > 1;
        let is_here = |at: usize| self.is_active(condition.cells[at]);
        let progress = Progress { instances: None, precision: self.plan.protocol.precision };
        let enough = |claims: &Claims| wanting(claims, &progress, &is_here).is_empty();
        n >= self.policy.fewest_rounds
            && (claims.verdict != Verdict::Alone || self.is_precise(claims, seen))
            && (!renewed || instances >= self.policy.fewest_instances)
            && enough(claims)
            && enough(self.doubted(index))
    }
}
