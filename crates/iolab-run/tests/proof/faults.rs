//! Proof that what breaks a comparison is seen (the protocol, proof 5): each injected fault raises
//! its flag in at least 95 % of runs, and a sound machine raises it in at most 5 %.
#![allow(clippy::unwrap_used)]

use std::collections::BTreeMap;

use iolab_model::catalog::Code;
use iolab_model::result::AnswerKind;
use iolab_run::{Policy, drive_by};
use iolab_run::{StopSignal, conclude};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

use crate::scene::Scene;

const CELLS: usize = 4;

fn runs() -> u64 {
    crate::scene::runs(60).into()
}

const DELTA: f64 = 0.02;
const QUIET: Noise = Noise::LogNormal(0.01);

/// How many runs of so many rounds raised each code.
fn codes(noises: &[Noise], rounds: u32) -> BTreeMap<Code, u64> {
    let mut seen = BTreeMap::new();
    for seed in 1..=runs() {
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
    let seen = codes(&[QUIET, fault], rounds).get(&code).copied().unwrap_or(0);
    println!("fault {code}: seen {seen} / {}", runs());
    assert!(seen * 100 >= runs() * 95, "{code} after {fault:?}: only {seen} of {}", runs());
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
        Code::TwinBroken,
    ];
    let most = u64::from(crate::scene::most(runs() as u32, 0.05));
    for noises in sound {
        let seen = codes(noises, 60);
        println!("false alarms of {}, {noises:?}: {seen:?}", runs());
        for code in faults {
            let seen = seen.get(&code).copied().unwrap_or(0);
            assert!(seen <= most, "{code} with {noises:?}: {seen} of {}", runs());
        }
    }
}

/// What is claimed of a cell that was faster at first and slower later: nothing.
#[test]
fn a_contrast_that_crosses_is_not_claimed() {
    let fault = [QUIET, Noise::ContrastDrift(1, 0.12, 60)];
    let mut scene = Scene::new("", vec![1.06, 1.0, 1.06, 1.06], &fault, 60).until_the_end();
    scene.eliminate = false;
    let claimed = |seed: &u64| {
        let answer = &scene.run(*seed).concluded.answers[0];
        answer.kind == AnswerKind::Winner || answer.regret.iter().any(|r| r.excluded)
    };
    let wrong = (1..=runs()).filter(claimed).count() as u64;
    println!("crossing drift, claimed: {wrong} / {}", runs());
    assert!(wrong * 20 <= runs(), "{wrong} of {}", runs());
}

/// What one cell leaves behind makes those that follow it seem slower: claims as small as that are
/// withdrawn, larger ones stand.
#[test]
fn a_claim_that_what_was_left_behind_could_make_is_withdrawn() {
    let fault = [QUIET, Noise::CarryOver(1, 3.0 * DELTA)];
    let scene = Scene::new("", vec![1.0, 1.03, 1.0, 1.5], &fault, 60).until_the_end();
    let said = |seed: &u64| {
        let answer = &scene.run(*seed).concluded.answers[0];
        let excluded = |id: &str| answer.regret.iter().any(|r| &*r.cell == id && r.excluded);
        (excluded("c1"), excluded("c3"))
    };
    let said: Vec<(bool, bool)> = (1..=runs()).map(|seed| said(&seed)).collect();
    let small = said.iter().filter(|(small, _)| *small).count() as u64;
    let large = said.iter().filter(|(_, large)| *large).count() as u64;
    println!("carry-over, small claims kept {small} / {0}, large ones {large} / {0}", runs());
    assert!(small * 20 <= runs() && large * 20 >= runs() * 19, "{small} {large}");
}

#[test]
fn unequal_work_is_marked() {
    let marked = |truth: &[f64], seed: u64| {
        let scene = Scene::new("", truth.to_vec(), &[QUIET], 30);
        let answer = scene.run(seed).concluded.answers.remove(0);
        answer.warnings.iter().any(|w| w.code == Code::UnequalWork)
    };
    let found = (1..=runs()).filter(|seed| marked(&[1e-5, 10.0], *seed)).count() as u64;
    let false_alarms = (1..=runs()).filter(|seed| marked(&[1.0, 9.0], *seed)).count();
    println!("unequal work: {found} / {}, false alarms {false_alarms}", runs());
    assert!(found * 20 >= runs() * 19 && false_alarms == 0, "{found} {false_alarms}");
}
