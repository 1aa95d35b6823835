//! Files of traces: read, and written without ever replacing one.

use std::fs::{File, OpenOptions};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::terminal_io::Failure;
use iolab_model::catalog::path_to_text;
use iolab_trace::{MAGIC, Trace, TraceError};

/// What names of traces end in.
const ENDING: &str = "trace";
/// So many traces of one name, at most.
const MOST_OF_A_NAME: u32 = 10_000;

/// Reads a trace.
///
/// # Errors
/// The file is not there, or no trace.
pub fn load(path: &Path) -> Result<Trace, Failure> {
    let name = path_to_text(path);
    let file = File::open(path).map_err(|error| {
        Failure::usage(format!("{name}: {error}; iolab record -- COMMAND makes a trace"))
    })?;
    iolab_trace::read(file).map_err(|error| refused(&name, &error))
}

/// What a log or a trace of this name met.
pub fn refused(name: &str, error: &TraceError) -> Failure {
    Failure::usage(format!("{name}: {error}"))
}

/// Whether this is the file of a trace.
pub fn is_trace(path: &Path) -> bool {
    let mut start = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut start));
    read.is_ok() && start == *MAGIC
}

/// Writes a trace where it was asked for, or as `STEM.trace`, `STEM-2.trace`, … in this directory.
///
/// # Errors
/// The file is there already, or cannot be written.
pub fn save(trace: &Trace, asked: Option<&Path>, stem: &str) -> Result<PathBuf, Failure> {
    let (path, file) = match asked {
        Some(path) => (path.to_owned(), create(path).map_err(|error| unwritten(path, &error))?),
        None => next_free(stem)?,
    };
    let written = iolab_trace::write(trace, &mut &file);
    written.map_err(|error| {
        // Half a trace is none.
        let _ = std::fs::remove_file(&path);
        Failure::refused(format!("write {}: {error}", path_to_text(&path)))
    })?;
    Ok(path)
}

/// A trace that is asked for by name can be made there; told before the command runs.
///
/// # Errors
/// It is there already.
pub fn is_free(path: &Path) -> Result<(), Failure> {
    match path.symlink_metadata() {
        Ok(_) => Err(unwritten(path, &io::ErrorKind::AlreadyExists.into())),
        Err(_) => Ok(()),
    }
}

fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn unwritten(path: &Path, error: &io::Error) -> Failure {
    let name = path_to_text(path);
    match error.kind() {
        io::ErrorKind::AlreadyExists => Failure::refused(format!(
            "{name} is there already and is not replaced; name another file with --output"
        )),
        _ => Failure::refused(format!("write {name}: {error}; name another file with --output")),
    }
}

fn next_free(stem: &str) -> Result<(PathBuf, File), Failure> {
    for number in 1..=MOST_OF_A_NAME {
        let path = match number {
            1 => PathBuf::from(format!("{stem}.{ENDING}")),
            number => PathBuf::from(format!("{stem}-{number}.{ENDING}")),
        };
        match create(&path) {
            Ok(file) => return Ok((path, file)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => (),
            Err(error) => return Err(unwritten(&path, &error)),
        }
    }
    Err(Failure::refused(format!("there are {MOST_OF_A_NAME} traces named {stem}; use --output")))
}

/// A name for a file out of anybody's word: letters, digits, `-`, `_` and `.`, none at the start.
pub fn stem(word: &[u8]) -> String {
    let last = word.rsplit(|byte| *byte == b'/').next().unwrap_or_default();
    let fine = |byte: &&u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    let text: String = last.iter().filter(fine).take(60).map(|byte| char::from(*byte)).collect();
    let text = text.trim_start_matches(['.', '-']);
    if text.is_empty() { "program".to_owned() } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::stem;

    #[test]
    fn names_of_traces_are_plain() {
        assert_eq!(stem(b"/usr/bin/g++-12"), "g-12");
        assert_eq!(stem(b"../../.x y\n"), "xy");
        assert_eq!(stem(b"/"), "program");
        assert_eq!(stem(b"\xff"), "program");
    }
}
