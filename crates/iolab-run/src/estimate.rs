//! Figures of one cell over its steady rounds.

use super::work::Work;
use iolab_model::catalog::Code;
use iolab_model::result::{Document, Estimate, Phase, Sample, Summary};
use iolab_stats::summary;

/// The samples that count.
pub(super) fn steady(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    samples.iter().filter(|s| s.phase == Phase::Steady && s.counts())
}

/// Wall, user and system time of one pass, speed, and time of one operation. A bounded trial is
/// carried over to a whole pass by its operations.
pub(super) fn estimate(samples: &[Sample], work: &Work) -> Option<Estimate> {
    let per = |value: fn(&Sample) -> u64, divisor: &dyn Fn(&Sample) -> f64| {
        let values: Vec<f64> = steady(samples).map(|s| value(s) as f64 / divisor(s)).collect();
        summary(&values)
    };
    let passes = |s: &Sample| match s.measurement.flags.contains(&Code::Bounded) {
        true => s.measurement.operations as f64 / work.operations_per_pass as f64,
        false => s.measurement.repetitions.max(1) as f64,
    };
    let operations = |s: &Sample| s.measurement.operations.max(1) as f64;
    let bytes = |s: &Sample| s.measurement.bytes as f64 / 1e9;
    let moves = steady(samples).all(|s| s.measurement.bytes > 0);
    Some(Estimate {
        wall_ns: per(|s| s.measurement.wall_ns, &passes)?,
        user_ns: per(|s| s.measurement.user_ns, &passes)?,
        system_ns: per(|s| s.measurement.system_ns, &passes)?,
        bytes_per_second: moves
            .then(|| per(|s| s.measurement.wall_ns, &bytes))
            .flatten()
            .map(|time| speed(&time, samples)),
        ns_per_operation: per(|s| s.measurement.wall_ns, &operations)?,
    })
}

/// Bytes a second from seconds a byte: the middle and its interval are those of the time, so that a
/// time and a speed beside it never say two things; of an even number of trials, or of few that lie
/// far apart, the middle of speeds is another.
fn speed(time: &Summary, samples: &[Sample]) -> Summary {
    let inverse = |seconds: f64| 1.0 / seconds;
    let speeds: Vec<f64> = steady(samples)
        .map(|s| s.measurement.bytes as f64 / s.measurement.wall_ns.max(1) as f64 * 1e9)
        .collect();
    let seen = summary(&speeds);
    let (mean, sd) = seen.as_ref().map_or((f64::NAN, f64::NAN), |seen| (seen.mean, seen.sd));
    Summary {
        n: time.n,
        median: inverse(time.median),
        low: time.high.map(inverse),
        high: time.low.map(inverse),
        mean,
        sd,
        min: inverse(time.max),
        q1: inverse(time.q3),
        q3: inverse(time.q1),
        max: inverse(time.min),
    }
}

/// Fills in the figures of cells that have none: of a run that was killed before it concluded. A
/// cell with bounded trials, whose whole pass only the plan knows, is left without.
pub fn fill_estimates(document: &mut Document) {
    // A pass is asked for by its repetitions where no trial is bounded.
    let unused = Work::default();
    let bounded = |s: &Sample| s.measurement.flags.contains(&Code::Bounded);
    for cell in document.cells.iter_mut().filter(|cell| cell.estimate.is_none()) {
        if !cell.samples.iter().any(bounded) {
            cell.estimate = estimate(&cell.samples, &unused);
        }
    }
}
