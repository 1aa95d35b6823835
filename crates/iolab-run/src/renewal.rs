//! How often the file instances are renewed. Pure.

/// What renewal costs.
#[derive(Clone, Copy, Debug)]
pub(super) struct Renewal {
    /// One renewal.
    pub(super) renew_ns: f64,
    /// One round.
    pub(super) round_ns: f64,
    /// Time left for rounds.
    pub(super) left_ns: f64,
    /// Cells compared have instances of their own, so that the renewal is the unit.
    pub(super) own: bool,
    /// Units that a verdict needs at least.
    pub(super) fewest_units: u32,
    /// Steady rounds that were asked for, whatever time there is.
    pub(super) rounds: Option<u32>,
}

/// Units wanted for a good grade.
const GOOD_UNITS: f64 = 20.0;
/// Instances wanted for a good grade.
const GOOD_INSTANCES: f64 = 5.0;
/// Renewals of shared instances may take this share of the time.
const RENEWAL_SHARE: f64 = 0.1;

impl Renewal {
    /// E: rounds to each renewal.
    ///
    /// Shared instances are renewed so that the answer is not about one placement: at least five
    /// times in the run, and more often only as far as that costs a tenth of the time, so that a run
    /// that is decided early has its five instances early too. Instances of a cell's own are the unit
    /// of the statistic: each round where that is cheap, else as often as the units ask for.
    pub(super) fn epoch_rounds(&self) -> u32 {
        let round_ns = self.round_ns.max(1.0);
        if self.own {
            if self.renew_ns <= round_ns {
                return 1;
            }
            let units = GOOD_UNITS.max(f64::from(self.fewest_units));
            let most = (self.left_ns / units - self.renew_ns) / round_ns;
            let asked = self.rounds.map(|rounds| rounds / self.fewest_units.max(1));
            let most = most.min(asked.map_or(f64::MAX, f64::from));
            return (self.renew_ns / round_ns).sqrt().ceil().min(most.floor()).max(1.0) as u32;
        }
        let planned = self.left_ns / (round_ns + self.renew_ns);
        let planned = planned.min(self.rounds.map_or(f64::MAX, f64::from));
        let most = (planned / GOOD_INSTANCES).floor();
        let cheap = (self.renew_ns / round_ns * (1.0 / RENEWAL_SHARE - 1.0)).ceil();
        cheap.min(most).max(1.0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::Renewal;

    const CHEAP: Renewal = Renewal {
        renew_ns: 1e6,
        round_ns: 10e6,
        left_ns: 50e9,
        own: true,
        fewest_units: 10,
        rounds: None,
    };

    #[test]
    fn own_instances_are_renewed_each_round_where_that_is_cheap() {
        assert_eq!(CHEAP.epoch_rounds(), 1);
    }

    #[test]
    fn dear_renewals_are_spread_as_far_as_the_units_reach() {
        let dear = Renewal { renew_ns: 1e9, ..CHEAP };
        assert_eq!(dear.epoch_rounds(), 10);
        assert_eq!(Renewal { left_ns: 1e9, ..dear }.epoch_rounds(), 1);
    }

    /// Seventeen rounds of a slow machine had three renewals, for there was time for hundreds.
    #[test]
    fn few_rounds_that_were_asked_for_have_their_renewals_too() {
        let dear = Renewal { renew_ns: 1e9, rounds: Some(17), ..CHEAP };
        assert_eq!(dear.epoch_rounds(), 1);
        assert_eq!(Renewal { rounds: Some(57), ..dear }.epoch_rounds(), 5);
        assert_eq!(Renewal { own: false, ..dear }.epoch_rounds(), 3, "five times");
    }

    /// Renewing every round once took half of the time of a run whose cells shared one file.
    #[test]
    fn shared_instances_take_a_tenth_of_the_time_and_are_at_least_five() {
        let shared = Renewal { own: false, renew_ns: 10e6, ..CHEAP };
        assert_eq!(shared.epoch_rounds(), 9);
        assert_eq!(Renewal { renew_ns: 1e6, ..shared }.epoch_rounds(), 1);
        // 100 rounds of 30 ms and 10 s a renewal: five of them.
        assert_eq!(Renewal { renew_ns: 1e9, round_ns: 30e6, ..shared }.epoch_rounds(), 9);
        assert_eq!(Renewal { left_ns: 1e9, renew_ns: 1e9, ..shared }.epoch_rounds(), 1);
    }
}
