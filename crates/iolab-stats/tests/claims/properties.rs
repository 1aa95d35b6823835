//! What holds for any table.

use iolab_stats::claims::{
    Bias, CarryOver, Claims, Facts, Rules, Standing, Table, Trial, claims, ln_evidence,
};
use proptest::prelude::*;

fn trial() -> impl Strategy<Value = Trial> {
    prop_oneof![
        1 => Just(Trial::Absent),
        1 => Just(Trial::Lost),
        12 => (-0.1..0.1f64).prop_map(Trial::Took),
    ]
}

/// Rounds by cell, with a level of its own for each cell.
fn table() -> impl Strategy<Value = Table> {
    (2..7usize, 0..45usize, 1..4usize).prop_flat_map(|(k, n, unit)| {
        let rounds = prop::collection::vec(prop::collection::vec(trial(), k), n);
        let levels = prop::collection::vec(0.0..0.3f64, k);
        (rounds, levels, Just((k, unit))).prop_map(|(mut rounds, levels, (k, unit))| {
            for (trial, level) in rounds.iter_mut().flat_map(|r| r.iter_mut().zip(&levels)) {
                if let Trial::Took(y) = trial {
                    *y += level;
                }
            }
            let mut table = Table::from_rounds(k, rounds, 2);
            table.unit_rounds = unit;
            table
        })
    })
}

fn plain(table: &Table) -> Claims {
    claims(table, &Rules::default(), &Facts::default())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..Default::default() })]

    #[test]
    fn claims_are_of_one_piece(table in table()) {
        let seen = plain(&table);
        let compared = seen.compared();
        prop_assert_eq!(seen.best.is_empty(), compared.is_empty());
        for cell in &seen.cells {
            prop_assert!(cell.low >= 0.0 && cell.high >= cell.low, "{:?}", cell);
            prop_assert!(cell.low == 0.0 || cell.standing == Standing::Slower);
            prop_assert!(!cell.ln_e.is_nan() && cell.longer <= cell.met);
        }
        if let Some(pick) = seen.pick {
            prop_assert!(compared.contains(&pick.cell) && pick.at_most.is_finite());
            prop_assert_eq!(pick.at_most, seen.cells[pick.cell].high);
        }
        prop_assert!(seen.best.iter().all(|cell| compared.contains(cell)));
    }

    /// Equal costs apart, the order in which cells are listed says nothing.
    #[test]
    fn the_order_of_cells_says_nothing(table in table(), turn in 1..6usize) {
        let k = table.cells;
        let mut turned = table.clone();
        for round in &mut turned.rounds {
            round.trials.rotate_left(turn % k);
        }
        let rules = Rules { cost: (0..k as u64).collect(), ..Rules::default() };
        let cost = (0..k).map(|cell| ((cell + turn) % k) as u64).collect();
        let (a, b) = (
            claims(&table, &rules, &Facts::default()),
            claims(&turned, &Rules { cost, ..rules }, &Facts::default()),
        );
        for cell in 0..k {
            let (mine, theirs) = (&a.cells[(cell + turn) % k], &b.cells[cell]);
            prop_assert_eq!(mine.standing, theirs.standing);
            prop_assert_eq!((mine.low, mine.high, mine.ln_e), (theirs.low, theirs.high, theirs.ln_e));
        }
        prop_assert_eq!(a.pick.map(|p| p.cell), b.pick.map(|p| (p.cell + turn) % k));
    }

    /// A slower machine changes nothing, nor does a unit of work of another size.
    #[test]
    fn a_common_factor_says_nothing(table in table(), quarters in -8..8i32) {
        let mut moved = table.clone();
        for trial in moved.rounds.iter_mut().flat_map(|r| r.trials.iter_mut()) {
            if let Trial::Took(y) = trial {
                *y += f64::from(quarters) / 4.0;
            }
        }
        let (a, b) = (plain(&table), plain(&moved));
        prop_assert_eq!(&a.best, &b.best);
        for (a, b) in a.cells.iter().zip(&b.cells) {
            prop_assert!(a.high == b.high || (a.high - b.high).abs() < 1e-9);
        }
    }

    #[test]
    fn bias_only_widens(table in table(), effect in 0.0..0.2f64, size in 1..4usize) {
        let bias = Bias {
            carry_over: Some(CarryOver { p: 0.001, effect }),
            merged: vec![size; table.cells],
            ..Bias::default()
        };
        let plain = plain(&table);
        let wide = claims(&table, &Rules::default(), &Facts { bias, ..Facts::default() });
        for (plain, wide) in plain.cells.iter().zip(&wide.cells) {
            prop_assert!(wide.low <= plain.low && wide.high >= plain.high);
        }
        prop_assert!(plain.best.iter().all(|cell| wide.best.contains(cell)));
    }

    #[test]
    fn evidence_grows_with_wins_and_falls_with_the_rest(n in 1..3000u32, share in 0.0..1.0f64) {
        let w = (f64::from(n) * share) as u32;
        prop_assert!(ln_evidence(n, w + 1) > ln_evidence(n, w) || w == n);
        prop_assert!(ln_evidence(n + 1, w) < ln_evidence(n, w));
        prop_assert!(ln_evidence(n + 1, w + 1) > ln_evidence(n, w));
    }

    /// Exclusion is for good, in every prefix of a run.
    #[test]
    fn the_excluded_stay_excluded(table in table()) {
        let mut before: Vec<usize> = Vec::new();
        for n in 0..table.rounds.len() {
            let prefix = Table { rounds: table.rounds[..n].to_vec(), ..table.clone() };
            let now = prefix.watch(0.05).excluded();
            prop_assert!(before.iter().all(|cell| now.contains(cell)));
            before = now;
        }
    }
}
