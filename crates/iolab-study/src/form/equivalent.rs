//! `equivalent`: no difference beyond a share.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::ruling::{Ruled, Ruling, Verdict, ranged};
use crate::saying::{Saying, percent};
use crate::select::Selection;
use crate::words::Bound;

pub(super) const FORM: Form = Form {
    word: "equivalent",
    keys: &["a", "b", "tolerance"],
    read: |keys| {
        let (a, b, tolerance) = (keys.side("a")?, keys.side("b")?, keys.tolerance()?);
        Ok(Arc::new(Equivalent { a, b, tolerance }))
    },
};

#[derive(Debug)]
struct Equivalent {
    a: Selection,
    b: Selection,
    tolerance: f64,
}

impl Test for Equivalent {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let most = 1.0 + self.tolerance;
        let at = |looks| Ok(bench.sides(&self.a, &self.b, looks)?.ratio);
        let (verdict, ratio) = ranged((1.0 / most, most), at)?;
        let why = match verdict {
            Verdict::Replicated => "no difference beyond the tolerance",
            Verdict::Contradicted => "they differ by more than the tolerance",
            _ => "the interval is wider than the tolerance",
        };
        Ok(Ruling::by(verdict, ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, a, b) = (saying.time(), saying.side(&self.a), saying.side(&self.b));
        format!("{time} of {a} and of {b} differ by at most {}", percent(self.tolerance))
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b]
    }

    fn bounds(&self) -> Vec<Bound> {
        vec![Bound::Share("tolerance", self.tolerance)]
    }
}
