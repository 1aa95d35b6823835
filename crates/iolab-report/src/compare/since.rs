//! How a run compares with the earlier ones of its experiment, in one line.

use super::alike::is_same;
use super::contradiction::contradiction;
use super::{Compared, Row, Terms, compare, shown_ns};
use iolab_model::catalog::{percent_text, ratio_text, so_many, time_text};
use iolab_model::result::{Answer, AnswerKind, Document, Verdict};

/// One line on a run and earlier ones of the same experiment, the newest first: whether it differs
/// clearly from the last, and how far the figures of the pick lie apart over all of them. An interval is
/// about its own run alone, which is said where none was made on this machine.
pub fn since_text(earlier: &[Document], now: &Document) -> Option<String> {
    match earlier.iter().any(|run| is_same(run, now)) {
        true => changes_since(earlier, now),
        false => first_text(now),
    }
}

/// The same of a run that goes on: where it is the first, it has said so.
pub fn changes_since(earlier: &[Document], now: &Document) -> Option<String> {
    let terms = Terms {
        alpha: now.experiment.protocol.alpha,
        delta: now.experiment.protocol.delta,
        anyway: false,
    };
    let before: Vec<&Document> = earlier.iter().filter(|run| is_same(run, now)).collect();
    let last = before.first().copied()?;
    let compared = compare(std::slice::from_ref(last), std::slice::from_ref(now), &terms).ok()?;
    let day = last.run.started.get(..10).unwrap_or(&last.run.started);
    let mut line = format!("since run {} ({day}): {}", last.run.id, changes(&compared));
    if let Some(moved) = pick_moved(last, now, terms.delta) {
        line.push_str("; ");
        line.push_str(&moved);
    }
    if let Some(spread) = spread(&before, now) {
        line.push_str("; ");
        line.push_str(&spread);
    }
    // Whoever reads but the beginning reads this.
    if let Some(found) = contradiction(last, now, ["there", "here"]) {
        let (then, id) = (last.run.id, now.run.id);
        line = format!(
            "this contradicts run {then}: {found}. What lasted as long as a run is in neither interval: \
             measure it again later (iolab rerun {id}). {line}"
        );
    }
    Some(line)
}

/// What a first run cannot know, where it shows something.
fn first_text(now: &Document) -> Option<String> {
    let shows = |answer: &Answer| match answer.kind {
        AnswerKind::Winner | AnswerKind::Tie => true,
        AnswerKind::Undecided => answer.pick.is_some(),
        AnswerKind::Invalid => false,
    };
    let shows = now.answers.iter().any(shows);
    let id = now.run.id;
    shows.then(|| {
        format!("first run of its kind here: within this run alone; iolab rerun {id} tells more")
    })
}

fn changes(compared: &Compared) -> String {
    let is_clear = |row: &&Row| row.clear && is_change(row);
    let clear = compared.rows.iter().filter(is_clear).count();
    let far = |row: &Row| row.ratio.ln().abs();
    let farthest = |rows: &mut dyn Iterator<Item = &'_ Row>| {
        rows.max_by(|a, b| far(a).total_cmp(&far(b))).map(|row| {
            let Row { cell, ratio, .. } = row;
            format!("{cell} took {} as long", ratio_text(*ratio))
        })
    };
    match farthest(&mut compared.rows.iter().filter(is_clear)) {
        Some(most) if compared.rows.len() == 1 => format!("a clear change, {most}"),
        Some(most) => {
            format!("{clear} of {} clearly changed: {most}", so_many(compared.rows.len(), "cell"))
        }
        None => {
            let most = farthest(&mut compared.rows.iter()).unwrap_or_default();
            format!("no clear change ({most})")
        }
    }
}

fn is_change(row: &Row) -> bool {
    matches!(row.verdict, Verdict::Slower | Verdict::Faster)
}

