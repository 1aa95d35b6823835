//! Axes: from data units to a share of the axis, with ticks that people read.

use iolab_model::catalog::{bytes_text, digits_text};

/// Values beyond these are held at the ends, so that a ratio of two is finite.
const LEAST: f64 = 1e-12;
const GREATEST: f64 = 1e24;

/// How values lie on an axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Scale {
    /// Equal steps.
    Linear,
    /// Doublings: sizes.
    Log2,
    /// Powers of ten: times.
    Log10,
    /// Names at 0, 1, 2…; a vertical one runs from the top.
    Category,
}

/// One labelled place on an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Tick {
    /// Data units.
    pub at: f64,
    /// What stands there.
    pub label: String,
}

/// One axis of a panel.
#[derive(Clone, Debug, PartialEq)]
pub struct Axis {
    /// What it shows, with its unit.
    pub label: String,
    /// How values lie on it.
    pub scale: Scale,
    /// Least value shown.
    pub low: f64,
    /// Greatest value shown.
    pub high: f64,
    /// Ticks in ascending order; a back-end may leave some out where they would touch.
    pub ticks: Vec<Tick>,
}

impl Axis {
    /// Share of the axis, 0 at its start; values outside and not finite are held at the ends.
    pub fn position(&self, value: f64) -> f64 {
        let warp = |v: f64| match self.scale {
            Scale::Log2 | Scale::Log10 => v.max(f64::MIN_POSITIVE).ln(),
            _ => v,
        };
        let (low, high) = (warp(self.low), warp(self.high));
        let share = (warp(value) - low) / (high - low);
        if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
    }

    /// Names at equal distances.
    pub fn category(label: &str, names: Vec<String>) -> Axis {
        let high = names.len() as f64 - 0.5;
        let ticks = names.into_iter().enumerate();
        Axis {
            label: label.to_owned(),
            scale: Scale::Category,
            low: -0.5,
            high: high.max(0.5),
            ticks: ticks.map(|(at, label)| Tick { at: at as f64, label }).collect(),
        }
    }

    /// Sizes in bytes, log2, a tick at every level that occurs.
    pub fn sizes(label: &str, levels: &[f64]) -> Axis {
        Axis::doublings(label, levels, |v| bytes_text(v as u64))
    }

    /// Counts, log2, a tick at every level that occurs.
    pub fn counts(label: &str, levels: &[f64]) -> Axis {
        Axis::doublings(label, levels, digits_plain)
    }

    fn doublings(label: &str, levels: &[f64], text: impl Fn(f64) -> String) -> Axis {
        let known = levels.iter().copied().filter(|v| (1.0..=GREATEST).contains(v));
        let mut levels: Vec<f64> = known.collect();
        levels.sort_by(f64::total_cmp);
        levels.dedup();
        let low = levels.first().copied().unwrap_or(1.0);
        let high = levels.last().copied().unwrap_or(1.0);
        // Half a doubling of air on both sides keeps marks off the frame.
        let air = (high / low).powf(0.03).max(1.25);
        Axis {
            label: label.to_owned(),
            scale: Scale::Log2,
            low: low / air,
            high: high * air,
            ticks: levels.into_iter().map(|at| Tick { at, label: text(at) }).collect(),
        }
    }

    /// Times in nanoseconds, log10.
    pub fn times(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        Axis::logarithmic(label, values, tick_time)
    }

    /// Ratios, log10, with 1 always on it.
    pub fn ratios(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let all = values.into_iter().chain([1.0]);
        Axis::logarithmic(label, all, |v| format!("{}×", digits_plain(v)))
    }

    fn logarithmic(
        label: &str,
        values: impl IntoIterator<Item = f64>,
        text: impl Fn(f64) -> String,
    ) -> Axis {
        // Without a value there is nothing to put a figure to.
        let mut empty = false;
        let (mut low, mut high) =
            span(values.into_iter().filter(|v| *v >= LEAST)).unwrap_or_else(|| {
                empty = true;
                (1.0, 10.0)
            });
        let air = (high / low).powf(0.06).max(1.04);
        (low, high) = (low / air, high * air);
        let ticks = if empty { Vec::new() } else { log_ticks(low, high) };
        let ticks = ticks.into_iter().map(|at| Tick { at, label: text(at) }).collect();
        Axis { label: label.to_owned(), scale: Scale::Log10, low, high, ticks }
    }

