//! Runs against runs, cell by cell, and cells of one run against each other: what a difference is,
//! how sure it is, and whether it may be looked at as one at all.

mod again;
mod alike;
pub(crate) mod contradiction;
mod environment;
mod forecast;
mod gate;
mod notes;
mod seen;
mod series;
mod since;
mod sitting;
mod text;

use schemars::JsonSchema;
use serde::Serialize;

pub use again::runs_text;
pub use alike::compare_alike;
pub use contradiction::disagrees_text;
pub use environment::{Difference, Likeness, Weight, differences, likeness};
pub use gate::{Gate, GateVerdict, gate_json, gate_markdown, gate_table};
pub use series::shown_ns;
pub use since::{changes_since, since_text};
pub use text::{compared_json, compared_markdown, compared_table};

use iolab_model::catalog::Levels;
use iolab_model::result::{Answer, AnswerKind, Apart, CellRecord, Document, Interval, Verdict};
use iolab_stats::{Basis, Observations, Rules, between, pairs, verdict};

use crate::shell;

/// The name and version of the JSON.
const SCHEMA: &str = "iolab.compare/1";

/// How to compare.
#[derive(Clone, Copy, Debug)]
pub struct Terms {
    /// Error allowed over all cells together.
    pub alpha: f64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// Compare although the machines differ; nothing is clear then.
    pub anyway: bool,
}

/// Why there is no comparison.
#[derive(Debug, thiserror::Error)]
pub enum Incomparable {
    /// Other hardware, another C library, an emulated machine.
    #[error(
        "the runs were made on machines that cannot be compared: {}; --anyway shows the figures side by side, with no verdict called clear",
        .0.join("; ")
    )]
    Machines(Vec<String>),
    /// Other experiments.
    #[error(
        "the baseline is of another experiment: {}; record it with the same command, or take --anyway to judge the cells that both have",
        .0.join("; ")
    )]
    Experiments(Vec<String>),
    /// Nothing in common.
    #[error(
        "the runs have no cell in common: {first} against {second}; compare runs of the same experiment"
    )]
    NothingInCommon {
        /// What the first side measured.
        first: String,
        /// What the second side measured.
        second: String,
    },
    /// A cell that was named is not there, or has no figures.
    #[error("{0}")]
    NoCell(String),
}

/// One cell on both sides.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Row {
    /// Its name; where two cells of one run are compared both, with `→` between.
    pub cell: String,
    /// Median time on the first side in nanoseconds: of a pass where bytes move, else of a call; of
    /// several runs the geometric mean of theirs.
    pub first_ns: f64,
    /// On the second side.
    pub second_ns: f64,
    /// Time of the second side / time of the first.
    pub ratio: f64,
    /// Lower end of its interval, over all rows together.
    pub low: Option<f64>,
    /// Upper end.
    pub high: Option<f64>,
    /// Upper bound of this row alone, with the same error, where it is less: whoever asks whether none
    /// is slower asks each for itself, and one that is slower errs in its own row alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub high_alone: Option<f64>,
    /// What the interval shows of the second side.
    pub verdict: Verdict,
    /// Whether it lies beyond what matters.
    pub clear: bool,
    /// Standard deviation of ln time between runs, seen or allowed for; absent within one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub between_sd: Option<f64>,
    /// The same of the first runs of each side, by which more are asked for.
    #[serde(skip)]
    pub(super) first_stage_sd: Option<f64>,
}

/// What came out.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
pub struct Compared {
    /// Always `iolab.compare/1`.
    pub schema: &'static str,
    /// The first side: the baseline.
    pub first: String,
    /// The second side.
    pub second: String,
    /// Error allowed over all rows together.
    pub alpha: f64,
    /// Differences smaller than this share do not matter.
    pub delta: f64,
    /// One a cell that both sides have.
    pub rows: Vec<Row>,
    /// Cells that have figures on the first side alone.
    pub only_first: Vec<String>,
    /// Cells that have figures on the second side alone.
    pub only_second: Vec<String>,
    /// Facts of the machines that differ, the gravest first.
    pub differences: Vec<Difference>,
    /// What to keep in mind, one sentence each.
    pub notes: Vec<String>,
    /// Runs on either side; absent within one run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<[usize; 2]>,
    /// How often each side was recorded anew, after the other one or after a while: of runs in a row
    /// one speaks for all as to what a machine does between them.
    #[serde(skip)]
    pub(super) sittings: [usize; 2],
    /// The command that makes a run of the second side once more, where it is recorded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// Both sides as `iolab rerun` takes them, where their runs can be made once more.
    #[serde(skip)]
    pub(super) again: Option<String>,
}

