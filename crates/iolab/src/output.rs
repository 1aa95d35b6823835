//! Where results go, as options.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::IsTerminal;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use clap::Args;

use super::store_args::StoreArgs;
use super::terminal_io::{self, Ending, Exit, Failure, say};
use super::verbosity::Talk;
use iolab_controller::{Measured, earlier};
use iolab_model::catalog::path_to_text;
use iolab_model::plan::Plan;
use iolab_model::result::Document;
use iolab_model::spec::choose;
use iolab_report::compare::{changes_since, since_text};
use iolab_report::{self as report, ExportError, FOLDERS, FORMATS, TextStyle};

/// Earlier runs of an experiment that a run is held against.
const EARLIER: usize = 5;

/// Where results go.
#[derive(Args, Clone, Debug, Default)]
#[command(next_help_heading = "Output")]
pub struct OutputArgs {
    /// What to write to stdout: table, json, csv, markdown, …; see iolab list formats
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: String,
    /// Write a file too, as in json=run.json; may be repeated
    #[arg(long = "export", value_name = "FORMAT=PATH")]
    exports: Vec<OsString>,
    /// Print the whole report: every cell, interval, warning and fact of the machine
    #[arg(long)]
    pub details: bool,
    #[command(flatten)]
    pub store: StoreArgs,
}

/// Where results go, checked.
#[derive(Clone, Debug)]
pub struct Output {
    format: String,
    exports: Vec<(String, PathBuf)>,
    /// Whether reports for people are whole.
    details: bool,
    /// Which history.
    pub store: StoreArgs,
}

impl OutputArgs {
    /// A table, and no file.
    pub fn as_table() -> OutputArgs {
        OutputArgs { format: "table".to_owned(), ..OutputArgs::default() }
    }

    /// Whether files are to be written.
    pub fn has_exports(&self) -> bool {
        !self.exports.is_empty()
    }

    /// Writes these files too.
    pub fn add_exports(&mut self, exports: impl Iterator<Item = OsString>) {
        self.exports.extend(exports);
    }

    /// The same wherever the work is done: relative paths start here, where they were written.
    ///
    /// # Errors
    /// The directory here is gone.
    pub fn started_here(&self) -> Result<OutputArgs, Failure> {
        let mut exports = self.exports.clone();
        for export in &mut exports {
            // What is no path is told by whoever reads it.
            let Some((format, path)) = format_and_path(export) else { continue };
            if let Ok(path) = std::path::absolute(path) {
                let mut whole = format.to_owned();
                whole.push("=");
                whole.push(path);
                *export = whole;
            }
        }
        Ok(OutputArgs { exports, store: self.store.absolute()?, ..self.clone() })
    }

    /// Checks formats and files before anything is measured.
    ///
    /// # Errors
    /// An unknown format, or a file that cannot be written.
    pub fn read(&self) -> Result<Output, Failure> {
        known_format(&self.format).map_err(|fix| Failure::usage(format!("--format {fix}")))?;
        let id = &self.format;
        if report::format(id).is_some_and(|f| f.binary) && std::io::stdout().is_terminal() {
            return Err(Failure::usage(format!(
                "--format {id} is no text for a terminal: write --export {id}=FILE, or > FILE"
            )));
        }
        let exports = self.exports.iter().map(|text| export(text));
        Ok(Output {
            format: self.format.clone(),
            exports: exports.collect::<Result<_, _>>()?,
            details: self.details,
            store: self.store.clone(),
        })
    }
}

/// Both halves of FORMAT=PATH, neither of which is checked; nothing where there is no path.
fn format_and_path(text: &OsStr) -> Option<(&OsStr, &Path)> {
    let bytes = text.as_bytes();
    let at = bytes.iter().position(|b| *b == b'=').filter(|at| at + 1 < bytes.len())?;
    Some((OsStr::from_bytes(&bytes[..at]), Path::new(OsStr::from_bytes(&bytes[at + 1..]))))
}

