//! Whole judgements: what is claimed, how good the figures are, what is found beside.

use super::{Context, Judgement, judge};
use crate::Observations;
use crate::claims::{Raise, Standing, Unsound, Verdict, Withdrawn};
use crate::compare::tests::{cells, noise, rules, seen};
use iolab_model::catalog::Code;
use iolab_model::result::{AnswerKind, Grade};
use proptest::prelude::*;

fn good() -> Context {
    Context {
        twin: (0..40).map(|r| 0.01 * noise(77, r)).collect(),
        overhead: 0.002,
        instances: 8,
        placement_matters: true,
        ..Context::default()
    }
}

/// Two cells of ±1 %, the second 20 % slower, 40 rounds.
fn plain() -> Observations {
    seen(cells(40, &[0.0, 0.2], 0.01))
}

fn has(judgement: &Judgement, code: Code) -> bool {
    judgement.findings.iter().any(|f| f.code == code)
}

fn judged(seen: &Observations, context: &Context) -> Judgement {
    judge(seen, &rules(seen.y.len()), context)
}

#[test]
fn a_good_run_is_an_a_with_nothing_to_raise() {
    let judgement = judged(&plain(), &good());
    assert_eq!(judgement.claims.verdict, Verdict::Winner { cell: 0, clear: true });
    assert_eq!((judgement.kind(), judgement.grade), (AnswerKind::Winner, Grade::A));
    assert_eq!((judgement.best(), judgement.raise, judgement.more_rounds), (&[0][..], None, None));
    assert_eq!(judgement.claims.delta, 0.02);
    let slower = &judgement.claims.cells[1];
    assert!(slower.low > 0.18 && slower.low < 0.2 && slower.high < 0.22, "{slower:?}");
}

