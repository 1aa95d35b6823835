use super::super::random::generator;
use super::{Basis, Seen, between, normal_z, runs_to_rule_out, student_t};
use rand_core::Rng;
use rand_pcg::Pcg64;

fn uniform(random: &mut Pcg64) -> f64 {
    (random.next_u64() >> 11) as f64 / (1u64 << 53) as f64
}

/// Near enough to a standard normal: twelve uniforms.
fn normal(random: &mut Pcg64) -> f64 {
    (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0
}

/// A run at this level: its own effect, then rounds.
fn run(random: &mut Pcg64, level: f64, between_sd: f64, within_sd: f64, rounds: usize) -> Seen {
    let own = level + between_sd * normal(random);
    let y = (0..rounds).map(|_| own + within_sd * normal(random)).collect();
    Seen { y, twin: Some(0.0), sitting: 0 }
}

/// The runs of a side as they are made in turn with those of the other: each is a sitting.
fn in_turn(runs: impl Iterator<Item = Seen>) -> Vec<Seen> {
    runs.zip(0..).map(|(run, sitting)| Seen { sitting, ..run }).collect()
}

#[test]
fn quantiles_are_those_of_the_tables() {
    for (alpha, freedom, t) in
        [(0.05, 2.0, 4.3027), (0.05, 10.0, 2.2281), (0.01, 4.0, 4.6041), (0.05, 1e6, 1.96)]
    {
        assert!((student_t(alpha, freedom) - t).abs() < 1e-3, "{alpha} {freedom}");
    }
    assert!((normal_z(0.05) - 1.95996).abs() < 1e-4);
    assert!(student_t(1e-6, 2.0) > 900.0 && student_t(1e-6, 2.0).is_finite());
}

/// Share of pairs of sides with the same level whose interval misses 0.
fn misses(p: usize, q: usize, between_sd: f64, within_sd: f64) -> f64 {
    let mut random = generator(7, (p * 10 + q) as u64);
    let trials = 2000;
    let side = |random: &mut Pcg64, n: usize| -> Vec<Seen> {
        in_turn((0..n).map(|_| run(random, 3.0, between_sd, within_sd, 20)))
    };
    let missed = (0..trials).filter(|_| {
        let (a, b) = (side(&mut random, p), side(&mut random, q));
        !between(&a, &b, 0.05).unwrap().interval.contains(0.0)
    });
    missed.count() as f64 / f64::from(trials)
}

#[test]
fn repeated_runs_cover_whatever_the_machine_does_between_them() {
    for (p, q) in [(2, 2), (3, 1), (5, 5)] {
        for (between_sd, within_sd) in [(0.08, 0.02), (0.0, 0.05), (0.02, 0.02)] {
            let share = misses(p, q, between_sd, within_sd);
            // 5 % and 3.3 binomial standard errors.
            assert!(share <= 0.066, "{p}+{q}, {between_sd}/{within_sd}: {share}");
        }
    }
}

#[test]
fn a_single_pair_covers_what_it_allows_for_and_no_more() {
    assert!(misses(1, 1, 0.01, 0.02) <= 0.05);
    assert!(misses(1, 1, 0.0, 0.05) <= 0.05);
    // This is why the report calls it an allowance and asks for repeated runs.
    assert!(misses(1, 1, 0.10, 0.01) > 0.2);
}

#[test]
fn a_large_difference_is_seen_by_either() {
    let mut random = generator(3, 3);
    for runs in [1, 3] {
        let side = |random: &mut Pcg64, level: f64| -> Vec<Seen> {
            in_turn((0..runs).map(|_| run(random, level, 0.005, 0.01, 30)))
        };
        let (a, b) = (side(&mut random, 0.0), side(&mut random, 0.2));
        let found = between(&a, &b, 0.05).unwrap();
        assert!(found.interval.low.unwrap() > 0.1, "{found:?}");
        let basis = if runs == 1 { Basis::SinglePair } else { Basis::RepeatedRuns };
        assert_eq!(found.basis, basis);
        // Turned round it is the mirror image.
        let turned = between(&b, &a, 0.05).unwrap();
        assert!((turned.ln_ratio + found.ln_ratio).abs() < 1e-12);
        assert!((turned.interval.high.unwrap() + found.interval.low.unwrap()).abs() < 1e-9);
    }
}

#[test]
fn what_a_run_shows_of_itself_widens_a_single_pair() {
    let flat =
        Seen { y: (0..32).map(|i| f64::from(i % 2) * 0.001).collect(), twin: None, sitting: 0 };
    let width = |a: &Seen, b: &Seen| {
        let i = between(std::slice::from_ref(a), std::slice::from_ref(b), 0.05).unwrap().interval;
        i.high.unwrap() - i.low.unwrap()
    };
    let plain = width(&flat, &flat);
    let twin = Seen { twin: Some(0.05), ..flat.clone() };
    let wandering = Seen {
        y: (0..32).map(|i| f64::from(i / 8) * 0.05 + f64::from(i % 2) * 0.001).collect(),
        twin: None,
        sitting: 0,
    };
    assert!(width(&flat, &twin) > 2.0 * plain);
    assert!(width(&flat, &wandering) > 2.0 * plain);
}

#[test]
fn little_is_no_interval_and_nothing_is_none() {
    let few = Seen { y: vec![1.0, 1.1], twin: None, sitting: 0 };
    let found = between(std::slice::from_ref(&few), std::slice::from_ref(&few), 0.05).unwrap();
    assert_eq!((found.interval.low, found.interval.high), (None, None));
    let empty = Seen { y: vec![f64::NAN], twin: None, sitting: 0 };
    assert_eq!(between(&[empty], &[Seen { y: vec![1.0], twin: None, sitting: 0 }], 0.05), None);
}

/// Share of gates over `cells` cells that pass, where the second side takes `ratio` times as long.
fn passes(runs: usize, cells: usize, between_sd: f64, ratio: f64) -> f64 {
    let mut random = generator(11, runs as u64);
    let trials = 1000;
    let passed = (0..trials).filter(|_| {
        (0..cells).all(|_| {
            let mut side = |level: f64| -> Vec<Seen> {
                in_turn((0..runs).map(|_| run(&mut random, level, between_sd, 0.01, 20)))
            };
            let (a, b) = (side(3.0), side(3.0 + ratio.ln()));
            let high = between(&a, &b, 0.1).unwrap().interval.high;
            high.is_some_and(|high| high <= 0.05_f64.ln_1p())
        })
    });
    passed.count() as f64 / f64::from(trials)
}

/// Two runs a side that differ by 4 % left ±40 % over five cells, and nothing said what would do.
#[test]
fn as_many_runs_as_are_forecast_rule_out_what_is_not_there_and_nothing_else() {
    for (between_sd, cells) in [(0.01, 1), (0.02, 3), (0.04, 5)] {
        let runs = runs_to_rule_out(between_sd, cells, 0.05, 0.05).unwrap();
        assert!(runs > 2 || between_sd < 0.015, "{between_sd}: {runs}");
        let share = passes(runs, cells, between_sd, 1.0);
        assert!(share >= 0.77, "{between_sd}, {cells} cells, {runs} runs a side: {share}");
        // One that is slower by what is allowed passes in at most one of twenty.
        let share = passes(runs, 1, between_sd, 1.05);
        assert!(share <= 0.073, "{between_sd}, {runs} runs a side: {share}");
    }
    assert_eq!(runs_to_rule_out(0.3, 5, 0.05, 0.05), None);
}

/// Runs one after another on a machine whose level wanders: five before and five after.
fn told_apart_in_a_row(wander_sd: f64, sitting: impl Fn(usize) -> u32) -> f64 {
    let mut random = generator(13, 5);
    let trials = 2000;
    let missed = (0..trials).filter(|_| {
        let mut level = 3.0;
        let mut side = |from: usize| -> Vec<Seen> {
            let runs = (from..from + 5).map(|at| {
                level += wander_sd * normal(&mut random);
                Seen { sitting: sitting(at), ..run(&mut random, level, 0.01, 0.02, 20) }
            });
            runs.collect()
        };
        let (a, b) = (side(0), side(5));
        !between(&a, &b, 0.05).unwrap().interval.contains(0.0)
    });
    missed.count() as f64 / f64::from(trials)
}

/// A gate that took five runs of main and five of a branch, a minute later, called the second half of
/// one and the same program's runs a regression.
#[test]
fn runs_in_a_row_are_no_proof_of_what_lies_between_two_rows() {
    for wander_sd in [0.0, 0.01] {
        let share = told_apart_in_a_row(wander_sd, |at| at as u32 / 5);
        assert!(share <= 0.066, "{wander_sd}: {share}");
    }
    // Taken as runs that know nothing of one another.
    assert!(told_apart_in_a_row(0.01, |at| at as u32) > 0.15);
    // What lies far beyond is still told.
    let mut random = generator(17, 5);
    let mut side = |level: f64, sitting: u32| -> Vec<Seen> {
        let runs = (0..5).map(|_| run(&mut random, level, 0.01, 0.02, 20));
        runs.map(|run| Seen { sitting, ..run }).collect()
    };
    let found = between(&side(3.0, 0), &side(3.0 + 1.2_f64.ln(), 1), 0.05).unwrap();
    assert_eq!(found.basis, Basis::OneSitting);
    assert!(found.interval.low.unwrap() > 1.05_f64.ln(), "{found:?}");
}
