//! How the sizes of many files are spread: `64Ki`, `total:5GB`, `list:4Ki+1Mi`,
//! `uniform:100kB..35MB`, `lognormal:64Ki:1.5`, `exponential:64Ki`, `empty`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// A rule that gives every file of a tree its size, by its number and the tree's seed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sizes {
    /// All alike, in bytes.
    Fixed(u64),
    /// This many bytes in all, shared out evenly; the first files take what is left over.
    Total(u64),
    /// One after the other, from the start again at the end.
    List(Vec<u64>),
    /// Any size from the first to the second, both included, as likely as any other.
    Uniform(u64, u64),
    /// The median in bytes, and the standard deviation of the natural logarithm in thousandths.
    LogNormal(u64, u32),
    /// The mean in bytes.
    Exponential(u64),
}

/// What the rules look like, for help and for messages.
pub const SIZES_FORMS: &str = "64Ki, total:5GB, list:4Ki+1Mi, uniform:100kB..35MB, lognormal:64Ki:1.5, exponential:64Ki, empty";

/// Spread wider than this, a log-normal tree is one file.
const GREATEST_SIGMA: u32 = 5_000;

/// Why a text is no rule for sizes; [`SIZES_FORMS`] says what is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoSizes {
    /// A range whose end lies before its start.
    #[error("runs backwards, and the smaller size comes first")]
    Backwards,
    /// A size with a point in it.
    #[error("a size is a whole number of its unit (3500kB and not 3.5MB)")]
    Fraction,
    /// KB is read in two ways.
    #[error("KB can mean two things: Ki is 1024 and kB is 1000 bytes")]
    Ambiguous,
    /// Nothing that is known.
    #[error("gives no sizes")]
    Unknown,
}

impl FromStr for Sizes {
    type Err = NoSizes;

    fn from_str(text: &str) -> Result<Sizes, NoSizes> {
        let wrong = || no_sizes(text);
        let size = |text: &str| bytes(text).ok_or_else(wrong);
        let Some((kind, rest)) = text.split_once(':') else {
            return match text {
                "empty" => Ok(Sizes::Fixed(0)),
                _ => size(text).map(Sizes::Fixed),
            };
        };
        match kind {
            "total" => size(rest).map(Sizes::Total),
            "list" => rest.split('+').map(size).collect::<Result<_, _>>().map(Sizes::List),
            "uniform" => {
                let (least, most) = rest.split_once("..").ok_or_else(wrong)?;
                let (least, most) = (size(least)?, size(most)?);
                match least <= most {
                    true => Ok(Sizes::Uniform(least, most)),
                    false => Err(NoSizes::Backwards),
                }
            }
            "lognormal" => {
                let (median, sigma) = rest.split_once(':').ok_or_else(wrong)?;
                let sigma = thousandths(sigma).filter(|sigma| *sigma <= GREATEST_SIGMA);
                Ok(Sizes::LogNormal(size(median)?, sigma.ok_or_else(wrong)?))
            }
            "exponential" => size(rest).map(Sizes::Exponential),
            _ => Err(wrong()),
        }
    }
}

/// What is wrong with a text that is no rule.
fn no_sizes(text: &str) -> NoSizes {
    let number = |c: char| c.is_ascii_digit();
    let fraction = text
        .split('.')
        .collect::<Vec<_>>()
        .windows(2)
        .any(|around| around[0].ends_with(number) && around[1].starts_with(number));
    if fraction && !text.starts_with("lognormal") {
        NoSizes::Fraction
    } else if text.contains("KB") || text.contains("Kb") {
        NoSizes::Ambiguous
    } else {
        NoSizes::Unknown
    }
}

impl fmt::Display for Sizes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Sizes::Fixed(0) => "empty".to_owned(),
            Sizes::Fixed(bytes) => exact(*bytes),
            Sizes::Total(bytes) => format!("total:{}", exact(*bytes)),
            Sizes::List(all) => {
                let all: Vec<String> = all.iter().map(|bytes| exact(*bytes)).collect();
                format!("list:{}", all.join("+"))
            }
            Sizes::Uniform(least, most) => format!("uniform:{}..{}", exact(*least), exact(*most)),
            Sizes::LogNormal(median, sigma) => {
                format!("lognormal:{}:{}", exact(*median), f64::from(*sigma) / 1000.0)
            }
            Sizes::Exponential(mean) => format!("exponential:{}", exact(*mean)),
        };
        f.pad(&text)
    }
}

