//! The size of a file, drawn from its rule.

use super::mix;
use crate::catalog::Sizes;

/// The size of file number `file` of `files`; a rule that draws does so from seed and number alone.
pub(super) fn size(sizes: &Sizes, files: u64, seed: u64, file: u64) -> u64 {
    // Contents and sizes come from different streams of the seed.
    let seed = mix(seed, 0x51ce_5eed);
    match sizes {
        Sizes::Fixed(bytes) => *bytes,
        Sizes::Total(bytes) => bytes / files.max(1) + u64::from(file < bytes % files.max(1)),
        Sizes::List(all) if all.is_empty() => 0,
        Sizes::List(all) => all[(file % all.len() as u64) as usize],
        Sizes::Uniform(least, most) => {
            let span = u128::from(most - least) + 1;
            // The high half of the product is uniform to one part in 2⁶⁴ / span.
            least + ((u128::from(mix(seed, file)) * span) >> 64) as u64
        }
        Sizes::LogNormal(median, sigma) => {
            let sigma = f64::from(*sigma) / 1000.0;
            (*median as f64 * (sigma * normal(seed, file)).exp()).round() as u64
        }
        Sizes::Exponential(mean) => {
            (-open_unit(mix(seed, file)).ln() * *mean as f64).round() as u64
        }
    }
}

/// In (0, 1), never an end of it.
fn open_unit(word: u64) -> f64 {
    ((word >> 11) as f64 + 0.5) / (1_u64 << 53) as f64
}

/// A standard normal number (Box & Muller 1958).
fn normal(seed: u64, file: u64) -> f64 {
    let (a, b) = (open_unit(mix(seed, file)), open_unit(mix(!seed, file)));
    (-2.0 * a.ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[cfg(test)]
mod tests {
    use super::size;
    use crate::catalog::Sizes;

    fn drawn(rule: &str, files: u64) -> Vec<u64> {
        let rule: Sizes = rule.parse().unwrap();
        (0..files).map(|file| size(&rule, files, 7, file)).collect()
    }

    fn mean(all: &[u64]) -> f64 {
        all.iter().map(|n| *n as f64).sum::<f64>() / all.len() as f64
    }

    #[test]
    fn a_total_is_met_to_the_byte() {
        let all = drawn("total:1000003", 17);
        assert_eq!(all.iter().sum::<u64>(), 1_000_003);
        assert!(all.iter().max().unwrap() - all.iter().min().unwrap() <= 1);
    }

    #[test]
    fn a_list_goes_round() {
        assert_eq!(drawn("list:1+2+3", 5), [1, 2, 3, 1, 2]);
    }

    #[test]
    fn drawn_sizes_have_the_moments_of_their_rule() {
        let uniform = drawn("uniform:100..300", 20_000);
        assert_eq!((uniform.iter().min(), uniform.iter().max()), (Some(&100), Some(&300)));
        // Five standard errors: 57.7 / √20000 · 5.
        assert!((mean(&uniform) - 200.0).abs() < 2.1, "{}", mean(&uniform));
        let exponential = drawn("exponential:65536", 20_000);
        assert!((mean(&exponential) / 65536.0 - 1.0).abs() < 0.036, "{}", mean(&exponential));
        let mut lognormal = drawn("lognormal:65536:1", 20_001);
        lognormal.sort_unstable();
        let (median, upper) = (lognormal[10_000] as f64, lognormal[16_826] as f64);
        assert!((median / 65536.0 - 1.0).abs() < 0.05, "{median}");
        // The 84.13th percentile is one standard deviation up.
        assert!((upper / median / std::f64::consts::E - 1.0).abs() < 0.06, "{upper}");
    }

    #[test]
    fn sizes_follow_the_seed() {
        let rule = Sizes::Uniform(0, 1 << 40);
        let by = |seed| (0..50).map(|file| size(&rule, 50, seed, file)).collect::<Vec<_>>();
        assert_eq!(by(1), by(1));
        assert_ne!(by(1), by(2));
    }
}
