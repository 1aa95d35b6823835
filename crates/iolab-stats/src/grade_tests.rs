//! Grades and findings of whole judgements.

use crate::compare::tests::{cells, noise, rules, seen};
use crate::{Context, Judgement, Observations, Rules, judge, resolve, standing};
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
    assert_eq!((judgement.kind, judgement.grade), (AnswerKind::Winner, Grade::A), "{judgement:?}");
    assert_eq!((&judgement.best[..], judgement.leader), (&[0][..], Some(0)));
    assert_eq!((judgement.raise, judgement.detectable, judgement.more_rounds), (None, None, None));
    assert_eq!(judgement.delta_eff, 0.02);
}

#[test]
fn each_lack_costs_its_grade_and_names_the_remedy() {
    let few = seen(cells(15, &[0.0, 0.2], 0.01));
    let noisy = seen(cells(40, &[0.0, 0.9], 0.12));
    let wild = seen(cells(40, &[0.0, 2.0], 0.5));
    let drifting: Vec<Vec<f64>> = cells(40, &[0.0, 0.2], 0.01)
        .iter()
        .map(|y| y.iter().zip(0..).map(|(y, r)| y + 0.05 * f64::from(r) / 40.0).collect())
        .collect();
    let cases: Vec<(Observations, Context, Grade, &str)> = vec![
        (few, good(), Grade::C, "20 steady rounds"),
        (plain(), Context { instances: 4, ..good() }, Grade::C, "5 renewals"),
        (wild, good(), Grade::C, "times vary"),
        (plain(), Context { flagged: 9, ..good() }, Grade::C, "flagged"),
        (noisy, good(), Grade::B, "times vary"),
        (plain(), Context { flagged: 6, ..good() }, Grade::B, "flagged"),
        (plain(), Context { steal: 0.03, ..good() }, Grade::B, "time away"),
        (plain(), Context { overhead: 0.02, ..good() }, Grade::B, "longer trials"),
        (
            plain(),
            Context { twin: vec![0.013, 0.013, -0.02, 0.02, 0.013], ..good() },
            Grade::B,
            "twice",
        ),
        (seen(drifting), good(), Grade::B, "keeps its speed"),
    ];
    for (seen, context, grade, words) in cases {
        let judgement = judged(&seen, &context);
        assert_eq!(judgement.grade, grade, "{words}: {judgement:?}");
        let raise = judgement.raise.unwrap();
        assert!(raise.contains(words), "{raise} should speak of {words}");
        assert_eq!(judgement.kind, AnswerKind::Winner, "{words}");
    }
}

#[test]
fn what_is_unsound_has_no_winner() {
    let broken = Context { twin: vec![0.05; 20], ..good() };
    let overhead = Context { overhead: 0.1, ..good() };
    let failed = Context { check_failed: true, ..good() };
    let cases =
        [(broken, Code::TwinBroken), (overhead, Code::OverheadHigh), (failed, Code::CheckFailed)];
    for (context, code) in cases {
        let judgement = judged(&plain(), &context);
        assert_eq!(
            (judgement.kind, judgement.grade),
            (AnswerKind::Invalid, Grade::Invalid),
            "{code}"
        );
        assert!(judgement.best.is_empty() && judgement.raise.is_some(), "{code}");
        assert_eq!(judgement.findings[0].code, code);
        assert_eq!(judgement.pairs.len(), 1);
    }
}

#[test]
fn the_twin_widens_what_matters() {
    // A twin 5 % off, too few rounds to break it: a difference of 3 % is then no difference.
    let context = Context { twin: vec![0.05, 0.04, 0.06, 0.05], ..good() };
    let judgement = judged(&seen(cells(40, &[0.0, 0.0], 0.02)), &context);
    assert!((judgement.delta_eff - 0.05f64.exp_m1()).abs() < 1e-9);
    assert_eq!(judgement.kind, AnswerKind::Tie);
    assert_eq!(judged(&seen(cells(40, &[0.0, 0.0], 0.05)), &good()).kind, AnswerKind::Undecided);
    assert!((judgement.twin.unwrap().median - 0.05).abs() < 1e-12);
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
    for code in [Code::FewRounds, Code::StealHigh, Code::OneLayout, Code::Quantised] {
        assert!(has(&judgement, code), "{code}");
    }
    let first = judgement.findings.iter().find(|f| f.code == Code::FirstRun).unwrap();
    assert_eq!(first.cells, [1]);
    assert_eq!(judgement.kind, AnswerKind::Undecided);
}

