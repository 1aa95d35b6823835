//! The report of one screen: what was asked and all that was held constant, the best rows, what
//! changes how the answer may be used, and last, where the eye is, the answer. The rest is told on
//! request ([`View`](super::view_model::View)).

mod figure;
mod held;
mod pick_reason;
mod read_ahead;
mod rows;

pub(super) use rows::{Line, Part};

use super::remarks;
use super::verdict_word::is_alone;
use super::view_model::{self, divided, varying_text};
use super::warning_summary::warning_summary;
use iolab_model::catalog::{Code, Severity};
use iolab_model::result::{Answer, AnswerKind, Document, Grade};

/// Rows of an answer that are shown at most; the rest are one line.
pub(super) const MOST_ROWS: usize = 8;
/// The same of calls, where each has its price.
pub(super) const MOST_PRICES: usize = 14;
/// Lines of a report of one answer, at 80 columns: a terminal of 24 has one more for the prompt.
const LINES: usize = 23;
/// And for each further one.
const LINES_MORE: usize = 6;
/// More warnings than these are not read.
const MOST_WARNINGS: usize = 2;

/// A report of one screen in words. Text is raw: whoever draws it makes it safe for its medium.
#[derive(Debug)]
pub(super) struct Screen {
    pub(super) asked: String,
    pub(super) held: String,
    pub(super) parts: Vec<Part>,
    /// Code and what was seen: those that change how the answer may be used.
    pub(super) careful: Vec<(Code, String)>,
    /// How far to trust it, where that is less than well.
    pub(super) confidence: Option<String>,
    /// With their conditions, where there are several.
    pub(super) answers: Vec<String>,
    /// How many there are: of one a replay says two sentences and more.
    asked_answers: usize,
    pub(super) next: String,
}

impl Screen {
    pub(super) fn of(doc: &Document) -> Screen {
        let doc = &*doc.completed();
        let divided = divided(doc);
        let part = |(answer, cells): &(Option<&Answer>, Vec<_>)| {
            let heading = answer.filter(|_| doc.answers.len() > 1);
            let heading = heading.map(|answer| varying_text(doc, answer));
            Part::of(doc, heading, *answer, cells)
        };
        let parts: Vec<Part> = divided.iter().map(part).collect();
        // Those of a run stand in the order of its answers.
        let answers = divided
            .iter()
            .zip(&parts)
            .filter_map(|((answer, _), part)| answer.map(|answer| sentences(doc, answer, part)));
        Screen {
            asked: doc.run.title.clone(),
            held: held::held_constant(doc, &parts),
            careful: careful(doc),
            confidence: confidence(doc),
            answers: remarks::before(doc).into_iter().chain(answers.flatten()).collect(),
            asked_answers: doc.answers.len(),
            next: next(doc),
            parts,
        }
    }

    /// The titles of one table for all parts; nothing where they have different columns: a write of
    /// 1.1 ms stood below "per pass" once, because another level had a pass of 258 ms.
    pub(super) fn common_titles(&self) -> Option<Vec<String>> {
        let (first, rest) = self.parts.split_first()?;
        let as_many = |part: &Part| part.titles.len() == first.titles.len();
        let same = |at: usize| rest.iter().all(|part| part.titles[at] == first.titles[at]);
        let title = |(at, title): (usize, &String)| match same(at) {
            true => title.clone(),
            false => "per pass".to_owned(),
        };
        let unlike = |at: usize| !same(at) && !self.parts.iter().all(|part| part.is_of_a_pass(at));
        (rest.iter().all(as_many) && !(0..first.titles.len()).any(unlike))
            .then(|| first.titles.iter().enumerate().map(title).collect())
    }

    /// The lines that it may take.
    pub(super) fn most_lines(&self) -> usize {
        LINES + LINES_MORE * self.asked_answers.saturating_sub(1)
    }
}

/// What is said of an answer, each with its condition where there are several.
fn sentences(doc: &Document, answer: &Answer, part: &Part) -> impl Iterator<Item = String> {
    let condition = match doc.answers.len() {
        0 | 1 => String::new(),
        _ => format!("{}: ", varying_text(doc, answer)),
    };
    let said = match &part.pick_reason {
        Some(reason) => format!("{}. {reason}", answer.sentence.trim_end_matches('.')),
        None => answer.sentence.clone(),
    };
    let all = [Some(said), remarks::worth(doc, answer)];
    all.into_iter().flatten().map(move |sentence| format!("{condition}{sentence}"))
}

/// The gravest warnings, but for those that the answer itself tells of.
fn careful(doc: &Document) -> Vec<(Code, String)> {
    // What it says changes how all rows are read, where it holds of all of them.
    let ahead = read_ahead::is_measured(doc);
    let changes_use = |code: &Code| {
        let told = matches!(code, Code::FewRounds | Code::InsufficientBudget);
        code.severity() >= Severity::Caution && !told || ahead && *code == Code::ReadaheadLarge
    };
    let told = |code: &Code| doc.answers.iter().any(|a| a.sentence.contains(code.summary()));
    // That times vary from run to run moves no clear ranking: there it is for --details.
    let idle = |code: &Code| *code == Code::PageReporting && is_clear(doc);
    let matters = |code: &Code| changes_use(code) && !told(code) && !idle(code);
    let mut all = warning_summary(doc);
    all.retain(|(code, _)| matters(code));
    all.sort_by_key(|(code, _)| *code != Code::ReadaheadLarge);
    all.truncate(MOST_WARNINGS);
    all
}

/// Whether every answer is a ranking and no figure, and all that is slower is so by more than what
/// matters.
fn is_clear(doc: &Document) -> bool {
    let matters = 1.0 + doc.experiment.protocol.delta;
    let clear = |answer: &Answer| {
        let mut slower = answer.regret.iter().filter(|regret| regret.excluded);
        let settled = matches!(answer.kind, AnswerKind::Winner | AnswerKind::Tie);
        settled && !is_alone(answer) && slower.all(|regret| regret.low > matters)
    };
    !doc.answers.is_empty() && doc.answers.iter().all(clear)
}

/// Of the worst answer, where it is worth a word; what is not sound says so itself.
fn confidence(doc: &Document) -> Option<String> {
    let graded = doc.answers.iter().filter(|a| matches!(a.grade, Grade::B | Grade::C));
    let worst = graded.max_by_key(|answer| answer.grade)?;
    let raise = view_model::raise(worst)
        .map(|raise| format!(" What would raise it: {raise}."))
        .unwrap_or_default();
    Some(format!("Confidence: {}.{raise}", view_model::grade_text(worst.grade)))
}

/// What to do next; nothing can be done with a run that is in no history.
fn next(doc: &Document) -> String {
    let id = doc.run.id;
    match (id, doc.run.complete) {
        (0, true) => String::new(),
        (0, false) => "Partial run.".to_owned(),
        (_, true) => match doc.more_command() {
            Some(more) => format!("Run {id} · iolab show {id} --details · {more}"),
            None => format!(
                "Run {id} · iolab show {id} --details · iolab report {id} --html report.html"
            ),
        },
        (_, false) => {
            format!("Run {id} is partial · iolab run --resume {id} · iolab show {id} --details")
        }
    }
}

#[cfg(test)]
mod reading_tests;
#[cfg(test)]
mod tests;
