//! What disturbs a virtual machine. Each noise adds to ln(time).

use rand_core::Rng;
use rand_pcg::Pcg64;

/// A disturbance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Noise {
    /// Normal in ln(time), each trial anew: σ.
    LogNormal(f64),
    /// With this probability a trial takes a Pareto multiple (shape 1.5).
    Spikes(f64),
    /// With this probability a whole round is slower by this share.
    BimodalRound(f64, f64),
    /// With this probability a trial is slower by this share.
    BimodalTrial(f64, f64),
    /// The machine's speed from trial to trial: φ, and the standard deviation it has in all.
    Autoregressive(f64, f64),
    /// Slower by this share, evenly over so many rounds.
    Drift(f64, u32),
    /// Slower by this share from this round on.
    Step(f64, u32),
    /// The first trial of a round is slower by this share.
    FirstPosition(f64),
    /// Each instance has an effect of its own, drawn at each renewal: σ.
    Instance(f64),
    /// This cell alone becomes slower by this share over so many rounds.
    ContrastDrift(usize, f64, u32),
    /// Trials that run right after this cell are slower by this share.
    CarryOver(usize, f64),
    /// This cell alone has a speed that is correlated from round to round: φ and σ.
    ContrastLag(usize, f64, f64),
    /// The clock shows whole multiples of this many nanoseconds.
    Quantised(f64),
    /// Instances are faster the more often they were visited of late: a visit makes the next one
    /// faster by this share, of which each trial in between takes half, and a renewal all.
    Traffic(f64),
    /// The end of a file is slower than its beginning by this share, evenly in between.
    Regions(f64),
    /// The last of so many ranks decides: each has a time of its own (σ), and one in a hundred is a
    /// straggler that takes half as long again.
    LastOf(u32, f64),
    /// Symmetric and of another shape in each cell: normal, uniform, or normal with far tails.
    Mixed,
}

/// The state that noises keep between trials.
#[derive(Clone, Debug, Default)]
pub(super) struct Memory {
    pub(super) machine: Option<f64>,
    pub(super) contrast: Option<f64>,
    pub(super) contrast_round: Option<u32>,
    pub(super) slow_round: bool,
    /// By instance: visits of late.
    pub(super) visits: Vec<f64>,
}

impl Memory {
    /// An instance was visited once more.
    pub(super) fn visit(&mut self, instance: usize) {
        if self.visits.len() <= instance {
            self.visits.resize(instance + 1, 0.0);
        }
        self.visits.iter_mut().for_each(|visits| *visits *= 0.5);
        self.visits[instance] += 1.0;
    }

    /// An instance lies somewhere else: nothing of it was visited there.
    pub(super) fn renew(&mut self, instance: usize) {
        self.visits.iter_mut().skip(instance).take(1).for_each(|visits| *visits = 0.0);
    }
}

/// Where a trial stands.
#[derive(Clone, Copy, Debug)]
pub(super) struct Moment {
    pub(super) cell: usize,
    pub(super) round: u32,
    /// The first trial of its round.
    pub(super) first: bool,
    /// What ran just before.
    pub(super) before: Option<usize>,
    /// Rounds so far, with the part of this one.
    pub(super) time: f64,
    /// The file it works on.
    pub(super) instance: Option<usize>,
    /// Where in the file the middle of its work lies, from 0 to 1.
    pub(super) region: f64,
}

/// A uniform number in (0, 1).
pub(super) fn uniform(generator: &mut Pcg64) -> f64 {
    ((generator.next_u64() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
}

/// A standard normal number (Box–Muller).
pub fn normal(generator: &mut Pcg64) -> f64 {
    let radius = (-2.0 * uniform(generator).ln()).sqrt();
    radius * (std::f64::consts::TAU * uniform(generator)).cos()
}

impl Noise {
    /// What it adds to ln(time) of this trial.
    pub(super) fn effect(&self, at: Moment, memory: &mut Memory, generator: &mut Pcg64) -> f64 {
        let by = |share: f64| share.ln_1p();
        match *self {
            Noise::LogNormal(sigma) => sigma * normal(generator),
            Noise::Spikes(share) => match uniform(generator) < share {
                true => -uniform(generator).ln() / 1.5,
                false => 0.0,
            },
            Noise::BimodalRound(share, slower) => {
                if at.first {
                    memory.slow_round = uniform(generator) < share;
                }
                if memory.slow_round { by(slower) } else { 0.0 }
            }
            Noise::BimodalTrial(share, slower) => {
                if uniform(generator) < share {
                    by(slower)
                } else {
                    0.0
                }
            }
            Noise::Autoregressive(phi, sigma) => {
                let next = walk(memory.machine, phi, sigma, generator);
                memory.machine = Some(next);
                next
            }
            Noise::Drift(slower, rounds) => by(slower) * at.time / f64::from(rounds),
            Noise::Step(slower, round) => {
                if at.round >= round {
                    by(slower)
                } else {
                    0.0
                }
            }
            Noise::FirstPosition(slower) => {
                if at.first {
                    by(slower)
                } else {
                    0.0
                }
            }
            Noise::ContrastDrift(cell, slower, rounds) => match at.cell == cell {
                true => by(slower) * at.time / f64::from(rounds),
                false => 0.0,
            },
            Noise::CarryOver(cell, slower) => {
                if at.before == Some(cell) {
                    by(slower)
                } else {
                    0.0
                }
            }
            Noise::ContrastLag(cell, phi, sigma) => {
                if at.cell != cell {
                    return 0.0;
                }
                if memory.contrast_round != Some(at.round) || memory.contrast.is_none() {
                    memory.contrast = Some(walk(memory.contrast, phi, sigma, generator));
                    memory.contrast_round = Some(at.round);
                }
                memory.contrast.unwrap_or(0.0)
            }
            Noise::Traffic(faster) => {
                let visits = at.instance.and_then(|i| memory.visits.get(i));
                -by(faster) * visits.copied().unwrap_or(0.0)
            }
            Noise::Regions(slower) => by(slower) * at.region,
            Noise::LastOf(ranks, sigma) => last_of(ranks, sigma, generator),
            Noise::Mixed => mixed(at.cell, generator),
            Noise::Instance(_) | Noise::Quantised(_) => 0.0,
        }
    }
}

/// The slowest rank of a job.
fn last_of(ranks: u32, sigma: f64, generator: &mut Pcg64) -> f64 {
    let mut one = || {
        let straggles = if uniform(generator) < 0.01 { 0.5f64.ln_1p() } else { 0.0 };
        sigma * normal(generator) + straggles
    };
    (0..ranks).map(|_| one()).fold(f64::NEG_INFINITY, f64::max)
}

/// A symmetric noise of a few per cent whose shape is the cell's.
fn mixed(cell: usize, generator: &mut Pcg64) -> f64 {
    match cell % 3 {
        0 => 0.01 * normal(generator),
        1 => 0.1 * (uniform(generator) - 0.5),
        _ => {
            let far = match uniform(generator) {
                u if u < 0.1 => 0.5,
                u if u > 0.9 => -0.5,
                _ => 0.0,
            };
            0.03 * normal(generator) + far
        }
    }
}

/// One step of a stationary AR(1) walk with standard deviation σ.
fn walk(last: Option<f64>, phi: f64, sigma: f64, generator: &mut Pcg64) -> f64 {
    match last {
        None => sigma * normal(generator),
        Some(x) => phi * x + sigma * (1.0 - phi * phi).sqrt() * normal(generator),
    }
}