#[test]
fn outliers_are_flagged_kept_and_weighed() {
    let mut y = cells(40, &[0.0, 0.0, 0.3], 0.01);
    y[1][5] += 1.0;
    let judgement = judged(&seen(y), &good());
    assert_eq!(judgement.outliers, [(1, 5)]);
    assert!(has(&judgement, Code::Outlier) && !judgement.without_outliers_changes);
    assert_eq!(judgement.pairs[0].n, 40);
    // Eight of thirty rounds lie far off in one direction: with them nothing is shown, without them a winner.
    let mut y = cells(30, &[0.0, 0.012, 0.3], 0.005);
    (0..30).filter(|r| r % 3 == 0).for_each(|r| y[1][r] -= 0.5);
    let judgement = judged(&seen(y), &good());
    assert!(judgement.without_outliers_changes, "{judgement:?}");
    assert!(has(&judgement, Code::OutliersMatter) && judgement.grade == Grade::C);
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

#[test]
fn a_difference_that_changed_sides_is_nonstationary() {
    let mut y = cells(200, &[0.0, 0.1], 0.01);
    (50..200).for_each(|r| y[1][r] -= 0.3);
    let judgement = judged(&seen(y), &good());
    assert!(has(&judgement, Code::NonStationary) && has(&judgement, Code::ContrastDrift));
    assert_eq!((judgement.kind, judgement.grade), (AnswerKind::Invalid, Grade::Invalid));
}

#[test]
fn a_drift_that_cannot_matter_takes_nothing_away() {
    // Twice as slow at first and 2.08 times at the end; and a tenth of a per cent between neighbours.
    for (gap, drift) in [(0.7, 0.04), (0.1, 0.015)] {
        let mut y = cells(60, &[0.0, gap], 0.002);
        y[1].iter_mut().zip(0..).for_each(|(y, r)| *y += drift * f64::from(r) / 60.0);
        let judgement = judged(&seen(y), &good());
        assert_eq!(judgement.kind, AnswerKind::Winner, "{:?}", judgement.findings);
    }
}

#[test]
fn ratios_in_a_circle_keep_the_leader() {
    // Each cell is slower than the next in two rounds of three.
    let (a, b, c) = ([0.0, 0.1, 0.2], [0.2, 0.0, 0.1], [0.1, 0.2, 0.0]);
    let series = |m: [f64; 3], i: u64| {
        (0..300).map(|r| m[(noise(9, r) * 1.5 + 1.5) as usize % 3] + 1e-3 * noise(i, r)).collect()
    };
    let seen = seen(vec![series(a, 1), series(b, 2), series(c, 3)]);
    let judgement = judged(&seen, &good());
    assert!(
        judgement
            .pairs
            .iter()
            .all(|p| p.interval.low.unwrap() > 0.0 || p.interval.high.unwrap() < 0.0)
    );
    let standing = standing(&seen, &rules(3));
    assert_eq!(
        (standing.kind, standing.best),
        (AnswerKind::Undecided, vec![standing.leader.unwrap()])
    );
    assert!(has(&judgement, Code::NonTransitive));
}

#[test]
fn nothing_measured_is_judged_without_a_word_too_many() {
    let nothing = Observations { y: vec![vec![]; 3], ..Observations::default() };
    let judgement = judged(&nothing, &Context::default());
    assert_eq!((judgement.kind, judgement.leader), (AnswerKind::Undecided, None));
    assert_eq!(judgement.grade, Grade::C);
    let one = judged(&seen(cells(20, &[0.0], 0.01)), &good());
    assert_eq!((one.kind, one.best), (AnswerKind::Winner, vec![0]));
}

proptest! {
    #[test]
    fn resolving_lazily_is_standing(
        y in (1usize..6, 0usize..40).prop_flat_map(|(k, n)| proptest::collection::vec(
            proptest::collection::vec(prop_oneof![9 => -1.0f64..1.0, 1 => Just(f64::NAN)], n), k)),
        shift in 0.0f64..2.0,
        cut in 0usize..40,
    ) {
        let mut y = y;
        y.iter_mut().enumerate().for_each(|(i, y)| y.iter_mut().for_each(|y| *y += shift * i as f64));
        if let Some(last) = y.last_mut() { last.truncate(cut) }
        let seen = seen(y);
        let rules = Rules { pairs: 1.0, ..rules(2) };
        let all = standing(&seen, &rules);
        prop_assert_eq!(resolve(&seen, &rules), (all.kind, all.best));
        let judgement = judge(&seen, &rules, &Context { instances: 5, ..Context::default() });
        prop_assert!(judgement.findings.windows(2).all(|f| f[0].code.severity() >= f[1].code.severity()));
        prop_assert_eq!(judgement.kind == AnswerKind::Invalid, judgement.grade == Grade::Invalid);
    }
}
