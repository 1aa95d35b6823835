//! `fastest`: `a` is faster than all others of the claim's cells.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::best_of::BestOf;
use crate::ruling::{Ruled, Ruling, Verdict, no_faster};
use crate::saying::Saying;
use crate::select::Selection;
use crate::shown::lacking;
use iolab_model::result::CellRecord;

pub(super) const FORM: Form = Form {
    word: "fastest",
    keys: &["a"],
    read: |keys| Ok(Arc::new(Fastest { a: keys.side("a")? })),
};

#[derive(Debug)]
struct Fastest {
    a: Selection,
}

impl Test for Fastest {
    /// It is the best where all others are shown not to be, and it is not where it is shown not to be.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let first = bench.cells(&self.a)?;
        let all = bench.of.cells(bench.document).into_iter();
        let is_first = |cell: &CellRecord| bench.of.and(&self.a).takes(&cell.factors);
        let others: Vec<&CellRecord> =
            all.filter(|cell| !is_first(cell) && lacking(cell).is_none()).collect();
        if others.is_empty() {
            return Err("nothing that it could be compared with was measured".into());
        }
        let best = BestOf::of(bench.document, &first, &others, bench.how(1))?;
        let found = best.against()?;
        let nearest = best.best_of_second();
        let why = format!("against {}, the nearest of {} others", nearest.id, others.len());
        let alike = no_faster(&found.ratio, bench.delta());
        Ok(match alike {
            _ if found.first_faster => Ruling::by(Verdict::Replicated, found.ratio, why),
            Some(alike) => {
                Ruling::by(Verdict::Contradicted, found.ratio, format!("{alike}; {why}"))
            }
            None => Ruling::by(Verdict::Inconclusive, found.ratio, why),
        })
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, a) = (saying.time(), saying.side(&self.a));
        format!("{time} of {a} is less than that of every other cell")
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a]
    }

    fn champion(&self) -> Option<&Selection> {
        Some(&self.a)
    }
}