/// Reads FORMAT=PATH and checks that the file can be made.
///
/// # Errors
/// An unknown format, or a directory that is not there.
pub fn export(text: &OsStr) -> Result<(String, PathBuf), Failure> {
    let shown = path_to_text(Path::new(text));
    let Some((format, path)) = format_and_path(text) else {
        return Err(Failure::usage(format!(
            "--export '{shown}': write FORMAT=PATH, as in json=run.json"
        )));
    };
    let format = format.to_string_lossy().into_owned();
    let folder = FOLDERS.iter().any(|folder| folder.id == format);
    if !folder {
        known_format(&format).map_err(|fix| Failure::usage(format!("--export {fix}")))?;
    }
    let path = path.to_owned();
    let parent = path.parent().filter(|p| !p.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if folder && path.exists() && !path.is_dir() {
        return Err(Failure::usage(format!(
            "--export {format}={} is a file: {format} makes a directory of files",
            path_to_text(&path)
        )));
    }
    if (path.is_dir() && !folder) || !parent.is_dir() {
        let fix = if path.is_dir() {
            "is a directory: name a file in it"
        } else {
            "is in a directory that does not exist: make it first"
        };
        return Err(Failure::usage(format!("--export {} {fix}", path_to_text(&path))));
    }
    Ok((format, path))
}

/// The file that an export makes or replaces.
fn where_it_lands(path: &Path) -> Option<PathBuf> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let beside =
        || Some(fs::canonicalize(parent.unwrap_or(Path::new("."))).ok()?.join(path.file_name()?));
    fs::canonicalize(path).ok().or_else(beside)
}

fn known_format(id: &str) -> Result<(), String> {
    if FOLDERS.iter().any(|folder| folder.id == id) {
        return Err(format!("'{id}' makes several files: write --export {id}=DIR"));
    }
    if let Some((_, feature)) = report::LEFT_OUT.iter().find(|(left_out, _)| *left_out == id) {
        return Err(format!(
            "'{id}': this iolab was built without it; `cargo install --locked iolab --features \
             {feature}` brings it"
        ));
    }
    let names: Vec<&str> = FORMATS.iter().map(|format| format.id).collect();
    match report::format(id) {
        Some(_) => Ok(()),
        None => Err(format!("'{}': no such format; {}", id.escape_debug(), choose(id, &names))),
    }
}

impl Output {
    /// Only the history.
    pub fn recording(store: StoreArgs) -> Output {
        Output { format: "table".to_owned(), exports: Vec::new(), details: false, store }
    }

    /// Refuses an export onto a file that is measured, or into a tree that is.
    ///
    /// # Errors
    /// The file's name.
    pub fn spare_files_of(&self, plan: &Plan) -> Result<(), Failure> {
        for (_, path) in &self.exports {
            let Some(target) = where_it_lands(path) else { continue };
            let measured = |i: &iolab_model::plan::Instance| {
                let measured = i.path.as_ref().and_then(|path| fs::canonicalize(path).ok());
                measured.is_some_and(|measured| target.starts_with(measured))
            };
            if plan.instances.iter().any(measured) {
                return Err(Failure::refused(format!(
                    "--export {} would write to what is measured: name another",
                    path_to_text(path)
                )));
            }
        }
        Ok(())
    }

    /// Reports what was measured, whatever ended it; `goes_on`: rounds of it were reported before.
    ///
    /// # Errors
    /// What ended the run, or what stdout met.
    pub fn report(&self, measured: Measured, goes_on: bool, talk: &Talk) -> Ending {
        // Above the report, which ends on its answer.
        if self.format == "table" && !talk.quiet {
            self.tell_since(&measured.document, goes_on);
        }
        let written = self.write(&measured.document, talk);
        match measured.failure {
            Some(failure) => Err(failure.into()),
            None if !measured.document.run.complete => written.map(|_| Exit::Interrupted),
            None => written,
        }
    }

