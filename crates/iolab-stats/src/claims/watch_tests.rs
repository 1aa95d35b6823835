use super::super::{
    Bias, CarryOver, Control, Drift, Facts, NotCompared, Rules, Standing, Table, Trial, Unsound,
    Verdict, Withdrawn,
};
use super::Watch;
use crate::claims::claims;

const TOOK: fn(&f64) -> Trial = |y| Trial::Took(*y);

/// The same times in every round, after one round of warm-up.
fn watched(rounds: usize, y: &[f64]) -> Watch {
    let mut watch = Watch::new(y.len(), 0.05, 1);
    let round: Vec<Trial> = y.iter().map(TOOK).collect();
    watch.push(&round, false);
    (0..rounds).for_each(|_| watch.push(&round, true));
    watch
}

fn plain(watch: &Watch) -> crate::claims::Claims {
    watch.claims(&Rules::default(), &Facts::default())
}

#[test]
fn a_clear_winner_and_its_figures() {
    let seen = plain(&watched(12, &[0.5, 0.0, 0.9]));
    assert_eq!(seen.verdict, Verdict::Winner { cell: 1, clear: true });
    assert_eq!((seen.best.as_slice(), seen.pick.unwrap().cell), ([1].as_slice(), 1));
    assert_eq!((seen.cells[0].low, seen.cells[0].high), (0.5, 0.5));
    assert_eq!((seen.cells[2].low, seen.cells[2].high), (0.9, 0.9));
    assert_eq!((seen.cells[1].low, seen.cells[1].high), (0.0, 0.0));
    assert!(seen.cells[0].settled && !seen.of_those_compared());
    let little = plain(&watched(12, &[0.0, 0.01]));
    assert_eq!(little.verdict, Verdict::Winner { cell: 0, clear: false });
}

#[test]
fn a_tie_and_the_cheapest_of_it() {
    // Turn and turn about, ±1 % each.
    let mut watch = Watch::new(2, 0.05, 1);
    for round in 0..30 {
        let y = if round % 2 == 0 { [0.0, 0.01] } else { [0.01, 0.0] };
        watch.push(&y.iter().map(TOOK).collect::<Vec<_>>(), round > 1);
    }
    let rules = Rules { cost: vec![2, 1], ..Rules::default() };
    let seen = watch.claims(&rules, &Facts::default());
    assert_eq!((seen.verdict.clone(), seen.pick.unwrap().cell), (Verdict::Tie, 1));
    assert!((seen.pick.unwrap().at_most - 0.01).abs() < 1e-12);
}

#[test]
fn few_rounds_and_faults_are_unsound_but_the_figures_stand() {
    assert_eq!(plain(&watched(4, &[0.0, 1.0])).verdict, Verdict::Unsound(vec![Unsound::FewRounds]));
    let broken = Control { rounds: 40, ln_ratio: 0.05, low: 0.04, high: 0.06, ln_e: 100f64.ln() };
    let facts =
        Facts { control: Some(broken), unsound: vec![Unsound::WorkNotDone], ..Facts::default() };
    let seen = watched(12, &[0.0, 1.0]).claims(&Rules::default(), &facts);
    assert_eq!(seen.verdict, Verdict::Unsound(vec![Unsound::WorkNotDone, Unsound::Control]));
    assert_eq!((seen.best.len(), seen.pick.is_some()), (1, true));
    assert!((seen.delta - 0.05f64.exp_m1()).abs() < 1e-12);
}

#[test]
fn who_did_not_take_part_is_not_beaten() {
    let mut watch = Watch::new(4, 0.05, 1);
    for round in 0..14 {
        let trials = [Trial::Took(0.0), Trial::Lost, Trial::Absent, Trial::Took(2.0)];
        watch.push(&trials, round > 0);
    }
    watch.give_up(3);
    let seen = plain(&watch);
    let standing = |cell: usize| seen.cells[cell].standing;
    assert_eq!(standing(1), Standing::NotCompared(NotCompared::Failed));
    assert_eq!(standing(2), Standing::NotCompared(NotCompared::Absent));
    assert_eq!(standing(3), Standing::NotCompared(NotCompared::Dropped));
    assert_eq!((seen.verdict.clone(), seen.best.as_slice()), (Verdict::Alone, [0].as_slice()));
    assert!(seen.of_those_compared() && watch.excluded().is_empty());
}

