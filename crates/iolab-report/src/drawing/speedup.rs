//! What more workers are worth, and how far that is shown.

use super::cells::Index;
use super::throughput::Line;
use iolab_model::result::{Answer, AnswerKind, Finding, FindingKind};

/// What is found of the threads of one line.
pub struct Gain<'a> {
    /// What an answer says of it; absent where it bounds nothing, or no answer is about this line.
    pub found: Option<&'a Finding>,
    /// Whether an answer is about this line.
    pub is_answered: bool,
    /// The fewest threads.
    pub base: f64,
    /// Those with the greatest speed, and how many times that of the fewest it is, both by medians.
    pub most: (u64, f64),
    /// The greatest speed, a second.
    pub speed: f64,
}

impl<'a> Gain<'a> {
    /// Of a line with at least one measured speed.
    pub fn of(index: &Index<'a>, line: &Line<'_>) -> Option<Gain<'a>> {
        let (base, first) = line.base()?;
        let speeds = line.points.iter().filter_map(|(n, c, s)| Some((*n, c, s.as_ref()?)));
        let (most, leader, best) = speeds.max_by(|a, b| a.2.median.total_cmp(&b.2.median))?;
        let document = index.documents.get(leader.run)?;
        let is_of_line = |id: &str| line.points.iter().any(|(_, s, _)| s.cell.id == id);
        let about = |answer: &&Answer| {
            let cells = answer.regret.iter().filter(|regret| is_of_line(&regret.cell));
            answer.kind != AnswerKind::Invalid && cells.count() > 1
        };
        let answer = document.answers.iter().find(about);
        let found = answer.and_then(|answer| {
            let mut scaling = answer.findings.iter().filter(|f| f.kind == FindingKind::Scaling);
            scaling.find(|finding| is_of_line(&finding.cell))
        });
        let times = best.median / first.median;
        let is_answered = answer.is_some();
        Some(Gain { found, is_answered, base, most: (most, times), speed: best.median })
    }
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
        assert!(title.contains("how many threads are enough is open"), "{title}");
    }

    /// One thread was once left out of the best by its medians alone: "2 threads give 5.23×", where
    /// the rounds showed 1.66× with an interval from 0.82 to 3.59.
    #[test]
    fn a_gain_is_what_the_answer_shows_and_not_a_quotient_of_medians() {
        let (mut open, mut shown) = (scenes::threads(), scenes::threads());
        let set = |run: &mut iolab_model::result::Document, low: f64| {
            let one = run.cells.iter().find(|c| c.factors.number(Factor::Threads) == Some(1));
            let one = one.unwrap().id.clone();
            run.answers.iter_mut().for_each(iolab_model::result::Answer::complete);
            let regret = run.answers.iter_mut().flat_map(|a| &mut a.regret);
            for own in regret.filter(|regret| *regret.cell == *one) {
                (own.low, own.high, own.excluded) = (low, Some(3.59), low > 1.0);
            }
            run.answers.iter_mut().for_each(|answer| answer.findings.clear());
        };
        set(&mut open, 1.0);
        let open = title(refound(open));
        assert!(!open.contains("as long") && !open.contains("speed of one"), "{open}");
        set(&mut shown, 1.2);
        let shown = title(refound(shown));
        assert!(shown.contains("1 thread takes 1.20–3.59× as long"), "{shown}");
    }

    /// Findings anew from the bounds.
    fn refound(mut run: iolab_model::result::Document) -> iolab_model::result::Document {
        run.find_along();
        run
    }

    #[test]
    fn threads_beyond_the_processors_are_not_said_to_pay() {
        let title = title(scenes::threads());
        assert!(
            title.starts_with("pread: ") && title.contains(" threads are the fewest within"),
            "{title}"
        );
    }
}
