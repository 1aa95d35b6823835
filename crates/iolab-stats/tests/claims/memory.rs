//! Cells with a memory of their own: neighbouring rounds alike.

use crate::common::{Dice, allowed};
use iolab_stats::claims::{Bias, Claims, Facts, Rules, Trial, Watch, smallest_merge};

fn ranks(x: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..x.len()).collect();
    order.sort_by(|a, b| x[*a].total_cmp(&x[*b]));
    let mut ranks = vec![0.0; x.len()];
    order.iter().enumerate().for_each(|(rank, at)| ranks[*at] = rank as f64);
    ranks
}

/// Spearman of neighbours, without ties.
fn lag1(d: &[f64]) -> f64 {
    let (a, b) = (ranks(&d[..d.len() - 1]), ranks(&d[1..]));
    let middle = (a.len() as f64 - 1.0) / 2.0;
    let cross: f64 = a.iter().zip(&b).map(|(a, b)| (a - middle) * (b - middle)).sum();
    cross / a.iter().map(|a| (a - middle) * (a - middle)).sum::<f64>()
}

/// Two cells, each an AR(1) of its own, sd(d) 1 %, `level` of these apart; 60 rounds.
fn seen(seed: u64, phi: f64, level: f64, memory_withdraws: bool) -> Claims {
    let mut dice = Dice::new(seed, 9);
    let mut own = [dice.normal(), dice.normal()];
    let mut watch = Watch::new(2, 0.05, 1);
    for round in 0..62 {
        for own in &mut own {
            *own = phi * *own + (1.0 - phi * phi).sqrt() * dice.normal();
        }
        let y = own.map(|own| 0.01 * 0.5f64.sqrt() * own);
        watch.push(&[Trial::Took(y[0]), Trial::Took(y[1] + 0.01 * level)], round > 1);
    }
    let size = smallest_merge(&watch.contrast(1, 0), lag1);
    let facts =
        Facts { bias: Bias { merged: vec![size; 2], ..Bias::default() }, ..Facts::default() };
    watch.claims(&Rules { memory_withdraws, ..Rules::default() }, &facts)
}

const RUNS: u64 = 300;

fn won(phi: f64, level: f64, memory_withdraws: bool) -> u64 {
    let won = |seed: &u64| seen(*seed, phi, level, memory_withdraws).best.len() == 1;
    (0..RUNS).filter(won).count() as u64
}

#[test]
fn equal_cells_with_a_memory_are_not_told_apart() {
    for phi in [0.3, 0.5, 0.7, 0.9] {
        let (letter, kept) = (won(phi, 0.0, false), won(phi, 0.0, true));
        let missed =
            (0..RUNS).filter(|seed| seen(*seed, phi, 0.0, true).cells.iter().any(|c| c.low > 0.0));
        println!("phi {phi}: letter {letter}, with {kept}, L > 0 {}", missed.count());
        // A wave of the length of the run is told from a difference by no statistic.
        let limit = if phi > 0.8 { 2 * allowed(RUNS) } else { allowed(RUNS) };
        assert!(kept <= limit, "{phi}: {kept}");
        assert!(phi < 0.5 || letter > 2 * allowed(RUNS) - 10, "{phi}: {letter}");
    }
}

#[test]
fn what_is_far_apart_is_still_told_apart() {
    for phi in [0.0, 0.5, 0.7, 0.9] {
        let counts = [1.0, 2.0, 5.0, 20.0].map(|level| won(phi, level, true));
        println!("phi {phi}: apart by 1, 2, 5, 20 sd: {counts:?} of {RUNS}");
        assert!(counts[3] > RUNS * 95 / 100 && (phi > 0.8 || counts[1] > RUNS * 9 / 10));
    }
}

#[test]
fn bounds_cover_a_moderate_memory() {
    for (phi, level) in [(0.3, 2.0), (0.5, 2.0), (0.7, 2.0), (0.7, 20.0)] {
        let misses = |seed: &u64| {
            let cells = seen(*seed, phi, level, true).cells;
            cells[1].low > 0.01 * level || cells[1].high < 0.01 * level || cells[0].low > 0.0
        };
        let missed = (0..RUNS).filter(misses).count() as u64;
        println!("phi {phi} level {level}: bounds miss {missed} of {RUNS}");
        assert!(missed <= allowed(RUNS), "{phi} {level}: {missed}");
    }
}
