//! Figures of one cell over its steady rounds.

use super::work::Work;
use iolab_model::catalog::Code;
use iolab_model::result::{Document, Estimate, Sample, Summary};
use iolab_stats::summary_at;

/// The samples that count.
pub(super) fn steady(samples: &[Sample]) -> impl Iterator<Item = &Sample> {
    samples.iter().filter(|s| s.is_steady())
}

/// Wall, user and system time of one pass, speed, and time of one operation. A bounded trial is
/// carried over to a whole pass by its bytes, for the last operation of a file may be a short one; by
/// its operations where a pass is not over the bytes of one file. Intervals have the error of the run.
pub(super) fn estimate(samples: &[Sample], work: &Work, alpha: f64) -> Option<Estimate> {
    let per = |value: fn(&Sample) -> u64, divisor: &dyn Fn(&Sample) -> f64| {
        let values: Vec<f64> = steady(samples).map(|s| value(s) as f64 / divisor(s)).collect();
        summary_at(&values, alpha)
    };
    let passes = |s: &Sample| match (s.measurement.bytes, work.pass_bytes) {
        _ if !s.measurement.flags.contains(&Code::Bounded) => {
            s.measurement.repetitions.max(1) as f64
        }
        (1.., 1..) => s.measurement.bytes as f64 / work.pass_bytes as f64,
        _ => s.measurement.operations as f64 / work.operations_per_pass as f64,
    };
    let operations = |s: &Sample| s.measurement.operations.max(1) as f64;
    // Nanoseconds over these are seconds a byte.
    let bytes = |s: &Sample| s.measurement.bytes as f64 * 1e9;
    let moves = steady(samples).all(|s| s.measurement.bytes > 0);
    Some(Estimate {
        wall_ns: per(|s| s.measurement.wall_ns, &passes)?,
        user_ns: per(|s| s.measurement.user_ns, &passes)?,
        system_ns: per(|s| s.measurement.system_ns, &passes)?,
        bytes_per_second: moves
            .then(|| per(|s| s.measurement.wall_ns, &bytes))
            .flatten()
            .map(|time| speed(&time, samples, alpha)),
        ns_per_operation: per(|s| s.measurement.wall_ns, &operations)?,
    })
}

/// Bytes a second from seconds a byte: the middle and its interval are those of the time, so that a
/// time and a speed beside it never say two things; of an even number of trials, or of few that lie
/// far apart, the middle of speeds is another.
fn speed(time: &Summary, samples: &[Sample], alpha: f64) -> Summary {
    let inverse = |seconds: f64| 1.0 / seconds;
    let speeds: Vec<f64> = steady(samples)
        .map(|s| s.measurement.bytes as f64 / s.measurement.wall_ns.max(1) as f64 * 1e9)
        .collect();
    let seen = summary_at(&speeds, alpha);
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
    let alpha = document.experiment.protocol.alpha;
    for cell in document.cells.iter_mut().filter(|cell| cell.estimate.is_none()) {
        if !cell.samples.iter().any(bounded) {
            cell.estimate = estimate(&cell.samples, &unused, alpha);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::estimate;
    use crate::work::Work;
    use iolab_model::catalog::Code;
    use iolab_model::result::{Measurement, Phase, Sample};

    fn trial(round: u32, wall_ns: u64) -> Sample {
        let (bytes, operations) = (200 << 20, 200);
        let measurement =
            Measurement { wall_ns, bytes, operations, repetitions: 1, ..Measurement::default() };
        Sample { round, position: 0, phase: Phase::Steady, epoch: 0, measurement, fault: None }
    }

    /// A copy of 200 MiB is four calls of 64 MiB, the last one of 8 MiB: a trial that had done that call
    /// alone stood for a quarter of the pass, and the time of a pass beside a speed of whole files was
    /// that of a part.
    #[test]
    fn a_part_stands_for_a_pass_by_its_bytes() {
        let bounded = |bytes: u64, wall_ns: u64| {
            let mut sample = trial(3, wall_ns);
            (sample.measurement.bytes, sample.measurement.operations) = (bytes, 1);
            sample.measurement.flags.push(Code::Bounded);
            sample
        };
        let work = Work { operations_per_pass: 4, pass_bytes: 200 << 20, ..Work::default() };
        for sample in [bounded(8 << 20, 8_000_000), bounded(64 << 20, 64_000_000)] {
            let seen = estimate(&[sample], &work, 0.05).unwrap();
            assert!((seen.wall_ns.median / 200e6 - 1.0).abs() < 1e-9, "{:?}", seen.wall_ns);
        }
        // A pass over a tree is so many files.
        let work = Work { operations_per_pass: 4, ..Work::default() };
        assert_eq!(estimate(&[bounded(1, 5)], &work, 0.05).unwrap().wall_ns.median, 20.0);
    }

    /// Two rows of 137 ms once had 1.43 and 1.22 GiB/s beside them: the middle of few speeds that lie
    /// far apart is not the speed of the middle.
    #[test]
    fn a_time_and_its_speed_are_of_one_trial() {
        let walls = [72e6, 126e6, 256e6, 632e6, 99e6, 130e6, 131e6, 140e6];
        let samples: Vec<Sample> =
            (3..).zip(walls).map(|(r, wall)| trial(r, wall as u64)).collect();
        let seen = estimate(&samples, &Work::default(), 0.05).unwrap();
        let speed = seen.bytes_per_second.unwrap();
        let of = |wall_ns: f64| f64::from(200 << 20) / wall_ns * 1e9;
        let same = |a: f64, b: f64| assert!((a / b - 1.0).abs() < 1e-9, "{a} {b}");
        same(speed.median, of(seen.wall_ns.median));
        same(speed.low.unwrap(), of(seen.wall_ns.high.unwrap()));
        same(speed.high.unwrap(), of(seen.wall_ns.low.unwrap()));
        same(speed.min, of(632e6));
        assert!(speed.low < Some(speed.median) && speed.q1 < speed.q3);
    }
}
