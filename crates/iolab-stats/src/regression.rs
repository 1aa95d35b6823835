//! A line through points of several rounds: cost against size.

use super::describe::summary;
use super::series::median_in_place;
use iolab_model::result::Summary;

/// Levels of x that a line needs: through two any figures lie on one.
const FEWEST_LEVELS: usize = 3;

/// y = intercept + slope · x, each with its interval over rounds.
#[derive(Clone, Debug, PartialEq)]
pub struct Line {
    /// y at x = 0.
    pub intercept: Summary,
    /// Change of y by 1 of x.
    pub slope: Summary,
    /// The greatest share of y by which a median of a level lies off the line: large where cost
    /// does not follow a line.
    pub worst_misfit: f64,
    /// Slope and intercept of each round.
    rounds: Vec<(f64, f64)>,
}

impl Line {
    /// y at `x` with its interval over rounds: that of the lines of the rounds there, so that what
    /// a steeper round takes from its own intercept is not counted twice.
    pub fn at(&self, x: f64) -> Option<Summary> {
        let values: Vec<f64> =
            self.rounds.iter().map(|(slope, intercept)| intercept + slope * x).collect();
        summary(&values)
    }
}

/// The line of Theil and Sen in each round (the median of the slopes of all pairs, then the median
/// of y − slope · x; Sen 1968), and over rounds its median with the exact order-statistic interval
/// at 95 %, fixed-n. The unit is the round, for the points of a round share its noise. `None` where
/// no round has three levels of x.
pub fn line(rounds: &[Vec<(f64, f64)>]) -> Option<Line> {
    let lines: Vec<(f64, f64)> =
        rounds.iter().filter_map(|points| theil_sen_line(points)).collect();
    let slopes: Vec<f64> = lines.iter().map(|(slope, _)| *slope).collect();
    let intercepts: Vec<f64> = lines.iter().map(|(_, intercept)| *intercept).collect();
    let (slope, intercept) = (summary(&slopes)?, summary(&intercepts)?);
    let worst_misfit = levels(rounds)
        .into_iter()
        .map(|(x, y)| ((intercept.median + slope.median * x - y) / y).abs())
        .fold(0.0, f64::max);
    Some(Line { intercept, slope, worst_misfit, rounds: lines })
}

fn theil_sen_line(points: &[(f64, f64)]) -> Option<(f64, f64)> {
    let mut slopes = Vec::new();
    let mut xs: Vec<f64> = points.iter().map(|(x, _)| *x).collect();
    xs.sort_unstable_by(f64::total_cmp);
    xs.dedup();
    if xs.len() < FEWEST_LEVELS {
        return None;
    }
    for (at, (x, y)) in points.iter().enumerate() {
        let others = points[at + 1..].iter().filter(|(other, _)| other != x);
        slopes.extend(others.map(|(other_x, other_y)| (other_y - y) / (other_x - x)));
    }
    let slope = median_in_place(&mut slopes);
    let mut rests: Vec<f64> = points.iter().map(|(x, y)| y - slope * x).collect();
    Some((slope, median_in_place(&mut rests)))
}

/// The median of y at each x.
fn levels(rounds: &[Vec<(f64, f64)>]) -> Vec<(f64, f64)> {
    let mut all: Vec<(f64, f64)> = rounds.iter().flatten().copied().collect();
    all.sort_unstable_by(|a, b| a.0.total_cmp(&b.0));
    let median = |group: &[(f64, f64)]| {
        let mut ys: Vec<f64> = group.iter().map(|(_, y)| *y).collect();
        (group[0].0, median_in_place(&mut ys))
    };
    all.chunk_by(|a, b| a.0 == b.0).map(median).collect()
}

#[cfg(test)]
mod tests {
    use super::line;
    use proptest::prelude::*;

    #[test]
    fn one_wild_point_of_five_moves_nothing() {
        // scipy.stats.theilslopes([5, 7, 9, 11, 1000], [1, 2, 3, 4, 5]) = 2.0, intercept 3.0.
        let round = vec![(1.0, 5.0), (2.0, 7.0), (3.0, 9.0), (4.0, 11.0), (5.0, 1000.0)];
        let fit = line(&vec![round; 8]).unwrap();
        assert!(
            (fit.slope.median - 2.0).abs() < 1e-12 && (fit.intercept.median - 3.0).abs() < 1e-12
        );
        assert!(fit.worst_misfit > 0.9, "{fit:?}");
        assert_eq!(fit.slope.low, Some(2.0));
    }

    #[test]
    fn two_levels_make_no_line_and_few_rounds_no_interval() {
        assert_eq!(line(&[vec![(1.0, 5.0), (2.0, 7.0), (2.0, 8.0)]]), None);
        assert_eq!(line(&[]), None);
        let fit = line(&[vec![(1.0, 5.0), (2.0, 7.0), (3.0, 9.0)], vec![(1.0, 5.0)]]).unwrap();
        assert_eq!((fit.slope.n, fit.slope.low), (1, None));
    }

    #[test]
    fn the_band_is_narrow_where_the_rounds_meet() {
        // Rounds that are steeper start lower: all of them pass through (2, 10).
        let round =
            |slope: f64| (1..=3).map(move |x| (f64::from(x), 10.0 + slope * (f64::from(x) - 2.0)));
        let rounds: Vec<Vec<(f64, f64)>> = (0..9).map(|r| round(f64::from(r)).collect()).collect();
        let fit = line(&rounds).unwrap();
        let width = |x| fit.at(x).map(|s| s.high.unwrap() - s.low.unwrap()).unwrap();
        assert!(width(2.0) < 1e-9 && width(0.0) > 5.0, "{} {}", width(2.0), width(0.0));
        assert_eq!(fit.at(2.0).unwrap().median, 10.0);
    }

    proptest! {
        /// Noise of each round on its own: the interval covers the true slope nearly always.
        #[test]
        fn the_interval_covers_the_line(slope in 0.1..10.0_f64, noise in prop::collection::vec(-1.0..1.0_f64, 60)) {
            let round = |r: usize| {
                (0..3).map(|i| (i as f64, 100.0 + slope * i as f64 + noise[3 * r + i])).collect()
            };
            let fit = line(&(0..20).map(round).collect::<Vec<_>>()).unwrap();
            prop_assert!((fit.slope.median - slope).abs() < 1.0);
            prop_assert!(fit.slope.low.unwrap() <= fit.slope.median);
            prop_assert!(fit.slope.median <= fit.slope.high.unwrap());
        }
    }
}
