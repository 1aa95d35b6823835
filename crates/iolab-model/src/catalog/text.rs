//! Numbers as people read them: one place, so that the screen, the reports and the sentences agree.

pub(super) const BINARY: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];

/// Three significant digits without an exponent; whole numbers from 100 on.
pub fn digits_text(value: f64) -> String {
    significant(value, 3)
}

/// `digits` significant digits without an exponent; never fewer than the whole part has.
fn significant(value: f64, digits: i32) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value:.0}");
    }
    let decimals = |v: f64| (digits - 1 - v.abs().log10().floor() as i32).clamp(0, 12);
    // 9.996 becomes 10.0, not 10.00: the digits are counted after rounding.
    let scale = 10f64.powi(decimals(value));
    let rounded = (value * scale).round() / scale;
    if rounded == 0.0 {
        return "0".to_owned();
    }
    format!("{value:.*}", decimals(rounded) as usize)
}

/// A value below 1024 and the index of its binary unit, after rounding to three digits.
pub(super) fn binary(mut value: f64) -> (f64, usize) {
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < BINARY.len() {
        value /= 1024.0;
        unit += 1;
    }
    (value, unit)
}

/// Bytes, exactly where a whole number of some unit says it (`64 KiB`, `1536 MiB`, `4097 B`), else
/// with three digits (`1.27 MiB`).
pub fn bytes_text(bytes: u64) -> String {
    let mut exact = bytes;
    let mut unit = 0;
    while exact >= 1024 && exact.is_multiple_of(1024) && unit + 1 < BINARY.len() {
        exact /= 1024;
        unit += 1;
    }
    if exact < 100_000 {
        return format!("{exact} {}", BINARY[unit]);
    }
    let (value, unit) = binary(bytes as f64);
    format!("{} {}", digits_text(value), BINARY[unit])
}

/// A speed in bytes per second, three digits: `7.91 GiB/s`.
pub fn rate_text(bytes_per_second: f64) -> String {
    let (value, unit) = binary(bytes_per_second);
    format!("{} {}/s", digits_text(value), BINARY[unit])
}

/// A time in nanoseconds, three digits: `130 ns`, `1.10 µs`, `1.93 ms`, `12.4 s`, `3 min 20 s`.
pub fn time_text(ns: f64) -> String {
    const UNITS: [(f64, &str); 4] = [(1e3, "ns"), (1e6, "µs"), (1e9, "ms"), (f64::INFINITY, "s")];
    if ns >= 119.5e9 {
        let seconds = (ns / 1e9).round();
        let (minutes, rest) = ((seconds / 60.0).floor(), seconds % 60.0);
        return match rest {
            0.0 => format!("{minutes:.0} min"),
            _ => format!("{minutes:.0} min {rest:.0} s"),
        };
    }
    let mut scale = 1.0;
    for (limit, unit) in UNITS {
        // 999.7 ns reads as 1.00 µs.
        if ns.abs() < limit * 0.9995 {
            return format!("{} {unit}", digits_text(ns / scale));
        }
        scale = limit;
    }
    format!("{ns:.0} ns")
}

/// An expected time in nanoseconds, two digits, for plans and advice: `40 s`, `1.5 s`, `4 min`.
pub fn rough_time_text(ns: f64) -> String {
    match ns {
        ns if ns >= 3_570e9 => format!("{} h", significant(ns / 3600e9, 2)),
        ns if ns >= 90e9 => format!("{} min", significant(ns / 60e9, 2)),
        ns if ns >= 0.995e9 => format!("{} s", significant(ns / 1e9, 2)),
        ns if ns >= 0.995e6 => format!("{} ms", significant(ns / 1e6, 2)),
        ns if ns >= 0.995e3 => format!("{} µs", significant(ns / 1e3, 2)),
        ns => format!("{} ns", significant(ns, 2)),
    }
}

/// A ratio without its sign: `1.31`, `1.004` where it is within 2 % of one, `12.3`, `150`.
pub fn ratio_digits(ratio: f64) -> String {
    match ratio {
        r if (r - 1.0).abs() < 0.0195 => format!("{r:.3}"),
        r if r < 0.0995 => significant(r, 2),
        r if r < 9.995 => format!("{r:.2}"),
        r => digits_text(r),
    }
}

/// A ratio: `1.31×`.
pub fn ratio_text(ratio: f64) -> String {
    format!("{}×", ratio_digits(ratio))
}

