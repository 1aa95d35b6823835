use iolab_model::catalog::Code;

use crate::compare::tests::rules;
use crate::random::{generator, shuffle};
use crate::{Context, Judgement, Observations, Rules, judge};
use rand_core::Rng;

/// Normal noise by Box–Muller, seeded.
pub(crate) struct Normal(rand_pcg::Pcg64);

impl Normal {
    pub(crate) fn new(seed: u64) -> Normal {
        Normal(generator(seed, 77))
    }
    pub(crate) fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    pub(crate) fn draw(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
}

/// A run on a virtual machine: `cost(cell, round, position, before, noise)` is ln time.
fn run(
    seed: u64,
    k: usize,
    rounds: usize,
    mut cost: impl FnMut(usize, usize, u32, Option<u32>, &mut Normal) -> f64,
) -> Observations {
    let mut normal = Normal::new(seed);
    let mut seen = Observations {
        y: vec![vec![0.0; rounds]; k],
        position: vec![vec![None; rounds]; k],
        before: vec![vec![None; rounds]; k],
        epoch: (0..rounds as u32).collect(),
        ..Observations::default()
    };
    let mut last = None;
    for round in 0..rounds {
        let mut order: Vec<usize> = (0..k).collect();
        shuffle(&mut normal.0, &mut order);
        for (position, cell) in order.into_iter().enumerate() {
            seen.y[cell][round] = cost(cell, round, position as u32, last, &mut normal);
            seen.position[cell][round] = Some(position as u32);
            seen.before[cell][round] = last;
            last = Some(cell as u32);
        }
    }
    seen
}

fn has(judgement: &Judgement, code: Code) -> bool {
    judgement.findings.iter().any(|f| f.code == code)
}

/// In how many of `runs` a code is found.
fn found(runs: u64, k: usize, code: Code, one: impl Fn(u64) -> Observations) -> usize {
    let rules = rules(k);
    (0..runs)
        .filter(|seed| {
            has(
                &judge(&one(*seed), &Rules { seed: *seed, ..rules.clone() }, &Context::default()),
                code,
            )
        })
        .count()
}

const DELTA: f64 = 0.02;
const RUNS: u64 = 200;
/// 99.9 % quantile of Bin(200, 5 %): more false alarms than this are more than 5 %.
const FALSE_ALARMS: usize = 21;
/// 0.1 % quantile of Bin(200, 95 %): fewer finds than this are less than 95 %.
const FINDS: usize = 179;

#[test]
fn each_injected_fault_is_found() {
    let (rounds, sigma) = (60, 0.01);
    for k in [2, 6] {
        // A trend and a step of 3δ in one cell.
        let trend = |seed| {
            run(seed, k, rounds, |cell, round, _, _, n| {
                let drift = if cell == 1 { 3.0 * DELTA * round as f64 / 60.0 } else { 0.0 };
                drift + sigma * n.draw()
            })
        };
        assert!(found(RUNS, k, Code::ContrastDrift, trend) >= FINDS, "trend, k {k}");
        let step = |seed| {
            run(seed, k, rounds, |cell, round, _, _, n| {
                let drift = if cell == 1 && round >= 30 { 3.0 * DELTA } else { 0.0 };
                drift + sigma * n.draw()
            })
        };
        assert!(found(RUNS, k, Code::ContrastDrift, step) >= FINDS, "step, k {k}");
        // What runs after cell 1 pays 3δ; whoever runs first does.
        let carry = |seed| {
            run(seed, k, rounds, |_, _, _, before, n| {
                let paid = if before == Some(1) { 3.0 * DELTA } else { 0.0 };
                paid + sigma * n.draw()
            })
        };
        let finds = found(RUNS, k, Code::CarryOver, carry);
        assert!(finds >= FINDS, "carry-over, k {k}: {finds}");
        let tiring = |seed| {
            run(seed, k, rounds, |_, _, position, _, n| {
                3.0 * DELTA * f64::from(position) / (k - 1) as f64 + sigma * n.draw()
            })
        };
        assert!(found(RUNS, k, Code::CarryOver, tiring) >= FINDS, "position, k {k}");
        let coarse = |seed| {
            run(seed, k, rounds, |_, _, _, _, n| ((1.0 + sigma * n.draw()) * 100.0).round().ln())
        };
        assert!(found(RUNS, k, Code::Quantised, coarse) >= FINDS, "quantised, k {k}");
    }
}

/// Noise of one cell with lag-1 correlation φ over rounds.
fn autoregressive(seed: u64, k: usize, rounds: usize, phi: f64) -> Observations {
    let mut last = vec![0.0; k];
    run(seed, k, rounds, |cell, _, _, _, n| {
        last[cell] = phi * last[cell] + (1.0 - phi * phi).sqrt() * n.draw();
        0.01 * last[cell]
    })
}

#[test]
fn correlated_neighbours_are_found() {
    let finds = found(RUNS, 2, Code::Autocorrelated, |seed| autoregressive(seed, 2, 100, 0.5));
    assert!(finds >= FINDS, "{finds}");
}

/// Noises that have nothing to do with the cells: none may raise a flag that takes the answer away.
fn innocent(kind: usize, seed: u64, k: usize) -> Observations {
    let mut wander = 0.0;
    let mut slow_rounds = Normal::new(seed + 10_000);
    let slow: Vec<bool> = (0..60).map(|_| slow_rounds.uniform() < 0.3).collect();
    run(seed, k, 60, move |_, round, _, _, n| {
        let x = n.draw();
        match kind {
            0 => 0.01 * x,
            1 => 0.2 * x,
            // Pareto spikes.
            2 => 0.01 * x + if n.uniform() < 0.05 { -n.uniform().ln() / 1.5 } else { 0.0 },
            // Two states, by round and by trial.
            3 => 0.01 * x + if slow[round] { 0.7 } else { 0.0 },
            4 => 0.01 * x + if n.uniform() < 0.3 { 0.7 } else { 0.0 },
            // The machine wanders, drifts by 30 %, steps.
            5 => {
                wander = 0.9 * wander + 0.05 * x;
                wander + 0.01 * n.draw()
            }
            6 => 0.3 * round as f64 / 60.0 + 0.01 * x,
            _ => 0.01 * x + if round > 25 { 0.5 } else { 0.0 },
        }
    })
}

#[test]
fn innocent_noise_takes_no_answer_away() {
    let flags = [Code::ContrastDrift, Code::CarryOver, Code::Quantised];
    for k in [2, 6, 24] {
        let runs = if k == 24 { 60 } else { RUNS };
        let allowed = if k == 24 { 10 } else { FALSE_ALARMS };
        let rules = rules(k);
        for kind in 0..8 {
            let mut counts = [0; 3];
            let mut autocorrelated = 0;
            for seed in 0..runs {
                let judgement = judge(&innocent(kind, seed, k), &rules, &Context::default());
                for (count, code) in counts.iter_mut().zip(flags) {
                    *count += usize::from(has(&judgement, code));
                }
                autocorrelated += usize::from(has(&judgement, Code::Autocorrelated));
            }
            assert!(counts.iter().all(|c| *c <= allowed), "k {k} kind {kind}: {counts:?}");
            assert!(autocorrelated <= allowed, "k {k} kind {kind}: {autocorrelated}");
        }
    }
}
