//! Two sides with several cells: what each cell costs against the best of all of them, from the
//! same claims that answers rest on.
//!
//! The best of a side is not chosen on the data and then tested as if it had been given: the bounds
//! of all cells hold together, whichever is the best, so that the bounds of the best of each side
//! follow from them. Where the cells are those of one answer of the run, the answer's own bounds are
//! taken, and no verdict can contradict its report.

use std::collections::{BTreeMap, BTreeSet};

use super::evidence::{How, Ratio, UNEQUAL_LN, by_epoch, ratio, rules, time_ns, unequal};
use super::terms::{Measure, Per};
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, Document, ExclusionReason, Interval, Phase, Sample,
};
use iolab_stats::claims::Standing;
use iolab_stats::{Context, Observations, claimed, median};

/// Two sides against each other.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Against {
    /// Time of the second over time of the first.
    pub(super) ratio: Ratio,
    /// The first is shown to be faster, though perhaps not by how much.
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

/// What a cell costs against the best of all: logarithms of ratios of time.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Regret {
    low: f64,
    high: f64,
    excluded: bool,
}

/// Both sides with what each of their cells costs.
pub(super) struct Regrets<'a> {
    document: &'a Document,
    a: &'a [&'a CellRecord],
    b: &'a [&'a CellRecord],
    how: How,
    /// Of the cells of a, then of b.
    all: Vec<Regret>,
    /// Median of their times, likewise.
    medians: Vec<f64>,
}

impl<'a> Regrets<'a> {
    pub(super) fn of(
        document: &'a Document,
        a: &'a [&'a CellRecord],
        b: &'a [&'a CellRecord],
        how: How,
    ) -> Result<Regrets<'a>, String> {
        let cells: Vec<&CellRecord> = a.iter().chain(b).copied().collect();
        if a.is_empty() || b.is_empty() {
            return Err("nothing was compared".to_owned());
        }
        let seen = seen(document, &cells, how);
        let nothing = match how.measure {
            Measure::Elapsed => "no steady round",
            _ => "no steady round in which the kernel saw any of it",
        };
        let middle = |(cell, y): (&&CellRecord, &Vec<f64>)| {
            median(y).ok_or_else(|| format!("{} has {nothing}", cell.id))
        };
        let medians = cells.iter().zip(&seen.y).map(middle).collect::<Result<_, _>>()?;
        let all = match answer(document, &cells, how) {
            Some(answer) => recorded(answer, &cells)?,
            None => computed(&seen, document, &cells, how),
        };
        Ok(Regrets { document, a, b, how, all, medians })
    }

    /// The best of b against the best of a. One of the two is the best of all: where that is a, the
    /// ratio is what b's best costs, else the inverse of what a's best does.
    pub(super) fn against(&self) -> Result<Against, String> {
        let (a, b) = self.all.split_at(self.a.len());
        let least = |side: &[Regret], of: fn(&Regret) -> f64| {
            side.iter().map(of).fold(f64::INFINITY, f64::min)
        };
        let slower = |side: &[Regret]| side.iter().all(|cell| cell.excluded);
        let (first_faster, second_faster) = (slower(b) && !slower(a), slower(a) && !slower(b));
        let low = match least(b, |cell| cell.low) {
            low if low > 0.0 => low,
            _ if first_faster => 0.0,
            _ => -least(a, |cell| cell.high),
        };
        let high = match least(a, |cell| cell.low) {
            low if low > 0.0 => -low,
            _ if second_faster => 0.0,
            _ => least(b, |cell| cell.high),
        };
        let bound = |ln: f64| ln.is_finite().then(|| ln.exp());
        let interval = Interval { low: bound(low), high: bound(high) };
        let ratio = Ratio { ratio: self.middle()?, interval };
        Ok(Against { ratio, first_faster, second_faster })
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

fn fastest(medians: &[f64]) -> usize {
    let by = |x: &(usize, &f64), y: &(usize, &f64)| x.1.total_cmp(y.1);
    medians.iter().enumerate().min_by(by).map_or(0, |(at, _)| at)
}

/// The answer whose compared cells are these and no others, asked the same question.
fn answer<'a>(document: &'a Document, cells: &[&CellRecord], how: How) -> Option<&'a Answer> {
    let protocol = &document.experiment.protocol;
    let asked = how.measure == Measure::Elapsed && how.per == Per::Work;
    if !asked || how.error != protocol.alpha {
        return None;
    }
    let wanted: BTreeSet<&str> = cells.iter().map(|cell| cell.id.as_str()).collect();
    let is = |answer: &&Answer| {
        let theirs: BTreeSet<&str> = answer.regret.iter().map(|r| r.cell.as_str()).collect();
        theirs == wanted
    };
    document.answers.iter().find(is)
}

fn recorded(answer: &Answer, cells: &[&CellRecord]) -> Result<Vec<Regret>, String> {
    if answer.kind == AnswerKind::Invalid {
        return Err(format!("the run gives no sound answer: {}", answer.sentence));
    }
    let of = |cell: &&CellRecord| {
        let regret = answer.regret_of(&cell.id);
        regret.map_or(Regret { low: 0.0, high: f64::INFINITY, excluded: false }, |regret| Regret {
            low: regret.low.max(1.0).ln(),
            high: regret.high.map_or(f64::INFINITY, f64::ln),
            excluded: regret.excluded,
        })
    };
    Ok(cells.iter().map(of).collect())
}

fn computed(
    seen: &Observations,
    document: &Document,
    cells: &[&CellRecord],
    how: How,
) -> Vec<Regret> {
    let rules = rules(document, how.error, by_epoch(cells));
    let claims = claimed(seen, &rules, &Context::default());
    let allowed = if unequal(cells) { UNEQUAL_LN } else { 0.0 };
    let of = claims.cells.iter().map(|cell| match cell.standing {
        Standing::NotCompared(_) => Regret { low: 0.0, high: f64::INFINITY, excluded: false },
        standing => Regret {
            low: (cell.low - allowed).max(0.0),
            high: cell.high + allowed,
            excluded: standing == Standing::Slower && (allowed == 0.0 || cell.low > allowed),
        },
    });
    of.collect()
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
