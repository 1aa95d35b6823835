//! What a report says, before it is drawn: the answers with their cells, in words.
//! The terminal and Markdown draw the same view.

use super::explain::why;
use super::latency::{self, Latency, interval_text};
use super::rates;
use super::remarks;
pub(super) use super::verdict_word::Mark;
use super::warning_summary::warning_summary;
use iolab_model::catalog::{
    Code, Fact, Factor, Kind, Level, bytes_text, count_text, host_text, percent_text, phrase,
    rate_text, ratio_interval_text, ratio_text, so_many, time_text,
};
use iolab_model::result::{
    Answer, BY_MORE, CellRecord, CellStatus, Document, Environment, ExclusionReason, Grade,
    Summary, Twin,
};

/// A report in words. Text is raw: whoever draws it makes it safe for its medium.
#[derive(Debug)]
pub(super) struct View {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
    /// Code, summary and what was seen, each once.
    pub(super) warnings: Vec<(Code, String)>,
    /// What must be known before the answers are read.
    pub(super) before: Vec<String>,
    /// What was found beside the answers.
    pub(super) notes: Vec<String>,
    pub(super) twin: Option<String>,
    pub(super) legend: Option<String>,
    pub(super) timed: Option<String>,
    pub(super) environment: String,
    pub(super) protocol: String,
    pub(super) next: String,
}

/// One answer with its cells; without an answer the cells that belong to none.
#[derive(Debug)]
pub(super) struct Section {
    /// The condition, where there are several answers.
    pub(super) heading: Option<String>,
    pub(super) sentence: Option<String>,
    pub(super) rows: Vec<Row>,
    /// `per pass` or `per call`.
    pub(super) unit: &'static str,
    /// Cells without figures, and why.
    pub(super) missing: Vec<(&'static str, String)>,
    pub(super) confidence: Option<String>,
    pub(super) latency: Latency,
    /// Files a second and what several workers are worth.
    pub(super) rates: Latency,
    /// Why slow cells are slow, where it shows.
    pub(super) why: Vec<String>,
}

/// One cell with figures.
#[derive(Debug)]
pub(super) struct Row {
    pub(super) id: String,
    pub(super) mark: Mark,
    pub(super) time: String,
    pub(super) interval: String,
    pub(super) speed: String,
    /// Against the best of the answer, with its guarantee.
    pub(super) against: String,
    /// Its time as a share of the slowest one's.
    pub(super) share: f64,
}

impl View {
    pub(super) fn of(doc: &Document) -> View {
        let doc = &*doc.completed();
        let several = doc.answers.len() > 1;
        let heading = |answer: Option<&Answer>| match answer {
            _ if !several => None,
            Some(answer) => Some(varying_text(doc, answer)),
            None => Some("Other cells".to_owned()),
        };
        let delta = doc.experiment.protocol.delta;
        let sections: Vec<Section> = divided(doc)
            .into_iter()
            .map(|(answer, cells)| {
                let mut section = section(&cells, answer, delta, heading(answer));
                let worth = answer.and_then(|answer| remarks::worth(doc, answer));
                if let (Some(sentence), Some(more)) = (&mut section.sentence, worth) {
                    *sentence = format!("{sentence}; {more}");
                }
                section
            })
            .collect();
        let figures = sections.iter().any(|s| !s.rows.is_empty());
        View {
            title: doc.run.title.clone(),
            warnings: warning_summary(doc),
            before: remarks::before(doc),
            notes: remarks::notes(doc),
            twin: twin(doc),
            legend: figures.then(|| legend(doc)),
            timed: {
                let timed = latency::legend(&sections, doc.experiment.protocol.clock_cost_ns);
                let all: Vec<String> = timed.into_iter().chain(rates::legend(&sections)).collect();
                (!all.is_empty()).then(|| all.join(" "))
            },
            environment: environment(&doc.environment),
            protocol: protocol(doc),
            next: next(doc),
            sections,
        }
    }
}

/// Every answer with its cells, in their order; those that belong to none come last, where there
/// are any.
pub(super) fn divided(doc: &Document) -> Vec<(Option<&Answer>, Vec<&CellRecord>)> {
    let mut taken = vec![false; doc.cells.len()];
    let mut all = Vec::new();
    for answer in &doc.answers {
        let mut cells = Vec::new();
        for (cell, taken) in doc.cells.iter().zip(&mut taken) {
            // A cell lacks the levels that make no difference to it.
            let fits = |(f, l)| cell.factors.get(f).is_none_or(|own| own == l);
            if answer.condition.iter().all(fits) && !*taken {
                *taken = true;
                cells.push(cell);
            }
        }
        all.push((Some(answer), cells));
    }
    let rest = doc.cells.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(c, _)| c);
    let rest: Vec<&CellRecord> = rest.collect();
    all.extend((!rest.is_empty()).then_some((None, rest)));
    all
}

