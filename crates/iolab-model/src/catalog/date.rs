//! Moments as results write them: RFC 3339 in UTC, to the second. Pure.

const DAY_SECONDS: u64 = 86_400;

/// Seconds since 1970 as text: `2026-03-01T12:00:00Z`.
pub fn utc_text(seconds: u64) -> String {
    let (day, second) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
    let (year, month, day) = date(day as i64);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Seconds since 1970 of RFC 3339 text with any offset, or of a date alone (its beginning, UTC);
/// parts of a second are dropped. `None` where it is neither, or before 1970.
pub fn utc_seconds(text: &str) -> Option<u64> {
    let number = |range: std::ops::Range<usize>| -> Option<i64> {
        let part = text.get(range)?;
        part.bytes().all(|b| b.is_ascii_digit()).then(|| part.parse().ok()).flatten()
    };
    let dashes = text.get(4..5)? == "-" && text.get(7..8)? == "-";
    let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
    if !dashes || !(1..=12).contains(&month) || !(1..=length(year, month)).contains(&day) {
        return None;
    }
    let midnight = day_number(year, month, day) * DAY_SECONDS as i64;
    if text.len() == 10 {
        return u64::try_from(midnight).ok();
    }
    let colons = text.get(13..14)? == ":" && text.get(16..17)? == ":";
    let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
    let fits = matches!(text.get(10..11)?, "T" | "t" | " ") && hour < 24 && minute < 60;
    if !colons || !fits || second > 60 {
        return None;
    }
    let rest = text.get(19..)?;
    let rest =
        rest.strip_prefix('.').map_or(rest, |r| r.trim_start_matches(|c: char| c.is_ascii_digit()));
    let local = midnight + hour * 3600 + minute * 60 + second;
    u64::try_from(local - offset_seconds(rest)?).ok()
}

/// `Z`, `+02:00`, `-05:30`.
fn offset_seconds(text: &str) -> Option<i64> {
    if matches!(text, "Z" | "z") {
        return Some(0);
    }
    let sign = match text.get(..1)? {
        "+" => 1,
        "-" => -1,
        _ => return None,
    };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    let part = |text: &str, below: i64| {
        let number: i64 = text.parse().ok().filter(|_| text.len() == 2)?;
        (0..below).contains(&number).then_some(number)
    };
    Some(sign * (part(hours, 24)? * 3600 + part(minutes, 60)? * 60))
}

fn leap(year: i64) -> bool {
    year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
}

fn length(year: i64, month: i64) -> i64 {
    match month {
        2 if leap(year) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

/// Days since 1970-01-01 in the Gregorian calendar; years begin in March, so that a leap day is
/// their last (Hinnant's days_from_civil).
fn day_number(year: i64, month: i64, day: i64) -> i64 {
    let year = if month <= 2 { year - 1 } else { year };
    let era = year.div_euclid(400);
    let of_era = year - era * 400;
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year - 719_468
}

/// The inverse (Hinnant's civil_from_days).
fn date(day: i64) -> (i64, i64, i64) {
    let day = day + 719_468;
    let era = day.div_euclid(146_097);
    let of_era = day - era * 146_097;
    let year = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let shifted = (5 * of_year + 2) / 153;
    let month = if shifted < 10 { shifted + 3 } else { shifted - 9 };
    let day = of_year - (153 * shifted + 2) / 5 + 1;
    (year + era * 400 + i64::from(month <= 2), month, day)
}

#[cfg(test)]
mod tests {
    use super::{utc_seconds, utc_text};
    use proptest::prelude::*;

    #[test]
    fn known_moments() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(utc_text(seconds), wanted);
            assert_eq!(utc_seconds(wanted), Some(seconds));
        }
        assert_eq!(utc_seconds("2000-02-29"), Some(951_782_400));
        assert_eq!(utc_seconds("2000-02-29T01:30:00.25+01:30"), Some(951_782_400));
        for wrong in [
            "",
            "2000-02-30",
            "2001-02-29",
            "2000-13-01",
            "x",
            "2000-02-29T25:00:00Z",
            "2000-02-29T00:00:00",
            "1969-01-01",
            "20é0-02-29",
        ] {
            assert_eq!(utc_seconds(wrong), None, "{wrong}");
        }
    }

    proptest! {
        #[test]
        fn text_comes_back(seconds in 0u64..4_000_000_000, rubbish in ".{0,30}") {
            prop_assert_eq!(utc_seconds(&utc_text(seconds)), Some(seconds));
            let _ = utc_seconds(&rubbish);
        }
    }
}
