//! The best of one side against the best of the other, from the rounds that answers rest on.
//!
//! A claim names its sides before anything is measured, so that each bound may have its whole error
//! (`iolab_stats::sides`); an answer of the run bounds all of its cells at once, and is wider. The best
//! of a side is not chosen on the data and then tested as if it had been given.

use std::collections::BTreeMap;

use super::evidence::{How, Ratio, UNEQUAL_LN, by_epoch, ratio, rules, time_ns, unequal};
use super::stretch::stretched;
use super::terms::Measure;
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, Document, ExclusionReason, Interval, Phase, Sample,
};
use iolab_stats::{Observations, Sides, median, sides};

/// Two sides against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Against {
    /// Time of the second over time of the first.
    pub(super) ratio: Ratio,
    /// The first is shown to be faster.
    pub(super) first_faster: bool,
    /// The second is.
    pub(super) second_faster: bool,
}

impl Against {
    /// Where the interval alone says who is faster.
    pub(super) fn of(ratio: Ratio) -> Against {
        Against { ratio, first_faster: ratio.above_one(), second_faster: ratio.below_one() }
    }
}

/// Two sides of a claim.
pub(super) struct BestOf<'a> {
    document: &'a Document,
    a: &'a [&'a CellRecord],
    b: &'a [&'a CellRecord],
    how: How,
    /// Of the best of b against the best of a.
    bounds: Sides,
    /// Median of the times of a's cells, then of b's.
    medians: Vec<f64>,
}

impl<'a> BestOf<'a> {
    pub(super) fn of(
        document: &'a Document,
        a: &'a [&'a CellRecord],
        b: &'a [&'a CellRecord],
        how: How,
    ) -> Result<BestOf<'a>, String> {
        let cells: Vec<&CellRecord> = a.iter().chain(b).copied().collect();
        if a.is_empty() || b.is_empty() {
            return Err("nothing was compared".to_owned());
        }
        if let Some(answer) = unsound(document, &cells) {
            return Err(format!("the run gives no sound answer: {}", answer.sentence));
        }
        let long = how.measure.is_lost_in_ticks().then(|| stretched(&cells));
        let cells: Vec<&CellRecord> = long.as_ref().map_or(cells, |long| long.iter().collect());
        let seen = seen(document, &cells, how);
        let nothing = match how.measure {
            Measure::Elapsed => "no steady round",
            _ => "no steady round in which the kernel saw any of it",
        };
        let middle = |(cell, y): (&&CellRecord, &Vec<f64>)| {
            median(y).ok_or_else(|| format!("{} has {nothing}", cell.id))
        };
        let medians = cells.iter().zip(&seen.y).map(middle).collect::<Result<_, _>>()?;
        let rules = rules(document, how.error, by_epoch(&cells));
        let all: Vec<usize> = (0..cells.len()).collect();
        let (first, second) = all.split_at(a.len());
        let allowed = if unequal(&cells) { UNEQUAL_LN } else { 0.0 };
        let Sides { low, high } = sides(&seen, &rules, first, second);
        let bounds = Sides { low: low - allowed, high: high + allowed };
        Ok(BestOf { document, a, b, how, bounds, medians })
    }

    /// The best of b against the best of a.
    pub(super) fn against(&self) -> Result<Against, String> {
        let interval = interval_of(self.bounds);
        Ok(Against::of(Ratio { ratio: within(&interval, self.middle()?), interval }))
    }

    /// The cell of b that is the fastest by its median.
    pub(super) fn best_of_second(&self) -> &'a CellRecord {
        self.b[fastest(&self.medians[self.a.len()..])]
    }

    /// The paired median of the two that are the fastest by their own: a description, no claim.
    fn middle(&self) -> Result<f64, String> {
        let (a, b) = (self.a[fastest(&self.medians[..self.a.len()])], self.best_of_second());
        let pair = ratio(a, b, self.document, self.how);
        pair.map(|pair| pair.ratio)
            .ok_or_else(|| format!("{} and {} share no steady round", a.id, b.id))
    }
}

/// The figure that stands before an interval lies in it: the two that are the fastest by their own
/// medians were chosen on the data, and of few rounds their ratio can lie beyond bounds that hold for
/// the best of each side. "1.28× (1.18–1.26)" was read as a mistake.
fn within(interval: &Interval, ratio: f64) -> f64 {
    let above = interval.low.map_or(ratio, |low| ratio.max(low));
    interval.high.map_or(above, |high| above.min(high))
}

/// Ratios of bounds that are logarithms; an end that is not known is none.
pub(super) fn interval_of(Sides { low, high }: Sides) -> Interval {
    let bound = |ln: f64| ln.is_finite().then(|| ln.exp());
    Interval { low: bound(low), high: bound(high) }
}

