use super::{pairs, verdict};
use crate::{Observations, Rules};
use iolab_model::result::{Interval, Verdict};
use proptest::prelude::*;

pub(crate) fn rules(k: usize) -> Rules {
    Rules {
        alpha: 0.05,
        delta: 0.02,
        pairs: (k * (k - 1) / 2) as f64,
        unit_rounds: 1,
        cost: Vec::new(),
        seed: 1,
    }
}

pub(crate) fn seen(y: Vec<Vec<f64>>) -> Observations {
    let rounds = y.iter().map(Vec::len).max().unwrap_or(0) as u32;
    Observations { y, epoch: (0..rounds).collect(), ..Observations::default() }
}

/// Deterministic noise without lag-1 correlation to speak of, in [-1, 1).
pub(crate) fn noise(cell: u64, round: u64) -> f64 {
    let mut x = (cell << 32 | round).wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ x >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ x >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ x >> 31) >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

pub(crate) fn cells(rounds: u64, means: &[f64], spread: f64) -> Vec<Vec<f64>> {
    let cell = |(i, mean): (usize, &f64)| {
        (0..rounds).map(|r| mean + spread * noise(i as u64, r)).collect()
    };
    means.iter().enumerate().map(cell).collect()
}

#[test]
fn a_verdict_reads_the_interval_and_nothing_else() {
    let interval = |low: f64, high: f64| Interval { low: Some(low), high: Some(high) };
    assert_eq!(verdict(&interval(0.03, 0.05), 0.02), (Verdict::Slower, true));
    assert_eq!(verdict(&interval(0.01, 0.05), 0.02), (Verdict::Slower, false));
    assert_eq!(verdict(&interval(-0.05, -0.03), 0.02), (Verdict::Faster, true));
    assert_eq!(verdict(&interval(-0.05, -0.01), 0.02), (Verdict::Faster, false));
    assert_eq!(verdict(&interval(-0.01, 0.019), 0.02), (Verdict::Equivalent, false));
    assert_eq!(verdict(&interval(-0.01, 0.021), 0.02), (Verdict::Undecided, false));
    assert_eq!(verdict(&interval(0.0, 0.05), 0.02), (Verdict::Undecided, false));
    assert_eq!(verdict(&Interval::default(), 0.02), (Verdict::Undecided, false));
}

#[test]
fn the_interval_is_made_of_the_order_statistics_of_the_table() {
    let y = cells(20, &[0.5, 0.0], 0.1);
    let mut d: Vec<f64> = y[0].iter().zip(&y[1]).map(|(a, b)| a - b).collect();
    let pair = pairs(&seen(y), &rules(2)).remove(0);
    d.sort_by(f64::total_cmp);
    assert_eq!(pair.merged, 1);
    assert_eq!((pair.interval.low, pair.interval.high), (Some(d[3]), Some(d[16])));
    assert_eq!(pair.median, (d[9] + d[10]) / 2.0);
    assert_eq!((pair.n, pair.verdict, pair.clear), (20, Verdict::Slower, true));
}

#[test]
fn a_missing_trial_leaves_its_pairs_only_and_a_lost_one_counts() {
    let mut y = cells(30, &[0.0, 0.5, 0.5], 0.01);
    y[1].truncate(14);
    y[2][3] = f64::NAN;
    y[0][5] = f64::INFINITY;
    let n: Vec<u32> = pairs(&seen(y), &rules(3)).iter().map(|p| p.n).collect();
    assert_eq!(n, [14, 29, 13]);
    let nothing = seen(vec![vec![f64::NAN; 20]; 2]);
    assert!(pairs(&nothing, &rules(2)).is_empty());
}

#[test]
fn neighbouring_rounds_that_are_alike_are_merged() {
    // A slow wave in one cell: signs come in runs of sixteen.
    let wave = |r: u64| if (r / 16).is_multiple_of(2) { 0.1 } else { -0.1 };
    let y: Vec<f64> = (0..160).map(|r| wave(r) + 0.02 + 0.05 * noise(0, r)).collect();
    let still: Vec<f64> = (0..160).map(|r| 0.05 * noise(1, r)).collect();
    let pair = pairs(&seen(vec![y, still]), &rules(2)).remove(0);
    assert!(pair.merged > 2, "{pair:?}");
    assert_eq!(pair.n, 160 / pair.merged);
    assert_eq!(pair.verdict, Verdict::Undecided);
}

#[test]
fn a_small_slow_wave_does_not_hide_a_unanimous_difference() {
    let y: Vec<f64> = (0..40).map(|r| 0.7 + 1e-5 * r as f64).collect();
    let pair = pairs(&seen(vec![y, vec![0.0; 40]]), &rules(2)).remove(0);
    assert!(pair.merged > 1);
    assert_eq!((pair.verdict, pair.clear), (Verdict::Slower, true));
}

