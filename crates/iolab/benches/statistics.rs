//! What the statistics cost: `cargo bench --bench statistics`. The final judgement of 1000 cells × 50
//! rounds has to stay under a second; a round's standing of 24 cells under a millisecond.

use std::hint::black_box;

use iolab_stats::claims::{self, Facts};
use iolab_stats::{Context, Observations, Rules, judge, pairs};
use rand_core::{Rng, SeedableRng};

/// k cells around different medians, noise of about 5 %.
fn observations(k: usize, rounds: usize, apart: f64) -> Observations {
    let mut random = rand_pcg::Pcg64::seed_from_u64(1);
    let mut uniform = || (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64;
    let mut noise = || (0..4).map(|_| uniform() - 0.5).sum::<f64>() * 0.1;
    let cell = |i: usize| (0..rounds).map(|_| apart * i as f64 + noise()).collect();
    Observations {
        y: (0..k).map(cell).collect(),
        epoch: (0..rounds as u32).collect(),
        ..Observations::default()
    }
}

fn rules(k: usize) -> Rules {
    let pairs = (k * (k - 1) / 2) as f64;
    Rules { alpha: 0.05, delta: 0.02, pairs, unit_rounds: 1, cost: Vec::new(), seed: 1 }
}

/// Processor time of this thread in milliseconds: a busy machine must not change the figure.
fn cpu_ms() -> f64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    now.tv_sec as f64 * 1e3 + now.tv_nsec as f64 * 1e-6
}

/// Least of several runs, in milliseconds.
fn least_ms<T>(times: usize, work: impl Fn() -> T) -> f64 {
    let one = |_| {
        let start = cpu_ms();
        black_box(work());
        cpu_ms() - start
    };
    (0..times).map(one).fold(f64::INFINITY, f64::min)
}

fn main() {
    for (k, rounds, apart, times) in [
        (2, 60, 0.0, 200),
        (24, 60, 0.0, 200),
        (24, 60, 0.01, 200),
        (1000, 50, 0.0, 3),
        (1000, 50, 0.01, 3),
    ] {
        let (seen, rules) = (observations(k, rounds, apart), rules(k));
        let (context, watch) = (Context::default(), seen.watch(&rules));
        println!(
            "{k:>5} cells × {rounds} rounds, medians {apart} apart: pairs {:.3} ms, rounds {:.3} ms, claims {:.3} ms, judge {:.3} ms",
            least_ms(times, || pairs(black_box(&seen), &rules)),
            least_ms(times, || black_box(&seen).watch(&rules)),
            least_ms(times, || watch.claims(&claims::Rules::default(), &Facts::default())),
            least_ms(times, || judge(black_box(&seen), &rules, &context)),
        );
    }
}
