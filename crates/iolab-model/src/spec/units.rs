//! Quantities as people write them. Strict: what could mean two things is refused with both
//! readings named, for a factor of 1.024 is what some questions are about.

use super::SpecError;

/// Powers of 1024 and of 1000 by their letter.
const STEPS: [(&str, u64, u64); 5] = [
    ("K", 1 << 10, 1_000),
    ("M", 1 << 20, 1_000_000),
    ("G", 1 << 30, 1_000_000_000),
    ("T", 1 << 40, 1_000_000_000_000),
    ("P", 1 << 50, 1_000_000_000_000_000),
];

/// Units of time in nanoseconds, longest first.
const TIMES: [(&str, u64); 6] = [
    ("h", 3_600_000_000_000),
    ("m", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("ns", 1),
];

/// The greatest number of a processor that a kernel can be built for.
const GREATEST_CPU: u32 = 8191;

/// Bytes: `512`, `64K` = `64Ki` = `64KiB` = 65536, `64kB` = 64000; `64KB`, `64Kb` and `64k` are
/// refused.
///
/// # Errors
/// What is wrong, where, and what to write instead; also where the size is more than 2⁶³−1.
pub fn parse_bytes(text: &str) -> Result<u64, SpecError> {
    let (digits, suffix) =
        split_number(text, "a size is a whole number and a unit: 512, 4Ki, 1Mi")?;
    let scale = byte_scale(suffix).ok_or_else(|| unknown_byte_unit(text, digits, suffix))?;
    let bytes = digits.parse::<u64>().ok().and_then(|n| n.checked_mul(scale));
    bytes.filter(|b| i64::try_from(*b).is_ok()).ok_or_else(|| {
        SpecError::new(text, 0, "larger than any file can be", "the greatest size is below 8192Pi")
    })
}

fn byte_scale(suffix: &str) -> Option<u64> {
    if suffix.is_empty() || suffix == "B" {
        return Some(1);
    }
    STEPS.iter().find_map(|(letter, binary, decimal)| {
        let rest = match suffix.strip_prefix(letter) {
            Some(rest) => rest,
            None => return (*letter == "K" && suffix == "kB").then_some(*decimal),
        };
        match rest {
            "" | "i" | "iB" => Some(*binary),
            "B" if *letter != "K" => Some(*decimal),
            _ => None,
        }
    })
}

fn unknown_byte_unit(text: &str, digits: &str, suffix: &str) -> SpecError {
    let first = suffix.chars().next().map(|c| c.to_ascii_uppercase().to_string());
    let step = STEPS.iter().find(|(letter, ..)| first.as_deref() == Some(letter));
    let known = [
        "k", "kb", "m", "mb", "g", "gb", "t", "tb", "p", "pb", "ki", "mi", "gi", "kib", "mib",
        "gib",
    ];
    match step {
        Some((letter, binary, decimal))
            if known.contains(&suffix.to_ascii_lowercase().as_str()) =>
        {
            let thousand = if *letter == "K" { "kB".to_owned() } else { format!("{letter}B") };
            let times = |scale: &u64| match digits
                .parse::<u64>()
                .ok()
                .and_then(|n| n.checked_mul(*scale))
            {
                Some(bytes) => format!("{bytes} bytes"),
                None => format!("a multiple of {scale}"),
            };
            SpecError::new(
                text,
                digits.len(),
                format!("'{suffix}' can mean two things"),
                format!(
                    "write {digits}{letter}i for {}, or {digits}{thousand} for {}",
                    times(binary),
                    times(decimal)
                ),
            )
        }
        _ => SpecError::new(
            text,
            digits.len(),
            format!("'{}' is not a unit of size", suffix.escape_debug()),
            "units are Ki, Mi, Gi, Ti (powers of 1024) and kB, MB, GB, TB (powers of 1000)",
        ),
    }
}

/// The shortest exact way to write a size that [`parse_bytes`] reads back: `64Ki`, `1000`.
pub fn format_bytes(bytes: u64) -> String {
    let step = STEPS.iter().rev().find(|(_, binary, _)| bytes > 0 && bytes.is_multiple_of(*binary));
    match step {
        Some((letter, binary, _)) => format!("{}{letter}i", bytes / binary),
        None => bytes.to_string(),
    }
}

/// A plain number: `4`.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_count(text: &str) -> Result<u64, SpecError> {
    let (digits, rest) = split_number(text, "a count is a whole number: 4")?;
    if !rest.is_empty() {
        return Err(SpecError::new(
            text,
            digits.len(),
            format!("'{}' does not belong to a count", rest.escape_debug()),
            format!("write {digits}"),
        ));
    }
    digits.parse().map_err(|_| {
        SpecError::new(text, 0, "too large", "the greatest count is 18446744073709551615")
    })
}

