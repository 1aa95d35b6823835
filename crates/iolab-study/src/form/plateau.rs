//! `plateau`: from a level on nothing is gained along the axis any more.

use std::sync::Arc;

use super::{Form, Test};
use crate::along::place;
use crate::bench::Bench;
use crate::ruling::{Ruled, Ruling, Verdict};
use crate::saying::{Saying, level, percent};
use crate::select::Selection;
use crate::words::Bound;
use iolab_model::catalog::Factor;
use iolab_model::result::CellRecord;

pub(super) const FORM: Form = Form {
    word: "plateau",
    keys: &["axis", "from", "tolerance"],
    read: |keys| {
        let axis = keys.factor("axis")?;
        let (from, tolerance) = (keys.level("from", axis)?, keys.tolerance()?);
        Ok(Arc::new(Plateau { axis, from, tolerance }))
    },
};

#[derive(Debug)]
struct Plateau {
    axis: Factor,
    /// The first level of the plateau.
    from: u64,
    /// Gains up to this share are none.
    tolerance: f64,
}

impl Test for Plateau {
    /// What the first level costs against the best of all from it on.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let steps = bench.along(self.axis, &Selection::default())?;
        let from = place(self.axis, self.from);
        let Some((_, first)) = steps.iter().find(|(level, _)| *level == self.from) else {
            return Err(format!("{from} was not measured"));
        };
        let larger = steps.iter().filter(|(level, _)| *level > self.from);
        let larger: Vec<&CellRecord> = larger.flat_map(|(_, cells)| cells.clone()).collect();
        if larger.is_empty() {
            return Err(format!("nothing larger than {from} was measured"));
        }
        let ratio = bench.between(&larger, first, 1)?.ratio;
        let why = format!("the best beyond it against {from}");
        Ok(match ratio.interval {
            at if at.low.is_some_and(|low| low > 1.0 + self.tolerance) => {
                Ruling::by(Verdict::Contradicted, ratio, why)
            }
            at if at.high.is_some_and(|high| high <= 1.0 + self.tolerance) => {
                Ruling::by(Verdict::Replicated, ratio, why)
            }
            _ => Ruling::by(Verdict::Inconclusive, ratio, why),
        })
    }

    fn said(&self, _: &Saying) -> String {
        let (axis, from) = (self.axis, level(self.axis, self.from));
        format!("no larger {axis} than {from} is faster by more than {}", percent(self.tolerance))
    }

    fn axis(&self) -> Option<Factor> {
        Some(self.axis)
    }

    fn marks(&self) -> Vec<u64> {
        vec![self.from]
    }

    fn bounds(&self) -> Vec<Bound> {
        vec![Bound::Share("tolerance", self.tolerance)]
    }
}
