//! `gains-less`: `a` gains less over `b` at one place than at another.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::evidence::contrast;
use crate::ruling::{Ruled, Ruling, Verdict};
use crate::saying::Saying;
use crate::select::Selection;

pub(super) const FORM: Form = Form {
    word: "gains-less",
    keys: &["a", "b", "at", "than"],
    read: |keys| {
        let (at, than) = (keys.side("at")?, keys.side("than")?);
        Ok(Arc::new(GainsLess { a: keys.side("a")?, b: keys.side("b")?, at, than }))
    },
};

#[derive(Debug)]
struct GainsLess {
    /// The faster side.
    a: Selection,
    /// The slower side.
    b: Selection,
    /// Where it gains less.
    at: Selection,
    /// Where it gains more.
    than: Selection,
}

impl Test for GainsLess {
    /// How many times more `a` gains over `b` in the one place than in the other.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let gain = |of: &Selection, weight: f64| -> Result<_, String> {
            let (a, b) = (bench.one(&of.and(&self.a))?, bench.one(&of.and(&self.b))?);
            Ok([(weight, b), (-weight, a)])
        };
        let parts = [gain(&self.than, 1.0)?, gain(&self.at, -1.0)?].concat();
        let ratio = contrast(&parts, bench.document, bench.how(1))
            .ok_or_else(|| "its four cells share no steady round".to_owned())?;
        let here = |of: &Selection| -> Result<_, String> {
            Ok(bench.sides(&of.and(&self.a), &of.and(&self.b), 1)?.ratio)
        };
        let why = format!("a gain of {} against {}", here(&self.at)?, here(&self.than)?);
        let most = 1.0 + bench.delta();
        let verdict = match ratio {
            r if r.above_one() => Verdict::Replicated,
            r if r.interval.high.is_some_and(|high| high < most) => Verdict::Contradicted,
            _ => Verdict::Inconclusive,
        };
        Ok(Ruling::by(verdict, ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (a, b) = (saying.side(&self.a), saying.side(&self.b));
        format!("{a} gains less over {b} at {} than at {}", self.at, self.than)
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b, &self.at, &self.than]
    }

    fn places(&self) -> Vec<&Selection> {
        vec![&self.at, &self.than]
    }
}
