//! What an answer says to a person.

use super::answer_rules::rules_of;
use super::budget::units_to_bound;
use super::name::{CellName, are_calls, names_of};
use super::{Outcome, Stopped};
use iolab_model::catalog::{
    Code, ColumnUnit, Factor, SlowerForm, WorkloadId, capital_text, list_text, percent_text,
    phrase, rough_time_text, so_many,
};
use iolab_model::plan::{Condition, Plan};
use iolab_model::result::{AnswerKind, Estimate, Finding, FindingKind, MoreTime, Phase};
use iolab_stats::Judgement;
use iolab_stats::claims::{Claims, Verdict};

/// More names than this are not listed.
const LISTED: usize = 4;
/// What no command is named for is told up to a day, whoever waits for it.
const LONGEST_S: f64 = 86_400.0;

/// All that a sentence is made from.
pub(super) struct AnswerParts<'a> {
    pub(super) plan: &'a Plan,
    pub(super) outcome: &'a Outcome,
    pub(super) condition: &'a Condition,
    pub(super) judgement: &'a Judgement,
    pub(super) estimates: &'a [Option<Estimate>],
    /// Along the ordered factors.
    pub(super) findings: &'a [Finding],
    pub(super) more_seconds: Option<f64>,
    /// Of the column that stands above.
    pub(super) form: SlowerForm,
    /// Whether these are the least that an answer takes, and no forecast of when there is one.
    pub(super) is_least: bool,
}

/// The sentence of one answer.
pub(super) fn answer_text(told: &AnswerParts<'_>) -> String {
    let names = names_of(told.plan, told.condition);
    if told.judgement.kind() == AnswerKind::Invalid {
        return invalid(told);
    }
    if told.condition.cells.len() == 1 {
        return alone(told, &names[0]);
    }
    let claims = &told.judgement.claims;
    let main = match claims.verdict {
        Verdict::Winner { cell, .. } => {
            let calls = are_calls(told.plan, told.condition);
            winner(claims, &names, cell, (if calls { "cheapest" } else { "fastest" }, told.form))
        }
        Verdict::Alone => match claims.best.first() {
            Some(cell) => {
                let name = &names[*cell];
                let all = names.len();
                let has = name.verb("has", "have");
                format!("of {all} only {name} {has} figures: nothing to compare it with")
            }
            None => return nothing(told),
        },
        Verdict::Tie => tie(claims, &names),
        Verdict::Several | Verdict::Unsound(_) => return several(told, &names),
    };
    match along_text(told) {
        Some(found) => format!("{main}. {}", capital_text(&found)),
        None => main,
    }
}

/// What is found along the first ordered factor, where that is news: not that the winner is the least
/// level that is as good as itself.
fn along_text(told: &AnswerParts<'_>) -> Option<String> {
    let claims = &told.judgement.claims;
    let found = told.findings.first()?;
    let winner = match claims.verdict {
        Verdict::Winner { cell, .. } => Some(&told.plan.cells[told.condition.cells[cell]].id),
        _ => None,
    };
    let is_winner = winner.is_some_and(|id| *id == *found.cell);
    let scales = found.fewest.is_some() && claims.compared().len() > 2;
    // "1 thread takes 1.018–1.12× as long" stood below "pread 1 thread, 4.12–6.23× as long".
    let way = series_text(told, found).filter(|_| found.kind == FindingKind::Scaling);
    let said = || match &way {
        Some(way) => format!("with {way}, {}", found.sentence),
        None => found.sentence.clone(),
    };
    (!is_winner || scales).then(said)
}

/// What the series of a finding has in common, where others do otherwise.
fn series_text(told: &AnswerParts<'_>, found: &Finding) -> Option<String> {
    let cells = || told.condition.cells.iter().map(|cell| &told.plan.cells[*cell]);
    let own = cells().find(|cell| *cell.id == *found.cell)?;
    let differs = |factor: &&Factor| {
        let level = own.levels.get(**factor);
        factor.name() != found.factor && cells().any(|cell| cell.levels.get(**factor) != level)
    };
    let ways = told.plan.ask.iter().filter(differs);
    let ways: Vec<String> =
        ways.filter_map(|factor| Some(phrase(*factor, own.levels.get(*factor)?))).collect();
    (!ways.is_empty()).then(|| ways.join(" and "))
}

