//! A claim against what was measured.

use super::claim::{Claim, Kind, Measure, Spread};
use super::evidence::{Evidence, How, Ratio, difference, digests, inside, outside, share};
use super::select::Selection;
use super::shown::lacking;
use iolab_model::catalog::time_text;
use iolab_model::result::{CellRecord, Document, Interval};

/// What became of a claim here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It holds on this machine.
    Replicated,
    /// It does not.
    Contradicted,
    /// What was measured shows neither.
    Inconclusive,
    /// It could not be measured.
    NotTested,
}

impl Verdict {
    /// In words.
    pub fn word(self) -> &'static str {
        match self {
            Verdict::Replicated => "replicated",
            Verdict::Contradicted => "contradicted",
            Verdict::Inconclusive => "inconclusive",
            Verdict::NotTested => "not tested",
        }
    }
}

/// A verdict with its reasons.
#[derive(Clone, Debug, PartialEq)]
pub struct Ruling {
    /// What became of it.
    pub verdict: Verdict,
    /// What was seen, or why nothing was.
    pub why: String,
    /// The ratio that decided, where one did.
    pub measured: Option<Ratio>,
}

impl Ruling {
    pub(super) fn new(verdict: Verdict, why: impl Into<String>) -> Ruling {
        Ruling { verdict, why: why.into(), measured: None }
    }

    pub(super) fn by(verdict: Verdict, measured: Ratio, why: impl Into<String>) -> Ruling {
        Ruling { verdict, why: why.into(), measured: Some(measured) }
    }
}

/// Judges one claim.
pub fn judge(claim: &Claim, evidence: &Evidence<'_>) -> Ruling {
    let document = match evidence.run(&claim.experiments) {
        Ok(document) => document,
        Err(why) => return Ruling::new(Verdict::NotTested, why),
    };
    if let Some(missing) = claim.needs.missing(document) {
        return Ruling::new(Verdict::NotTested, missing);
    }
    let bench = Bench { claim, document, of: claim.of.clone(), alpha: evidence.alpha };
    let ruled = match claim.spread {
        Spread::Each(factor, enough) => bench.each(factor, enough),
        Spread::Once | Spread::Average(_) => bench.ruled(),
    };
    ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why))
}

/// A claim before its run. What cannot be judged is an `Err` with the reason.
pub(super) struct Bench<'a> {
    pub(super) claim: &'a Claim,
    pub(super) document: &'a Document,
    /// The claim's cells: all of them, or those of one level where it is asked for each.
    pub(super) of: Selection,
    pub(super) alpha: f64,
}

pub(super) type Ruled = Result<Ruling, String>;

impl<'a> Bench<'a> {
    pub(super) fn ruled(&self) -> Ruled {
        match &self.claim.kind {
            Kind::Faster { a, b, by } => self.faster(a, b, *by),
            Kind::Fastest { a } => self.fastest(a),
            Kind::Order { sides } => self.order(sides),
            Kind::Ordered { axis, falling } => self.ordered(*axis, *falling),
            Kind::Linear { axis, tolerance } => self.linear(*axis, *tolerance),
            Kind::Plateau { axis, from, tolerance } => self.plateau(*axis, *from, *tolerance),
            Kind::Crossover { axis, a, b, between } => self.crossover(*axis, (a, b), *between),
            Kind::Equivalent { a, b, tolerance } => self.equivalent(a, b, *tolerance),
            Kind::Difference { a, b, most_ns } => self.difference(a, b, *most_ns),
            Kind::GainsNothing { a, b, tolerance } => self.gains_nothing(a, b, *tolerance),
            Kind::GainsLess { a, b, at, than } => self.gains_less((a, b), (at, than)),
            Kind::Share { from, to } => self.share(*from, *to),
            Kind::SameValue => self.same_value(),
            Kind::Untested => Err("iolab has no test for it".to_owned()),
            Kind::Scales { axis, from, to, by } => self.scales(*axis, (*from, *to), *by),
        }
    }

