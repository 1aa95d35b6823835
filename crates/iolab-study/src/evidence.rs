//! What the runs of a study show of two cells, of one, of all.

use std::collections::BTreeMap;

use super::shown::steady;
use super::stretch::{SHORT_NS, stretched};
use super::terms::{Measure, Per};
use iolab_model::catalog::{CacheState, Code, Factor};
use iolab_model::result::{CellRecord, Document, Interval, Sample};
use iolab_stats::{Rules, Sides, bounds_of, mean_bounds, median};

/// The run of each experiment by its name, or why there is none.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// By name.
    pub runs: BTreeMap<String, Result<&'a Document, String>>,
    /// Error allowed for each claim.
    pub alpha: f64,
}

impl<'a> Evidence<'a> {
    /// The first of these experiments that came to a steady round, else the first that was run, else
    /// why the last of them was not.
    pub fn run(&self, experiments: &[String]) -> Result<&'a Document, String> {
        let run = |name: &String| self.runs.get(name)?.as_ref().ok().copied();
        let all = || experiments.iter().filter_map(run);
        let found = all().find(|doc| doc.has_steady_round()).or_else(|| all().next());
        let why = || {
            let last = experiments.last()?;
            match self.runs.get(last) {
                Some(Err(why)) => Some(why.clone()),
                _ => Some(format!("the experiment {last} was not run")),
            }
        };
        found.ok_or_else(|| why().unwrap_or_default())
    }
}

/// Time of the second over time of the first, with its interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Ratio {
    /// Median.
    pub ratio: f64,
    /// Where it lies.
    pub interval: Interval,
}

impl Ratio {
    /// The first is shown to be faster.
    pub fn above_one(&self) -> bool {
        self.interval.low.is_some_and(|low| low > 1.0)
    }

    /// The second is shown to be faster.
    pub fn below_one(&self) -> bool {
        self.interval.high.is_some_and(|high| high < 1.0)
    }

    /// Time of the first over time of the second.
    pub(super) fn turned(self) -> Ratio {
        let over = |bound: Option<f64>| bound.map(|bound| 1.0 / bound);
        let Interval { low, high } = self.interval;
        Ratio { ratio: 1.0 / self.ratio, interval: Interval { low: over(high), high: over(low) } }
    }

    /// All of the interval lies from `low` to `high`.
    pub fn inside(&self, low: f64, high: f64) -> bool {
        inside(&self.interval, low, high)
    }

    /// None of the interval lies from `low` to `high`.
    pub fn outside(&self, low: f64, high: f64) -> bool {
        outside(&self.interval, low, high)
    }
}

impl std::fmt::Display for Ratio {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let bound = |value: Option<f64>| value.map_or("?".to_owned(), figure);
        if self.interval.low.is_none() && self.interval.high.is_none() {
            return write!(f, "{}× (too few rounds for an interval)", figure(self.ratio));
        }
        let Interval { low, high } = self.interval;
        write!(f, "{}× ({}–{})", figure(self.ratio), bound(low), bound(high))
    }
}

/// All of an interval lies from `low` to `high`. An end that is not known is inside only of a side
/// that is open itself.
pub(super) fn inside(interval: &Interval, low: f64, high: f64) -> bool {
    let from = interval.low.is_some_and(|l| l >= low) || low == f64::NEG_INFINITY;
    let to = interval.high.is_some_and(|h| h <= high) || high == f64::INFINITY;
    from && to && (interval.low.is_some() || interval.high.is_some())
}

/// None of it does.
pub(super) fn outside(interval: &Interval, low: f64, high: f64) -> bool {
    interval.low.is_some_and(|l| l > high) || interval.high.is_some_and(|h| h < low)
}

/// A ratio with as many digits as tell it from one.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if !(0.9..1.1).contains(&v) => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// What a trial took of a measure.
fn taken_ns(sample: &Sample, measure: Measure) -> u64 {
    let m = &sample.measurement;
    match measure {
        Measure::Elapsed => m.wall_ns,
        Measure::User => m.user_ns,
        Measure::System => m.system_ns,
        Measure::Cpu => m.user_ns.saturating_add(m.system_ns),
    }
}

/// The time of one trial per unit of work, in nanoseconds; zero where the kernel saw less than a
/// tick of it.
pub(super) fn time_ns(cell: &CellRecord, sample: &Sample, measure: Measure, per: Per) -> f64 {
    let m = &sample.measurement;
    let call =
        cell.factors.get(Factor::Operation).is_some() && cell.factors.get(Factor::Files).is_none();
    let work = match per {
        Per::Pass => passes(cell, sample),
        Per::Work if m.bytes > 0 && !call => m.bytes as f64,
        Per::Work | Per::Operation => m.operations as f64,
    };
    taken_ns(sample, measure) as f64 / if work > 0.0 { work } else { 1.0 }
}