    /// Linear from 0, with the caller's words for a tick.
    pub fn from_zero(
        label: &str,
        values: impl IntoIterator<Item = f64>,
        text: impl Fn(f64) -> String,
    ) -> Axis {
        let high = span(values).map_or(1.0, |(_, high)| high);
        let high = if high > LEAST { high * 1.05 } else { 1.0 };
        let ticks = linear_ticks(0.0, high).into_iter();
        Axis {
            label: label.to_owned(),
            scale: Scale::Linear,
            low: 0.0,
            high,
            ticks: ticks.map(|at| Tick { at, label: text(at) }).collect(),
        }
    }

    /// Speeds in bytes per second, linear from 0, ticks round in binary units.
    pub fn rates(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let high = span(values).map_or(1.0, |(_, high)| high).clamp(1.0, GREATEST);
        let unit = 1024f64.powf(high.log(1024.0).floor());
        let mut axis = Axis::from_zero(label, [high / unit], |_| String::new());
        axis.high *= unit;
        for tick in &mut axis.ticks {
            tick.at *= unit;
            tick.label = tick_rate(tick.at);
        }
        axis
    }

    /// Whole numbers, linear, from the least to the greatest.
    pub fn whole(label: &str, values: impl IntoIterator<Item = f64>) -> Axis {
        let (low, high) = span(values).unwrap_or((0.0, 1.0));
        let air = ((high - low) * 0.02).max(0.5);
        let ticks = linear_ticks(low, high).into_iter().filter(|t| t.fract() == 0.0);
        Axis {
            label: label.to_owned(),
            scale: Scale::Linear,
            low: low - air,
            high: high + air,
            ticks: ticks.map(|at| Tick { at, label: digits_plain(at) }).collect(),
        }
    }
}

/// Least and greatest finite value.
pub fn span(values: impl IntoIterator<Item = f64>) -> Option<(f64, f64)> {
    let finite = values.into_iter().filter(|v| v.is_finite()).map(|v| v.clamp(-GREATEST, GREATEST));
    finite.fold(None, |span, v| match span {
        None => Some((v, v)),
        Some((low, high)) => Some((low.min(v), high.max(v))),
    })
}

/// Four to seven round values.
fn linear_ticks(low: f64, high: f64) -> Vec<f64> {
    let width = high - low;
    if !(LEAST..=GREATEST).contains(&width) || width < low.abs() * 1e-9 {
        return vec![low];
    }
    let rough = width / 5.0;
    let power = 10f64.powf(rough.log10().floor());
    let step = [1.0, 2.0, 5.0, 10.0].map(|s| s * power).into_iter().find(|s| *s >= rough * 0.99);
    let step = step.unwrap_or(power * 10.0);
    let first = (low / step).ceil() as i64;
    let last = (high / step + 1e-9).floor() as i64;
    (first..=last).take(20).map(|at| at as f64 * step).collect()
}

/// Round values on a log axis: linear steps where it hardly bends, finer ones under a decade or so,
/// 1-2-5 up to three decades, else powers.
fn log_ticks(low: f64, high: f64) -> Vec<f64> {
    let decades = (high / low).log10();
    if decades < 0.35 {
        return linear_ticks(low, high).into_iter().filter(|t| *t > 0.0).collect();
    }
    let steps: &[f64] = match decades {
        d if d <= 1.3 => &[1.0, 1.5, 2.0, 3.0, 5.0, 7.0],
        d if d <= 3.0 => &[1.0, 2.0, 5.0],
        _ => &[1.0],
    };
    let (first, last) = (low.log10().floor() as i32, high.log10().ceil() as i32);
    let stride = (f64::from(last - first) / 8.0).ceil().max(1.0) as usize;
    (first..=last)
        .step_by(stride)
        .flat_map(|power| steps.iter().map(move |s| s * 10f64.powi(power)))
        .filter(|v| (low..=high).contains(v))
        .collect()
}

