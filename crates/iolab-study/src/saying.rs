//! The words of a test: what a form needs to say itself in a sentence.

use super::evidence::figure;
use super::select::{Selection, text};
use super::terms::{Choice, Measure, Per};
use iolab_model::catalog::{Factor, Kind, Level};

/// What a claim says beside its form.
pub(super) struct Saying {
    pub(super) measure: Measure,
    pub(super) per: Per,
    pub(super) choice: Choice,
    /// Factors that the experiment varies and the claim leaves open.
    pub(super) open: Vec<Factor>,
}

impl Saying {
    /// `time of a call`, `user time`.
    pub(super) fn time(&self) -> &'static str {
        match (self.measure, self.per) {
            (Measure::Elapsed, Per::Operation) => "time of a call",
            (Measure::Elapsed, Per::Pass) => "time of a pass",
            (measure, _) => measure.words(),
        }
    }

    /// A side: of several cells the best or every one, and what it leaves open.
    pub(super) fn side(&self, selection: &Selection) -> String {
        if selection.iter().next().is_none() {
            return "the others".to_owned();
        }
        let named = |factor: &&Factor| selection.iter().any(|(of, _)| of == **factor);
        // A command and a method are two names for who does it: either closes the other.
        let who = [Factor::Method, Factor::Contender];
        let by_name = selection.iter().any(|(of, _)| who.contains(&of));
        let left: Vec<&str> = self
            .open
            .iter()
            .filter(|factor| !(named(factor) || by_name && who.contains(factor)))
            .map(|factor| factor.name())
            .collect();
        let several = selection.iter().any(|(_, levels)| levels.len() > 1) || !left.is_empty();
        let whatever = match left.is_empty() {
            true => String::new(),
            false => format!(", whatever its {}", left.join(" and ")),
        };
        match (several, self.choice) {
            (true, Choice::Best) => format!("the best of {selection}{whatever}"),
            (_, Choice::Every) => {
                format!("every {}{whatever}", selection.to_string().replace(" or ", ", "))
            }
            (false, Choice::Best) => selection.to_string(),
        }
    }
}

/// A place on an axis, as a sentence that has named the axis has it.
pub(super) fn level(axis: Factor, at: u64) -> String {
    match axis.kind() {
        Kind::Bytes => text(axis, &Level::Number(at)),
        _ => at.to_string(),
    }
}

/// A share: `10 %`.
pub(super) fn percent(share: f64) -> String {
    let figure = figure(100.0 * share);
    let short = figure.trim_end_matches(".000").trim_end_matches(".00").trim_end_matches(".0");
    format!("{short} %")
}
