//! `share` and `negligible`: of the elapsed time the measure takes a share within bounds, in every cell.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::evidence::share;
use crate::keys::{self, must};
use crate::ruling::{Ruled, Ruling, Verdict, judged};
use crate::saying::{Saying, percent};
use crate::select::Selection;
use crate::terms::Measure;
use crate::words::Bound;
use iolab_model::result::CellRecord;
use iolab_model::spec::file::Value;
use iolab_model::spec::parse_percent;

/// A share that a claim calls negligible where it says nothing.
const LITTLE: f64 = 0.05;

pub(super) const NEGLIGIBLE: Form = Form {
    word: "negligible",
    keys: &["share"],
    read: |keys| {
        let to = keys::share(keys.table, "share")?.unwrap_or(LITTLE);
        Ok(Arc::new(Share { from: 0.0, to }))
    },
};

/// Bounds of a share: one is the least, two are from and to.
pub(super) const FORM: Form = Form {
    word: "share",
    keys: &["share"],
    read: |keys| {
        let value = must(keys.table, "share")?;
        let one = |value: &Value<'_>| {
            parse_percent(value.text()?).map_err(|error| value.refuse_spec(&error))
        };
        match value.items().iter().map(one).collect::<Result<Vec<f64>, _>>()?[..] {
            [from] => Ok(Arc::new(Share { from, to: f64::INFINITY })),
            [from, to] if from <= to => Ok(Arc::new(Share { from, to })),
            _ => Err(value.refuse("these are no bounds", "write share = [\"50%\", \"100%\"]")),
        }
    },
};

#[derive(Debug)]
struct Share {
    /// At least.
    from: f64,
    /// At most.
    to: f64,
}

/// A share of elapsed time is asked of something else than elapsed time.
fn of(measure: Measure) -> Measure {
    match measure {
        Measure::Elapsed => Measure::User,
        other => other,
    }
}

type Seen<'a> = (Verdict, f64, &'a CellRecord);

impl Share {
    /// The share in each cell, where the claim's error is shared by so many looks.
    fn seen<'a>(&self, bench: &Bench<'a>, looks: usize) -> Result<Vec<Seen<'a>>, String> {
        let one = |cell: &'a CellRecord| {
            let error = bench.alpha / looks as f64;
            let found = share(cell, of(bench.measure), bench.document, error);
            let (share, interval) = found.ok_or_else(|| format!("{} has no time", cell.id))?;
            let from = if self.from > 0.0 { self.from } else { f64::NEG_INFINITY };
            Ok((judged(&interval, from, self.to), share, cell))
        };
        bench.cells(&Selection::default())?.into_iter().map(one).collect()
    }

    fn why(&self, (verdict, share, cell): &Seen<'_>, cells: usize) -> String {
        let percent = 100.0 * share;
        match (verdict, self.to < 1.0) {
            (Verdict::Replicated, true) => {
                format!(
                    "at most {percent:.1} % of the elapsed time, that in {}, of {cells} cells",
                    cell.id
                )
            }
            (Verdict::Replicated, false) => {
                format!(
                    "at least {percent:.1} % of the elapsed time, that in {}, of {cells} cells",
                    cell.id
                )
            }
            _ => format!("{percent:.1} % of the elapsed time in {}", cell.id),
        }
    }
}

impl Test for Share {
    /// In every cell the share must lie within the bounds; one that is shown not to is enough. To
    /// name one is a choice and shares the error among the cells and their two sides, that all of
    /// them do is none: what holds with the whole error is not asked again.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let mut seen = self.seen(bench, 1)?;
        let sides = if self.from > 0.0 && self.to.is_finite() { 2 } else { 1 };
        let shared = self.seen(bench, sides * seen.len().max(1))?;
        for (one, (verdict, ..)) in seen.iter_mut().zip(shared) {
            if one.0 == Verdict::Contradicted && verdict != Verdict::Contradicted {
                one.0 = Verdict::Inconclusive;
            }
        }
        let beyond = |share: f64| (self.from - share).max(share - self.to);
        seen.sort_by(|x, y| beyond(y.1).total_cmp(&beyond(x.1)));
        let any = |verdict| seen.iter().find(|(found, ..)| *found == verdict);
        let worst = any(Verdict::Contradicted)
            .or_else(|| any(Verdict::Inconclusive))
            .or_else(|| seen.first())
            .ok_or("no cell was measured")?;
        Ok(Ruling::new(worst.0, self.why(worst, seen.len())))
    }

    fn said(&self, saying: &Saying) -> String {
        let bounds = match (self.from > 0.0, self.to < f64::INFINITY) {
            (true, true) => format!("{} to {}", percent(self.from), percent(self.to)),
            (true, false) => format!("at least {}", percent(self.from)),
            _ => format!("at most {}", percent(self.to)),
        };
        format!("{} is {bounds} of the elapsed time in every cell", of(saying.measure).words())
    }

    fn bounds(&self) -> Vec<Bound> {
        let ends = [self.from, self.to].into_iter().filter(|end| *end > 0.0 && end.is_finite());
        ends.map(|end| Bound::Share("share", end)).collect()
    }
}
