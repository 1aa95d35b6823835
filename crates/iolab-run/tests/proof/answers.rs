//! What a run concludes on a virtual machine: answers, sentences, the document.
#![allow(clippy::unwrap_used)]

use iolab_model::catalog::{Code, Factor, Level};
use iolab_model::plan::Plan;
use iolab_model::result::{
    Answer, AnswerKind, CellStatus, Digest, Environment, Grade, MoreTime, Proof, RunInfo, Verdict,
};
use iolab_run::{Conclusion, Outcome, StopSignal, conclude, document, drive};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

fn shape(cells: usize, seconds: u64) -> PlanShape {
    let mut shape = PlanShape::new(cells, 5);
    shape.protocol.budget_ns = seconds * 1_000_000_000;
    shape
}

/// Names the cells of a plan as blocks of one method: 4 KiB, 16 KiB, …
fn as_blocks(mut plan: Plan) -> Plan {
    plan.ask = vec![Factor::Method, Factor::Block];
    for (at, cell) in plan.cells.iter_mut().enumerate() {
        cell.levels = cell.levels.only(|f| f != Factor::QueueDepth);
        cell.levels.set(Factor::Method, Level::word("pread"));
        cell.levels.set(Factor::Block, Level::Number(4096 << (2 * at)));
        cell.id = format!("pread/{}Ki", 4 << (2 * at));
    }
    plan
}

fn machine(times: &[f64], sigma: f64) -> VirtualMachine {
    let noises = [Noise::LogNormal(sigma), Noise::Instance(0.002)];
    let mut machine = VirtualMachine::new(times.to_vec(), 3).with(&noises);
    machine.operations_per_pass = 16;
    machine
}

fn run(plan: &Plan, machine: &mut VirtualMachine) -> (Outcome, Conclusion) {
    let out = drive(plan, machine, &mut [], None, &|| StopSignal::None).unwrap();
    let concluded = conclude(plan, &out);
    (out, concluded)
}

#[test]
fn a_winner_is_named_with_its_lead() {
    let plan = plan(&shape(3, 60));
    let (_, concluded) = run(&plan, &mut machine(&[1.5e5, 1e5, 1.3e5], 0.01));
    let answer = &concluded.answers[0];
    assert_eq!((answer.kind, &answer.best[..]), (AnswerKind::Winner, &["c1".to_owned()][..]));
    let start = "queue depth 1 is fastest: the next, queue depth 2, takes ";
    let also = "queue depth 1 is fastest: the next, queue depth 2, is ";
    let said = &answer.sentence;
    assert!(said.starts_with(start) || said.starts_with(also), "{said}");
    assert_eq!(answer.grade, Grade::A, "{:?} {:?}", answer.raise, answer.warnings);
    let regret = |id: &str| answer.regret.iter().find(|r| &*r.cell == id).unwrap();
    let next = regret("c2");
    assert!(next.excluded && next.low <= 1.3 && next.high.unwrap() >= 1.3, "{next:?}");
    assert!(next.low > 1.24 && next.high.unwrap() < 1.36, "{next:?}");
    assert!(regret("c0").low > 1.4 && !regret("c1").excluded && regret("c1").low == 1.0);
    assert_eq!(&*answer.pick.as_ref().unwrap().cell, "c1");
    let pair = answer.comparisons.iter().find(|c| c.a == "c1" && c.b == "c2").unwrap();
    assert!(pair.verdict == Verdict::Faster && pair.clear);
    assert!(pair.low.unwrap() <= 1.0 / 1.3 && pair.high.unwrap() >= 1.0 / 1.31);
    let twin = concluded.twin.as_ref().unwrap();
    assert!(twin.low.unwrap() <= 1.0 && twin.high.unwrap() >= 1.0);
    let estimate = concluded.estimates[1].as_ref().unwrap();
    assert!((estimate.ns_per_operation.median / 1e5 - 1.0).abs() < 0.02);
    assert!((estimate.wall_ns.median / 16e5 - 1.0).abs() < 0.02);
    let rate = estimate.bytes_per_second.as_ref().unwrap().median;
    assert!((rate / (65536.0 / 1e-4) - 1.0).abs() < 0.02);
}

