//! A run as a claim sees it: the cells of a side, two sides against each other.

use super::best_of::{Against, BestOf};
use super::evidence::{How, Ratio, contrast, ratio};
use super::select::Selection;
use super::shown::lacking;
use super::terms::{Choice, Measure, Per};
use iolab_model::catalog::{Factor, Level};
use iolab_model::result::{CellRecord, Document, Interval};

/// What a claim asks of its run. What cannot be had is an `Err` with the reason.
#[derive(Clone)]
pub(super) struct Bench<'a> {
    pub(super) document: &'a Document,
    /// The claim's cells: all of them, or those of one level where it is asked for each.
    pub(super) of: Selection,
    pub(super) measure: Measure,
    pub(super) per: Per,
    pub(super) choice: Choice,
    /// The factor in whose mean it must hold.
    pub(super) average: Option<Factor>,
    /// Error allowed.
    pub(super) alpha: f64,
}

impl<'a> Bench<'a> {
    /// The cells of a side that were measured. Every one of them is wanted where the claim says so.
    pub(super) fn cells(&self, side: &Selection) -> Result<Vec<&'a CellRecord>, String> {
        let wanted = self.of.and(side);
        let all = wanted.cells(self.document);
        let why = all.iter().find_map(|cell| lacking(cell));
        let able: Vec<&CellRecord> =
            all.iter().copied().filter(|cell| lacking(cell).is_none()).collect();
        match (able.is_empty(), why) {
            (_, Some(why)) if self.choice == Choice::Every => Err(why),
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

    /// A difference smaller than this share does not matter: what the run calls alike.
    pub(super) fn delta(&self) -> f64 {
        self.document.experiment.protocol.delta
    }

    /// How cells are compared where the claim's error is shared by so many looks.
    pub(super) fn how(&self, looks: usize) -> How {
        let error = self.alpha / looks.max(1) as f64;
        How { measure: self.measure, per: self.per, error }
    }

    /// Time of b over time of a, the best of each side or every pair of them.
    pub(super) fn sides(
        &self,
        a: &Selection,
        b: &Selection,
        looks: usize,
    ) -> Result<Against, String> {
        match self.average {
            Some(axis) => Ok(Against::of(self.averaged(axis, a, b, looks)?)),
            None => self.between(&self.cells(a)?, &self.cells(b)?, looks),
        }
    }

    /// The same of cells.
    pub(super) fn between(
        &self,
        a: &[&'a CellRecord],
        b: &[&'a CellRecord],
        looks: usize,
    ) -> Result<Against, String> {
        let how = self.how(looks);
        match self.choice {
            Choice::Best => BestOf::of(self.document, a, b, how)?.against(),
            Choice::Every => self.every(a, b, looks).map(Against::of),
        }
    }

    /// The pair that a gains least over. That every pair gains is said wrongly only where the one
    /// that does not is judged wrongly, so that each lower bound may have the whole error; to name
    /// one that does not is a choice, and the upper bounds share it.
    fn every(
        &self,
        a: &[&'a CellRecord],
        b: &[&'a CellRecord],
        looks: usize,
    ) -> Result<Ratio, String> {
        let pairs = || a.iter().flat_map(|first| b.iter().map(move |second| (*first, *second)));
        let at = |looks: usize| -> Result<Vec<Ratio>, String> {
            let how = self.how(looks);
            let one = |(first, second): (&CellRecord, &CellRecord)| {
                ratio(first, second, self.document, how)
                    .ok_or_else(|| apart(self.measure, first, second))
            };
            pairs().map(one).collect()
        };
        let (alone, shared) = (at(looks)?, at(looks * (a.len() * b.len()).max(1))?);
        let low = |r: &Ratio| r.interval.low.unwrap_or(0.0);
        let high = |r: &Ratio| r.interval.high.unwrap_or(f64::INFINITY);
        let least = |all: &[Ratio], of: &dyn Fn(&Ratio) -> f64| {
            all.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let interval = Interval {
            low: Some(least(&alone, &low)).filter(|low| *low > 0.0 && low.is_finite()),
            high: Some(least(&shared, &high)).filter(|high| high.is_finite()),
        };
        let ratio = least(&alone, &|r: &Ratio| r.ratio);
        ratio.is_finite().then_some(Ratio { ratio, interval }).ok_or("nothing was compared".into())
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

/// Why two cells cannot be compared.
fn apart(measure: Measure, first: &CellRecord, second: &CellRecord) -> String {
    let seen = match measure {
        Measure::Elapsed => "",
        _ => " in which the kernel saw any of it",
    };
    format!("{} and {} share no steady round{seen}", first.id, second.id)
}
