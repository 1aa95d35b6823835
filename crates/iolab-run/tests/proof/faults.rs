//! Proof that what breaks a comparison is seen (the protocol, proof 5): each injected fault raises
//! its flag in at least 95 % of runs, and a sound machine raises it in at most 5 %.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use iolab_model::catalog::Code;
use iolab_run::{Policy, drive_by};
use iolab_run::{StopSignal, conclude};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

const RUNS: u64 = 200;
const CELLS: usize = 4;
const DELTA: f64 = 0.02;
const QUIET: Noise = Noise::LogNormal(0.01);

/// How many runs of so many rounds raised each code.
fn codes(noises: &[Noise], rounds: u32) -> BTreeMap<Code, u64> {
    let mut seen = BTreeMap::new();
    for seed in 1..=RUNS {
        let plan = plan(&PlanShape { eliminate: false, ..PlanShape::new(CELLS, seed) });
        let mut machine = VirtualMachine::new(vec![1e5; CELLS], seed).with(noises);
        let policy =
            Policy { fewest_rounds: u32::MAX, greatest_rounds: rounds, ..Policy::default() };
        let stop = || StopSignal::None;
        let out = drive_by(&policy, &plan, &mut machine, &mut [], None, &stop).unwrap();
        let answer = conclude(&plan, &out).answers.remove(0);
        let mut codes: Vec<Code> = answer.warnings.iter().map(|w| w.code).collect();
        codes.dedup();
        codes.into_iter().for_each(|code| *seen.entry(code).or_default() += 1);
    }
    seen
}

fn is_seen(code: Code, fault: Noise, rounds: u32) {
    let runs = codes(&[QUIET, fault], rounds).get(&code).copied().unwrap_or(0);
    eprintln!("{code}: {runs} of {RUNS}");
    assert!(runs * 100 >= RUNS * 95, "{code} after {fault:?}: only {runs} of {RUNS}");
}

#[test]
fn a_contrast_that_drifts_by_three_delta() {
    is_seen(Code::ContrastDrift, Noise::ContrastDrift(1, 3.0 * DELTA, 60), 60);
}

#[test]
fn a_cell_that_leaves_something_behind() {
    is_seen(Code::CarryOver, Noise::CarryOver(1, 0.05), 60);
}

#[test]
fn a_contrast_whose_neighbours_are_alike() {
    // 0.6 over rounds, diluted by the noise of trials to about 0.5.
    is_seen(Code::Autocorrelated, Noise::ContrastLag(1, 0.6, 0.03), 120);
}

#[test]
fn a_clock_that_shows_few_values() {
    is_seen(Code::Quantised, Noise::Quantised(20_000.0), 60);
}

#[test]
fn a_sound_machine_raises_none() {
    let sound: [&[Noise]; 4] = [
        &[QUIET],
        &[QUIET, Noise::Instance(0.1)],
        &[QUIET, Noise::Drift(0.3, 60)],
        &[QUIET, Noise::BimodalRound(0.3, 0.5)],
    ];
    let faults = [
        Code::ContrastDrift,
        Code::CarryOver,
        Code::Autocorrelated,
        Code::Quantised,
        Code::NonStationary,
        Code::TwinBroken,
    ];
    // 5 % and three standard errors.
    let most = (0.05 * RUNS as f64 + 3.0 * (RUNS as f64 * 0.05 * 0.95).sqrt()) as u64;
    for noises in sound {
        let seen = codes(noises, 60);
        eprintln!("{noises:?}: {seen:?}");
        for code in faults {
            let runs = seen.get(&code).copied().unwrap_or(0);
            assert!(runs <= most, "{code} with {noises:?}: {runs} of {RUNS}");
        }
    }
}
