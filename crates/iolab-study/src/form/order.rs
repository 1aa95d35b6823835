//! `order`: each side is faster than the next one.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::best_of::Against;
use crate::keys::must;
use crate::ruling::{Ruled, Ruling, Verdict, no_faster};
use crate::saying::Saying;
use crate::select::Selection;

pub(super) const FORM: Form = Form {
    word: "order",
    keys: &["sides"],
    read: |keys| {
        let value = must(keys.table, "sides")?;
        let items = value.items().into_iter();
        let sides = items.map(|side| keys.chosen(side)).collect::<Result<Vec<_>, _>>()?;
        match sides.len() {
            0 | 1 => {
                Err(value.refuse("an order has two sides or more", "name them, fastest first"))
            }
            _ => Ok(Arc::new(Order { sides })),
        }
    },
};

#[derive(Debug)]
struct Order {
    /// From the fastest to the slowest.
    sides: Vec<Selection>,
}

impl Order {
    /// Each side against the next, where the claim's error is shared by so many looks.
    fn steps(&self, bench: &Bench<'_>, looks: usize) -> Result<Vec<(Against, String)>, String> {
        let step = |pair: &[Selection]| {
            let found = bench.sides(&pair[0], &pair[1], looks)?;
            Ok((found, format!("{} against {}", pair[0], pair[1])))
        };
        self.sides.windows(2).map(step).collect()
    }
}

impl Test for Order {
    /// That all steps hold is said wrongly only where the one that does not is judged wrongly: each
    /// may have the whole error. To name one that does not hold is a choice, and shares it.
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let alone = self.steps(bench, 1)?;
        let all = alone.iter().all(|(found, _)| found.first_faster);
        let steps = if all { alone } else { self.steps(bench, self.sides.len() - 1)? };
        let low = |found: &Against| found.ratio.interval.low.unwrap_or(0.0);
        let delta = bench.delta();
        let turned = steps.iter().find(|(found, _)| no_faster(&found.ratio, delta).is_some());
        let least = steps.iter().min_by(|x, y| low(&x.0).total_cmp(&low(&y.0)));
        let Some((found, why)) = turned.filter(|_| !all).or(least) else {
            return Err("one side has no order".into());
        };
        Ok(match () {
            () if turned.is_some() && !all => {
                let alike = no_faster(&found.ratio, delta).unwrap_or_default();
                Ruling::by(Verdict::Contradicted, found.ratio, format!("{why}: {alike}"))
            }
            () => {
                let verdict = if all { Verdict::Replicated } else { Verdict::Inconclusive };
                Ruling::by(verdict, found.ratio, format!("the least of its steps: {why}"))
            }
        })
    }

    fn said(&self, saying: &Saying) -> String {
        let sides: Vec<String> = self.sides.iter().map(|side| saying.side(side)).collect();
        let time = saying.time();
        format!("{time} is in this order, each less than the next: {}", sides.join(" < "))
    }

    fn sides(&self) -> Vec<&Selection> {
        self.sides.iter().collect()
    }
}
