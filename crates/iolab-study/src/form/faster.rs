//! `faster`: `a` takes less time than `b`; with a range, by so much.

use std::sync::Arc;

use super::{Direction, Form, Test};
use crate::bench::Bench;
use crate::keys::range;
use crate::ruling::{Ruled, Ruling, Verdict, no_faster, range_text, within};
use crate::saying::Saying;
use crate::select::Selection;
use crate::words::Bound;

pub(super) const FORM: Form = Form {
    word: "faster",
    keys: &["a", "b", "by"],
    read: |keys| {
        let (a, b) = (keys.side("a")?, keys.side("b")?);
        Ok(Arc::new(Faster { a, b, by: range(keys.table)? }))
    },
};

#[derive(Debug)]
struct Faster {
    a: Selection,
    b: Selection,
    /// By which factor, from and to.
    by: Option<(f64, f64)>,
}

impl Test for Faster {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        if let Some(by) = self.by {
            return within(by, |looks| Ok(bench.sides(&self.a, &self.b, looks)?.ratio));
        }
        let found = bench.sides(&self.a, &self.b, 1)?;
        let (verdict, why) = match no_faster(&found.ratio, bench.delta()) {
            _ if found.first_faster => (Verdict::Replicated, "it is so here, too".to_owned()),
            Some(alike) => (Verdict::Contradicted, alike),
            None => (Verdict::Inconclusive, "neither is shown to be faster".to_owned()),
        };
        Ok(Ruling::by(verdict, found.ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, a, b) = (saying.time(), saying.side(&self.a), saying.side(&self.b));
        match self.by {
            None => format!("{time} of {a} is less than that of {b}"),
            Some((from, to)) => format!("{time} of {b} is {} that of {a}", range_text(from, to)),
        }
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b]
    }

    fn bounds(&self) -> Vec<Bound> {
        self.by.map_or(Vec::new(), Bound::factors)
    }

    fn direction(&self) -> Option<Direction<'_>> {
        Some(Direction::Sides(&self.a, &self.b))
    }
}
