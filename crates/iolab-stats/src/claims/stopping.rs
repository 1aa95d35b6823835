//! May this answer stop, and who may leave it. Pure decisions; the claims hold
//! whatever is decided.

use super::pick::Verdict;
use super::report::{Claims, Standing};

/// Steady rounds that an answer has before it stops of itself.
const ROUNDS: usize = 20;
/// File instances likewise, where they matter.
const INSTANCES: u32 = 5;

/// How far a run is, beside its claims.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Progress {
    /// File instances so far; `None` where all cells share one and its layout cancels.
    pub instances: Option<u32>,
    /// The runner-up's interval is to lie within ± this share.
    pub precision: f64,
}

/// What an answer still wants before it stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wanting {
    /// A winner, a tie, or a pick within δ.
    Verdict,
    /// So many steady rounds.
    Rounds(usize),
    /// So many file instances.
    Instances(u32),
    /// A narrower interval of this cell, the runner-up.
    Precision(usize),
}

/// What is wanting, the weightiest first; empty: the answer may stop at the end of this round.
pub fn wanting(claims: &Claims, progress: &Progress) -> Vec<Wanting> {
    let mut wanting = Vec::new();
    let within = claims.pick.is_some_and(|pick| pick.within);
    match claims.verdict {
        Verdict::Winner { .. } | Verdict::Tie | Verdict::Alone => {}
        Verdict::Several if within => {}
        Verdict::Several | Verdict::Unsound(_) => wanting.push(Wanting::Verdict),
    }
    if claims.rounds < ROUNDS {
        wanting.push(Wanting::Rounds(ROUNDS - claims.rounds));
    }
    if let Some(have) = progress.instances.filter(|have| *have < INSTANCES) {
        wanting.push(Wanting::Instances(INSTANCES - have));
    }
    let imprecise = |cell: &usize| !precise(claims, *cell, progress.precision);
    wanting.extend(narrowed(claims).filter(imprecise).map(Wanting::Precision));
    wanting
}

fn leading(claims: &Claims) -> Option<usize> {
    match claims.verdict {
        Verdict::Winner { cell, .. } => Some(cell),
        _ => claims.pick.map(|pick| pick.cell),
    }
}

/// Whether a cell's interval is no wider than ± this share about its middle.
fn precise(claims: &Claims, cell: usize, precision: f64) -> bool {
    let cell = &claims.cells[cell];
    (cell.high - cell.low) / 2.0 <= precision.ln_1p()
}

/// The cell whose interval is narrowed before an answer stops: of all beside the winner or the pick
/// the one with the smallest regret at most. More rounds only make it smaller, and who has left is
/// bounded as it was: so it is the same one to the end, and not one that is measured no more.
pub fn narrowed(claims: &Claims) -> Option<usize> {
    let leading = leading(claims)?;
    let key = |cell: &usize| (claims.cells[*cell].high, claims.cells[*cell].low);
    let others = claims.compared().into_iter().filter(|cell| *cell != leading);
    others.min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

/// Cells that may leave the rounds: slower, settled (an excluded cell that is not would leave the
/// others' bounds as they are for good), and not the one whose interval is yet to be narrowed.
pub fn leaving(claims: &Claims, precision: f64) -> Vec<usize> {
    let narrowed = narrowed(claims).filter(|cell| !precise(claims, *cell, precision));
    let cells = claims.cells.iter().enumerate();
    let settled = cells.filter(|(_, cell)| cell.standing == Standing::Slower && cell.settled);
    settled.map(|(at, _)| at).filter(|at| Some(*at) != narrowed).collect()
}

#[cfg(test)]
mod tests {
    use super::{Progress, Wanting, leaving, wanting};
    use crate::claims::{Claims, Facts, Rules, Table, Trial, claims};

    /// Cells at these levels with a small seesaw.
    fn seen(levels: &[f64], rounds: usize, seesaw: f64) -> Claims {
        let trial = |round: usize, cell: usize| {
            Trial::Took(levels[cell] + seesaw * ((round * 7 + cell * 3) % 5) as f64)
        };
        let round = |round| (0..levels.len()).map(|cell| trial(round, cell)).collect();
        let table = Table::from_rounds(levels.len(), (0..rounds + 1).map(round).collect(), 1);
        claims(&table, &Rules::default(), &Facts::default())
    }

    const AT_FIVE: Progress = Progress { instances: None, precision: 0.05 };

    #[test]
    fn an_answer_goes_on_until_all_is_there() {
        let early = wanting(&seen(&[0.0, 0.5, 0.9], 4, 0.0), &AT_FIVE);
        assert_eq!(early[..2], [Wanting::Verdict, Wanting::Rounds(16)]);
        assert_eq!(wanting(&seen(&[0.0, 0.5, 0.9], 12, 0.0), &AT_FIVE), [Wanting::Rounds(8)]);
        assert_eq!(wanting(&seen(&[0.0, 0.5, 0.9], 20, 0.0), &AT_FIVE), []);
        let places = Progress { instances: Some(3), ..AT_FIVE };
        assert_eq!(wanting(&seen(&[0.0, 0.5], 20, 0.0), &places), [Wanting::Instances(2)]);
        let wide = seen(&[0.0, 1.0, 1.9], 20, 0.05);
        assert_eq!(wanting(&wide, &AT_FIVE), [Wanting::Precision(1)]);
        assert_eq!(leaving(&wide, 0.05), [2]);
    }

    /// One of two that were about as far behind left, and as the other's interval became narrow it was
    /// the one that was waited for: the run went on to its last second for a cell that had left.
    #[test]
    fn the_cell_that_is_waited_for_does_not_change() {
        let wide = seen(&[0.0, 1.0, 1.0, 1.9], 20, 0.05);
        let [Wanting::Precision(waited)] = wanting(&wide, &AT_FIVE)[..] else { panic!("{wide:?}") };
        let gone = leaving(&wide, 0.05);
        assert_eq!(gone.len(), 2);
        let narrower = |cell: usize, share: f64| {
            let mut later = wide.clone();
            let middle = (wide.cells[cell].low + wide.cells[cell].high) / 2.0;
            later.cells[cell].low += share * (middle - later.cells[cell].low);
            later.cells[cell].high -= share * (later.cells[cell].high - middle);
            wanting(&later, &AT_FIVE)
        };
        assert_eq!(narrower(waited, 0.1), [Wanting::Precision(waited)]);
        assert_eq!(narrower(waited, 0.9), []);
    }

    #[test]
    fn only_the_settled_leave() {
        // Excluded after 8 rounds, settled after 10 (E(10, 10) = 186 ≥ 2k/α = 120).
        let excluded = seen(&[0.0, 0.5, 0.9], 8, 0.0);
        assert_eq!((excluded.best.as_slice(), leaving(&excluded, 0.05)), ([0].as_slice(), vec![]));
        let settled = seen(&[0.0, 0.5, 0.9], 10, 0.0);
        assert_eq!(leaving(&settled, 0.05), [1, 2]);
    }
}
