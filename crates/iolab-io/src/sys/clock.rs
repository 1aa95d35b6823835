//! The clock that trials are timed with: `CLOCK_MONOTONIC` through the vDSO.

/// Pairs read by [`measure`]; 20 000 take about 1 ms on a machine with a vDSO clock.
const PAIRS: usize = 20_000;
/// A step must be seen this often to count as the clock's resolution.
const SEEN_OFTEN: u32 = 100;

/// Nanoseconds of `CLOCK_MONOTONIC`. Never fails: the clock exists on every Linux.
#[inline(always)]
pub fn now_ns() -> u64 {
    read_ns(libc::CLOCK_MONOTONIC)
}

/// From here on a time is slept through, but for its end.
const SLEPT_NS: u64 = 1_000_000;
/// So late a sleeper may wake (the timer slack of a process is 50 µs).
const LATE_NS: u64 = 200_000;

/// Lets so much time pass: long times asleep, short ones and the last of each awake, for nobody
/// wakes so exactly.
pub fn pass(ns: u64) {
    let end_ns = now_ns().saturating_add(ns);
    if ns >= SLEPT_NS {
        std::thread::sleep(std::time::Duration::from_nanos(ns - LATE_NS));
    }
    while now_ns() < end_ns {
        std::hint::spin_loop();
    }
}

#[inline(always)]
fn read_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is a live, writable timespec; an unknown clock leaves it as it is.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// What a series of clock readings says about the clock.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// q: smallest non-zero step seen at least 100 times, in ns.
    pub resolution_ns: f64,
    /// o: median cost of an empty pair of readings, in ns.
    pub pair_cost_ns: f64,
}

/// Why a clock cannot be used.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum Unsteady {
    /// A later reading was smaller.
    #[error(
        "the clock went backwards by {0} ns; choose another clock source (`iolab doctor` shows it)"
    )]
    Backwards(u64),
    /// Readings never change, or hardly ever.
    #[error("the clock stood still over {0} readings; choose another clock source")]
    Still(usize),
    /// It runs at another rate than the raw hardware clock.
    #[error(
        "the clock runs {0:.0} ppm away from the hardware clock; wait until time is synchronised"
    )]
    Rate(f64),
}

/// Resolution q and cost o of the clock in ns, measured now; takes about a millisecond.
/// A clock that is not steady still gives figures here; [`check`] refuses it.
pub fn measure() -> (f64, f64) {
    let readings = readings();
    let clock = assess(&readings).unwrap_or_else(|_| figures(&readings));
    (clock.resolution_ns, clock.pair_cost_ns)
}

/// The same, refusing a clock that goes backwards or stands still. Its rate takes a second or more
/// to judge: [`RateWatch`].
pub fn check() -> Result<Clock, Unsteady> {
    assess(&readings())
}

/// Two readings of the clock and of the raw hardware clock: how far their rates are apart, in
/// parts per million, over an interval such as a whole run. Slewing by NTP is at most 500 ppm
/// (adjtimex(2)).
#[derive(Clone, Copy, Debug)]
pub struct RateWatch {
    clock_ns: u64,
    raw_ns: u64,
}

impl RateWatch {
    /// Begins to watch. Of a few readings the closest counts: whoever is interrupted between the two
    /// clocks would see a rate that is none.
    pub fn start() -> RateWatch {
        let one = |_| {
            let before = now_ns();
            let raw_ns = read_ns(libc::CLOCK_MONOTONIC_RAW);
            let apart = now_ns().saturating_sub(before);
            (apart, RateWatch { clock_ns: before + apart / 2, raw_ns })
        };
        let first = one(0);
        (1..READINGS).map(one).fold(first, |best, next| if next.0 < best.0 { next } else { best }).1
    }

    /// A watch that began at these readings.
    pub fn since(clock_ns: u64, raw_ns: u64) -> RateWatch {
        RateWatch { clock_ns, raw_ns }
    }

    /// Judges what was seen since it began, and begins anew where that was long enough to judge a
    /// rate by.
    ///
    /// # Errors
    /// As [`RateWatch::check`].
    pub fn step(&mut self) -> Result<(), Unsteady> {
        let seen = self.check();
        if now_ns().saturating_sub(self.clock_ns) >= LONG_NS || seen.is_err() {
            *self = RateWatch::start();
        }
        seen
    }

    /// `Err` where the clock has gone backwards or its rate is over 1000 ppm away from the raw
    /// clock's. Under a second nothing is said of the rate: a preemption would drown it.
    pub fn check(&self) -> Result<(), Unsteady> {
        let now = RateWatch::start();
        judge_rate(
            now.clock_ns
                .checked_sub(self.clock_ns)
                .ok_or(Unsteady::Backwards(self.clock_ns.saturating_sub(now.clock_ns)))?,
            now.raw_ns.saturating_sub(self.raw_ns),
        )
    }
}

