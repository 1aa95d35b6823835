//! What is promised for a budget or an option: a known ratio is decided right, `--precision` is reached
//! and holds, and whatever is open ends in a pick with its bound or says what is missing to one.

use iolab_model::catalog::SlowerForm;
use iolab_model::plan::Plan;
use iolab_model::result::{Answer, AnswerKind};
use iolab_run::{Outcome, StopSignal, Stopped, conclude, drive};
use iolab_stats::claims::fewest_rounds;
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

use crate::scene::{Files, INSTANCE, Scene, most, runs};

/// A loop of 100 passes against one of 105, the ratio that everybody can make.
#[test]
fn a_known_ratio_of_100_to_105_is_decided_right() {
    let runs = runs(100);
    for (name, noises, files) in [
        ("one file", vec![Noise::LogNormal(0.03)], Files::Shared),
        ("a file each", vec![INSTANCE, Noise::LogNormal(0.03)], Files::Own(1)),
        ("spikes", vec![Noise::LogNormal(0.02), Noise::Spikes(0.05)], Files::Shared),
    ] {
        let mut scene = Scene::new(name, vec![1.05, 1.0], &noises, 2000);
        (scene.files, scene.seconds, scene.unit_ns, scene.around_ns) = (files, 30, 2e5, 2e6);
        scene.look_every = None;
        let (mut right, mut wrong) = (0, 0);
        for seed in 1..=u64::from(runs) {
            let answer = scene.run(seed).concluded.answers.remove(0);
            let slower = answer.regret_of("c0").unwrap();
            let covers = slower.low <= 1.05 && slower.high.is_none_or(|high| high >= 1.05);
            // The winner, or within what matters of it: then the run may end before that is shown.
            let within = answer.pick.as_ref().is_some_and(|pick| pick.at_most <= 1.02);
            let named = answer.leader() == Some("c1") && (answer.best.len() == 1 || within);
            right += u32::from(named && covers);
            wrong += u32::from(!covers || answer.best == ["c0"]);
        }
        println!("100 against 105, {name}: right {right} / {runs}, wrong {wrong}");
        assert!(wrong <= most(runs, 0.05), "{name}: {wrong} of {runs} are wrong");
        assert!(right * 100 >= runs * 95, "{name}: {right} of {runs} are decided right");
    }
}

fn with_precision(precision: f64, seed: u64) -> (Plan, Outcome) {
    let mut shape = PlanShape { own_instances: false, ..PlanShape::new(2, seed) };
    shape.protocol.precision = precision;
    let plan = plan(&shape);
    let mut machine = VirtualMachine::new(vec![1e5, 1.3e5], seed).with(&[Noise::LogNormal(0.015)]);
    let out = drive(&plan, &mut machine, &mut [], None, &|| StopSignal::None).unwrap();
    (plan, out)
}

/// A run with `--precision 0.5%` ends when the runner-up is known so well, and then it is.
#[test]
fn a_precision_that_is_asked_for_is_reached_and_holds() {
    let runs = runs(60);
    let mut rounds = Vec::new();
    for precision in [0.05, 0.01, 0.005] {
        let (mut missed, mut taken) = (0, 0);
        for seed in 1..=u64::from(runs) {
            let (plan, out) = with_precision(precision, seed);
            assert_eq!(out.stopped, Stopped::Resolved, "{precision}, seed {seed}");
            let answer = conclude(&plan, &out).answers.remove(0);
            let next = answer.regret_of("c1").unwrap();
            let high = next.high.unwrap();
            let half = (high.ln() - next.low.ln()) / 2.0;
            assert!(half <= precision.ln_1p() + 1e-9, "{precision}, seed {seed}: ±{half}");
            missed += u32::from(!(next.low - 1e-5..=high + 1e-5).contains(&1.3));
            taken += out.steady_rounds;
        }
        println!("precision {precision}: missed {missed} / {runs}, {} rounds", taken / runs);
        assert!(missed <= most(runs, 0.05), "{precision}: {missed} of {runs} miss the truth");
        rounds.push(taken);
    }
    assert!(rounds[0] < rounds[1] && 2 * rounds[1] < rounds[2], "{rounds:?}");
}

/// The first so many steady rounds of a run, concluded.
fn after(plan: &Plan, out: &Outcome, rounds: u32) -> Answer {
    let mut seen = out.clone();
    seen.cells.iter_mut().for_each(|cell| {
        cell.samples.retain(|sample| sample.round < rounds + 3);
        cell.left = None;
    });
    seen.twin.retain(|trial| trial.sample.round < rounds + 3);
    seen.steady_rounds = rounds;
    conclude(plan, &seen).answers.remove(0)
}

fn says_what_it_knows(answer: &Answer, fewest: u32, context: &str) {
    let said = &answer.sentence;
    match &answer.pick {
        Some(pick) => {
            // Either form: the column above may be of factors.
            let bounds = [SlowerForm::Percent, SlowerForm::Factor];
            let bounds = bounds.map(|form| form.text(1.0, Some(pick.at_most)));
            let named = bounds.iter().any(|bound| said.contains(bound.as_str()));
            assert!(named, "{context}: {pick:?} is not in {said:?}");
        }
        None if answer.rounds < fewest => {
            let missing = format!("where a bound takes {fewest}");
            assert!(said.contains(&missing), "{context}: {said}");
        }
        None => panic!("{context}: no pick, where {fewest} rounds allow one: {said}"),
    }
}

/// "Which of A and B is best is open after 9 steady rounds; the rest is slower": what to take was left
/// out, though a bound of it was known.
#[test]
fn what_is_open_has_a_pick_with_its_bound_or_says_what_a_bound_takes() {
    let (mut open, mut early) = (0, 0);
    for k in [2_usize, 3, 6, 12] {
        let fewest = fewest_rounds((2.0 * (k as f64 - 1.0) / 0.05).ln());
        for (kind, sigma) in [(0, 0.05), (1, 0.05), (2, 0.3), (1, 0.3)] {
            let truth: Vec<f64> = match kind {
                0 => vec![1e5; k],
                1 => (0..k).map(|c| 1e5 * (1.0 + 0.02 * c as f64)).collect(),
                _ => (0..k).map(|c| if c < 2 { 1e5 } else { 1.6e5 }).collect(),
            };
            for seed in 1..=6 {
                let mut shape = PlanShape { own_instances: false, ..PlanShape::new(k, seed) };
                (shape.eliminate, shape.protocol.rounds) = (false, Some(26));
                let plan = plan(&shape);
                let noises = [Noise::LogNormal(sigma)];
                let mut machine = VirtualMachine::new(truth.clone(), seed).with(&noises);
                let stop = || StopSignal::None;
                let out = drive(&plan, &mut machine, &mut [], None, &stop).unwrap();
                for rounds in 1..=26 {
                    let answer = after(&plan, &out, rounds);
                    if answer.kind != AnswerKind::Undecided {
                        continue;
                    }
                    open += 1;
                    early += u32::from(answer.pick.is_none());
                    let context = format!("k {k}, kind {kind}, σ {sigma}, seed {seed}, {rounds}");
                    says_what_it_knows(&answer, fewest, &context);
                }
            }
        }
    }
    println!("open {open}, of them too early for a bound {early}");
    assert!(early > 100 && open > 3 * early / 2, "{open} {early}");
}
