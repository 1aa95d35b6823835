//! Proof of the guarantee (docs: the protocol, proof 2 and 6): identical cells are called different
//! in at most 5 % of runs, whatever disturbs the machine and however often one looks; and each
//! choice that makes it so is needed: without it the same test fails.
#![allow(clippy::unwrap_used)]

use std::cell::{Cell, RefCell};

use iolab_model::result::{AnswerKind, Verdict};
use iolab_run::StopSignal;
use iolab_run::{Judge, Policy, drive_by};
use iolab_stats::{Observations, Rules, Standing, ln_e_value, standing};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

const RUNS: u32 = 2000;
/// The 99.9 % quantile of the binomial distribution with 2000 runs of 5 %.
const MOST_FALSE: u32 = 131;
const INSTANCE: Noise = Noise::Instance(0.1);

/// The noises; rounds to spread drifts over.
fn noises(rounds: u32) -> Vec<(&'static str, Vec<Noise>)> {
    let quiet = Noise::LogNormal(0.02);
    vec![
        ("lognormal 1 %", vec![INSTANCE, Noise::LogNormal(0.01)]),
        ("lognormal 5 %", vec![INSTANCE, Noise::LogNormal(0.05)]),
        ("lognormal 20 %", vec![INSTANCE, Noise::LogNormal(0.2)]),
        ("Pareto spikes", vec![INSTANCE, quiet, Noise::Spikes(0.1)]),
        ("bimodal by round", vec![INSTANCE, quiet, Noise::BimodalRound(0.3, 0.5)]),
        ("bimodal by trial", vec![INSTANCE, quiet, Noise::BimodalTrial(0.3, 0.5)]),
        ("AR(1) 0.9", vec![INSTANCE, quiet, Noise::Autoregressive(0.9, 0.1)]),
        ("drift 30 %", vec![INSTANCE, quiet, Noise::Drift(0.3, rounds)]),
        ("step 30 %", vec![INSTANCE, quiet, Noise::Step(0.3, rounds / 2)]),
        ("first position 10 %", vec![INSTANCE, quiet, Noise::FirstPosition(0.1)]),
    ]
}

/// Signs counted round by round. A pair can be called different only if the e-process on single
/// rounds has crossed M/α (merging rounds only widens: `merging_never_proves_more` below), so the
/// full standing is computed only then.
#[derive(Default)]
struct Signs {
    above: Vec<u32>,
    below: Vec<u32>,
    rounds: usize,
}

impl Signs {
    /// Takes the newest rounds in; whether some pair has crossed.
    fn crossed(&mut self, seen: &Observations, rules: &Rules) -> bool {
        let k = seen.y.len();
        self.above.resize(k * k, 0);
        self.below.resize(k * k, 0);
        let bar = (rules.pairs / rules.alpha).ln();
        for round in self.rounds..seen.rounds() {
            for a in 0..k {
                for b in a + 1..k {
                    if let (Some(x), Some(y)) = (seen.y[a].get(round), seen.y[b].get(round)) {
                        self.above[a * k + b] += u32::from(x > y);
                        self.below[a * k + b] += u32::from(x < y);
                    }
                }
            }
        }
        self.rounds = seen.rounds();
        let most = self.above.iter().chain(&self.below).copied().max().unwrap_or(0);
        let n = self.rounds as u32;
        2 * most > n && ln_e_value(n, most) >= bar
    }
}

fn nothing() -> Standing {
    Standing {
        kind: AnswerKind::Undecided,
        best: Vec::new(),
        leader: None,
        pairs: Vec::new(),
        rounds: 0,
    }
}

fn differs(standing: &Standing) -> bool {
    standing.pairs.iter().any(|p| matches!(p.verdict, Verdict::Slower | Verdict::Faster))
}

/// What a run is made of.
#[derive(Clone, Copy)]
struct Setup {
    cells: usize,
    rounds: u32,
    shuffle: bool,
    renew: bool,
    /// Time of renewing one instance; a round of two cells takes 5 ms.
    renew_ns: f64,
}

