//! Who is not the best.
//!
//! Each round a cell meets one opponent, chosen from the past alone. E_i counts the units in which
//! it took longer. Cell i is excluded when for every m the mean of E_i and the m smallest of the
//! other E's is at least 1/α (closed testing with averaged e-values, Vovk & Wang 2021): if T are the
//! truly best, the mean over T is itself an e-process, and it must reach 1/α before any cell of T
//! can go. So any truly best cell is ever excluded with probability at most α.

use super::evidence::ln_evidence;
use super::series::median_of_sorted;
use crate::series::median_in_place;

/// A cell not seen for this many rounds is nobody's opponent. Longer than the pause of one that is
/// measured every fourth round.
const RECENT: usize = 4;

/// Where one cell stands.
#[derive(Clone, Debug, Default)]
pub(crate) struct Line {
    /// y of all earlier rounds, warm-up included, sorted; a lost trial is +∞.
    past: Vec<f64>,
    /// The last round it was in.
    last: Option<usize>,
    /// Chosen at the start of the unit under way.
    opponent: Option<usize>,
    /// y_i − y_opponent of the unit under way.
    open: Vec<f64>,
    /// y_i − y_opponent by unit; ±∞ where one was lost.
    pub(crate) d: Vec<f64>,
    /// Units in which it took longer than its opponent. A tie is not a win but does count: under
    /// the null P(d > 0) ≤ ½ holds with ties as well.
    pub(crate) wins: u32,
    /// ln E_i.
    pub(crate) ln_e: f64,
    /// Ever excluded.
    pub(crate) excluded: bool,
    /// Excluded, and E_i ever reached 2k/α: that its regret is above 0 is within the α/2 of all
    /// lower bounds.
    pub(crate) settled: bool,
    /// Some trial ended.
    pub(crate) finished: bool,
    /// Given up without proof.
    pub(crate) dropped: bool,
}

impl Line {
    /// Median y of the past; NaN without one.
    pub(crate) fn median(&self) -> f64 {
        median_of_sorted(&self.past)
    }

    /// Whether anything is said of it.
    pub(crate) fn compared(&self) -> bool {
        self.finished && !self.dropped
    }

    fn remember(&mut self, y: f64, round: usize) {
        if !y.is_nan() {
            self.past.insert(self.past.partition_point(|other| *other < y), y);
            self.last = Some(round);
            self.finished |= y.is_finite();
        }
    }

    /// The unit under way is whole: its median counts once.
    fn close(&mut self) {
        let d = median_in_place(&mut self.open);
        self.open.clear();
        if !d.is_nan() {
            self.d.push(d);
            self.wins += u32::from(d > 0.0);
            self.ln_e = ln_evidence(self.d.len() as u32, self.wins);
        }
    }
}

/// The running process of exclusion, one round at a time: O(k) a round and a sorted insertion.
#[derive(Clone, Debug)]
pub(crate) struct Exclusion {
    pub(crate) lines: Vec<Line>,
    alpha: f64,
    unit_rounds: usize,
    /// Rounds seen, warm-up included.
    rounds: usize,
    /// Steady rounds of the unit under way.
    open_rounds: usize,
}

impl Exclusion {
    pub(crate) fn new(cells: usize, alpha: f64, unit_rounds: usize) -> Exclusion {
        let unit_rounds = unit_rounds.max(1);
        let lines = vec![Line::default(); cells];
        Exclusion { lines, alpha, unit_rounds, rounds: 0, open_rounds: 0 }
    }

    /// A round by cell, as [`super::Trial::y`]. True where it completed a unit.
    pub(crate) fn push(&mut self, y: &[f64], steady: bool) -> bool {
        if steady && self.open_rounds == 0 {
            self.choose();
        }
        if steady {
            for (cell, line) in self.lines.iter_mut().enumerate() {
                let d = line.opponent.map_or(f64::NAN, |opponent| y[cell] - y[opponent]);
                if !d.is_nan() {
                    line.open.push(d);
                }
            }
            self.open_rounds += 1;
        }
        for (line, y) in self.lines.iter_mut().zip(y) {
            line.remember(*y, self.rounds);
        }
        self.rounds += 1;
        self.open_rounds >= self.unit_rounds && self.close()
    }

    /// Ends the unit under way, if there is one; true where there was.
    pub(crate) fn close(&mut self) -> bool {
        if self.open_rounds == 0 {
            return false;
        }
        self.open_rounds = 0;
        self.lines.iter_mut().for_each(Line::close);
        self.exclude();
        true
    }

    /// Opponents for the next unit, from the past alone: the cell with the smallest median, for that
    /// cell itself the next one. Only among those that are not excluded and were measured of late;
    /// where such a cell is then not measured, the round carries no evidence.
    fn choose(&mut self) {
        let mut first: Option<(usize, f64)> = None;
        let mut second: Option<(usize, f64)> = None;
        for (cell, line) in self.lines.iter().enumerate() {
            let recent = line.last.is_some_and(|last| last + RECENT >= self.rounds);
            let median = line.median();
            if line.excluded || line.dropped || !recent || !median.is_finite() {
                continue;
            }
            if first.is_none_or(|(_, least)| median < least) {
                second = first.replace((cell, median));
            } else if second.is_none_or(|(_, least)| median < least) {
                second = Some((cell, median));
            }
        }
        let (first, second) = (first.map(|f| f.0), second.map(|s| s.0));
        for (cell, line) in self.lines.iter_mut().enumerate() {
            line.opponent = if first == Some(cell) { second } else { first };
        }
    }