impl Compared {
    /// Whether both sides ran in the same rounds.
    fn within_one_run(&self) -> bool {
        self.rows.iter().all(|row| row.between_sd.is_none())
    }

    /// Rows of which this holds.
    pub fn count(&self, holds: impl Fn(&Row) -> bool) -> usize {
        self.rows.iter().filter(|r| holds(r)).count()
    }
}

/// Runs against runs. Several on a side show what the machine does between runs.
///
/// # Errors
/// Machines that cannot be compared (but for `anyway`), or no cell in common.
pub fn compare(
    first: &[Document],
    second: &[Document],
    terms: &Terms,
) -> Result<Compared, Incomparable> {
    let all: Vec<&Document> = first.iter().chain(second).collect();
    let differences = differences(&all);
    let likeness = likeness(&differences);
    if likeness == Likeness::Other && !terms.anyway {
        let grave = differences.iter().filter(|d| d.weight == Weight::Machine);
        return Err(Incomparable::Machines(grave.map(Difference::text).collect()));
    }
    let sittings = sitting::sittings(first, second);
    let common = series::common(first, second, &sittings);
    let m = common.len().max(1) as f64;
    let (mut single, mut one_sitting) = (false, false);
    let rows: Vec<Row> = common
        .iter()
        .filter_map(|cell| {
            let found = between(&cell.first.seen, &cell.second.seen, terms.alpha / m)?;
            let (verdict, mut clear) = verdict(&found.interval, terms.delta);
            let alone = between(&cell.first.seen, &cell.second.seen, 2.0 * terms.alpha)?;
            let [a, b] =
                [&cell.first, &cell.second].map(|arm| arm.of_first_sittings(forecast::FIRST_STAGE));
            let first_stage = between(&a, &b, terms.alpha / m)?;
            single |= found.basis == Basis::SinglePair;
            one_sitting |= found.basis == Basis::OneSitting;
            clear &= likeness == Likeness::Same
                || likeness == Likeness::Kin && found.basis != Basis::SinglePair;
            Some(Row {
                cell: cell.name.clone(),
                first_ns: cell.first.level_ns,
                second_ns: cell.second.level_ns,
                ratio: found.ln_ratio.exp(),
                low: found.interval.low.map(f64::exp),
                high: found.interval.high.map(f64::exp),
                high_alone: alone.interval.high.map(f64::exp),
                verdict,
                clear,
                between_sd: Some(found.between_sd),
                first_stage_sd: Some(first_stage.between_sd),
            })
        })
        .collect();
    if rows.is_empty() {
        return Err(Incomparable::NothingInCommon { first: what(first), second: what(second) });
    }
    let mut notes: Vec<String> =
        seen::seen_note(first, second, &rows, &common).into_iter().collect();
    notes.extend(notes::notes(&all, likeness, single, one_sitting));
    Ok(Compared {
        schema: SCHEMA,
        first: series::run_names(first),
        second: series::run_names(second),
        alpha: terms.alpha,
        delta: terms.delta,
        rows,
        only_first: series::missing(first, &common),
        only_second: series::missing(second, &common),
        differences,
        notes,
        runs: Some([first.len(), second.len()]),
        sittings: sittings.map(|numbers| sitting::distinct(numbers).len()),
        command: second
            .first()
            .filter(|run| run.run.argv.len() > 1)
            .map(|run| shell::command(&run.run.argv)),
        again: again::again(first, second),
    })
}

