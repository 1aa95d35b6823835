//! Two runs of one experiment of which one proves what the other rules out. Each interval is about its
//! own run: what lasted as long as a run stands in neither.

use super::alike::is_same;
use iolab_model::catalog::{ratio_digits, ratio_text};
use iolab_model::result::{Answer, AnswerKind, Bounds, Document, Regret};

/// At least, and at most, so many times as long.
type Ratio = (Option<f64>, Option<f64>);

/// A pair of cells whose intervals in two runs have nothing in common.
struct Contradiction<'a> {
    slower: &'a str,
    than: &'a str,
    then: Ratio,
    now: Ratio,
    /// How far the intervals lie apart, ln.
    gap: f64,
}

/// What a run said of two cells that a later one of its experiment rules out, or the other way round;
/// `words`: how the earlier and the later run are called.
pub(super) fn contradiction(then: &Document, now: &Document, words: [&str; 2]) -> Option<String> {
    if !is_same(then, now) {
        return None;
    }
    let delta = now.experiment.protocol.delta;
    let (then, now) = (then.completed(), now.completed());
    let earlier = |of: &Answer| then.answers.iter().find(|a| a.condition == of.condition);
    let all = now.answers.iter().filter_map(|later| farthest(earlier(later)?, later, delta));
    let found = all.max_by(|a, b| a.gap.total_cmp(&b.gap))?;
    Some(format!(
        "{} {} took {} as long as {}, {} {}",
        words[0],
        found.slower,
        ratio(found.then),
        found.than,
        words[1],
        ratio(found.now)
    ))
}

/// The pair that is farthest from agreeing, if any does not.
fn farthest<'a>(earlier: &Answer, later: &'a Answer, delta: f64) -> Option<Contradiction<'a>> {
    if [earlier, later].iter().any(|answer| answer.kind == AnswerKind::Invalid) {
        return None;
    }
    // Of each cell once: pairs of thousands are millions.
    let both = |regret: &'a Regret| {
        let then = earlier.bounds(earlier.regret_of(&regret.cell)?);
        Some((regret.cell.as_ref(), then, later.bounds(regret)))
    };
    let cells: Vec<(&str, Bounds, Bounds)> = later.regret.iter().filter_map(both).collect();
    let pairs = cells.iter().flat_map(|a| cells.iter().map(move |b| (a, b)));
    let one = |(a, b): (&(&'a str, Bounds, Bounds), &(&'a str, Bounds, Bounds))| {
        let (slower, than) = (a.0, b.0);
        let (then, now) = (a.1.over(b.1), a.2.over(b.2));
        // The slower of both is told of as such: the same pair the other way round says no more.
        let gap = |shown: Ratio, other: Ratio| {
            let (low, high) = (shown.0?, other.1?);
            (low > 1.0 + delta && low > high).then(|| (low / high).ln())
        };
        let gap = gap(then, now).or_else(|| gap(now, then)).filter(|_| slower != than)?;
        Some(Contradiction { slower, than, then, now, gap })
    };
    pairs.filter_map(one).max_by(|a, b| a.gap.total_cmp(&b.gap))
}

/// `1.81–2.72×`, `at most 1.22×`.
pub(crate) fn ratio(bounds: Ratio) -> String {
    match bounds {
        (Some(low), Some(high)) if low > 1.0 => {
            format!("{}–{}", ratio_digits(low), ratio_text(high))
        }
        (_, Some(high)) => format!("at most {}", ratio_text(high)),
        (Some(low), None) => format!("at least {}", ratio_text(low)),
        (None, None) => "an unknown time".to_owned(),
    }
}

/// One line on a run and a later one of its experiment that disagrees.
pub fn disagrees_text(then: &Document, later: &Document) -> Option<String> {
    let found = contradiction(then, later, ["here", "there"])?;
    Some(format!(
        "run {} of the same experiment ({}) disagrees with this one: {found}; what lasted as long as a \
         run is in neither interval",
        later.run.id,
        later.run.started.get(..10).unwrap_or(&later.run.started)
    ))
}
