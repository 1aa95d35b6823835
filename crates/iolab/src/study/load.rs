//! A study from those that come with iolab, or from a file.

use std::path::Path;

use crate::protocol_args::drawn_seed;
use crate::terminal_io::Failure;
use crate::toml_text::toml_text;
use iolab_agent::catalog::{self, WORKLOADS};
use iolab_model::catalog::{bytes_text, path_to_text};
use iolab_model::spec::choose;
use iolab_model::spec::file::{MOST_BYTES, Source, Words};
use iolab_study::{self as study, SHIPPED, Study};

/// A study by its name, or from a file: a name with a dot or a slash is one.
///
/// # Errors
/// There is no such study, or it is written wrongly.
pub fn load(name: &Path) -> Result<Study, Failure> {
    let Text { stem, file, text } = Text::of(name)?;
    parse(&stem, &file, &text)
}

/// The file that a study is read from: what it asks for may be somebody else's wish. None of those
/// that come with iolab.
pub fn file_of(name: &Path) -> Option<String> {
    let written = path_to_text(name);
    SHIPPED.iter().all(|(shipped, _)| *shipped != written).then_some(written)
}

/// The text of a study.
pub struct Text {
    /// What the study is called.
    pub stem: String,
    /// What messages call the file.
    pub file: String,
    /// What is written there.
    pub text: String,
}

impl Text {
    /// Of one that comes with iolab, or of a file.
    ///
    /// # Errors
    /// There is no such study, or the file cannot be read.
    pub fn of(name: &Path) -> Result<Text, Failure> {
        let written = path_to_text(name);
        if let Some((name, text)) = SHIPPED.iter().find(|(shipped, _)| *shipped == written) {
            return Ok(Text { stem: (*name).into(), file: (*name).into(), text: (*text).into() });
        }
        if !name.exists() && !written.contains(['/', '.']) {
            let names: Vec<&str> = SHIPPED.iter().map(|(name, _)| *name).collect();
            let nearest = choose(&written, &names);
            return Err(Failure::usage(format!("there is no study '{written}': {nearest}")));
        }
        let stem = name.file_stem().map(|stem| path_to_text(Path::new(stem))).unwrap_or_default();
        Ok(Text { stem, text: read_text(name)?, file: written })
    }
}

/// What may be written in a study.
pub fn words() -> Words<'static> {
    Words { workloads: WORKLOADS, parts: catalog::all() }
}

/// Reads the text of a study.
///
/// # Errors
/// It is written wrongly, with the place.
pub fn parse(name: &str, file: &str, text: &str) -> Result<Study, Failure> {
    study::read(name, &Source { name: file, text }, words(), drawn_seed()).map_err(Failure::usage)
}

/// Never more of a file than a person would write.
fn read_text(path: &Path) -> Result<String, Failure> {
    let name = path_to_text(path);
    let file = std::fs::File::open(path)
        .map_err(|error| Failure::usage(format!("{name}: {error}; name a study file")))?;
    let text = toml_text(file).map_err(|why| Failure::usage(why.of(&name, "a study")))?;
    if text.len() > MOST_BYTES {
        return Err(Failure::usage(format!(
            "{name}: more than {}; no study is so large",
            bytes_text(MOST_BYTES as u64)
        )));
    }
    Ok(text)
}
