//! Proof of coverage (docs: the protocol, proof 3): the bounds of every cell hold the truth when a run
//! stops, and "within δ" is not said of what is not.

use iolab_model::result::AnswerKind;
use iolab_test::virtual_machine::Noise;

use crate::scene::{INSTANCE, Scene, most, runs};

const FEW: u32 = 60;
const DELTA: f64 = 0.02;

#[test]
fn bounds_hold_the_truth_when_the_run_stops() {
    let noises: [(&str, Vec<Noise>); 5] = [
        ("lognormal 5 %", vec![INSTANCE, Noise::LogNormal(0.05)]),
        ("Pareto spikes", vec![INSTANCE, Noise::LogNormal(0.02), Noise::Spikes(0.1)]),
        ("the last of 64 ranks", vec![INSTANCE, Noise::LastOf(64, 0.05)]),
        ("a shape of its own in each cell", vec![Noise::Mixed]),
        ("the same, files faster by traffic", vec![Noise::Mixed, Noise::Traffic(0.05)]),
    ];
    let runs = runs(FEW);
    for ratio in [1.01, 1.02, 1.05, 1.1, 1.5, 2.0] {
        for (name, noises) in &noises {
            let scene = Scene::new(name, vec![1.0, ratio, 1.0, ratio * ratio], noises, 100);
            let misses = |seed: &u64| {
                let told = scene.run(*seed);
                told.ever_wrong || told.wrong
            };
            let wrong = (1..=u64::from(runs)).filter(misses).count() as u32;
            println!("coverage, {ratio}, {name}: {wrong} / {runs}");
            assert!(wrong <= most(runs, 0.05), "{ratio}, {name}: {wrong} of {runs}");
        }
    }
}

/// The cheaper cell is slower by a hair more than δ: it is not to be had as "within δ".
#[test]
fn a_difference_that_matters_is_not_called_none() {
    let noises = [Noise::LogNormal(0.005), Noise::Instance(0.002)];
    let said = |ratio: f64, runs: u32| {
        let scene = Scene::new("", vec![ratio, 1.0], &noises, 200);
        let within = |seed: &u64| {
            let told = scene.run(*seed);
            let answer = &told.concluded.answers[0];
            let cheap = answer.pick.as_ref().is_some_and(|pick| &*pick.cell == "c0");
            let bounded = told.at_most().is_some_and(|ratio| ratio <= 1.0 + DELTA);
            (cheap && bounded) || answer.kind == AnswerKind::Tie
        };
        (1..=u64::from(runs)).filter(within).count() as u32
    };
    let runs = runs(5 * FEW);
    let wrong = said(1.0 + DELTA + 1e-4, runs);
    println!("false \"within δ\" at 1 + δ: {wrong} / {runs}");
    assert!(wrong <= most(runs, 0.05), "{wrong} of {runs}");
    // The test can see the word at all.
    let right = said(1.0, 100);
    assert!(right >= 95, "{right} of 100 pairs of equal cells are within δ");
}
