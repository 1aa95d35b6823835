//! A study with all that its runs showed: what a page is made of.

use super::Study;
use super::evidence::Evidence;
use super::ruling::Ruling;
use super::sample::LeftOut;

/// What a page is made of.
pub struct Page<'a> {
    /// The study.
    pub study: &'a Study,
    /// Its claims, judged, in their order.
    pub rulings: &'a [Ruling],
    /// Its runs.
    pub evidence: &'a Evidence<'a>,
    /// What was left out, by the name of the experiment.
    pub left_out: &'a [(String, Vec<LeftOut>)],
    /// The machine in a line.
    pub machine: &'a str,
    /// Charts of the runs that lie beside the page, as paths from it, by the name of the
    /// experiment.
    pub charts: &'a [(String, Vec<String>)],
}
