//! What the runs of a study show of two cells, of one, of all.

use std::collections::BTreeMap;

use super::claim::{Measure, Per};
use iolab_model::catalog::Factor;
use iolab_model::result::{CellRecord, CellStatus, Document, Interval, Phase, Sample};
use iolab_stats::{Observations, Rules, median, pairs};

/// The run of each experiment by its name, or why there is none.
#[derive(Clone, Debug, Default)]
pub struct Evidence<'a> {
    /// By name.
    pub runs: BTreeMap<String, Result<&'a Document, String>>,
    /// Error allowed for each claim.
    pub alpha: f64,
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

    /// All of the interval lies from `low` to `high`.
    pub fn inside(&self, low: f64, high: f64) -> bool {
        self.interval.low.is_some_and(|l| l >= low) && self.interval.high.is_some_and(|h| h <= high)
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

/// A ratio with as many digits as tell it from one.
pub(super) fn figure(value: f64) -> String {
    match value.abs() {
        v if v >= 100.0 => format!("{value:.0}"),
        v if v >= 10.0 => format!("{value:.1}"),
        v if !(0.9..1.1).contains(&v) => format!("{value:.2}"),
        _ => format!("{value:.3}"),
    }
}

/// Why a cell shows nothing.
pub(super) fn lacking(cell: &CellRecord) -> Option<String> {
    let reason = || cell.reason.clone().unwrap_or_else(|| "no reason is recorded".into());
    match cell.status {
        CellStatus::Skipped => Some(format!("{} was skipped: {}", cell.id, reason())),
        CellStatus::Failed => Some(format!("{} failed: {}", cell.id, reason())),
        _ if steady(cell).next().is_none() => Some(format!("{} has no steady round", cell.id)),
        _ => None,
    }
}

fn steady(cell: &CellRecord) -> impl Iterator<Item = &Sample> {
    cell.samples.iter().filter(|s| s.phase == Phase::Steady && s.counts())
}

/// The time of one trial per unit of work, in nanoseconds; zero where the kernel saw less than a
/// tick of it.
fn time_ns(cell: &CellRecord, sample: &Sample, measure: Measure, per: Per) -> f64 {
    let m = &sample.measurement;
    let time = match measure {
        Measure::Elapsed => m.wall_ns,
        Measure::User => m.user_ns,
        Measure::System => m.system_ns,
        Measure::Cpu => m.user_ns.saturating_add(m.system_ns),
    };
    let call =
        cell.factors.get(Factor::Operation).is_some() && cell.factors.get(Factor::Files).is_none();
    let work = match per {
        Per::Pass => m.repetitions,
        Per::Work if m.bytes > 0 && !call => m.bytes,
        Per::Work | Per::Operation => m.operations,
    };
    time as f64 / work.max(1) as f64
}

/// The two cells of one run by their shared rounds, or of two runs by their medians.
pub(super) fn ratio(
    (a, of_a): (&CellRecord, &Document),
    (b, of_b): (&CellRecord, &Document),
    (measure, per): (Measure, Per),
    error: f64,
) -> Option<Ratio> {
    if std::ptr::eq(of_a, of_b) {
        return paired(a, b, of_a, (measure, per), error);
    }
    apart(a, b)
}

fn paired(
    a: &CellRecord,
    b: &CellRecord,
    document: &Document,
    (measure, per): (Measure, Per),
    error: f64,
) -> Option<Ratio> {
    let series = |cell: &CellRecord| -> BTreeMap<u32, (u32, f64)> {
        let time = |s: &Sample| (s.round, (s.epoch, time_ns(cell, s, measure, per).ln()));
        steady(cell).map(time).filter(|(_, (_, y))| y.is_finite()).collect()
    };
    let (of_a, of_b) = (series(a), series(b));
    let shared: Vec<(u32, f64, f64)> = of_a
        .iter()
        .filter_map(|(round, (epoch, ya))| Some((*epoch, *ya, of_b.get(round)?.1)))
        .collect();
    let seen = Observations {
        y: vec![shared.iter().map(|s| s.2).collect(), shared.iter().map(|s| s.1).collect()],
        position: vec![vec![None; shared.len()]; 2],
        before: vec![vec![None; shared.len()]; 2],
        epoch: shared.iter().map(|s| s.0).collect(),
        ..Observations::default()
    };
    let own_files = [Factor::File, Factor::FileSize, Factor::Place]
        .iter()
        .any(|factor| a.factors.get(*factor) != b.factors.get(*factor));
    let protocol = &document.experiment.protocol;
    let rules = Rules {
        alpha: error,
        delta: protocol.delta,
        pairs: 1.0,
        unit_rounds: if own_files { protocol.epoch_rounds.max(1) as usize } else { 1 },
        cost: Vec::new(),
        seed: document.run.seed,
    };
    let pair = pairs(&seen, &rules).into_iter().next()?;
    let interval =
        Interval { low: pair.interval.low.map(f64::exp), high: pair.interval.high.map(f64::exp) };
    pair.median.is_finite().then(|| Ratio { ratio: pair.median.exp(), interval })
}

/// Runs share no rounds: the ends of the two intervals against each other, which is wide and safe.
fn apart(a: &CellRecord, b: &CellRecord) -> Option<Ratio> {
    let of = |cell: &CellRecord| cell.estimate.as_ref().map(|e| e.ns_per_operation.clone());
    let (a, b) = (of(a)?, of(b)?);
    let over = |x: Option<f64>, y: Option<f64>| Some(x? / y?);
    let interval = Interval { low: over(b.low, a.high), high: over(b.high, a.low) };
    Some(Ratio { ratio: b.median / a.median, interval })
}

/// The share of the elapsed time that a measure takes, over the steady trials together: a single
/// short trial is less than the tick by which the kernel splits user from system time.
pub(super) fn share(cell: &CellRecord, measure: Measure) -> Option<f64> {
    let sum = |measure| {
        steady(cell)
            .map(|s| time_ns(cell, s, measure, Per::Pass) * s.measurement.repetitions.max(1) as f64)
            .sum::<f64>()
    };
    let elapsed = sum(Measure::Elapsed);
    (elapsed > 0.0).then(|| sum(measure) / elapsed)
}

/// Every digest that the trials of a cell left.
pub(super) fn digests(cell: &CellRecord) -> Vec<String> {
    let digest = |s: &Sample| {
        let digest = s.measurement.proof.digest.as_ref()?;
        // Of a part of a pass it is another value by right.
        let bounded = s.measurement.flags.contains(&iolab_model::catalog::Code::Bounded);
        (!bounded && !digest.hex.is_empty()).then(|| format!("{} {}", digest.kind, digest.hex))
    };
    let mut all: Vec<String> = steady(cell).filter_map(digest).collect();
    all.sort();
    all.dedup();
    all
}

/// The median time per unit of work.
pub(super) fn median_ns(cell: &CellRecord, measure: Measure, per: Per) -> Option<f64> {
    let all: Vec<f64> = steady(cell).map(|s| time_ns(cell, s, measure, per)).collect();
    median(&all)
}