/// What to make of another pick than the last time, of the first answer whose pick moved: whether both
/// are shown to lie within what matters in both runs. That the runs contradict is said before.
fn pick_moved(last: &Document, now: &Document, delta: f64) -> Option<String> {
    let (then, now) = (last.completed(), now.completed());
    let earlier = |of: &Answer| then.answers.iter().find(|a| a.condition == of.condition);
    let (before, after) = now.answers.iter().find_map(|after| {
        let before = earlier(after)?;
        let shows = |answer: &Answer| answer.pick.is_some() || answer.best.len() == 1;
        let moved = before.leader()? != after.leader()?;
        (moved && shows(before) && shows(after)).then_some((before, after))
    })?;
    let (old, new) = (before.leader()?, after.leader()?);
    let id = last.run.id;
    let within = |answer: &Answer| answer.is_within(old, delta) && answer.is_within(new, delta);
    let matters = percent_text(delta);
    if within(before) && within(after) {
        return Some(format!(
            "{new} is taken now and {old} was in run {id}: in both runs each is within {matters} of the \
             best, so either will do"
        ));
    }
    // Of one that is the pick its own bound says nothing of the other.
    let bound = |answer: &Answer, cell: &str| {
        answer.regret_of(cell).map_or_else(
            || "not compared".to_owned(),
            |regret| answer.slower_form().text(regret.low, regret.high),
        )
    };
    Some(format!(
        "{new} is taken now and {old} was in run {id}, which is not shown to be alike within {matters}: \
         {old} here {}, {new} there {}",
        bound(after, old),
        bound(before, new)
    ))
}

/// How far the pick's times lie apart over the earlier runs and this one.
fn spread(before: &[&Document], now: &Document) -> Option<String> {
    let pick = now.answers.first()?.leader()?;
    let time = |run: &Document| run.cells.iter().find(|cell| cell.id == pick).and_then(shown_ns);
    let times: Vec<f64> = before.iter().filter_map(|run| time(run)).collect();
    if times.len() < 2 {
        return None;
    }
    let low = times.iter().copied().fold(f64::INFINITY, f64::min);
    let high = times.iter().copied().fold(0.0, f64::max);
    let runs = so_many(times.len(), "earlier run");
    let (low, high) = (time_text(low), time_text(high));
    Some(format!("{runs}: {low} to {high} for {pick}"))
}

#[cfg(test)]
mod tests {
    use super::super::disagrees_text;
    use super::{changes_since, since_text};
    use iolab_model::result::{AnswerKind, Document, Pick, Regret};
    use iolab_test::documents;

    /// A run of forty rounds whose cells take so many times as long.
    fn slower(id: u64, factor: f64) -> Document {
        let mut run = documents::winner();
        run.run.id = id;
        for (at, cell) in run.cells.iter_mut().take(3).enumerate() {
            let wall =
                |round: u32| (1e7 * factor * (1.0 + f64::from((round * 7) % 5) / 500.0)) as u64;
            let sample = |round| documents::sample(round, at as u32, wall(round), 256);
            cell.samples = (0..40).map(sample).collect();
            cell.estimate = documents::estimate(&cell.samples);
        }
        run
    }

    fn run(id: u64) -> Document {
        slower(id, 1.0)
    }

    /// The same with this said of its cells: at least and at most so many times the best's time.
    fn saying(id: u64, bounds: &[(f64, f64)]) -> Document {
        let mut run = run(id);
        let ids: Vec<String> = run.cells.iter().map(|cell| cell.id.clone()).collect();
        let regret = |(cell, (low, high)): (&String, &(f64, f64))| Regret {
            cell: cell.as_str().into(),
            low: *low,
            high: Some(*high),
            excluded: *low > 1.0,
        };
        run.answers[0].regret = ids.iter().zip(bounds).map(regret).collect();
        run
    }