/// Readings of which the closest counts.
const READINGS: usize = 5;
/// A rate is judged over so long at least, then anew.
const LONG_NS: u64 = 10_000_000_000;

fn judge_rate(clock_ns: u64, raw_ns: u64) -> Result<(), Unsteady> {
    if raw_ns < 1_000_000_000 {
        return Ok(());
    }
    let ppm = (clock_ns as f64 / raw_ns as f64 - 1.0) * 1e6;
    if ppm.abs() > 1000.0 { Err(Unsteady::Rate(ppm)) } else { Ok(()) }
}

fn readings() -> Vec<u64> {
    let mut readings = vec![0; PAIRS + 1];
    for reading in &mut readings {
        *reading = now_ns();
    }
    readings
}

/// Judges a series of readings, oldest first.
fn assess(readings: &[u64]) -> Result<Clock, Unsteady> {
    if let Some(pair) = readings.windows(2).find(|pair| pair[1] < pair[0]) {
        return Err(Unsteady::Backwards(pair[0] - pair[1]));
    }
    if readings.first() == readings.last() {
        return Err(Unsteady::Still(readings.len()));
    }
    Ok(figures(readings))
}

fn figures(readings: &[u64]) -> Clock {
    let mut steps: Vec<u64> =
        readings.windows(2).map(|pair| pair[1].saturating_sub(pair[0])).collect();
    steps.sort_unstable();
    let median = steps.get(steps.len() / 2).copied().unwrap_or(0) as f64;
    let resolution = steps
        .chunk_by(|a, b| a == b)
        .filter(|run| run[0] > 0)
        .find(|run| run.len() >= SEEN_OFTEN as usize)
        .or_else(|| steps.chunk_by(|a, b| a == b).filter(|run| run[0] > 0).max_by_key(|r| r.len()))
        .map_or(1.0, |run| run[0] as f64);
    // A clock coarser than its own cost shows mostly zero steps; the mean is its cost then.
    let mean = steps.iter().sum::<u64>() as f64 / steps.len().max(1) as f64;
    Clock { resolution_ns: resolution, pair_cost_ns: if median > 0.0 { median } else { mean } }
}

#[cfg(test)]
mod tests {
    use super::{RateWatch, Unsteady, assess, check, judge_rate, measure, now_ns};

    #[test]
    fn the_real_clock_is_steady_and_has_a_cost() {
        let clock = check().unwrap();
        assert!(clock.resolution_ns >= 1.0 && clock.pair_cost_ns > 0.0, "{clock:?}");
        let (q, o) = measure();
        assert!(q >= 1.0 && o > 0.0);
        assert!(now_ns() <= now_ns());
    }

    #[test]
    fn a_coarse_clock_shows_its_step_and_its_mean_cost() {
        // 100 ns a reading on a clock that ticks each 4 µs.
        let readings: Vec<u64> = (0..20_001_u64).map(|i| i * 100 / 4000 * 4000).collect();
        let clock = assess(&readings).unwrap();
        assert_eq!(clock.resolution_ns, 4000.0);
        assert!((clock.pair_cost_ns - 100.0).abs() < 1.0, "{clock:?}");
    }

    #[test]
    fn rare_small_steps_are_not_the_resolution() {
        let readings: Vec<u64> =
            (0..10_000_u64).map(|i| i * 40 + u64::from(i % 200 == 0)).collect();
        assert_eq!(assess(&readings).unwrap().resolution_ns, 40.0);
    }

    #[test]
    fn a_clock_that_goes_backwards_or_stands_still_is_refused() {
        assert_eq!(assess(&[1, 5, 3, 9]), Err(Unsteady::Backwards(2)));
        assert_eq!(assess(&[7; 50]), Err(Unsteady::Still(50)));
    }

    /// The clock was judged once, when a run began, and whatever became of it then was measured with.
    #[test]
    fn a_clock_that_moves_during_a_run_is_seen_once_and_watched_on() {
        let raw_ns = super::read_ns(libc::CLOCK_MONOTONIC_RAW);
        let half = RateWatch::since(now_ns() - 10_000_000_000, raw_ns - 5_000_000_000);
        let mut watch = half;
        assert!(matches!(watch.step(), Err(Unsteady::Rate(_))));
        assert_eq!(watch.step(), Ok(()));
        let mut behind = RateWatch::since(now_ns() + 5_000_000_000, raw_ns);
        assert!(matches!(behind.step(), Err(Unsteady::Backwards(_))));
    }

    #[test]
    fn a_rate_beyond_slewing_is_refused() {
        assert!(judge_rate(10_004_000_000, 10_000_000_000).is_ok(), "NTP may slew by 500 ppm");
        assert!(matches!(judge_rate(10_020_000_000, 10_000_000_000), Err(Unsteady::Rate(_))));
        assert!(judge_rate(1_000_000, 500_000).is_ok(), "too short to say");
    }
}