/// Pairs of cells of one run, which share its rounds: (first, second) by index. The guarantee of
/// the run holds: whatever the machine did, it did to both.
///
/// # Errors
/// A cell without figures.
pub fn compare_within(
    run: &Document,
    wanted: &[(usize, usize)],
    sides: (String, String),
    terms: &Terms,
) -> Result<Compared, Incomparable> {
    let completed = run.completed();
    let run = &*completed;
    let twin = run.twin.as_ref().and_then(|t| t.ratio).map_or(0.0, |r| (r - 1.0).abs());
    let delta = terms.delta.max(twin);
    // The bounds of one answer hold together; those of several do not.
    let together = |answer: &Answer| {
        let has = |at: &usize| answer.regret_of(&run.cells[*at].id).is_some();
        wanted.iter().all(|(a, b)| has(a) && has(b))
    };
    let one_answer = run.answers.iter().any(together);
    let row = |&(a, b): &(usize, usize)| {
        let (first, second) = (&run.cells[a], &run.cells[b]);
        let terms = Terms { delta, ..*terms };
        within(run, (first, second), (wanted.len(), one_answer), &terms).ok_or_else(|| {
            Incomparable::NoCell(format!(
                "{} and {} share no round: one of them was not measured",
                first.id, second.id
            ))
        })
    };
    let rows = wanted.iter().map(row).collect::<Result<Vec<Row>, Incomparable>>()?;
    let mut notes = vec![format!(
        "Both sides ran in the same {} rounds of run {}, in random order.",
        run.experiment.protocol.steady_rounds, run.run.id
    )];
    if delta > terms.delta {
        notes.push(format!(
            "The same cell measured twice differed by {}, so smaller differences are not called any.",
            iolab_model::catalog::percent_text(twin)
        ));
    }
    notes.extend(notes::unsound(&[run]));
    Ok(Compared {
        schema: SCHEMA,
        first: sides.0,
        second: sides.1,
        alpha: terms.alpha,
        delta,
        rows,
        only_first: Vec::new(),
        only_second: Vec::new(),
        differences: Vec::new(),
        notes,
        runs: None,
        sittings: [1, 1],
        command: None,
        again: None,
    })
}

fn within(
    run: &Document,
    (first, second): (&CellRecord, &CellRecord),
    (rows, one_answer): (usize, bool),
    terms: &Terms,
) -> Option<Row> {
    let (y, epoch) = series::by_round(&[second, first]);
    let protocol = &run.experiment.protocol;
    let rules = Rules {
        alpha: terms.alpha,
        delta: terms.delta,
        pairs: rows as f64,
        unit_rounds: match series::share_files(first, second) {
            true => 1,
            false => protocol.epoch_rounds.max(1) as usize,
        },
        cost: Vec::new(),
        seed: run.run.seed,
    };
    let seen = Observations { y, epoch, ..Observations::default() };
    let pair = pairs(&seen, &rules).pop()?;
    let sound = !invalid(run, &[first, second]);
    let own = Apart {
        low: pair.interval.low.map(f64::exp),
        high: pair.interval.high.map(f64::exp),
        verdict: pair.verdict,
    };
    let of_answer = run.answers.iter().find_map(|a| a.apart(&second.id, &first.id, terms.delta));
    let shown = match of_answer {
        Some(apart) if one_answer && protocol.alpha <= terms.alpha => apart,
        Some(apart) => no_more_than(own, apart, terms.delta),
        None => own,
    };
    let clear = shown.low.is_some_and(|low| low > 1.0 + terms.delta)
        || shown.high.is_some_and(|high| high < 1.0 / (1.0 + terms.delta));
    Some(Row {
        cell: match first.id == second.id {
            true => first.id.clone(),
            false => format!("{} → {}", first.id, second.id),
        },
        first_ns: series::shown_ns(first)?,
        second_ns: series::shown_ns(second)?,
        ratio: pair.median.exp(),
        low: shown.low,
        high: shown.high,
        high_alone: None,
        verdict: if sound { shown.verdict } else { Verdict::Undecided },
        clear: clear && sound,
        between_sd: None,
        first_stage_sd: None,
    })
}

/// What a pair shows by itself, as far as its answer shows it too: the wider of both bounds.
fn no_more_than(own: Apart, answer: Apart, delta: f64) -> Apart {
    let low = own.low.zip(answer.low).map(|(a, b)| a.min(b));
    let high = own.high.zip(answer.high).map(|(a, b)| a.max(b));
    let interval = Interval { low: low.map(f64::ln), high: high.map(f64::ln) };
    Apart { low, high, verdict: verdict(&interval, delta).0 }
}

/// Whether both cells belong to an answer that was not sound.
fn invalid(run: &Document, cells: &[&CellRecord]) -> bool {
    let belongs = |condition: &Levels, cell: &CellRecord| {
        condition.iter().all(|(f, l)| cell.factors.get(f) == Some(l))
    };
    run.answers.iter().any(|answer| {
        answer.kind == AnswerKind::Invalid
            && cells.iter().all(|cell| belongs(&answer.condition, cell))
    })
}

fn what(runs: &[Document]) -> String {
    let mut titles: Vec<String> = runs
        .iter()
        .map(|d| match d.run.title.is_empty() {
            true => d.experiment.workload.clone(),
            false => d.run.title.clone(),
        })
        .collect();
    titles.dedup();
    titles.join(", ")
}
