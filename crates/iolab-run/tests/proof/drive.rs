//! The driver on a virtual machine: what a run promises whatever happens in it.
#![allow(clippy::unwrap_used)]

use std::cell::Cell as Counter;
use std::collections::BTreeMap;

use iolab_agent::Extent;
use iolab_model::catalog::Code;
use iolab_model::plan::Plan;
use iolab_model::result::{Fault, Phase};
use iolab_run::{
    DriveError, Event, ExclusionReason, Observer, Outcome, StopSignal, Stopped, drive,
};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

const NOISE: &[Noise] = &[Noise::LogNormal(0.02), Noise::Instance(0.1)];

pub fn go_on() -> StopSignal {
    StopSignal::None
}

pub fn run(plan: &Plan, machine: &mut VirtualMachine) -> Outcome {
    drive(plan, machine, &mut [], None, &go_on).unwrap()
}

/// A shape with a budget in seconds.
pub fn shape(cells: usize, seconds: u64) -> PlanShape {
    let mut shape = PlanShape::new(cells, 7);
    shape.protocol.budget_ns = seconds * 1_000_000_000;
    shape
}

pub fn machine(times: &[f64]) -> VirtualMachine {
    let mut machine = VirtualMachine::new(times.to_vec(), 11).with(NOISE);
    machine.keep_asked = true;
    machine
}

/// Slots of each round in the order they ran; the twin is the number of cells.
pub fn orders(out: &Outcome) -> BTreeMap<u32, Vec<usize>> {
    let mut rounds: BTreeMap<u32, BTreeMap<u32, usize>> = BTreeMap::new();
    let own = out.cells.iter().enumerate();
    let own = own.flat_map(|(cell, c)| c.samples.iter().map(move |s| (cell, s)));
    let twin = out.twin.iter().map(|t| (out.cells.len(), &t.sample));
    for (slot, s) in own.chain(twin) {
        assert!(rounds.entry(s.round).or_default().insert(s.position, slot).is_none());
    }
    rounds.into_iter().map(|(r, o)| (r, o.into_values().collect())).collect()
}

#[test]
fn each_round_runs_every_cell_once_and_one_of_them_twice_in_fresh_random_orders() {
    let plan = plan(&shape(4, 60));
    let mut machine = machine(&[1e5; 4]);
    let out = run(&plan, &mut machine);
    let orders = orders(&out);
    assert!(orders.len() >= 23);
    for order in orders.values() {
        let mut sorted = order.clone();
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
    }
    // Which one is drawn anew each round.
    let drawn: Vec<usize> = out.twin.iter().map(|t| t.cell).collect();
    assert!((0..4).all(|cell| drawn.iter().filter(|d| **d == cell).count() >= drawn.len() / 12));
    let distinct: std::collections::BTreeSet<_> = orders.values().collect();
    assert!(distinct.len() > 15, "{}", distinct.len());
    for cell in &out.cells {
        assert_eq!(cell.samples[0].phase, Phase::First);
        assert_eq!(cell.samples[2].phase, Phase::Warmup);
        assert_eq!(cell.samples[3].phase, Phase::Steady);
    }
    // Own instances are renewed each round, in random orders.
    assert!(out.calibration.epoch_rounds == 1 && out.epochs as usize == orders.len());
    let renewals: std::collections::BTreeSet<_> = machine.renewals.iter().collect();
    assert!(renewals.len() > 10);
}

#[test]
fn the_same_seed_runs_the_same_orders() {
    let plan = plan(&shape(5, 60));
    let a = run(&plan, &mut machine(&[1e5; 5]));
    let b = run(&plan, &mut machine(&[1e5; 5]));
    assert_eq!(orders(&a), orders(&b));
    assert_eq!(a.cells, b.cells);
}

#[test]
fn the_budget_is_kept_and_mostly_used_where_nothing_is_resolved() {
    for seconds in [5, 20, 60] {
        let plan = plan(&shape(6, seconds));
        let mut machine = machine(&[2e6; 6]);
        machine.noises.push(Noise::LogNormal(0.4));
        let out = run(&plan, &mut machine);
        assert_eq!(out.stopped, Stopped::Budget);
        let share = out.elapsed_ns as f64 / (seconds as f64 * 1e9);
        assert!((0.85..=1.0).contains(&share), "{seconds} s: {share}");
        assert!(out.warnings.is_empty(), "{:?}", out.warnings);
    }
}

