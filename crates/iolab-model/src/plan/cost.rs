//! What a plan will cost, before it starts. A rough forecast from two guesses, a cautious and a
//! hopeful one; calibration replaces it with what this machine does.

use super::instance::space_bytes;
use super::{Cell, Cost, Facts, FileUse, Instance};
use crate::catalog::{Factor, FileOperation};
use crate::spec::Protocol;
use crate::tree::TreeOrder;

/// How fast a machine is taken to be. Speeds in bytes per microsecond.
struct Guess {
    /// Fork, proof, check and reply of one trial, without the timed window.
    around_trial_ns: u64,
    warm: u64,
    cold: u64,
    write: u64,
    /// What a file of a tree costs beside its bytes: to open it.
    open_ns: u64,
    /// The same, to make and remove one.
    make_ns: u64,
}

/// So fast is almost any.
const CAUTIOUS: Guess = Guess {
    around_trial_ns: 3_000_000,
    warm: 4_000,
    cold: 400,
    write: 400,
    open_ns: 20_000,
    make_ns: 200_000,
};
/// Hardly any is faster.
const HOPEFUL: Guess = Guess {
    around_trial_ns: 1_000_000,
    warm: 20_000,
    cold: 6_000,
    write: 4_000,
    open_ns: 3_000,
    make_ns: 10_000,
};
/// The least timed window.
const LEAST_WINDOW_NS: u64 = 1_000_000;
/// The greatest timed window.
const GREATEST_WINDOW_NS: u64 = 250_000_000;
/// Rounds beyond this are never needed.
const MOST_ROUNDS: u64 = 400;
/// First and warm-up rounds.
const UNCOUNTED_ROUNDS: u64 = 3;

/// What there is beside the files that trials work on.
pub(super) struct Beside<'a> {
    /// Space for images, and for the largest copy.
    pub bytes: u64,
    /// Whether each trial writes a copy of its file.
    pub copies: bool,
    /// What the places need.
    pub facts: &'a Facts,
}

/// The forecast.
pub(super) fn forecast(
    cells: &[Cell],
    instances: &[Instance],
    renews_each_round: bool,
    protocol: &Protocol,
    beside: Beside<'_>,
) -> Cost {
    let active: Vec<&Cell> = cells.iter().filter(|cell| cell.skip.is_none()).collect();
    let share = (protocol.budget_ns / 10 * 9) / (40 * active.len().max(1) as u64);
    let window_ns = share.clamp(LEAST_WINDOW_NS, GREATEST_WINDOW_NS);
    let Beside { copies, facts, .. } = beside;
    let under = |guess| Forecast { instances, window_ns, copies, facts, guess };
    let (cautious, hopeful) = (under(&CAUTIOUS), under(&HOPEFUL));
    let rounds = cautious.rounds(&active, renews_each_round, protocol);
    let at_best = hopeful.rounds(&active, renews_each_round, protocol);
    let made = made_bytes(instances);
    let written = active.iter().fold(0u64, |sum, c| sum.saturating_add(cautious.written_bytes(c)));
    // The twin writes as its cell does.
    let written = written.saturating_add(written / active.len().max(1) as u64);
    let round_ns = cautious.round_ns(&active, renews_each_round);
    let all_rounds_ns =
        round_ns.saturating_mul(rounds + UNCOUNTED_ROUNDS).saturating_add(cautious.start_ns());
    let on_disk = space_bytes(instances.iter().filter(|i| i.place.is_none()));
    Cost {
        time_ns: if protocol.rounds.is_some() { all_rounds_ns } else { protocol.budget_ns },
        bytes_written: made.saturating_add(written.saturating_mul(rounds + UNCOUNTED_ROUNDS)),
        space_bytes: on_disk.saturating_add(beside.bytes),
        rounds: u32::try_from(rounds).unwrap_or(u32::MAX),
        rounds_at_best: u32::try_from(at_best).unwrap_or(u32::MAX),
        privileges: Vec::new(),
    }
}

/// Bytes of the files that are made for the run.
fn made_bytes(instances: &[Instance]) -> u64 {
    let made = instances.iter().filter(|i| i.path.is_none() && i.used != FileUse::Absent);
    made.fold(0u64, |sum, i| sum.saturating_add(i.total_bytes()))
}

/// What trials cost on a machine of a guess.
struct Forecast<'a> {
    instances: &'a [Instance],
    window_ns: u64,
    copies: bool,
    facts: &'a Facts,
    guess: &'a Guess,
}