/// Passes over the file that a trial made: of a part of one, that part.
fn passes(cell: &CellRecord, sample: &Sample) -> f64 {
    let m = &sample.measurement;
    match cell.factors.number(Factor::FileSize) {
        Some(size) if size > 0 && m.flags.contains(&Code::Bounded) => m.bytes as f64 / size as f64,
        _ => m.repetitions as f64,
    }
}

/// How cells are put against each other.
#[derive(Clone, Copy, Debug)]
pub(super) struct How {
    pub measure: Measure,
    pub per: Per,
    /// Error of the interval.
    pub error: f64,
}

/// Time of the second over time of the first, by their shared rounds.
pub(super) fn ratio(
    a: &CellRecord,
    b: &CellRecord,
    document: &Document,
    how: How,
) -> Option<Ratio> {
    contrast(&[(1.0, b), (-1.0, a)], document, how)
}

/// The product of the cells' times, each to the power of its weight: the median over the rounds
/// that all of them share. Weights of 1 and −1 make a ratio; ratios of ratios and means of ratios
/// are such products too, so that one interval serves all.
pub(super) fn contrast(
    parts: &[(f64, &CellRecord)],
    document: &Document,
    how: How,
) -> Option<Ratio> {
    let (median, interval, unequal) = combined(parts, document, how, f64::ln)?;
    let allowed = if unequal { UNEQUAL_LN } else { 0.0 };
    let exp = |bound: Option<f64>, by: f64| bound.map(|bound| (bound + by).exp());
    let interval = Interval { low: exp(interval.low, -allowed), high: exp(interval.high, allowed) };
    median.is_finite().then(|| Ratio { ratio: median.exp(), interval })
}

/// Time of the second minus time of the first, in nanoseconds per unit of work.
pub(super) fn difference(
    a: &CellRecord,
    b: &CellRecord,
    document: &Document,
    how: How,
) -> Option<(f64, Interval)> {
    let (median, interval, _) = combined(&[(1.0, b), (-1.0, a)], document, how, |ns| ns)?;
    Some((median, interval))
}

/// What is allowed for where cells did parts of unequal length: whatever a trial costs once is a
/// larger part of a shorter one. Cells of one speed and unequal lengths were seen to part by 8 to
/// 18 %, so that a difference of this much and less is none (the logarithm of 1.3).
pub(super) const UNEQUAL_LN: f64 = 0.262_364_264_467_491;

/// Whether cells did parts of unequal length in their steady rounds.
pub(super) fn unequal(cells: &[&CellRecord]) -> bool {
    let partly = |cell: &&CellRecord| {
        steady(cell).any(|sample| {
            let flagged = |code| sample.measurement.flags.contains(&code);
            flagged(Code::Bounded) && flagged(Code::UnequalWork)
        })
    };
    let bytes = |cell: &CellRecord| steady(cell).map(|s| s.measurement.bytes).max();
    cells.iter().any(partly) && cells.windows(2).any(|pair| bytes(pair[0]) != bytes(pair[1]))
}

/// The weighted sum of the cells' times, each through `scale` first, over the rounds they share, and
/// whether they did unequal work.
fn combined(
    parts: &[(f64, &CellRecord)],
    document: &Document,
    how: How,
    scale: fn(f64) -> f64,
) -> Option<(f64, Interval, bool)> {
    let cells: Vec<&CellRecord> = parts.iter().map(|(_, cell)| *cell).collect();
    let long = how.measure.is_lost_in_ticks().then(|| stretched(&cells));
    let cells: Vec<&CellRecord> = long.as_ref().map_or(cells, |long| long.iter().collect());
    let mut sums: BTreeMap<u32, (u32, f64, usize)> = BTreeMap::new();
    for ((weight, _), cell) in parts.iter().zip(&cells) {
        for sample in steady(cell) {
            let y = scale(time_ns(cell, sample, how.measure, how.per));
            let sum = sums.entry(sample.round).or_insert((sample.epoch, 0.0, 0));
            if y.is_finite() {
                *sum = (sum.0, sum.1 + weight * y, sum.2 + 1);
            }
        }
    }
    sums.retain(|_, (_, _, cells)| *cells == parts.len());
    let sums: Vec<(u32, f64)> = sums.into_values().map(|(epoch, sum, _)| (epoch, sum)).collect();
    let by_epoch = !cancels(parts) && by_epoch(&cells);
    median_of(&sums, &rules(document, how.error, by_epoch))
        .map(|(median, interval)| (median, interval, unequal(&cells)))
}