fn invalid(told: &AnswerParts<'_>) -> String {
    let Some(worst) = told.judgement.findings.first() else {
        return "the measurement is not sound".to_owned();
    };
    format!("the measurement is not sound: {} ({})", worst.code.summary(), worst.detail)
}

/// "the best", "the best of nine", "the best of those compared".
fn the_best(claims: &Claims) -> String {
    const WORDS: [&str; 13] = [
        "", "", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "eleven",
        "twelve",
    ];
    let k = claims.compared().len();
    let number = WORDS.get(k).map_or_else(|| k.to_string(), |word| (*word).to_owned());
    match claims.of_those_compared() {
        true => format!("the best of the {number} compared"),
        false => format!("the best of {number}"),
    }
}

fn slower(claims: &Claims, cell: usize, form: SlowerForm) -> String {
    let claim = &claims.cells[cell];
    let high = Some(claim.high.exp()).filter(|high| high.is_finite());
    form.text(claim.low.exp(), high)
}

/// Of all beside the winner the one that may be nearest to it: no other is nearer than its interval
/// says. The one that can cost least was named once, while a faster one stood two rows below it.
fn nearest(claims: &Claims, best: usize) -> Option<usize> {
    let others = claims.compared().into_iter().filter(|cell| *cell != best);
    let key = |cell: &usize| (claims.cells[*cell].low.max(0.0), claims.cells[*cell].high);
    others.min_by(|a, b| {
        let (a, b) = (key(a), key(b));
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1))
    })
}

/// Who is fastest, or cheapest (`first`), and by how much over the next.
fn winner(
    claims: &Claims,
    names: &[CellName],
    best: usize,
    (first, form): (&str, SlowerForm),
) -> String {
    let verb = names[best].verb("is", "are");
    let of = match claims.of_those_compared() {
        true => " of those compared",
        false => "",
    };
    let Some(next) = nearest(claims, best) else {
        return format!("{} {verb} the only one left", names[best]);
    };
    if !(claims.cells[next].low > 0.0 || claims.cells[next].high.is_finite()) {
        let others = match claims.compared().len() {
            2 => format!("{} {}", names[next], names[next].verb("is", "are")),
            _ => "the others are".to_owned(),
        };
        return format!("{} {verb} {first}{of}: {others} slower, by how much is open", names[best]);
    }
    let (low, high) = (claims.cells[next].low, claims.cells[next].high);
    let is_little = |end: f64| end <= claims.delta.ln_1p();
    // By both ends of the interval: "by little: 1.006–1.45× as long" was no little.
    let little = match low > 0.0 && is_little(low) {
        true if is_little(high) => ", if by little",
        true => ", perhaps by little",
        false => "",
    };
    let name = match claims.compared().len() {
        2 => names[next].text.clone(),
        _ => format!("the next, {},", names[next]),
    };
    let how = match claims.cells[next].low > 0.0 {
        true => slower(claims, next, form),
        // Excluded, with no lower bound: how much it is at most may be known.
        false => match claims.cells[next].high {
            high if high > 0.0 => form.text(1.0, Some(high.exp())),
            _ => "slower, by how much is open".to_owned(),
        },
    };
    let verbs = if how.ends_with("as long") { ["takes", "take"] } else { ["is", "are"] };
    // "The next" is one, whatever it is called.
    let takes = match claims.compared().len() {
        2 => names[next].verb(verbs[0], verbs[1]),
        _ => verbs[0],
    };
    format!("{} {verb} {first}{of}{little}: {name} {takes} {how}", names[best])
}

fn tie(claims: &Claims, names: &[CellName]) -> String {
    let widest = claims.best.iter().map(|cell| claims.cells[*cell].high).fold(0.0, f64::max);
    let others = claims.compared().len() - claims.best.len();
    let rest = match others {
        0 => String::new(),
        1 => "; the other is slower".to_owned(),
        n => format!("; the other {n} are slower"),
    };
    let listed = listed(&claims.best, names);
    let within = percent_text(widest.exp_m1());
    let taken = claims.pick.map_or(String::new(), |pick| format!(". Take {}", names[pick.cell]));
    format!("no difference shown among {listed}: within {within}{rest}{taken}")
}

