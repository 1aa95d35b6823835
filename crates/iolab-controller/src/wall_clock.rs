//! The time of day as results write it.

use std::time::{SystemTime, UNIX_EPOCH};

use iolab_model::catalog::utc_text;

/// Seconds since 1970.
pub fn now_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Now, as RFC 3339 in UTC to the second: `2026-03-01T12:00:00Z`.
pub fn now_text() -> String {
    utc_text(now_seconds())
}
