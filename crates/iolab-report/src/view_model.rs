//! What a report says, before it is drawn: the answers with their cells, in words.
//! The terminal and Markdown draw the same view.

use super::explain::why;
use super::latency::{self, Latency, interval_text};
use super::metadata_table;
use super::rates;
use super::reference_cell::{against, reference_cell, shown, tells};
pub(super) use super::verdict_word::Mark;
use super::warning_summary::warning_summary;
use iolab_model::catalog::{
    Fact, Factor, Kind, Level, bytes_text, percent_text, rate_text, ratio_digits,
    ratio_interval_text, ratio_text, rough_time_text, so_many, time_text,
};
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, CellStatus, Comparison, CopyRoute, Document, Environment,
    Grade, Summary, Verdict,
};

/// A report in words. Text is raw: whoever draws it makes it safe for its medium.
#[derive(Debug)]
pub(super) struct View {
    pub(super) title: String,
    pub(super) sections: Vec<Section>,
    /// Code, summary and what was seen, each once.
    pub(super) warnings: Vec<(&'static str, String)>,
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
    pub(super) ratio: String,
    /// Where the ratio lies, with the guarantee of the answer.
    pub(super) bounds: String,
    /// Its time as a share of the slowest one's.
    pub(super) share: f64,
}

impl View {
    pub(super) fn of(doc: &Document) -> View {
        let mut taken = vec![false; doc.cells.len()];
        let several = doc.answers.len() > 1;
        let mut sections: Vec<Section> =
            doc.answers.iter().map(|a| answered(doc, a, several, &mut taken)).collect();
        let rest = doc.cells.iter().zip(&taken).filter(|(_, taken)| !**taken).map(|(c, _)| c);
        let rest: Vec<&CellRecord> = rest.collect();
        if !rest.is_empty() {
            sections.push(section(&rest, None, several.then(|| "Other cells".to_owned())));
        }
        let figures = sections.iter().any(|s| !s.rows.is_empty());
        View {
            title: doc.run.title.clone(),
            warnings: warning_summary(doc),
            notes: metadata_table::notes(doc),
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

fn answered(doc: &Document, answer: &Answer, several: bool, taken: &mut [bool]) -> Section {
    let mut cells = Vec::new();
    for (cell, taken) in doc.cells.iter().zip(taken) {
        // A cell lacks the levels that make no difference to it.
        let fits = |(f, l)| cell.factors.get(f).is_none_or(|own| own == l);
        let belongs = answer.condition.iter().all(fits);
        if belongs && !*taken {
            *taken = true;
            cells.push(cell);
        }
    }
    section(&cells, Some(answer), several.then(|| levels_text(answer.condition.iter())))
}

fn section(cells: &[&CellRecord], answer: Option<&Answer>, heading: Option<String>) -> Section {
    let with_bytes =
        |c: &&CellRecord| c.estimate.as_ref().is_some_and(|e| e.bytes_per_second.is_some());
    let per_pass = cells.iter().any(with_bytes);
    let slowest = cells.iter().filter_map(|c| time_of(c, per_pass)).map(|t| t.median);
    let slowest = slowest.fold(0.0, f64::max);
    let reference = answer.and_then(|a| reference(cells, a, per_pass));
    let row = |cell: &&CellRecord| {
        time_of(cell, per_pass).map(|time| row(cell, time, slowest, answer, reference))
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
        missing: cells.iter().filter_map(|c| missing(c)).collect(),
        confidence: answer.map(confidence),
    }
}

fn time_of(cell: &CellRecord, per_pass: bool) -> Option<&Summary> {
    let estimate = cell.estimate.as_ref()?;
    Some(if per_pass { &estimate.wall_ns } else { &estimate.ns_per_operation })
}

/// The cell that ratios are against: of the best ones that which is ahead of the others.
fn reference<'a>(cells: &[&'a CellRecord], answer: &Answer, per_pass: bool) -> Option<&'a str> {
    let timed = cells.iter().filter_map(|c| Some((*c, time_of(c, per_pass)?.median)));
    let timed: Vec<(&CellRecord, f64)> = timed.collect();
    let best: Vec<(&CellRecord, f64)> =
        timed.iter().filter(|(c, _)| answer.best.contains(&c.id)).copied().collect();
    let fastest = || timed.iter().min_by(|a, b| a.1.total_cmp(&b.1)).map(|(cell, _)| *cell);
    reference_cell(answer, &best).or_else(fastest).map(|cell| cell.id.as_str())
}

fn row(
    cell: &CellRecord,
    time: &Summary,
    slowest: f64,
    answer: Option<&Answer>,
    reference: Option<&str>,
) -> Row {
    let against = answer.zip(reference).and_then(|(a, best)| against(a, &cell.id, best));
    let speed = cell.estimate.as_ref().and_then(|e| e.bytes_per_second.as_ref());
    Row {
        id: cell.id.clone(),
        mark: answer.map_or(Mark::None, |a| mark(cell, a, against.as_ref())),
        time: time_text(time.median),
        interval: interval_text(time),
        speed: speed.map_or_else(String::new, |s| rate_text(s.median)),
        ratio: match &against {
            Some(c) => ratio_text(c.ratio),
            None if reference == Some(cell.id.as_str()) => ratio_text(1.0).replace(".000", ""),
            None => String::new(),
        },
        bounds: against.filter(|c| tells(cell, c)).as_ref().map_or_else(String::new, bounds_text),
        share: if slowest > 0.0 { time.median / slowest } else { 0.0 },
    }
}

fn mark(cell: &CellRecord, answer: &Answer, against: Option<&Comparison>) -> Mark {
    let best = answer.best.contains(&cell.id);
    match (answer.kind, best) {
        (AnswerKind::Invalid, _) => Mark::None,
        _ if cell.status == CellStatus::Eliminated => Mark::Eliminated,
        (AnswerKind::Winner, true) => Mark::Best,
        (AnswerKind::Tie, true) => Mark::Tied,
        (AnswerKind::Undecided, true) => Mark::Undecided,
        _ => match shown(cell, answer, against).map(|c| (c.verdict, c.clear)) {
            Some((Verdict::Slower, true)) => Mark::ClearlySlower,
            Some((Verdict::Slower, false)) => Mark::Slower,
            Some((Verdict::Equivalent, _)) => Mark::Tied,
            Some(_) => Mark::Undecided,
            None if cloned(cell) => Mark::Cloned,
            None => Mark::None,
        },
    }
}

fn cloned(cell: &CellRecord) -> bool {
    let proof = cell.samples.last().and_then(|s| s.measurement.proof.copy.as_ref());
    proof.is_some_and(|proof| proof.route == CopyRoute::Cloned)
}

fn missing(cell: &CellRecord) -> Option<(&'static str, String)> {
    let word = match cell.status {
        CellStatus::Skipped => "skipped",
        CellStatus::Failed => "failed",
        CellStatus::Eliminated => "left out",
        CellStatus::Measured if cell.estimate.is_none() => "no figures",
        CellStatus::Measured => return None,
    };
    let reason = cell.reason.clone().unwrap_or_else(|| match cell.samples.len() {
        0 => "not measured".to_owned(),
        n => format!("{n} trials, none of them summed up"),
    });
    Some((word, format!("{}: {reason}", cell.id)))
}

/// The interval of a ratio; a bound that is not known is a question mark.
fn bounds_text(comparison: &Comparison) -> String {
    let bound = |b: Option<f64>| b.map_or_else(|| "?".to_owned(), ratio_digits);
    match (comparison.low, comparison.high) {
        (None, None) => String::new(),
        (low, high) => format!("{}–{}", bound(low), bound(high)),
    }
}

/// Levels as people write them: `block 64 KiB, cache warm`.
pub(super) fn levels_text<'a>(levels: impl Iterator<Item = (Factor, &'a Level)>) -> String {
    let all: Vec<String> = levels.map(|(f, l)| format!("{f} {}", level_text(f, l))).collect();
    if all.is_empty() { "all cells".to_owned() } else { all.join(", ") }
}

