//! What is wrong with something written, where, and what to write instead.

use std::fmt;

/// A refusal of something that a person wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpecError {
    /// What it was written for: `--block`. Empty where the caller has not said.
    pub subject: String,
    /// What was written, whole.
    pub written: String,
    /// Where in it the trouble starts, in bytes from 0.
    pub at: usize,
    /// What is wrong.
    pub problem: String,
    /// What to write instead.
    pub fix: String,
}

impl SpecError {
    /// Trouble at a byte of what was written.
    pub(crate) fn new(
        written: &str,
        at: usize,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> SpecError {
        SpecError {
            subject: String::new(),
            written: written.to_owned(),
            at,
            problem: problem.into(),
            fix: fix.into(),
        }
    }

    /// The same trouble, seen from the whole text that the part stands in from `offset` on.
    #[must_use]
    pub(crate) fn within(mut self, whole: &str, offset: usize) -> SpecError {
        self.written = whole.to_owned();
        self.at += offset;
        self
    }

    /// Says what it was written for: `--block`.
    #[must_use]
    pub fn of(mut self, subject: impl Into<String>) -> SpecError {
        self.subject = subject.into();
        self
    }
}

/// Longer than any message of ours that repeats nothing of what was written.
const LONGEST: usize = 800;

/// A text whose middle is left out where it is very long: nobody wants to read all of it again.
pub(crate) fn brief(text: String) -> String {
    let (head, tail) = (LONGEST / 4, LONGEST / 8);
    let chars = text.chars().count();
    if chars <= LONGEST {
        return text;
    }
    let first: String = text.chars().take(head).collect();
    let last: String = text.chars().skip(chars - tail).collect();
    format!("{first} … ({chars} characters) … {last}")
}

impl fmt::Display for SpecError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.subject.is_empty() {
            write!(f, "{} ", self.subject)?;
        }
        // Escaped, so that one error stays one line whatever was written.
        let problem = format!("'{}': {}", self.written.escape_debug(), self.problem);
        write!(f, "{}", brief(problem))?;
        if self.at > 0 {
            write!(f, " (at byte {})", self.at)?;
        }
        write!(f, "; {}", self.fix)
    }
}

impl std::error::Error for SpecError {}