#[test]
fn the_epoch_is_the_unit_where_each_has_a_placement_of_its_own() {
    let y = cells(47, &[0.5, 0.0], 0.01);
    let mut seen = seen(y);
    seen.epoch = (0..47).map(|r| r / 5).collect();
    let by_epoch = Rules { unit_rounds: 5, ..rules(2) };
    // Nine whole epochs; the tenth has two rounds of five and may still change.
    let pair = pairs(&seen, &by_epoch).remove(0);
    assert_eq!((pair.n, pair.verdict), (9, Verdict::Slower));
    assert_eq!(pairs(&seen, &rules(2))[0].n, 47);
}

/// Pairs left out the rounds in which one of the two was killed: a cell that hung wherever it was slow
/// was faster than its rival by what was left.
#[test]
fn a_lost_trial_is_slower_than_any_that_ended() {
    let mut y = cells(40, &[-0.1, 0.0], 0.01);
    let left = pairs(&seen(y.clone()), &rules(2)).remove(0);
    assert_eq!((left.n, left.verdict), (40, Verdict::Faster));
    // Here and there, for losses in a row are merged like all neighbours that are alike.
    let lost = |round: &usize| round % 5 < 3;
    (0..40).filter(lost).for_each(|round| y[0][round] = f64::INFINITY);
    let pair = pairs(&seen(y.clone()), &rules(2)).remove(0);
    assert_eq!((pair.n, pair.merged), (40, 1));
    assert_ne!(pair.verdict, Verdict::Faster, "{pair:?}");
    // What is told of it are numbers: those that both took, and no end where trials were lost.
    assert!(pair.median.is_finite() && pair.interval.low.is_none_or(f64::is_finite));
    assert!(pair.interval.high.is_none_or(f64::is_finite));
    // A round in which both were lost counts for neither; without one that both ended nothing is said.
    (0..40).step_by(5).for_each(|round| y[1][round] = f64::INFINITY);
    assert_eq!(pairs(&seen(y.clone()), &rules(2))[0].n, 32);
    y[0].fill(f64::INFINITY);
    assert!(pairs(&seen(y), &rules(2)).is_empty());
}

#[test]
fn equal_times_are_counted_and_prove_nothing() {
    let pair = pairs(&seen(vec![vec![1.0; 50]; 2]), &rules(2)).remove(0);
    assert_eq!((pair.ties, pair.verdict), (50, Verdict::Equivalent));
}

#[test]
fn lag1_is_spearman_of_neighbours() {
    // scipy.stats.spearmanr(x[:-1], x[1:]) of the series below.
    let mut series = crate::series::Series::default();
    series.values = vec![3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0, 5.0, 3.0, 5.0, 8.0];
    series.sort();
    assert!((series.lag1() + 0.006_993_025_991_587_448).abs() < 1e-12, "{}", series.lag1());
}

fn figures() -> impl Strategy<Value = Vec<Vec<f64>>> {
    (2usize..5, 0usize..40).prop_flat_map(|(k, n)| {
        proptest::collection::vec(proptest::collection::vec(-1.0f64..1.0, n), k)
    })
}

proptest! {
    #[test]
    fn a_common_factor_changes_no_verdict(y in figures(), shift in -5i32..5) {
        // A power of two keeps the differences exact enough to compare.
        let moved: Vec<Vec<f64>> =
            y.iter().map(|c| c.iter().map(|y| y + f64::from(shift)).collect()).collect();
        let rules = rules(y.len());
        let (one, two) = (pairs(&seen(y), &rules), pairs(&seen(moved), &rules));
        prop_assert_eq!(one.len(), two.len());
        for (one, two) in one.iter().zip(&two) {
            prop_assert!((one.median - two.median).abs() < 1e-12);
            prop_assert_eq!(one.verdict, two.verdict);
        }
    }

    #[test]
    fn swapping_two_cells_turns_the_ratio_round(y in figures()) {
        let rules = rules(y.len());
        let turned: Vec<Vec<f64>> = y.iter().rev().cloned().collect();
        let last = y.len() - 1;
        let (one, two) = (pairs(&seen(y), &rules), pairs(&seen(turned), &rules));
        for one in &one {
            let (a, b) = (last - one.b, last - one.a);
            let two = two.iter().find(|p| (p.a, p.b) == (a, b)).unwrap();
            prop_assert!((one.median + two.median).abs() < 1e-12);
            prop_assert_eq!(one.interval.low.map(|v| -v), two.interval.high);
            prop_assert_eq!(one.interval.high.map(|v| -v), two.interval.low);
            prop_assert_eq!(one.clear, two.clear);
            prop_assert_eq!(one.verdict == Verdict::Slower, two.verdict == Verdict::Faster);
        }
    }

    #[test]
    fn the_interval_holds_the_median(y in figures()) {
        let rules = rules(y.len());
        for pair in &pairs(&seen(y), &rules) {
            prop_assert!(pair.interval.contains(pair.median));
        }
    }
}