pub(super) fn level_text(factor: Factor, level: &Level) -> String {
    match (factor.kind(), level) {
        (Kind::Bytes, Level::Number(bytes)) => bytes_text(*bytes),
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
    if let Some(raise) = &answer.raise {
        text.push_str(&format!(" What would raise it: {}.", raise.trim_end_matches('.')));
    }
    if let Some(ratio) = answer.detectable {
        text.push_str(&format!(" Differences from {} on would have shown.", ratio_text(ratio)));
    }
    if let Some(seconds) = answer.more_seconds {
        let time = rough_time_text(seconds * 1e9);
        text.push_str(&format!(" About {time} more may decide it."));
    }
    text
}

fn twin(doc: &Document) -> Option<String> {
    let twin = doc.twin.as_ref()?;
    let ratio = ratio_interval_text(twin.ratio?, twin.low, twin.high);
    Some(format!("The same cell measured twice ({}) came out at {ratio} of itself.", twin.cell))
}

fn legend(doc: &Document) -> String {
    let alpha = doc.experiment.protocol.alpha;
    let level = percent_text(1.0 - alpha);
    let ratios = match (doc.answers.is_empty(), doc.experiment.protocol.rounds) {
        (true, _) => "",
        (false, None) => {
            " ratio: time against the best, paired within rounds, so that it can differ from the \
             quotient of the medians; it lies where stated for all pairs of an answer at once, \
             whenever the run stopped."
        }
        (false, Some(_)) => {
            " ratio: time against the best, paired within rounds, so that it can differ from the \
             quotient of the medians; it lies where stated for all pairs of an answer at once, \
             for the rounds fixed beforehand."
        }
    };
    format!("time: median, with its {level} interval (fixed-n, not stop-adjusted).{ratios}")
}

fn environment(environment: &Environment) -> String {
    let text = |fact| environment.shown(fact);
    let place = match (text(Fact::MountFsType), text(Fact::DeviceName)) {
        (Some(fs), Some(device)) => Some(format!("{fs} on {device}")),
        (fs, _) => fs,
    };
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
    use iolab_model::result::{AnswerKind, CellStatus, Comparison, Document, Verdict};
    use iolab_test::fakes::{document, fake, levels};

    const NAMES: [&str; 4] = ["read", "pread", "mmap", "splice"];

    /// Four methods of which the first two are undecided, and what pairs say: the first cell over
    /// the second, and where that lies.
    fn undecided(pairs: &[(&str, &str, f64, f64, f64)]) -> Document {
        let cell = |name| fake(levels(&[(Factor::Method, Level::word(name))]), 1e8, 1 << 28);
        let mut run = document(3, "read", &[Factor::Method], 24, NAMES.map(cell).to_vec());
        let answer = &mut run.answers[0];
        (answer.kind, answer.best) = (AnswerKind::Undecided, vec!["read".into(), "pread".into()]);
        let pair = |(a, b, ratio, low, high): &(&str, &str, f64, f64, f64)| Comparison {
            a: (*a).into(),
            b: (*b).into(),
            ratio: *ratio,
            low: Some(*low),
            high: Some(*high),
            verdict: if *low > 1.0 { Verdict::Slower } else { Verdict::Undecided },
            clear: *low > 1.02,
            n: 24,
            ties: 0,
        };
        answer.comparisons = pairs.iter().map(pair).collect();
        run
    }

    fn row<'a>(view: &'a View, id: &str) -> &'a super::Row {
        view.sections[0].rows.iter().find(|row| row.id == id).unwrap()
    }

    /// A cell that was shown to be slower than one of the best, but not than the one that ratios
    /// are against, once read "undecided".
    #[test]
    fn a_cell_that_lost_to_any_other_is_slower() {
        let run = undecided(&[
            ("pread", "read", 1.1, 0.8, 1.5),
            ("mmap", "read", 1.2, 0.9, 1.6),
            ("mmap", "pread", 1.2, 1.1, 1.3),
            ("splice", "read", 1.1, 0.9, 1.4),
        ]);
        let view = View::of(&run);
        assert_eq!(row(&view, "mmap").mark, Mark::ClearlySlower);
        assert_eq!(row(&view, "splice").mark, Mark::Undecided);
        assert_eq!(row(&view, "pread").mark, Mark::Undecided);
    }

    /// "Proven slower" once stood beside "lies in 0.27–1.53": it had lost to another cell than the
    /// one that ratios are against.
    #[test]
    fn a_cell_that_was_left_out_shows_no_interval_that_denies_it() {
        let mut run = undecided(&[
            ("pread", "read", 1.1, 0.8, 1.5),
            ("mmap", "read", 0.6, 0.27, 1.53),
            ("splice", "read", 1.4, 1.2, 1.5),
        ]);
        for cell in &mut run.cells[2..] {
            cell.status = CellStatus::Eliminated;
        }
        let view = View::of(&run);
        assert_eq!(row(&view, "mmap").bounds, "");
        assert!(row(&view, "splice").bounds.starts_with("1.2"));
        assert!(row(&view, "pread").bounds.starts_with("0.8"));
    }

    /// The smallest median once made the reference, of which another of the best then took "0.70×".
    #[test]
    fn the_best_of_a_tie_is_who_leads_in_the_rounds_they_share() {
        for (ratio, leads) in [(0.7, "pread"), (1.3, "read")] {
            let view = View::of(&undecided(&[
                ("pread", "read", ratio, 0.5, 1.9),
                ("mmap", "pread", 0.5, 0.2, 1.9),
            ]));
            assert_eq!(row(&view, leads).ratio, "1×");
        }
    }
}
