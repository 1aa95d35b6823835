//! Whether the budget reaches, seen from the first rounds: a pilot pays for what is made once, and
//! forecasts from pilots alone were off tenfold, to both sides.

use super::budget::{UNCOUNTED_ROUNDS, budget_for, cost_of_round_ns};
use super::rounds::{Driver, Halt};
use iolab_model::catalog::{Code, rough_time_text, so_many};

/// Where so much of the budget is gone, it is told after fewer rounds than the uncounted ones.
const LATEST_SHARE: f64 = 0.5;

impl Driver<'_, '_> {
    /// Once: now it can be stopped and asked for less, after the rounds it would be too late.
    pub(super) fn foretell(&mut self) -> Result<(), Halt> {
        let played = self.round - self.first_round;
        let (elapsed_ns, usable_ns) = (self.elapsed_ns(), self.usable_ns());
        let seen = played >= UNCOUNTED_ROUNDS || elapsed_ns > LATEST_SHARE * usable_ns;
        if self.foretold || !seen {
            return Ok(());
        }
        self.foretold = true;
        let calibration = &self.out.calibration;
        let (renew_ns, epoch) = (calibration.renew_ns as f64, calibration.epoch_rounds);
        let round_ns = cost_of_round_ns(self.trials_ns(), renew_ns, epoch);
        let fitting = f64::from(played) + (usable_ns - elapsed_ns).max(0.0) / round_ns;
        let wanted = (calibration.needed_rounds - f64::from(played)).max(0.0);
        let needed_ns = 1.05 * (elapsed_ns + wanted * round_ns);
        let needed_ns = budget_for(needed_ns, self.trees_made_ns, calibration.hurried);
        let short = fitting < calibration.needed_rounds;
        self.out.calibration.needed_ns = short.then_some(needed_ns as u64);
        // Who goes on with a run has chosen how long, and was told at its first part.
        if short && self.first_round == 0 { self.tell_short(fitting as u32) } else { Ok(()) }
    }

    fn compares(&self) -> bool {
        self.plan.conditions.iter().any(|condition| condition.cells.len() > 1)
    }

    /// That so many rounds fit, and telling all apart takes more: where most fall far behind, fewer do.
    pub(super) fn tell_short(&mut self, rounds: u32) -> Result<(), Halt> {
        let Some(needed_ns) = self.out.calibration.needed_ns else { return Ok(()) };
        self.warn(
            Code::InsufficientBudget,
            short_text(self.plan.protocol.budget_ns, rounds, needed_ns, self.compares()),
        )
    }
}

/// `compares`: whether there is anything to tell apart; else a figure is wanted.
fn short_text(budget_ns: u64, rounds: u32, needed_ns: u64, compares: bool) -> String {
    let budget = rough_time_text(budget_ns as f64);
    let rounds = so_many(rounds as usize, "round");
    let needed = match rough_time_text(needed_ns as f64) {
        // "The budget of 12 s is short: telling all apart takes about 12 s".
        same if same == budget => "a little more".to_owned(),
        // So many rounds are the fewest that bound every cell.
        needed => format!("at least about {needed}"),
    };
    let (what, fewer) = match compares {
        true => ("telling all apart", ", or fewer levels"),
        false => ("a figure with its interval", ""),
    };
    format!(
        "the budget of {budget} is short: about {rounds} fit, and {what} takes {needed}; take a longer \
         --budget{fewer}"
    )
}

#[cfg(test)]
mod tests {
    use super::short_text;

    #[test]
    fn what_is_short_is_not_as_long_as_what_is_needed() {
        let near = short_text(12_000_000_000, 14, 12_040_000_000, true);
        assert!(near.contains("about 14 rounds fit, and telling all apart takes a little more"));
        let far = short_text(12_000_000_000, 14, 18_000_000_000, true);
        assert!(
            far.contains("telling all apart takes at least about 18 s; take a longer --budget"),
            "{far}"
        );
        // One cell was to be told apart from nothing, with fewer levels than one.
        let alone = short_text(12_000_000_000, 18, 16_000_000_000, false);
        assert!(!alone.contains("apart") && alone.ends_with("longer --budget"), "{alone}");
    }
}