#[test]
fn calibration_stays_under_a_tenth() {
    struct Calibration(Counter<u64>);
    impl Observer for Calibration {
        fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
            if let Event::Round { round: 0, elapsed_ns, .. } = event {
                self.0.set(*elapsed_ns);
            }
            Ok(())
        }
    }
    let plan = plan(&PlanShape { file_bytes: 1 << 30, ..shape(12, 30) });
    let mut machine = machine(&[3e5; 12]);
    machine.renew_ns = 2e6;
    let mut watch = Calibration(Counter::new(0));
    let out = drive(&plan, &mut machine, &mut [&mut watch], None, &go_on).unwrap();
    let round = out.calibration.round_ns;
    assert!(watch.0.get() - round < 3_000_000_000, "{}", watch.0.get());
}

#[test]
fn fixed_rounds_are_exactly_those() {
    let mut shape = shape(3, 60);
    shape.protocol.rounds = Some(17);
    let out = run(&plan(&shape), &mut machine(&[1e5, 2e5, 9e5]));
    assert_eq!((out.stopped, out.steady_rounds), (Stopped::Rounds, 17));
    assert!(out.cells.iter().all(|c| c.samples.len() == 20 && c.left.is_none()));
}

#[test]
fn a_long_pass_is_bounded_and_the_whole_file_is_visited_in_turn() {
    let shape = PlanShape { file_bytes: 64 << 20, own_instances: false, ..shape(2, 60) };
    let plan = plan(&shape);
    let mut machine = machine(&[5e6, 5.1e6]);
    machine.operations_per_pass = 1024;
    let out = run(&plan, &mut machine);
    let sample = &out.cells[0].samples[5];
    assert!(sample.measurement.flags.contains(&Code::Bounded));
    assert!(sample.measurement.wall_ns < 900_000_000);
    // Each round goes on where the last one ended, wrapping, and all cells do the same part: without
    // the second trial of a cell, which is of its round too.
    let firsts = |cell: usize| -> Vec<(u64, u64)> {
        let of_cell = machine.asked.iter().filter(|(c, r, _)| *c == cell && r.is_some());
        of_cell
            .map(|(_, _, e)| match e {
                Extent::Part { first_operation, operations } => (*first_operation, *operations),
                Extent::Passes(_) => panic!("not bounded"),
            })
            .collect()
    };
    let twice = |cell: usize| out.twin.iter().filter(|t| t.cell == cell).count();
    assert_eq!(firsts(0).len() - twice(0), firsts(1).len() - twice(1));
    let once = |cell: usize| {
        let mut all = firsts(cell);
        all.dedup();
        all
    };
    let one = once(1);
    assert_eq!(one, once(0));
    for pair in one.windows(2) {
        assert_eq!(pair[1].0, (pair[0].0 + pair[0].1) % 1024);
    }
    assert!(one.iter().map(|f| f.1).sum::<u64>() > 1024);
}

#[test]
fn cold_trials_are_one_pass_and_repeated_ones_reach_the_shortest_time() {
    let cold = plan(&PlanShape { cache: Some("cold"), ..shape(2, 60) });
    let mut coarse = machine(&[100.0, 200.0]);
    coarse.facts.resolution_ns = 10.0;
    let out = run(&cold, &mut coarse);
    assert!(out.cells[0].samples.iter().all(|s| s.measurement.repetitions == 1));
    assert!(out.cells[0].samples[4].measurement.flags.contains(&Code::TimerLimited));
    assert_eq!(out.epochs, 0, "nothing is primed for cold cells");
    let warm = plan(&shape(2, 60));
    let out = run(&warm, &mut machine(&[100.0, 200.0]));
    let first = &out.cells[0].samples[4].measurement;
    assert!(first.wall_ns > 700_000 && first.repetitions > 100);
    assert_eq!(first.repetitions, out.cells[1].samples[4].measurement.repetitions);
    assert!(first.flags.is_empty());
}

