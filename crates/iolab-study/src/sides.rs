//! Two sides of a claim, each of one cell or several.
//!
//! Where a side has several cells, the best of them is not chosen and then tested as if it had been
//! given: every pair has its interval, at an error divided by the cells of the larger side, and the
//! bounds of the best are the bounds of the pairs put together in the same way.

use super::claim::{Choice, Measure, Spread};
use super::evidence::{How, Ratio, contrast, ratio};
use super::judge::Bench;
use super::select::Selection;
use super::shown::lacking;
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellRecord, Interval};

impl<'a> Bench<'a> {
    /// The cells of a side that were measured. Every one of them is wanted where the claim says so.
    pub(super) fn cells(&self, side: &Selection) -> Result<Vec<&'a CellRecord>, String> {
        let wanted = self.of.and(side);
        let all = wanted.cells(self.document);
        let why = all.iter().find_map(|cell| lacking(cell));
        let able: Vec<&CellRecord> =
            all.iter().copied().filter(|cell| lacking(cell).is_none()).collect();
        match (able.is_empty(), why) {
            (_, Some(why)) if self.claim.choice == Choice::Every => Err(why),
            (false, _) => Ok(able),
            (true, Some(why)) => Err(why),
            (true, None) => Err(format!("no cell was measured with {wanted}")),
        }
    }

    /// The one cell of a side.
    pub(super) fn one(&self, side: &Selection) -> Result<&'a CellRecord, String> {
        match self.cells(side)?[..] {
            [cell] => Ok(cell),
            ref all => Err(format!("{} cells have {}", all.len(), self.of.and(side))),
        }
    }

    pub(super) fn how(&self, looks: usize) -> How {
        let error = self.alpha / looks.max(1) as f64;
        How { measure: self.claim.measure, per: self.claim.per, error }
    }

    /// Time of b over time of a, the best of each side or the worst pair, at the claim's error
    /// divided by the looks it takes.
    pub(super) fn sides(
        &self,
        a: &Selection,
        b: &Selection,
        looks: usize,
    ) -> Result<Ratio, String> {
        if let Spread::Average(axis) = self.claim.spread {
            return self.averaged(axis, a, b, looks);
        }
        self.between(&self.cells(a)?, &self.cells(b)?, looks)
    }

    pub(super) fn between(
        &self,
        a: &[&'a CellRecord],
        b: &[&'a CellRecord],
        looks: usize,
    ) -> Result<Ratio, String> {
        // Of the best: its lower bound is wrong only where one cell of a has a wrong pair with its
        // true rival, its upper bound only where one cell of b has: the error is shared by the
        // larger side. Of every pair: by all of them.
        let pairs = match self.claim.choice {
            Choice::Best => a.len().max(b.len()),
            Choice::Every => a.len() * b.len(),
        };
        let how = self.how(looks * pairs);
        let mut rows = Vec::new();
        for first in a {
            let pair = |second: &&CellRecord| {
                ratio(first, second, self.document, how).ok_or_else(|| {
                    let all_zero = self.claim.measure != Measure::Elapsed;
                    let why = if all_zero { " in which the kernel saw any of it" } else { "" };
                    format!("{} and {} share no steady round{why}", first.id, second.id)
                })
            };
            let pairs: Result<Vec<Ratio>, String> = b.iter().map(pair).collect();
            rows.push(least(pairs?));
        }
        let best = match self.claim.choice {
            Choice::Best => greatest(rows),
            Choice::Every => least(rows.into_iter().flatten().collect()),
        };
        best.ok_or_else(|| "nothing was compared".to_owned())
    }

    /// The mean over the levels of an axis, each in its logarithm.
    fn averaged(
        &self,
        axis: Factor,
        a: &Selection,
        b: &Selection,
        looks: usize,
    ) -> Result<Ratio, String> {
        let levels = self.levels(axis);
        let weight = 1.0 / levels.len().max(1) as f64;
        let mut parts = Vec::new();
        for level in &levels {
            parts.push((weight, self.one(&b.at(axis, level.clone()))?));
            parts.push((-weight, self.one(&a.at(axis, level.clone()))?));
        }
        contrast(&parts, self.document, self.how(looks))
            .ok_or_else(|| format!("the cells along {axis} share no steady round"))
    }

    /// The levels of a factor: those that the claim names, else those of its cells.
    pub(super) fn levels(&self, factor: Factor) -> Vec<Level> {
        let named = self.of.iter().find(|(of, _)| *of == factor);
        let mut levels: Vec<Level> = match named {
            Some((_, levels)) => levels.to_vec(),
            None => {
                let cells = self.of.cells(self.document).into_iter();
                cells.filter_map(|cell| cell.factors.get(factor).cloned()).collect()
            }
        };
        levels.sort();
        levels.dedup();
        levels
    }
}

type Pick = fn(f64, f64) -> f64;

/// The smallest of several ratios, whichever it is.
fn least(all: Vec<Ratio>) -> Option<Ratio> {
    folded(all, f64::min)
}

/// The greatest of those that there are.
fn greatest(all: Vec<Option<Ratio>>) -> Option<Ratio> {
    folded(all.into_iter().flatten().collect(), f64::max)
}

fn folded(all: Vec<Ratio>, pick: Pick) -> Option<Ratio> {
    // An end that is not known may lie anywhere.
    let low = |r: &Ratio| r.interval.low.unwrap_or(0.0);
    let high = |r: &Ratio| r.interval.high.unwrap_or(f64::INFINITY);
    let together = |r: Ratio, s: Ratio| Ratio {
        ratio: pick(r.ratio, s.ratio),
        interval: Interval {
            low: Some(pick(low(&r), low(&s))).filter(|low| *low > 0.0),
            high: Some(pick(high(&r), high(&s))).filter(|high| high.is_finite()),
        },
    };
    all.into_iter().reduce(together)
}

#[cfg(test)]
mod tests {
    use super::{folded, greatest, least};
    use crate::Ratio;
    use iolab_model::result::Interval;

    fn ratio(ratio: f64, low: Option<f64>, high: Option<f64>) -> Ratio {
        Ratio { ratio, interval: Interval { low, high } }
    }

    #[test]
    fn the_best_of_several_has_the_bounds_of_all() {
        let x = ratio(1.2, Some(1.1), Some(1.3));
        let y = ratio(1.25, Some(0.9), Some(1.6));
        assert_eq!(least(vec![x, y]), Some(ratio(1.2, Some(0.9), Some(1.3))));
        assert_eq!(greatest(vec![Some(x), Some(y)]), Some(ratio(1.25, Some(1.1), Some(1.6))));
        let open = ratio(1.0, None, None);
        assert_eq!(greatest(vec![Some(x), Some(open)]), Some(ratio(1.2, Some(1.1), None)));
        assert_eq!(folded(Vec::new(), f64::min), None);
    }
}
