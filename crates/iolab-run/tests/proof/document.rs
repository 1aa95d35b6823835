//! What an outcome says as a document.

use iolab_model::catalog::Code;
use iolab_model::result::{Environment, Phase, RunInfo, Sample};
use iolab_run::{StopSignal, document, drive};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

/// Outliers were once counted in the answer alone: no trial bore the flag, so that every chart
/// said "no outlier" and the flags of every table were empty.
#[test]
fn trials_bear_the_flag_that_the_answer_counts() {
    let mut shape = PlanShape::new(3, 7);
    shape.protocol.rounds = Some(60);
    let plan = plan(&shape);
    let noises = [Noise::LogNormal(0.01), Noise::Spikes(0.05)];
    let mut machine = VirtualMachine::new(vec![1e5, 2e5, 4e5], 11).with(&noises);
    let outcome = drive(&plan, &mut machine, &mut [], None, &|| StopSignal::None).unwrap();
    let documented = |outcome: iolab_run::Outcome| {
        document(&plan, outcome, RunInfo::default(), Environment::default())
    };
    let mut again = outcome.clone();
    // What an earlier end of a resumed run took for an outlier.
    let early = again.cells[0].samples.iter_mut().find(|s| s.phase != Phase::Steady).unwrap();
    early.measurement.flags.push(Code::Outlier);
    for outcome in [outcome, again] {
        let run = documented(outcome);
        let outlier = |s: &&Sample| s.measurement.flags.contains(&Code::Outlier);
        let flagged: Vec<&Sample> =
            run.cells.iter().flat_map(|c| &c.samples).filter(outlier).collect();
        assert!(flagged.iter().all(|s| s.phase == Phase::Steady));
        let warnings = &run.answers[0].warnings;
        let told = &warnings.iter().find(|w| w.code == Code::Outlier).unwrap().text;
        assert!(told.starts_with(&format!("{} of ", flagged.len())), "{told}");
        // Those that lie far above the median of their cell, not their neighbours.
        for cell in &run.cells {
            let median = cell.estimate.as_ref().unwrap().wall_ns.median;
            let mut all = cell.samples.iter().filter(|s| s.phase == Phase::Steady);
            assert!(all.all(|s| { s.measurement.wall_ns as f64 <= 2.0 * median || outlier(&s) }));
        }
    }
}
