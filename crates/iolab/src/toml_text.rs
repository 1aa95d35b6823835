//! Text that a person wrote, from a file or from stdin.

use std::io::{self, Read};

use iolab_model::spec::file::MOST_BYTES;

/// Why there is no text.
#[derive(Debug)]
pub enum NoText {
    /// It cannot be read.
    Io(io::Error),
    /// It is not text from this byte on.
    NotUtf8(usize),
}

impl NoText {
    /// In one line: of which file, and `what` it should be.
    pub fn of(&self, name: &str, what: &str) -> String {
        match self {
            NoText::Io(error) => format!("{name}: {error}; name {what}"),
            NoText::NotUtf8(at) => {
                format!("{name}: byte {at} is not UTF-8; {what} is TOML, which is text")
            }
        }
    }
}

impl From<io::Error> for NoText {
    fn from(error: io::Error) -> NoText {
        NoText::Io(error)
    }
}

/// What is written there, at most a byte more than [`MOST_BYTES`] of it.
///
/// # Errors
/// It cannot be read, or is no text.
pub fn toml_text(source: impl Read) -> Result<String, NoText> {
    let mut bytes = Vec::new();
    source.take(MOST_BYTES as u64 + 1).read_to_end(&mut bytes)?;
    String::from_utf8(bytes).map_err(|error| NoText::NotUtf8(error.utf8_error().valid_up_to()))
}
