//! Claims along an axis: order, proportion, plateau, crossover, scaling.

use super::evidence::Ratio;
use super::judge::{Bench, Ruled, Ruling, Verdict, judged, within};
use super::select::{Selection, text};
use iolab_model::catalog::{Factor, Kind, Level};
use iolab_model::result::{CellRecord, Interval};

/// The cells at one level of an axis.
type Step<'a> = (u64, Vec<&'a CellRecord>);

impl<'a> Bench<'a> {
    /// The cells along an axis, from the smallest level on.
    fn along(&self, axis: Factor, of: &Selection) -> Result<Vec<Step<'a>>, String> {
        let of = self.of.and(of);
        let mut levels: Vec<u64> =
            of.cells(self.document).iter().filter_map(|c| c.factors.number(axis)).collect();
        levels.sort_unstable();
        levels.dedup();
        let at = |level: u64| Ok((level, self.cells(&of.at(axis, Level::Number(level)))?));
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
        let steps = self.along(axis, &Selection::default())?;
        let delta = 1.0 + self.document.experiment.protocol.delta;
        let turn = |r: Ratio| if falling { r } else { inverse(r) };
        // Time of the smaller level over time of the larger one: above 1 where time falls.
        let step = |x: &Step<'a>, y: &Step<'a>| {
            Ok::<Ratio, String>(turn(self.between(&y.1, &x.1, steps.len())?))
        };
        for pair in steps.windows(2) {
            let ratio = step(&pair[0], &pair[1])?;
            if ratio.interval.high.is_some_and(|high| high < 1.0 / delta) {
                let why = format!("not {}", span(axis, pair[0].0, pair[1].0));
                return Ok(Ruling::by(Verdict::Contradicted, ratio, why));
            }
        }
        let (first, last) = (&steps[0], &steps[steps.len() - 1]);
        let whole = step(first, last)?;
        let span = span(axis, first.0, last.0);
        Ok(match whole {
            r if r.above_one() => {
                let why = format!("{span}; of {} steps none is shown to go back", steps.len() - 1);
                Ruling::by(Verdict::Replicated, r, why)
            }
            r if r.below_one() => Ruling::by(Verdict::Contradicted, r, format!("not {span}")),
            r => Ruling::by(Verdict::Inconclusive, r, span),
        })
    }

    /// The price of a unit of work at each level against that at the smallest.
    pub(super) fn linear(&self, axis: Factor, tolerance: f64) -> Ruled {
        let steps = self.along(axis, &Selection::default())?;
        let (low, high) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
        let mut worst: Option<(Verdict, Ratio, u64)> = None;
        for (level, cells) in &steps[1..] {
            let ratio = self.between(cells, &steps[0].1, steps.len() - 1)?;
            let verdict = judged(&ratio.interval, low, high);
            let rank = |v: Verdict, r: &Ratio| {
                (v == Verdict::Contradicted, v == Verdict::Inconclusive, r.ratio.ln().abs())
            };
            if worst.as_ref().is_none_or(|(v, r, _)| rank(verdict, &ratio) > rank(*v, r)) {
                worst = Some((verdict, ratio, *level));
            }
        }
        let Some((verdict, ratio, level)) = worst else { return Err("one level".into()) };
        let why = format!("price of a unit {}", span(axis, steps[0].0, level));
        Ok(Ruling::by(verdict, ratio, why))
    }

    /// Every larger level against the first one of the plateau.
    pub(super) fn plateau(&self, axis: Factor, from: u64, tolerance: f64) -> Ruled {
        let steps = self.along(axis, &Selection::default())?;
        let Some(first) = steps.iter().find(|(level, _)| *level == from) else {
            return Err(format!("{} was not measured", place(axis, from)));
        };
        let larger: Vec<&Step<'_>> = steps.iter().filter(|(level, _)| *level > from).collect();
        let mut most: Option<(Ratio, u64)> = None;
        let mut flat = true;
        for (level, cells) in &larger {
            let ratio = self.between(cells, &first.1, larger.len())?;
            flat &= ratio.interval.high.is_some_and(|high| high <= 1.0 + tolerance);
            let low = |r: &Ratio| r.interval.low.unwrap_or(0.0);
            if most.as_ref().is_none_or(|(m, _)| low(&ratio) > low(m)) {
                most = Some((ratio, *level));
            }
        }
        let Some((ratio, level)) = most else {
            return Err(format!("nothing larger than {} was measured", place(axis, from)));
        };
        let why =
            format!("{} against {}, its strongest rival", place(axis, level), place(axis, from));
        Ok(match ratio.interval.low {
            Some(low) if low > 1.0 + tolerance => Ruling::by(Verdict::Contradicted, ratio, why),
            _ if flat => Ruling::by(Verdict::Replicated, ratio, why),
            _ => Ruling::by(Verdict::Inconclusive, ratio, why),
        })
    }

    pub(super) fn crossover(
        &self,
        axis: Factor,
        (a, b): (&Selection, &Selection),
        (from, to): (u64, u64),
    ) -> Ruled {
        let levels: Vec<u64> = self.along(axis, a)?.iter().map(|(level, _)| *level).collect();
        let mut seen: Vec<(u64, Ratio)> = Vec::new();
        for level in &levels {
            let at = |side: &Selection| self.cells(&side.at(axis, Level::Number(*level)));
            if let (Ok(first), Ok(second)) = (at(a), at(b)) {
                seen.push((*level, self.between(&first, &second, levels.len())?));
            }
        }
        let last_a = seen.iter().rev().find(|(_, r)| r.above_one());
        let first_b = seen.iter().find(|(_, r)| r.below_one());
        match (last_a, first_b) {
            (Some((low, first)), Some((high, second))) if low < high => {
                // The change is somewhere between two levels: only where all of that stretch is
                // claimed, or none of it, is the claim judged.
                let verdict = match () {
                    () if *low >= from && *high <= to => Verdict::Replicated,
                    () if *high <= from || *low >= to => Verdict::Contradicted,
                    () => Verdict::Inconclusive,
                };
                let why = format!(
                    "it lies between {} and {}: time of {b} over that of {a} is {first} at the \
                     one and {second} at the other",
                    place(axis, *low),
                    place(axis, *high)
                );
                Ok(Ruling::new(verdict, why))
            }
            (Some((low, _)), Some((high, ratio))) => {
                let why = format!(
                    "the first is faster at {} and the second at {}: no one crossing",
                    place(axis, *low),
                    place(axis, *high)
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

    pub(super) fn scales(&self, axis: Factor, (from, to): (u64, u64), by: (f64, f64)) -> Ruled {
        let at = |level: u64| Selection::default().at(axis, Level::Number(level));
        let ruling = within(self.sides(&at(to), &at(from), 1)?, by);
        let why = format!("{}, {}", ruling.why, span(axis, from, to));
        Ok(Ruling { why, ..ruling })
    }
}

fn span(axis: Factor, from: u64, to: u64) -> String {
    format!("from {} to {}", place(axis, from), place(axis, to))
}

fn place(axis: Factor, level: u64) -> String {
    match axis.kind() {
        Kind::Bytes => text(axis, &Level::Number(level)),
        _ => format!("{level} {axis}"),
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