/// The levels of an answer that tell it from the others: `cache cold`.
pub(super) fn varying_text(doc: &Document, answer: &Answer) -> String {
    let differs = |(factor, level): &(Factor, &Level)| {
        doc.answers.iter().any(|other| other.condition.get(*factor) != Some(level))
    };
    let all: Vec<String> =
        answer.condition.iter().filter(differs).map(|(f, l)| phrase(f, l)).collect();
    if all.is_empty() { levels_text(answer.condition.iter()) } else { all.join(", ") }
}

fn section(
    cells: &[&CellRecord],
    answer: Option<&Answer>,
    delta: f64,
    heading: Option<String>,
) -> Section {
    let with_bytes =
        |c: &&CellRecord| c.estimate.as_ref().is_some_and(|e| e.bytes_per_second.is_some());
    let per_pass = cells.iter().any(with_bytes);
    let slowest = cells.iter().filter_map(|c| time_of(c, per_pass)).map(|t| t.median);
    let slowest = slowest.fold(0.0, f64::max);
    let fastest = || {
        let timed = cells.iter().filter_map(|c| Some((*c, time_of(c, per_pass)?.median)));
        timed.min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| cell.id.as_str())
    };
    let reference = answer.and_then(|answer| answer.leader().or_else(fastest));
    let row = |cell: &&CellRecord| {
        time_of(cell, per_pass).map(|time| row(cell, (time, per_pass), slowest, answer, delta))
    };
    let rows: Vec<Row> = cells.iter().filter_map(row).collect();
    Section {
        heading,
        sentence: answer.map(|a| a.sentence.clone()),
        why: why(cells, &rows, reference),
        latency: Latency::of(cells),
        rates: rates::of(cells),
        rows,
        unit: if per_pass { "per pass" } else { "per call" },
        missing: left_out(cells),
        confidence: answer.map(confidence),
    }
}

fn time_of(cell: &CellRecord, per_pass: bool) -> Option<&Summary> {
    let estimate = cell.estimate.as_ref()?;
    Some(if per_pass { &estimate.wall_ns } else { &estimate.ns_per_operation })
}

fn row(
    cell: &CellRecord,
    (time, per_pass): (&Summary, bool),
    slowest: f64,
    answer: Option<&Answer>,
    delta: f64,
) -> Row {
    let speed = cell.estimate.as_ref().and_then(|e| e.bytes_per_second.as_ref());
    let mark = answer.map_or(Mark::None, |answer| Mark::of(cell, answer, delta));
    Row {
        id: cell.id.clone(),
        mark,
        time: match per_pass && cell.is_extrapolated() {
            true => format!("≈ {}", time_text(time.median)),
            false => time_text(time.median),
        },
        interval: interval_text(time),
        speed: speed.map_or_else(String::new, |s| rate_text(s.median)),
        against: answer.map_or_else(String::new, |answer| mark.against_best(cell, answer)),
        share: if slowest > 0.0 { time.median / slowest } else { 0.0 },
    }
}

/// What became of a cell that has no figures, or not all of them, and why.
pub(super) fn missing(cell: &CellRecord) -> Option<(&'static str, String)> {
    let word = match cell.status {
        CellStatus::Skipped => "skipped",
        CellStatus::Failed => "failed",
        CellStatus::Eliminated => "left out",
        CellStatus::Measured if cell.estimate.is_none() => "no figures",
        CellStatus::Measured => return None,
    };
    let reason = cell.reason.clone().unwrap_or_else(|| match cell.samples.len() {
        0 => "not measured".to_owned(),
        n => format!("{}, but no steady round was finished", so_many(n, "trial")),
    });
    Some((word, reason))
}

