//! How two cells of one answer stand to each other, as far as its claims show it.

use super::answer::{Answer, AnswerKind, CellStanding, Regret, Verdict};

/// Time of one cell over the time of another, as far as an answer shows it: never more than what it
/// says of each of them against the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Apart {
    /// At least so many times as long; absent where nothing bounds it.
    pub low: Option<f64>,
    /// And at most.
    pub high: Option<f64>,
    /// What is shown of the first.
    pub verdict: Verdict,
}

/// How many times the best's time, at least and, where something bounds it, at most.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Bounds {
    low: f64,
    high: Option<f64>,
}

impl Bounds {
    /// At least and at most so many times as long as another, as far as it is bounded.
    pub fn over(self, other: Bounds) -> (Option<f64>, Option<f64>) {
        let low = other.high.filter(|high| *high > 0.0).map(|high| self.low / high);
        (low, self.high.map(|high| high / other.low))
    }
}

impl Answer {
    /// The first cell against the second, `delta` a share; absent where one of them is not compared.
    ///
    /// The first takes at least L of the best's time and the second at most U of it, all at once
    /// with the answer's guarantee: so the first takes at least L / U of the second's.
    pub fn apart(&self, first: &str, second: &str, delta: f64) -> Option<Apart> {
        if self.kind == AnswerKind::Invalid || first == second {
            return None;
        }
        let (a, b) = (self.regret_of(first)?, self.regret_of(second)?);
        let (low, high) = self.bounds(a).over(self.bounds(b));
        // Who alone may be the best is faster than who is shown not to be it, by however little.
        let beats = |a: &Regret, b: &Regret| {
            self.standing_of(&a.cell) == CellStanding::Best
                && self.standing_of(&b.cell) == CellStanding::Slower
        };
        let verdict = match (low, high) {
            _ if beats(b, a) => Verdict::Slower,
            _ if beats(a, b) => Verdict::Faster,
            (Some(low), _) if low > 1.0 => Verdict::Slower,
            (_, Some(high)) if high < 1.0 => Verdict::Faster,
            (Some(low), Some(high)) if low >= 1.0 / (1.0 + delta) && high <= 1.0 + delta => {
                Verdict::Equivalent
            }
            _ => Verdict::Undecided,
        };
        Some(Apart { low, high, verdict })
    }

    /// Time of the first over that of the second, the median of the rounds that they share: a figure
    /// beside the bounds, which proves nothing.
    pub fn ratio_of(&self, first: &str, second: &str) -> Option<f64> {
        self.comparisons.iter().find_map(|pair| match (&*pair.a, &*pair.b) {
            (a, b) if a == first && b == second => Some(pair.ratio),
            (a, b) if a == second && b == first && pair.ratio > 0.0 => Some(1.0 / pair.ratio),
            _ => None,
        })
    }

    /// How many times the best's time a cell takes.
    pub fn bounds(&self, regret: &Regret) -> Bounds {
        // The only one that may be the best is the best.
        let high = match self.standing_of(&regret.cell) {
            CellStanding::Best => Some(1.0),
            _ => regret.high,
        };
        Bounds { low: regret.low.max(1.0), high }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::{Answer, AnswerKind, Grade, Regret, Verdict};
    use crate::catalog::Levels;

    /// What is known of cells: each with its regret at least and at most.
    pub(crate) fn answer(best: &[&str], regrets: &[(&str, f64, Option<f64>)]) -> Answer {
        Answer {
            condition: Levels::new(),
            kind: if best.len() == 1 { AnswerKind::Winner } else { AnswerKind::Undecided },
            best: best.iter().map(|id| (*id).to_owned()).collect(),
            pick: None,
            regret: regrets
                .iter()
                .map(|(cell, low, high)| Regret {
                    cell: (*cell).into(),
                    low: *low,
                    high: *high,
                    excluded: !best.contains(cell),
                })
                .collect(),
            findings: Vec::new(),
            grade: Grade::B,
            raise: None,
            sentence: String::new(),
            rounds: 30,
            detectable: None,
            more_seconds: None,
            warnings: Vec::new(),
            comparisons: Vec::new(),
        }
    }

    #[test]
    fn two_cells_are_as_far_apart_as_their_bounds_against_the_best() {
        let won =
            answer(&["a"], &[("a", 1.0, Some(1.01)), ("b", 1.2, Some(1.4)), ("c", 2.0, None)]);
        let of = |a: &str, b: &str| won.apart(a, b, 0.02).unwrap();
        assert_eq!(of("b", "a").verdict, Verdict::Slower);
        // The winner is the best: nothing of its own bound is added.
        assert_eq!((of("b", "a").low, of("b", "a").high), (Some(1.2), Some(1.4)));
        assert_eq!(of("a", "b").verdict, Verdict::Faster);
        assert_eq!((of("c", "b").low, of("c", "b").high), (Some(2.0 / 1.4), None));
        assert_eq!(of("c", "b").verdict, Verdict::Slower);
        assert!(won.apart("a", "d", 0.02).is_none() && won.apart("a", "a", 0.02).is_none());
    }

    #[test]
    fn what_is_excluded_is_not_slower_than_each_that_may_be_the_best() {
        let open =
            answer(&["a", "b"], &[("a", 1.0, None), ("b", 1.0, Some(1.1)), ("c", 1.0, None)]);
        assert_eq!(open.apart("c", "b", 0.02).unwrap().verdict, Verdict::Undecided);
        let tie = answer(&["a", "b"], &[("a", 1.0, Some(1.01)), ("b", 1.0, Some(1.015))]);
        assert_eq!(tie.apart("a", "b", 0.02).unwrap().verdict, Verdict::Equivalent);
        // A winner by so little that no bound shows it.
        let won = answer(&["a"], &[("a", 1.0, Some(1.0)), ("b", 1.0, Some(1.4))]);
        assert_eq!(won.apart("b", "a", 0.02).unwrap().verdict, Verdict::Slower);
    }
}