/// What the answer is, and what it would be without outliers.
pub(super) fn without_text(
    (outliers, most): (usize, &str),
    (claims, rest): (&Claims, &Claims),
    names: &[CellName],
) -> String {
    let outliers = so_many(outliers, "outlier");
    let said = |claims: &Claims| match (&claims.verdict, &claims.best[..]) {
        (Verdict::Winner { cell, .. }, _) => format!("{} would be {most}", names[*cell]),
        (Verdict::Tie, best) => format!("{} would be as good", listed(best, names)),
        (_, best) => format!("any of {} could be best", listed(best, names)),
    };
    let now = match (&claims.verdict, &claims.best[..]) {
        (Verdict::Winner { cell, .. }, _) => {
            format!("{} {}", names[*cell], names[*cell].verb("is", "are"))
        }
        (Verdict::Tie, best) => format!("{} are as good", listed(best, names)),
        (_, best) => format!("any of {} may be best", listed(best, names)),
    };
    format!("without {outliers} {}, with all trials {now}", said(rest))
}

/// Several may be the best: what to take, and what that can cost.
fn several(told: &AnswerParts<'_>, names: &[CellName]) -> String {
    let claims = &told.judgement.claims;
    let more = more_text(told);
    let Some(pick) = claims.pick else { return too_few(told, names, &more) };
    let which = match claims.best.len() {
        n if n == names.len() && n > 2 => "Which is best is open".to_owned(),
        // Names of some of them alone would take the room of the reason.
        n if n > LISTED => format!("Which of {n} is best is open"),
        _ => format!("Which of {} is best is open", listed(&claims.best, names)),
    };
    let name = &names[pick.cell];
    let high = Some(pick.at_most.exp());
    let bound = told.form.text(1.0, high);
    let best = the_best(claims);
    // "1 thread takes at most 2.11× as long" stood alone as an advice, where 2 or 4 were best.
    let is_out = !claims.best.is_empty() && !claims.best.contains(&pick.cell);
    let but = match is_out {
        true => format!(", which {} not", name.verb("it is", "they are")),
        false => String::new(),
    };
    match bound.ends_with("as long") {
        true => {
            format!("{name} {} {bound} as {best}{but}. {which}{more}", name.verb("takes", "take"))
        }
        false => format!("{name}: {bound} than {best}{but}. {which}{more}"),
    }
}

/// What settles it, in the figure of the command that does; where no time that anybody waits for would,
/// that.
fn more_text(told: &AnswerParts<'_>) -> String {
    let Some(seconds) = told.more_seconds else {
        // As long again may show it.
        let open = told.judgement.claims.pick.is_some_and(|pick| !pick.within);
        return if open { "; what settles it is not in sight yet" } else { "" }.to_owned();
    };
    match (MoreTime::of(seconds), told.is_least) {
        (Some(more), true) => format!("; an answer takes at least {} more", more.text()),
        (Some(more), false) => format!("; about {} more should settle it", more.text()),
        (None, is_least) if seconds <= LONGEST_S => {
            let rough = rough_time_text(seconds * 1e9);
            match is_least {
                true => format!("; an answer takes at least about {rough} more"),
                false => format!("; it takes about {rough} more to settle it"),
            }
        }
        (None, _) => "; it takes more than a day to settle it".to_owned(),
    }
}

/// Which of the best it is is open; the rest is slower. Nothing of them is bounded yet.
fn open_among(told: &AnswerParts<'_>, names: &[CellName], more: &str) -> String {
    let claims = &told.judgement.claims;
    let (listed, rounds) = (listed(&claims.best, names), so_many(claims.rounds, "steady round"));
    let bound = bound_text(told);
    format!("which of {listed} is best is open after {rounds}{bound}; the rest is slower{more}")
}

/// What is missing to the first bound. Rounds that are alike, or not shared by all, count for less.
fn bound_text(told: &AnswerParts<'_>) -> String {
    let plan = told.plan;
    let index = plan.conditions.iter().position(|c| std::ptr::eq(c, told.condition)).unwrap_or(0);
    let rules = rules_of(plan, index, told.outcome.calibration.epoch_rounds);
    let units = units_to_bound(rules.alpha, told.condition.cells.len()) as usize;
    match units * rules.unit_rounds {
        rounds if told.judgement.claims.rounds < rounds => {
            format!(", where a bound takes {rounds}")
        }
        _ => ", with no bound yet".to_owned(),
    }
}

