//! Proof of the guarantee (docs: the protocol, proof 2): cells of equal speed through the whole driver
//! and the whole conclusion. Runs in which one of them is ever excluded, or a bound does not hold the
//! truth, are at most one in twenty, whatever disturbs the machine; unsound ones one in a hundred.

use iolab_model::result::{AnswerKind, ExclusionReason};
use iolab_run::Stopped;
use iolab_test::virtual_machine::Noise;

use crate::scene::{Files, INSTANCE, Scene, most, runs};

const QUIET: Noise = Noise::LogNormal(0.02);
/// A visit makes the next one to the same file a tenth faster.
pub const TRAFFIC: Noise = Noise::Traffic(0.1);

/// The noises of section 11; rounds to spread drifts over.
fn noises(rounds: u32) -> Vec<(&'static str, Vec<Noise>)> {
    vec![
        ("lognormal 1 %", vec![INSTANCE, Noise::LogNormal(0.01)]),
        ("lognormal 5 %", vec![INSTANCE, Noise::LogNormal(0.05)]),
        ("lognormal 20 %", vec![INSTANCE, Noise::LogNormal(0.2)]),
        ("Pareto spikes", vec![INSTANCE, QUIET, Noise::Spikes(0.1)]),
        ("bimodal by round", vec![INSTANCE, QUIET, Noise::BimodalRound(0.3, 0.5)]),
        ("bimodal by trial", vec![INSTANCE, QUIET, Noise::BimodalTrial(0.3, 0.5)]),
        ("AR(1) 0.9", vec![INSTANCE, QUIET, Noise::Autoregressive(0.9, 0.1)]),
        ("drift 30 %", vec![INSTANCE, QUIET, Noise::Drift(0.3, rounds)]),
        ("step 30 %", vec![INSTANCE, QUIET, Noise::Step(0.3, rounds / 2)]),
        ("first position 10 %", vec![INSTANCE, QUIET, Noise::FirstPosition(0.1)]),
        ("the last of 64 ranks", vec![INSTANCE, Noise::LastOf(64, 0.05)]),
        ("faster by traffic", vec![INSTANCE, QUIET, TRAFFIC]),
    ]
}

/// What else happens in a run, over noise of 5 %.
fn happenings(k: usize, rounds: u32) -> Vec<Scene> {
    let equal = || vec![1.0; k];
    let noise = [INSTANCE, TRAFFIC, Noise::LogNormal(0.05)];
    let scene = |name, truth| Scene::new(name, truth, &noise, rounds);
    let bounded = Scene {
        files: Files::Bounded,
        unit_ns: 5e6,
        fixed: 4.0,
        noises: vec![Noise::Regions(0.3), Noise::LogNormal(0.05)],
        ..scene("parts of a file, fixed cost, regions", equal())
    };
    // Every second cell is slower by a third, every eighth three times as slow.
    let mixed: Vec<f64> = (0..k)
        .map(|c| match (c % 2, c % 8) {
            (0, _) => 1.0,
            (_, 7) => 3.0,
            _ => 1.3,
        })
        .collect();
    vec![
        Scene { name: "parts of a file, resumed".into(), broken_off: true, ..bounded.clone() },
        bounded,
        Scene { flaky: 0.03, ..scene("3 % of trials fail", equal()) },
        Scene { broken_off: true, ..scene("broken off and resumed", equal()) },
        Scene { more: true, ..scene("ended and gone on with", equal()) },
        Scene { more: true, ..scene("ended and gone on with, some slower", mixed.clone()) },
        Scene {
            files: Files::Kept,
            noises: vec![TRAFFIC, Noise::LogNormal(0.05)],
            ..scene("files never renewed", equal())
        },
        // About two rounds to a renewal: then it is the unit.
        Scene { renew_ns: 1e7, ..scene("renewals are dear", equal()) },
        Scene { files: Files::Own(2), ..scene("two cells a file", mixed.clone()) },
        Scene { files: Files::Shared, ..scene("losers leave, one file", mixed.clone()) },
        // About twenty rounds: who is far behind is given up, or measured each round to the end.
        Scene {
            seconds: k as u64,
            unit_ns: 2e7,
            files: Files::Shared,
            ..scene("losers leave, short budget", mixed)
        },
    ]
}

/// What came of many runs.
#[derive(Default)]
struct Tally {
    /// At some look, or concluded.
    wrong: u32,
    /// Concluded.
    at_last: u32,
    unsound: u32,
    /// Cells that left the rounds as proven slower, and those that were given up.
    proven: usize,
    dropped: usize,
    /// Runs whose unit was not the round.
    epochs: u32,
    /// Runs that their budget ended.
    spent: u32,
}

fn tally(scene: &Scene, runs: u32) -> Tally {
    let mut tally = Tally::default();
    for seed in 1..=u64::from(runs) {
        let told = scene.run(seed);
        tally.wrong += u32::from(told.ever_wrong || told.wrong);
        tally.at_last += u32::from(told.wrong);
        tally.unsound += u32::from(told.kind() == AnswerKind::Invalid);
        tally.proven += told.left(ExclusionReason::Proven);
        tally.dropped += told.left(ExclusionReason::Screened);
        tally.epochs += u32::from(told.out.calibration.epoch_rounds > 1);
        tally.spent += u32::from(told.out.stopped == Stopped::Budget);
    }
    tally
}

fn holds(scene: &Scene, runs: u32) {
    let Tally { wrong, at_last, unsound, proven, dropped, epochs, spent } = tally(scene, runs);
    let (k, name) = (scene.truth.len(), &scene.name);
    println!(
        "A/A, k {k}, {name}: {wrong} / {runs}; at the end {at_last}, unsound {unsound}, \
         left {proven}, dropped {dropped}"
    );
    assert!(wrong <= most(runs, 0.05), "k {k}, {name}: {wrong} of {runs}");
    assert!(unsound <= most(runs, 0.01), "k {k}, {name}: {unsound} of {runs} unsound");
    assert!(scene.renew_ns < 1e6 || epochs > 0, "the round was the unit");
    // A budget that no run reaches made a scene the same as the one before it.
    assert!(scene.seconds >= 600 || spent > runs / 2, "k {k}, {name}: {spent} of {runs} by budget");
}

fn all_hold(k: usize, rounds: u32, few: u32) {
    for (name, noises) in noises(rounds) {
        holds(&Scene::new(name, vec![1.0; k], &noises, rounds), runs(few));
    }
}

fn all_happenings_hold(k: usize, rounds: u32, few: u32) {
    happenings(k, rounds).iter().for_each(|scene| holds(scene, runs(few)));
}

#[test]
fn two_equal_cells() {
    all_hold(2, 60, 200);
}

#[test]
fn six_equal_cells() {
    all_hold(6, 60, 60);
}

#[test]
fn twenty_four_equal_cells() {
    all_hold(24, 40, 10);
}

#[test]
fn two_cells_whatever_happens() {
    all_happenings_hold(2, 60, 200);
}

#[test]
fn six_cells_whatever_happens() {
    all_happenings_hold(6, 60, 60);
}

#[test]
fn twenty_four_cells_whatever_happens() {
    all_happenings_hold(24, 40, 10);
}