impl Setup {
    const fn new(cells: usize, rounds: u32) -> Setup {
        Setup { cells, rounds, shuffle: true, renew: true, renew_ns: 1e4 }
    }
}

/// One run of identical cells; the judge is asked after every steady round.
fn run(setup: Setup, noises: &[Noise], seed: u64, judge: Box<Judge<'_>>) {
    let shape = PlanShape::new(setup.cells, seed);
    let plan = plan(&shape);
    let mut machine = VirtualMachine::new(vec![1e5; setup.cells], seed).with(noises);
    machine.renew_ns = setup.renew_ns;
    let policy = Policy {
        shuffle: setup.shuffle,
        renew: setup.renew,
        fewest_rounds: u32::MAX,
        greatest_rounds: setup.rounds,
        look_every: Some(1),
        judge,
        ..Policy::default()
    };
    let out = drive_by(&policy, &plan, &mut machine, &mut [], None, &|| StopSignal::None).unwrap();
    assert_eq!(out.steady_rounds, setup.rounds);
}

/// Whether any look of one run of the protocol calls two identical cells different.
fn errs(setup: Setup, noises: &[Noise], seed: u64, mutate: fn(&Rules) -> Rules) -> bool {
    let wrong = Cell::new(false);
    let signs = RefCell::new(Signs::default());
    let judge = |seen: &Observations, rules: &Rules| {
        let rules = mutate(rules);
        let all = rules.fixed || setup.renew_ns > 1e6;
        if !wrong.get() && (all || signs.borrow_mut().crossed(seen, &rules)) {
            wrong.set(differs(&standing(seen, &rules)));
        }
        nothing()
    };
    run(setup, noises, seed, Box::new(judge));
    wrong.get()
}

fn count(runs: u32, errs: impl Fn(u64) -> bool) -> u32 {
    (0..runs).map(|seed| u32::from(errs(u64::from(seed) + 1))).sum()
}

fn identical_cells_are_seldom_called_different(setup: Setup) {
    for (name, noises) in noises(setup.rounds) {
        let wrong = count(RUNS, |seed| errs(setup, &noises, seed, Rules::clone));
        eprintln!("k {}, {name}: {wrong} of {RUNS}", setup.cells);
        assert!(wrong <= MOST_FALSE, "k {}, {name}: {wrong} of {RUNS}", setup.cells);
    }
}

#[test]
fn two_identical_cells() {
    identical_cells_are_seldom_called_different(Setup::new(2, 100));
}

#[test]
fn six_identical_cells() {
    identical_cells_are_seldom_called_different(Setup::new(6, 60));
}

#[test]
fn twenty_four_identical_cells() {
    identical_cells_are_seldom_called_different(Setup::new(24, 40));
}

/// What the shortcut in [`Signs`] rests on.
#[test]
fn merging_never_proves_more_than_the_signs() {
    for (name, noises) in noises(40) {
        for seed in 0..25 {
            let signs = RefCell::new(Signs::default());
            let judge = |seen: &Observations, rules: &Rules| {
                let loose = Rules { pairs: 0.4, ..rules.clone() };
                let crossed = signs.borrow_mut().crossed(seen, &loose);
                assert!(crossed || !differs(&standing(seen, &loose)), "{name}");
                nothing()
            };
            run(Setup::new(6, 40), &noises, seed, Box::new(judge));
        }
    }
}

fn must_fail(name: &str, wrong: u32) {
    eprintln!("mutation {name}: {wrong} of {RUNS}");
    assert!(wrong > MOST_FALSE, "the proof does not see it: {name}: {wrong} of {RUNS}");
}

#[test]
fn a_fixed_order_fails() {
    let setup = Setup { shuffle: false, ..Setup::new(6, 60) };
    let noise = [Noise::LogNormal(0.02), Noise::FirstPosition(0.1)];
    must_fail("fixed order", count(RUNS, |seed| errs(setup, &noise, seed, Rules::clone)));
}