#[test]
fn each_lack_costs_its_grade_and_names_the_remedy() {
    let few = seen(cells(15, &[0.0, 0.2], 0.01));
    let alike = seen(cells(40, &[0.0, 0.0], 0.1));
    let wild = seen(cells(40, &[0.0, 0.0], 0.5));
    type Case = (&'static str, Observations, Context, Grade, fn(&Raise) -> bool);
    let cases: [Case; 5] = [
        ("few rounds", few, good(), Grade::C, |r| *r == Raise::Rounds(5)),
        ("a wide bound", alike, good(), Grade::B, |r| matches!(r, Raise::Rounds(_))),
        ("no bound to speak of", wild, good(), Grade::C, |r| {
            matches!(r, Raise::Rounds(_) | Raise::Quieter)
        }),
        ("four instances", plain(), Context { instances: 4, ..good() }, Grade::B, |r| {
            *r == Raise::Instances(1)
        }),
        ("a dear clock", plain(), Context { overhead: 0.02, ..good() }, Grade::B, |r| {
            *r == Raise::LongerTrials(2.0)
        }),
    ];
    for (name, seen, context, grade, remedy) in cases {
        let judgement = judged(&seen, &context);
        assert_eq!(judgement.grade, grade, "{name}: {judgement:?}");
        assert!(judgement.raise.is_some_and(|raise| remedy(&raise)), "{name}: {judgement:?}");
        assert_ne!(judgement.kind(), AnswerKind::Invalid, "{name}");
    }
    // Where placement is no matter, one layout is as good as five.
    let shared = Context { instances: 1, placement_matters: false, ..good() };
    assert_eq!(judged(&plain(), &shared).grade, Grade::A);
}

/// A dear clock, a position effect, a noisy host once took whole answers away. What is left is work
/// that was not done, a clock that moved, a control that is proven to differ from itself.
#[test]
fn only_what_is_unsound_takes_the_answer_away() {
    let broken = Context { twin: vec![0.05; 20], ..good() };
    let failed = Context { check_failed: true, ..good() };
    let moved = Context { clock_moved: true, ..good() };
    let cases = [
        (broken, Unsound::Control, Some(Code::TwinBroken)),
        (failed, Unsound::WorkNotDone, Some(Code::CheckFailed)),
        (moved, Unsound::ClockMoved, Some(Code::ClockMoved)),
    ];
    for (context, reason, code) in cases {
        let judgement = judged(&plain(), &context);
        assert_eq!(judgement.claims.verdict, Verdict::Unsound(vec![reason]));
        assert_eq!((judgement.kind(), judgement.grade), (AnswerKind::Invalid, Grade::Invalid));
        assert!(judgement.best().is_empty() && judgement.pairs.len() == 1);
        assert!(code.is_none_or(|code| judgement.findings[0].code == code), "{code:?}");
    }
    for context in [Context { overhead: 0.1, ..good() }, Context { steal: 0.3, ..good() }] {
        assert_eq!(judged(&plain(), &context).kind(), AnswerKind::Winner);
    }
}

#[test]
fn few_rounds_are_no_fault_of_the_measurement() {
    let judgement = judged(&seen(cells(4, &[0.0, 0.2], 0.01)), &good());
    assert_eq!(judgement.claims.verdict, Verdict::Unsound(vec![Unsound::FewRounds]));
    assert_eq!((judgement.kind(), judgement.grade), (AnswerKind::Undecided, Grade::C));
    assert_eq!(judgement.best(), [0, 1]);
    assert!(has(&judgement, Code::FewRounds));
}

#[test]
fn the_twin_widens_what_matters_once_it_has_eight_rounds() {
    let off = |rounds| {
        let twin = (0..rounds).map(|r| if r % 4 == 0 { -0.02 } else { 0.03 }).collect();
        judged(&seen(cells(40, &[0.0, 0.0], 0.04)), &Context { twin, ..good() })
    };
    let (few, many) = (off(7), off(12));
    assert!((few.claims.delta - 0.02).abs() < 1e-12, "{:?}", few.control);
    assert!((many.claims.delta - 0.03f64.exp_m1()).abs() < 1e-9, "{:?}", many.control);
    assert_eq!((few.kind(), many.kind()), (AnswerKind::Undecided, AnswerKind::Tie));
    assert!(has(&many, Code::TwinOff) && !has(&judged(&plain(), &good()), Code::TwinOff));
}

#[test]
fn the_context_is_reported() {
    let context = Context {
        twin: (0..12).map(|r| 0.03 + 0.1 * noise(5, r)).collect(),
        steal: 0.05,
        instances: 2,
        first_ratio: vec![1.1, 2.0],
        resolution: 0.02,
        ..good()
    };
    let judgement = judged(&seen(cells(9, &[0.0, 0.2], 0.01)), &context);
    for code in [Code::StealHigh, Code::OneLayout, Code::Quantised] {
        assert!(has(&judgement, code), "{code}");
    }
    let first = judgement.findings.iter().find(|f| f.code == Code::FirstRun).unwrap();
    assert_eq!(first.cells, [1]);
    let close = judged(&seen(cells(40, &[0.0, 0.03], 0.01)), &Context { overhead: 0.02, ..good() });
    assert!(has(&close, Code::OverheadHigh), "{close:?}");
}

/// All pairs of 4096 cells are 8 million, of 300 bytes each in the record.
#[test]
fn a_large_answer_has_the_pairs_of_those_who_can_cost_least() {
    let paired = |k: usize| {
        let offsets: Vec<f64> = (0..k).map(|c| (c as f64 - 7.0).abs() / 10.0).collect();
        let judgement = judged(&seen(cells(12, &offsets, 0.01)), &good());
        assert!(judgement.pairs.iter().any(|pair| pair.a == 7 || pair.b == 7));
        let met = |cell: usize| judgement.pairs.iter().any(|p| p.a == cell || p.b == cell);
        assert!((0..k).all(met), "each stands beside the best");
        judgement.pairs.len()
    };
    assert_eq!(paired(200), 200 * 199 / 2);
    let large = paired(400);
    assert!((16 * 383..=17 * 400).contains(&large), "{large}");
}

#[test]
fn outliers_are_flagged_kept_and_weighed() {
    let mut y = cells(40, &[0.0, 0.0, 0.3], 0.01);
    y[1][5] += 1.0;
    let judgement = judged(&seen(y), &good());
    assert_eq!(judgement.outliers, [(1, 5)]);
    assert!(has(&judgement, Code::Outlier) && judgement.without_outliers.is_none());
    assert_eq!(judgement.pairs[0].n, 40);
    // A third of the rounds lie far off in one direction: with them nothing is shown, without them
    // a winner.
    let mut y = cells(36, &[0.0, 0.012, 0.3], 0.005);
    (0..36).filter(|r| r % 3 == 0).for_each(|r| y[1][r] -= 0.5);
    let judgement = judged(&seen(y), &good());
    assert!(judgement.without_outliers.is_some(), "{judgement:?}");
    assert!(has(&judgement, Code::OutliersMatter));
    // A winner in all rounds that is not shown in two thirds of them is no other answer: "the answer
    // changes without the outliers" stood below one, with most of the budget left.
    let mut y = cells(10, &[0.0, 0.3, 0.5], 0.01);
    (0..10).filter(|r| r % 3 == 0).for_each(|r| y[1][r] += 1.0);
    let judgement = judged(&seen(y), &good());
    assert!(matches!(judgement.claims.verdict, Verdict::Winner { cell: 0, .. }), "{judgement:?}");
    let outlier = judgement.findings.iter().find(|f| f.code == Code::Outlier).unwrap();
    assert!(outlier.detail.ends_with("leave open which is best"), "{outlier:?}");
    assert!(judgement.without_outliers.is_none() && !has(&judgement, Code::OutliersMatter));
}

#[test]
fn two_states_are_looked_for_in_cold_samples_only() {
    let mut y = cells(40, &[0.0, 0.2], 0.01);
    (0..40).filter(|r| r % 4 == 0).for_each(|r| y[0][r] += 0.8);
    let cold = judged(&seen(y.clone()), &Context { cold: true, ..good() });
    let found = cold.findings.iter().find(|f| f.code == Code::TwoStates).unwrap();
    assert_eq!(found.cells, [0]);
    assert!(!has(&judged(&seen(y), &good()), Code::TwoStates));
}

/// A difference that changed sides once made the whole run unsound. Now the claim about that cell is
/// withdrawn, and the third cell, far behind both, stays beaten.
#[test]
fn a_difference_that_changed_sides_withdraws_its_own_claim_only() {
    let mut y = cells(200, &[0.0, 0.1, 0.9], 0.01);
    (120..200).for_each(|r| y[1][r] -= 0.3);
    let judgement = judged(&seen(y), &good());
    let drift = judgement.findings.iter().find(|f| f.code == Code::ContrastDrift).unwrap();
    assert!(drift.detail.contains("faster at first"), "{}", drift.detail);
    let standing = |cell: usize| judgement.claims.cells[cell].standing;
    let withdrawn = Standing::Withdrawn(Withdrawn::Drift);
    assert!((0..2).any(|cell| standing(cell) == withdrawn), "{:?}", judgement.claims);
    assert_eq!(standing(2), Standing::Slower);
    assert_eq!((judgement.kind(), judgement.best()), (AnswerKind::Undecided, &[0, 1][..]));
}

/// Of four equal cells one was faster at first and slower later. Two of the others were excluded
/// while it led; when it fell back they stayed excluded, by a cell that was no better.
#[test]
fn who_was_excluded_by_a_cell_that_fell_back_is_not() {
    let kept = |seed: u64| {
        let level = |cell: u64, r: u64| match cell {
            1 => 0.12 * r as f64 / 60.0,
            _ => 0.06,
        };
        let y =
            |cell| (0..60).map(|r| level(cell, r) + 0.04 * noise(10 * seed + cell, r)).collect();
        let judgement = judged(&seen((0..4).map(y).collect()), &good());
        let drifts = judgement.findings.iter().filter(|f| f.code == Code::ContrastDrift).count();
        assert!((1..=3).contains(&drifts), "{drifts} times the same");
        judgement.best().len() < 4
    };
    let kept = (0..60).filter(|seed| kept(*seed)).count();
    assert!(kept <= 3, "{kept} of 60");
}

#[test]
fn a_drift_that_cannot_matter_takes_nothing_away() {
    // Twice as slow at first and 2.08 times at the end; and a tenth of a per cent between neighbours.
    for (gap, drift) in [(0.7, 0.04), (0.1, 0.015)] {
        let mut y = cells(60, &[0.0, gap], 0.002);
        y[1].iter_mut().zip(0..).for_each(|(y, r)| *y += drift * f64::from(r) / 60.0);
        let judgement = judged(&seen(y), &good());
        assert_eq!(judgement.kind(), AnswerKind::Winner, "{:?}", judgement.findings);
    }
}

/// Each cell slower than the next in two rounds of three: no pair says who is best, and nobody is
/// left out of the set as long as another one is as doubtful.
#[test]
fn ratios_in_a_circle_leave_a_set() {
    let (a, b, c) = ([0.0, 0.1, 0.2], [0.2, 0.0, 0.1], [0.1, 0.2, 0.0]);
    let series = |m: [f64; 3], i: u64| {
        (0..300).map(|r| m[(noise(9, r) * 1.5 + 1.5) as usize % 3] + 1e-3 * noise(i, r)).collect()
    };
    let judgement = judged(&seen(vec![series(a, 1), series(b, 2), series(c, 3)]), &good());
    assert!(!judgement.best().is_empty() && judgement.claims.pick.is_some(), "{judgement:?}");
}

#[test]
fn nothing_measured_is_judged_without_a_word_too_many() {
    let nothing = Observations { y: vec![vec![]; 3], ..Observations::default() };
    let judgement = judged(&nothing, &Context::default());
    assert_eq!((judgement.kind(), judgement.claims.pick), (AnswerKind::Undecided, None));
    assert_eq!((judgement.grade, judgement.best().len()), (Grade::C, 0));
    let one = judged(&seen(cells(20, &[0.0], 0.01)), &good());
    assert_eq!((one.kind(), one.best()), (AnswerKind::Winner, &[0][..]));
    assert_eq!(one.claims.verdict, Verdict::Alone);
}

#[test]
fn a_cell_dropped_without_proof_neither_wins_nor_is_beaten() {
    let mut y = cells(30, &[0.1, 0.0, 0.9], 0.01);
    y[1].truncate(4);
    let mut seen = seen(y);
    seen.dropped = vec![1];
    let judgement = judged(&seen, &good());
    assert_eq!(judgement.best(), [0]);
    assert!(judgement.claims.of_those_compared());
    assert_eq!(judgement.claims.compared(), [0, 2]);
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]
    #[test]
    fn a_judgement_is_of_one_piece(
        y in (1usize..6, 0usize..40).prop_flat_map(|(k, n)| proptest::collection::vec(
            proptest::collection::vec(prop_oneof![
                18 => -1.0f64..1.0, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY)], n), k)),
        shift in 0.0f64..2.0,
        cut in 0usize..40,
    ) {
        let mut y = y;
        y.iter_mut().enumerate().for_each(|(i, y)| y.iter_mut().for_each(|y| *y += shift * i as f64));
        if let Some(last) = y.last_mut() { last.truncate(cut) }
        let seen = seen(y);
        let judgement = judged(&seen, &Context { instances: 5, ..Context::default() });
        prop_assert!(judgement.findings.windows(2).all(|f| f[0].code.severity() >= f[1].code.severity()));
        prop_assert_eq!(judgement.kind() == AnswerKind::Invalid, judgement.grade == Grade::Invalid);
        prop_assert!(judgement.claims.best.iter().all(|cell| judgement.claims.compared().contains(cell)));
        if judgement.kind() == AnswerKind::Winner {
            prop_assert_eq!(judgement.best().len(), 1);
        }
    }
}
