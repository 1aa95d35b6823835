//! How values spread: the share of them that lies at or below each (an empirical distribution).

use super::model::{Layer, Mark, Panel, Point, Series};
use super::scale::{Axis, Tick};

/// The axis of shares, 0 to 100 %.
pub fn shares(label: &str) -> Axis {
    let tick = |share: f64| Tick { at: share, label: format!("{:.0} %", share * 100.0) };
    Axis {
        label: label.to_owned(),
        scale: super::scale::Scale::Linear,
        low: 0.0,
        high: 1.02,
        ticks: [0.0, 0.25, 0.5, 0.75, 1.0].map(tick).to_vec(),
    }
}

/// Most marks of a line.
const MOST_MARKS: usize = 40;
/// Of very many the so many least and greatest keep their marks: tails are what is looked for.
const ENDS: usize = 5;

/// One line: a mark a value at the share of values up to it; of very many every so many only.
pub fn line(key: usize, hollow: bool, mut values: Vec<(f64, String)>) -> Layer {
    values.retain(|(value, _)| value.is_finite());
    values.sort_by(|a, b| a.0.total_cmp(&b.0));
    let count = values.len();
    let stride = count.div_ceil(MOST_MARKS).max(1);
    let shown = |at: usize| at.is_multiple_of(stride) || at < ENDS || at + ENDS >= count;
    let points =
        values.into_iter().enumerate().filter(|(at, _)| shown(*at)).map(|(at, (x, tip))| {
            let y = (at + 1) as f64 / count as f64;
            let mark = if hollow { Mark::FaintHollow } else { Mark::Faint };
            let tip = format!("{tip}\n{:.0} % are at or below", y * 100.0);
            Point { x, y, low: None, high: None, mark, tip }
        });
    Layer::Series(Series::curve(key, points.collect()))
}

/// Where in its row the `nth` of `count` series stands: marks of one row lie above each other only
/// in part, in the order of the legend.
pub fn abreast(row: usize, nth: usize, count: usize) -> f64 {
    let step = (0.6 / count.max(1) as f64).min(0.2);
    row as f64 + (nth as f64 - (count.max(1) - 1) as f64 / 2.0) * step
}

/// Panels with their spreads: `upper` in rows of at most `columns`, each row followed by that of its
/// spreads; and how many panels each row has.
pub fn rows(upper: Vec<Panel>, lower: Vec<Panel>, columns: usize) -> (Vec<Panel>, Vec<usize>) {
    let (mut all, mut rows) = (Vec::new(), Vec::new());
    let (mut upper, mut lower) = (upper.into_iter(), lower.into_iter());
    while upper.len() > 0 {
        for half in [&mut upper, &mut lower] {
            rows.push(half.len().min(columns));
            all.extend(half.by_ref().take(columns));
        }
    }
    (all, rows)
}

#[cfg(test)]
mod tests {
    use super::{abreast, line, rows, shares};
    use crate::drawing::model::{Layer, Panel, Point};

    fn points(values: &[f64]) -> Vec<Point> {
        let values = values.iter().map(|v| (*v, String::new())).collect();
        match line(0, false, values) {
            Layer::Series(series) => series.points,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn shares_are_those_at_or_below() {
        let seen = points(&[30.0, 10.0, f64::NAN, 20.0, 20.0]);
        let seen: Vec<(f64, f64)> = seen.into_iter().map(|p| (p.x, p.y)).collect();
        assert_eq!(seen, [(10.0, 0.25), (20.0, 0.5), (20.0, 0.75), (30.0, 1.0)]);
        assert!(points(&[]).is_empty());
    }

    #[test]
    fn thinning_keeps_the_ends_and_moves_no_share() {
        let values: Vec<f64> = (1..=1000).map(f64::from).collect();
        let few = points(&values);
        assert!((40..60).contains(&few.len()), "{}", few.len());
        assert_eq!((few[0].x, few[few.len() - 1].x), (1.0, 1000.0));
        assert_eq!(few[few.len() - 2].x, 999.0, "tails keep all their marks");
        assert!(few.iter().all(|p| p.y == p.x / 1000.0));
    }

    #[test]
    fn series_of_a_row_stay_in_it() {
        for count in 1..=6 {
            let seen: Vec<f64> = (0..count).map(|nth| abreast(3, nth, count)).collect();
            assert!(seen.iter().all(|y| y.round() == 3.0), "{seen:?}");
            assert!(seen.windows(2).all(|pair| pair[0] < pair[1]), "{seen:?}");
        }
        assert_eq!(abreast(2, 0, 1), 2.0);
    }

    #[test]
    fn each_row_has_its_spreads_below() {
        let named = |name: &str| Panel {
            title: name.to_owned(),
            x: shares(""),
            y: shares(""),
            layers: Vec::new(),
        };
        let (upper, lower) = (["a", "b", "c", "d"].map(named), ["A", "B", "C", "D"].map(named));
        let (panels, rows) = rows(upper.to_vec(), lower.to_vec(), 3);
        let titles: Vec<String> = panels.into_iter().map(|p| p.title).collect();
        assert_eq!(titles, ["a", "b", "c", "A", "B", "C", "d", "D"]);
        assert_eq!(rows, [3, 3, 1, 1]);
    }
}