fn fastest(medians: &[f64]) -> usize {
    let by = |x: &(usize, &f64), y: &(usize, &f64)| x.1.total_cmp(y.1);
    medians.iter().enumerate().min_by(by).map_or(0, |(at, _)| at)
}

/// The answer with one of these cells that says that nothing is to be believed of it.
fn unsound<'a>(document: &'a Document, cells: &[&CellRecord]) -> Option<&'a Answer> {
    let has = |answer: &Answer, cell: &CellRecord| {
        answer.condition.iter().all(|(factor, level)| cell.factors.get(factor) == Some(level))
    };
    let is = |answer: &&Answer| {
        answer.kind == AnswerKind::Invalid && cells.iter().any(|cell| has(answer, cell))
    };
    document.answers.iter().find(is)
}

/// Cells by round as the statistics want them.
fn seen(document: &Document, cells: &[&CellRecord], how: How) -> Observations {
    let order = Order::of(document);
    let mut rounds: BTreeMap<u32, (u32, bool)> = BTreeMap::new();
    for sample in cells.iter().flat_map(|cell| &cell.samples) {
        if sample.phase != Phase::First {
            rounds.entry(sample.round).or_insert((sample.epoch, sample.phase == Phase::Steady));
        }
    }
    let mut seen = Observations {
        y: vec![Vec::new(); cells.len()],
        position: vec![Vec::new(); cells.len()],
        before: vec![Vec::new(); cells.len()],
        ..Observations::default()
    };
    let by_round: Vec<BTreeMap<u32, &Sample>> =
        cells.iter().map(|c| c.samples.iter().map(|s| (s.round, s)).collect()).collect();
    for (round, (epoch, steady)) in rounds {
        let samples = || cells.iter().zip(&by_round).map(|(cell, all)| (cell, all.get(&round)));
        let y = samples().map(|(cell, s)| s.map_or(f64::NAN, |s| took(cell, s, how)));
        if !steady {
            seen.warmup.push(y.collect());
            continue;
        }
        seen.epoch.push(epoch);
        seen.y.iter_mut().zip(y).for_each(|(all, y)| all.push(y));
        for (at, (_, sample)) in samples().enumerate() {
            seen.position[at].push(sample.map(|s| s.position));
            seen.before[at].push(sample.and_then(|s| order.before(s)));
        }
    }
    let unproven = |cell: &CellRecord| cell.exclusion == Some(ExclusionReason::Screened);
    seen.dropped = (0..cells.len()).filter(|at| unproven(cells[*at])).collect();
    seen
}

/// ln of the time per unit of work; +∞ where the trial was lost, NaN where it says nothing.
fn took(cell: &CellRecord, sample: &Sample, how: How) -> f64 {
    match sample.counts() {
        _ if sample.fault.is_some() => f64::INFINITY,
        true => {
            let y = time_ns(cell, sample, how.measure, how.per).ln();
            if y.is_finite() { y } else { f64::NAN }
        }
        false => f64::NAN,
    }
}

/// Which cell ran before which: a number for each, the twin's second trials with those of their cell.
struct Order(BTreeMap<u32, Vec<(u32, u32, u32)>>);

impl Order {
    fn of(document: &Document) -> Order {
        let mut rounds: BTreeMap<u32, Vec<(u32, u32, u32)>> = BTreeMap::new();
        for (cell, record) in document.cells.iter().enumerate() {
            for sample in &record.samples {
                let trial = (sample.position, cell as u32, sample.epoch);
                rounds.entry(sample.round).or_default().push(trial);
            }
        }
        let number: BTreeMap<&str, u32> =
            document.cells.iter().zip(0..).map(|(cell, at)| (cell.id.as_str(), at)).collect();
        for (cell, sample) in document.twin.iter().flat_map(|twin| twin.trials()) {
            let cell = number.get(cell).copied().unwrap_or(u32::MAX);
            rounds.entry(sample.round).or_default().push((sample.position, cell, sample.epoch));
        }
        rounds.values_mut().for_each(|trials| trials.sort_unstable());
        Order(rounds)
    }

    /// The cell just before this trial, with nothing in between.
    fn before(&self, sample: &Sample) -> Option<u32> {
        let here = self.0.get(&sample.round)?;
        match here.partition_point(|(position, ..)| *position < sample.position) {
            0 => {
                let (_, cell, epoch) = self.0.get(&sample.round.checked_sub(1)?)?.last()?;
                (*epoch == sample.epoch).then_some(*cell)
            }
            at => Some(here[at - 1].1),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::within;
    use iolab_model::result::Interval;

    #[test]
    fn a_figure_lies_in_the_interval_behind_it() {
        let interval = Interval { low: Some(1.18), high: Some(1.26) };
        assert_eq!([1.1, 1.2, 1.28].map(|ratio| within(&interval, ratio)), [1.18, 1.2, 1.26]);
        assert_eq!(within(&Interval { low: None, high: None }, 1.28), 1.28);
    }
}
