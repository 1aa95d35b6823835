//! When places that are compared are made anew during a run: where on the disk an image lies, and how
//! a file system was laid out in it, is a matter of chance that stays with it. Pure.

use std::collections::BTreeSet;

use super::calibrate::runnable;
use iolab_model::catalog::Factor;
use iolab_model::plan::Plan;

/// So often places are made in a run, where the budget allows it.
const MAKINGS: u32 = 5;
/// Steady rounds from one making to the next, until there are as many; and from then on.
const OFTEN: u32 = 4;
const SELDOM: u32 = 20;
/// Making them again may take this share of the budget.
const SHARE: f64 = 0.25;

/// How often places were made, and what that takes.
#[derive(Debug, Default)]
pub(super) struct Remaking {
    /// Whether an answer compares places that are made for the run.
    wanted: bool,
    made: u32,
    /// Steady rounds when they were made last.
    since: u32,
    /// What the last making took.
    cost_ns: f64,
    /// What makings beyond the first took in all.
    spent_ns: f64,
}

impl Remaking {
    /// For a plan whose files and places took so long to make.
    pub(super) fn of(plan: &Plan, made_ns: f64, steady_rounds: u32) -> Remaking {
        let (wanted, since) = (compares_made_places(plan), steady_rounds);
        Remaking { wanted, made: 1, since, cost_ns: made_ns, spent_ns: 0.0 }
    }

    /// They were made once more, which took so long.
    pub(super) fn took(&mut self, cost_ns: f64, steady_rounds: u32) {
        self.made += 1;
        self.since = steady_rounds;
        self.cost_ns = cost_ns;
        self.spent_ns += cost_ns;
    }

    /// Whether they are to be made once more.
    pub(super) fn is_due(&self, steady_rounds: u32, usable_ns: f64) -> bool {
        let every = if self.made < MAKINGS { OFTEN } else { SELDOM };
        self.wanted
            && steady_rounds >= self.since + every
            && self.spent_ns + self.cost_ns <= SHARE * usable_ns
    }
}

/// Whether cells of one answer differ in a place that is made for the run. A device of the person's
/// is not made twice, and a directory is theirs.
fn compares_made_places(plan: &Plan) -> bool {
    let is_directory = |text: &str| text.split(':').next() == Some(DIRECTORY);
    let cells = runnable(plan, None);
    let places_of = |condition: usize| -> BTreeSet<&str> {
        let its = cells.iter().map(|cell| &plan.cells[*cell]);
        let its = its.filter(|cell| cell.condition == condition);
        its.filter_map(|cell| cell.levels.text(Factor::Place)).collect()
    };
    let all: Vec<BTreeSet<&str>> = (0..plan.conditions.len()).map(places_of).collect();
    let compared = |places: &BTreeSet<&str>| {
        places.len() > 1 && !places.iter().all(|place| is_directory(place))
    };
    // It may lie below an overlay.
    let on_device = all.iter().flatten().any(|place| place.contains(DEVICE));
    all.iter().any(compared) && !on_device
}

const DIRECTORY: &str = "dir";
const DEVICE: &str = "device";

#[cfg(test)]
mod tests {
    use super::Remaking;

    /// The steady rounds of a hundred after which they are made, within so much of a budget of 100 s.
    fn makings(cost_ns: f64) -> Vec<u32> {
        let start = Remaking { wanted: true, made: 1, cost_ns, ..Remaking::default() };
        let step = |remaking: &mut Remaking, round: u32| {
            let due = remaking.is_due(round, 100e9);
            if due {
                remaking.took(cost_ns, round);
            }
            Some(due.then_some(round))
        };
        (0..100).scan(start, step).flatten().collect()
    }

    #[test]
    fn five_times_in_twenty_rounds_and_seldom_from_then_on() {
        assert_eq!(makings(0.1e9), [4, 8, 12, 16, 36, 56, 76, 96]);
        assert_eq!(makings(8e9), [4, 8, 12], "a quarter of the budget is three times 8 s");
        assert_eq!(makings(30e9), [0; 0]);
        assert!(!Remaking { made: 1, ..Remaking::default() }.is_due(50, 100e9), "one place");
    }
}
