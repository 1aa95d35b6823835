//! A virtual machine: seeded noise of many kinds, and rounds of trials on it.
#![allow(dead_code, missing_docs)]

use iolab_stats::claims::{Claims, Facts, Rules, Trial, Watch};
use rand_core::Rng;
use rand_pcg::Pcg64;

pub struct Dice(Pcg64);

impl Dice {
    pub fn new(seed: u64, stream: u64) -> Dice {
        Dice(Pcg64::new(u128::from(seed), u128::from(stream)))
    }
    pub fn uniform(&mut self) -> f64 {
        ((self.0.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }
    pub fn normal(&mut self) -> f64 {
        let (u, v) = (self.uniform(), self.uniform());
        (-2.0 * u.ln()).sqrt() * (std::f64::consts::TAU * v).cos()
    }
    pub fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.0.next_u64()) * n as u128) >> 64) as usize
    }
}

/// What the machine does to ln time. `Mixed`: each cell has a shape of its own, all with median 0
/// and symmetric, so that medians of differences are differences of medians.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    Normal(f64),
    Pareto,
    ByRound,
    ByTrial,
    /// Neighbouring trials alike: the machine wanders, whoever is measured.
    Alike,
    /// Each cell wanders by itself from round to round: no machine does that to a fair coin, and
    /// exclusion is not made for it.
    Own,
    Drift,
    Step,
    FirstPays,
    Losses,
    Mixed,
}

pub const FIVE: [Noise; 5] =
    [Noise::Normal(0.05), Noise::Pareto, Noise::ByTrial, Noise::Alike, Noise::FirstPays];

pub struct Machine {
    pub dice: Dice,
    pub noise: Noise,
    pub levels: Vec<f64>,
    own: Vec<f64>,
    wander: f64,
    round: usize,
}

impl Machine {
    pub fn new(seed: u64, noise: Noise, levels: &[f64]) -> Machine {
        let mut dice = Dice::new(seed, 7);
        let own = levels.iter().map(|_| dice.normal()).collect();
        Machine { dice, noise, levels: levels.to_vec(), own, wander: 0.0, round: 0 }
    }

    /// A round of all cells, in an order of its own.
    pub fn round(&mut self) -> Vec<Trial> {
        let slow = self.dice.uniform() < 0.3;
        let mut order: Vec<usize> = (0..self.levels.len()).collect();
        for last in (1..order.len()).rev() {
            order.swap(last, self.dice.below(last + 1));
        }
        self.round += 1;
        let mut trials = vec![Trial::Absent; order.len()];
        for (position, cell) in order.into_iter().enumerate() {
            trials[cell] = self.trial(cell, slow, position == 0);
        }
        trials
    }

    fn trial(&mut self, cell: usize, slow: bool, first: bool) -> Trial {
        let x = self.dice.normal();
        let u = self.dice.uniform();
        let noise = match self.noise {
            Noise::Normal(sd) => sd * x,
            Noise::Pareto => {
                0.01 * x + if u < 0.05 { -self.dice.uniform().ln() / 1.5 } else { 0.0 }
            }
            Noise::ByRound => 0.01 * x + if slow { 0.7 } else { 0.0 },
            Noise::ByTrial => 0.01 * x + if u < 0.3 { 0.7 } else { 0.0 },
            Noise::Alike => {
                self.wander = 0.9 * self.wander + (1.0f64 - 0.81).sqrt() * x;
                0.05 * self.wander
            }
            Noise::Own => {
                self.own[cell] = 0.9 * self.own[cell] + (1.0f64 - 0.81).sqrt() * x;
                0.05 * self.own[cell]
            }
            Noise::Drift => 0.01 * x + 0.3 * self.round as f64 / 60.0,
            Noise::Step => 0.01 * x + if self.round > 25 { 0.5 } else { 0.0 },
            Noise::FirstPays => 0.02 * x + if first { 0.1 } else { 0.0 },
            Noise::Losses if u < 0.1 => return Trial::Lost,
            Noise::Losses => 0.05 * x,
            Noise::Mixed => match cell % 3 {
                0 => 0.01 * x,
                1 => 0.1 * (u - 0.5),
                _ => {
                    0.03 * x
                        + if u < 0.1 {
                            0.5
                        } else if u > 0.9 {
                            -0.5
                        } else {
                            0.0
                        }
                }
            },
        };
        Trial::Took(self.levels[cell] + noise)
    }

    /// A watch after two rounds of warm-up.
    pub fn watch(&mut self, alpha: f64) -> Watch {
        let mut watch = Watch::new(self.levels.len(), alpha, 1);
        for _ in 0..2 {
            watch.push(&self.round(), false);
        }
        watch
    }
}

pub fn now(watch: &Watch) -> Claims {
    watch.claims(&Rules::default(), &Facts::default())
}

/// Median and 80 % point.
pub fn middle(mut values: Vec<usize>) -> (usize, usize) {
    values.sort_unstable();
    (values[values.len() / 2], values[values.len() * 4 / 5])
}

/// What a run of the tests repeats, and what `--ignored` does.
pub const FEW: u64 = 200;
pub const MANY: u64 = 2000;

/// The most of n that chance allows at 5 %: three standard errors over.
pub fn allowed(n: u64) -> u64 {
    let n = n as f64;
    (0.05 * n + 3.0 * (0.05 * 0.95 * n).sqrt()) as u64
}