/// So few rounds that nothing is bounded.
fn too_few(told: &AnswerParts<'_>, names: &[CellName], more: &str) -> String {
    let n = told.judgement.claims.rounds;
    let unmeasured = n == 0 || told.judgement.claims.compared().is_empty();
    let short = told.outcome.calibration.needed_ns.is_some();
    if unmeasured && (more.is_empty() || !short) {
        return nothing(told);
    }
    let interrupted = match told.outcome.stopped {
        Stopped::Interrupted => ", where it was interrupted",
        _ => "",
    };
    let rounds = so_many(n, "steady round");
    let best = &told.judgement.claims.best;
    // Nobody of the best is bounded yet, but others are shown to be slower.
    if best.len() < told.judgement.claims.compared().len() && interrupted.is_empty() {
        return open_among(told, names, more);
    }
    let bound = bound_text(told);
    format!("no answer after {rounds}{interrupted}: too few{bound}{more}")
}

fn nothing(told: &AnswerParts<'_>) -> String {
    let mut cells = told.condition.cells.iter().map(|c| &told.outcome.cells[*c]);
    if let Some(left) = cells.clone().find_map(|cell| cell.left.as_ref()) {
        return format!("nothing was measured: {}", left.reason);
    }
    let unequal = |code| told.judgement.claims.rounds > 0 && flagged(told, code);
    if unequal(Code::UnequalWork) && unequal(Code::Bounded) {
        return "no verdict: the cells did parts of different lengths, which do not compare; take a \
                longer --budget, fewer levels or a smaller file"
            .to_owned();
    }
    match cells.any(|cell| !cell.samples.is_empty()) {
        true => {
            format!("no verdict: {} before the first steady round", told.outcome.stopped.text())
        }
        false => "nothing was measured".to_owned(),
    }
}

/// Whether a steady trial of any cell bears this flag.
fn flagged(told: &AnswerParts<'_>, code: Code) -> bool {
    let samples = told.condition.cells.iter().flat_map(|c| &told.outcome.cells[*c].samples);
    let mut steady = samples.filter(|sample| sample.phase == Phase::Steady);
    steady.any(|sample| sample.measurement.flags.contains(&code))
}

/// A single cell has no rival: its own figure is the answer.
fn alone(told: &AnswerParts<'_>, name: &CellName) -> String {
    let Some(estimate) = &told.estimates[told.condition.cells[0]] else { return nothing(told) };
    // A copy is one call or many: what one of them takes is no figure of it.
    let waits = told.plan.cells[told.condition.cells[0]].syncs_each_operation()
        && told.plan.workload != WorkloadId::Copy.word();
    // In the unit of the column that stands above, which has these figures of all cells.
    let all = || told.estimates.iter().flatten();
    let each = &estimate.ns_per_operation;
    let time = || {
        let column: Vec<f64> = all().map(|estimate| estimate.ns_per_operation.median).collect();
        ColumnUnit::of_times(&column).text(each.median)
    };
    let speed = |speed: f64| {
        let speeds = all().filter_map(|estimate| estimate.bytes_per_second.as_ref());
        let column: Vec<f64> = speeds.map(|speed| speed.median).collect();
        ColumnUnit::of_rates(&column).text(speed)
    };
    let (figure, summary) = match &estimate.bytes_per_second {
        // What a durable write costs is asked for, not how many bytes a second that makes.
        Some(_) if waits => (format!("{} a write", time()), each),
        Some(rate) => (speed(rate.median), rate),
        None => (time(), each),
    };
    let share = match (summary.low, summary.high) {
        (Some(low), Some(high)) if summary.median > 0.0 => {
            format!(" ±{}", percent_text((high - low) / 2.0 / summary.median))
        }
        _ => String::new(),
    };
    let rounds = so_many(summary.n as usize, "round");
    // Of several such answers the first says it for all.
    let conditions = &told.plan.conditions;
    let first = conditions.iter().find(|condition| condition.cells.len() == 1);
    let why = match first.is_some_and(|first| first.levels == told.condition.levels) {
        true => "; nothing to compare it with",
        false => "",
    };
    format!("{name}: {figure}{share} over {rounds}{why}")
}

