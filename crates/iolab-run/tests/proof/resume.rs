//! Runs that end before their time, and runs that are gone on with.

use std::cell::Cell as Counter;

use iolab_agent::Extent;
use iolab_model::plan::Plan;
use iolab_model::result::{Fault, Phase};
use iolab_run::{
    DriveError, Event, ExclusionReason, History, Observer, Outcome, StopSignal, Stopped, conclude,
    drive,
};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

use crate::drive::{go_on, machine, orders, shape};

fn history(out: &Outcome) -> History {
    History {
        cells: out.cells.clone(),
        twin: out.twin.clone(),
        epoch_rounds: out.calibration.epoch_rounds,
        elapsed_ns: out.elapsed_ns,
    }
}

/// Broken off after so many questions whether to go on.
fn broken_off(plan: &Plan, machine: &mut VirtualMachine, after: u32) -> Outcome {
    let asked = Counter::new(0u32);
    let stop = || {
        asked.set(asked.get() + 1);
        if asked.get() > after { StopSignal::Now } else { StopSignal::None }
    };
    drive(plan, machine, &mut [], None, &stop).unwrap()
}

#[test]
fn the_first_stop_ends_the_round_and_the_second_ends_now() {
    let plan = plan(&shape(4, 60));
    for signal in [StopSignal::AtRoundEnd, StopSignal::Now] {
        let asked = Counter::new(0u32);
        let stop = || {
            asked.set(asked.get() + 1);
            if asked.get() > 60 { signal } else { StopSignal::None }
        };
        let out = drive(&plan, &mut machine(&[1e5; 4]), &mut [], None, &stop).unwrap();
        assert_eq!((out.stopped, out.complete()), (Stopped::Interrupted, false));
        let last = orders(&out).into_values().last().unwrap();
        assert_eq!(last.len() == 5, signal == StopSignal::AtRoundEnd, "{last:?}");
    }
}

struct Full(u32);

impl Observer for Full {
    fn on(&mut self, event: &Event<'_>) -> Result<(), Fault> {
        if let Event::Trial { .. } = event {
            self.0 -= 1;
        }
        let cause = "No space left on device".to_owned();
        let doing = "write /store".to_owned();
        match self.0 {
            0 => Err(Fault { doing, cause, errno: Some(28), signal: None }),
            _ => Ok(()),
        }
    }
}

#[test]
fn a_failing_observer_or_machine_leaves_what_there_is() {
    let plan = plan(&shape(4, 60));
    let error =
        drive(&plan, &mut machine(&[1e5; 4]), &mut [&mut Full(42)], None, &go_on).unwrap_err();
    let DriveError::Observer { fault, outcome } = error else { panic!("{error}") };
    assert_eq!(fault.errno, Some(28));
    assert_eq!(outcome.stopped, Stopped::Failed);
    assert_eq!(
        outcome.cells.iter().map(|c| c.samples.len()).sum::<usize>() + outcome.twin.len(),
        41
    );

    let mut dying = machine(&[1e5; 4]);
    dying.dies_after = Some(80);
    let error = drive(&plan, &mut dying, &mut [], None, &go_on).unwrap_err();
    assert!(matches!(error, DriveError::Executor { .. }));
    assert!(error.outcome().unwrap().steady_rounds > 3);
}

