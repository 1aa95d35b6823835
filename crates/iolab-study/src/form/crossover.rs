//! `crossover`: below a place on the axis `a` is faster, above it `b`.

use std::sync::Arc;

use super::{Form, Test};
use crate::along::place;
use crate::bench::Bench;
use crate::best_of::Against;
use crate::claim_keys::{Keys, place_of};
use crate::keys::must;
use crate::ruling::{Ruled, Ruling, Verdict, no_faster};
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

/// One level with both sides at it.
type Step = (u64, Against);

impl Crossover {
    /// Both sides at each level that both have, where the claim's error is shared by so many looks.
    fn seen(
        &self,
        bench: &Bench<'_>,
        levels: &[u64],
        looks: &dyn Fn(u64) -> usize,
    ) -> Result<Vec<Step>, String> {
        let mut seen = Vec::new();
        for level in levels.iter().copied() {
            let at = |side: &Selection| bench.cells(&side.at(self.axis, Level::Number(level)));
            if let (Ok(first), Ok(second)) = (at(&self.a), at(&self.b)) {
                seen.push((level, bench.between(&first, &second, looks(level))?));
            }
        }
        Ok(seen)
    }

    /// That they change places within the stretch says that the first is faster at its first level and
    /// the second at its last: two statements, both wanted, each with the whole error.
    fn holds(&self, seen: &[Step]) -> Option<Ruling> {
        let (from, to) = self.between;
        let first = seen.iter().find(|(level, _)| *level >= from)?;
        let last = seen.iter().rfind(|(level, _)| *level <= to)?;
        let shown = first.0 < last.0 && first.1.first_faster && last.1.second_faster;
        shown.then(|| Ruling::new(Verdict::Replicated, self.why(first, last)))
    }

    fn why(&self, (low, first): &Step, (high, second): &Step) -> String {
        let place = |level: u64| place(self.axis, level);
        format!(
            "time of {} over that of {} is {} at {} and {} at {}",
            self.b,
            self.a,
            first.ratio,
            place(*low),
            second.ratio,
            place(*high)
        )
    }

    /// A level that shows it to be elsewhere. Whichever does is a choice, and all share the error.
    fn fails(&self, seen: &[Step], delta: f64) -> Option<Ruling> {
        let (from, to) = self.between;
        let below = seen.iter().filter(|(level, _)| *level <= from);
        let mut below = below.filter_map(|(level, found)| {
            let alike = no_faster(&found.ratio, delta)?;
            Some((*level, found.ratio, format!("{} should be faster there: {alike}", self.a)))
        });
        let above = seen.iter().filter(|(level, _)| *level >= to);
        let mut above = above.filter_map(|(level, found)| {
            let alike = no_faster(&found.ratio.turned(), delta)?;
            Some((*level, found.ratio, format!("{} should be faster there: {alike}", self.b)))
        });
        let (level, ratio, why) = below.next_back().or_else(|| above.next())?;
        let why = format!("at {} {why}", place(self.axis, level));
        Some(Ruling::by(Verdict::Contradicted, ratio, why))
    }
}

impl Test for Crossover {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let along = bench.along(self.axis, &self.a)?;
        let levels: Vec<u64> = along.iter().map(|(level, _)| *level).collect();
        let (from, to) = self.between;
        let begins = levels.iter().rfind(|level| **level <= from);
        let ends = levels.iter().find(|level| **level >= to);
        let alone = self.seen(bench, &levels, &|_| 1)?;
        // A level far from the stretch that goes the other way takes the claim away too. Where the
        // stretch begins and ends it is likeliest to be seen: these two have half of the error.
        let bounds = |level: u64| Some(&level) == begins || Some(&level) == ends;
        let looks = |level: u64| if bounds(level) { 4 } else { 2 * levels.len() };
        let shared = self.seen(bench, &levels, &looks)?;
        if let Some(ruling) = self.fails(&shared, bench.delta()) {
            return Ok(ruling);
        }
        if let Some(ruling) = self.holds(&alone) {
            return Ok(ruling);
        }
        let ends = (
            alone.iter().rfind(|(level, _)| *level <= from),
            alone.iter().find(|(level, _)| *level >= to),
        );
        Ok(match ends {
            (Some(below), Some(above)) => {
                Ruling::new(Verdict::Inconclusive, self.why(below, above))
            }
            _ => Ruling::new(Verdict::Inconclusive, "no level lies on both sides of the stretch"),
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

    fn decided_by(&self) -> Vec<Selection> {
        let at = |level: u64| {
            let level = Level::Number(level);
            [self.a.at(self.axis, level.clone()), self.b.at(self.axis, level)]
        };
        [at(self.between.0), at(self.between.1)].concat()
    }
}
