//! The gate: is anything clearly slower than allowed?

use std::io::{self, Write};

use serde::Serialize;

use super::forecast::Stage;
use super::text::{compared_markdown, whole};
use super::{Compared, Row};
use crate::TextStyle;
use crate::style::Tint;
use iolab_model::catalog::{list_text, markdown_text, percent_text, so_many};
use iolab_model::result::Verdict;
use iolab_model::spec::parse_percent;

/// Most cells that a sentence names.
const MOST_NAMED: usize = 4;

/// What the gate says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum GateVerdict {
    /// No cell can be slower than allowed.
    Passed,
    /// A cell is clearly slower than allowed.
    Regression,
    /// No cell is, and of some it is open, or they were not measured.
    Undecided,
}

/// A comparison, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// What it says.
    pub gate: GateVerdict,
    /// Cells clearly slower than allowed.
    pub regressed: Vec<String>,
    /// Cells of which neither is shown.
    pub undecided: Vec<String>,
    /// Cells of the baseline that were not measured: what broke is no pass.
    pub missing: Vec<String>,
    /// Runs on each side that are asked for: five to see how far runs differ, then as many as would
    /// decide it, were nothing changed. Absent where it is decided, and where no sensible number would do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs_needed: Option<usize>,
    /// What it was judged from; its `delta` is what is allowed.
    #[serde(flatten)]
    pub compared: Compared,
}

impl Gate {
    /// Judges a comparison whose δ is what is allowed.
    pub fn of(compared: Compared) -> Gate {
        let limit = 1.0 + compared.delta;
        let slower = |r: &&Row| r.verdict == Verdict::Slower && r.clear;
        let allowed = |r: &Row| most(r).is_some_and(|high| high <= limit);
        let open = |r: &&Row| !slower(r) && !allowed(r);
        let names = |holds: &dyn Fn(&&Row) -> bool| -> Vec<String> {
            compared.rows.iter().filter(holds).map(|r| r.cell.clone()).collect()
        };
        let (regressed, undecided) = (names(&slower), names(&open));
        let missing = compared.only_first.clone();
        let gate = match (regressed.is_empty(), undecided.is_empty() && missing.is_empty()) {
            (false, _) => GateVerdict::Regression,
            (true, false) => GateVerdict::Undecided,
            (true, true) => GateVerdict::Passed,
        };
        let runs_needed = needed(&compared, &undecided);
        Gate { gate, regressed, undecided, missing, runs_needed, compared }
    }

    /// What would decide it: so many runs, both sides in the same rounds, or a wider allowance.
    fn remedy(&self) -> String {
        let rows = || self.compared.rows.iter();
        let open = || rows().filter(|row| self.undecided.contains(&row.cell));
        let runs = Stage::of(&self.compared, self.compared.alpha).sentence(&self.compared, open());
        let worst = open().map(most).try_fold(1.0, |worst: f64, high| Some(worst.max(high?)));
        let wider = match worst.and_then(allowance) {
            Some(worse) => format!(" With --worse {worse} it would pass now."),
            None => String::new(),
        };
        format!(
            "{runs}. Smaller differences show where both sides are in the same rounds (--between, \
             --pair).{wider}"
        )
    }

