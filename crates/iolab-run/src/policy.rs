//! The choices that make the protocol sound, in one place. The default is the protocol; tests break
//! one choice at a time and must then see the guarantee fail. No command line reaches this.

use super::Outcome;
use iolab_stats::claims::{self, Claims, Watch};

/// No run does more steady rounds than this.
const GREATEST_ROUNDS: u32 = 2000;
/// A resolved answer is carried on to this many steady rounds, for the sake of its grade.
const ROUNDS_FOR_GRADE: u32 = 20;
/// And to this many instances.
const INSTANCES_FOR_GRADE: usize = 5;
/// What comparing one pair costs for each of its rounds, roughly.
const PAIR_ROUND_NS: f64 = 40.0;
/// What asking for carry-over costs for each trial, roughly: the signs of rounds are turned so often.
const TRIAL_NS: f64 = 1000.0;
/// Of more cells than this nobody asks what can bias a claim before one leaves.
pub(super) const DOUBTED: usize = 64;
/// Looks may take this share of the rounds' time.
const LOOKING_SHARE: f64 = 0.05;

/// How the claims of an answer are made after a round.
pub type Judge<'a> = dyn Fn(&Watch, &claims::Rules) -> Claims + 'a;

/// By cell of the plan, whether more rounds of it are wanted; asked between rounds.
pub type Aim<'a> = dyn Fn(&Outcome) -> Vec<bool> + 'a;

/// The choices.
pub struct Policy<'a> {
    /// An independent random order each round (else the order of the plan, always).
    pub shuffle: bool,
    /// Instances are renewed as planned (else once, before the first round).
    pub renew: bool,
    /// Steady rounds before a resolved answer may end the run.
    pub fewest_rounds: u32,
    /// Instances before a resolved answer may end the run.
    pub fewest_instances: usize,
    /// No more steady rounds than this.
    pub greatest_rounds: u32,
    /// Steady rounds between two looks; by the number of pairs where absent.
    pub look_every: Option<u32>,
    /// The cell that is measured twice in every round; drawn anew each round where absent.
    pub twin_of: Option<usize>,
    /// Cells that have instances of their own leave together with as many of every other instance.
    pub equal_traffic: bool,
    /// All bounded cells of an answer do the same part of the file in a round (else each a part of a
    /// length of its own, going on where it ended itself).
    pub shared_ranges: bool,
    /// The claims after a round.
    pub judge: Box<Judge<'a>>,
    /// What the run is for, where that is not its own answers: the claims of a study. Cells that it
    /// wants no more of leave, and the run ends when it wants none. Its questions must hold at every
    /// moment, as the answers do.
    pub aim: Option<Box<Aim<'a>>>,
    /// Time beyond the plan's that rounds may take. What a trial does is made for the plan's alone:
    /// many short ones say more than few long ones.
    pub extra_ns: u64,
}

impl Default for Policy<'_> {
    fn default() -> Self {
        Policy {
            shuffle: true,
            renew: true,
            fewest_rounds: ROUNDS_FOR_GRADE,
            fewest_instances: INSTANCES_FOR_GRADE,
            greatest_rounds: GREATEST_ROUNDS,
            look_every: None,
            twin_of: None,
            equal_traffic: true,
            shared_ranges: true,
            judge: Box::new(|watch, rules| watch.claims(rules, &claims::Facts::default())),
            aim: None,
            extra_ns: 0,
        }
    }
}

impl Policy<'_> {
    /// Whether to look after `n` steady rounds of an answer with so many pairs, when a round takes
    /// so long. The guarantee allows any rule that does not know the future; this one keeps the
    /// time between rounds short where there are hundreds of cells.
    pub(super) fn looks_after(&self, n: u32, pairs: f64, round_ns: f64) -> bool {
        let every = self.look_every.unwrap_or_else(|| {
            // k (k − 1) / 2 pairs are of k cells.
            let cells = (1.0 + (1.0 + 8.0 * pairs).sqrt()) / 2.0;
            let doubts_ns = if cells <= DOUBTED as f64 { TRIAL_NS * cells } else { 0.0 };
            let cost_ns = (PAIR_ROUND_NS * pairs + doubts_ns) * f64::from(n);
            let rounds = (cost_ns / (LOOKING_SHARE * round_ns.max(1.0))).ceil();
            (rounds.clamp(1.0, 64.0) as u32).next_power_of_two()
        });
        n.is_multiple_of(every.max(1))
    }
}

#[cfg(test)]
mod tests {
    use super::Policy;

    #[test]
    fn looks_stay_cheap_beside_the_rounds() {
        let policy = Policy::default();
        let looks =
            |pairs, round_ns| (1..=64).filter(|n| policy.looks_after(*n, pairs, round_ns)).count();
        assert_eq!(looks(276.0, 50e6), 64);
        // A thousand cells, 3 s a round.
        assert!((16..=40).contains(&looks(499_500.0, 3e9)), "{}", looks(499_500.0, 3e9));
        assert!(looks(499_500.0, 1.0) >= 1);
        // A day of four cells: of 92 000 rounds the last looks take a third of a second each.
        let last = (91_937..=92_000).filter(|n| policy.looks_after(*n, 6.0, 940e6)).count();
        assert_eq!(last, 4);
    }
}