#[test]
fn equal_cells_are_a_tie_within_what_was_shown() {
    let plan = plan(&shape(3, 60));
    let (_, concluded) = run(&plan, &mut machine(&[1e5; 3], 0.004));
    let answer = &concluded.answers[0];
    assert_eq!(answer.kind, AnswerKind::Tie);
    assert_eq!(answer.best.len(), 3);
    let start = "no difference shown among queue depth 0, queue depth 1 and queue depth 2: within ";
    assert!(answer.sentence.starts_with(start), "{}", answer.sentence);
}

#[test]
fn where_it_is_open_there_is_a_pick_with_its_bound_and_what_would_do() {
    let plan = plan(&shape(2, 4));
    let (out, concluded) = run(&plan, &mut machine(&[1e6, 1.01e6], 0.1));
    let answer = &concluded.answers[0];
    assert_eq!(answer.kind, AnswerKind::Undecided, "{}", answer.sentence);
    assert!(out.steady_rounds >= 20, "{}", out.steady_rounds);
    let pick = answer.pick.as_ref().unwrap();
    let name = pick.cell.replace('c', "queue depth ");
    assert!(answer.sentence.starts_with(&format!("{name}: at most ")), "{}", answer.sentence);
    assert!(
        answer.sentence.contains(
            "than the best of two. Which of queue depth 0 and queue depth 1 is best is open"
        ),
        "{}",
        answer.sentence
    );
    assert!(pick.at_most > 1.0 && pick.at_most < 1.3, "{pick:?}");
    if let Some(more) = answer.more_seconds {
        assert!(
            more > 1.0
                && answer.sentence.contains(match MoreTime::of(more) {
                    Some(_) => "more should settle it",
                    None => "more to settle it",
                }),
            "{}",
            answer.sentence
        );
    }
}

/// A drift of one cell once took the whole answer away.
#[test]
fn a_cell_that_overtakes_the_others_takes_back_its_own_claims_only() {
    let mut shape = shape(3, 60);
    shape.protocol.rounds = Some(60);
    let plan = plan(&shape);
    let mut machine = machine(&[1e5, 0.9e5, 2e5], 0.01);
    machine.noises.push(Noise::ContrastDrift(1, 0.3, 60));
    let (_, concluded) = run(&plan, &mut machine);
    let answer = &concluded.answers[0];
    assert_eq!(answer.kind, AnswerKind::Undecided, "{}", answer.sentence);
    assert_eq!(answer.best, ["c0", "c1"]);
    assert!(answer.warnings.iter().any(|w| w.code == Code::ContrastDrift));
    let last = answer.regret.iter().find(|r| &*r.cell == "c2").unwrap();
    assert!(last.excluded && last.low > 1.2, "{last:?}");
}

#[test]
fn work_that_was_not_done_has_no_winner() {
    let plan = plan(&shape(3, 60));
    let (mut out, _) = run(&plan, &mut machine(&[1e5, 1.2e5, 1.2e5], 0.01));
    let digest = Digest { kind: "xor".into(), hex: "00".into(), matches: Some(false) };
    let proof = Proof { digest: Some(digest), ..Proof::default() };
    out.cells[1].samples.last_mut().unwrap().measurement.proof = proof.into();
    let answer = conclude(&plan, &out).answers.remove(0);
    assert_eq!((answer.kind, answer.grade), (AnswerKind::Invalid, Grade::Invalid));
    assert!(answer.best.is_empty() && answer.pick.is_none() && answer.regret.is_empty());
    assert!(answer.sentence.starts_with("the measurement is not sound: "), "{}", answer.sentence);
    assert!(answer.warnings.iter().any(|w| w.code == Code::CheckFailed));
}

