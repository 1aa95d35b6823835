use super::{Sides, bounds_of, sides};
use crate::compare::tests::{cells, noise, rules, seen};
use crate::{Observations, Rules};

const DELTA: f64 = 0.02;

fn alone() -> Rules {
    rules(2)
}

/// Cells with these true logarithms of time, each with noise of its own.
fn drawn(truth: &[f64], rounds: u64, spread: f64, run: u64) -> Observations {
    let cell = |(at, ln): (usize, &f64)| {
        let of =
            |round| noise(run * 64 + at as u64, round) + noise(run * 64 + 32 + at as u64, round);
        (0..rounds).map(|round| ln + spread * of(round)).collect()
    };
    seen(truth.iter().enumerate().map(cell).collect())
}

fn cut(all: &Observations, rounds: usize) -> Observations {
    let y = all.y.iter().map(|y| y[..rounds].to_vec()).collect();
    Observations { y, epoch: all.epoch[..rounds].to_vec(), ..Observations::default() }
}

/// In how many of so many runs it is ever said, by somebody who looks again and again.
fn ever(truth: &[f64], (a, b): (&[usize], &[usize]), said: impl Fn(Sides) -> bool) -> usize {
    const RUNS: u64 = 300;
    let wrong = |run: &u64| {
        let all = drawn(truth, 60, 0.02, *run);
        (7..=60).step_by(3).any(|rounds| said(sides(&cut(&all, rounds), &alone(), a, b)))
    };
    (0..RUNS).filter(wrong).count()
}

/// 5 % of 300, and three standard deviations of that count.
const AT_MOST: usize = 26;

/// "Faster" is contradicted where the advantage is shown to be less than δ: one of exactly δ may
/// meet that at most as often as α says, and equal sides may be told apart no more often.
#[test]
fn an_advantage_of_exactly_delta_is_rarely_called_less() {
    let delta = DELTA.ln_1p();
    let one = ([0].as_slice(), [1].as_slice());
    let less = ever(&[0.0, delta], one, |found| found.high < delta);
    assert!(less <= AT_MOST, "less than δ in {less} of 300");
    let faster = ever(&[0.0, 0.0], one, |found| found.low > 0.0);
    assert!(faster <= AT_MOST, "faster in {faster} of 300");
    let slower = ever(&[0.0, 0.0], one, |found| found.high < 0.0);
    assert!(slower <= AT_MOST, "slower in {slower} of 300");
    // And it is no empty caution: what is equal is soon shown to be.
    let equal = ever(&[0.0, 0.0], one, |found| found.high < delta);
    assert!(equal > 150, "{equal} of 300");
}

/// The best of three against the best of two, each with a worse one beside it and with an equal one.
#[test]
fn the_best_of_each_side_is_no_choice_that_costs() {
    let delta = DELTA.ln_1p();
    let three_and_two = ([0, 1, 2].as_slice(), [3, 4].as_slice());
    for others in [0.0, 0.05] {
        let truth = |d: f64| [0.0, others, 0.3, d, d + others];
        let faster = ever(&truth(0.0), three_and_two, |found| found.low > 0.0);
        assert!(faster <= AT_MOST, "{others}: faster in {faster} of 300");
        let less = ever(&truth(delta), three_and_two, |found| found.high < delta);
        assert!(less <= AT_MOST, "{others}: less than δ in {less} of 300");
        let shown = ever(&truth(0.06), three_and_two, |found| found.low > 0.0);
        assert!(shown > 285, "{others}: shown in {shown} of 300");
    }
}

/// Seven rounds of one direction are evidence of 1/α, six are not.
#[test]
fn each_bound_has_the_whole_error() {
    let found = |rounds| sides(&seen(cells(rounds, &[0.0, 0.5], 0.01)), &alone(), &[0], &[1]);
    assert_eq!(found(6), Sides { low: f64::NEG_INFINITY, high: f64::INFINITY });
    let seven = found(7);
    assert!(seven.low > 0.47 && seven.low <= seven.high && seven.high < 0.53, "{seven:?}");
    let turned = sides(&seen(cells(7, &[0.0, 0.5], 0.01)), &alone(), &[1], &[0]);
    assert_eq!((turned.low, turned.high), (-seven.high, -seven.low));
    // The middle of twenty: E(20, 16) = 20.5.
    let values: Vec<f64> = (0..20).map(|at| f64::from((at * 7) % 20)).collect();
    let (middle, bounds) = bounds_of(&values, &(0..20).collect::<Vec<u32>>(), &alone()).unwrap();
    assert_eq!((middle, bounds.low, bounds.high), (9.5, 4.0, 15.0));
}

#[test]
fn what_failed_or_was_not_measured_bounds_nothing() {
    let mut y = cells(20, &[0.0, 0.5, 0.6], 0.01);
    y[2] = vec![f64::INFINITY; 20];
    let lost = sides(&seen(y.clone()), &alone(), &[0], &[1, 2]);
    assert_eq!(lost.low, f64::NEG_INFINITY, "{lost:?}");
    y[2] = vec![f64::NAN; 20];
    y[1][3] = f64::INFINITY;
    let one = sides(&seen(y.clone()), &alone(), &[0], &[1]);
    assert!(one.low > 0.48 && one.high.is_finite(), "one loss of twenty is no bound: {one:?}");
    let dropped = Observations { dropped: vec![1], ..seen(y) };
    assert_eq!(sides(&dropped, &alone(), &[0], &[1]).low, f64::NEG_INFINITY);
}

/// Four renewals of the files are four units, however many rounds they had.
#[test]
fn the_unit_may_be_the_renewal() {
    let many = cells(80, &[0.0, 0.5], 0.01);
    let with = |rounds_of_epoch: u32| Observations {
        epoch: (0..80).map(|round| round / rounds_of_epoch).collect(),
        ..seen(many.clone())
    };
    let rules = |unit_rounds| Rules { unit_rounds, ..alone() };
    assert_eq!(sides(&with(20), &rules(20), &[0], &[1]).low, f64::NEG_INFINITY);
    assert!(sides(&with(10), &rules(10), &[0], &[1]).low > 0.4);
    // The eighth is not whole.
    let seven = Observations { epoch: with(10).epoch, ..cut(&with(10), 69) };
    assert_eq!(sides(&cut(&seven, 69), &rules(10), &[0], &[1]).low, f64::NEG_INFINITY);
}

/// A difference that turned round in the middle of the run is no difference.
#[test]
fn a_difference_that_moved_covers_both_ends() {
    let mut y = cells(60, &[0.0, 0.3], 0.01);
    y[1][40..].iter_mut().for_each(|y| *y -= 0.6);
    let found = sides(&seen(y), &alone(), &[0], &[1]);
    assert!(found.low < -0.25 && found.high > 0.25, "{found:?}");
}
