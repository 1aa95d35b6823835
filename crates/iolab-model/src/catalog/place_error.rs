//! Why a text is not a place.

/// Why a text is not a place, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("--place {part:?}: {problem}; {remedy}")]
pub struct PlaceError {
    /// The part that is wrong.
    pub part: String,
    /// What is wrong with it.
    pub problem: String,
    /// What to write.
    pub remedy: String,
}

impl PlaceError {
    /// The problem with a name that no kind has.
    pub const UNKNOWN: &'static str = "no such place";
}

pub(super) fn wrong(
    part: &str,
    problem: impl Into<String>,
    remedy: impl Into<String>,
) -> PlaceError {
    PlaceError { part: part.to_owned(), problem: problem.into(), remedy: remedy.into() }
}