#[test]
fn a_resumed_run_goes_on_where_it_stopped() {
    let shape = PlanShape { file_bytes: 64 << 20, own_instances: false, ..shape(3, 60) };
    let plan = plan(&shape);
    let asked = Counter::new(0u32);
    let stop = || {
        asked.set(asked.get() + 1);
        if asked.get() > 70 { StopSignal::Now } else { StopSignal::None }
    };
    let mut machine = machine(&[5e6, 5.1e6, 5.2e6]);
    machine.operations_per_pass = 1024;
    let part = drive(&plan, &mut machine, &mut [], None, &stop).unwrap();
    let history = History {
        cells: part.cells.clone(),
        twin: part.twin.clone(),
        epoch_rounds: part.calibration.epoch_rounds,
        elapsed_ns: part.elapsed_ns,
    };
    machine.asked.clear();
    machine.restart();
    let whole = drive(&plan, &mut machine, &mut [], Some(history), &go_on).unwrap();
    assert!(whole.complete());
    assert!(!machine.asked.is_empty());
    assert!(machine.asked.iter().all(|(_, round, _)| round.is_some()), "piloted again");
    for (before, after) in part.cells.iter().zip(&whole.cells) {
        assert_eq!(before.samples[..], after.samples[..before.samples.len()]);
    }
    let all = &whole.cells[0].samples;
    let first_new = part.cells[0].samples.len();
    assert_eq!(all[first_new].phase, Phase::Warmup);
    assert_eq!(all[first_new + 1].phase, Phase::Steady);
    assert!(all.windows(2).all(|w| w[0].round < w[1].round));
    let sizes: Vec<u64> = all.iter().map(|s| s.measurement.operations).collect();
    assert!(sizes.windows(2).all(|w| w[0] == w[1]), "the dose is frozen");
}

/// A run that was broken off in its first round had doses for some cells only; the others were sized
/// anew, by themselves, and did parts of another length.
#[test]
fn cells_of_one_round_do_the_same_part_wherever_a_run_was_broken_off() {
    let shape = PlanShape { file_bytes: 64 << 20, own_instances: false, ..shape(3, 60) };
    let plan = plan(&shape);
    for after in 5..9 {
        let mut machine = machine(&[5e6, 9e6, 5.2e6]);
        machine.noises = vec![Noise::LogNormal(0.2)];
        machine.operations_per_pass = 1024;
        let part = broken_off(&plan, &mut machine, after);
        assert_eq!(part.stopped, Stopped::Interrupted);
        machine.asked.clear();
        machine.restart();
        drive(&plan, &mut machine, &mut [], Some(history(&part)), &go_on).unwrap();
        let mut rounds = std::collections::BTreeMap::new();
        for (_, round, extent) in &machine.asked {
            let Some(round) = round else { continue };
            let Extent::Part { first_operation, operations } = extent else { panic!("whole") };
            let same = rounds.entry(*round).or_insert((*first_operation, *operations));
            assert_eq!(*same, (*first_operation, *operations), "after {after}, round {round}");
        }
        assert!(rounds.len() > 20);
    }
}

/// The claims hold at every moment, so a run that was resolved may be gone on with: what was proven
/// stays, and the cells that left stay away.
#[test]
fn a_finished_run_goes_on_with_its_claims() {
    let mut shape = PlanShape { own_instances: false, ..shape(4, 60) };
    let mut machine = machine(&[1e5, 1.004e5, 1.3e5, 2e5]);
    machine.noises = vec![Noise::LogNormal(0.02)];
    let first = drive(&plan(&shape), &mut machine, &mut [], None, &go_on).unwrap();
    assert_eq!(first.stopped, Stopped::Resolved);
    shape.protocol.rounds = Some(first.steady_rounds + 30);
    shape.protocol.budget_ns *= 2;
    let plan = plan(&shape);
    machine.restart();
    let more = drive(&plan, &mut machine, &mut [], Some(history(&first)), &go_on).unwrap();
    assert_eq!(more.steady_rounds, first.steady_rounds + 30);
    let gone =
        |out: &Outcome| -> Vec<bool> { out.cells.iter().map(|c| c.left.is_some()).collect() };
    assert_eq!((gone(&first), gone(&more)), (vec![false, false, true, true], gone(&first)));
    assert!(more.cells[3].left.as_ref().is_some_and(|l| l.why == ExclusionReason::Proven));
    let (before, after) = (conclude(&plan, &first), conclude(&plan, &more));
    let high = |c: &iolab_run::Conclusion| c.answers[0].regret[1].high.unwrap();
    assert!(high(&after) <= high(&before) && after.answers[0].rounds > before.answers[0].rounds);
}