    fn faster(&self, a: &Selection, b: &Selection, by: Option<(f64, f64)>) -> Ruled {
        let ratio = self.sides(a, b, 1)?;
        let delta = 1.0 + self.document.experiment.protocol.delta;
        if let Some(by) = by {
            return Ok(within(ratio, by));
        }
        Ok(match ratio {
            r if r.above_one() => Ruling::by(Verdict::Replicated, r, "it is faster here too"),
            r if r.below_one() => Ruling::by(Verdict::Contradicted, r, "it is slower here"),
            r if r.inside(1.0 / delta, delta) => {
                Ruling::by(Verdict::Contradicted, r, "there is no difference here that matters")
            }
            r => Ruling::by(Verdict::Inconclusive, r, "the interval holds both"),
        })
    }

    fn fastest(&self, a: &Selection) -> Ruled {
        let first = self.cells(a)?;
        let all = self.of.cells(self.document);
        let others: Vec<&CellRecord> = all
            .into_iter()
            .filter(|cell| !self.of.and(a).takes(&cell.factors) && lacking(cell).is_none())
            .collect();
        let looks = others.len();
        let mut nearest: Option<(Ratio, &CellRecord)> = None;
        for other in others {
            let ratio = self.between(&first, &[other], looks)?;
            // The rival that is shown to be faster decides, else the one that is least beaten.
            let rank = |r: &Ratio| (!r.below_one(), r.interval.low.unwrap_or(0.0), r.ratio);
            if nearest.as_ref().is_none_or(|(found, _)| rank(&ratio) < rank(found)) {
                nearest = Some((ratio, other));
            }
        }
        let Some((ratio, other)) = nearest else {
            return Err("nothing that it could be compared with was measured".into());
        };
        let against = format!("against {}, the nearest of {looks} others", other.id);
        Ok(match ratio {
            r if r.above_one() => Ruling::by(Verdict::Replicated, r, against),
            r if r.below_one() => Ruling::by(Verdict::Contradicted, r, against),
            r => Ruling::by(Verdict::Inconclusive, r, against),
        })
    }

    fn equivalent(&self, a: &Selection, b: &Selection, tolerance: f64) -> Ruled {
        let ratio = self.sides(a, b, 1)?;
        let (low, high) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
        Ok(match ratio {
            r if r.inside(low, high) => {
                Ruling::by(Verdict::Replicated, r, "no difference beyond the tolerance")
            }
            r if r.outside(low, high) => {
                Ruling::by(Verdict::Contradicted, r, "they differ by more than the tolerance")
            }
            r => Ruling::by(Verdict::Inconclusive, r, "the interval is wider than the tolerance"),
        })
    }

    fn difference(&self, a: &Selection, b: &Selection, most_ns: f64) -> Ruled {
        let (first, second) = (self.one(a)?, self.one(b)?);
        let how: How = self.how(1);
        let ratio = self.between(&[first], &[second], 1)?;
        let (ns, interval) = difference(first, second, self.document, how)
            .ok_or_else(|| format!("{} and {} share no steady round", first.id, second.id))?;
        let verdict = judged(&interval, -most_ns, most_ns);
        let why = format!(
            "the difference is {}; {} claimed at most",
            span_text(ns, &interval),
            time_text(most_ns)
        );
        Ok(Ruling::by(verdict, ratio, why))
    }

    fn gains_nothing(&self, a: &Selection, b: &Selection, tolerance: f64) -> Ruled {
        let ratio = self.sides(a, b, 1)?;
        let most = 1.0 + tolerance;
        Ok(match ratio {
            r if r.below_one() => Ruling::by(Verdict::Replicated, r, "it even costs time here"),
            r if r.inside(f64::NEG_INFINITY, most) => {
                Ruling::by(Verdict::Replicated, r, "no gain beyond the tolerance")
            }
            r if r.outside(f64::NEG_INFINITY, most) => {
                Ruling::by(Verdict::Contradicted, r, "it gains more than the tolerance")
            }
            r => Ruling::by(Verdict::Inconclusive, r, "the interval is wider than the tolerance"),
        })
    }