const UNITS: [(&str, u64); 12] = [
    ("Ti", 1 << 40),
    ("Gi", 1 << 30),
    ("Mi", 1 << 20),
    ("Ki", 1 << 10),
    ("TB", 1_000_000_000_000),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("kB", 1_000),
    ("T", 1 << 40),
    ("G", 1 << 30),
    ("M", 1 << 20),
    ("K", 1 << 10),
];

/// The greatest size that a rule can name: far beyond any file, far below overflow.
const GREATEST: u64 = 1 << 50;

fn bytes(text: &str) -> Option<u64> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let unit = unit.strip_suffix('B').filter(|unit| unit.ends_with('i')).unwrap_or(unit);
    let scale = match unit {
        "" => 1,
        _ => UNITS.iter().find(|(name, _)| *name == unit)?.1,
    };
    number.parse::<u64>().ok()?.checked_mul(scale).filter(|bytes| *bytes <= GREATEST)
}

fn exact(bytes: u64) -> String {
    let whole = |(_, scale): &&(&str, u64)| bytes >= *scale && bytes.is_multiple_of(*scale);
    match UNITS[..8].iter().find(whole) {
        Some((unit, scale)) => format!("{}{unit}", bytes / scale),
        None => bytes.to_string(),
    }
}

/// `1.5` is 1500; at most three digits after the point.
fn thousandths(text: &str) -> Option<u32> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    let digits = |t: &str| !t.is_empty() && t.len() <= 3 && t.bytes().all(|b| b.is_ascii_digit());
    if !digits(whole) || !digits(part) {
        return None;
    }
    let part: u32 = format!("{part:0<3}").parse().ok()?;
    Some(whole.parse::<u32>().ok()? * 1000 + part)
}

#[cfg(test)]
mod tests {
    use super::{NoSizes, Sizes};
    use proptest::prelude::*;

    #[test]
    fn every_rule_is_read() {
        for (text, sizes) in [
            ("64Ki", Sizes::Fixed(65536)),
            ("empty", Sizes::Fixed(0)),
            ("0", Sizes::Fixed(0)),
            ("total:5GB", Sizes::Total(5_000_000_000)),
            ("list:4Ki+1MiB", Sizes::List(vec![4096, 1 << 20])),
            ("uniform:100kB..35MB", Sizes::Uniform(100_000, 35_000_000)),
            ("lognormal:64K:1.5", Sizes::LogNormal(65536, 1500)),
            ("exponential:64Ki", Sizes::Exponential(65536)),
        ] {
            assert_eq!(text.parse(), Ok(sizes), "{text}");
        }
    }

    #[test]
    fn what_is_no_rule_is_refused_with_the_reason() {
        for text in [
            "",
            "64KB",
            "-1",
            "list:",
            "list:1+",
            "uniform:1",
            "uniform:",
            "lognormal:1",
            "lognormal:1:-1",
            "lognormal:1:9",
            "normal:1",
            "total:",
            "total:9000Ti",
            "1.5Ki",
            ":",
        ] {
            assert!(text.parse::<Sizes>().is_err(), "{text}");
        }
        let why = |text: &str| text.parse::<Sizes>().unwrap_err();
        assert_eq!(why("normal:1"), NoSizes::Unknown);
        assert_eq!(why("uniform:1kB..3.5MB"), NoSizes::Fraction);
        assert_eq!(why("list:4Ki+64KB"), NoSizes::Ambiguous);
        assert_eq!(why("lognormal:1:x.5"), NoSizes::Unknown);
        assert_eq!(why("uniform:2..1"), NoSizes::Backwards);
    }

    fn rules() -> impl Strategy<Value = Sizes> {
        let bytes = || 0..(1_u64 << 50);
        prop_oneof![
            bytes().prop_map(Sizes::Fixed),
            bytes().prop_map(Sizes::Total),
            proptest::collection::vec(bytes(), 1..5).prop_map(Sizes::List),
            (bytes(), bytes()).prop_map(|(a, b)| Sizes::Uniform(a.min(b), a.max(b))),
            (bytes(), 0..5001_u32).prop_map(|(m, s)| Sizes::LogNormal(m, s)),
            bytes().prop_map(Sizes::Exponential),
        ]
    }

    proptest! {
        #[test]
        fn rules_read_back(sizes in rules()) {
            prop_assert_eq!(sizes.to_string().parse(), Ok(sizes));
        }

        #[test]
        fn nothing_written_panics(text in "\\PC{0,30}", tail in "[0-9KiB.:+a-z]{0,20}") {
            let _ = text.parse::<Sizes>();
            let _ = format!("lognormal:{tail}").parse::<Sizes>();
        }
    }
}