    /// The finding in a sentence or two.
    pub fn sentence(&self) -> String {
        let allowed = percent_text(self.compared.delta);
        let cells = |names: &[String]| match names.len() {
            0..=MOST_NAMED => list_text(names),
            n => format!("{} cells", n),
        };
        let one = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
        let remedy = match (self.undecided.is_empty(), self.compared.within_one_run()) {
            (true, _) => String::new(),
            (_, true) => " More rounds would show it.".to_owned(),
            (_, false) => format!(" {}", self.remedy()),
        };
        let missing = match self.missing.is_empty() {
            true => String::new(),
            false => {
                let was = if self.missing.len() == 1 { "was" } else { "were" };
                format!(" Of the baseline {} {was} not measured.", cells(&self.missing))
            }
        };
        match self.gate {
            GateVerdict::Passed => {
                let cells = so_many(self.compared.rows.len(), "cell");
                let most = self.compared.rows.iter().filter_map(most).fold(1.0, f64::max);
                let at_most = match most > 1.0 {
                    true => format!(" (at most {})", percent_text(most - 1.0)),
                    false => String::new(),
                };
                format!("Passed: not slower by more than {allowed}, {cells} decided{at_most}.")
            }
            GateVerdict::Undecided => {
                let said = match (self.undecided.len(), self.compared.rows.len()) {
                    (0, _) => "what was measured is not slower".to_owned(),
                    (1, 1) => format!(
                        "{} may be more than {allowed} slower, or not",
                        cells(&self.undecided)
                    ),
                    (open, all) if open > MOST_NAMED || open == all => {
                        format!("{open} of {all} cells may be more than {allowed} slower, or not")
                    }
                    (open, all) => format!(
                        "{open} of {all} cells may be more than {allowed} slower, or not ({})",
                        cells(&self.undecided)
                    ),
                };
                format!("No regression shown, none ruled out: {said}.{missing}{remedy}")
            }
            GateVerdict::Regression => {
                let also = match self.undecided.is_empty() {
                    true => String::new(),
                    false => format!(" {} may be, too.", cells(&self.undecided)),
                };
                format!(
                    "Regression: {} {} clearly more than {allowed} slower.{also}{missing}",
                    cells(&self.regressed),
                    one(&self.regressed)
                )
            }
        }
    }
}

/// How many times as long a cell may take at most, as far as a gate asks: each for itself.
fn most(row: &Row) -> Option<f64> {
    match (row.high, row.high_alone) {
        (Some(all), Some(alone)) => Some(all.min(alone)),
        (all, alone) => all.or(alone),
    }
}

/// Runs on each side that would decide it.
fn needed(compared: &Compared, undecided: &[String]) -> Option<usize> {
    let open = !undecided.is_empty() && !compared.within_one_run();
    open.then(|| Stage::of(compared, compared.alpha).runs()).flatten()
}

/// For the terminal.
///
/// # Errors
/// What the writer says, unchanged.
pub fn gate_table(gate: &Gate, look: &TextStyle, out: &mut dyn Write) -> io::Result<()> {
    let ink = match gate.gate {
        GateVerdict::Passed => Tint::Good,
        GateVerdict::Undecided => Tint::Caution,
        GateVerdict::Regression => Tint::Bad,
    };
    let alone = |row: &Row| row.high_alone.and(most(row));
    let table = whole(&gate.compared, look, &alone);
    // Last, where the eye is.
    let said = look.paragraph(ink, &look.text(&gate.sentence()));
    out.write_all(format!("{table}\n{said}").as_bytes())
}

/// For a pull request.
///
/// # Errors
/// What the writer says, unchanged.
pub fn gate_markdown(gate: &Gate, out: &mut dyn Write) -> io::Result<()> {
    let mark = match gate.gate {
        GateVerdict::Passed => "✅",
        GateVerdict::Undecided => "❔",
        GateVerdict::Regression => "❌",
    };
    write!(out, "### {mark} {}\n\n", markdown_text(&gate.sentence()))?;
    compared_markdown(&gate.compared, out)
}

/// For programs: `iolab.compare/1` with the verdict.
///
/// # Errors
/// What the writer says, unchanged.
pub fn gate_json(gate: &Gate, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, gate).map_err(io::Error::from)?;
    out.write_all(b"\n")
}

/// The `--worse` that allows for a ratio; nothing where the option takes none so large.
fn allowance(worst: f64) -> Option<String> {
    let worse = format!("{:.0}%", ((worst - 1.0) * 100.0 + 0.5).ceil());
    parse_percent(&worse).is_ok().then_some(worse)
}

#[cfg(test)]
mod tests {
    use super::allowance;

    /// "With --worse 200% it would pass now" was advised, and the option takes less than 100 %.
    #[test]
    fn no_allowance_is_advised_that_the_option_does_not_take() {
        assert_eq!(allowance(1.02).as_deref(), Some("3%"));
        assert_eq!(allowance(1.98).as_deref(), Some("99%"));
        assert_eq!(allowance(1.9899), None);
        assert_eq!(allowance(3.0), None);
    }
}
