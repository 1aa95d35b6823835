//! Places are instances: whatever is touched more often is faster for that, and two equal places are
//! not told apart by it.

use iolab_model::catalog::{Factor, Level};
use iolab_model::plan::Plan;
use iolab_run::{Policy, StopSignal, conclude, drive_by};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

use crate::guarantee::TRAFFIC;
use crate::scene::{most, runs};

/// Two images of one file system, on each the same two methods.
fn on_two_places(seed: u64) -> Plan {
    let mut shape = PlanShape { cells_a_file: 2, ..PlanShape::new(4, seed) };
    shape.protocol.rounds = Some(60);
    let mut plan = plan(&shape);
    plan.ask = vec![Factor::Place, Factor::Method];
    for (at, cell) in plan.cells.iter_mut().enumerate() {
        let place = ["ext4", "ext4:noatime"][at / 2];
        cell.levels.set(Factor::Place, Level::word(place));
        cell.levels.set(Factor::Method, Level::word(["pread", "mmap"][at % 2]));
    }
    plan
}

/// Whether the same method on the other place is ever shown to be no best, and how often the places were
/// made.
fn told_apart(seed: u64, twin_of: Option<usize>) -> (bool, u32) {
    let plan = on_two_places(seed);
    let noises = [TRAFFIC, Noise::LogNormal(0.001)];
    let mut machine = VirtualMachine::new(vec![1e5, 1.4e5, 1e5, 1.4e5], seed).with(&noises);
    // The slow method fails on one of the places: what stays there must be touched as often.
    machine.failing.insert(1, 6);
    let policy = Policy { twin_of, ..Policy::default() };
    let stop = || StopSignal::None;
    let out = drive_by(&policy, &plan, &mut machine, &mut [], None, &stop).unwrap();
    let answer = conclude(&plan, &out).answers.remove(0);
    let may_be = |id: &str| answer.best.iter().any(|best| best == id);
    (!(may_be("c0") && may_be("c2")), 1 + machine.makings)
}

/// Images of one file system were told apart: the twin touched one of them twice a round.
#[test]
fn a_place_with_more_traffic_is_told_apart_by_a_fixed_twin_and_by_nothing_else() {
    let runs = runs(100);
    let of = |twin_of| {
        let all: Vec<(bool, u32)> =
            (1..=u64::from(runs)).map(|seed| told_apart(seed, twin_of)).collect();
        let fewest = all.iter().map(|(_, makings)| *makings).min().unwrap();
        (all.iter().filter(|(apart, _)| *apart).count() as u32, fewest)
    };
    let (wrong, makings) = of(None);
    let (mutated, _) = of(Some(0));
    println!("two places, one method failing: {wrong} / {runs}; a fixed twin: {mutated}");
    assert!(makings >= 5, "places are made {makings} times");
    assert!(wrong <= most(runs, 0.05), "{wrong} of {runs} runs tell two equal places apart");
    assert!(mutated > most(runs, 0.05), "the proof does not see it: {mutated} of {runs}");
}
