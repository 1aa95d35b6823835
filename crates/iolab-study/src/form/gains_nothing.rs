//! `gains-nothing`: `a` is not faster than `b` by more than a share; it may well be slower.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::ruling::{Ruled, Ruling, Verdict, judged};
use crate::saying::{Saying, percent};
use crate::select::Selection;
use crate::words::Bound;

pub(super) const FORM: Form = Form {
    word: "gains-nothing",
    keys: &["a", "b", "tolerance"],
    read: |keys| {
        let (a, b, tolerance) = (keys.side("a")?, keys.side("b")?, keys.tolerance()?);
        Ok(Arc::new(GainsNothing { a, b, tolerance }))
    },
};

#[derive(Debug)]
struct GainsNothing {
    /// What should help and does not.
    a: Selection,
    /// Without it.
    b: Selection,
    tolerance: f64,
}

impl Test for GainsNothing {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let found = bench.sides(&self.a, &self.b, 1)?;
        let verdict = judged(&found.ratio.interval, f64::NEG_INFINITY, 1.0 + self.tolerance);
        let (verdict, why) = match verdict {
            _ if found.second_faster => (Verdict::Replicated, "it even costs time here"),
            Verdict::Replicated => (verdict, "no gain beyond the tolerance"),
            Verdict::Contradicted => (verdict, "it gains more than the tolerance"),
            _ => (verdict, "the interval is wider than the tolerance"),
        };
        Ok(Ruling::by(verdict, found.ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, a, b) = (saying.time(), saying.side(&self.a), saying.side(&self.b));
        format!("{time} of {b} is at most {} more than that of {a}", percent(self.tolerance))
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b]
    }

    fn bounds(&self) -> Vec<Bound> {
        vec![Bound::Share("tolerance", self.tolerance)]
    }
}
