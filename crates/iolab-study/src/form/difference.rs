//! `difference`: the times of two sides lie at most so far apart.

use std::sync::Arc;

use super::{Form, Test};
use crate::bench::Bench;
use crate::evidence::{Ratio, difference, ratio};
use crate::keys::time;
use crate::ruling::{Bounded, Ruled, Ruling, ranged};
use crate::saying::Saying;
use crate::select::Selection;
use crate::words::Bound;
use iolab_model::catalog::time_text;
use iolab_model::result::Interval;

pub(super) const FORM: Form = Form {
    word: "difference",
    keys: &["a", "b", "most"],
    read: |keys| {
        let (a, b, most_ns) = (keys.side("a")?, keys.side("b")?, time(keys.table, "most")?);
        Ok(Arc::new(Difference { a, b, most_ns }))
    },
};

#[derive(Debug)]
struct Difference {
    a: Selection,
    b: Selection,
    /// Nanoseconds for one unit of work.
    most_ns: f64,
}

impl Test for Difference {
    fn judge(&self, bench: &Bench<'_>) -> Ruled {
        let (first, second) = (bench.one(&self.a)?, bench.one(&self.b)?);
        let apart = || format!("{} and {} share no steady round", first.id, second.id);
        let at = |looks| {
            let how = bench.how(looks);
            let ratio = ratio(first, second, bench.document, how).ok_or_else(apart)?;
            let (ns, interval) =
                difference(first, second, bench.document, how).ok_or_else(apart)?;
            Ok(Apart { ns, interval, ratio })
        };
        let (verdict, found) = ranged((-self.most_ns, self.most_ns), at)?;
        let (seen, most) = (span_text(found.ns, &found.interval), time_text(self.most_ns));
        let why = format!("the difference is {seen}; {most} claimed at most");
        Ok(Ruling::by(verdict, found.ratio, why))
    }

    fn said(&self, saying: &Saying) -> String {
        let (time, a, b) = (saying.time(), saying.side(&self.a), saying.side(&self.b));
        format!("{time} of {a} and of {b} differ by at most {}", time_text(self.most_ns))
    }

    fn sides(&self) -> Vec<&Selection> {
        vec![&self.a, &self.b]
    }

    fn bounds(&self) -> Vec<Bound> {
        vec![Bound::Time(self.most_ns)]
    }
}

/// How far two times lie apart.
struct Apart {
    ns: f64,
    interval: Interval,
    ratio: Ratio,
}

impl Bounded for Apart {
    fn interval(&self) -> &Interval {
        &self.interval
    }
}

fn span_text(ns: f64, interval: &Interval) -> String {
    let signed = |ns: f64| match ns < 0.0 {
        true => format!("−{}", time_text(-ns)),
        false => time_text(ns),
    };
    let bound = |bound: Option<f64>| bound.map_or("?".to_owned(), signed);
    format!("{} ({} to {})", signed(ns), bound(interval.low), bound(interval.high))
}
