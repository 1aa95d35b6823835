//! `linear`: time grows as the level of the axis does; the price of a unit of work stays the same.

use std::sync::Arc;

use super::{Form, Test};
use crate::along::span;
use crate::bench::Bench;
use crate::evidence::Ratio;
use crate::ruling::{Ruled, Ruling, Verdict, judged};
use crate::saying::{Saying, percent};
use crate::select::Selection;
use crate::words::Bound;
use iolab_model::catalog::Factor;

pub(super) const FORM: Form = Form {
    word: "linear",
    keys: &["axis", "tolerance"],
    read: |keys| Ok(Arc::new(Linear { axis: keys.factor("axis")?, tolerance: keys.tolerance()? })),
};

#[derive(Debug)]
struct Linear {
    axis: Factor,
    /// Differences of the price up to this share are none.
    tolerance: f64,
}

impl Linear {
    /// The price at each level against that at the smallest, where the error is shared by so many looks.
    fn prices(
        &self,
        bench: &Bench<'_>,
        looks: usize,
    ) -> Result<Vec<(Verdict, Ratio, String)>, String> {
        let steps = bench.along(self.axis, &Selection::default())?;
        let (low, high) = (1.0 / (1.0 + self.tolerance), 1.0 + self.tolerance);
        let price = |(level, cells): &(u64, Vec<_>)| {
            let ratio = bench.between(cells, &steps[0].1, looks)?.ratio;
            let why = format!("price of a unit {}", span(self.axis, steps[0].0, *level));
            Ok((judged(&ratio.interval, low, high), ratio, why))
        };
        steps[1..].iter().map(price).collect()
    }
}

/// What only the whole error would contradict is open.
fn doubt(price: &mut (Verdict, Ratio, String)) {
    price.0 = Verdict::Inconclusive;
}

impl Test for Linear {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let mut prices = self.prices(bench, 1)?;
        if prices.iter().any(|(verdict, ..)| *verdict != Verdict::Replicated) {
            // A price may leave the tolerance on either side: two looks at each.
            let shared = self.prices(bench, 2 * prices.len())?;
            let wrong = |(verdict, ..): &(Verdict, _, _)| *verdict == Verdict::Contradicted;
            match shared.iter().any(wrong) {
                true => prices = shared,
                false => prices.iter_mut().filter(|price| wrong(price)).for_each(doubt),
            }
        }
        let rank = |(verdict, ratio, _): &(Verdict, Ratio, String)| {
            let worst = (*verdict == Verdict::Contradicted, *verdict == Verdict::Inconclusive);
            (worst, ratio.ratio.ln().abs())
        };
        let worst = prices.into_iter().max_by(|x, y| {
            let (x, y) = (rank(x), rank(y));
            x.0.cmp(&y.0).then(x.1.total_cmp(&y.1))
        });
        let (verdict, ratio, why) = worst.ok_or("one level has no line")?;
        Ok(Ruling::by(verdict, ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, within) = (saying.time(), percent(self.tolerance));
        format!("{time} of a unit of work is the same at every {}, within {within}", self.axis)
    }

    fn axis(&self) -> Option<Factor> {
        Some(self.axis)
    }

    fn bounds(&self) -> Vec<Bound> {
        vec![Bound::Share("tolerance", self.tolerance)]
    }
}