/// A ratio with its interval; a bound that is not known is a question mark: `1.31× (1.29–1.34)`.
pub fn ratio_interval_text(ratio: f64, low: Option<f64>, high: Option<f64>) -> String {
    let bound = |b: Option<f64>| b.map_or_else(|| "?".to_owned(), ratio_digits);
    match (low, high) {
        (None, None) => ratio_text(ratio),
        _ => format!("{} ({}–{})", ratio_text(ratio), bound(low), bound(high)),
    }
}

/// How a column, and the sentences beside it, say by how much something is slower: all as per cent, or,
/// where one of them takes twice as long, all as factors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SlowerForm {
    /// `3–9 % slower`.
    Percent,
    /// `1.03–1.09× as long`.
    Factor,
}

impl SlowerForm {
    /// From this ratio on people think in multiples, and so of all that stands beside it.
    const MULTIPLE: f64 = 2.0;

    /// The form for a column in which these are the greatest ratios of its rows.
    pub fn of(ratios: impl IntoIterator<Item = f64>) -> SlowerForm {
        match ratios.into_iter().any(|ratio| ratio >= SlowerForm::MULTIPLE) {
            true => SlowerForm::Factor,
            false => SlowerForm::Percent,
        }
    }

    /// How much longer than the best a time is, given at least and at most how many times as long.
    pub fn text(self, low: f64, high: Option<f64>) -> String {
        let one = |ratio: f64| match self {
            SlowerForm::Percent => percent_text(ratio - 1.0),
            // Two digits would make 1.02× of what is 2.4 % slower.
            SlowerForm::Factor if ratio < 1.0995 => format!("{ratio:.3}×"),
            SlowerForm::Factor => ratio_text(ratio),
        };
        let (unit, what) = match self {
            SlowerForm::Percent => (" %", "slower"),
            SlowerForm::Factor => ("×", "as long"),
        };
        match (low > 1.0, high) {
            (false, None) => "not bounded yet".to_owned(),
            (false, Some(high)) if high < 1.0005 => "not slower".to_owned(),
            (false, Some(high)) => format!("at most {} {what}", one(high)),
            (true, None) => format!("at least {} {what}", one(low)),
            (true, Some(high)) => match (one(low), one(high)) {
                (low, high) if low == high => format!("{high} {what}"),
                (low, high) => format!("{}–{high} {what}", low.trim_end_matches(unit)),
            },
        }
    }
}

/// The same of one that stands alone: `3–9 % slower`, `1.90–1.98× as long`, `at most 1.4 % slower` (it
/// may be the best).
pub fn slower_text(low: f64, high: Option<f64>) -> String {
    /// From this ratio on people think in multiples.
    const MULTIPLE: f64 = 1.3;
    let form = match high.unwrap_or(low) < MULTIPLE {
        true => SlowerForm::Percent,
        false => SlowerForm::Factor,
    };
    form.text(low, high)
}

/// A share of one as per cent, two digits: `2 %`, `0.35 %`, `12 %`.
pub fn percent_text(share: f64) -> String {
    let text = significant(share * 100.0, 2);
    let text = match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.'),
        false => &text,
    };
    format!("{text} %")
}

/// A count with thin groups of three: `50 000`.
pub fn count_text(count: u64) -> String {
    let plain = count.to_string();
    let mut text = String::with_capacity(plain.len() + plain.len() / 3);
    for (at, digit) in plain.chars().enumerate() {
        if at > 0 && plain.len() > 4 && (plain.len() - at).is_multiple_of(3) {
            text.push(' ');
        }
        text.push(digit);
    }
    text
}

/// With a capital letter, as a sentence begins.
pub fn capital_text(text: &str) -> String {
    let mut rest = text.chars();
    rest.next().map_or_else(String::new, |first| first.to_uppercase().chain(rest).collect())
}

/// So many of a thing whose plural ends in s: `1 round`, `2 rounds`.
pub fn so_many(count: usize, one: &str) -> String {
    match count {
        1 => format!("1 {one}"),
        n => format!("{n} {one}s"),
    }
}

