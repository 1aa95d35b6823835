//! The gate: is anything clearly slower than allowed?

use std::io::{self, Write};

use serde::Serialize;

use super::text::{compared_markdown, compared_table};
use super::{Compared, Row};
use crate::TextStyle;
use crate::style::Tint;
use iolab_model::catalog::{list_text, markdown_text, percent_text, so_many};
use iolab_model::result::Verdict;

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
    /// No cell is, and of some it is not shown, or they were not measured.
    Undecided,
}

/// A comparison, judged.
#[derive(Clone, Debug, Serialize)]
pub struct Gate {
    /// What it says.
    pub gate: GateVerdict,
    /// Cells clearly slower than allowed.
    pub regressed: Vec<String>,
    /// Cells of which it is not shown.
    pub undecided: Vec<String>,
    /// Cells of the baseline that were not measured: what broke is no pass.
    pub missing: Vec<String>,
    /// What it was judged from; its `delta` is what is allowed.
    #[serde(flatten)]
    pub compared: Compared,
}

impl Gate {
    /// Judges a comparison whose δ is what is allowed.
    pub fn of(compared: Compared) -> Gate {
        let limit = 1.0 + compared.delta;
        let slower = |r: &&Row| r.verdict == Verdict::Slower && r.clear;
        let allowed = |r: &Row| r.high.is_some_and(|high| high <= limit);
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
        Gate { gate, regressed, undecided, missing, compared }
    }

    /// The finding in a sentence or two.
    pub fn sentence(&self) -> String {
        let allowed = percent_text(self.compared.delta);
        let cells = |names: &[String]| match names.len() {
            0..=MOST_NAMED => list_text(names),
            n => format!("{} cells", n),
        };
        let one = |names: &[String]| if names.len() == 1 { "is" } else { "are" };
        let more = match self.compared.within_one_run() {
            true => "more rounds would show it",
            false => "more rounds, or both sides in the same rounds, would show it",
        };
        let mut open = match self.undecided.len() {
            0 => String::new(),
            _ => format!(" Of {} it is not shown; {more}.", cells(&self.undecided)),
        };
        if !self.missing.is_empty() {
            let was = if self.missing.len() == 1 { "was" } else { "were" };
            open += &format!(" Of the baseline {} {was} not measured.", cells(&self.missing));
        }
        match self.gate {
            GateVerdict::Passed => {
                let cells = so_many(self.compared.rows.len(), "cell");
                format!("Passed: not slower by more than {allowed}, {cells} decided.")
            }
            GateVerdict::Undecided => {
                let (open_cells, all) = (self.undecided.len(), self.compared.rows.len());
                format!(
                    "Passed so far: no cell is clearly more than {allowed} slower; {open_cells} of \
                     {all} not decided.{open}"
                )
            }
            GateVerdict::Regression => format!(
                "Regression: {} {} clearly more than {allowed} slower.{open}",
                cells(&self.regressed),
                one(&self.regressed)
            ),
        }
    }
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
    out.write_all(look.paragraph(ink, &look.text(&gate.sentence())).as_bytes())?;
    compared_table(&gate.compared, look, out)
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
