//! The looks between rounds: who leaves, and which answers are resolved.

use super::budget::{FEWEST_STEADY, pairs_of};
use super::clone_class::clones_among_copies;
use super::observations::{RoundLog, left_round};
use super::rounds::{Driver, Halt};
use super::schedule::seed_for;
use super::work::wants_priming;
use super::{Event, ExclusionReason, Left};
use iolab_model::catalog::ratio_text;
use iolab_model::plan::Plan;
use iolab_model::result::SCREENED;
use iolab_model::result::{AnswerKind, Phase, Verdict};
use iolab_stats::{Reason, Rules, Standing, eliminations};

/// The rules of one answer.
pub(super) fn rules_of(plan: &Plan, index: usize, epoch_rounds: u32) -> Rules {
    let condition = &plan.conditions[index];
    let primed = condition.cells.iter().any(|c| wants_priming(&plan.cells[*c]));
    Rules {
        alpha: plan.protocol.alpha,
        delta: plan.protocol.delta,
        pairs: pairs_of(condition.cells.len()),
        fixed: plan.protocol.rounds.is_some(),
        by_epoch: condition.own_instances && primed && epoch_rounds > 1,
        seed: seed_for(plan.protocol.seed, "statistics", index as u64),
    }
}

impl Driver<'_, '_> {
    pub(super) fn leave(&mut self, cell: usize, left: Left) -> Result<(), Halt> {
        let (round, reason) = (left.round, left.reason.clone());
        if left.why != ExclusionReason::Proven {
            self.tracks.iter_mut().for_each(|t| t.drop_arm(cell));
        }
        self.out.cells[cell].left = Some(left);
        self.tell(&Event::Eliminated { cell, round, reason })
    }

    /// Takes a finished round into account; true where every answer is resolved.
    pub(super) fn conclude_round(&mut self, log: &RoundLog) -> Result<bool, Halt> {
        if self.phase() != Phase::Steady {
            return Ok(false);
        }
        self.out.steady_rounds += 1;
        self.out.last_round_ns = self.trials_ns() as u64;
        let cells = &self.out.cells;
        for (track, condition) in self.tracks.iter_mut().zip(&self.plan.conditions) {
            track.append(log, |arm| left_round(cells, arm));
            for cell in clones_among_copies(&condition.cells, cells) {
                track.set_apart(cell);
            }
        }
        let mut open = false;
        for index in 0..self.plan.conditions.len() {
            open |= !self.retired[index] && !self.resolved(index)?;
        }
        Ok(!open && self.plan.protocol.rounds.is_none())
    }

    /// Looks at one answer: who leaves, and whether it is resolved.
    fn resolved(&mut self, index: usize) -> Result<bool, Halt> {
        let condition = &self.plan.conditions[index];
        if !condition.cells.iter().any(|c| self.is_active(*c)) {
            return Ok(true);
        }
        let rules = rules_of(self.plan, index, self.out.calibration.epoch_rounds);
        let seen = &self.tracks[index].seen;
        let n = seen.rounds() as u32;
        if rules.fixed || !self.policy.looks_after(n, rules.pairs, self.trials_ns()) {
            return Ok(false);
        }
        let standing = (self.policy.judge)(seen, &rules);
        let leaving = match self.plan.eliminate {
            true => eliminations(seen, &rules, &standing),
            false => Vec::new(),
        };
        let instances = seen.epoch.chunk_by(|a, b| a == b).count();
        let renewed = self.out.calibration.epoch_rounds > 0;
        let enough = n >= self.policy.fewest_rounds.max(FEWEST_STEADY)
            && (!renewed || instances >= self.policy.fewest_instances);
        for (at, reason) in leaving {
            let cell = condition.cells[at];
            // The twin needs its other arm.
            if self.plan.baseline != Some(cell) {
                let rival = match reason {
                    Reason::Proven { .. } => beaten_by(&standing, at),
                    Reason::Screened => standing.leader,
                };
                let rival = rival.map(|r| condition.cells[r]);
                self.leave(cell, self.out_of_race(rival, reason))?;
            }
        }
        let resolved = standing.kind != AnswerKind::Undecided && enough;
        self.retired[index] = resolved && self.plan.eliminate;
        Ok(resolved)
    }

    fn out_of_race(&self, rival: Option<usize>, reason: Reason) -> Left {
        let rival = rival.map_or("another cell", |r| self.plan.cells[r].id.as_str());
        let round = self.round;
        let (why, reason) = match reason {
            Reason::Proven { ratio_low } => (
                ExclusionReason::Proven,
                format!(
                    "proven slower at round {round}: at least {} the time of {rival}",
                    ratio_text(ratio_low)
                ),
            ),
            Reason::Screened => (
                ExclusionReason::Screened,
                format!(
                    "{SCREENED} at round {round}: its best trial took over 1.5× the worst of \
                     {rival} (a shortcut outside the guarantee)"
                ),
            ),
        };
        Left { round, why, reason }
    }
}

/// The cell that proves another one slowest.
fn beaten_by(standing: &Standing, cell: usize) -> Option<usize> {
    let bounds = standing.pairs.iter().filter_map(|p| match p.verdict {
        Verdict::Slower if p.a == cell => Some((p.b, p.interval.low?)),
        Verdict::Faster if p.b == cell => Some((p.a, -p.interval.high?)),
        _ => None,
    });
    bounds.max_by(|a, b| a.1.total_cmp(&b.1)).map(|(rival, _)| rival)
}
