//! Much of everything: a day of rounds, ten thousand cells. A hundredth of it without IOLAB_TRUST
//! (`make trust`), which prints what it took.

use std::time::Instant;

use iolab_run::{Outcome, conclude};
use iolab_test::virtual_machine::{Noise, PlanShape, VirtualMachine, plan};

use super::drive::{machine, run, shape};

/// So much under IOLAB_TRUST, and a hundredth of it else.
fn much(all: usize) -> usize {
    if std::env::var_os("IOLAB_TRUST").is_some() { all } else { all / 100 }
}

/// Memory of this process that is in use, in MiB (proc(5), `VmRSS`).
fn memory_mib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or(0) >> 10
}

fn samples(out: &Outcome) -> usize {
    out.cells.iter().map(|cell| cell.samples.len()).sum()
}

/// A run of a day knows what one of a quarter of an hour knew, with a narrower bound, and takes memory
/// for its samples alone.
#[test]
fn a_day_of_rounds_ends_as_it_began() {
    let seconds = much(86_400) as u64;
    let started = Instant::now();
    let at = |seconds: u64| {
        let plan = plan(&PlanShape { eliminate: false, ..shape(4, seconds) });
        // A pass takes seconds, as that of a large file does.
        let mut machine = machine(&[1.6e8, 1.6e8, 1.6e8, 2.4e8]);
        let before = memory_mib();
        let out = run(&plan, &mut machine);
        let grown = memory_mib().saturating_sub(before);
        let conclusion = conclude(&plan, &out);
        (out, conclusion, grown)
    };
    let (short, first, _) = at(seconds / 24 + 120);
    let (long, last, grown_mib) = at(seconds);
    let taken = started.elapsed();
    println!(
        "{seconds} s of rounds: {} rounds, {} samples, {grown_mib} MiB more, computed in {taken:?}",
        long.steady_rounds,
        samples(&long)
    );
    let (first, last) = (&first.answers[0], &last.answers[0]);
    println!("{:?} of {:?}, then {:?} of {:?}", first.kind, first.best, last.kind, last.best);
    assert!(long.steady_rounds >= short.steady_rounds, "{}", long.steady_rounds);
    // The files are ±10 % as fast as one another: who is the best is a matter of them. What was shown
    // stays: nobody is among the best at the end who was shown not to be.
    assert!(last.best.iter().all(|cell| first.best.contains(cell)), "{first:?} {last:?}");
    assert!(grown_mib < 400, "{grown_mib} MiB");
}

/// Ten thousand cells, a hundred in each answer, are screened, measured and concluded.
#[test]
fn ten_thousand_cells_come_to_an_answer() {
    cells_come_to_answers(much(100), 100);
}

/// As many cells as a plan takes, each against all others.
#[test]
fn as_many_cells_as_a_plan_takes_come_to_one_answer() {
    cells_come_to_answers(1, much(4096));
}

fn cells_come_to_answers(conditions: usize, each: usize) {
    let cells = conditions * each;
    let times: Vec<f64> = (0..cells).map(|c| 1e5 * (1.0 + (c % each) as f64 / 20.0)).collect();
    let shape = PlanShape { own_instances: false, conditions, ..shape(each, cells as u64) };
    let plan = plan(&shape);
    let mut wide = VirtualMachine::new(times, 11).with(&[Noise::LogNormal(0.01)]);
    let (started, before) = (Instant::now(), memory_mib());
    let out = run(&plan, &mut wide);
    let driven = started.elapsed();
    let conclusion = conclude(&plan, &out);
    println!(
        "{cells} cells: {} rounds, {} samples, driven in {driven:?}, concluded in {:?}, {} MiB more",
        out.steady_rounds,
        samples(&out),
        started.elapsed() - driven,
        memory_mib().saturating_sub(before)
    );
    assert_eq!(conclusion.answers.len(), conditions);
    // None of the best takes half as long again as the fastest.
    let step = |cell: &String| cell[1..].parse::<usize>().unwrap() % each;
    for answer in &conclusion.answers {
        assert!(!answer.best.is_empty(), "{:?}", answer.kind);
        assert!(answer.best.iter().all(|cell| step(cell) < 10), "{:?}", answer.best);
    }
}