/// Cells without figures, each with its reason; those that were left out once they were shown to be
/// slower in one line, for the table says by how much.
fn left_out(cells: &[&CellRecord]) -> Vec<(&'static str, String)> {
    let is_proven = |cell: &CellRecord| {
        let proven = cell.exclusion_reason() == Some(ExclusionReason::Proven);
        proven && cell.estimate.is_some()
    };
    let (slower, others): (Vec<&CellRecord>, Vec<&CellRecord>) =
        cells.iter().copied().partition(|cell| is_proven(cell));
    let named =
        |cell: &CellRecord| missing(cell).map(|(word, why)| (word, format!("{}: {why}", cell.id)));
    let mut all: Vec<(&'static str, String)> = others.into_iter().filter_map(named).collect();
    let rounds = slower.iter().filter_map(|cell| cell.samples.last()).map(|s| s.round + 1);
    if let (Some(first), Some(last)) = (rounds.clone().min(), rounds.max()) {
        let when = match first == last {
            true => format!("round {first}"),
            false => format!("rounds {first} to {last}"),
        };
        let cells = so_many(slower.len(), "cell");
        all.push(("left out", format!("{cells} once shown to be slower, after {when}")));
    }
    all
}

/// Levels as people write them: `block 64 KiB, cache warm`.
pub(super) fn levels_text<'a>(levels: impl Iterator<Item = (Factor, &'a Level)>) -> String {
    let all: Vec<String> = levels.map(|(f, l)| format!("{f} {}", level_text(f, l))).collect();
    if all.is_empty() { "all cells".to_owned() } else { all.join(", ") }
}

pub(super) fn level_text(factor: Factor, level: &Level) -> String {
    match (factor.kind(), level) {
        (Kind::Bytes, Level::Number(bytes)) => bytes_text(*bytes),
        (Kind::Count, Level::Number(count)) => count_text(*count),
        _ => level.to_string(),
    }
}

/// The grade in words.
pub(super) fn grade_text(grade: Grade) -> &'static str {
    match grade {
        Grade::A => "good (A)",
        Grade::B => "fair (B)",
        Grade::C => "rough (C)",
        Grade::Invalid => "none: the measurement is not sound, so no winner is named",
    }
}

fn confidence(answer: &Answer) -> String {
    let mut text =
        format!("Confidence after {} rounds: {}.", answer.rounds, grade_text(answer.grade));
    if let Some(raise) = raise(answer) {
        text.push_str(&format!(" What would raise it: {raise}."));
    }
    if let Some(ratio) = answer.detectable {
        text.push_str(&format!(" Differences from {} on would have shown.", ratio_text(ratio)));
    }
    text
}

/// What would raise a grade. Where the sentence says how much more time settles it, no number of rounds
/// stands beside that.
pub(super) fn raise(answer: &Answer) -> Option<&str> {
    let raise = answer.raise.as_deref()?.trim_end_matches('.');
    let told = answer.more_seconds.is_some() && raise.ends_with(BY_MORE);
    (!told).then_some(raise)
}

fn twin(doc: &Document) -> Option<String> {
    let twin = doc.twin.as_ref()?;
    let ratio = ratio_interval_text(twin.ratio?, twin.low, twin.high);
    let who = match twin.cell == Twin::ANY {
        true => "A cell drawn at random each round and measured twice".to_owned(),
        false => format!("The same cell measured twice ({})", twin.cell),
    };
    Some(format!("{who} came out at {ratio} of itself."))
}

fn legend(doc: &Document) -> String {
    let alpha = doc.experiment.protocol.alpha;
    let level = percent_text(1.0 - alpha);
    let against = match doc.answers.is_empty() {
        true => String::new(),
        false => format!(
            " Against the best, whoever that is: for all cells at once and whenever the run \
             stopped, with {level}."
        ),
    };
    format!("time: median, with its {level} interval (fixed-n, not stop-adjusted).{against}")
}

/// What the directory lies on: `ext4 on nvme0n1`, of another machine with its name.
pub(super) fn ground(environment: &Environment) -> Option<String> {
    let hosts = environment.hosts();
    if hosts.is_empty() {
        return ground_of(environment, environment.text(Fact::RunHost));
    }
    let of = |host: &&str| ground_of(&environment.of_host(host), Some(host_text(host)));
    Some(hosts.iter().filter_map(of).collect::<Vec<_>>().join(" · "))
}

fn ground_of(environment: &Environment, host: Option<&str>) -> Option<String> {
    let text = |fact| environment.shown(fact);
    let place = match (text(Fact::MountFsType)?, text(Fact::DeviceName)) {
        (fs, Some(device)) => format!("{fs} on {device}"),
        (fs, None) => fs,
    };
    Some(match host {
        Some(host) => format!("{place} of {host}"),
        None => place,
    })
}

fn environment(environment: &Environment) -> String {
    let text = |fact| environment.shown(fact);
    let place = ground(environment);
    let memory = environment.number(Fact::MemoryTotalBytes);
    // To the whole GiB from 4 on: the kernel keeps a part of what was bought.
    let memory = memory.map(|bytes| match bytes >> 30 {
        0..4 => bytes_text(bytes >> 20 << 20),
        _ => format!("{} GiB", (bytes as f64 / f64::from(1 << 30)).round()),
    });
    let processors = text(Fact::CpuCount).map(|n| match n.as_str() {
        "1" => "1 processor".to_owned(),
        _ => format!("{n} processors"),
    });
    let parts = [
        place,
        text(Fact::KernelRelease).map(|r| format!("Linux {r}")),
        processors,
        memory,
        text(Fact::Libc),
        text(Fact::IolabVersion).map(|v| format!("iolab {v}")),
    ];
    parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
}

