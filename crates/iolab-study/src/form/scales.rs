//! `scales`: the rate grows along the axis, from one level to another by a factor.

use std::sync::Arc;

use super::{Form, Test};
use crate::along::span;
use crate::bench::Bench;
use crate::keys::range;
use crate::ruling::{Ruled, Ruling, range_text, within};
use crate::saying::{Saying, level};
use crate::select::Selection;
use crate::words::Bound;
use iolab_model::catalog::{Factor, Level};

pub(super) const FORM: Form = Form {
    word: "scales",
    keys: &["axis", "from", "to", "by"],
    read: |keys| {
        let axis = keys.factor("axis")?;
        let by = range(keys.table)?.unwrap_or((1.0, f64::INFINITY));
        let (from, to) = (keys.level("from", axis)?, keys.level("to", axis)?);
        Ok(Arc::new(Scales { axis, from, to, by }))
    },
};

#[derive(Debug)]
struct Scales {
    axis: Factor,
    from: u64,
    to: u64,
    /// By which factor, from and to.
    by: (f64, f64),
}

impl Test for Scales {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let at = |level: u64| Selection::default().at(self.axis, Level::Number(level));
        let (to, from) = (at(self.to), at(self.from));
        let ruling = within(self.by, |looks| Ok(bench.sides(&to, &from, looks)?.ratio))?;
        let why = format!("{}, {}", ruling.why, span(self.axis, self.from, self.to));
        Ok(Ruling { why, ..ruling })
    }

    fn said(&self, _: &Saying) -> String {
        let (axis, by) = (self.axis, range_text(self.by.0, self.by.1));
        let (from, to) = (level(axis, self.from), level(axis, self.to));
        format!("from {from} to {to} {axis} the rate grows {by}")
    }

    fn axis(&self) -> Option<Factor> {
        Some(self.axis)
    }

    fn marks(&self) -> Vec<u64> {
        vec![self.from, self.to]
    }

    fn bounds(&self) -> Vec<Bound> {
        Bound::factors(self.by)
    }
}