#[test]
fn instances_drawn_once_fail() {
    let setup = Setup { renew: false, ..Setup::new(2, 60) };
    let noise = [INSTANCE, Noise::LogNormal(0.05)];
    must_fail("instances kept", count(RUNS, |seed| errs(setup, &noise, seed, Rules::clone)));
}

/// Renewals that cost several rounds are done every E rounds; the epoch is then the unit.
const DEAR: Setup = Setup { renew_ns: 2e7, ..Setup::new(2, 120) };
const DEAR_NOISE: [Noise; 2] = [INSTANCE, Noise::LogNormal(0.2)];

#[test]
fn the_epoch_is_the_unit_where_renewal_is_dear() {
    let epochs = Cell::new(0u64);
    let wrong = count(RUNS, |seed| errs(DEAR, &DEAR_NOISE, seed, Rules::clone));
    let judge = |seen: &Observations, rules: &Rules| {
        epochs.set(epochs.get() + u64::from(rules.by_epoch && seen.rounds() == 120));
        nothing()
    };
    (1..=20).for_each(|seed| run(DEAR, &DEAR_NOISE, seed, Box::new(&judge)));
    eprintln!("epochs: {wrong} of {RUNS}; in {} of 20 runs E > 1", epochs.get());
    assert!(epochs.get() >= 15, "the epoch is seldom longer than a round");
    assert!(wrong <= MOST_FALSE, "{wrong} of {RUNS}");
}

#[test]
fn rounds_as_the_unit_of_longer_epochs_fail() {
    let by_round = |rules: &Rules| Rules { by_epoch: false, ..rules.clone() };
    let noise = [INSTANCE, Noise::LogNormal(0.1)];
    must_fail("round as unit", count(RUNS, |seed| errs(DEAR, &noise, seed, by_round)));
}

#[test]
fn a_fixed_interval_looked_at_every_round_fails() {
    let noise = [INSTANCE, Noise::LogNormal(0.05)];
    let fixed = |rules: &Rules| Rules { fixed: true, ..rules.clone() };
    must_fail("peeking", count(RUNS, |seed| errs(Setup::new(2, 100), &noise, seed, fixed)));
}

#[test]
fn twenty_four_cells_as_if_they_were_one_pair_fail() {
    let noise = [INSTANCE, Noise::LogNormal(0.05)];
    let one = |rules: &Rules| Rules { pairs: 1.0, ..rules.clone() };
    must_fail("M = 1", count(RUNS, |seed| errs(Setup::new(24, 40), &noise, seed, one)));
}

/// Median of a resample of single trials, rounds ignored.
fn resampled_median(y: &[f64], state: &mut u64) -> f64 {
    let mut drawn: Vec<f64> = (0..y.len())
        .map(|_| {
            *state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            y[(*state >> 33) as usize % y.len()]
        })
        .collect();
    let middle = drawn.len() / 2;
    *drawn.select_nth_unstable_by(middle, f64::total_cmp).1
}

/// The percentile bootstrap of the ratio of medians, with single trials as the unit: whether its
/// 95 % interval leaves out 1.
fn bootstrap_differs(a: &[f64], b: &[f64], seed: u64) -> bool {
    let mut state = seed;
    let mut ratios: Vec<f64> = (0..200)
        .map(|_| resampled_median(a, &mut state) - resampled_median(b, &mut state))
        .collect();
    ratios.sort_unstable_by(f64::total_cmp);
    ratios[5] > 0.0 || ratios[194] < 0.0
}

#[test]
fn a_bootstrap_over_trials_fails() {
    let noise = [INSTANCE, Noise::LogNormal(0.05)];
    let wrong = count(RUNS, |seed| {
        let wrong = Cell::new(false);
        let judge = |seen: &Observations, _: &Rules| {
            if !wrong.get() && seen.rounds().is_multiple_of(20) {
                wrong.set(bootstrap_differs(&seen.y[0], &seen.y[1], seed));
            }
            nothing()
        };
        run(Setup::new(2, 100), &noise, seed, Box::new(judge));
        wrong.get()
    });
    must_fail("bootstrap over trials", wrong);
}
