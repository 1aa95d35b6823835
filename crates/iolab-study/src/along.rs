//! Claims along an axis: order, plateau, crossover, scaling.

use super::evidence::{Ratio, figure, median_ns};
use super::judge::{Bench, Ruled, Ruling, Step, Verdict};
use super::select::{Selection, text};
use iolab_model::catalog::{Factor, Kind, Level};
use iolab_model::result::{CellRecord, Interval};

impl<'a> Bench<'a> {
    /// The cells along an axis, from the smallest level on.
    fn along(&self, axis: Factor, of: &Selection) -> Result<Vec<Step<'a>>, String> {
        let of = self.claim.of.and(of);
        let mut levels: Vec<u64> =
            of.cells(self.document).iter().filter_map(|c| c.factors.number(axis)).collect();
        levels.sort_unstable();
        levels.dedup();
        let at = |level: u64| Ok((level, self.cell(&of.at(axis, Level::Number(level)))?));
        let able: Vec<_> = levels.iter().filter_map(|level| at(*level).ok()).collect();
        match able.len() {
            0 | 1 => {
                let first = levels.first().map(|level| at(*level)).transpose();
                let why: String = first.err().unwrap_or_default();
                Err(format!("fewer than two levels of {axis} were measured{}", because(&why)))
            }
            _ => Ok(able),
        }
    }

    pub(super) fn ordered(&self, axis: Factor, falling: bool) -> Ruled {
        let cells = self.along(axis, &Selection::default())?;
        let delta = 1.0 + self.document.experiment.protocol.delta;
        let turn = |r: Ratio| if falling { r } else { inverse(r) };
        // Time of the smaller level over time of the larger one: above 1 where time falls.
        let step = |x: &CellRecord, y: &CellRecord| {
            Ok::<Ratio, String>(turn(self.ratio(y, x, cells.len())?))
        };
        for pair in cells.windows(2) {
            let ratio = step(pair[0].1, pair[1].1)?;
            if ratio.interval.high.is_some_and(|high| high < 1.0 / delta) {
                let why = format!(
                    "not from {} to {}",
                    self.level(axis, pair[0].0),
                    self.level(axis, pair[1].0)
                );
                return Ok(Ruling::by(Verdict::Contradicted, ratio, why));
            }
        }
        let (first, last) = (cells[0], cells[cells.len() - 1]);
        let whole = step(first.1, last.1)?;
        let span = format!("from {} to {}", self.level(axis, first.0), self.level(axis, last.0));
        Ok(match whole {
            r if r.above_one() => {
                Ruling::by(Verdict::Replicated, r, format!("{span}, no step against it"))
            }
            r => Ruling::by(Verdict::Inconclusive, r, span),
        })
    }

    pub(super) fn plateau(&self, axis: Factor, from: u64, tolerance: f64) -> Ruled {
        let cells = self.along(axis, &Selection::default())?;
        let (before, on): (Vec<Step<'_>>, Vec<Step<'_>>) =
            cells.iter().copied().partition(|(level, _)| *level < from);
        let time = |cell: &CellRecord| {
            median_ns(cell, self.claim.measure, self.claim.per).unwrap_or(f64::INFINITY)
        };
        let best = on.iter().min_by(|x, y| time(x.1).total_cmp(&time(y.1)));
        let (Some(best), Some(last_before)) = (best, before.last()) else {
            return Err(format!(
                "nothing was measured on both sides of {}",
                self.level(axis, from)
            ));
        };
        let mut widest: Option<Ratio> = None;
        for (level, cell) in on.iter().filter(|(level, _)| *level != best.0) {
            let ratio = self.ratio(best.1, cell, cells.len())?;
            if ratio.interval.low.is_some_and(|low| low > 1.0 + tolerance) {
                let why = format!(
                    "{} is still slower than {}",
                    self.level(axis, *level),
                    self.level(axis, best.0)
                );
                return Ok(Ruling::by(Verdict::Contradicted, ratio, why));
            }
            if widest.is_none_or(|w| ratio.interval.high > w.interval.high) {
                widest = Some(ratio);
            }
        }
        let step = self.ratio(best.1, last_before.1, cells.len())?;
        let flat =
            widest.is_none_or(|w| w.interval.high.is_some_and(|high| high <= 1.0 + tolerance));
        let why = format!(
            "{} against the best from {} on",
            self.level(axis, last_before.0),
            self.level(axis, from)
        );
        Ok(match (flat, step) {
            (true, r) if r.above_one() => Ruling::by(Verdict::Replicated, r, why),
            (_, r) if r.interval.high.is_some_and(|h| h <= 1.0 + tolerance / 2.0) => {
                Ruling::by(Verdict::Contradicted, r, format!("the plateau begins earlier: {why}"))
            }
            (_, r) => Ruling::by(Verdict::Inconclusive, r, why),
        })
    }

    pub(super) fn crossover(
        &self,
        axis: Factor,
        (a, b): (&Selection, &Selection),
        near: u64,
        within: f64,
    ) -> Ruled {
        let levels: Vec<u64> = self.along(axis, a)?.iter().map(|(level, _)| *level).collect();
        let mut seen: Vec<(u64, Ratio)> = Vec::new();
        for level in &levels {
            let at = |side: &Selection| self.cell(&side.at(axis, Level::Number(*level)));
            if let (Ok(first), Ok(second)) = (at(a), at(b)) {
                seen.push((*level, self.ratio(first, second, levels.len())?));
            }
        }
        let last_a = seen.iter().rev().find(|(_, r)| r.above_one());
        let first_b = seen.iter().find(|(_, r)| r.below_one());
        match (last_a, first_b) {
            (Some((low, _)), Some((high, ratio))) if low < high => {
                let found = ((*low as f64) * (*high as f64)).sqrt();
                let place =
                    format!("between {} and {}", self.level(axis, *low), self.level(axis, *high));
                let factor = (found / near as f64).max(near as f64 / found);
                let verdict =
                    if factor <= within { Verdict::Replicated } else { Verdict::Contradicted };
                Ok(Ruling::by(verdict, *ratio, format!("it lies {place}")))
            }
            (Some((low, _)), Some((high, ratio))) => {
                let why = format!(
                    "the first is faster at {} and the second at {}: no one crossing",
                    self.level(axis, *low),
                    self.level(axis, *high)
                );
                Ok(Ruling::by(Verdict::Contradicted, *ratio, why))
            }
            (Some(_), None) if seen.last().is_some_and(|(_, r)| r.above_one()) => Ok(Ruling::new(
                Verdict::Contradicted,
                "the first is faster up to the largest level",
            )),
            (None, Some(_)) if seen.first().is_some_and(|(_, r)| r.below_one()) => Ok(Ruling::new(
                Verdict::Contradicted,
                "the second is faster from the smallest level on",
            )),
            _ => {
                Ok(Ruling::new(Verdict::Inconclusive, "no side is shown to be faster on both ends"))
            }
        }
    }

    pub(super) fn scales(&self, axis: Factor, (from, to): (u64, u64), by: f64) -> Ruled {
        let at = |level: u64| self.cell(&Selection::default().at(axis, Level::Number(level)));
        let ratio = self.ratio(at(to)?, at(from)?, 1)?;
        let why = format!(
            "from {} to {}; claimed {}× or more",
            self.level(axis, from),
            self.level(axis, to),
            figure(by)
        );
        Ok(match ratio {
            r if r.interval.low.is_some_and(|low| low >= by) => {
                Ruling::by(Verdict::Replicated, r, why)
            }
            r if r.interval.high.is_some_and(|high| high < by) => {
                Ruling::by(Verdict::Contradicted, r, why)
            }
            r => Ruling::by(Verdict::Inconclusive, r, why),
        })
    }

    fn level(&self, axis: Factor, level: u64) -> String {
        match axis.kind() {
            Kind::Bytes => text(axis, &Level::Number(level)),
            _ => format!("{level} {axis}"),
        }
    }
}

fn inverse(ratio: Ratio) -> Ratio {
    let over = |value: Option<f64>| value.map(|value| 1.0 / value);
    let interval = Interval { low: over(ratio.interval.high), high: over(ratio.interval.low) };
    Ratio { ratio: 1.0 / ratio.ratio, interval }
}

fn because(why: &str) -> String {
    if why.is_empty() { String::new() } else { format!(": {why}") }
}