/// Words joined as a person would: `a`, `a and b`, `a, b and c`.
pub fn list_text<S: AsRef<str>>(words: &[S]) -> String {
    match words {
        [] => String::new(),
        [one] => one.as_ref().to_owned(),
        [most @ .., last] => {
            let most: Vec<&str> = most.iter().map(AsRef::as_ref).collect();
            format!("{} and {}", most.join(", "), last.as_ref())
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{
        SlowerForm, bytes_text, count_text, list_text, percent_text, rate_text,
        ratio_interval_text, ratio_text, rough_time_text, slower_text, time_text,
    };

    #[test]
    fn bytes_are_exact_where_a_unit_says_them() {
        for (bytes, text) in [
            (0, "0 B"),
            (1, "1 B"),
            (4096, "4 KiB"),
            (4097, "4097 B"),
            (65536, "64 KiB"),
            (3 << 29, "1536 MiB"),
            (1 << 30, "1 GiB"),
            (1_234_567, "1.18 MiB"),
            (u64::MAX, "16.0 EiB"),
        ] {
            assert_eq!(bytes_text(bytes), text);
        }
    }

    #[test]
    fn rates_and_times_have_three_digits() {
        assert_eq!(rate_text(8.5e9), "7.92 GiB/s");
        assert_eq!(rate_text(1023.9 * 1024.0), "1.00 MiB/s");
        assert_eq!(rate_text(0.0), "0 B/s");
        for (ns, text) in [
            (0.0, "0 ns"),
            (130.4, "130 ns"),
            (0.51234, "0.512 ns"),
            (1e-209, "0 ns"),
            (999.7, "1.00 µs"),
            (1_934_000.0, "1.93 ms"),
            (12.4e9, "12.4 s"),
            (200e9, "3 min 20 s"),
            (240e9, "4 min"),
        ] {
            assert_eq!(time_text(ns), text);
        }
        assert_eq!(rough_time_text(41.7e9), "42 s");
        assert_eq!(rough_time_text(1.53e9), "1.5 s");
        assert_eq!(rough_time_text(600e9), "10 min");
    }

    #[test]
    fn ratios_show_what_matters_near_one() {
        assert_eq!(ratio_text(1.3149), "1.31×");
        assert_eq!(ratio_text(1.0042), "1.004×");
        assert_eq!(ratio_text(12.34), "12.3×");
        assert_eq!(ratio_text(0.0123), "0.012×");
        assert_eq!(ratio_interval_text(1.31, Some(1.29), Some(1.34)), "1.31× (1.29–1.34)");
        assert_eq!(ratio_interval_text(1.31, Some(1.29), None), "1.31× (1.29–?)");
        assert_eq!(ratio_interval_text(1.31, None, None), "1.31×");
    }

    #[test]
    fn small_texts() {
        assert_eq!(percent_text(0.02), "2 %");
        assert_eq!(percent_text(0.0035), "0.35 %");
        assert_eq!(percent_text(0.123), "12 %");
        assert_eq!(percent_text(0.2), "20 %");
        assert_eq!(count_text(50_000), "50 000");
        assert_eq!(count_text(4096), "4096");
        assert_eq!(list_text(&["a", "b", "c"]), "a, b and c");
    }

    #[test]
    fn slower_than_the_best_reads_as_people_say_it() {
        let said = |low, high| slower_text(low, high);
        assert_eq!(said(1.03, Some(1.09)), "3–9 % slower");
        assert_eq!(said(1.904, Some(1.978)), "1.90–1.98× as long");
        assert_eq!(said(1.0, Some(1.014)), "at most 1.4 % slower");
        assert_eq!(said(1.0, Some(2.0)), "at most 2.00× as long");
        assert_eq!(said(1.05, None), "at least 5 % slower");
        assert_eq!(said(1.0, None), "not bounded yet");
        assert_eq!(said(1.0301, Some(1.0302)), "3 % slower");
    }

    /// "3.2 % slower" stood above "1.8× as long" in one column, and was read as the greater.
    #[test]
    fn a_column_has_one_form() {
        let said = |rows: [(f64, Option<f64>); 2]| {
            let form = SlowerForm::of(rows.iter().map(|(low, high)| high.unwrap_or(*low)));
            rows.map(|(low, high)| form.text(low, high))
        };
        let near = said([(1.0, Some(1.032)), (1.5, Some(1.8))]);
        assert_eq!(near, ["at most 3.2 % slower", "50–80 % slower"]);
        let far = said([(1.0, Some(1.032)), (1.8, Some(2.4))]);
        assert_eq!(far, ["at most 1.032× as long", "1.80–2.40× as long"]);
        let open = said([(1.0, None), (2.5, None)]);
        assert_eq!(open, ["not bounded yet", "at least 2.50× as long"]);
    }
}
