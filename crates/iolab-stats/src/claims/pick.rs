//! The pick, the plateau and the verdict.

/// The cell that an answer ends in.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Pick {
    /// Index within the answer.
    pub cell: usize,
    /// Its regret is at most this (a logarithm).
    pub at_most: f64,
    /// Whether that is within δ.
    pub within: bool,
}

/// The cheapest among the cells whose U is within δ (a share); where there is none, the cell with
/// the smallest U. `high` is U by cell, `cost` a key by cell of which less is cheaper (the smallest
/// block, the fewest threads; equal keys and cells beyond its end go by index), `compared` the cells
/// that may be picked. `None` where no U is finite.
pub fn pick(high: &[f64], cost: &[u64], compared: &[usize], delta: f64) -> Option<Pick> {
    let key = |cell: &usize| (cost.get(*cell).copied().unwrap_or(0), *cell);
    let within = |cell: usize| high[cell] <= delta.ln_1p();
    let cheapest = compared.iter().copied().filter(|cell| within(*cell)).min_by_key(key);
    let surest = || {
        let finite = compared.iter().copied().filter(|cell| high[*cell].is_finite());
        finite.min_by(|a, b| high[*a].total_cmp(&high[*b]).then_with(|| key(a).cmp(&key(b))))
    };
    let cell = cheapest.or_else(surest)?;
    Some(Pick { cell, at_most: high[cell], within: within(cell) })
}

/// The first cell along an ordered axis (fewest workers first, say) whose U is within δ.
pub fn plateau(high: &[f64], axis: &[usize], delta: f64) -> Option<Pick> {
    let cell = axis.iter().copied().find(|cell| high[*cell] <= delta.ln_1p())?;
    Some(Pick { cell, at_most: high[cell], within: true })
}

/// Why nothing can be said.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Unsound {
    /// Digest, bytes or the proof of the state are not as they must be.
    WorkNotDone,
    /// The clock was set or went backwards.
    ClockMoved,
    /// The twin's own evidence that it differs from itself reached 100.
    Control,
    /// Under five steady rounds.
    FewRounds,
}

/// Where an answer stands. Where cells are not compared, it is "of those compared".
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// The set of the best has one cell.
    Winner {
        /// Which.
        cell: usize,
        /// Every other's lower bound is beyond δ.
        clear: bool,
    },
    /// Every cell of the set of the best is within δ.
    Tie,
    /// Several may be the best.
    Several,
    /// One cell only was compared: there is nothing to win.
    Alone,
    /// Nothing can be said, for these reasons.
    Unsound(Vec<Unsound>),
}

/// The verdict from the set of the best, the compared cells, and L and U by cell.
pub(crate) fn verdict(
    best: &[usize],
    compared: &[usize],
    low: &[f64],
    high: &[f64],
    delta: f64,
) -> Verdict {
    let matters = delta.ln_1p();
    if compared.len() < 2 {
        return Verdict::Alone;
    }
    if let [cell] = *best {
        let clear = compared.iter().all(|other| *other == cell || low[*other] > matters);
        return Verdict::Winner { cell, clear };
    }
    match best.iter().all(|cell| high[*cell] <= matters) {
        true => Verdict::Tie,
        false => Verdict::Several,
    }
}

#[cfg(test)]
mod tests {
    use super::{Verdict, pick, plateau, verdict};

    const ALL: [usize; 4] = [0, 1, 2, 3];

    #[test]
    fn the_cheapest_within_delta_else_the_surest() {
        let high = [0.10, 0.01, 0.0, 0.019];
        let chosen = pick(&high, &[1, 9, 9, 3], &ALL, 0.02).unwrap();
        assert_eq!((chosen.cell, chosen.within), (3, true));
        assert_eq!(pick(&high, &[], &ALL, 0.02).unwrap().cell, 1);
        assert_eq!(pick(&high, &[], &[0, 2], 0.02).unwrap().cell, 2);
        let surest = pick(&[0.3, 0.2, 0.2, f64::INFINITY], &[0, 2, 1, 0], &ALL, 0.02).unwrap();
        assert_eq!((surest.cell, surest.within), (2, false));
        assert_eq!(pick(&[f64::INFINITY; 4], &[], &ALL, 0.02), None);
        assert_eq!(plateau(&high, &[0, 3, 1], 0.02).unwrap().cell, 3);
        assert_eq!(plateau(&high, &[0], 0.02), None);
    }

    #[test]
    fn verdicts() {
        let low = [0.0, 0.5, 0.01, 0.0];
        let of = |best: &[usize], compared: &[usize], high: &[f64]| {
            verdict(best, compared, &low, high, 0.02)
        };
        assert_eq!(of(&[0], &[0, 1], &[0.0; 4]), Verdict::Winner { cell: 0, clear: true });
        assert_eq!(of(&[0], &[0, 1, 2], &[0.0; 4]), Verdict::Winner { cell: 0, clear: false });
        assert_eq!(of(&[0, 3], &[0, 3], &[0.01; 4]), Verdict::Tie);
        assert_eq!(of(&[0, 3], &[0, 3], &[0.01, 0.0, 0.0, 0.03]), Verdict::Several);
        assert_eq!(of(&[0], &[0], &[0.0; 4]), Verdict::Alone);
    }
}
