//! `iolab export TRACE FORMAT=PATH`: a trace for other programs.

use std::ffi::OsString;
use std::fs::OpenOptions;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::terminal_io::{Ending, Exit, Failure, say};
use super::trace_file;
use super::verbosity::Talk;
use iolab_model::catalog::{count_text, path_to_text, percent_text};
use iolab_trace::{Profile, Trace, export};

/// Formats that a trace can be written in.
const FORMATS: [&str; 4] = ["fio-iolog", "fio-files", "csv", "json"];

/// Writes a trace in each of the formats.
///
/// # Errors
/// There is no such format, or a file is there already.
pub fn run(path: &Path, exports: &[OsString], talk: &Talk) -> Ending {
    let wanted = exports.iter().map(wanted).collect::<Result<Vec<_>, Failure>>()?;
    let trace = trace_file::load(path)?;
    for (format, path) in &wanted {
        let text = match *format {
            "fio-iolog" => fio(&trace, talk),
            "fio-files" => export::fio_iolog(&trace).files,
            "csv" => export::csv(&Profile::of(&trace)),
            _ => serde_json::to_string_pretty(&Profile::of(&trace)).map_err(Failure::internal)?,
        };
        write(path, text.as_bytes())?;
    }
    Ok(Exit::Done)
}

/// `fio-iolog=FILE`.
fn wanted(text: &OsString) -> Result<(&'static str, PathBuf), Failure> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|byte| *byte == b'=');
    let (format, path) = match at {
        Some(at) if at + 1 < bytes.len() => (&bytes[..at], &bytes[at + 1..]),
        _ => (bytes, &b""[..]),
    };
    let known = FORMATS.iter().find(|known| known.as_bytes() == format);
    match (known, path) {
        (Some(format), path) if !path.is_empty() => {
            Ok((format, PathBuf::from(std::ffi::OsStr::from_bytes(path))))
        }
        _ => Err(Failure::usage(format!(
            "'{}': a trace is exported as {}, written FORMAT=FILE",
            path_to_text(Path::new(text)),
            FORMATS.join(", ")
        ))),
    }
}

fn fio(trace: &Trace, talk: &Talk) -> String {
    let log = export::fio_iolog(trace);
    let all = log.calls + log.left_out;
    if log.left_out > 0 && !talk.quiet {
        say(&format!(
            "{} of {} calls on files ({}) are none that fio can replay: names, attributes, mappings",
            count_text(log.left_out),
            count_text(all),
            percent_text(log.left_out as f64 / all.max(1) as f64)
        ));
    }
    log.text
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let name = path_to_text(path);
    let made = OpenOptions::new().write(true).create_new(true).open(path);
    let written = made.and_then(|mut file| file.write_all(bytes));
    written.map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => {
            Failure::refused(format!("{name} is there already and is not replaced; name another"))
        }
        _ => Failure::refused(format!("write {name}: {error}; name another file")),
    })
}