impl Forecast<'_> {
    /// Steady rounds that fit into the budget, or that were asked for.
    fn rounds(&self, active: &[&Cell], renews: bool, protocol: &Protocol) -> u64 {
        if let Some(rounds) = protocol.rounds {
            return u64::from(rounds);
        }
        let left = (protocol.budget_ns / 10 * 9).saturating_sub(self.start_ns());
        let all = left / self.round_ns(active, renews).max(1);
        all.saturating_sub(UNCOUNTED_ROUNDS).min(MOST_ROUNDS)
    }

    fn start_ns(&self) -> u64 {
        made_bytes(self.instances) / self.guess.write * 1000 + self.renewal_ns()
    }

    fn round_ns(&self, active: &[&Cell], renews: bool) -> u64 {
        let trials: u64 = active.iter().map(|cell| self.trial_ns(cell)).sum();
        let twin = trials / active.len().max(1) as u64;
        trials + twin + if renews { self.renewal_ns() } else { 0 }
    }

    fn renewal_ns(&self) -> u64 {
        let bytes = self.instances.iter().fold(0u64, |sum, i| sum.saturating_add(i.bytes));
        bytes / self.guess.cold * 1000
    }

    /// Bytes that a trial writes: its file or a copy of it, or as much as the window allows.
    fn written_bytes(&self, cell: &Cell) -> u64 {
        if let Some(tree) = self.tree_of(cell) {
            let trial = self.trial_of_tree_ns(cell, tree) as f64;
            let part = (trial / self.tree_ns(cell, tree) as f64).min(1.0);
            if let Some(TreeOrder::Recorded(recorded)) = &tree.tree {
                return recorded.written_bytes;
            }
            return if writes_tree(cell) { (tree.bytes as f64 * part) as u64 } else { 0 };
        }
        match cell.writes() || self.copies {
            true => self.file_bytes(cell).min(self.window_ns / 1000 * self.guess.write),
            false => self.copied_up_bytes(cell),
        }
    }

    /// Bytes of its files, where an overlay copies them up in every trial: at their first touch, which
    /// may come before the window. The upper layer is thrown away after it.
    fn copied_up_bytes(&self, cell: &Cell) -> u64 {
        let place = cell.levels.text(Factor::Place).and_then(|place| self.facts.places.get(place));
        let touches = cell.levels.get(Factor::Pass).is_some();
        match place.is_some_and(|place| place.copies_up) && touches {
            true => self.instance_of(cell).map_or(0, Instance::total_bytes),
            false => 0,
        }
    }

    fn file_bytes(&self, cell: &Cell) -> u64 {
        self.instance_of(cell).map_or(0, |instance| instance.bytes)
    }

    fn instance_of(&self, cell: &Cell) -> Option<&Instance> {
        cell.instance.and_then(|id| self.instances.get(id))
    }

    fn trial_ns(&self, cell: &Cell) -> u64 {
        let around_ns = self.guess.around_trial_ns;
        if let Some(tree) = self.tree_of(cell) {
            // What is made outside of the window, or removed after it, takes as long again.
            let times = if writes_tree(cell) { 2 } else { 1 };
            return times * self.trial_of_tree_ns(cell, tree) + around_ns;
        }
        let bytes = self.file_bytes(cell);
        let cold = cell.starts_cold();
        let is_call = cell.levels.get(Factor::Operation).is_some();
        let pass_ns = match (is_call, cold) {
            (true, _) => LEAST_WINDOW_NS,
            _ if cell.writes() => bytes / self.guess.write * 1000,
            // Written, read back to be verified, and removed.
            (false, _) if self.copies => 3 * (bytes / self.guess.write * 1000) / 2,
            (_, true) => bytes / self.guess.cold * 1000,
            (_, false) => bytes / self.guess.warm * 1000,
        };
        let copied_up_ns = self.copied_up_bytes(cell) / self.guess.write * 1000;
        pass_ns.clamp(LEAST_WINDOW_NS, self.window_ns) + copied_up_ns + around_ns
    }

    /// The tree that a cell works on.
    fn tree_of(&self, cell: &Cell) -> Option<&Instance> {
        self.instance_of(cell).filter(|i| i.tree.is_some())
    }

    /// The operation of a cell on all of its tree.
    fn tree_ns(&self, cell: &Cell, tree: &Instance) -> u64 {
        let files = tree.tree.as_ref().map_or(1, TreeOrder::files).max(1);
        let moves_bytes = cell.levels.word().is_none_or(FileOperation::moves_bytes);
        let Guess { warm, cold, write, open_ns, make_ns, .. } = *self.guess;
        let (file_ns, speed) = match (writes_tree(cell), cell.starts_cold()) {
            (true, _) => (make_ns, write),
            (false, true) => (make_ns, cold),
            (false, false) => (open_ns, warm),
        };
        let bytes = if moves_bytes { tree.bytes } else { 0 };
        files.saturating_mul(file_ns).saturating_add(bytes / speed * 1000)
    }

    /// The same in a trial, which does as much of the tree as the window holds. A command does all
    /// of it.
    fn trial_of_tree_ns(&self, cell: &Cell, tree: &Instance) -> u64 {
        let all = self.tree_ns(cell, tree);
        match cell.levels.get(Factor::Contender).is_some() {
            true => all.max(LEAST_WINDOW_NS),
            false => all.clamp(LEAST_WINDOW_NS, self.window_ns),
        }
    }
}

/// Whether its operation makes or removes files of a tree.
fn writes_tree(cell: &Cell) -> bool {
    cell.levels.word().is_some_and(FileOperation::has_own)
}