/// Whether where the files lie is no part of the sum: each is as often above the line as below it, as
/// in a mean of ratios of which each compares two ways of reading one file.
fn cancels(parts: &[(f64, &CellRecord)]) -> bool {
    let file = |cell: &CellRecord| {
        [Factor::File, Factor::FileSize, Factor::Place].map(|of| cell.factors.get(of).cloned())
    };
    parts.iter().all(|(_, cell)| {
        let own = parts.iter().filter(|(_, other)| file(other) == file(cell));
        own.map(|(weight, _)| weight).sum::<f64>().abs() < 1e-9
    })
}

/// Whether the cells have files of their own that are drawn anew every so often: where those lie is
/// then a part of the difference, and the renewal is the unit. A cold trial takes new pages each time.
pub(super) fn by_epoch(cells: &[&CellRecord]) -> bool {
    let differ = |factor: &Factor| {
        cells.windows(2).any(|pair| pair[0].factors.get(*factor) != pair[1].factors.get(*factor))
    };
    let renewed = |cell: &&CellRecord| {
        let state: Option<CacheState> = cell.factors.word();
        !state.is_some_and(CacheState::is_cold)
    };
    [Factor::File, Factor::FileSize, Factor::Place].iter().any(differ) && cells.iter().any(renewed)
}

/// The rules of one comparison.
pub(super) fn rules(document: &Document, alpha: f64, by_epoch: bool) -> Rules {
    let protocol = &document.experiment.protocol;
    Rules {
        alpha,
        delta: protocol.delta,
        pairs: 1.0,
        unit_rounds: if by_epoch { protocol.epoch_rounds.max(1) as usize } else { 1 },
        cost: Vec::new(),
        seed: document.run.seed,
    }
}

/// Median and interval of values by round, each with its renewal of the files. Each end of the
/// interval holds by itself with the whole error.
fn median_of(values: &[(u32, f64)], rules: &Rules) -> Option<(f64, Interval)> {
    let (epoch, values): (Vec<u32>, Vec<f64>) = values.iter().copied().unzip();
    let (median, Sides { low, high }) = bounds_of(&values, &epoch, rules)?;
    let bound = |bound: f64| Some(bound).filter(|bound| bound.is_finite());
    Some((median, Interval { low: bound(low), high: bound(high) }))
}

/// The share of the elapsed time that a measure takes: over all steady trials together, with its
/// interval. Of long trials it is that of the median over stretches of rounds (where one ends is known
/// from the elapsed time alone, so that somebody may look after each), of short ones, of which each
/// is a tick or none, that of the mean.
pub(super) fn share(
    cell: &CellRecord,
    measure: Measure,
    document: &Document,
    error: f64,
) -> Option<(f64, Interval)> {
    let of = |s: &Sample| taken_ns(s, measure) as f64 / s.measurement.wall_ns.max(1) as f64;
    let sum = |of: Measure| steady(cell).map(|s| taken_ns(s, of)).sum::<u64>();
    let elapsed: Vec<f64> = steady(cell).map(|s| s.measurement.wall_ns as f64).collect();
    let interval = match median(&elapsed)? < SHORT_NS {
        true => {
            let shares: Vec<f64> = steady(cell).map(of).collect();
            let Sides { low, high } = mean_bounds(&shares, error);
            Interval { low: Some(low), high: Some(high) }
        }
        false => {
            let long = stretched(&[cell]);
            let shares: Vec<(u32, f64)> =
                long.iter().flat_map(steady).map(|s| (0, of(s))).collect();
            let found = median_of(&shares, &rules(document, error, false));
            found.map_or(Interval::default(), |(_, interval)| interval)
        }
    };
    let all = sum(Measure::Elapsed);
    (all > 0).then(|| (sum(measure) as f64 / all as f64, interval))
}

/// Every digest that the trials of a cell left.
pub(super) fn digests(cell: &CellRecord) -> Vec<String> {
    let digest = |s: &Sample| {
        let digest = s.measurement.proof.digest.as_ref()?;
        // Of a part of a pass it is another value by right.
        let bounded = s.measurement.flags.contains(&Code::Bounded);
        (!bounded && !digest.hex.is_empty()).then(|| format!("{} {}", digest.kind, digest.hex))
    };
    let mut all: Vec<String> = steady(cell).filter_map(digest).collect();
    all.sort();
    all.dedup();
    all
}
