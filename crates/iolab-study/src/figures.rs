//! Figures that were published for a claim.

/// Two means, or their ratio.
#[derive(Clone, Debug, Default, PartialEq)]
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
    /// The unit of the means.
    pub unit: Option<String>,
    /// What is wrong with them in the study itself.
    pub slip: Option<String>,
}

/// Two standard errors: what repetitions of this number and spread can tell apart, roughly (95 %).
const TELLING: f64 = 2.0;

impl Figures {
    /// Whether they are rates, of which the larger is the faster: bytes or calls a second.
    fn rates(&self) -> bool {
        self.unit.as_deref().is_some_and(|unit| unit.ends_with("/s"))
    }

    /// Time of the second over time of the first.
    pub fn ratio(&self) -> Option<f64> {
        self.ratio.or_else(|| self.derived())
    }

    /// The same from the two figures alone.
    pub(super) fn derived(&self) -> Option<f64> {
        let (a, b) = (self.a?, self.b?);
        Some(if self.rates() { a / b } else { b / a })
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
            ..Figures::default()
        };
        let why = eight_megabytes.unsupported().unwrap();
        assert!(why.contains("1.4 %") && why.contains("55 %"), "{why}");
        let gigabyte = Figures {
            a: Some(845.8249),
            b: Some(1065.5766),
            sd: Some((95.8478, 75.9196)),
            n: Some(10),
            ..Figures::default()
        };
        assert_eq!(gigabyte.unsupported(), None);
        assert!((gigabyte.ratio().unwrap() - 1.26).abs() < 0.01);
        assert_eq!(Figures { ratio: Some(2.0), ..Figures::default() }.unsupported(), None);
    }

    #[test]
    fn of_rates_the_larger_is_the_faster() {
        let speeds = |unit: &str| Figures {
            a: Some(5300.0),
            b: Some(2100.0),
            unit: Some(unit.into()),
            ..Figures::default()
        };
        assert!((speeds("MiB/s").ratio().unwrap() - 2.52).abs() < 0.01);
        assert!((speeds("s").ratio().unwrap() - 0.40).abs() < 0.01);
    }
}
