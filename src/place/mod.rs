//! Where the files are: made, read back, torn down.

pub mod clean;
pub mod directory;
mod marker;
mod remove;
pub mod scratch;
mod space;

pub use clean::{Found, Owner, clean, sweep};
pub use scratch::Scratch;
pub use space::{Space, space};

use crate::catalog::Part;

/// Every kind of place.
pub const PLACES: &[Part] = &[directory::PART];

/// A fault with the errno of an I/O error and a remedy in words.
fn fault(doing: impl Into<String>, error: &std::io::Error, remedy: &str) -> crate::result::Fault {
    let cause = match remedy {
        "" => error.to_string(),
        remedy => format!("{error}; {remedy}"),
    };
    crate::result::Fault { doing: doing.into(), cause, errno: error.raw_os_error(), signal: None }
}
