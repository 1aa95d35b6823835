//! How often the file instances are renewed. Pure.

/// What renewal costs and what it buys.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    /// One renewal.
    pub(super) renew_ns: f64,
    /// One round.
    pub(super) round_ns: f64,
    /// s²_within / s²_between of the pilot; infinite where instances showed no effect.
    pub(super) variance_ratio: f64,
    /// Time left for rounds.
    pub(super) left_ns: f64,
    /// Cells compared have instances of their own, so that the renewal is the unit.
    pub(super) own: bool,
    /// Units that a verdict needs at least.
    pub(super) fewest_units: u32,
}

/// Units wanted for a good grade.
const GOOD_UNITS: f64 = 20.0;
/// More rounds than this are seldom done, so instances are not spread over more.
const USUAL_ROUNDS: f64 = 40.0;
/// Instances wanted for a good grade.
const GOOD_INSTANCES: f64 = 5.0;

impl Renewal {
    /// E: rounds to each renewal.
    ///
    /// The optimum √((cost_file / cost_round)·(s²_within / s²_between)) of two-level sampling
    /// (Kalibera & Jones 2013), held so that five instances are seen, or, where the epoch is the
    /// unit, so that the budget reaches as many units as a verdict and a good grade need.
    pub(super) fn epoch_rounds(&self) -> u32 {
        let affordable = self.left_ns / (self.round_ns + self.renew_ns).max(1.0);
        if self.own && self.renew_ns <= self.round_ns {
            return 1;
        }
        let best = (self.renew_ns / self.round_ns.max(1.0) * self.variance_ratio).sqrt().ceil();
        let most = match self.own {
            true => {
                let units = GOOD_UNITS.max(f64::from(self.fewest_units));
                (self.left_ns / units - self.renew_ns) / self.round_ns.max(1.0)
            }
            false => affordable.min(USUAL_ROUNDS) / GOOD_INSTANCES,
        };
        let best = if best.is_nan() { 1.0 } else { best };
        best.min(most.floor()).max(1.0) as u32
    }
}

/// s²_within / s²_between from log times of one cell, a vector for each instance drawn (analysis of
/// variance, one way, equal numbers). 1 where there is too little to tell.
pub(super) fn variance_ratio(by_instance: &[Vec<f64>]) -> f64 {
    let groups = by_instance.len() as f64;
    let each = by_instance.iter().map(Vec::len).min().unwrap_or(0) as f64;
    if groups < 2.0 || each < 2.0 {
        return 1.0;
    }
    let means: Vec<f64> =
        by_instance.iter().map(|g| g.iter().sum::<f64>() / g.len() as f64).collect();
    let grand = means.iter().sum::<f64>() / groups;
    let between: f64 =
        each * means.iter().map(|m| (m - grand).powi(2)).sum::<f64>() / (groups - 1.0);
    let inside = by_instance.iter().zip(&means);
    let squares: f64 = inside.flat_map(|(g, m)| g.iter().map(move |y| (y - m).powi(2))).sum();
    let within = squares / (groups * (each - 1.0));
    let effect = ((between - within) / each).max(0.0);
    match (within > 0.0, effect > 0.0) {
        (true, true) => within / effect,
        (true, false) => f64::INFINITY,
        (false, _) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::{Renewal, variance_ratio};

    const CHEAP: Renewal = Renewal {
        renew_ns: 1e6,
        round_ns: 10e6,
        variance_ratio: 1.0,
        left_ns: 50e9,
        own: true,
        fewest_units: 10,
    };

    #[test]
    fn own_instances_are_renewed_each_round_where_that_is_cheap() {
        assert_eq!(CHEAP.epoch_rounds(), 1);
        assert_eq!(Renewal { variance_ratio: f64::INFINITY, ..CHEAP }.epoch_rounds(), 1);
    }

    #[test]
    fn dear_renewals_are_spread_as_far_as_the_units_reach() {
        // 2500 ms a unit: one renewal of 1 s and at most 150 rounds of 10 ms.
        let dear = Renewal { renew_ns: 1e9, ..CHEAP };
        assert_eq!(dear.epoch_rounds(), 10);
        assert_eq!(Renewal { variance_ratio: f64::INFINITY, ..dear }.epoch_rounds(), 150);
        assert_eq!(Renewal { left_ns: 1e9, ..dear }.epoch_rounds(), 1);
    }

    #[test]
    fn shared_instances_leave_five_of_them() {
        let shared = Renewal { own: false, renew_ns: 1e9, ..CHEAP };
        assert_eq!(shared.epoch_rounds(), 8);
        assert_eq!(Renewal { left_ns: 12e9, ..shared }.epoch_rounds(), 2);
        assert_eq!(Renewal { variance_ratio: 0.0, ..shared }.epoch_rounds(), 1);
    }

    #[test]
    fn the_ratio_is_that_of_an_analysis_of_variance() {
        // Means 1 and 3, within variance 0.5: MSB = 4, effect (4 − 0.5)/2.
        let ratio = variance_ratio(&[vec![0.5, 1.5], vec![2.5, 3.5]]);
        assert!((ratio - 0.5 / 1.75).abs() < 1e-12, "{ratio}");
        assert_eq!(variance_ratio(&[vec![1.0, 2.0], vec![1.0, 2.0]]), f64::INFINITY);
        assert_eq!(variance_ratio(&[vec![1.0, 1.0], vec![2.0, 2.0]]), 0.0);
        assert_eq!(variance_ratio(&[vec![1.0]]), 1.0);
    }
}
