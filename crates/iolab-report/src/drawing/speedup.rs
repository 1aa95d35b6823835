//! What more workers are worth, and how far that is shown.

use super::cells::{Index, Source};
use super::standing::{Conditions, Standing};
use super::throughput::Line;
use iolab_model::result::Answer;

/// What is shown of the fewest threads against the best number of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shown {
    /// Proven as good as the best.
    Nothing,
    /// Neither that nor slower.
    Open,
    /// Slower.
    Gain,
}

/// What threads are worth on one line.
pub struct Gain {
    /// The fewest threads.
    pub base: f64,
    /// The fewest that are not proven slower than the best.
    pub enough: u64,
    /// The best.
    pub most: u64,
    /// Whether `enough` are proven as good as the best.
    pub enough_is_best: bool,
    /// What is shown of it.
    pub shown: Shown,
    /// Speed of `enough` over that of the base, in the same rounds where an answer compares them.
    pub times: f64,
    /// Speed of the best, a second.
    pub speed: f64,
}

impl Gain {
    /// Of a line with at least one measured speed.
    pub fn of(index: &Index<'_>, line: &Line<'_>) -> Option<Gain> {
        let (threads, base) = line.base()?;
        let speeds = || line.points.iter().filter_map(|(n, c, s)| Some((*n, c, s.as_ref()?)));
        let order = |a: &f64, b: &f64| a.total_cmp(b);
        let (most, leader, best) = speeds().max_by(|a, b| order(&a.2.median, &b.2.median))?;
        let first = speeds().next()?;
        let document = index.documents.get(leader.run)?;
        let conditions = Conditions::of(document);
        let standing = document
            .answers
            .iter()
            .filter_map(|answer| Standing::of(document, &conditions.cells(answer), answer))
            .find(|s| s.leader.id == leader.cell.id);
        let near = |s: &Source<'_>| standing.as_ref().is_some_and(|a| a.near(&s.cell.id));
        let not_slower =
            |s: &Source<'_>| near(s) || standing.as_ref().is_some_and(|a| a.best(&s.cell.id));
        let fewest = speeds().find(|(_, s, _)| not_slower(s));
        let (enough, fewest, pays) = fewest.unwrap_or((most, leader, best));
        let enough_is_best = near(fewest);
        // What the rounds show of these two, where they were compared: medians of cells that were
        // not left out in the same round may say another thing.
        let paired = standing.as_ref().and_then(|s| gain_over(s.answer, first.1, fewest));
        let (times, more) = match (&standing, paired) {
            (_, Some((ratio, low))) => (ratio, low.is_some_and(|low| low > 1.0)),
            (Some(_), None) => (1.0, false),
            // No answer is about this line: intervals that lie apart.
            (None, None) => (
                pays.median / base.median,
                base.high.zip(pays.low).is_some_and(|(high, low)| high < low),
            ),
        };
        let shown = match (first.0 == most || near(first.1), more) {
            (true, _) => Shown::Nothing,
            (false, false) => Shown::Open,
            (false, true) => Shown::Gain,
        };
        Some(Gain { base: threads, enough, most, enough_is_best, shown, times, speed: best.median })
    }
}

/// Time of the first over that of the second in the same rounds, and the lower end of its interval.
fn gain_over(
    answer: &Answer,
    first: &Source<'_>,
    second: &Source<'_>,
) -> Option<(f64, Option<f64>)> {
    let (first, second) = (first.cell.id.as_str(), second.cell.id.as_str());
    answer.comparisons.iter().find_map(|c| match (&*c.a, &*c.b) {
        (a, b) if a == first && b == second => Some((c.ratio, c.low)),
        (a, b) if a == second && b == first && c.ratio > 0.0 => {
            Some((1.0 / c.ratio, c.high.filter(|high| *high > 0.0).map(|high| 1.0 / high)))
        }
        _ => None,
    })
}

#[cfg(test)]
mod tests {
    use crate::chart::charts_for;
    use iolab_model::catalog::{Factor, Level};
    use iolab_test::fakes::{document, fake, levels, number};
    use iolab_test::scenes;

    fn title(run: iolab_model::result::Document) -> String {
        let charts = charts_for(&[run]);
        let chart = charts.into_iter().find(|c| c.slug == "throughput-by-threads").unwrap();
        chart.title
    }

    /// A run of four rounds was once summed up as "2 threads give 1.49× the speed of one thread;
    /// more than 2 gain nothing", where two were slower than one and nothing was proven.
    #[test]
    fn what_is_not_shown_is_no_gain() {
        let cells = [1, 2, 4_u64].map(|threads| {
            let at = [
                (Factor::Method, Level::word("pread")),
                (Factor::Threads, number(threads)),
                (Factor::Cache, Level::word("warm")),
            ];
            let mut cell = fake(levels(&at), 1e8 / (1.0 + 0.02 * threads as f64), 1 << 28);
            cell.noise = 0.4;
            cell
        });
        let title = title(document(21, "read", &[Factor::Threads], 8, cells.to_vec()));
        assert!(title.contains("no gain of more threads over one thread is shown"), "{title}");
    }

    /// One thread was once left out of the best by its medians alone: "2 threads give 5.23×", where
    /// the rounds showed 1.66× with an interval from 0.82 to 3.59.
    #[test]
    fn a_gain_is_what_the_rounds_show_and_not_a_quotient_of_medians() {
        let (mut open, mut shown) = (scenes::threads(), scenes::threads());
        let one = open.cells.iter().find(|c| c.factors.number(Factor::Threads) == Some(1)).unwrap();
        let one = one.id.clone();
        let set = |run: &mut iolab_model::result::Document, low: f64, ratio: f64, high: f64| {
            for c in run.answers.iter_mut().flat_map(|a| &mut a.comparisons) {
                if *c.a == *one {
                    (c.ratio, c.low, c.high) = (ratio, Some(low), Some(high));
                } else if *c.b == *one {
                    (c.ratio, c.low, c.high) = (1.0 / ratio, Some(1.0 / high), Some(1.0 / low));
                }
            }
        };
        set(&mut open, 0.82, 1.66, 3.59);
        let open = title(open);
        assert!(open.contains("no gain of more threads over one thread is shown"), "{open}");
        set(&mut shown, 1.2, 1.66, 3.59);
        let shown = title(shown);
        assert!(shown.contains(" threads give 1.66× the speed of one thread"), "{shown}");
    }

    #[test]
    fn threads_beyond_the_processors_are_not_said_to_pay() {
        let title = title(scenes::threads());
        assert!(title.starts_with("pread: 4 threads give 3."), "{title}");
        assert!(
            title.contains("no gain beyond 4") || title.contains("more than 4 gain"),
            "{title}"
        );
    }
}
