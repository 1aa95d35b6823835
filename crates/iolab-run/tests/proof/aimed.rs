//! A run that is for something else than its own answers.

use std::cell::Cell;

use iolab_model::result::Phase;
use iolab_run::{History, Outcome, Policy, StopSignal, Stopped, drive_by};
use iolab_test::virtual_machine::{Noise, PlanShape, plan};

use crate::drive::{machine, shape};

/// Wants the first two of four equal cells until they have so many steady rounds.
fn wanting(rounds: usize, asked: &Cell<u32>) -> Policy<'_> {
    let aim = move |out: &Outcome| {
        asked.set(asked.get() + 1);
        (0..out.cells.len()).map(|cell| cell < 2 && steady(out, cell) < rounds).collect()
    };
    Policy { aim: Some(Box::new(aim)), ..Policy::default() }
}

fn steady(out: &Outcome, cell: usize) -> usize {
    out.cells[cell].samples.iter().filter(|s| s.phase == Phase::Steady).count()
}

fn run(shape: &PlanShape, wanted: usize, history: Option<History>) -> (Outcome, u32) {
    let (plan, asked) = (plan(shape), Cell::new(0));
    let mut machine = machine(&[1e5; 4]);
    machine.noises = vec![Noise::LogNormal(0.02)];
    let policy = wanting(wanted, &asked);
    let stop = || StopSignal::None;
    let out = drive_by(&policy, &plan, &mut machine, &mut [], history, &stop).unwrap();
    (out, asked.get())
}

/// Four files were read to the end of the budget for the sake of two: what is wanted no more leaves,
/// and the run ends when it has what it is for, whatever its own answer still waits for.
#[test]
fn the_time_goes_to_the_cells_that_are_wanted() {
    for own_instances in [true, false] {
        let shape = PlanShape { own_instances, ..shape(4, 60) };
        let (out, asked) = run(&shape, 60, None);
        assert_eq!(out.stopped, Stopped::Resolved);
        let rounds: Vec<usize> = (0..4).map(|cell| steady(&out, cell)).collect();
        assert!(rounds[..2].iter().all(|n| (60..120).contains(n)), "{rounds:?}");
        // All have those of a table, and no more than until it was asked first.
        assert!(rounds[2..].iter().all(|n| (6..30).contains(n)), "{rounds:?}");
        assert!(asked >= 2 && out.complete());
        // What left was decided, not given up: its samples count as any others.
        assert!(out.cells.iter().all(|cell| cell.left.is_none()));
    }
}

#[test]
fn a_number_of_rounds_is_done_whatever_is_wanted() {
    let mut fixed = shape(4, 600);
    fixed.protocol.rounds = Some(15);
    let (out, asked) = run(&fixed, 0, None);
    assert_eq!((out.stopped, out.steady_rounds, asked), (Stopped::Rounds, 15, 0));
}

/// Of a run that is gone on with, what is decided leaves before its first round.
#[test]
fn going_on_measures_what_is_open_alone() {
    let (first, _) = run(&shape(4, 60), 20, None);
    let before: Vec<usize> = (0..4).map(|cell| steady(&first, cell)).collect();
    let history = || History {
        cells: first.cells.clone(),
        twin: first.twin.clone(),
        epoch_rounds: first.calibration.epoch_rounds,
        elapsed_ns: first.elapsed_ns,
    };
    let (more, _) = run(&shape(4, 120), before[0] + 40, Some(history()));
    assert!((0..2).all(|cell| steady(&more, cell) >= before[cell] + 40));
    assert!((2..4).all(|cell| steady(&more, cell) == before[cell]), "{before:?}");
    let (none, _) = run(&shape(4, 120), 0, Some(history()));
    assert_eq!((none.stopped, none.steady_rounds), (Stopped::Resolved, first.steady_rounds));
}