fn protocol(doc: &Document) -> String {
    let protocol = &doc.experiment.protocol;
    let trials: usize = doc.cells.iter().map(|c| c.samples.len()).sum();
    let mut parts = vec![
        doc.run.started.clone(),
        so_many(protocol.steady_rounds as usize, "steady round"),
        so_many(trials, "trial"),
        format!("seed {}", doc.run.seed),
    ];
    if protocol.clock_cost_ns > 0.0 {
        parts.push(format!("a pair of clock reads {}", time_text(protocol.clock_cost_ns)));
    }
    if !protocol.stopped.is_empty() {
        parts.push(format!("stopped: {}", protocol.stopped));
    }
    parts.retain(|p| !p.is_empty());
    parts.join(" · ")
}

/// What to do next; nothing can be done with a run that is in no history.
fn next(doc: &Document) -> String {
    let id = doc.run.id;
    match (id, doc.run.complete) {
        (0, true) => String::new(),
        (0, false) => "Partial run.".to_owned(),
        (_, true) => format!("Run {id} · iolab show {id} · iolab export {id} json=run.json"),
        (_, false) => format!("Run {id} is partial · iolab run --resume {id} goes on with it"),
    }
}

#[cfg(test)]
mod tests {
    use super::{Mark, View};
    use iolab_model::catalog::{Factor, Level};
    use iolab_model::result::{AnswerKind, CellStatus, Document, Regret};
    use iolab_test::fakes::{document, fake, levels};

    const NAMES: [&str; 4] = ["read", "pread", "mmap", "splice"];

    /// Four methods, which of them may be the best, and what is said of the others.
    fn said(kind: AnswerKind, best: &[&str], regrets: &[(&str, f64, Option<f64>)]) -> Document {
        let cell = |name| fake(levels(&[(Factor::Method, Level::word(name))]), 1e8, 1 << 28);
        let mut run = document(3, "read", &[Factor::Method], 24, NAMES.map(cell).to_vec());
        let answer = &mut run.answers[0];
        answer.kind = kind;
        answer.best = best.iter().map(|id| (*id).to_owned()).collect();
        let regret = |(cell, low, high): &(&str, f64, Option<f64>)| Regret {
            cell: (*cell).into(),
            low: *low,
            high: *high,
            excluded: !best.contains(cell),
        };
        answer.regret = regrets.iter().map(regret).collect();
        run
    }

    fn row<'a>(view: &'a View, id: &str) -> &'a super::Row {
        view.sections[0].rows.iter().find(|row| row.id == id).unwrap()
    }

    #[test]
    fn a_row_says_what_the_answer_shows_of_its_cell_and_no_more() {
        let mut run = said(
            AnswerKind::Undecided,
            &["read", "pread"],
            &[
                ("read", 1.0, Some(1.014)),
                ("pread", 1.0, Some(1.09)),
                ("mmap", 1.9, Some(1.98)),
                ("splice", 1.0, Some(1.5)),
            ],
        );
        let view = View::of(&run);
        let of = |id: &str| (row(&view, id).mark, row(&view, id).against.clone());
        assert_eq!(of("read"), (Mark::Open, "may be best, at most 1.4 % slower".to_owned()));
        assert_eq!(of("mmap"), (Mark::ClearlySlower, "90–98 % slower".to_owned()));
        assert_eq!(of("splice"), (Mark::Slower, "at most 50 % slower".to_owned()));
        // Left out without proof: nothing is said of it, whatever its median.
        run.answers[0].regret.retain(|regret| *regret.cell != *"splice");
        run.cells[3].status = CellStatus::Eliminated;
        let view = View::of(&run);
        assert_eq!(row(&view, "splice").against, "not compared");
        run.answers[0].kind = AnswerKind::Invalid;
        assert!(View::of(&run).sections[0].rows.iter().all(|row| row.against.is_empty()));
    }

    #[test]
    fn one_is_best_and_the_others_are_held_against_it() {
        let run = said(
            AnswerKind::Winner,
            &["pread"],
            &[("pread", 1.0, Some(1.0)), ("read", 1.03, Some(1.09)), ("mmap", 1.001, Some(1.01))],
        );
        let view = View::of(&run);
        assert_eq!(row(&view, "pread").against, "best");
        assert_eq!(row(&view, "read").against, "3–9 % slower");
        assert_eq!(row(&view, "mmap").mark, Mark::Slower);
    }
}