    /// How the run compares with the last one of its experiment. A history that cannot be read is told
    /// of elsewhere.
    fn tell_since(&self, document: &Document, goes_on: bool) {
        let text = if goes_on { changes_since } else { since_text };
        let earlier =
            self.store.open().ok().and_then(|store| earlier(&store, document, EARLIER).ok());
        if let Some(line) = earlier.and_then(|earlier| text(&earlier, document)) {
            say(&line);
        }
    }

    /// Writes the report to stdout and the files.
    ///
    /// # Errors
    /// What stdout met, or a file that could not be written; the others are.
    pub fn write(&self, document: &Document, talk: &Talk) -> Ending {
        let exported = write_exports(&self.exports, document, self.details, talk);
        exported.and(self.print(document, talk))
    }

    /// Writes the report to stdout.
    ///
    /// # Errors
    /// What stdout met.
    pub fn print(&self, document: &Document, talk: &Talk) -> Ending {
        let look = self.look(talk);
        terminal_io::data(|out| report::write(&self.format, document, &look, out))
    }

    fn look(&self, talk: &Talk) -> TextStyle {
        TextStyle { details: self.details, ..talk.look() }
    }

    /// Refuses what would write one run over another.
    ///
    /// # Errors
    /// A file, or a format that is no text, for several runs.
    pub fn only_for_several(&self, runs: usize) -> Result<(), Failure> {
        let together = |id: &str| id == "html" || FOLDERS.iter().any(|folder| folder.id == id);
        let file = self.exports.iter().find(|(id, _)| !together(id));
        let binary = report::format(&self.format).is_some_and(|format| format.binary);
        match file {
            _ if runs < 2 => Ok(()),
            Some((id, path)) => Err(Failure::usage(format!(
                "--export {id}={} holds one run and not {runs}: name one, or take svg, png or html, \
                 which lay runs over each other",
                path_to_text(path)
            ))),
            None if binary => Err(Failure::usage(format!(
                "--format {} is a file of one run: name one",
                self.format
            ))),
            None => Ok(()),
        }
    }

    /// Writes the files: pictures and pages lay several runs over each other.
    ///
    /// # Errors
    /// A file that could not be written; the others are.
    pub fn write_files(&self, runs: &[Document], talk: &Talk) -> Ending {
        match runs {
            [one] => write_exports(&self.exports, one, self.details, talk),
            _ => each_export(&self.exports, talk, |format, path| {
                report::export_several(format, path, runs)
            }),
        }
    }

    /// Writes several runs to stdout: a table has them beside each other, a page over each other;
    /// other formats follow one after the other.
    ///
    /// # Errors
    /// What stdout met.
    pub fn print_several(&self, runs: &[Document], talk: &Talk) -> Ending {
        let look = self.look(talk);
        terminal_io::data(|out| match self.format.as_str() {
            "table" => report::beside_table(runs, &look, out),
            "html" => report::html::write(runs, out),
            format => runs.iter().try_for_each(|run| report::write(format, run, &look, out)),
        })
    }
}

/// Writes each file; the first failure is told when all have been tried.
///
/// # Errors
/// The first file that could not be written.
pub fn write_exports(
    exports: &[(String, PathBuf)],
    document: &Document,
    details: bool,
    talk: &Talk,
) -> Ending {
    each_export(exports, talk, |format, path| report::export(format, path, document, details))
}

fn each_export(
    exports: &[(String, PathBuf)],
    talk: &Talk,
    write: impl Fn(&str, &Path) -> Result<(), ExportError>,
) -> Ending {
    let mut ending = Ok(Exit::Done);
    for (format, path) in exports {
        match write(format, path) {
            Ok(()) if talk.quiet => {}
            Ok(()) => say(&format!("wrote {}", path_to_text(path))),
            Err(error) if ending.is_ok() => ending = Err(Failure::refused(error)),
            Err(error) => say(&format!("iolab: {error}")),
        }
    }
    ending
}

/// Data of any kind that is already text.
///
/// # Errors
/// What stdout met.
pub fn text(text: &str) -> Ending {
    terminal_io::data(|out| out.write_all(text.as_bytes()))
}
