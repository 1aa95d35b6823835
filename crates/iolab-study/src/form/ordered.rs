//! `ordered`: time falls (or rises) along an axis.

use std::sync::Arc;

use super::{Direction, Form, Test};
use crate::along::span;
use crate::bench::Bench;
use crate::evidence::Ratio;
use crate::keys::falling;
use crate::ruling::{Ruled, Ruling, Verdict, no_faster};
use crate::saying::Saying;
use crate::select::Selection;
use iolab_model::catalog::Factor;

pub(super) const FORM: Form = Form {
    word: "ordered",
    keys: &["axis", "direction"],
    read: |keys| {
        Ok(Arc::new(Ordered { axis: keys.factor("axis")?, falling: falling(keys.table)? }))
    },
};

#[derive(Debug)]
struct Ordered {
    axis: Factor,
    /// Whether time gets less.
    falling: bool,
}

impl Test for Ordered {
    /// From end to end it must be shown; of the steps none may be shown to go back by what matters.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let steps = bench.along(self.axis, &Selection::default())?;
        let delta = 1.0 + bench.document.experiment.protocol.delta;
        // Time of the smaller level over time of the larger one: above 1 where it goes the right way.
        let turn = |ratio: Ratio| if self.falling { ratio } else { ratio.turned() };
        for pair in steps.windows(2) {
            let ratio = turn(bench.between(&pair[1].1, &pair[0].1, steps.len())?.ratio);
            if ratio.interval.high.is_some_and(|high| high < 1.0 / delta) {
                let why = format!("not {}", span(self.axis, pair[0].0, pair[1].0));
                return Ok(Ruling::by(Verdict::Contradicted, ratio, why));
            }
        }
        let (first, last) = (&steps[0], &steps[steps.len() - 1]);
        // The ends are given and no choice. That the whole goes back shares its error with the steps.
        let found = bench.between(&last.1, &first.1, 1)?;
        let (shown, span) = (turn(found.ratio), span(self.axis, first.0, last.0));
        let holds = if self.falling { found.first_faster } else { found.second_faster };
        if holds {
            let why = match steps.len() - 1 {
                1 => span,
                n => format!("{span}; of {n} steps none is shown to go back"),
            };
            return Ok(Ruling::by(Verdict::Replicated, shown, why));
        }
        let ratio = turn(bench.between(&last.1, &first.1, steps.len())?.ratio);
        Ok(match no_faster(&ratio, bench.delta()) {
            Some(alike) => Ruling::by(Verdict::Contradicted, ratio, format!("not {span}: {alike}")),
            None => Ruling::by(Verdict::Inconclusive, shown, span),
        })
    }

    fn said(&self, saying: &Saying) -> String {
        let way = if self.falling { "less" } else { "more" };
        format!("{} gets {way} as {} grows, no step shown to go back", saying.time(), self.axis)
    }

    fn axis(&self) -> Option<Factor> {
        Some(self.axis)
    }

    fn direction(&self) -> Option<Direction<'_>> {
        Some(Direction::Along { falling: self.falling })
    }
}
