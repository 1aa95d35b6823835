//! `crossover`: below a place on the axis `a` is faster, above it `b`.

use std::sync::Arc;

use super::{Form, Test};
use crate::along::place;
use crate::bench::Bench;
use crate::claim_keys::{Keys, place_of};
use crate::keys::must;
use crate::regrets::Against;
use crate::ruling::{Ruled, Ruling, Verdict};
use crate::saying::{Saying, level};
use crate::select::Selection;
use iolab_model::catalog::{Factor, Level};
use iolab_model::spec::file::FileError;

pub(super) const FORM: Form = Form {
    word: "crossover",
    keys: &["axis", "a", "b", "between", "near", "within"],
    read: |keys| {
        let axis = keys.factor("axis")?;
        let between = between(keys, axis)?;
        Ok(Arc::new(Crossover { axis, a: keys.side("a")?, b: keys.side("b")?, between }))
    },
};

/// Where sides change places: `between`, or what older files wrote, `near` and `within`.
fn between(keys: &Keys<'_, '_>, axis: Factor) -> Result<(u64, u64), FileError> {
    let Some(value) = keys.table.get("between") else {
        let near = place_of(axis, must(keys.table, "near")?)? as f64;
        let within = keys.table.get("within").map(|v| v.float()).transpose()?.unwrap_or(4.0);
        return Ok(((near / within).floor() as u64, (near * within).ceil() as u64));
    };
    let places = value.items().into_iter().map(|item| place_of(axis, item));
    match places.collect::<Result<Vec<u64>, _>>()?[..] {
        [from, to] if from <= to => Ok((from, to)),
        _ => Err(value.refuse("two levels are wanted", "write between = [\"1Mi\", \"8Mi\"]")),
    }
}

#[derive(Debug)]
struct Crossover {
    axis: Factor,
    /// Faster at small levels.
    a: Selection,
    /// Faster at large levels.
    b: Selection,
    /// Between which levels of the axis they change places.
    between: (u64, u64),
}

impl Crossover {
    /// Both sides at each level that both have.
    fn seen(&self, bench: &Bench<'_>) -> Result<Vec<(u64, Against)>, String> {
        let levels: Vec<u64> =
            bench.along(self.axis, &self.a)?.iter().map(|(level, _)| *level).collect();
        let mut seen = Vec::new();
        for level in &levels {
            let at = |side: &Selection| bench.cells(&side.at(self.axis, Level::Number(*level)));
            if let (Ok(first), Ok(second)) = (at(&self.a), at(&self.b)) {
                seen.push((*level, bench.between(&first, &second, levels.len())?));
            }
        }
        Ok(seen)
    }

    /// The change is somewhere between two levels: only where all of that stretch is claimed, or
    /// none of it, is the claim judged.
    fn placed(&self, low: u64, high: u64) -> Verdict {
        let (from, to) = self.between;
        match () {
            () if low >= from && high <= to => Verdict::Replicated,
            () if high <= from || low >= to => Verdict::Contradicted,
            () => Verdict::Inconclusive,
        }
    }
}

impl Test for Crossover {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let seen = self.seen(bench)?;
        let last_a = seen.iter().rev().find(|(_, found)| found.first_faster);
        let first_b = seen.iter().find(|(_, found)| found.second_faster);
        let place = |level: u64| place(self.axis, level);
        Ok(match (last_a, first_b) {
            (Some((low, first)), Some((high, second))) if low < high => {
                let (first, second, b, a) = (first.ratio, second.ratio, &self.b, &self.a);
                let why = format!(
                    "it lies between {} and {}: time of {b} over that of {a} is {first} at the \
                     one and {second} at the other",
                    place(*low),
                    place(*high)
                );
                Ruling::new(self.placed(*low, *high), why)
            }
            (Some((low, _)), Some((high, found))) => {
                let why = format!(
                    "the first is faster at {} and the second at {}: no one crossing",
                    place(*low),
                    place(*high)
                );
                Ruling::by(Verdict::Contradicted, found.ratio, why)
            }
            (Some(_), None) if seen.last().is_some_and(|(_, found)| found.first_faster) => {
                Ruling::new(Verdict::Contradicted, "the first is faster up to the largest level")
            }
            (None, Some(_)) if seen.first().is_some_and(|(_, found)| found.second_faster) => {
                let why = "the second is faster from the smallest level on";
                Ruling::new(Verdict::Contradicted, why)
            }
            _ => Ruling::new(Verdict::Inconclusive, "no side is shown to be faster on both ends"),
        })
    }

    fn said(&self, _: &Saying) -> String {
        let (axis, (from, to)) = (self.axis, self.between);
        let (from, to) = (level(axis, from), level(axis, to));
        let (a, b) = (&self.a, &self.b);
        format!("below {axis} {from} {a} is faster, above {to} {b}; they change places in between")
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b]
    }

    fn axis(&self) -> Option<Factor> {
        Some(self.axis)
    }

    fn marks(&self) -> Vec<u64> {
        vec![self.between.0, self.between.1]
    }
}
