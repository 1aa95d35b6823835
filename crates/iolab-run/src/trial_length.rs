//! How long the longest trial is, so that the budget has the rounds that a verdict needs. Pure.

use super::Dose;

/// What comes of trials of some longest time.
pub(super) struct TrialLength {
    pub(super) longest_ns: f64,
    /// By cell.
    pub(super) doses: Vec<Option<Dose>>,
    pub(super) round_ns: f64,
    /// A round with its share of the renewals.
    pub(super) cost_ns: f64,
    /// Rounds between two renewals of the files.
    pub(super) epoch: u32,
    /// Rounds that a verdict needs.
    pub(super) needed: f64,
    /// Whether the budget has as many.
    pub(super) reaches: bool,
}

/// A round that costs at most this much more than the shortest is as good as it: where a trial takes a
/// mount and a write-back of 250 ms, one of 20 ms says less than what its share of the time is worth.
const AS_SHORT: f64 = 1.5;

/// Trials are halved until the budget reaches. Where it does not even with the shortest, they are
/// only as short as makes rounds cheap: where the time goes into what surrounds a trial (a mount, a
/// write-back) or a round (files that are evicted and read again), less work in it would buy no
/// round, and say less.
pub(super) fn shortened(
    longest_ns: f64,
    least_ns: f64,
    fit: impl Fn(f64) -> TrialLength,
) -> TrialLength {
    let mut longer = Vec::new();
    let mut last = fit(longest_ns);
    while !last.reaches && last.longest_ns > least_ns {
        let next = fit((last.longest_ns / 2.0).max(least_ns));
        longer.push(std::mem::replace(&mut last, next));
    }
    if last.reaches {
        return last;
    }
    let as_short = last.cost_ns * AS_SHORT;
    longer.into_iter().find(|fit| fit.cost_ns <= as_short).unwrap_or(last)
}

#[cfg(test)]
mod tests {
    use super::{TrialLength, shortened};

    /// Ten trials a round, with so much time around each and each round; the budget is 100 rounds of
    /// a second.
    fn chosen(around_ns: f64, renew_ns: f64, needed: f64) -> TrialLength {
        shortened(250e6, 1e6, |longest_ns| {
            let round_ns = 10.0 * (longest_ns + around_ns);
            let cost_ns = round_ns + renew_ns;
            let reaches = 100e9 / cost_ns >= needed;
            let doses = Vec::new();
            TrialLength { longest_ns, doses, round_ns, cost_ns, epoch: 1, needed, reaches }
        })
    }

    #[test]
    fn trials_are_as_long_as_the_budget_allows() {
        assert_eq!(chosen(0.0, 0.0, 40.0).longest_ns, 250e6);
        let fit = chosen(0.0, 0.0, 70.0);
        assert_eq!((fit.longest_ns, fit.reaches), (125e6, true));
        let fit = chosen(0.0, 0.0, 1e9);
        assert_eq!((fit.longest_ns, fit.reaches), (1e6, false), "nothing else takes time");
    }

    /// A tree of 2000 files on a place that was mounted again before each trial: with a budget of a
    /// few seconds 13 of them were read, and there were no more rounds for it.
    #[test]
    fn where_all_the_time_is_around_trials_they_stay_long() {
        let fit = chosen(10e9, 0.0, 40.0);
        assert_eq!((fit.longest_ns, fit.reaches), (250e6, false));
        let fit = chosen(100e6, 0.0, 1e9);
        assert!(fit.longest_ns < 60e6 && fit.longest_ns > 20e6, "{}", fit.longest_ns);
    }

    /// Of two files of 200 MiB that were read anew before each round a millisecond was measured: the
    /// reading took 0.4 s, the rest of a round 50 ms.
    #[test]
    fn where_all_the_time_goes_into_renewal_trials_stay_long() {
        let fit = chosen(0.0, 40e9, 40.0);
        assert_eq!((fit.longest_ns, fit.reaches), (250e6, false));
        let fit = chosen(0.0, 400e6, 1e9);
        assert!(fit.longest_ns > 1e6 && fit.longest_ns < 20e6, "{}", fit.longest_ns);
    }
}
