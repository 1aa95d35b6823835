//! The grade of an answer, and the one thing that would raise it.

use super::findings::percent;
use super::verdict::{FEWEST_INSTANCES, Finding, SMALL_SHARE, TwinFigures, invalidates};
use iolab_model::catalog::Code;
use iolab_model::result::Grade;

/// Rounds that a grade above C needs.
const ROUNDS: u32 = 20;

/// What the grade is made from.
pub(crate) struct Evidence<'a> {
    pub(crate) rounds: u32,
    /// o/T.
    pub(crate) overhead: f64,
    pub(crate) twin: Option<TwinFigures>,
    /// δ as asked for.
    pub(crate) delta: f64,
    /// Median over contrasts with the leader.
    pub(crate) lag1: f64,
    /// Share of trials.
    pub(crate) flagged: f64,
    /// Median CV.
    pub(crate) variation: f64,
    pub(crate) steal: f64,
    /// File instances, where the layout matters.
    pub(crate) instances: Option<u32>,
    pub(crate) findings: &'a [Finding],
}

impl Evidence<'_> {
    fn has(&self, code: Code) -> bool {
        self.findings.iter().any(|f| f.code == code)
    }
}

/// The grade, and what would raise it (`None` for A).
pub(crate) fn grade(evidence: &Evidence<'_>) -> (Grade, Option<String>) {
    let caps = caps(evidence);
    // The first of the worst: caps are listed by what helps most.
    let worst = caps.iter().map(|(cap, _)| *cap).max().unwrap_or(Grade::A);
    let raise = caps.into_iter().find(|(cap, _)| *cap == worst).map(|(_, raise)| raise);
    (worst, raise)
}

/// Every reason for less than an A: the grade it allows at most, and what would help.
fn caps(e: &Evidence<'_>) -> Vec<(Grade, String)> {
    let mut caps = Vec::new();
    if let Some(found) = e.findings.iter().find(|f| invalidates(f.code)) {
        caps.push((Grade::Invalid, remedy(found.code).to_owned()));
    }
    let mut cap = |grade, holds: bool, raise: String| {
        if holds {
            caps.push((grade, raise));
        }
    };
    let quieter = "a quieter machine, or longer trials (a larger file or budget)";
    cap(
        Grade::C,
        e.rounds < ROUNDS,
        format!("{ROUNDS} steady rounds instead of {}: a larger --budget or fewer cells", e.rounds),
    );
    cap(
        Grade::C,
        e.has(Code::OneLayout),
        format!(
            "{FEWEST_INSTANCES} renewals of the file instead of {}: a larger --budget",
            e.instances.unwrap_or(0)
        ),
    );
    cap(Grade::C, e.variation > 0.10, format!("{quieter}: times vary by {}", percent(e.variation)));
    cap(
        Grade::C,
        e.has(Code::OutliersMatter),
        format!("{quieter}: the answer hangs on {} of the trials", percent(e.flagged)),
    );
    cap(
        Grade::C,
        e.flagged > 0.10,
        format!("{quieter}: {} of trials are flagged", percent(e.flagged)),
    );
    cap(
        Grade::B,
        e.overhead > SMALL_SHARE,
        format!("longer trials: the clock is {} of one; a larger file", percent(e.overhead)),
    );
    cap(
        Grade::B,
        e.twin.is_some_and(|t| !t.within(e.delta / 2.0) || !t.interval.contains(0.0)),
        format!(
            "more rounds on a quieter machine: the same cell measured twice differs by {}",
            percent(e.twin.map_or(0.0, |t| t.median.exp_m1()))
        ),
    );
    cap(Grade::B, e.variation > 0.05, format!("{quieter}: times vary by {}", percent(e.variation)));
    cap(Grade::B, e.has(Code::MachineDrift), "a machine that keeps its speed".to_owned());
    cap(
        Grade::B,
        e.lag1 > 0.2,
        format!("rounds further apart: neighbours are alike (correlation {:.2})", e.lag1),
    );
    cap(
        Grade::B,
        e.flagged > 0.05,
        format!("{quieter}: {} of trials are flagged", percent(e.flagged)),
    );
    cap(
        Grade::B,
        e.steal > SMALL_SHARE,
        format!("a host that takes no time away: up to {} of a trial", percent(e.steal)),
    );
    caps
}

/// What helps against what takes an answer away.
fn remedy(code: Code) -> &'static str {
    match code {
        Code::CheckFailed => "a file that does not change while it is read",
        Code::OverheadHigh => "longer trials: a larger file or budget",
        Code::CarryOver => {
            "a pause or a drained cache between trials: run again with fewer kinds of work in one run"
        }
        Code::TwinBroken => {
            "a measurement that agrees with itself: see what else the machine is doing"
        }
        _ => "a difference that stands still: run again, on a quieter machine",
    }
}

#[cfg(test)]
#[path = "grade_tests.rs"]
mod tests;