/// A length of time in nanoseconds: `500ms`, `60s`, `10m`, `1h`.
///
/// # Errors
/// What is wrong, where, and what to write instead; also for zero.
pub fn parse_duration_ns(text: &str) -> Result<u64, SpecError> {
    let (digits, suffix) =
        split_number(text, "a duration is a whole number and a unit: 500ms, 60s, 10m")?;
    if suffix.is_empty() {
        return Err(SpecError::new(
            text,
            digits.len(),
            "the unit is missing",
            format!(
                "write {digits}s for seconds, {digits}m for minutes, {digits}ms for milliseconds"
            ),
        ));
    }
    let Some((_, scale)) = TIMES.iter().find(|(unit, _)| *unit == suffix) else {
        return Err(SpecError::new(
            text,
            digits.len(),
            format!("'{}' is not a unit of time", suffix.escape_debug()),
            "units are ns, us, ms, s, m and h",
        ));
    };
    match digits.parse::<u64>().ok().and_then(|n| n.checked_mul(*scale)) {
        Some(0) => Err(SpecError::new(text, 0, "nothing can be done in no time", "write 60s")),
        Some(ns) => Ok(ns),
        None => Err(SpecError::new(text, 0, "longer than 584 years", "write 60s, 10m or 1h")),
    }
}

/// The shortest exact way to write a duration that [`parse_duration_ns`] reads back: `90s`.
pub fn format_duration(ns: u64) -> String {
    match TIMES.iter().find(|(_, scale)| ns > 0 && ns.is_multiple_of(*scale)) {
        Some((unit, scale)) => format!("{}{unit}", ns / scale),
        None => format!("{ns}ns"),
    }
}

/// A share, from percent: `2%` is 0.02, and so is a whole number alone, `2`: `0.1` might be meant as ten
/// percent. More than 0 and less than 100.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_percent(text: &str) -> Result<f64, SpecError> {
    let usual = "a share is written in percent: 2% or 0.5%";
    let whole = |text: &&str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let Some(number) = text.strip_suffix('%').or(Some(text).filter(whole)) else {
        return Err(SpecError::new(text, text.len(), "the % sign is missing", usual));
    };
    let plain = !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit() || b == b'.');
    match number.parse::<f64>().ok().filter(|p| plain && p.is_finite()) {
        Some(percent) if percent > 0.0 && percent < 100.0 => Ok(percent / 100.0),
        Some(_) => Err(SpecError::new(text, 0, "out of range", "more than 0% and less than 100%")),
        None => Err(SpecError::new(text, 0, "not a number of percent", usual)),
    }
}