fn listed(cells: &[usize], names: &[CellName]) -> String {
    let mut words: Vec<&str> = cells.iter().take(LISTED).map(|c| names[*c].as_ref()).collect();
    let more = cells.len().saturating_sub(LISTED);
    let rest = format!("{more} more");
    if more > 0 {
        words.push(&rest);
    }
    list_text(&words)
}

#[cfg(test)]
mod tests {
    use super::{CellName, SlowerForm, winner, without_text};
    use iolab_stats::claims::{Facts, Rules, Trial, Watch};

    fn named(names: [&str; 2], plural: bool) -> Vec<CellName> {
        names.map(|text| CellName { text: text.to_owned(), plural }).to_vec()
    }

    /// What is said where the second of two takes so many times as long as the first.
    fn said(ratio: f64, rounds: usize) -> String {
        said_with(ratio, rounds, 0.001)
    }

    fn said_with(ratio: f64, rounds: usize, noise: f64) -> String {
        let mut watch = Watch::new(2, 0.05, 1);
        for round in 0..rounds {
            let noise = noise * (round * 7 % 5) as f64;
            watch.push(&[Trial::Took(0.0), Trial::Took(ratio.ln() + noise)], true);
        }
        let claims = watch.claims(&Rules::default(), &Facts::default());
        let names = named(["read", "mmap"], false);
        winner(&claims, &names, 0, ("fastest", SlowerForm::of([ratio])))
    }

    #[test]
    fn a_winner_says_how_much_longer_the_next_takes_and_no_more() {
        assert_eq!(said(11.4, 30), "read is fastest: mmap takes 11.4× as long");
        let little = said(1.015, 30);
        assert!(little.starts_with("read is fastest, if by little: mmap is 1.6"), "{little}");
        // The least of it is little, the most is not.
        let wide = said_with(1.005, 30, 0.012);
        assert!(wide.starts_with("read is fastest, perhaps by little: mmap is "), "{wide}");
        // Excluded, but too few rounds for a bound of how much at least.
        assert!(said(3.0, 8).ends_with("mmap takes at most 3.01× as long"), "{}", said(3.0, 8));
    }

    /// "The answer changes without the outliers", and nobody knew which answer, nor to what.
    #[test]
    fn what_outliers_change_is_said_with_names() {
        let claims = |ratio: f64, rounds: usize| {
            let mut watch = Watch::new(2, 0.05, 1);
            for round in 0..rounds {
                let noise = 0.05 * (round * 7 % 5) as f64 - 0.1;
                watch.push(&[Trial::Took(0.0), Trial::Took(ratio.ln() + noise)], true);
            }
            watch.claims(&Rules::default(), &Facts::default())
        };
        let names = named(["read", "mmap"], false);
        let said = without_text((3, "fastest"), (&claims(1.0, 40), &claims(1.5, 40)), &names);
        let there = "without 3 outliers read would be fastest, with all trials any of read and mmap \
                     may be best";
        assert_eq!(said, there);
        let files = named(["new files", "preallocated files"], true);
        let said = without_text((1, "fastest"), (&claims(1.5, 40), &claims(1.0, 40)), &files);
        assert!(
            said.starts_with("without 1 outlier any of ") && said.ends_with(" new files are"),
            "{said}"
        );
    }

    /// "4 threads are fastest: 2 threads takes 3× as long".
    #[test]
    fn what_is_several_takes_a_verb_for_several() {
        let mut watch = Watch::new(2, 0.05, 1);
        for round in 0..30 {
            let noise = 0.001 * f64::from(round * 7 % 5);
            watch.push(&[Trial::Took(0.0), Trial::Took(3f64.ln() + noise)], true);
        }
        let claims = watch.claims(&Rules::default(), &Facts::default());
        let names = named(["4 threads", "2 threads"], true);
        let said = winner(&claims, &names, 0, ("fastest", SlowerForm::Factor));
        assert!(said.starts_with("4 threads are fastest: 2 threads take 3"), "{said}");
    }
}
