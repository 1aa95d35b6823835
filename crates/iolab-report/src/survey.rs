//! The one screen of `iolab quick`: what several runs say together, in at most 24 lines.

mod fitted;
mod mapping;
mod pick;
mod written;

use fitted::{Line, fitted};
use pick::{Pick, is_advised};

pub use iolab_model::result::Topic;

use std::borrow::Cow;

use crate::style::TextStyle;
use iolab_model::catalog::{
    CacheState, Factor, NamedCall, Severity, bytes_text, count_text, rate_text, so_many, time_text,
};
use iolab_model::result::{
    Answer, AnswerKind, CellRecord, Document, Finding as FoundAlong, FindingKind, Grade, Warning,
};

/// What stands where not one round came to its end: a line that is missing would not be missed.
const NOTHING: &str = "nothing could be measured";

/// A terminal of 24 lines has one more for the prompt.
const LINES: usize = 23;

/// One labelled paragraph of the screen and what follows from it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Finding {
    label: &'static str,
    lines: Vec<Line>,
    advice: Option<String>,
    /// Whether what is advised rests on an answer that is rough.
    rough: bool,
}

impl Finding {
    fn of(label: &'static str) -> Finding {
        Finding { label, ..Finding::default() }
    }

    /// What is said instead of an answer.
    fn say(&mut self, text: impl Into<String>) {
        self.lines.push(Line::of(text));
    }

    fn advise(&mut self, advice: String, answer: &Answer) {
        self.rough |= answer.grade >= Grade::C;
        self.advice = Some(match self.advice.take() {
            Some(before) => format!("{before}, {advice}"),
            None => advice,
        });
    }
}

