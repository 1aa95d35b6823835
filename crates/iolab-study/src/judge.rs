//! A claim against what was measured.

use super::claim::{Claim, Kind, Measure};
use super::evidence::{Evidence, Ratio, digests, figure, lacking, median_ns, ratio, share};
use super::select::Selection;
use iolab_model::result::{CellRecord, Document};

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
    let document = match evidence.runs.get(&claim.experiment) {
        Some(Ok(document)) => *document,
        Some(Err(why)) => return Ruling::new(Verdict::NotTested, why.clone()),
        None => {
            let why = format!("the experiment {} was not run", claim.experiment);
            return Ruling::new(Verdict::NotTested, why);
        }
    };
    let bench = Bench { claim, document, alpha: evidence.alpha };
    let ruled = match &claim.kind {
        Kind::Faster { a, b, by } => bench.faster(a, b, *by),
        Kind::Fastest { a } => bench.fastest(a),
        Kind::Ordered { axis, falling } => bench.ordered(*axis, *falling),
        Kind::Plateau { axis, from, tolerance } => bench.plateau(*axis, *from, *tolerance),
        Kind::Crossover { axis, a, b, near, within } => {
            bench.crossover(*axis, (a, b), *near, *within)
        }
        Kind::Equivalent { a, b, tolerance } => bench.equivalent(a, b, *tolerance),
        Kind::Negligible { share } => bench.negligible(*share),
        Kind::SameValue => bench.same_value(),
        Kind::Scales { axis, from, to, by } => bench.scales(*axis, (*from, *to), *by),
    };
    ruled.unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why))
}

/// A claim before its run. What cannot be judged is an `Err` with the reason.
pub(super) struct Bench<'a> {
    pub(super) claim: &'a Claim,
    pub(super) document: &'a Document,
    alpha: f64,
}

pub(super) type Ruled = Result<Ruling, String>;
/// A cell with its level on an axis.
pub(super) type Step<'a> = (u64, &'a CellRecord);

