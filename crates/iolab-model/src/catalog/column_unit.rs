//! The one unit of the figures of a column, and of the sentences beside it.

use super::text::{BINARY, binary};
use super::{digits_text, rate_text, time_text};

/// Beyond this ratio between least and greatest one unit would make figures long.
const ONE_UNIT_UP_TO: f64 = 1000.0;

/// So many of a unit are told in the next larger one where the least of them still can be.
const LONG: f64 = 9999.5;

/// The unit of the times, or of the speeds, that stand on one screen: of a column, and of the sentence
/// that says one of them again.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ColumnUnit {
    /// So many nanoseconds, by this name.
    Time(f64, &'static str),
    /// So many bytes a second, by this name.
    Rate(f64, &'static str),
    /// They lie too far apart for one: each time has its own.
    OwnTime,
    /// The same of speeds.
    OwnRate,
}

impl ColumnUnit {
    /// Of times, that of the least, so that they can be compared by eye: `8.62 ms` above `12.2 ms`,
    /// never `950 µs` above `1.20 ms`.
    pub fn of_times(ns: &[f64]) -> ColumnUnit {
        const UNITS: [(f64, &str); 4] = [(1.0, "ns"), (1e3, "µs"), (1e6, "ms"), (1e9, "s")];
        let least = ns.iter().copied().filter(|ns| *ns > 0.0).fold(f64::INFINITY, f64::min);
        let most = ns.iter().copied().fold(0.0, f64::max);
        if !least.is_finite() || most > least * ONE_UNIT_UP_TO {
            return ColumnUnit::OwnTime;
        }
        let at = UNITS.iter().rposition(|(scale, _)| least >= scale * 0.9995).unwrap_or(0);
        // Five digits are read by nobody: `0.130 µs` above `104 µs`.
        let long = most >= UNITS[at].0 * LONG && at + 1 < UNITS.len();
        let next = long && least >= UNITS[at + 1].0 / 10.0;
        let (scale, name) = UNITS[at + usize::from(next)];
        ColumnUnit::Time(scale, name)
    }

    /// Of speeds, that of the greatest, or of the least where that would begin with zeros.
    pub fn of_rates(bytes_per_second: &[f64]) -> ColumnUnit {
        let all = || bytes_per_second.iter().copied();
        let most = all().fold(0.0, f64::max);
        let least = all().filter(|rate| *rate > 0.0).fold(f64::INFINITY, f64::min);
        if !least.is_finite() || most > least * ONE_UNIT_UP_TO {
            return ColumnUnit::OwnRate;
        }
        let scale = |unit: usize| 1024f64.powi(unit as i32);
        let of_most = binary(most).1;
        let unit = if least < 0.1 * scale(of_most) { binary(least).1 } else { of_most };
        ColumnUnit::Rate(scale(unit), BINARY[unit])
    }

    /// A value with the unit.
    pub fn text(self, value: f64) -> String {
        match self {
            ColumnUnit::Time(scale, name) => format!("{} {name}", digits_text(value / scale)),
            ColumnUnit::Rate(scale, name) => format!("{} {name}/s", digits_text(value / scale)),
            ColumnUnit::OwnTime => time_text(value),
            ColumnUnit::OwnRate => rate_text(value),
        }
    }

    /// Whether values can be read in it that it was not made from: none begins with zeros or is long.
    pub fn suits(self, values: &[f64]) -> bool {
        match self {
            ColumnUnit::Time(scale, _) | ColumnUnit::Rate(scale, _) => {
                values.iter().all(|value| (0.1..LONG).contains(&(value / scale)))
            }
            ColumnUnit::OwnTime | ColumnUnit::OwnRate => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ColumnUnit;

    fn times_text(ns: &[f64]) -> Vec<String> {
        let unit = ColumnUnit::of_times(ns);
        ns.iter().map(|ns| unit.text(*ns)).collect()
    }

    fn rates_text(rates: &[f64]) -> Vec<String> {
        let unit = ColumnUnit::of_rates(rates);
        rates.iter().map(|rate| unit.text(*rate)).collect()
    }

    #[test]
    fn a_column_has_one_unit_where_that_can_be_read() {
        assert_eq!(times_text(&[950e3, 1.2e6]), ["950 µs", "1200 µs"]);
        assert_eq!(times_text(&[8.62e6, 12.2e6, 100e6]), ["8.62 ms", "12.2 ms", "100 ms"]);
        assert_eq!(times_text(&[130.0, 5e6]), ["130 ns", "5.00 ms"]);
        assert_eq!(times_text(&[0.5, 0.0]), ["0.500 ns", "0 ns"]);
        assert_eq!(times_text(&[130.0, 104_046.0]), ["0.130 µs", "104 µs"]);
        assert_eq!(
            rates_text(&[7.25 * 1073741824.0, 900.0 * 1048576.0]),
            ["7.25 GiB/s", "0.879 GiB/s"]
        );
        assert_eq!(rates_text(&[5e9, 1e7]), ["4768 MiB/s", "9.54 MiB/s"]);
        assert_eq!(rates_text(&[]), Vec::<String>::new());
        let ms = ColumnUnit::of_times(&[1.43e6]);
        assert!(ms.suits(&[820e3, 9e9]) && !ms.suits(&[20e3]) && !ms.suits(&[10e9]));
    }
}
