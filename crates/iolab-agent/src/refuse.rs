//! A fault without an errno.

use iolab_model::result::Fault;

/// What was being done, and why it is not done.
pub fn refusal(doing: &str, cause: &str) -> Fault {
    Fault { doing: doing.into(), cause: cause.into(), errno: None, signal: None }
}