    /// In every cell the share must lie within the bounds; one that is shown not to is enough.
    fn share(&self, from: f64, to: f64) -> Ruled {
        let cells = self.cells(&Selection::default())?;
        let (measure, error) = (self.measure(), self.alpha / cells.len() as f64);
        let mut seen: Vec<(Verdict, f64, &CellRecord)> = Vec::new();
        for cell in cells {
            let (share, interval) =
                share(cell, measure, error).ok_or_else(|| format!("{} has no time", cell.id))?;
            seen.push((judged(&interval, from, to), share, cell));
        }
        let beyond = |share: f64| (from - share).max(share - to);
        seen.sort_by(|x, y| beyond(y.1).total_cmp(&beyond(x.1)));
        let any = |verdict| seen.iter().find(|(found, ..)| *found == verdict);
        let Some((verdict, share, cell)) = any(Verdict::Contradicted)
            .or_else(|| any(Verdict::Inconclusive))
            .or_else(|| seen.first())
        else {
            return Err("no cell was measured".into());
        };
        let bound = match to < 1.0 {
            true => format!("at most {:.1} %", 100.0 * share),
            false => format!("at least {:.1} %", 100.0 * share),
        };
        let why = match verdict {
            Verdict::Replicated => {
                format!("{bound} of the elapsed time, that in {}, of {} cells", cell.id, seen.len())
            }
            _ => format!("{:.1} % of the elapsed time in {}", 100.0 * share, cell.id),
        };
        Ok(Ruling::new(*verdict, why))
    }

    /// A share of elapsed time is asked of something else than elapsed time.
    fn measure(&self) -> Measure {
        match self.claim.measure {
            Measure::Elapsed => Measure::User,
            other => other,
        }
    }

    fn same_value(&self) -> Ruled {
        let cells = self.of.cells(self.document);
        let found: Vec<(String, Vec<String>)> = cells
            .iter()
            .map(|cell| (cell.id.clone(), digests(cell)))
            .filter(|(_, digests)| !digests.is_empty())
            .collect();
        let Some((_, first)) = found.first() else {
            return Err("no trial left a digest of a whole pass".into());
        };
        if found.len() < 2 {
            return Err("fewer than two cells left a digest of a whole pass".into());
        }
        match found.iter().find(|(_, digests)| digests != first || digests.len() > 1) {
            None => {
                Ok(Ruling::new(Verdict::Replicated, everywhere(&first[0], &found, cells.len())))
            }
            Some((cell, digests)) => Ok(Ruling::new(
                Verdict::Contradicted,
                format!(
                    "{cell} found {}, the first cell {}",
                    digests.join(" and "),
                    first.join(" and ")
                ),
            )),
        }
    }
}

fn everywhere<T>(digest: &str, found: &[T], cells: usize) -> String {
    match cells - found.len() {
        0 => format!("{digest} in all {cells} cells"),
        rest => format!(
            "{digest} in each of the {} cells that read the file to its end; {rest} others read a \
             part of it, whose value is another by right",
            found.len()
        ),
    }
}

/// An interval against what is claimed: inside, outside, or across.
pub(super) fn judged(interval: &Interval, from: f64, to: f64) -> Verdict {
    match () {
        () if inside(interval, from, to) => Verdict::Replicated,
        () if outside(interval, from, to) => Verdict::Contradicted,
        () => Verdict::Inconclusive,
    }
}

/// A ratio against the range that is claimed.
pub(super) fn within(ratio: Ratio, (from, to): (f64, f64)) -> Ruling {
    let (low, high) = (from, if to.is_finite() { to } else { f64::INFINITY });
    let range = range_text(from, to);
    let verdict = judged(&ratio.interval, low, high);
    let why = match verdict {
        Verdict::Replicated => format!("the interval lies within the claimed {range}"),
        Verdict::Contradicted if ratio.interval.high.is_some_and(|h| h < from) => {
            format!("less than the claimed {range}")
        }
        Verdict::Contradicted => format!("more than the claimed {range}"),
        _ => format!("the interval reaches beyond the claimed {range}"),
    };
    Ruling::by(verdict, ratio, why)
}

/// A range of factors as it is written: `1.5 to 2 times`, `2 times or more`.
pub(super) fn range_text(from: f64, to: f64) -> String {
    match to.is_finite() {
        true => format!("{from} to {to} times"),
        false => format!("{from} times or more"),
    }
}

fn span_text(ns: f64, interval: &Interval) -> String {
    let signed = |ns: f64| match ns < 0.0 {
        true => format!("−{}", time_text(-ns)),
        false => time_text(ns),
    };
    let bound = |bound: Option<f64>| bound.map_or("?".to_owned(), signed);
    format!("{} ({} to {})", signed(ns), bound(interval.low), bound(interval.high))
}