#[test]
fn on_an_axis_of_sizes_the_smallest_good_one_is_named() {
    let plan = as_blocks(plan(&PlanShape { own_instances: false, ..shape(5, 120) }));
    let mut machine = machine(&[8e4, 4e4, 2e4, 2e4, 2e4], 0.004);
    machine.names = plan.cells.iter().map(|c| c.id.clone()).collect();
    let (_, concluded) = run(&plan, &mut machine);
    let answer = &concluded.answers[0];
    assert_eq!(answer.kind, AnswerKind::Tie, "{}", answer.sentence);
    assert!(
        answer.sentence.contains("64 KiB is the smallest block within 2 % of the best"),
        "{}",
        answer.sentence
    );
    assert!(answer.sentence.contains("among 64 KiB blocks, 256 KiB blocks and 1 MiB blocks"));
    assert!(answer.sentence.contains("the other 2 are slower"));
}

/// "1 thread takes 1.018–1.12× as long" stood below a row "pread 1 thread, 4.12–6.23× as long": it was
/// said of io_uring, and did not say so.
#[test]
fn what_is_said_of_threads_names_the_method_where_there_are_several() {
    let mut plan = plan(&PlanShape { own_instances: false, ..shape(4, 60) });
    plan.ask = vec![Factor::Method, Factor::Threads];
    let ways = [("io_uring", 8), ("io_uring", 1), ("pread", 8), ("pread", 1)];
    for (cell, (method, threads)) in plan.cells.iter_mut().zip(ways) {
        cell.levels = cell.levels.only(|f| f != Factor::QueueDepth);
        cell.levels.set(Factor::Method, Level::word(method));
        cell.levels.set(Factor::Threads, Level::Number(threads));
        cell.id = format!("{method}/threads={threads}");
    }
    let mut machine = machine(&[1e5, 1.3e5, 1.1e5, 5e5], 0.004);
    machine.names = plan.cells.iter().map(|c| c.id.clone()).collect();
    let said = run(&plan, &mut machine).1.answers[0].sentence.clone();
    let found = "With io_uring, 8 threads are the fewest within 2 % of the best; 1 thread ";
    assert!(said.contains(found), "{said}");
}

#[test]
fn too_small_a_budget_is_said_in_the_answer() {
    let plan = plan(&PlanShape { file_bytes: 1 << 30, ..shape(24, 1) });
    let mut slow = machine(&[2e6; 24], 0.01);
    slow.around_ns = 5e6;
    let (_, concluded) = run(&plan, &mut slow);
    let answer = &concluded.answers[0];
    assert!(answer.sentence.starts_with("no answer after "), "{}", answer.sentence);
    // What is said to settle it is what `iolab more` is told with.
    let more = answer.more_seconds.and_then(MoreTime::of).unwrap().text();
    // 24 cells: E must reach 2 · 23 / α.
    let end = format!(": too few, where a bound takes 13; an answer takes at least {more} more");
    let foretold = format!(": too few, where a bound takes 13; about {more} more should settle it");
    let said = &answer.sentence;
    assert!(said.ends_with(&end) || said.ends_with(&foretold), "{}", answer.sentence);
}

#[test]
fn one_cell_has_its_own_figure_as_the_answer() {
    let plan = plan(&shape(1, 60));
    let (out, concluded) = run(&plan, &mut machine(&[1e5], 0.01));
    assert!(out.steady_rounds >= 20);
    let sentence = &concluded.answers[0].sentence;
    assert!(sentence.contains("625 MiB/s") || sentence.contains("62"), "{sentence}");
    // "over 20.0 rounds"
    assert!(sentence.ends_with(" rounds; nothing to compare it with"), "{sentence}");
    assert!(!sentence.contains(".0 rounds"), "{sentence}");
}