/// An excluded cell that leaves too early would leave the others' bounds endless; one that is
/// settled does not, nor does one that comes back never.
#[test]
fn a_settled_cell_may_leave() {
    let bound = |stays: usize| {
        let mut watch = Watch::new(6, 0.05, 1);
        for round in 0..30 {
            let gone = if round >= stays { Trial::Absent } else { Trial::Took(1.0) };
            let mut trials = vec![Trial::Took(0.0), Trial::Took(0.001)];
            trials.extend([gone; 4]);
            watch.push(&trials, round > 0);
        }
        let seen = plain(&watch);
        assert!(seen.cells[2..].iter().all(|c| c.standing == Standing::Slower));
        (seen.cells[0].high, seen.cells[5].settled)
    };
    // 8 rounds exclude; 2k/α = 240 is settled with 11, and E(n, n) ≥ 200 bounds with 11.
    assert_eq!(bound(9), (f64::INFINITY, false));
    assert_eq!(bound(12), (0.0, true));
}

#[test]
fn carry_over_takes_back_what_it_could_have_made() {
    let watch = watched(20, &[0.0, 0.03, 0.3]);
    let carry_over = Some(CarryOver { p: 0.001, effect: 0.05 });
    let facts = Facts { bias: Bias { carry_over, ..Bias::default() }, ..Facts::default() };
    let seen = watch.claims(&Rules::default(), &facts);
    assert_eq!(seen.cells[1].standing, Standing::Withdrawn(Withdrawn::CarryOver));
    assert_eq!((seen.best.as_slice(), seen.verdict.clone()), ([0, 1].as_slice(), Verdict::Several));
    assert_eq!((seen.cells[1].low, seen.cells[1].high), (0.0, 0.08));
    // The large claim stands; against cell 1 the leader may yet cost as much as the effect.
    assert_eq!((seen.cells[2].low, seen.cells[2].standing), (0.3, Standing::Slower));
    assert_eq!((seen.cells[0].high, seen.cells[2].high), (0.05, 0.35));
}

#[test]
fn a_drift_that_crosses_withdraws_and_one_that_does_not_widens() {
    let watch = watched(20, &[0.0, 0.03, 0.3]);
    let drifts =
        vec![Drift::step(1, 0, 0.001, 0.05, -0.01), Drift::trend(2, 0, 0.001, 0.3, 0.01, 20)];
    let facts = Facts { bias: Bias { drifts, ..Bias::default() }, ..Facts::default() };
    let seen = watch.claims(&Rules::default(), &facts);
    assert_eq!(seen.cells[1].standing, Standing::Withdrawn(Withdrawn::Drift));
    assert_eq!((seen.cells[1].low, seen.cells[1].high, seen.cells[0].high), (0.0, 0.05, 0.01));
    assert!((seen.cells[2].low - 0.205).abs() < 1e-9 && (seen.cells[2].high - 0.395).abs() < 1e-9);
    assert_eq!(seen.verdict, Verdict::Several);
}

#[test]
fn a_table_says_what_the_watch_said() {
    let mut table = Table::new(3);
    table.unit_rounds = 4;
    let mut watch = Watch::new(3, 0.05, 4);
    for round in 0..70usize {
        let y = [0.0, 0.1, 0.2].map(|y| y + 0.01 * ((round * 13) % 7) as f64);
        let trials: Vec<Trial> = y.iter().map(TOOK).collect();
        if round > 1 && round % 5 == 0 {
            watch.renew();
        }
        watch.push(&trials, round > 1);
        table.push(trials, round > 1);
        if let Some(last) = table.rounds.last_mut() {
            last.epoch = (round / 5) as u32;
        }
    }
    let (rules, facts) = (Rules::default(), Facts::default());
    assert_eq!(claims(&table, &rules, &facts), watch.claims(&rules, &facts));
    assert_eq!(watch.contrast(1, 0).len(), plain(&watch).units);
    assert!(watch.forecast(&plain(&watch), &Bias::default()).is_some());
}

#[test]
fn nothing_yet_is_nothing_said() {
    let seen = plain(&Watch::new(3, 0.05, 1));
    assert_eq!((seen.best.len(), seen.pick, seen.compared().len()), (0, None, 0));
    assert_eq!(plain(&watched(10, &[0.0])).verdict, Verdict::Alone);
}

/// Fifty rounds of a thousand cells; `cargo bench --bench statistics` says how long they take.
#[test]
fn large_answers_are_bounded() {
    let noise =
        |round: usize, cell: usize| ((round * 7919 + cell * 104_729) % 1009) as f64 / 1009.0 * 0.05;
    let mut watch = Watch::new(1000, 0.05, 1);
    for round in 0..50 {
        let trials: Vec<Trial> = (0..1000).map(|cell| Trial::Took(noise(round, cell))).collect();
        watch.push(&trials, round > 1);
    }
    let seen = plain(&watch);
    assert!(seen.cells.iter().all(|cell| cell.high.is_finite()));
}