impl<'a> Bench<'a> {
    /// The one cell of a selection; of several the best, as a person would choose it.
    pub(super) fn cell(&self, selection: &Selection) -> Result<&'a CellRecord, String> {
        let selection = self.claim.of.and(selection);
        let all = selection.cells(self.document);
        if all.is_empty() {
            return Err(format!("no cell was measured with {selection}"));
        }
        let time = |cell: &&CellRecord| {
            median_ns(cell, self.claim.measure, self.claim.per).unwrap_or(f64::INFINITY)
        };
        let able = all.iter().filter(|cell| lacking(cell).is_none());
        match able.min_by(|x, y| time(x).total_cmp(&time(y))) {
            Some(cell) => Ok(cell),
            None => Err(all.iter().find_map(|cell| lacking(cell)).unwrap_or_default()),
        }
    }

    /// Time of b over time of a, at the claim's error divided by the looks it takes.
    pub(super) fn ratio(
        &self,
        a: &CellRecord,
        b: &CellRecord,
        looks: usize,
    ) -> Result<Ratio, String> {
        let how = (self.claim.measure, self.claim.per);
        let error = self.alpha / looks.max(1) as f64;
        ratio((a, self.document), (b, self.document), how, error)
            .ok_or_else(|| format!("{} and {} share no steady round", a.id, b.id))
    }

    fn faster(&self, a: &Selection, b: &Selection, by: Option<(f64, f64)>) -> Ruled {
        let ratio = self.ratio(self.cell(a)?, self.cell(b)?, 1)?;
        let delta = 1.0 + self.document.experiment.protocol.delta;
        let Some((from, to)) = by else {
            return Ok(match ratio {
                r if r.above_one() => Ruling::by(Verdict::Replicated, r, "it is faster here too"),
                r if r.below_one() => Ruling::by(Verdict::Contradicted, r, "it is slower here"),
                r if r.inside(1.0 / delta, delta) => {
                    Ruling::by(Verdict::Contradicted, r, "there is no difference here that matters")
                }
                r => Ruling::by(Verdict::Inconclusive, r, "the interval holds both"),
            });
        };
        let range = format!("{}–{}×", figure(from), figure(to));
        Ok(match ratio {
            r if r.above_one() && (from..=to).contains(&r.ratio) => {
                Ruling::by(Verdict::Replicated, r, format!("within the claimed {range}"))
            }
            r if r.interval.high.is_some_and(|high| high < from) => {
                Ruling::by(Verdict::Contradicted, r, format!("less than the claimed {range}"))
            }
            r if r.interval.low.is_some_and(|low| low > to) => {
                Ruling::by(Verdict::Contradicted, r, format!("more than the claimed {range}"))
            }
            r => Ruling::by(Verdict::Inconclusive, r, format!("the claimed range is {range}")),
        })
    }

    fn fastest(&self, a: &Selection) -> Ruled {
        let first = self.cell(a)?;
        let all = self.claim.of.cells(self.document);
        let others: Vec<&CellRecord> = all
            .into_iter()
            .filter(|cell| !self.claim.of.and(a).takes(&cell.factors) && lacking(cell).is_none())
            .collect();
        if others.is_empty() {
            return Err("nothing that it could be compared with was measured".into());
        }
        let mut nearest: Option<(Ratio, &CellRecord)> = None;
        for other in &others {
            let ratio = self.ratio(first, other, others.len())?;
            if nearest.as_ref().is_none_or(|(found, _)| ratio.ratio < found.ratio) {
                nearest = Some((ratio, other));
            }
        }
        let Some((ratio, other)) = nearest else { return Err("nothing was compared".into()) };
        let against = format!("against {}, the best of {} others", other.id, others.len());
        Ok(match ratio {
            r if r.above_one() => Ruling::by(Verdict::Replicated, r, against),
            r if r.below_one() => Ruling::by(Verdict::Contradicted, r, against),
            r => Ruling::by(Verdict::Inconclusive, r, against),
        })
    }

    fn equivalent(&self, a: &Selection, b: &Selection, tolerance: f64) -> Ruled {
        let ratio = self.ratio(self.cell(a)?, self.cell(b)?, 1)?;
        let (low, high) = (1.0 / (1.0 + tolerance), 1.0 + tolerance);
        Ok(match ratio {
            r if r.inside(low, high) => {
                Ruling::by(Verdict::Replicated, r, "no difference beyond the tolerance")
            }
            r if r.interval.low.is_some_and(|l| l > high)
                || r.interval.high.is_some_and(|h| h < low) =>
            {
                Ruling::by(Verdict::Contradicted, r, "they differ by more than the tolerance")
            }
            r => Ruling::by(Verdict::Inconclusive, r, "the interval is wider than the tolerance"),
        })
    }

    fn negligible(&self, most: f64) -> Ruled {
        let cells = self.claim.of.cells(self.document);
        let of = |cell: &&'a CellRecord| Some((share(cell, self.measure())?, *cell));
        let greatest = cells.iter().filter_map(of).max_by(|x, y| x.0.total_cmp(&y.0));
        let Some((share, cell)) = greatest else {
            return Err(cells
                .iter()
                .find_map(|c| lacking(c))
                .unwrap_or("no cell was measured".into()));
        };
        let why = format!("at most {:.1} % of the elapsed time, in {}", 100.0 * share, cell.id);
        let verdict = if share <= most { Verdict::Replicated } else { Verdict::Contradicted };
        Ok(Ruling::new(verdict, why))
    }

    /// A share of elapsed time is asked of something else than elapsed time.
    fn measure(&self) -> Measure {
        match self.claim.measure {
            Measure::Elapsed => Measure::User,
            other => other,
        }
    }

    fn same_value(&self) -> Ruled {
        let cells = self.claim.of.cells(self.document);
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
            None => Ok(Ruling::new(
                Verdict::Replicated,
                format!("{} in all {} cells", first[0], found.len()),
            )),
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
