//! Claims about several cells at once: each level of a factor, an order, a gain against a gain.

use super::evidence::{Ratio, contrast};
use super::judge::{Bench, Ruled, Ruling, Verdict};
use super::select::{Selection, text};
use iolab_model::catalog::{Factor, Level};

impl Bench<'_> {
    /// The claim at each level of a factor. It holds where it holds at `enough` of them, at all
    /// where nothing is said; it does not where too many are left at which it is shown not to.
    pub(super) fn each(&self, factor: Factor, enough: Option<usize>) -> Ruled {
        let levels = self.levels(factor);
        let enough = enough.unwrap_or(levels.len());
        let at = |looks: usize| -> Vec<(String, Ruling)> {
            let one = |level: &Level| (text(factor, level), self.at(factor, level.clone(), looks));
            levels.iter().map(one).collect()
        };
        // To say wrongly that all of them hold, the one level at which it does not must be judged
        // wrongly: each may have the whole error. Every other verdict picks levels, and shares it.
        let mut seen = at(1);
        let all = seen.iter().all(|(_, ruling)| ruling.verdict == Verdict::Replicated);
        if !all || enough < levels.len() {
            seen = at(levels.len());
        }
        let count = |verdict| seen.iter().filter(|(_, r)| r.verdict == verdict).count();
        let holds = count(Verdict::Replicated);
        let verdict = match () {
            () if seen.is_empty() => return Err(format!("no level of {factor} was measured")),
            () if holds >= enough => Verdict::Replicated,
            () if levels.len() - count(Verdict::Contradicted) < enough => Verdict::Contradicted,
            () if count(Verdict::NotTested) == seen.len() => return Err(seen[0].1.why.clone()),
            () => Verdict::Inconclusive,
        };
        Ok(together(&seen, verdict))
    }

    fn at(&self, factor: Factor, level: Level, levels: usize) -> Ruling {
        let one = Bench {
            claim: self.claim,
            document: self.document,
            of: self.of.at(factor, level),
            alpha: self.alpha / levels.max(1) as f64,
        };
        one.ruled().unwrap_or_else(|why| Ruling::new(Verdict::NotTested, why))
    }

    /// Each side against the next.
    pub(super) fn order(&self, sides: &[Selection]) -> Ruled {
        let mut nearest: Option<(Ratio, String)> = None;
        for pair in sides.windows(2) {
            let ratio =
                self.between(&self.cells(&pair[0])?, &self.cells(&pair[1])?, sides.len() - 1)?;
            let why = format!("{} against {}", pair[0], pair[1]);
            if ratio.below_one() {
                return Ok(Ruling::by(Verdict::Contradicted, ratio, why));
            }
            let low = |r: &Ratio| r.interval.low.unwrap_or(0.0);
            if nearest.as_ref().is_none_or(|(found, _)| low(&ratio) < low(found)) {
                nearest = Some((ratio, why));
            }
        }
        let Some((ratio, why)) = nearest else { return Err("one side has no order".into()) };
        let verdict = match ratio.above_one() {
            true => Verdict::Replicated,
            false => Verdict::Inconclusive,
        };
        Ok(Ruling::by(verdict, ratio, format!("the least of its steps: {why}")))
    }

    /// How many times more `a` gains over `b` in the one place than in the other.
    pub(super) fn gains_less(
        &self,
        (a, b): (&Selection, &Selection),
        (at, than): (&Selection, &Selection),
    ) -> Ruled {
        let gain = |of: &Selection, weight: f64| -> Result<_, String> {
            Ok([(weight, self.one(&of.and(b))?), (-weight, self.one(&of.and(a))?)])
        };
        let parts = [gain(than, 1.0)?, gain(at, -1.0)?].concat();
        let ratio = contrast(&parts, self.document, self.how(1))
            .ok_or_else(|| "its four cells share no steady round".to_owned())?;
        let here = |of: &Selection| self.sides(&of.and(a), &of.and(b), 1);
        let why = format!("a gain of {} against {}", here(at)?, here(than)?);
        Ok(match ratio {
            r if r.above_one() => Ruling::by(Verdict::Replicated, r, why),
            r if r.below_one() => Ruling::by(Verdict::Contradicted, r, why),
            r => Ruling::by(Verdict::Inconclusive, r, why),
        })
    }
}

/// One ruling of many: the level that decides gives its ratio, and all are named.
fn together(seen: &[(String, Ruling)], verdict: Verdict) -> Ruling {
    let decides = |(_, ruling): &&(String, Ruling)| ruling.verdict == verdict;
    let weight = |ruling: &Ruling| ruling.measured.map_or(0.0, |m| m.ratio.ln().abs());
    let least =
        |x: &&(String, Ruling), y: &&(String, Ruling)| weight(&x.1).total_cmp(&weight(&y.1));
    let deciding = seen.iter().filter(decides).min_by(least);
    let mut parts = Vec::new();
    for verdict in
        [Verdict::Replicated, Verdict::Contradicted, Verdict::Inconclusive, Verdict::NotTested]
    {
        let names: Vec<&str> =
            seen.iter().filter(|(_, r)| r.verdict == verdict).map(|(n, _)| n.as_str()).collect();
        if !names.is_empty() {
            parts.push(format!("{} at {}", verdict.word(), names.join(", ")));
        }
    }
    if let Some((name, ruling)) = deciding {
        parts.push(format!("nearest at {name}: {}", ruling.why));
    }
    let measured = deciding.and_then(|(_, ruling)| ruling.measured);
    Ruling { verdict, why: parts.join("; "), measured }
}
