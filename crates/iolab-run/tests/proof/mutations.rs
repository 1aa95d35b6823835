//! What the guarantee rests on (docs: the protocol, proof 6): each choice taken away, and the proof of
//! `guarantee.rs` fails. Each is shown beside the protocol on the same machine, which passes.

use iolab_run::Policy;
use iolab_stats::claims::{Watch, hopeless, ln_evidence};
use iolab_stats::fixed_rank;
use iolab_test::virtual_machine::Noise;

use crate::guarantee::TRAFFIC;
use crate::scene::{Errs, Files, INSTANCE, Scene, most, runs};

const RUNS: u32 = 100;

fn equal(k: usize, noises: &[Noise]) -> Scene {
    Scene::new("", vec![1.0; k], noises, 60).until_the_end()
}

fn wrong(scene: &Scene, runs: u32, policy: fn() -> Policy<'static>, errs: Option<&Errs>) -> u32 {
    let seeds = 1..=u64::from(runs);
    seeds.filter(|seed| scene.run_by(*seed, policy(), errs).ever_wrong).count() as u32
}

/// The protocol passes the scene, the mutation does not.
fn must_fail(name: &str, scene: &Scene, policy: fn() -> Policy<'static>, errs: Option<&Errs>) {
    let runs = runs(RUNS);
    let sound = wrong(scene, runs, Policy::default, None);
    let mutated = wrong(scene, runs, policy, errs);
    println!("mutation, {name}: {mutated} / {runs} (the protocol: {sound})");
    assert!(sound <= most(runs, 0.05), "{name}: the protocol errs in {sound} of {runs}");
    assert!(mutated > most(runs, 0.05), "the proof does not see it: {name}: {mutated} of {runs}");
}

#[test]
fn a_fixed_order_fails() {
    let scene = equal(6, &[INSTANCE, Noise::LogNormal(0.02), Noise::FirstPosition(0.1)]);
    must_fail("fixed order", &scene, || Policy { shuffle: false, ..Policy::default() }, None);
}

#[test]
fn instances_kept_fail() {
    let scene = equal(2, &[INSTANCE, Noise::LogNormal(0.05)]);
    must_fail("instances kept", &scene, || Policy { renew: false, ..Policy::default() }, None);
}

/// Two byte-identical cached files were told apart in 16 of 16 runs, for the first was read twice a
/// round.
#[test]
fn a_twin_that_always_repeats_one_cell_fails() {
    let scene = equal(2, &[TRAFFIC, Noise::LogNormal(0.01)]);
    let fixed = || Policy { twin_of: Some(0), ..Policy::default() };
    must_fail("the twin always of one cell", &scene, fixed, None);
}

/// Two methods on each of two files; the second method is slow on the first file and leaves. Then
/// the second file has two visits a round and the first has one.
#[test]
fn an_excluded_cell_that_leaves_its_file_unvisited_fails() {
    let mut scene = equal(4, &[TRAFFIC, Noise::LogNormal(0.01)]);
    scene.truth = vec![1.0, 1.3, 1.0, 1.0];
    scene.files = Files::Own(2);
    let unequal = || Policy { equal_traffic: false, ..Policy::default() };
    must_fail("a file unvisited", &scene, unequal, None);
}

#[test]
fn parts_of_a_file_that_are_not_shared_fail() {
    let mut scene = equal(6, &[Noise::Regions(0.3), Noise::LogNormal(0.1)]);
    (scene.files, scene.unit_ns) = (Files::Bounded, 5e6);
    scene.fixed = 150.0;
    let own = || Policy { shared_ranges: false, ..Policy::default() };
    must_fail("ranges not shared", &scene, own, None);
}

/// Bar 1/α for every cell.
fn without_closure(watch: &Watch) -> bool {
    watch.ln_evidence().iter().any(|ln_e| *ln_e >= 20f64.ln())
}

#[test]
fn no_closure_fails() {
    let scene = equal(6, &[Noise::LogNormal(0.05)]);
    must_fail("no closure", &scene, Policy::default, Some(&without_closure));
}

/// Each cell against the fastest of the same round.
fn opponent_of_this_round(watch: &Watch) -> bool {
    let k = watch.ln_evidence().len();
    (0..k).any(|cell| {
        let d: Vec<Vec<f64>> =
            (0..k).filter(|j| *j != cell).map(|j| watch.contrast(cell, j)).collect();
        let n = watch.rounds();
        let longer = (0..n).filter(|r| d.iter().any(|d| d[*r] > 0.0)).count();
        ln_evidence(n as u32, longer as u32) >= (20.0 * k as f64).ln()
    })
}

#[test]
fn an_opponent_chosen_with_the_current_round_fails() {
    let scene = equal(6, &[Noise::LogNormal(0.05)]);
    must_fail("opponent of this round", &scene, Policy::default, Some(&opponent_of_this_round));
}

/// The exact 95 % interval of a fixed number of rounds, looked at after each.
fn fixed_interval(watch: &Watch) -> bool {
    let mut d = watch.contrast(0, 1);
    d.sort_unstable_by(f64::total_cmp);
    match fixed_rank(d.len() as u32, 0.05) as usize {
        0 => false,
        rank => d[rank - 1] > 0.0 || d[d.len() - rank] < 0.0,
    }
}

#[test]
fn a_fixed_interval_looked_at_every_round_fails() {
    let scene = equal(2, &[INSTANCE, Noise::LogNormal(0.05)]);
    must_fail("fixed-n while peeking", &scene, Policy::default, Some(&fixed_interval));
}

/// Four rounds far behind are taken for proof.
fn screening(watch: &Watch) -> bool {
    !hopeless(watch).is_empty()
}

#[test]
fn screening_that_names_a_winner_fails() {
    let scene = equal(24, &[Noise::LogNormal(0.02), Noise::BimodalTrial(0.4, 1.0)]);
    let scene = Scene { rounds: 12, ..scene };
    must_fail("screening as proof", &scene, Policy::default, Some(&screening));
}

/// The better of several runs: what one run does seldom, one of many does often.
#[test]
fn the_best_of_twenty_runs_fails() {
    let scene = equal(2, &[Noise::LogNormal(0.05)]);
    let runs = runs(RUNS / 2);
    let one = |seed: u64| scene.run(seed).ever_wrong;
    let seeds = 1..=u64::from(runs);
    let mutated =
        seeds.filter(|seed| (0..20).any(|again| one(10_000 * again + seed))).count() as u32;
    println!("mutation, the best of twenty runs: {mutated} / {runs}");
    assert!(mutated > most(runs, 0.05), "{mutated} of {runs}");
}