/// Up to three digits, no zeros behind the point: `1.5`, `20`.
pub fn digits_plain(value: f64) -> String {
    let power = value.abs().log10();
    if power >= 6.0 && (power - power.round()).abs() < 1e-9 {
        let digits = format!("{power:.0}");
        let raised =
            digits.chars().filter_map(|c| "⁰¹²³⁴⁵⁶⁷⁸⁹".chars().nth(c.to_digit(10)? as usize));
        return format!("10{}", raised.collect::<String>());
    }
    let text = digits_text(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// A round time in nanoseconds for a tick: `20 µs`, `1 ms`, `100 s`.
pub fn tick_time(ns: f64) -> String {
    let (scale, unit) = match ns.abs() {
        v if v >= 0.9995e9 => (1e9, "s"),
        v if v >= 0.9995e6 => (1e6, "ms"),
        v if v >= 0.9995e3 => (1e3, "µs"),
        _ => (1.0, "ns"),
    };
    if ns == 0.0 {
        return "0".to_owned();
    }
    format!("{} {unit}", digits_plain(ns / scale))
}

/// A round speed in bytes per second for a tick: `2 GiB/s`.
pub fn tick_rate(bytes_per_second: f64) -> String {
    const UNITS: [&str; 7] = ["B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"];
    let mut value = bytes_per_second;
    let mut unit = 0;
    while value >= 1023.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    if bytes_per_second == 0.0 {
        return "0".to_owned();
    }
    format!("{} {}/s", digits_plain(value), UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::{Axis, log_ticks, span, tick_rate, tick_time};
    use proptest::prelude::*;

    #[test]
    fn ticks_are_round_and_inside() {
        assert_eq!(log_ticks(0.9, 11.0), [1.0, 1.5, 2.0, 3.0, 5.0, 7.0, 10.0]);
        assert_eq!(log_ticks(0.9, 55.0), [1.0, 2.0, 5.0, 10.0, 20.0, 50.0]);
        assert_eq!(log_ticks(0.5, 2e6), [1.0, 10.0, 100.0, 1e3, 1e4, 1e5, 1e6]);
        assert_eq!(tick_time(1e6), "1 ms");
        assert_eq!(tick_time(1.5e4), "15 µs");
        assert_eq!(tick_rate(2.0 * 1024.0 * 1024.0), "2 MiB/s");
    }

    #[test]
    fn sizes_have_a_tick_at_each_level() {
        let axis = Axis::sizes("block", &[65536.0, 4096.0, 4096.0]);
        let labels: Vec<&str> = axis.ticks.iter().map(|t| t.label.as_str()).collect();
        assert_eq!(labels, ["4 KiB", "64 KiB"]);
        assert!(axis.position(4096.0) > 0.0 && axis.position(65536.0) < 1.0);
    }

    proptest! {
        #[test]
        fn any_values_make_an_axis(values in proptest::collection::vec(any::<f64>(), 0..20)) {
            for axis in [
                Axis::sizes("", &values),
                Axis::times("", values.iter().copied()),
                Axis::ratios("", values.iter().copied()),
                Axis::from_zero("", values.iter().copied(), tick_time),
                Axis::whole("", values.iter().copied()),
            ] {
                for value in values.iter().copied().chain([f64::NAN, 0.0, -1.0]) {
                    let share = axis.position(value);
                    prop_assert!((0.0..=1.0).contains(&share), "{axis:?} {value} {share}");
                }
                prop_assert!(axis.ticks.len() < 60, "{:?}", axis.ticks.len());
            }
        }

        #[test]
        fn the_span_is_finite(values in proptest::collection::vec(any::<f64>(), 0..20)) {
            if let Some((low, high)) = span(values) {
                prop_assert!(low <= high && low.is_finite() && high.is_finite());
            }
        }
    }
}
