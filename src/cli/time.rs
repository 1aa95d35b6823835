//! The time of day as results write it.

use std::time::{SystemTime, UNIX_EPOCH};

const DAY_SECONDS: u64 = 86_400;

/// Now, as RFC 3339 in UTC to the second: `2026-03-01T12:00:00Z`.
pub fn now_text() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    text(since.map_or(0, |since| since.as_secs()))
}

fn text(seconds: u64) -> String {
    let (day, second) = (seconds / DAY_SECONDS, seconds % DAY_SECONDS);
    let (year, month, day) = date(day);
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// Year, month and day of the day number since 1970-01-01, by walking the Gregorian calendar.
fn date(mut day: u64) -> (u64, u64, u64) {
    let leap = |y: u64| y.is_multiple_of(4) && (!y.is_multiple_of(100) || y.is_multiple_of(400));
    let mut year = 1970;
    loop {
        let days = if leap(year) { 366 } else { 365 };
        if day < days {
            break;
        }
        day -= days;
        year += 1;
    }
    let february = if leap(year) { 29 } else { 28 };
    let mut month = 1;
    for days in [31, february, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31] {
        if day < days {
            break;
        }
        day -= days;
        month += 1;
    }
    (year, month, day + 1)
}

#[cfg(test)]
mod tests {
    use super::text;

    #[test]
    fn known_days() {
        for (seconds, wanted) in [
            (0, "1970-01-01T00:00:00Z"),
            (951_782_399, "2000-02-28T23:59:59Z"),
            (951_782_400, "2000-02-29T00:00:00Z"),
            (1_000_000_000, "2001-09-09T01:46:40Z"),
            (1_767_225_599, "2025-12-31T23:59:59Z"),
            (4_107_542_400, "2100-03-01T00:00:00Z"),
        ] {
            assert_eq!(text(seconds), wanted);
        }
    }
}