#[test]
fn unequal_work_is_flagged() {
    let out = run(&plan(&shape(2, 60)), &mut machine(&[1.0, 1e6]));
    let flags = |c: usize| &out.cells[c].samples[4].measurement.flags;
    assert!(flags(0).contains(&Code::UnequalWork) && flags(1).contains(&Code::UnequalWork));
}

#[test]
fn failing_and_hanging_cells_are_dropped_and_harm_no_other() {
    let plan = plan(&shape(5, 60));
    let mut machine = machine(&[1e5; 5]);
    machine.failing.insert(1, 0);
    machine.failing.insert(2, 8);
    machine.hanging.insert(3, 6);
    let out = run(&plan, &mut machine);
    let left = |c: usize| out.cells[c].left.as_ref().unwrap();
    assert_eq!((left(1).why, out.cells[1].samples.len()), (ExclusionReason::Failed, 0));
    // The third failure in a row, in round 10 at the latest: one may be its second trial of a round.
    assert!(left(2).why == ExclusionReason::Failed && (9..=10).contains(&left(2).round));
    assert!(left(2).reason.contains("SIGSEGV"), "{}", left(2).reason);
    assert!(left(3).reason.contains("time limit"));
    let lost = &out.cells[2].samples[8];
    assert!(lost.fault.is_some() && !lost.counts());
    assert!(lost.measurement.flags.contains(&Code::TrialFailed));
    assert!(out.cells[4].left.is_none() && out.cells[4].samples.iter().all(|s| s.counts()));
    assert!(out.complete());
}

#[test]
fn a_cell_that_hangs_from_the_start_does_not_eat_the_budget() {
    let plan = plan(&shape(3, 60));
    let mut machine = machine(&[1e5; 3]);
    machine.hanging.insert(2, 0);
    let out = run(&plan, &mut machine);
    assert_eq!(out.cells[2].left.as_ref().unwrap().why, ExclusionReason::Failed);
    assert!(out.steady_rounds >= 20);
}

#[test]
fn the_baseline_may_fail_too() {
    let plan = plan(&shape(3, 60));
    let mut machine = machine(&[1e5, 1e5, 1.5e5]);
    machine.failing.insert(0, 5);
    let out = run(&plan, &mut machine);
    assert_eq!(out.cells[0].left.as_ref().unwrap().why, ExclusionReason::Failed);
    assert!(out.complete() && out.steady_rounds >= 20);
    assert!(out.twin.iter().all(|t| t.cell != 0 || t.sample.round <= 7));
}

#[test]
fn a_cell_without_proof_leaves_with_the_reason() {
    let plan = plan(&shape(3, 60));
    let mut machine = machine(&[1e5; 3]);
    machine.unproven.push(1);
    let out = run(&plan, &mut machine);
    let left = out.cells[1].left.as_ref().unwrap();
    assert!(left.reason.contains("pages were still resident"), "{}", left.reason);
    let twice = out.twin.iter().filter(|t| t.cell == 1).count();
    assert_eq!(out.cells[1].samples.len() + twice, 10);
}

#[test]
fn nothing_left_ends_the_run() {
    let plan = plan(&shape(2, 60));
    let mut machine = machine(&[1e5; 2]);
    machine.failing.extend([(0, 0), (1, 0)]);
    assert_eq!(run(&plan, &mut machine).stopped, Stopped::NothingLeft);
    let mut skipped = plan.clone();
    skipped.cells.iter_mut().for_each(|c| c.skip = Some("needs root: use sudo".into()));
    let error = drive(&skipped, &mut machine, &mut [], None, &go_on).unwrap_err();
    assert!(error.to_string().contains("needs root"), "{error}");
}

#[test]
fn too_small_a_budget_says_how_much_would_do() {
    let plan = plan(&PlanShape { file_bytes: 1 << 30, ..shape(24, 1) });
    let mut machine = machine(&[2e6; 24]);
    machine.around_ns = 5e6;
    let out = run(&plan, &mut machine);
    let warning = &out.warnings[0];
    assert_eq!(warning.code, Code::InsufficientBudget);
    assert!(warning.text.contains("telling all apart takes at least about"), "{}", warning.text);
    assert!(out.elapsed_ns < 1_500_000_000, "{}", out.elapsed_ns);
    let needed = out.calibration.needed_ns.unwrap();
    let mut enough = plan.clone();
    enough.protocol.budget_ns = needed;
    machine.trials = 0;
    let mut fresh = VirtualMachine::new(vec![2e6; 24], 12).with(NOISE);
    fresh.around_ns = 5e6;
    let out = run(&enough, &mut fresh);
    assert!(out.warnings.is_empty(), "{:?}", out.warnings);
    assert!(out.steady_rounds >= 17);
}