    /// What is excluded now, for good.
    fn exclude(&mut self) {
        let bar = self.ln_bar();
        let reaches = |line: &Line| !line.excluded && line.ln_e >= bar;
        // Were every cell slower than another, ratios would run in a circle; the least doubtful stay.
        let stay = self.lines.iter().any(|l| !l.excluded && l.compared() && !reaches(l));
        let open = self.lines.iter().filter(|l| !l.excluded && l.compared());
        let least = open.map(|l| l.ln_e).fold(f64::INFINITY, f64::min);
        let settled = (2.0 * self.lines.len() as f64 / self.alpha).ln();
        for line in &mut self.lines {
            let last = !stay && line.compared() && line.ln_e <= least;
            line.excluded |= line.ln_e >= bar && !last;
            line.settled |= line.excluded && line.ln_e >= settled;
        }
    }

    /// ln of what E must reach now. With the others sorted, (m+1)/α less the m smallest is greatest
    /// where m counts all that are under 1/α, so the closure over all subsets comes down to
    /// E_i ≥ 1/α + Σ max(0, 1/α − E_j). Cells excluded before are out of it: until an error has
    /// been made none of T is among them, so T is still one of the sets that are asked.
    fn ln_bar(&self) -> f64 {
        let one = 1.0 / self.alpha;
        let open = self.lines.iter().filter(|line| !line.excluded);
        let short: f64 = open.map(|line| (one - line.ln_e.exp()).max(0.0)).sum();
        (one + short).ln()
    }
}

#[cfg(test)]
mod tests {
    use super::Exclusion;
    use proptest::prelude::*;

    /// The rule as the page has it.
    fn by_subsets(e: &[f64], alpha: f64, i: usize) -> bool {
        let mut others: Vec<f64> = (0..e.len()).filter(|j| *j != i).map(|j| e[j]).collect();
        others.sort_unstable_by(f64::total_cmp);
        (0..e.len())
            .all(|m| (e[i] + others[..m].iter().sum::<f64>()) / (m as f64 + 1.0) >= 1.0 / alpha)
    }

    proptest! {
        #[test]
        fn one_sum_is_the_whole_closure(ln_e in prop::collection::vec(-3.0..8.0f64, 1..12)) {
            let mut all = Exclusion::new(ln_e.len(), 0.05, 1);
            for (line, ln_e) in all.lines.iter_mut().zip(&ln_e) {
                line.ln_e = *ln_e;
            }
            let bar = all.ln_bar();
            let e: Vec<f64> = ln_e.iter().map(|e| e.exp()).collect();
            for (i, ln_e) in ln_e.iter().enumerate() {
                prop_assert_eq!(*ln_e >= bar, by_subsets(&e, 0.05, i));
            }
        }
    }

    fn rounds(all: &mut Exclusion, y: &[f64], steady: bool, n: usize) {
        for _ in 0..n {
            all.push(y, steady);
        }
    }

    #[test]
    fn eight_clear_rounds_exclude_all_losers_of_any_number() {
        for k in [2usize, 5, 24, 1000] {
            let mut all = Exclusion::new(k, 0.05, 1);
            let y: Vec<f64> = (0..k).map(|cell| cell as f64).collect();
            rounds(&mut all, &y, false, 1);
            rounds(&mut all, &y, true, 7);
            assert!(all.lines.iter().all(|line| !line.excluded), "k {k}");
            rounds(&mut all, &y, true, 1);
            let out = all.lines.iter().filter(|line| line.excluded).count();
            assert_eq!((out, all.lines[0].excluded), (k - 1, false), "k {k}");
        }
    }

    #[test]
    fn the_first_round_of_all_has_no_past_and_so_no_evidence() {
        let mut all = Exclusion::new(2, 0.05, 1);
        all.push(&[0.0, 1.0], true);
        assert!(all.lines.iter().all(|line| line.d.is_empty()));
        all.push(&[0.0, 1.0], true);
        assert_eq!((all.lines[0].d.as_slice(), all.lines[1].wins), ([-1.0].as_slice(), 1));
    }

    #[test]
    fn the_excluded_and_the_long_absent_are_no_opponents() {
        let mut all = Exclusion::new(3, 0.05, 1);
        rounds(&mut all, &[0.0, 1.0, 2.0], false, 2);
        // Cell 0 stops: for four rounds it is still waited for, then cell 1 takes its place.
        rounds(&mut all, &[f64::NAN, 1.0, 2.0], true, 4);
        assert!(all.lines[2].d.is_empty());
        rounds(&mut all, &[f64::NAN, 1.0, 2.0], true, 9);
        assert_eq!(all.lines[2].wins, 9);
        assert!(all.lines[2].excluded && !all.lines[1].excluded && !all.lines[0].excluded);
        // Absent from now on, it stays excluded and its figures stay.
        rounds(&mut all, &[f64::NAN, 1.0, f64::NAN], true, 9);
        assert!(all.lines[2].excluded && all.lines[2].wins == 9);
    }

    #[test]
    fn a_unit_counts_once_and_only_when_whole() {
        let mut all = Exclusion::new(2, 0.05, 3);
        rounds(&mut all, &[0.0, 1.0], false, 1);
        assert!(!all.push(&[0.0, 1.0], true) && !all.push(&[0.0, 3.0], true));
        assert!(all.lines[1].d.is_empty());
        assert!(all.push(&[0.0, 2.0], true));
        assert_eq!(all.lines[1].d, [2.0]);
        all.push(&[0.0, 5.0], true);
        assert!(all.close() && !all.close());
        assert_eq!(all.lines[1].d, [2.0, 5.0]);
    }

    #[test]
    fn ties_win_nothing_and_the_last_cell_stays() {
        let mut all = Exclusion::new(2, 0.05, 1);
        rounds(&mut all, &[1.0, 1.0], true, 50);
        assert!(all.lines.iter().all(|line| line.wins == 0 && !line.excluded));
        assert!(all.lines[0].ln_e < -3.0);
    }
}
