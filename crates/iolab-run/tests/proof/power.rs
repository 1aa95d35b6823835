//! Proof of coverage and power (the protocol, proofs 3 and 4): intervals hold the truth when a run
//! stops, a difference that matters is not called a tie, and real differences are found as soon as
//! the table says.
#![allow(clippy::unwrap_used)]

use iolab_model::result::{AnswerKind, Verdict};
use iolab_run::{Policy, drive_by, observations_of};
use iolab_run::{StopSignal, stream};
use iolab_stats::{Observations, Rules, lower_rank, pairs, standing};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, normal, plan};

const RUNS: u32 = 1000;

/// 5 % and 3.1 standard errors, in runs.
fn most_wrong(runs: u32) -> u32 {
    let n = f64::from(runs);
    (0.05 * n + 3.1 * (n * 0.05 * 0.95).sqrt()) as u32
}

/// One run to its own end: what was seen, and by which rules.
fn run(truth: &[f64], noises: &[Noise], seed: u64, rounds: u32) -> (Observations, Rules) {
    let plan = plan(&PlanShape::new(truth.len(), seed));
    let mut machine =
        VirtualMachine::new(truth.iter().map(|t| t * 1e5).collect(), seed).with(noises);
    let policy = Policy { greatest_rounds: rounds, ..Policy::default() };
    let out = drive_by(&policy, &plan, &mut machine, &mut [], None, &|| StopSignal::None).unwrap();
    let rules = Rules {
        alpha: 0.05,
        delta: 0.02,
        pairs: (truth.len() * (truth.len() - 1) / 2) as f64,
        fixed: false,
        by_epoch: false,
        seed,
    };
    (observations_of(&plan, &out, 0), rules)
}

#[test]
fn intervals_hold_the_truth_when_the_run_stops() {
    let noises = [Noise::LogNormal(0.05), Noise::Instance(0.1), Noise::Spikes(0.02)];
    for ratio in [1.01, 1.02, 1.05, 1.1, 1.5, 2.0] {
        let truth = [1.0, ratio, 1.0];
        let misses = |seed: u32| {
            let (seen, rules) = run(&truth, &noises, u64::from(seed) + 1, 120);
            pairs(&seen, &rules)
                .iter()
                .any(|p| !p.interval.contains((truth[p.a] / truth[p.b]).ln()))
        };
        let wrong = (0..RUNS).filter(|seed| misses(*seed)).count() as u32;
        eprintln!("ratio {ratio}: {wrong} of {RUNS} miss");
        assert!(wrong <= most_wrong(RUNS), "ratio {ratio}: {wrong} of {RUNS}");
    }
}

#[test]
fn a_difference_that_matters_is_not_called_a_tie() {
    let noises = [Noise::LogNormal(0.01), Noise::Instance(0.005)];
    let kinds = |ratio: f64, runs: u32| -> Vec<AnswerKind> {
        (0..runs)
            .map(|seed| {
                let (seen, rules) = run(&[1.0, ratio], &noises, u64::from(seed) + 1, 200);
                standing(&seen, &rules).kind
            })
            .collect()
    };
    let ties = |kinds: &[AnswerKind]| kinds.iter().filter(|k| **k == AnswerKind::Tie).count();
    let wrong = ties(&kinds(1.02, RUNS)) as u32;
    eprintln!("false ties at 1 + delta: {wrong} of {RUNS}");
    assert!(wrong <= most_wrong(RUNS), "{wrong} of {RUNS}");
    // The test can see ties at all.
    let right = ties(&kinds(1.0, 200));
    assert!(right >= 190, "{right} of 200 identical pairs end in a tie");
}

/// The chance that the e-process has separated a normal shift after n = 1, 2, … rounds, exactly: the
/// walks of its signs that have not, by their losses.
fn separated_by(shift: f64, m_over_alpha: f64) -> Vec<f64> {
    let win = 0.5 * statrs::function::erf::erfc(-shift / std::f64::consts::SQRT_2);
    let mut alive = vec![1.0];
    let mut separated = Vec::new();
    for n in 1..300u32 {
        let mut next = vec![0.0; n as usize + 1];
        for (losses, p) in alive.iter().enumerate() {
            next[losses] += p * win;
            next[losses + 1] += p * (1.0 - win);
        }
        next.iter_mut().take(lower_rank(n, m_over_alpha) as usize).for_each(|p| *p = 0.0);
        separated.push(1.0 - next.iter().sum::<f64>());
        alive = next;
    }
    separated
}

/// Rounds until the whole comparison separates it.
fn rounds_to_separate(shift: f64, rules: &Rules, seed: u64) -> u32 {
    let mut generator = stream(seed, "power", 0);
    let mut seen = Observations { y: vec![Vec::new(), Vec::new()], ..Observations::default() };
    let mut losses = 0;
    for n in 1..300 {
        let d = shift + normal(&mut generator);
        losses += u32::from(d <= 0.0);
        seen.y[0].push(d);
        seen.y[1].push(0.0);
        seen.epoch.push(n);
        let crossed = losses < lower_rank(n, rules.pairs / rules.alpha);
        if crossed && pairs(&seen, rules)[0].verdict != Verdict::Undecided {
            return n;
        }
    }
    300
}

#[test]
fn differences_are_found_as_soon_as_the_table_says() {
    // M, and for each shift the rounds of the median and of 80 %.
    type Row = (f64, u32, u32);
    let table: [(f64, [Row; 4]); 2] = [
        (1.0, [(0.5, 50, 90), (1.0, 16, 25), (1.5, 8, 12), (2.0, 8, 8)]),
        (66.0, [(0.5, 114, 166), (1.0, 34, 46), (1.5, 19, 23), (2.0, 15, 19)]),
    ];
    for (pairs, rows) in table {
        // δ of nothing: only separation counts.
        let (fixed, by_epoch) = (false, false);
        let rules = Rules { alpha: 0.05, delta: 0.0, pairs, fixed, by_epoch, seed: 1 };
        for (shift, median, most) in rows {
            let exact = separated_by(shift, pairs / 0.05);
            let rounds: Vec<u32> =
                (0..RUNS).map(|seed| rounds_to_separate(shift, &rules, seed.into())).collect();
            for (share, want) in [(0.5, median), (0.8, most)] {
                let got = 1 + exact.iter().position(|p| *p >= share).unwrap() as u32;
                let slack = (f64::from(want) * 0.1).max(1.0);
                let off = (f64::from(got) - f64::from(want)).abs();
                assert!(off <= slack, "M {pairs}, {shift}: {got}, table {want}");
                // Merging rounds that look alike by chance costs a little of it.
                let soon = rounds.iter().filter(|n| f64::from(**n) <= f64::from(want) + slack);
                let soon = soon.count() as f64 / f64::from(RUNS);
                eprintln!("M {pairs}, shift {shift}: {share} after {got} (table {want}): {soon}");
                assert!(soon >= share - 0.05, "M {pairs}, {shift}: only {soon} by {want}");
            }
        }
    }
}