/// `files copy` beside `cp` took 93 s of a budget of 20 s: its first round had no end.
#[test]
fn a_first_round_that_takes_more_than_all_of_the_budget_is_broken_off() {
    let plan = plan(&shape(10, 10));
    let mut machine = machine(&[1e6; 10]);
    machine.around_ns = 1.4e9;
    let out = run(&plan, &mut machine);
    assert_eq!(out.stopped, Stopped::Budget);
    // Ten pilots are 14 s, and a trial more.
    assert!(out.elapsed_ns < 17_000_000_000, "{}", out.elapsed_ns);
    assert!(out.warnings.iter().any(|w| w.code == Code::InsufficientBudget));
}

/// "About 7 rounds fit, and an answer takes 20" stood before runs of 74 rounds.
#[test]
fn what_pilots_made_once_is_in_no_forecast() {
    let plan = plan(&shape(4, 20));
    let mut machine = machine(&[1e6, 1.001e6, 1.002e6, 1.003e6]);
    machine.pilot_around_ns = 450e6;
    let out = run(&plan, &mut machine);
    let short = out.warnings.iter().find(|w| w.code == Code::InsufficientBudget);
    assert!(out.steady_rounds > 40 && short.is_none(), "{} {short:?}", out.steady_rounds);
    assert_eq!(out.calibration.needed_ns, None);
}

#[test]
fn a_short_budget_shortens_trials_rather_than_giving_up() {
    let shape = PlanShape { file_bytes: 1 << 30, ..shape(6, 8) };
    let plan = plan(&shape);
    let mut machine = machine(&[1e5; 6]);
    machine.renew_ns = 3e7;
    machine.operations_per_pass = 16384;
    let out = run(&plan, &mut machine);
    assert!(out.warnings.is_empty(), "{:?}", out.warnings);
    assert!(out.steady_rounds >= 12, "{}", out.steady_rounds);
    assert!(out.calibration.trial_max_ns >= out.calibration.trial_min_ns);
}

#[test]
fn answers_that_are_resolved_give_their_time_to_the_rest() {
    let plan = plan(&PlanShape { conditions: 2, ..shape(2, 20) });
    let mut machine = machine(&[1e5, 2e5, 1e5, 1.0e5]);
    machine.noises = vec![Noise::LogNormal(0.05)];
    let out = run(&plan, &mut machine);
    assert!(out.cells[0].samples.len() < out.cells[2].samples.len());
}

#[test]
fn a_renewal_that_fails_once_is_asked_for_again() {
    let plan = plan(&shape(3, 60));
    let mut flaky = machine(&[1e5; 3]);
    flaky.renewals_lost = vec![0, 7, 9];
    assert!(run(&plan, &mut flaky).complete());
    let mut broken = machine(&[1e5; 3]);
    broken.renewals_lost = (8..11).collect();
    let error = drive(&plan, &mut broken, &mut [], None, &go_on).unwrap_err();
    assert!(matches!(error, DriveError::Executor { .. }) && error.outcome().is_some());
}

#[test]
fn hundreds_of_cells_are_screened_and_stay_cheap() {
    let times: Vec<f64> = (0..300).map(|c| 1e5 * (1.0 + f64::from(c % 30) / 10.0)).collect();
    let plan = plan(&PlanShape { own_instances: false, ..shape(300, 60) });
    let mut wide = machine(&times);
    wide.noises = vec![Noise::LogNormal(0.01)];
    let out = run(&plan, &mut wide);
    let left = out.cells.iter().filter(|c| c.left.is_some()).count();
    assert!(left >= 200, "{left}");
    assert!(out.steady_rounds >= 17, "{}", out.steady_rounds);
}