/// Processors as the kernel writes them: `0,2-3` → 0, 2, 3; sorted, each once.
///
/// # Errors
/// What is wrong, where, and what to write instead.
pub fn parse_cpus(text: &str) -> Result<Vec<u32>, SpecError> {
    let mut cpus = Vec::new();
    let mut at = 0;
    for item in text.split(',') {
        let whole = |error: SpecError| error.within(text, at);
        let (first, last) = item.split_once('-').unwrap_or((item, item));
        let (low, high) = (one_cpu(first).map_err(whole)?, one_cpu(last).map_err(whole)?);
        if low > high {
            return Err(SpecError::new(
                text,
                at,
                format!("{low}-{high} runs backwards"),
                format!("write {high}-{low}"),
            ));
        }
        cpus.extend(low..=high);
        at += item.len() + 1;
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

fn one_cpu(text: &str) -> Result<u32, SpecError> {
    let usual = "processors are numbers and ranges: 0,2-3";
    if text.is_empty() {
        return Err(SpecError::new(text, 0, "a number is missing", usual));
    }
    let number =
        text.bytes().all(|b| b.is_ascii_digit()).then(|| text.parse::<u32>().ok()).flatten();
    match number {
        Some(cpu) if cpu <= GREATEST_CPU => Ok(cpu),
        _ => Err(SpecError::new(text, 0, "not the number of a processor", usual)),
    }
}

/// Processors as [`parse_cpus`] reads them back: `0,2-3`.
pub fn format_cpus(cpus: &[u32]) -> String {
    let mut runs: Vec<(u32, u32)> = Vec::new();
    for &cpu in cpus {
        match runs.last_mut() {
            Some((_, last)) if *last + 1 == cpu => *last = cpu,
            _ => runs.push((cpu, cpu)),
        }
    }
    let text = runs.iter().map(|(low, high)| match low == high {
        true => low.to_string(),
        false => format!("{low}-{high}"),
    });
    text.collect::<Vec<_>>().join(",")
}

/// Splits the leading digits from the rest.
fn split_number<'a>(text: &'a str, usual: &str) -> Result<(&'a str, &'a str), SpecError> {
    let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let (digits, rest) = text.split_at(end);
    let problem = if text.is_empty() {
        "nothing is written"
    } else if digits.is_empty() && text.starts_with('-') {
        "a negative number makes no sense here"
    } else if digits.is_empty() {
        "a number is missing"
    } else if rest.starts_with('.') {
        "only whole numbers are taken"
    } else {
        return Ok((digits, rest));
    };
    Err(SpecError::new(text, digits.len(), problem, usual))
}

#[cfg(test)]
mod tests {
    use super::{
        format_bytes, format_cpus, format_duration, parse_bytes, parse_count, parse_cpus,
        parse_duration_ns, parse_percent,
    };
    use proptest::prelude::{any, prop_assert_eq, proptest};

    #[test]
    fn every_unit_of_size() {
        for (text, bytes) in [
            ("0", 0),
            ("512", 512),
            ("512B", 512),
            ("64K", 65536),
            ("64Ki", 65536),
            ("64KiB", 65536),
            ("64kB", 64000),
            ("1M", 1 << 20),
            ("1Mi", 1 << 20),
            ("1MiB", 1 << 20),
            ("1MB", 1_000_000),
            ("3G", 3 << 30),
            ("3GB", 3_000_000_000),
            ("2TiB", 2 << 40),
            ("2TB", 2_000_000_000_000),
        ] {
            assert_eq!(parse_bytes(text).unwrap(), bytes, "{text}");
        }
    }

    #[test]
    fn two_readings_are_refused_and_both_named() {
        for text in ["64KB", "64Kb", "64k", "64kb"] {
            let error = parse_bytes(text).unwrap_err();
            assert_eq!(error.at, 2);
            let line = error.to_string();
            assert!(line.contains("64Ki for 65536 bytes"), "{line}");
            assert!(line.contains("64kB for 64000 bytes"), "{line}");
        }
        let line = parse_bytes("1Mb").unwrap_err().to_string();
        assert!(line.contains("1Mi for 1048576") && line.contains("1MB for 1000000"), "{line}");
    }

    #[test]
    fn nonsense_sizes_are_refused_with_the_place() {
        for (text, at) in [("", 0), ("-4Ki", 0), ("Ki", 0), ("1.5Gi", 1), ("4Xi", 1), ("4 Ki", 1)] {
            assert_eq!(parse_bytes(text).unwrap_err().at, at, "{text}");
        }
        for text in ["9000Pi", "99999999999999999999", "8192Pi", "18446744073709551615"] {
            assert!(parse_bytes(text).is_err(), "{text}");
        }
    }

    #[test]
    fn durations_shares_and_processors() {
        assert_eq!(parse_duration_ns("500ms").unwrap(), 500_000_000);
        assert_eq!(parse_duration_ns("10m").unwrap(), 600_000_000_000);
        for text in ["60", "0s", "-1s", "1d", "", "s", "999999999999h"] {
            assert!(parse_duration_ns(text).is_err(), "{text}");
        }
        assert_eq!(parse_percent("2%").unwrap(), 0.02);
        // Ten percent was refused as `10`, in a gate that knows nothing else.
        assert_eq!(parse_percent("10").unwrap(), 0.1);
        assert!(parse_percent("0.1").is_err() && parse_percent("").is_err());
        for text in ["0", "0%", "100%", "-1%", "%", "1e1%", "nan%", "inf%", "1.2.3%"] {
            assert!(parse_percent(text).is_err(), "{text}");
        }
        assert_eq!(parse_cpus("3,0,2-3").unwrap(), [0, 2, 3]);
        for text in ["", "1,", "3-1", "a", "1--2", "-1", "99999", "+1"] {
            assert!(parse_cpus(text).is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn sizes_read_back(bytes in 0u64..=i64::MAX as u64) {
            prop_assert_eq!(parse_bytes(&format_bytes(bytes)), Ok(bytes));
        }

        #[test]
        fn round_sizes_read_back(n in 1u64..8192, shift in 0u32..50) {
            prop_assert_eq!(parse_bytes(&format_bytes(n << shift)), Ok(n << shift));
        }

        #[test]
        fn durations_read_back(ns in 1u64..) {
            prop_assert_eq!(parse_duration_ns(&format_duration(ns)), Ok(ns));
        }

        #[test]
        fn processors_read_back(mut cpus in proptest::collection::vec(0u32..8192, 1..20)) {
            cpus.sort_unstable();
            cpus.dedup();
            prop_assert_eq!(parse_cpus(&format_cpus(&cpus)), Ok(cpus));
        }

        #[test]
        fn nothing_written_panics(text in any::<String>(), tail in "[0-9]{0,22}[a-zA-Z%.,:-]{0,4}") {
            for text in [text, tail] {
                let errors = [
                    parse_bytes(&text).err(),
                    parse_count(&text).err(),
                    parse_duration_ns(&text).err(),
                    parse_percent(&text).err(),
                    parse_cpus(&text).err(),
                ];
                for error in errors.into_iter().flatten() {
                    assert!(text.is_char_boundary(error.at), "{error:?}");
                    assert_eq!(error.to_string().lines().count(), 1);
                }
            }
        }
    }
}