/// The whole screen. `heading` is the first line, `next` the last.
pub fn screen(heading: &str, runs: &[(Topic, Document)], next: &str, look: &TextStyle) -> String {
    let runs: Vec<(Topic, Cow<'_, Document>)> =
        runs.iter().map(|(topic, run)| (*topic, run.completed())).collect();
    let runs = &runs[..];
    let of = |topic| runs.iter().find(|(t, _)| *t == topic).map(|(_, d)| &**d);
    let findings = [
        reading(of(Topic::Warm), of(Topic::Cold)),
        of(Topic::Mapping).map(mapping::mapping).unwrap_or_default(),
        written::writing(of(Topic::Durable), of(Topic::Synced)),
        of(Topic::Copying).map(written::copying).unwrap_or_default(),
        of(Topic::Small).map(small).unwrap_or_default(),
        of(Topic::Calls).map(|run| calls("Calls", run)).unwrap_or_default(),
        of(Topic::Metadata).map(|run| calls("Metadata", run)).unwrap_or_default(),
    ];
    let mut end = String::from("\n");
    end += &recommendation(&findings, look).unwrap_or_default();
    end += &look.clip("", &look.text(&confidence(runs)), 2);
    end += &look.clip("", &look.text(next), 1);
    let start = look.clip("", &look.text(heading), 2) + "\n";
    let room = LINES.saturating_sub(start.lines().count() + end.lines().count());
    let lines = findings.iter().flat_map(|finding| {
        let labels = std::iter::once(finding.label).chain(std::iter::repeat(""));
        labels.zip(&finding.lines)
    });
    start + &fitted(look, &lines.collect::<Vec<_>>(), room) + &end
}

/// One sentence out of the findings' clauses, as sure of itself as they are, in three lines: a clause
/// that finds no room goes whole.
fn recommendation(findings: &[Finding], look: &TextStyle) -> Option<String> {
    const ROWS: usize = 3;
    let mut advice: Vec<&str> = findings.iter().filter_map(|f| f.advice.as_deref()).collect();
    let rough = findings.iter().any(|finding| finding.rough);
    loop {
        let (last, rest) = advice.split_last()?;
        let list = match rest {
            [] => (*last).to_owned(),
            rest => format!("{} and {last}", rest.join(", ")),
        };
        let said = match rough {
            true => format!("As far as so short a look shows, use {list}."),
            false => format!("Use {list}."),
        };
        let text = look.wrap("", &look.text(&said));
        if text.lines().count() <= ROWS || rest.is_empty() {
            return Some(text);
        }
        advice.pop();
    }
}

/// Block sizes, warm and cold side by side.
fn reading(warm: Option<&Document>, cold: Option<&Document>) -> Finding {
    let mut finding = Finding::of("Reading");
    let (mut advised, mut seen) = (Vec::new(), 0);
    for (state, document) in [(CacheState::Warm, warm), (CacheState::Cold, cold)] {
        let Some((answer, document)) = document.and_then(|d| Some((d.answers.first()?, d))) else {
            continue;
        };
        seen += 1;
        if answer.kind == AnswerKind::Invalid {
            finding.say(format!("{state}: {}", answer.sentence));
            continue;
        }
        let Some(plateau) = plateau(document, answer) else {
            finding.say(format!("{state}: {NOTHING}"));
            continue;
        };
        // Few rounds of reads that a device and its caches share in: a longer run may say another.
        let short = state == CacheState::Cold && answer.grade >= Grade::C;
        let rounds = so_many(answer.rounds as usize, "round");
        let look = short.then(|| format!("a short look, {rounds}: no advice rests on it"));
        finding.lines.push(plateau.line(&state.to_string()).with(look));
        if plateau.advised && !short {
            finding.rough |= answer.grade >= Grade::C;
            advised.push((state, plateau.advice()));
        }
    }
    finding.advice = block_advice(&advised, seen);
    finding
}

/// Which blocks to use; for which files, where that is not the same or not known for all.
fn block_advice(advised: &[(CacheState, String)], seen: usize) -> Option<String> {
    let files = |state: &CacheState| match state {
        CacheState::Cold => "files not in memory",
        _ => "cached files",
    };
    match advised {
        [(_, warm), (_, cold)] if warm == cold => Some(warm.clone()),
        [(_, only)] if seen == 1 => Some(only.clone()),
        [] => None,
        some => {
            let each = some.iter().map(|(state, blocks)| format!("{blocks} for {}", files(state)));
            Some(each.collect::<Vec<_>>().join(", "))
        }
    }
}

/// The block to use, as the answer has it.
struct Plateau {
    block: u64,
    /// Its bound against the best.
    standing: String,
    /// What is slower by how much.
    behind: Option<String>,
    /// Whether the bound is close enough to say that it should be used.
    advised: bool,
    /// Every larger block is shown to be as good.
    or_more: bool,
    speed: f64,
    low: Option<f64>,
    high: Option<f64>,
}

impl Plateau {
    /// What to use; larger blocks only where they were looked at.
    fn advice(&self) -> String {
        match self.or_more {
            true => format!("blocks of {} or more", bytes_text(self.block)),
            false => format!("blocks of {}", bytes_text(self.block)),
        }
    }

    /// `warm 4.9 GiB/s ±5 % · 64 KiB: best of 3`, and what is slower.
    fn line(&self, what: &str) -> Line {
        let speed = match (self.low, self.high) {
            (Some(low), Some(high)) => {
                let share = (high - low) / 2.0 / self.speed * 100.0;
                format!("{} ±{share:.0} %", rate_text(self.speed))
            }
            _ => rate_text(self.speed),
        };
        let pick = format!("{what} {speed} · {}: {}", bytes_text(self.block), self.standing);
        Line::of(pick).with(self.behind.clone())
    }
}

/// The smallest block that is shown to be as good as the best, of the series of the answer's pick;
/// else that pick.
fn plateau(document: &Document, answer: &Answer) -> Option<Plateau> {
    let delta = document.experiment.protocol.delta;
    let of_blocks =
        |f: &&FoundAlong| f.kind == FindingKind::Plateau && f.factor == Factor::Block.name();
    let found = answer.findings.iter().find(of_blocks).map(|found| found.cell.as_str());
    let leader = found.or_else(|| answer.leader())?;
    let leader = document.cells.iter().find(|cell| cell.id == leader)?;
    let kin = |cell: &CellRecord| cell.factors.only(|f| f != Factor::Block);
    let mut axis: Vec<(u64, &CellRecord)> = document
        .cells
        .iter()
        .filter(|cell| kin(cell) == kin(leader))
        .filter_map(|cell| Some((cell.factors.number(Factor::Block)?, cell)))
        .collect();
    axis.sort_by_key(|(block, _)| *block);
    let good = |cell: &CellRecord| answer.is_within(&cell.id, delta);
    let smallest = axis.iter().position(|(_, cell)| match found {
        Some(found) => cell.id == found,
        None => good(cell),
    });
    let at = smallest.or_else(|| axis.iter().position(|(_, cell)| cell.id == leader.id))?;
    let (block, cell) = axis[at];
    let larger = &axis[at + 1..];
    let bounds = cell.estimate.as_ref()?.bytes_per_second.as_ref()?;
    let pick = Pick { document, answer, cell };
    Some(Plateau {
        block,
        standing: pick.standing(),
        behind: pick.behind(&|other| {
            let block = other.factors.number(Factor::Block);
            block.map_or_else(|| other.id.clone(), bytes_text)
        }),
        advised: is_advised(answer, &cell.id),
        or_more: !larger.is_empty() && larger.iter().all(|(_, cell)| good(cell)),
        speed: bounds.median,
        low: bounds.low,
        high: bounds.high,
    })
}

/// Small files: with how many workers.
fn small(document: &Document) -> Finding {
    let mut finding = Finding::of("Small");
    let answer = document.answers.iter().find(|answer| answer.leader().is_some());
    let pick = answer.and_then(|answer| Pick::of(document, answer));
    let size = document.cells.iter().find_map(|cell| cell.factors.number(Factor::FileSize));
    let (Some(pick), Some(bytes)) = (pick, size) else {
        finding.say(NOTHING);
        return finding;
    };
    let workers = |cell: &CellRecord| match cell.factors.number(Factor::Threads) {
        Some(1) => "1 worker".to_owned(),
        Some(n) => format!("{n} workers"),
        None => cell.id.clone(),
    };
    let ns = pick.cell.estimate.as_ref().map_or(0.0, |e| e.ns_per_operation.median);
    if ns <= 0.0 {
        finding.say(NOTHING);
        return finding;
    }
    let rate = count_text((1e9 / ns).round() as u64);
    let line = format!(
        "{rate} files/s of {} read · {}: {}",
        bytes_text(bytes),
        workers(pick.cell),
        pick.standing()
    );
    finding.lines.push(Line::of(line).with(pick.behind(&workers)));
    if is_advised(pick.answer, &pick.cell.id) {
        let advice = match workers(pick.cell).as_str() {
            "1 worker" => "one worker for small files".to_owned(),
            more => format!("{more} for small files"),
        };
        finding.advise(advice, pick.answer);
    }
    finding
}

/// The floor: what one call costs.
fn calls(label: &'static str, document: &Document) -> Finding {
    let mut finding = Finding::of(label);
    let costs: Vec<String> = document
        .cells
        .iter()
        .filter_map(|cell| {
            let ns = cell.estimate.as_ref()?.ns_per_operation.median;
            let name = match cell.factors.word::<NamedCall>() {
                Some(call) if call.moves_bytes() => format!("1-byte {call}"),
                Some(NamedCall::OpenClose) => "open+close".to_owned(),
                Some(NamedCall::Readdir) => "readdir per entry".to_owned(),
                _ => cell.factors.text(Factor::Operation)?.to_owned(),
            };
            Some(format!("{name} {}", time_text(ns)))
        })
        .collect();
    match costs.is_empty() {
        true => finding.say(NOTHING),
        false => finding.lines.push(Line::list(costs)),
    }
    finding
}

/// How far to trust the screen, in words, and the one thing to keep in mind.
fn confidence(runs: &[(Topic, Cow<'_, Document>)]) -> String {
    let answers = || runs.iter().flat_map(|(_, d)| &d.answers);
    let worst = answers().map(|a| a.grade).max();
    let words = match worst {
        None => "none: nothing could be measured",
        Some(Grade::A) => "good",
        Some(Grade::B) => "fair",
        Some(Grade::C) => "rough",
        Some(Grade::Invalid) => "mixed: where the measurement was not sound it says so",
    };
    let caution = runs
        .iter()
        .flat_map(|(_, d)| d.warnings.iter().chain(d.answers.iter().flat_map(|a| &a.warnings)))
        .filter(|w| w.code.severity() >= Severity::Caution)
        .max_by_key(|w| (w.code.severity(), std::cmp::Reverse(w.code)));
    let raise = answers().filter(|a| Some(a.grade) == worst).find_map(|a| a.raise.as_deref());
    let mut line = format!("Confidence: {words}.");
    match (caution, raise) {
        (Some(Warning { code, text }), _) => {
            // What a code means, where its text alone is no sentence.
            let told = match text.starts_with(char::is_lowercase) && text.len() < 40 {
                true => format!("{}: {text}", code.summary()),
                false => text.clone(),
            };
            line += &format!(" Caution: {} ({code})", told.trim_end_matches('.'))
        }
        (None, Some(raise)) => line += &format!(" Better with: {}", raise.trim_end_matches('.')),
        (None, None) => return line,
    }
    line + "."
}

#[cfg(test)]
mod tests {
    use super::{TextStyle, Topic, screen};
    use iolab_model::catalog::{Code, Factor, Level, Levels};
    use iolab_model::result::{
        Answer, AnswerKind, CellRecord, CellStatus, Comparison, Document, Environment, Estimate,
        ExperimentRecord, Grade, ProtocolRecord, RunInfo, SCHEMA, Summary, Verdict, Warning,
    };

    fn wide(width: usize) -> TextStyle {
        TextStyle { width, ..TextStyle::default() }
    }

    fn document(workload: &str, cells: Vec<CellRecord>, answers: Vec<Answer>) -> Document {
        Document {
            schema: SCHEMA.to_owned(),
            run: RunInfo::default(),
            environment: Environment::default(),
            experiment: ExperimentRecord {
                workload: workload.to_owned(),
                directory: None,
                factors: std::collections::BTreeMap::new(),
                ask: Vec::new(),
                protocol: ProtocolRecord {
                    alpha: 0.05,
                    delta: 0.02,
                    precision: None,
                    budget_ns: 1,
                    rounds: None,
                    eliminate: None,
                    keep_bytes: None,
                    cpus: Vec::new(),
                    clock_resolution_ns: 1.0,
                    clock_cost_ns: 1.0,
                    epoch_rounds: 1,
                    steady_rounds: 20,
                    stopped: String::new(),
                },
            },
            cells,
            twin: None,
            answers,
            warnings: Vec::new(),
        }
    }

    fn summary(median: f64) -> Summary {
        Summary {
            n: 20,
            median,
            low: Some(median * 0.97),
            high: Some(median * 1.03),
            ..Summary::default()
        }
    }

    fn cell(id: &str, factors: Levels, speed: Option<f64>, ns: f64) -> CellRecord {
        CellRecord {
            id: id.to_owned(),
            factors,
            status: CellStatus::Measured,
            reason: None,
            exclusion: None,
            samples: Vec::new(),
            estimate: Some(Estimate {
                bytes_per_second: speed.map(summary),
                ns_per_operation: summary(ns),
                ..Estimate::default()
            }),
        }
    }

    fn answer(
        condition: Levels,
        kind: AnswerKind,
        best: &[&str],
        pairs: Vec<Comparison>,
    ) -> Answer {
        Answer {
            condition,
            kind,
            best: best.iter().map(|&b| b.to_owned()).collect(),
            pick: None,
            regret: Vec::new(),
            findings: Vec::new(),
            grade: Grade::A,
            raise: None,
            sentence: "the measurement is not sound: its twin differs".to_owned(),
            rounds: 20,
            detectable: None,
            more_seconds: None,
            warnings: Vec::new(),
            comparisons: pairs,
        }
    }

    fn pair(a: &str, b: &str, ratio: f64, half: f64) -> Comparison {
        let verdict = match ratio {
            r if r / half > 1.0 => Verdict::Slower,
            r if r * half < 1.0 => Verdict::Faster,
            _ => Verdict::Undecided,
        };
        Comparison {
            a: a.into(),
            b: b.into(),
            ratio,
            low: Some(ratio / half),
            high: Some(ratio * half),
            verdict,
            clear: true,
            n: 20,
            ties: 0,
        }
    }

    fn blocks(kind: AnswerKind, middle: f64) -> Document {
        let of = |block: u64| Levels::new().with(Factor::Block, Level::Number(block));
        let cells = vec![
            cell("4Ki", of(4096), Some(4e9), 1.0),
            cell("64Ki", of(65536), Some(7.95e9), 1.0),
            cell("1Mi", of(1 << 20), Some(8e9), 1.0),
        ];
        let pairs = vec![
            pair("4Ki", "64Ki", 1.99, 1.01),
            pair("4Ki", "1Mi", 2.0, 1.01),
            pair("64Ki", "1Mi", middle, 1.005),
        ];
        document("read", cells, vec![answer(Levels::new(), kind, &["64Ki", "1Mi"], pairs)])
    }

    fn sizes(read_over_mmap: &[(u64, f64)]) -> Document {
        let mut cells = Vec::new();
        let mut answers = Vec::new();
        for (bytes, ratio) in read_over_mmap {
            let at = Levels::new().with(Factor::FileSize, Level::Number(*bytes));
            let (a, b) = (format!("{bytes}/read"), format!("{bytes}/mmap"));
            for (id, method) in [(&a, "read"), (&b, "mmap")] {
                let levels = at.clone().with(Factor::Method, Level::word(method));
                cells.push(cell(id, levels, Some(1e9), 1.0));
            }
            let (kind, best): (_, Vec<&str>) = match ratio {
                r if r * 1.02 < 1.0 => (AnswerKind::Winner, vec![&a]),
                r if r / 1.02 > 1.0 => (AnswerKind::Winner, vec![&b]),
                _ => (AnswerKind::Undecided, vec![&a, &b]),
            };
            answers.push(answer(at, kind, &best, vec![pair(&a, &b, *ratio, 1.02)]));
        }
        document("read", cells, answers)
    }

    fn ladder() -> Document {
        let rung = |name: &str, ns| {
            let levels = Levels::new().with(Factor::Operation, Level::word(name));
            cell(name, levels, None, ns)
        };
        document("syscall", vec![rung("lseek", 130.4), rung("pread", 225.0)], Vec::new())
    }

    /// "Use blocks of 1 MiB" once came from the cold run alone, where the warm one was open.
    #[test]
    fn a_block_that_is_advised_for_one_state_of_the_cache_says_for_which() {
        use iolab_model::catalog::CacheState::{Cold, Warm};
        let (small, large) = ("blocks of 64 KiB or more", "blocks of 1 MiB");
        let said = |advised: &[_]| super::block_advice(advised, 2).unwrap_or_default();
        let both = [(Warm, small.to_owned()), (Cold, small.to_owned())];
        assert_eq!(said(&both), small);
        assert_eq!(said(&both[1..]), "blocks of 64 KiB or more for files not in memory");
        let differ = [(Warm, small.to_owned()), (Cold, large.to_owned())];
        assert!(said(&differ).ends_with("cached files, blocks of 1 MiB for files not in memory"));
        assert_eq!(super::block_advice(&both[..1], 1).as_deref(), Some(small));
        assert_eq!(said(&[]), "");
    }

    /// "Use blocks of 64 KiB or more" where the larger ones were not looked at, had failed or were open.
    #[test]
    fn or_more_is_said_only_where_every_larger_block_is_shown_to_be_as_good() {
        let said = |change: &dyn Fn(&mut Document)| {
            let mut warm = blocks(AnswerKind::Tie, 1.003);
            change(&mut warm);
            let text = screen("/data", &[(Topic::Warm, warm)], "next", &wide(200));
            let advice = text.lines().find(|line| line.starts_with("Use "));
            advice.unwrap_or_else(|| panic!("{text}")).to_owned()
        };
        assert_eq!(said(&|_| {}), "Use blocks of 64 KiB or more.");
        // The largest that was looked at.
        let alone = |run: &mut Document| {
            run.cells.truncate(2);
            run.answers[0].comparisons.truncate(1);
            (run.answers[0].kind, run.answers[0].best) =
                (AnswerKind::Winner, vec!["64Ki".to_owned()]);
        };
        assert_eq!(said(&alone), "Use blocks of 64 KiB.");
        // It failed, and nothing is said of it.
        let failed = |run: &mut Document| {
            alone(run);
            let levels = Levels::new().with(Factor::Block, Level::Number(1 << 20));
            let mut largest = cell("1Mi", levels, None, 1.0);
            (largest.status, largest.estimate) = (CellStatus::Failed, None);
            run.cells.push(largest);
        };
        assert_eq!(said(&failed), "Use blocks of 64 KiB.");
        // It is slower.
        let slower = |run: &mut Document| {
            alone(run);
            *run = Document { answers: run.answers.clone(), ..blocks(AnswerKind::Winner, 1.003) };
            run.answers[0].comparisons.push(pair("1Mi", "64Ki", 1.3, 1.01));
        };
        assert_eq!(said(&slower), "Use blocks of 64 KiB.");
    }

    /// Eight cold rounds said "use blocks of 64 KiB", a run of two minutes said 1 MiB.
    #[test]
    fn no_advice_rests_on_a_short_look_at_cold_reads() {
        let said = |grade: Grade, rounds: u32| {
            let mut cold = blocks(AnswerKind::Tie, 1.003);
            (cold.answers[0].grade, cold.answers[0].rounds) = (grade, rounds);
            screen("/data", &[(Topic::Cold, cold)], "next", &wide(200))
        };
        let long = said(Grade::A, 60);
        assert!(long.contains("Use blocks of") && !long.contains("short look"), "{long}");
        let short = said(Grade::C, 8);
        assert!(!short.contains("se blocks of"), "{short}");
        assert!(short.contains("a short look, 8 rounds: no advice rests on it"), "{short}");
    }

    #[test]
    fn the_screen_reads_well() {
        let mut cold = blocks(AnswerKind::Tie, 1.003);
        cold.warnings.push(Warning {
            code: Code::PageReporting,
            text: "this VM gives memory back to its host, so cold reads vary.".to_owned(),
        });
        let runs = [
            (Topic::Warm, blocks(AnswerKind::Tie, 1.006)),
            (Topic::Cold, cold),
            (Topic::Mapping, sizes(&[(65536, 0.7), (1 << 20, 0.9), (1 << 26, 1.6)])),
            (Topic::Calls, ladder()),
        ];
        insta::assert_snapshot!(screen(
            "/data · ext4 on vda · 60 s",
            &runs,
            "Runs 1–4 recorded · iolab show 1",
            &wide(80)
        ));
    }

    fn durable() -> Document {
        let mut document = blocks(AnswerKind::Tie, 1.006);
        let measurement = iolab_model::result::Measurement {
            wall_ns: 1,
            bytes: 1,
            metrics: [(iolab_model::result::Name::from("sync_ns"), 1.9e6)].into_iter().collect(),
            ..Default::default()
        };
        let phase = iolab_model::result::Phase::Steady;
        let sample = iolab_model::result::Sample {
            round: 3,
            position: 0,
            phase,
            epoch: 0,
            measurement,
            fault: None,
        };
        document.cells[0].samples.push(sample);
        document
    }

    fn synced() -> Document {
        let way = |sync: &str, ns| {
            let levels = Levels::new()
                .with(Factor::Block, Level::Number(4096))
                .with(Factor::Sync, Level::word(sync));
            cell(sync, levels, Some(1e6), ns)
        };
        let cells = vec![way("fsync", 2.5e6), way("dsync", 1.2e6)];
        let pairs = vec![pair("fsync", "dsync", 2.0, 1.1)];
        document("write", cells, vec![answer(Levels::new(), AnswerKind::Winner, &["dsync"], pairs)])
    }

    fn copies() -> Document {
        let way = |id: &str, method: &str, block: Option<u64>, speed| {
            let levels = Levels::new().with(Factor::Method, Level::word(method));
            let levels = match block {
                Some(block) => levels.with(Factor::Block, Level::Number(block)),
                None => levels,
            };
            cell(id, levels, Some(speed), 1.0)
        };
        let cells = vec![
            way("rw4", "read-write", Some(4096), 1e9),
            way("rw128", "read-write", Some(128 << 10), 2.1e9),
            way("cfr", "copy_file_range", None, 2.2e9),
            way("reflink", "reflink", None, 9e12),
        ];
        let pairs = vec![pair("rw4", "cfr", 2.2, 1.05), pair("rw128", "cfr", 1.01, 1.01)];
        let best = ["cfr", "rw128"];
        document("copy", cells, vec![answer(Levels::new(), AnswerKind::Tie, &best, pairs)])
    }

    /// "no files/s of 16 KiB read", and a line that began with a point, where the time ended first.
    #[test]
    fn what_has_no_figure_says_that_nothing_was_measured() {
        let mut run = copies();
        run.cells.iter_mut().for_each(|cell| cell.estimate = None);
        let text = screen("/data", &[(Topic::Copying, run)], "next", &wide(80));
        assert!(text.contains("Copying   nothing could be measured"), "{text}");
        assert!(!text.contains("to copy"), "{text}");
    }

    #[test]
    fn writing_and_copying_are_told_and_a_clone_is_not_ranked() {
        let runs =
            [(Topic::Durable, durable()), (Topic::Synced, synced()), (Topic::Copying, copies())];
        let text = screen("/data", &runs, "next", &wide(200));
        let has = |part: &str| assert!(text.contains(part), "no {part:?} in\n{text}");
        has("Writing   durable 7.4");
        has("the flush at the end takes 1.90 ms");
        has("each 4 KiB with O_DSYNC 1.20 ms: best of 2 · fsync ");
        has("Copying   2.05 GiB/s · copy_file_range: as fast as the best of 3");
        has("read-write with 4 KiB blocks 2.10–2.31× as long");
        has("a clone takes");
        has("to write, O_DSYNC where each block must be safe and copy_file_range to copy.");
    }

    #[test]
    fn it_wraps_in_a_narrow_terminal_and_fits_24_lines() {
        let runs = [
            (Topic::Warm, blocks(AnswerKind::Tie, 1.006)),
            (Topic::Mapping, sizes(&[(65536, 1.2), (1 << 26, 1.6)])),
            (Topic::Calls, ladder()),
        ];
        let text = screen("/data", &runs, "next", &wide(40));
        assert!(text.lines().count() <= 24, "{text}");
        assert!(text.lines().all(|l| l.chars().count() <= 40), "{text}");
    }

    #[test]
    fn a_full_survey_fits_24_lines_of_80_columns() {
        let calls = || {
            let names = ["lseek", "read", "write", "fstat", "open-close", "chmod", "rename"];
            let rung = |name: &&str| {
                let levels = Levels::new().with(Factor::Operation, Level::word(*name));
                cell(name, levels, None, 1234.5)
            };
            document("syscall", names.iter().map(rung).collect(), Vec::new())
        };
        let runs = [
            (Topic::Warm, blocks(AnswerKind::Tie, 1.006)),
            (Topic::Cold, blocks(AnswerKind::Tie, 1.003)),
            (Topic::Mapping, sizes(&[(65536, 0.7), (1 << 20, 0.9), (1 << 26, 1.6)])),
            (Topic::Durable, durable()),
            (Topic::Synced, synced()),
            (Topic::Copying, copies()),
            (Topic::Calls, calls()),
            (Topic::Metadata, calls()),
        ];
        let heading = "/home/somebody/data · ext4 on nvme0n1 · Linux 6.18.44 · 16 cores, 64 GiB";
        let text = screen(heading, &runs, "Runs 1–9 recorded · iolab show 9", &wide(80));
        assert!(text.lines().count() < 24, "{text}");
        assert!(text.trim_end().ends_with("iolab show 9"), "{text}");
        for label in ["Reading", "Writing", "Copying", "Calls", "Metadata"] {
            assert!(text.contains(label), "{text}");
        }
    }

    #[test]
    fn what_is_not_shown_is_not_recommended() {
        let runs = [
            (Topic::Warm, blocks(AnswerKind::Invalid, 1.006)),
            (Topic::Mapping, sizes(&[(65536, 1.005), (1 << 26, 0.995)])),
        ];
        let text = screen("/data", &runs, "next", &wide(80));
        assert!(!text.contains("Use "), "{text}");
        assert!(text.contains("open at 64 KiB to 64 MiB"), "{text}");
        assert!(text.contains("warm: the measurement is not sound"), "{text}");
    }

    #[test]
    fn nothing_measured_says_so() {
        assert!(screen("/data", &[], "next", &wide(80)).contains("nothing could be measured"));
    }
}
