//! What a judgement is made with beside the observations, and what it finds.

use super::Observations;
use iolab_model::catalog::Code;

/// Shares above which a trial's overhead and stolen time count.
pub(crate) const SMALL_SHARE: f64 = 0.01;
/// Under this many instances the answer is about one file layout.
pub(crate) const FEWEST_INSTANCES: u32 = 5;

/// What the judgement must know beside the observations. Empty or 0: nothing known against it.
#[derive(Clone, Debug, Default)]
pub struct Context {
    /// ln(one label / the other) of the cell that was measured twice, by round of this answer.
    pub twin: Vec<f64>,
    /// o/T: cost of the clock / length of a trial, the greatest among the cells' medians.
    pub overhead: f64,
    /// q/T: resolution of the clock / length of a trial, likewise.
    pub resolution: f64,
    /// Greatest share of processor time that the host took in a steady trial.
    pub steal: f64,
    /// File instances (renewals) that steady rounds used.
    pub instances: u32,
    /// Whether the place of the file's data can change a figure (cached data).
    pub placement_matters: bool,
    /// First run / steady median, by cell of the answer; NaN where not known.
    pub first_ratio: Vec<f64>,
    /// Cold reads: their samples may fall into two clusters.
    pub cold: bool,
    /// A check failed: bytes were not what they should be.
    pub check_failed: bool,
    /// The clock was set during the run.
    pub clock_moved: bool,
}

/// Something to keep in mind.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// What.
    pub code: Code,
    /// Cells (indices within the answer) that it is about; empty: the whole answer.
    pub cells: Vec<usize>,
    /// What was seen, with its figures, without naming cells.
    pub detail: String,
}

impl Finding {
    pub(crate) fn new(code: Code, cells: Vec<usize>, detail: String) -> Finding {
        Finding { code, cells, detail }
    }
}

/// Trials that count.
pub(crate) fn trials(seen: &Observations) -> usize {
    seen.y.iter().flatten().filter(|y| y.is_finite()).count()
}
