//! What a study says, in a form that can be judged.

use super::select::Selection;
use iolab_model::catalog::Factor;

/// A claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// Its name within the study.
    pub id: String,
    /// The claim in one sentence.
    pub says: String,
    /// The experiment that it is about.
    pub experiment: String,
    /// Cells that all of it is about.
    pub of: Selection,
    /// What is claimed of them.
    pub kind: Kind,
    /// Which time is compared.
    pub measure: Measure,
    /// The unit of work that times are divided by.
    pub per: Per,
    /// Figures that were published for it.
    pub published: Option<Figures>,
    /// What a reader should know: why it stands out, what the study could not see.
    pub note: Option<String>,
}

/// What is claimed. Ratios are time of the second over time of the first: how many times faster
/// the first is.
#[derive(Clone, Debug)]
pub enum Kind {
    /// `a` takes less time than `b`; with a range, by so much.
    Faster {
        /// The faster side.
        a: Selection,
        /// The slower side.
        b: Selection,
        /// By which factor, from and to.
        by: Option<(f64, f64)>,
    },
    /// `a` is at least as fast as all others of the claim's cells.
    Fastest {
        /// Who.
        a: Selection,
    },
    /// Time falls (or rises) along an axis.
    Ordered {
        /// The axis.
        axis: Factor,
        /// Whether time gets less.
        falling: bool,
    },
    /// From a level on, nothing is gained along the axis any more.
    Plateau {
        /// The axis.
        axis: Factor,
        /// The first level of the plateau.
        from: u64,
        /// Differences up to this share are none.
        tolerance: f64,
    },
    /// Below a level of the axis `a` is faster, above it `b`.
    Crossover {
        /// The axis.
        axis: Factor,
        /// Faster at small levels.
        a: Selection,
        /// Faster at large levels.
        b: Selection,
        /// Where, in levels of the axis.
        near: u64,
        /// Found at up to this many times less or more, it is still there.
        within: f64,
    },
    /// No difference beyond a share.
    Equivalent {
        /// One side.
        a: Selection,
        /// The other side.
        b: Selection,
        /// The share.
        tolerance: f64,
    },
    /// Of the elapsed time, the measure takes no more than a share.
    Negligible {
        /// The share.
        share: f64,
    },
    /// Every cell found the same value (the digest of what was read).
    SameValue,
    /// The rate grows along the axis, from one level to another by at least a factor.
    Scales {
        /// The axis.
        axis: Factor,
        /// From this level.
        from: u64,
        /// To this level.
        to: u64,
        /// By at least so much.
        by: f64,
    },
}

/// Which time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Measure {
    /// Wall time.
    #[default]
    Elapsed,
    /// User CPU time.
    User,
    /// System CPU time.
    System,
    /// User and system CPU time.
    Cpu,
}

/// What times are divided by.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Per {
    /// The byte where bytes move, else the operation.
    #[default]
    Work,
    /// The operation.
    Operation,
    /// One pass over the data.
    Pass,
}

/// Published figures of a claim: two means, or their ratio.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Figures {
    /// Mean of the first side.
    pub a: Option<f64>,
    /// Mean of the second side.
    pub b: Option<f64>,
    /// Standard deviations, where they were published.
    pub sd: Option<(f64, f64)>,
    /// Repetitions behind each mean.
    pub n: Option<u64>,
    /// The ratio, second over first, where it alone was published.
    pub ratio: Option<f64>,
}

/// Two standard errors: what repetitions of this number and spread can tell apart, roughly (95 %).
const TELLING: f64 = 2.0;

impl Figures {
    /// Second over first.
    pub fn ratio(&self) -> Option<f64> {
        self.ratio.or_else(|| Some(self.b? / self.a?))
    }

    /// Why the study's own figures do not carry its claim; absent where they do, or cannot be
    /// asked. The difference of two means against its standard error √(s²/n + s²/n).
    pub fn unsupported(&self) -> Option<String> {
        let (a, b, (sd_a, sd_b), n) = (self.a?, self.b?, self.sd?, self.n?);
        let error = ((sd_a * sd_a + sd_b * sd_b) / n as f64).sqrt();
        let difference = (b - a).abs();
        if difference >= TELLING * error {
            return None;
        }
        Some(format!(
            "its own figures do not carry it: a difference of {:.1} % with a standard deviation of \
             {:.0} % of the mean over {n} repetitions",
            100.0 * difference / b.max(a),
            100.0 * (sd_a / a).max(sd_b / b)
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::Figures;

    #[test]
    fn a_difference_within_its_own_noise_is_told() {
        // Published: "better by 1.4 %", standard deviation of half the mean.
        let eight_megabytes = Figures {
            a: Some(8.8639),
            b: Some(8.9895),
            sd: Some((4.8685, 0.8315)),
            n: Some(10),
            ratio: None,
        };
        let why = eight_megabytes.unsupported().unwrap();
        assert!(why.contains("1.4 %") && why.contains("55 %"), "{why}");
        let gigabyte = Figures {
            a: Some(845.8249),
            b: Some(1065.5766),
            sd: Some((95.8478, 75.9196)),
            n: Some(10),
            ratio: None,
        };
        assert_eq!(gigabyte.unsupported(), None);
        assert!((gigabyte.ratio().unwrap() - 1.26).abs() < 0.01);
        assert_eq!(Figures { ratio: Some(2.0), ..Figures::default() }.unsupported(), None);
    }
}