    /// One run proved 1 MiB at least 1.8 times slower, the next showed at most 1.2, and the line between
    /// them spoke of "no clear change".
    #[test]
    fn a_run_that_rules_out_what_the_last_one_proved_says_so() {
        let proved = saying(3, &[(1.0, 1.0), (1.81, 2.72)]);
        let other = saying(8, &[(1.0, 1.01), (1.0, 1.22)]);
        let [a, b] = [&proved.cells[0].id, &proved.cells[1].id];
        let line = since_text(std::slice::from_ref(&proved), &other).unwrap();
        let wanted = format!(
            "this contradicts run 3: there {b} took 1.81–2.72× as long as {a}, here at most 1.22×. What \
             lasted as long as a run is in neither interval: measure it again later (iolab rerun 8). \
             since run 3 ("
        );
        assert!(line.starts_with(&wanted), "{line}");
        let later = disagrees_text(&proved, &other).unwrap();
        assert!(later.starts_with("run 8 of the same experiment ("), "{later}");
        let wanted = format!("here {b} took 1.81–2.72× as long as {a}, there at most 1.22×");
        assert!(later.contains(&wanted), "{later}");
        // The other way round: what was ruled out is proven now.
        let mut again = proved.clone();
        again.run.id = 9;
        let line = since_text(&[other], &again).unwrap();
        assert!(line.contains("took at most 1.22× as long as"), "{line}");
        assert!(line.contains("here 1.81–2.72×"), "{line}");
        // Intervals that overlap agree, and so do runs of other experiments.
        let wider = saying(8, &[(1.0, 1.01), (1.2, 1.9)]);
        assert_eq!(disagrees_text(&proved, &wider), None);
        assert!(
            !since_text(std::slice::from_ref(&proved), &wider).unwrap().contains("contradicts")
        );
        let mut unlike = saying(8, &[(1.0, 1.01), (1.0, 1.22)]);
        unlike.experiment.ask.clear();
        assert_eq!(disagrees_text(&proved, &unlike), None);
    }

    /// Another pick each time, and nobody said whether that means anything.
    #[test]
    fn another_pick_than_last_time_is_said_to_matter_or_not() {
        let picking = |id: u64, pick: usize, bounds: &[(f64, f64)]| {
            let mut run = saying(id, bounds);
            run.experiment.protocol.delta = 0.05;
            let answer = &mut run.answers[0];
            answer.kind = AnswerKind::Tie;
            answer.best = run.cells.iter().take(2).map(|cell| cell.id.clone()).collect();
            answer.pick =
                Some(Pick { cell: run.cells[pick].id.as_str().into(), at_most: bounds[pick].1 });
            run
        };
        let then = picking(3, 0, &[(1.0, 1.01), (1.0, 1.04)]);
        let [old, new] = [&then.cells[0].id, &then.cells[1].id];
        let said = |now: &Document| since_text(std::slice::from_ref(&then), now).unwrap();
        let near = said(&picking(8, 1, &[(1.0, 1.03), (1.0, 1.02)]));
        let wanted = format!(
            "; {new} is taken now and {old} was in run 3: in both runs each is within 5 % of the best, so \
             either will do"
        );
        assert!(near.contains(&wanted) && !near.contains("contradicts"), "{near}");
        let open = said(&picking(8, 1, &[(1.0, 1.3), (1.0, 1.02)]));
        let wanted = format!(
            "not shown to be alike within 5 %: {old} here at most 30 % slower, {new} there at most 4 % \
             slower"
        );
        assert!(open.contains(&wanted), "{open}");
        // A proof against what the last run had ruled out.
        let other = said(&picking(8, 1, &[(1.2, 1.3), (1.0, 1.0)]));
        assert!(other.starts_with("this contradicts run 3: "), "{other}");
        let same = said(&picking(8, 0, &[(1.0, 1.01), (1.0, 1.04)]));
        assert!(!same.contains("is taken now"), "{same}");
    }

    #[test]
    fn a_run_is_held_against_the_last_of_its_experiment() {
        let first = since_text(&[], &run(9)).unwrap();
        assert!(first.ends_with("within this run alone; iolab rerun 9 tells more"), "{first}");
        assert_eq!(changes_since(&[], &run(9)), None, "of a run that goes on");
        let mut nothing_shown = run(9);
        nothing_shown.answers.clear();
        assert_eq!(since_text(&[], &nothing_shown), None);
        let same = since_text(&[run(8)], &run(9)).unwrap();
        assert!(same.starts_with("since run 8 (") && same.contains("no clear change"), "{same}");
        let changed = since_text(&[run(8)], &slower(9, 3.0)).unwrap();
        assert!(changed.contains("clearly changed") && changed.contains("3.0"), "{changed}");
        let spread = since_text(&[run(8), slower(7, 2.0), run(6)], &run(9)).unwrap();
        assert!(spread.contains("3 earlier runs: "), "{spread}");
        let mut other = run(8);
        other.experiment.ask.clear();
        let of_another = since_text(&[other], &run(9)).unwrap();
        assert!(of_another.starts_with("first run of its kind here"), "{of_another}");
    }
}
