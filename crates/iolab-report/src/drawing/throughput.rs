//! How fast cells are, by workers: bytes a second, files a second, or operations a second.

use super::cells::{Index, Source};
use super::scale::{Axis, digits_plain};
use crate::latency::over_rounds;
use iolab_model::catalog::{Factor, count_text, rate_text};
use iolab_model::result::Summary;

/// What is counted against time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pace {
    /// Bytes, where every cell moves some.
    Bytes,
    /// Files, until the last worker has ended.
    Files,
    /// Calls or loop steps.
    Operations,
}

impl Pace {
    /// One for all cells: bytes of one and calls of another on one axis would mean nothing.
    pub fn of(index: &Index<'_>) -> Pace {
        let measured = || index.cells.iter().filter(|s| s.cell.estimate.is_some());
        let files = |s: &Source<'_>| over_rounds(s.cell, "rate_last").is_some();
        let bytes =
            |s: &Source<'_>| s.cell.estimate.as_ref().is_some_and(|e| e.bytes_per_second.is_some());
        match measured().count() > 0 {
            true if measured().all(files) => Pace::Files,
            true if measured().all(bytes) => Pace::Bytes,
            true => Pace::Operations,
            false => Pace::Bytes,
        }
    }

    /// A cell's speed a second; none where there is nothing that could be drawn.
    pub fn speed(self, source: &Source<'_>) -> Option<Summary> {
        let estimate = source.cell.estimate.as_ref()?;
        let over = |ns: f64| if ns > 0.0 { 1e9 / ns } else { f64::NAN };
        let speed = match self {
            Pace::Bytes => estimate.bytes_per_second.clone()?,
            Pace::Files => over_rounds(source.cell, "rate_last")?,
            Pace::Operations => {
                let ns = &estimate.ns_per_operation;
                let (low, high) = (ns.high.map(over), ns.low.map(over));
                Summary { median: over(ns.median), low, high, ..ns.clone() }
            }
        };
        (speed.median.is_finite() && speed.median > 0.0).then_some(speed)
    }

    /// Its axis, from zero.
    pub fn axis(self, ends: impl IntoIterator<Item = f64>) -> Axis {
        match self {
            Pace::Bytes => Axis::rates("throughput", ends),
            Pace::Files => Axis::from_zero("files a second", ends, tick_count),
            Pace::Operations => Axis::from_zero("operations per second", ends, tick_count),
        }
    }

    /// `1.88 GiB/s`, `52 800 files/s`.
    pub fn text(self, speed: f64) -> String {
        match self {
            Pace::Bytes => rate_text(speed),
            Pace::Files => format!("{} files/s", rounded(speed)),
            Pace::Operations => format!("{} operations/s", rounded(speed)),
        }
    }
}

/// A round count for a tick: `500`, `20 000`.
fn tick_count(value: f64) -> String {
    if (1e4..1e6).contains(&value) { count_text(value.round() as u64) } else { digits_plain(value) }
}

/// Three digits as a count: `52 800`.
fn rounded(value: f64) -> String {
    let step = 10f64.powf((value.log10().floor() - 2.0).max(0.0));
    count_text(((value / step).round() * step) as u64)
}

/// Median, least and greatest end, as far as they are known.
pub fn ends(summary: &Summary) -> impl Iterator<Item = f64> + use<> {
    [Some(summary.median), summary.low, summary.high].into_iter().flatten()
}

/// Cells of one series by number of workers, each with its speed.
pub struct Line<'a> {
    /// In ascending order of workers.
    pub points: Vec<(u64, Source<'a>, Option<Summary>)>,
}

impl<'a> Line<'a> {
    /// Those cells that have a number of workers: threads, or ranks.
    pub fn of(cells: &[Source<'a>], pace: Pace, workers: Factor) -> Line<'a> {
        let count = |s: &Source<'a>| Some((s.cell.factors.number(workers)?, *s, pace.speed(s)));
        let mut points: Vec<_> = cells.iter().filter_map(count).collect();
        points.sort_by_key(|(n, ..)| *n);
        Line { points }
    }

    /// The fewest workers that were measured, and their speed.
    pub fn base(&self) -> Option<(f64, &Summary)> {
        let first = self.points.iter().find_map(|(n, _, s)| Some((*n as f64, s.as_ref()?)));
        first.filter(|(n, _)| *n > 0.0)
    }

    /// Every speed with its interval.
    pub fn ends(&self) -> impl Iterator<Item = f64> + '_ {
        self.points.iter().filter_map(|(.., s)| s.as_ref()).flat_map(ends)
    }
}

#[cfg(test)]
mod tests {
    use super::{Pace, rounded, tick_count};

    #[test]
    fn counts_are_read_at_a_glance() {
        assert_eq!(rounded(52_788.4), "52 800");
        assert_eq!(rounded(987.6), "988");
        assert_eq!(tick_count(20_000.0), "20 000");
        assert_eq!(tick_count(500.0), "500");
        assert_eq!(Pace::Files.text(123_507.0), "124 000 files/s");
    }
}
