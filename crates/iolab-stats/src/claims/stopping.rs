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

/// Whether a cell is still in the rounds: of one that has left there is no more to come.
pub type IsHere<'a> = &'a dyn Fn(usize) -> bool;

/// What is wanting, the weightiest first; empty: the answer may stop at the end of this round.
pub fn wanting(claims: &Claims, progress: &Progress, is_here: IsHere<'_>) -> Vec<Wanting> {
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
    wanting.extend(narrowed(claims, is_here).filter(imprecise).map(Wanting::Precision));
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

/// The cell whose interval is narrowed before an answer stops: of those still here beside the winner
/// or the pick, the one with the smallest regret at most. More rounds only make it smaller, so that it
/// is the same one to the end. A nearer one that had left in a restless moment let the last rival
/// leave, too: a run that was to be precise ended after two of its ten seconds with 1.05–1.55.
pub fn narrowed(claims: &Claims, is_here: IsHere<'_>) -> Option<usize> {
    let leading = leading(claims)?;
    let key = |cell: &usize| (claims.cells[*cell].high, claims.cells[*cell].low);
    let others = claims.compared().into_iter().filter(|cell| *cell != leading && is_here(*cell));
    others.min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

/// Cells that may leave the rounds: slower, settled (an excluded cell that is not would leave the
/// others' bounds as they are for good), and not the one whose interval is yet to be narrowed.
pub fn leaving(claims: &Claims, precision: f64, is_here: IsHere<'_>) -> Vec<usize> {
    let narrowed = narrowed(claims, is_here).filter(|cell| !precise(claims, *cell, precision));
    let cells = claims.cells.iter().enumerate();
    let settled = cells.filter(|(_, cell)| cell.standing == Standing::Slower && cell.settled);
    settled.map(|(at, _)| at).filter(|at| is_here(*at) && Some(*at) != narrowed).collect()
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

    const ALL: super::IsHere<'static> = &|_| true;
    const AT_FIVE: Progress = Progress { instances: None, precision: 0.05 };

    #[test]
    fn an_answer_goes_on_until_all_is_there() {
        let early = wanting(&seen(&[0.0, 0.5, 0.9], 4, 0.0), &AT_FIVE, ALL);
        assert_eq!(early[..2], [Wanting::Verdict, Wanting::Rounds(16)]);
        assert_eq!(wanting(&seen(&[0.0, 0.5, 0.9], 12, 0.0), &AT_FIVE, ALL), [Wanting::Rounds(8)]);
        assert_eq!(wanting(&seen(&[0.0, 0.5, 0.9], 20, 0.0), &AT_FIVE, ALL), []);
        let places = Progress { instances: Some(3), ..AT_FIVE };
        assert_eq!(wanting(&seen(&[0.0, 0.5], 20, 0.0), &places, ALL), [Wanting::Instances(2)]);
        let wide = seen(&[0.0, 1.0, 1.9], 20, 0.05);
        assert_eq!(wanting(&wide, &AT_FIVE, ALL), [Wanting::Precision(1)]);
        assert_eq!(leaving(&wide, 0.05, ALL), [2]);
    }

    /// One of two that were about as far behind left, and as the other's interval became narrow it was
    /// the one that was waited for: the run went on to its last second for a cell that had left.
    #[test]
    fn the_cell_that_is_waited_for_does_not_change() {
        let wide = seen(&[0.0, 1.0, 1.0, 1.9], 20, 0.05);
        let [Wanting::Precision(waited)] = wanting(&wide, &AT_FIVE, ALL)[..] else {
            panic!("{wide:?}")
        };
        let gone = leaving(&wide, 0.05, ALL);
        assert_eq!(gone.len(), 2);
        let narrower = |cell: usize, share: f64| {
            let mut later = wide.clone();
            let middle = (wide.cells[cell].low + wide.cells[cell].high) / 2.0;
            later.cells[cell].low += share * (middle - later.cells[cell].low);
            later.cells[cell].high -= share * (later.cells[cell].high - middle);
            wanting(&later, &AT_FIVE, ALL)
        };
        assert_eq!(narrower(waited, 0.1), [Wanting::Precision(waited)]);
        assert_eq!(narrower(waited, 0.9), []);
    }

    /// In a restless moment 64 KiB left with 1.05–1.55, nearer at most than 256 KiB, which so was no
    /// longer the one to narrow and left as well: asked for 0.1 %, the run ended after 2 of 10 s.
    #[test]
    fn the_last_rival_stays_until_it_is_known_as_well_as_was_asked_for() {
        let wide = seen(&[0.0, 1.0, 1.1, 1.9], 20, 0.05);
        let [Wanting::Precision(nearest)] = wanting(&wide, &AT_FIVE, ALL)[..] else { panic!() };
        let gone = |cell: usize| cell != nearest;
        let [Wanting::Precision(next)] = wanting(&wide, &AT_FIVE, &gone)[..] else { panic!() };
        assert_ne!(next, nearest);
        let leave = leaving(&wide, 0.05, &gone);
        assert!(!leave.contains(&next) && !leave.contains(&nearest) && leave.len() == 1);
        // None is left to narrow.
        assert_eq!(wanting(&wide, &AT_FIVE, &|cell| cell == 0), []);
    }

    #[test]
    fn only_the_settled_leave() {
        // Excluded after 8 rounds, settled after 10 (E(10, 10) = 186 ≥ 2k/α = 120).
        let excluded = seen(&[0.0, 0.5, 0.9], 8, 0.0);
        assert_eq!(
            (excluded.best.as_slice(), leaving(&excluded, 0.05, ALL)),
            ([0].as_slice(), vec![])
        );
        let settled = seen(&[0.0, 0.5, 0.9], 10, 0.0);
        assert_eq!(leaving(&settled, 0.05, ALL), [1, 2]);
    }
}
