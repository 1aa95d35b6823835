//! How many runs would decide. The number is worked out once, from the first five runs of each side,
//! and stands from then on (two stages: C. Stein 1945): one that moved with each run that it asked
//! for was never reached.

use super::{Compared, Row};
use iolab_model::catalog::{percent_text, ratio_text, so_many};
use iolab_stats::runs_to_rule_out;

/// Runs of each side that show how far runs differ.
pub(super) const FIRST_STAGE: usize = 5;

/// Where a comparison stands of which something is open.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stage {
    /// How far runs differ is not known yet.
    First,
    /// So many on each side would do, by the first five.
    Second(usize),
    /// So many were foretold, and have been made.
    Done(usize),
    /// No sensible number would do.
    Hopeless,
}

impl Stage {
    /// `alpha`: the error of each bound. Of all rows, so that one which is decided moves nothing.
    pub(super) fn of(c: &Compared, alpha: f64) -> Stage {
        let least = least_sittings(c);
        if least < FIRST_STAGE {
            return Stage::First;
        }
        match runs_to_rule_out(first_sd(c), c.rows.len(), c.delta, alpha) {
            None => Stage::Hopeless,
            Some(runs) if runs.max(FIRST_STAGE) <= least => Stage::Done(runs.max(FIRST_STAGE)),
            Some(runs) => Stage::Second(runs),
        }
    }

    /// Runs on each side that are asked for.
    pub(super) fn runs(self) -> Option<usize> {
        match self {
            Stage::First => Some(FIRST_STAGE),
            Stage::Second(runs) | Stage::Done(runs) => Some(runs),
            Stage::Hopeless => None,
        }
    }

    /// What to do, with the command that does it; `open`: the rows that are not decided.
    pub(super) fn sentence<'a>(self, c: &Compared, open: impl Iterator<Item = &'a Row>) -> String {
        let differ = format!(
            "By the first {FIRST_STAGE} of each side, runs of one program differ by about {} here",
            percent_text(first_sd(c))
        );
        match self {
            Stage::First => first_stage(c),
            Stage::Second(runs) => format!(
                "{differ}: were nothing changed, {runs} on each side would show it{}",
                record(c, runs)
            ),
            Stage::Done(runs) => format!(
                "All {runs} runs of each side that the first {FIRST_STAGE} asked for are there, and no more \
                 are asked for: {}",
                why_open(c, open)
            ),
            Stage::Hopeless => format!("{differ}: no number of runs up to 50 would show it"),
        }
    }
}

/// Runs as far as they speak for themselves: those in a row speak as one.
fn least_sittings(c: &Compared) -> usize {
    let [first, second] = c.sittings;
    first.min(second)
}

fn first_stage(c: &Compared) -> String {
    let record = record(c, FIRST_STAGE);
    match in_a_row(c) {
        true => format!(
            "{FIRST_STAGE} runs on each side, in turn, show how far runs of one program differ here from one \
             quarter of an hour to the next{record}"
        ),
        false => format!(
            "{FIRST_STAGE} runs on each side show how far runs of one program differ here{record}"
        ),
    }
}

/// Whether there would be runs enough, had they not been made in a row.
fn in_a_row(c: &Compared) -> bool {
    c.runs.is_some_and(|[first, second]| first.min(second) > least_sittings(c))
}

fn first_sd(c: &Compared) -> f64 {
    c.rows.iter().filter_map(|row| row.first_stage_sd).fold(0.0, f64::max)
}

/// The command that records what is missing, or in words what it takes.
fn record(c: &Compared, runs: usize) -> String {
    let [first, second] = c.sittings;
    if let Some(again) = &c.again {
        let times = runs.saturating_sub(first.min(second));
        return format!(": `iolab rerun {again} --times {times}` records the missing ones in turn");
    }
    let more = |there: usize, what: &str| match runs.saturating_sub(there) {
        0 => None,
        missing => Some(so_many(missing, what)),
    };
    let missing = [more(first, "more baseline"), more(second, "more run")];
    let missing: Vec<String> = missing.into_iter().flatten().collect();
    let command = c.command.as_ref().map(|command| format!(" with `{command}`"));
    format!(
        ": record {}{}{}, and name them with commas",
        missing.join(" and "),
        if in_a_row(c) { " in turn, or half an hour apart" } else { "" },
        command.unwrap_or_default()
    )
}

/// Why the runs that were foretold did not do.
fn why_open<'a>(c: &Compared, open: impl Iterator<Item = &'a Row>) -> String {
    let far = |row: &&Row| row.ratio.ln().abs();
    let farthest = open.max_by(|a, b| far(a).total_cmp(&far(b)));
    let Some(row) = farthest else { return "something was not measured".to_owned() };
    match far(&row) > c.delta.ln_1p() / 2.0 {
        true => format!(
            "{} took {} as long, which is too near to the limit of {} to be told from it",
            row.cell,
            ratio_text(row.ratio),
            percent_text(c.delta)
        ),
        false => format!(
            "later runs differed more than the first, and for {} the bound stands as it is",
            row.cell
        ),
    }
}

/// Rows that show neither a difference nor that there is none.
fn open(c: &Compared) -> impl Iterator<Item = &Row> {
    c.rows.iter().filter(|row| row.verdict == iolab_model::result::Verdict::Undecided)
}

/// What would decide a comparison in which something is open; nothing within one run.
pub(super) fn advice(c: &Compared) -> Option<String> {
    c.runs?;
    open(c).next()?;
    // The interval of a row has two ends, and a share of the error.
    let stage = Stage::of(c, c.alpha / 2.0 / c.rows.len().max(1) as f64);
    Some(format!("{}.", stage.sentence(c, open(c))))
}