/// "fsync: 1.4 ms a write; nothing to compare it with. fdatasync: 1.2 ms a write; nothing to compare it
/// with".
#[test]
fn of_several_single_cells_one_says_that_it_has_no_rival() {
    let mut plan = plan(&shape(2, 60));
    let mut other = plan.conditions[0].clone();
    other.levels.set(Factor::Sync, Level::word("fsync"));
    other.cells = vec![1];
    plan.conditions[0].cells = vec![0];
    plan.conditions.push(other);
    plan.cells[1].condition = 1;
    let (_, concluded) = run(&plan, &mut machine(&[1e5, 2e5], 0.01));
    let alone = |answer: &Answer| answer.sentence.ends_with("; nothing to compare it with");
    let said: Vec<bool> = concluded.answers.iter().map(alone).collect();
    assert_eq!(said, [true, false], "{:?}", concluded.answers);
}

#[test]
fn the_document_says_what_became_of_every_cell() {
    let mut plan = plan(&shape(5, 60));
    plan.cells[4].skip = Some("io_uring is disabled: sysctl kernel.io_uring_disabled=0".into());
    plan.conditions[0].cells.pop();
    let mut machine = machine(&[1e5, 1e5, 3e5, 1e5, 1e5], 0.01);
    machine.failing.insert(3, 0);
    let (out, _) = run(&plan, &mut machine);
    let run = RunInfo { id: 3, ..RunInfo::default() };
    let document = document(&plan, out, run, Environment::default());
    let status: Vec<CellStatus> = document.cells.iter().map(|c| c.status).collect();
    use CellStatus::{Eliminated, Failed, Measured, Skipped};
    assert_eq!(status, [Measured, Measured, Eliminated, Failed, Skipped]);
    assert!(document.run.complete && document.run.id == 3 && document.run.seed == 5);
    assert!(document.experiment.protocol.steady_rounds >= 20);
    let text = serde_json::to_string(&document).unwrap();
    let back: iolab_model::result::Document = serde_json::from_str(&text).unwrap();
    assert_eq!(back.answers, document.answers);
    assert!(document.cells[3].reason.as_ref().unwrap().contains("SIGSEGV"));
}

#[test]
fn a_run_that_measured_nothing_yet_has_a_document_too() {
    let plan = plan(&shape(3, 60));
    let mut out = Outcome::default();
    out.cells.resize_with(3, Default::default);
    let document = document(&plan, out, RunInfo::default(), Environment::default());
    assert_eq!(document.answers[0].kind, AnswerKind::Undecided);
    assert_eq!(document.answers[0].sentence, "nothing was measured");
    assert!(document.cells.iter().all(|c| c.estimate.is_none()));
}

#[test]
fn an_interrupted_run_says_where_it_stopped() {
    let plan = plan(&shape(2, 60));
    let said = |asked_at_most: u32| {
        let asked = std::cell::Cell::new(0);
        let stop = || {
            asked.set(asked.get() + 1);
            if asked.get() > asked_at_most { StopSignal::Now } else { StopSignal::None }
        };
        let out = drive(&plan, &mut machine(&[1e5; 2], 0.01), &mut [], None, &stop).unwrap();
        conclude(&plan, &out).answers.remove(0).sentence
    };
    assert_eq!(said(12), "no verdict: interrupted before the first steady round");
    let later = said(30);
    let start = "no answer after ";
    let end = " steady rounds, where it was interrupted: too few";
    assert!(later.starts_with(start) && later.contains(end), "{later}");
}

#[test]
fn figures_have_the_error_of_their_run() {
    let intervals = [0.05, 0.001].map(|alpha| {
        let mut shape = shape(2, 20);
        shape.protocol.rounds = Some(30);
        shape.protocol.alpha = alpha;
        let plan = plan(&shape);
        let (_, concluded) = run(&plan, &mut machine(&[1e6, 1.5e6], 0.02));
        let time = concluded.estimates[0].as_ref().unwrap().wall_ns.clone();
        (time.low.unwrap(), time.high.unwrap())
    });
    let [usual, wider] = intervals;
    assert!(wider.0 < usual.0 && wider.1 > usual.1, "{intervals:?}");
}
